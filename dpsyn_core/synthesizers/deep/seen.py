"""What a map is handed of records: features, coarse values and a key, all looked up in public or released tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.features import Features
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.deep.features import Space

Floats = NDArray[np.float64]
_KEYS = 1 << 20
_PRIME = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The tables of a space, and where their columns stand.

    A key is a whole number by attribute and code. The noise of an encoder is a public function of a record's keys and
    of the step: a fresh number in all other respects, but no function of other records or of their order.
    """

    space: Space
    features: Features
    featured: NDArray[np.intp]
    valued: NDArray[np.intp]
    keyed: NDArray[np.intp]

    @classmethod
    def of(cls, space: Space, domain: Domain) -> Seen:
        """For each attribute: its features, its coarse value, its key."""
        rng = np.random.default_rng(19)
        tables: dict[str, Floats] = {}
        featured: list[int] = []
        valued: list[int] = []
        keyed: list[int] = []
        at = 0
        for name, block in zip(domain.names, space.blocks, strict=True):
            width = block.features.shape[1]
            key = rng.integers(1, _KEYS, len(block.recode)).astype(np.float64)
            columns = [block.features[block.recode], block.recode[:, None].astype(np.float64), key[:, None]]
            tables[name] = np.ascontiguousarray(np.concatenate(columns, axis=1))
            featured.extend(range(at, at + width))
            valued.append(at + width)
            keyed.append(at + width + 1)
            at += width + 2
        return cls(
            space=space, features=Features(tables=tables), featured=np.array(featured), valued=np.array(valued),
            keyed=np.array(keyed),
        )  # fmt: skip

    def unclipped(self, block: Floats) -> Floats:
        """Features (records, width)."""
        return block[:, self.featured]

    def clipped(self, block: Floats) -> Floats:
        """Features of at most unit length, as `Space.clipped` gives them."""
        return self.space.shortened(self.unclipped(block))

    def values(self, block: Floats) -> NDArray[np.intp]:
        """Coarse values (records, attributes)."""
        return block[:, self.valued].astype(np.intp)

    def jitter(self, step: int, width: int) -> Callable[[Floats], Floats]:
        """Standard normal numbers (records, width) of a step, each a function of its record's keys."""
        from scipy.special import ndtri  # heavy

        factors = np.random.default_rng((19, step)).integers(1, _KEYS, (len(self.keyed), width)).astype(np.float64)

        def draw(block: Floats) -> Floats:
            mixed = np.mod(block[:, self.keyed] @ factors, _PRIME)  # whole numbers below 2^53: exact in any order
            out: Floats = ndtri((mixed + 0.5) / _PRIME)
            return out

        return draw
