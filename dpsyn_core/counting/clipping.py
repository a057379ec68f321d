"""Clipping: per-record vectors as integers whose L2 norm is at most STEPS, exactly, and their exact sums.

All arithmetic that the sensitivity rests on is done on integers below 2^53, which float64 holds exactly, so that sums
do not depend on their order. Proof: docs/proofs/sums.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.features import Floats, Outer, Part
from dpsyn_core.errors import EngineError

STEPS = 1 << 24  # steps of the public grid that make up the clip norm
BLOCK = 512  # records that a map sees at a time; the last block is filled up with zeros
_ROOM = 1 - 2.0**-11  # left for rounding to the nearest step, so that few records need rounding toward zero


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
    found = np.asarray(values)
    if found.ndim != 2 or found.dtype.kind != "f":
        msg = "a map must return matrices of floats, one row per record"
        raise EngineError(msg)
    return np.ascontiguousarray(found, dtype=np.float64)


def _on_grid(
    part: tuple[Floats, Floats | None], scales: tuple[Floats, Floats], usable: NDArray[np.bool_], *, down: bool
) -> Whole:
    """Whole numbers near the scaled part, or (down) toward zero; zeros for rows that are not usable."""
    from dpsyn_core.counting.kernels import on_grid  # numba is heavy

    left = np.asarray(on_grid(part[0], scales[0], usable, down))
    if part[1] is None:
        return Whole(left=left)
    if part[1] is part[0]:
        return Whole(left=left, right=left)
    return Whole(left=left, right=np.asarray(on_grid(part[1], scales[1], usable, down)))


def _squares(values: Floats) -> Floats:
    from dpsyn_core.counting.kernels import row_squares  # numba is heavy

    return np.asarray(row_squares(values))
