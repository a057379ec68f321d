"""Values moved inside their bins until records keep rules, so that no count of a bin changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from dpsyn_core.schema.rules.base import RecordRule
from dpsyn_core.schema.rules.columns import Group, faults, part, put
from dpsyn_core.schema.rules.formula import FormulaRule


def moved_inside(rules: Sequence[RecordRule], rows: Group, rng: Generator) -> Group:
    """The records after the moves inside bins that rules propose, each accepted where it leaves fewer rules broken.

    First only columns of no other rule are moved; then all of them, and those that formulas tie to them.
    """
    out = part(rows, np.arange(len(next(iter(rows.values())).values)))
    for rule in rules:
        others = [r for r in rules if r is not rule and {*r.columns} & {*rule.columns}]
        tied = {n for r in others for n in r.columns}
        for still in (tied, set[str]()) if tied else (tied,):
            at = np.flatnonzero(rule.broken(out))
            if not len(at):
                break
            here = part(out, at)
            for moved in rule.inside_bins(here, rng, still):
                after = here | moved
                for other in others:
                    if isinstance(other, FormulaRule) and not still:
                        after |= other.moved(after, rule.columns)
                ok = np.flatnonzero(faults(rules, after) < faults(rules, here))
                put(here, ok, part(after, ok))
            put(out, at, here)
    return out
