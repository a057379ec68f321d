"""Feature matrices for learning: numbers standardised, categories as indicators, the same for all tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.metrics.comparison import Codes, Comparison, Floats

ONE_HOT = 50  # an attribute with more categories is one number, its code


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoder:
    """Turns tables into float32 features; fitted to one table, so that all models see one scale."""

    c: Comparison
    names: Sequence[str]
    centres: Mapping[str, tuple[float, float]]

    @classmethod
    def fit(cls, c: Comparison, names: Sequence[str]) -> Encoder:
        """Takes mean and deviation of the real numbers (private, like everything that is learnt here)."""
        centres: dict[str, tuple[float, float]] = {}
        for name in names:
            if not _indicators(c, name):
                x = _numbers(c, name, c.truth, c.real_values)
                x = x[~np.isnan(x)]
                centres[name] = (float(x.mean()), float(x.std()) or 1.0) if len(x) else (0.0, 1.0)
        return cls(c=c, names=names, centres=centres)

    def __call__(self, codes: Codes, values: Mapping[str, Floats], rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Features (len(rows), k): missing numbers are set to the mean and have an indicator beside them."""
        columns: list[NDArray[np.float32]] = []
        for name in self.names:
            a, i = self.c.domain[name], self.c.domain.index(name)
            if name in self.centres:
                mean, deviation = self.centres[name]
                x = (_numbers(self.c, name, codes, values)[rows] - mean) / deviation
                columns.append(np.nan_to_num(x, nan=0.0).astype(np.float32))
                if a.special or (name == self.c.resolved.income and self.c.resolved.not_applicable is not None):
                    columns.append(np.isnan(x).astype(np.float32))
            else:
                code = codes[i][rows]
                columns.extend((code == v).astype(np.float32) for v in range(a.size))
        return np.stack(columns, axis=1)


def _indicators(c: Comparison, name: str) -> bool:
    return not c.numeric(name) and c.domain[name].size <= ONE_HOT


def _numbers(c: Comparison, name: str, codes: Codes, values: Mapping[str, Floats]) -> Floats:
    if name in values and name in c.bounds:
        return c.column(name, codes, values)
    if c.numeric(name):
        return c.ranks(name, codes)
    return np.asarray(codes[c.domain.index(name)], dtype=np.float64)
