"""Sums of clipped per-record vectors: features of a record, their clipping as integers, and sums block by block.

They are what private records offer to the gate next to counts. Features stand for codes by public tables. All
arithmetic that the sensitivity rests on is done on integers below 2^53, which float64 holds exactly, so that sums do
not depend on their order: the L2 norm of a clipped vector is at most STEPS, exactly. Proof: docs/proofs/sums.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.schema import Domain

Floats = NDArray[np.float64]
STEPS = 1 << 24  # steps of the public grid that make up the clip norm
BLOCK = 512  # records that a map sees at a time; the last block is filled up with zeros
_ROOM = 1 - 2.0**-11  # left for rounding to the nearest step, so that few records need rounding toward zero
# For a number of records: which of them are in the sample. Drawn by the gate, which owns the randomness.
Sample = Callable[[int], NDArray[np.bool_]]


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
        from dpsyn_core.measure.counting.kernels import copy_rows  # numba is heavy

        start = 0
        for name, table in self.tables.items():
            copy_rows(np.ascontiguousarray(table), codes[name].astype(np.int64), start, out)
            start += table.shape[1]


def one_hot(domain: Domain, names: Sequence[str] | None = None) -> Features:
    """A one for the code and zeros beside it, for all attributes or those that are named."""
    return Features(tables={n: np.eye(domain[n].size) for n in (domain.names if names is None else names)})


@dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """A part on the grid: integers kept in float64. right None: an array (m, d); otherwise factors of matrices."""

    left: Floats
    right: Floats | None = None

    @property
    def cells(self) -> int:
        """Cells of one record."""
        return int(self.left.shape[1]) * (1 if self.right is None else int(self.right.shape[1]))

    def squares(self) -> Floats:
        """Squared norms (m,), exact where they are at most STEPS^2."""
        return _squares(self.left) * (1.0 if self.right is None else _squares(self.right))

    def total(self) -> NDArray[np.int64]:
        """Sum over the records, exact: every partial sum is a whole number below BLOCK * STEPS."""
        summed = self.left.sum(axis=0) if self.right is None else (self.left.T @ self.right).ravel()
        return summed.astype(np.int64)

    def kept(self, rows: NDArray[np.bool_], other: Whole | None = None) -> Whole:
        """These rows, and of the others those of `other` (zeros when there is none)."""

        def chosen(mine: Floats, its: Floats | None) -> Floats:
            return np.where(rows[:, None], mine, 0.0 if its is None else its)

        left = chosen(self.left, None if other is None else other.left)
        if self.right is None:
            return Whole(left=left)
        if self.right is self.left and (other is None or other.right is other.left):
            return Whole(left=left, right=left)
        return Whole(left=left, right=chosen(self.right, None if other is None else other.right))


def clipped(parts: Sequence[Part], clip: float, *, non_negative: bool = False) -> list[Whole]:
    """Vectors of norm at most `clip`, in steps of clip / STEPS.

    The vector of a record is all its parts together; a longer one is scaled down. A record with a number that is not
    finite gets the zero vector. What a row becomes depends on that row alone, to the last bit.

    Args:
        parts: of m records.
        clip: largest L2 norm; public.
        non_negative: negative numbers become 0; factors of matrices too, unless both are the same array.
    """
    with np.errstate(all="ignore"):
        floats = [_floats(part, non_negative=non_negative) for part in parts]
        squares = [(_squares(a), None if b is None else _squares(b)) for a, b in floats]
        norm = np.sqrt(np.sum([a if b is None else a * b for a, b in squares], axis=0))
        weight = STEPS * _ROOM / np.maximum(norm, clip)
        usable = np.isfinite(norm)
        scales = []
        for a, b in squares:
            # both factors of a matrix get the same length, which loses least to rounding
            one = weight if b is None else np.where((a > 0) & (b > 0), np.sqrt(weight) * np.sqrt(np.sqrt(b / a)), 0.0)
            two = one if b is None else np.where(one > 0, weight / one, 0.0)
            usable &= np.isfinite(one) & np.isfinite(two)
            scales.append((one, two))
        near = [_on_grid(p, s, usable, down=False) for p, s in zip(floats, scales, strict=True)]
        fits = _norms(near) <= float(STEPS) ** 2
        if not fits.all():
            down = [_on_grid(p, s, usable, down=True) for p, s in zip(floats, scales, strict=True)]
            near = [n.kept(fits, d) for n, d in zip(near, down, strict=True)]
            fits = _norms(near) <= float(STEPS) ** 2
            near = near if fits.all() else [n.kept(fits) for n in near]
    return near


def _norms(parts: Sequence[Whole]) -> Floats:
    return np.asarray(np.sum([p.squares() for p in parts], axis=0))


def _floats(part: Part, *, non_negative: bool) -> tuple[Floats, Floats | None]:
    """A part as float64 in C order, so that every row is read in the same way wherever it stands."""
    if isinstance(part, Outer):
        left = _matrix(part.left)
        if part.right is part.left:
            return left, left
        right = _matrix(part.right)
        return (np.maximum(left, 0.0), np.maximum(right, 0.0)) if non_negative else (left, right)
    values = _matrix(part)
    return (np.maximum(values, 0.0) if non_negative else values), None


def _matrix(values: object) -> Floats:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.dtype.kind != "f":
        msg = "a map must return matrices of floats, one row per record"
        raise EngineError(msg)
    return np.ascontiguousarray(matrix, dtype=np.float64)


def _on_grid(
    part: tuple[Floats, Floats | None], scales: tuple[Floats, Floats], usable: NDArray[np.bool_], *, down: bool
) -> Whole:
    """Whole numbers near the scaled part, or (down) toward zero; zeros for rows that are not usable."""
    from dpsyn_core.measure.counting.kernels import on_grid  # numba is heavy

    left = np.asarray(on_grid(part[0], scales[0], usable, down))
    if part[1] is None:
        return Whole(left=left)
    if part[1] is part[0]:
        return Whole(left=left, right=left)
    return Whole(left=left, right=np.asarray(on_grid(part[1], scales[1], usable, down)))


def _squares(values: Floats) -> Floats:
    from dpsyn_core.measure.counting.kernels import row_squares  # numba is heavy

    return np.asarray(row_squares(values))


@dataclass(frozen=True, kw_only=True, slots=True)
class SumRule:
    """All that a sum of vectors depends on beside the records and the maps; public.

    features: what a map is given. clip: largest L2 norm of one record's vector. cells: of the vector. by: an
    attribute, each of whose codes has a separate sum (and map); None: one sum. non_negative: see `clipped`.
    """

    features: Features
    clip: float
    cells: int
    by: str | None = None
    non_negative: bool = False


@runtime_checkable
class VectorCounter(Protocol):
    """A counter that can also sum clipped vectors of its records. All that it returns is private."""

    domain: Domain

    def vector_sum(self, rule: SumRule, maps: Sequence[VectorMap], sample: Sample | None = None) -> NDArray[np.int64]:
        """Exact sum over the records (of the sample) of their vectors on the grid of `clipping`.

        Args:
            rule: what is summed.
            maps: one; or one for each code of the attribute `rule.by`.
            sample: chooses records; None takes all.

        Returns:
            int64 (len(maps) * rule.cells,), in steps of clip / STEPS.
        """


def block_sum(
    columns: Mapping[str, NDArray[np.integer]],
    n_records: int,
    rule: SumRule,
    maps: Sequence[VectorMap],
    sample: Sample | None,
) -> NDArray[np.int64]:
    """`VectorCounter.vector_sum` of records whose codes are in memory, as columns by attribute name."""
    chosen = np.arange(n_records) if sample is None else np.flatnonzero(sample(n_records))
    out = np.zeros((len(maps), rule.cells), dtype=np.int64)
    for position, vectors in enumerate(maps):
        rows = chosen if rule.by is None else chosen[columns[rule.by][chosen] == position]
        for start in range(0, rows.size, BLOCK):
            at = rows[start : start + BLOCK]
            out[position] += sum_of_block({n: columns[n][at] for n in rule.features.tables}, at.size, rule, vectors)
    return out.ravel()


def sum_of_block(
    codes: Mapping[str, NDArray[np.integer]], n_records: int, rule: SumRule, vectors: VectorMap
) -> NDArray[np.int64]:
    """Sum of at most BLOCK records. The map sees a full block, zeros after the records, and a copy that is wiped.

    Whatever the map raises or warns of may depend on the records, and is not passed on.
    """
    block = np.zeros((BLOCK, rule.features.width))
    rule.features.fill(block, codes)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = head(vectors(block), n_records)
            whole = clipped(parts, rule.clip, non_negative=rule.non_negative)
    except Exception:  # noqa: BLE001  (of any kind: its words may hold values)
        msg = "a map from features to vectors failed on private records; it must not depend on them whether it fails"
        raise EngineError(msg) from None
    finally:
        block.fill(0.0)
    if sum(part.cells for part in whole) != rule.cells:
        msg = f"a map gave vectors of {sum(part.cells for part in whole)} cells where {rule.cells} were announced"
        raise EngineError(msg)
    return np.concatenate([part.total() for part in whole])


def head(parts: Sequence[Part], n_records: int) -> list[Part]:
    """The parts of the first records of a full block. Raises EngineError when a part is no full block."""
    out: list[Part] = []
    for part in parts:
        for factor in (part.left, part.right) if isinstance(part, Outer) else (part,):
            if np.ndim(factor) != 2 or len(factor) != BLOCK:
                msg = f"a map must return {BLOCK} rows for the {BLOCK} it is given"
                raise EngineError(msg)
        if isinstance(part, Outer):
            left = np.asarray(part.left)[:n_records]
            out.append(Outer(left=left, right=left if part.right is part.left else np.asarray(part.right)[:n_records]))
        else:
            out.append(np.asarray(part)[:n_records])
    return out
