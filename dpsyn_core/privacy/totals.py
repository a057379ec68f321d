"""Totals: runs of a ledger as somebody sees them, each at its number of steps, ready to be composed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.protected import Protected

if TYPE_CHECKING:
    from dpsyn_core.privacy.composition import Composition
    from dpsyn_core.privacy.entry import Entry
    from dpsyn_core.privacy.spend import Spend


def composition(spend: Spend) -> Composition:
    """One spend as it is composed."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    if spend.kind == "approximate":
        return Composition(pairs=((spend.amount, spend.delta),))
    return Composition(
        mu2=spend.amount**2 if spend.kind == "gaussian" else 0.0,
        pure=(spend.amount,) if spend.kind == "pure" else (),
        rho=spend.amount if spend.kind == "zcdp" else 0.0,
        delta=spend.delta,
    )


def compose_entries(entries: Sequence[Entry], who: Protected) -> Composition:
    """The runs together as `who` sees them, all of which must have a bound for them; the order plays no part."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    parts = [seen(e, steps_of(e, who)) for e in entries]
    return Composition(
        mu2=math.fsum(p.mu2 for p in parts),
        pure=tuple(sorted(x for p in parts for x in p.pure)),
        rho=math.fsum(p.rho for p in parts),
        pairs=tuple(sorted(x for p in parts for x in p.pairs)),
        delta=math.fsum(p.delta for p in parts),
    )


def steps_of(entry: Entry, who: Protected) -> int:
    """How many steps of the run's own promise `who` is away. Raises EngineError where it promises them nothing."""
    found = who.steps(entry)
    if found is None:
        msg = f"entry {entry.seq} of the ledger promises {who.words} nothing, and was added up for them"
        raise EngineError(msg)
    return found


def seen(entry: Entry, steps: int) -> Composition:
    """One run as neighbours so many steps apart see it."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    part = composition(entry.spend)
    if steps == 1:
        return part
    # a failure has no group bound of its own: the run's (epsilon, delta) as a whole has one
    return (Composition(pairs=((entry.epsilon, entry.delta),)) if part.delta else part).grouped(steps)
