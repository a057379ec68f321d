"""Counts of a view: every record weighs its part of what the children of one root weigh together. Private."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.memory import check_cells
from dpsyn_core.errors import SizeError
from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.linked.forest import Forest
from dpsyn_core.linked.stages import Columns, Stage, View, context_columns, in_root, own_columns, pairs_in_root
from dpsyn_core.marginals.coarsening import NO_RECODES, Recodes, coarse_shape
from dpsyn_core.schema.domain import AttributeSet

MAX_CELLS = 50_000_000  # of one table
EXACT = 1 << 53  # sums of whole numbers up to here are exact in floating point


class ViewCounter:
    """Counts weighted records. See `counting.base.Counter`; a root's records weigh at most `unit` together."""

    def __init__(self, view: View, codes: Columns, weights: NDArray[np.int64]) -> None:
        """Keeps the columns. Raises SizeError where weights could not be added up exactly."""
        if int(weights.sum()) >= EXACT:
            msg = "the tables hold more records than weights can be counted for (for the owner only); draw a sample"
            raise SizeError(msg)
        self.domain = view.domain
        self._codes = {a.name: c for a, c in zip(self.domain.attributes, codes, strict=True)}
        self._weights = weights.astype(np.float64)

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact sums of weights, one axis an attribute."""
        shape = coarse_shape(self.domain, attributes, recodes)
        check_cells(attributes, shape, MAX_CELLS)
        flat = np.zeros(len(self._weights), dtype=np.int64)
        for name, size in zip(attributes, shape, strict=True):
            flat *= size
            flat += recodes[name].map[self._codes[name]] if name in recodes else self._codes[name]
        cells = int(np.prod(shape, dtype=np.int64))
        return np.bincount(flat, weights=self._weights, minlength=cells).astype(np.int64).reshape(shape)

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many, one after the other."""
        return [self.marginal(names, recodes) for names in sets]


def records_of(forest: Forest, stage: Stage, schema: LinkedSchema) -> tuple[Columns, NDArray[np.int64]]:
    """All columns of a stage's records, and their weights: of a root's r records each unit / r, rounded down."""
    children = forest.children[stage.link]
    codes = context_columns(forest, stage, schema) + own_columns(children, stage)
    return stage.view.with_differences(codes), stage.view.unit // in_root(forest, stage)


def counter_of(forest: Forest, stage: Stage, schema: LinkedSchema) -> ViewCounter:
    """Counts the children of a stage."""
    return ViewCounter(stage.view, *records_of(forest, stage, schema))


def sibling_counter(forest: Forest, stage: Stage) -> ViewCounter | None:
    """Counts consecutive siblings of a stage: of a root's p pairs each weighs unit / p. None: it has none."""
    view = stage.siblings
    if view is None:
        return None
    children = forest.children[stage.link]
    own, first = own_columns(children, stage), children.first
    now = np.flatnonzero(~first)
    codes = [c[now - 1] for c in own] + [c[now] for c in own]
    return ViewCounter(view, view.with_differences(codes), np.asarray(view.unit // pairs_in_root(forest, stage)[now]))
