"""Pairs of records that exchange cells, so that every column keeps its counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsyn_core.schema.rules.base import Rows, RuleProposal
from dpsyn_core.schema.rules.columns import Group

PARTNERS = 8  # that a record is offered for each column, one after the other
WIDER = 3  # records that keep a rule, for each that breaks it, among which values are handed out


def swap(columns: Group, names: Sequence[str], first: Rows, second: Rows) -> RuleProposal:
    """Each of the first records exchanges these columns with the second one at its place.

    No record may occur twice.
    """
    rows, partners = np.concatenate([first, second]), np.concatenate([second, first])
    return RuleProposal(
        rows=rows, cells={n: columns[n][partners] for n in names}, block=np.tile(np.arange(len(first)), 2)
    )


def together(rows: Rows, cells: Group) -> RuleProposal:
    """A proposal that is accepted for all of these records or for none."""
    return RuleProposal(rows=rows, cells=cells, block=np.zeros(len(rows), dtype=np.intp))
