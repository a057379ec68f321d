"""Attribute compression: values too rare to measure share one code, which is later split by the one-way counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.marginals.algebra import whole_counts
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.schema.domain import Domain

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Compressed:
    """How one attribute is counted: kept codes first, in order, then one code for all rare ones.

    kept: codes with a cell of their own. rare: codes that share the last cell. one_way: released counts of all
    codes. dropped: all rare codes together are too few, so the shared cell is set to 0 after it was measured.
    """

    kept: NDArray[np.intp]
    rare: NDArray[np.intp]
    one_way: Array
    dropped: bool

    @property
    def size(self) -> int:
        """Number of cells it is counted in."""
        return self.kept.size + (1 if self.rare.size else 0)

    def recode(self) -> NDArray[np.intp]:
        """Code -> cell."""
        out = np.full(self.one_way.size, self.kept.size, dtype=np.intp)
        out[self.kept] = np.arange(self.kept.size)
        return out

    def restore(self, column: NDArray[np.unsignedinteger], *, rng: Generator) -> NDArray[np.intp]:
        """Cells -> codes; the shared cell follows the released counts of its members in exact shares."""
        codes = np.append(self.kept, 0)[np.asarray(column, dtype=np.intp)]
        if self.rare.size:
            at = np.flatnonzero(column == self.kept.size)
            drawn = np.repeat(self.rare, whole_counts(self.one_way[self.rare], at.size, rng=rng))
            codes[at] = rng.permutation(drawn)
        return codes


def compress(one_way: Array, threshold: float, *, limit: int | None = None) -> Compressed:
    """Keeps the codes whose released count reaches the threshold.

    Args:
        one_way: released counts of all codes.
        threshold: in counts.
        limit: keep at most this many codes, the most frequent ones.

    A single rare code keeps its own cell, since merging it with nothing saves no cell. When no code reaches the
    threshold, all share one cell. Source: McKenna, Miklau, Sheldon 2021, section 3; NIST challenge 2018.
    """
    frequent = np.flatnonzero(one_way >= threshold)
    if limit is not None and frequent.size > limit:
        frequent = np.sort(frequent[np.argsort(-one_way[frequent], kind="stable")[:limit]])
    rare = np.setdiff1d(np.arange(one_way.size), frequent)
    if rare.size <= 1:
        return Compressed(kept=np.arange(one_way.size), rare=rare[:0], one_way=one_way, dropped=False)
    dropped = bool(frequent.size) and float(one_way[rare].sum()) < threshold
    return Compressed(kept=frequent, rare=rare, one_way=one_way, dropped=dropped)


def compressed_domain(domain: Domain, compressed: Mapping[str, Compressed]) -> Domain:
    """The domain in which compressed codes are counted."""
    return Domain(
        tuple(
            replace(a, size=compressed[a.name].size, ordered=False, special=0) if a.name in compressed else a
            for a in domain.attributes
        )
    )


def recodes_of(compressed: Mapping[str, Compressed]) -> dict[str, NDArray[np.intp]]:
    """The coarse maps of the attributes that compression changes."""
    return {n: c.recode() for n, c in compressed.items() if c.rare.size}


def on_compressed(measured: Sequence[Measurement], compressed: Mapping[str, Compressed]) -> list[Measurement]:
    """Drops the maps of measurements taken on compressed codes and empties the cells of dropped codes."""
    out = []
    for m in measured:
        values = m.values.copy()
        for axis, name in enumerate(m.attributes):
            if name in compressed and compressed[name].dropped:
                np.moveaxis(values, axis, 0)[-1] = 0
        out.append(replace(m, values=values, recodes={}))
    return out


def compressed_one_way(m: Measurement, c: Compressed) -> Measurement:
    """A full one-way measurement on compressed cells.

    The shared cell is a sum of many noisy counts, so its noise is larger than sigma says. A measurement has one sigma,
    and the pairs determine the shared cell better than this sum does.
    """
    values = np.bincount(c.recode(), weights=m.values, minlength=c.size).astype(np.float64)
    if c.dropped:
        values[-1] = 0
    return replace(m, values=values, recodes={})


def restore_all(
    codes: NDArray[np.unsignedinteger], domain: Domain, compressed: Mapping[str, Compressed], *, rng: Generator
) -> NDArray[np.unsignedinteger]:
    """Codes of the full domain from compressed ones, in the narrowest type."""
    dtype = np.min_scalar_type(max(domain.sizes, default=1) - 1)
    out = np.empty(codes.shape, dtype=dtype)
    for i, name in enumerate(domain.names):
        out[i] = compressed[name].restore(codes[i], rng=rng) if name in compressed else codes[i]
    return out
