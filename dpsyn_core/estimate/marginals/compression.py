"""Attribute compression: values too rare to measure share one code, which is later split by the one-way counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement, whole_counts
from dpsyn_core.schema import Domain

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Compressed:
    """How one attribute is counted: kept codes first, in order, then one code for all rare ones.

    recode: code -> cell. one_way: released counts of all codes. dropped: all rare codes together are too few, so the
    shared cell is set to 0 after it was measured.
    """

    recode: Coarsening
    one_way: Array
    dropped: bool = False

    @property
    def size(self) -> int:
        """Number of cells it is counted in."""
        return self.recode.size

    @property
    def rare(self) -> NDArray[np.intp]:
        """Codes that share the last cell."""
        return np.flatnonzero(self.recode.width[self.recode.map] > 1)

    def restore(self, column: NDArray[np.unsignedinteger], *, rng: Generator) -> NDArray[np.intp]:
        """Cells -> codes; the shared cell follows the released counts of its members in exact shares."""
        codes = self.recode.first[np.asarray(column, dtype=np.intp)]
        rare = self.rare
        if rare.size:
            at = np.flatnonzero(column == self.size - 1)
            drawn = np.repeat(rare, whole_counts(self.one_way[rare], at.size, rng=rng))
            codes[at] = rng.permutation(drawn)
        return codes


def compress(one_way: Array, threshold: float, *, limit: int | None = None) -> Compressed:
    """Keeps the codes whose released count reaches the threshold.

    Args:
        one_way: released counts of all codes.
        threshold: in counts.
        limit: keep at most this many codes, the most frequent ones.

    A single rare code keeps its cell, since merging it with nothing saves no cell. When no code reaches the
    threshold, all share one cell. Source: McKenna, Miklau, Sheldon 2021, section 3; NIST challenge 2018.
    """
    kept = one_way >= threshold
    if limit is not None and np.count_nonzero(kept) > limit:
        frequent = np.flatnonzero(kept)
        kept[np.delete(frequent, np.argsort(-one_way[frequent], kind="stable")[:limit])] = False
    recode = Coarsening.rare(kept)
    dropped = not recode.is_identity and bool(kept.any()) and float(one_way[~kept].sum()) < threshold
    return Compressed(recode=recode, one_way=one_way, dropped=dropped)


def compressed_domain(domain: Domain, compressed: Mapping[str, Compressed]) -> Domain:
    """The domain in which compressed codes are counted."""
    return Domain(
        tuple(
            replace(a, size=compressed[a.name].size, ordered=False, special=0) if a.name in compressed else a
            for a in domain.attributes
        )
    )


def recodes_of(compressed: Mapping[str, Compressed]) -> dict[str, Coarsening]:
    """Those of the attributes that compression changes."""
    return {n: c.recode for n, c in compressed.items() if not c.recode.is_identity}


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
    values = c.recode.sum(m.values)
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
