"""Features: numbers that stand for codes, by public tables, and the per-record vectors that are computed from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.schema.domain import Domain

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outer:
    """One matrix a record, left_i right_i^T, kept as its two factors: the gradient of a linear layer has this form.

    left: (m, p), right: (m, r). It counts as p * r cells, row by row. Where both factors are the same, hand in the
    same array twice: then each matrix stays symmetric.
    """

    left: NDArray[np.floating]
    right: NDArray[np.floating]


# What a map makes of a block of m records: arrays (m, d), or factors of matrices. Row i belongs to record i alone.
Part = NDArray[np.floating] | Outer
VectorMap = Callable[[Floats], Sequence[Part]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Features:
    """A public map from codes to numbers: each attribute has a table with one row of numbers for each of its codes.

    tables: attribute name -> finite float (size, width): one-hot rows, middles of bins scaled by public bounds, both.
    The features of a record are the rows of its codes, one after the other in the order of `tables`. They are looked
    up and not computed, so that they depend on that record alone to the last bit.
    """

    tables: Mapping[str, Floats]

    def __post_init__(self) -> None:
        """Refuses tables that are no finite matrices. Raises EngineError: a fault of the calling system."""
        for name, table in self.tables.items():
            if table.ndim != 2 or table.dtype != np.float64 or not np.isfinite(table).all():
                msg = f"the features of '{name}' must be a matrix of finite float64, one row a code"
                raise EngineError(msg)

    @property
    def width(self) -> int:
        """How many numbers stand for a record."""
        return sum(table.shape[1] for table in self.tables.values())

    def check(self, domain: Domain) -> None:
        """Raises EngineError unless every table has a row for each code of its attribute."""
        for name, table in self.tables.items():
            if table.shape[0] != domain[name].size:
                msg = f"the features of '{name}' have {table.shape[0]} rows; it has {domain[name].size} codes"
                raise EngineError(msg)

    def fill(self, out: Floats, codes: Mapping[str, NDArray[np.integer]]) -> None:
        """Writes the features of m records into the first m rows of `out` (at least m, width)."""
        from dpsyn_core.counting.kernels import copy_rows  # numba is heavy

        start = 0
        for name, table in self.tables.items():
            copy_rows(np.ascontiguousarray(table), codes[name].astype(np.int64), start, out)
            start += table.shape[1]


def one_hot(domain: Domain, names: Sequence[str] | None = None) -> Features:
    """A one for the code and zeros beside it, for all attributes or those that are named."""
    return Features(tables={n: np.eye(domain[n].size) for n in (domain.names if names is None else names)})
