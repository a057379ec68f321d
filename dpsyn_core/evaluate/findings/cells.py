"""ExactCells of both tables as whole numbers, equal where the cells of the two files are equal."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison, Floats

Whole = NDArray[np.int32]
MISSING = "(missing)"  # what the schema calls the cell of blank values
SAMPLE = 20_000  # real records in which dependences are sought; they are counted in all


class ExactCells:
    """Exact cells of a comparison, column by column: numbers and dates by their value, other cells by their code.

    Blank cells of any column are -1. Kept once a comparison.
    """

    def __init__(self, c: Comparison) -> None:
        """Reads nothing yet."""
        self.c = c
        self._columns: dict[str, tuple[Whole, Whole, int]] = {}

    @classmethod
    def of(cls, c: Comparison) -> ExactCells:
        """The cells of a comparison."""
        if "cells" not in c.scores:
            c.scores["cells"] = cls(c)
        cells: ExactCells = c.scores["cells"]
        return cells

    def column(self, name: str) -> tuple[Whole, Whole, int]:
        """Real cells, synthetic cells, and the number of different values in both."""
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    def _read(self, name: str) -> tuple[Whole, Whole, int]:
        c, i = self.c, self.c.domain.index(name)
        if self.measured(name):
            real, synth = c.exact(name)
            values, index = np.unique(np.concatenate([real, synth]), return_inverse=True)
            blank = len(values) and np.isnan(values[-1])
            out = index.astype(np.int32)
            if blank:
                out[out == len(values) - 1] = -1
            return out[: c.n], out[c.n :], len(values) - int(blank)
        a, words = c.domain[name], c.words(name)
        at = np.arange(a.size, dtype=np.int32)
        if a.special and MISSING in words[a.size - a.special :]:
            at[words.index(MISSING, a.size - a.special)] = -1
        return at[c.truth[i]], at[c.synthetic[i]], a.size

    def measured(self, name: str) -> bool:
        """Whether a column has numbers or dates, as the files have them."""
        c = self.c
        return any(name in x and name in y for x, y in self._sides(c))

    @staticmethod
    def _sides(c: Comparison) -> list[tuple[Any, Any]]:
        return [(c.real_values, c.synthetic_values), (c.real_dates, c.synthetic_dates)]

    def floats(self, name: str) -> tuple[Floats, Floats]:
        """Numbers or dates of both tables, NaN where blank."""
        return self.c.exact(name)

    @cached_property
    def halves(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Two random halves of the real records, or of SAMPLE of them: one to learn from, one as a fresh sample."""
        order = np.random.default_rng(0).permutation(self.c.n)[:SAMPLE]
        return np.sort(order[: (len(order) + 1) // 2]), np.sort(order[(len(order) + 1) // 2 :])

    @cached_property
    def whole(self) -> tuple[Whole, Whole]:
        """All columns, (attributes, records) of both tables."""
        pairs = [self.column(n)[:2] for n in self.c.domain.names]
        return np.stack([p[0] for p in pairs]), np.stack([p[1] for p in pairs])

    def shown(self, name: str, cell: int) -> tuple[str, str, bool]:
        """A cell of an example: its column, its value, and whether that is a number."""
        return name, self.word(name, cell), name in self.c.real_values

    def word(self, name: str, cell: int) -> str:
        """A cell as a reader sees it."""
        if cell < 0:
            return ""
        if not self.measured(name):
            return self.c.words(name)[cell]
        real, synth, _ = self.column(name)
        for side, cells in zip(self.c.exact(name), (real, synth), strict=True):
            at = np.flatnonzero(cells == cell)
            if len(at):
                value = float(side[at[0]])
                if name in self.c.date_units:
                    seconds = value * self.c.date_units[name]
                    return str(np.datetime64(round(seconds), "s")).removesuffix("T00:00:00")
                return f"{value:.15g}"
        return ""


def alike(x: Whole) -> float:
    """Share of the pairs of records that have the same cell, without those of a record and itself."""
    counts = np.bincount(x + 1).astype(float)
    return float((counts * (counts - 1)).sum() / (len(x) * (len(x) - 1)))
