"""A trained model: what it saw, and what may be drawn from it.

What a map is handed of records: features, coarse values and a key, all looked up in public or released tables.

What a deep system releases, and how records are drawn from it. Post-processing only: NumPy, no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement
from dpsyn_core.measure import Features
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import Domain
from dpsyn_core.systems.deep.decoder import DecoderLayout, drawn, layout_of, settled
from dpsyn_core.systems.deep.discriminant import Head
from dpsyn_core.systems.deep.features import Space
from dpsyn_core.systems.deep.mixture import Components, Mixture
from dpsyn_core.systems.deep.network import Shape, decoded, encoded, variances

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
            space=space,
            features=Features(tables=tables),
            featured=np.array(featured),
            valued=np.array(valued),
            keyed=np.array(keyed),
        )

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


CHUNK = 4096  # records drawn at a time
TRIED = 2048  # records by which the shares of values are set
MOST_TRIED = 16_384
RAREST = 32  # of them that are to have the rarest value of the column that a head decodes


@dataclass(frozen=True, kw_only=True)
class Trained:
    """Released values and what was trained on them, for one decoder.

    components: the fixed encoder; None when it was learned, and then its weights are among the others. noisy: the
    encoder has variances. losses: mean loss of an epoch in nats a record, as it was released. fixed: an attribute and
    the coarse value that all records of this decoder have. settled: drawn records are to have the released shares,
    which hold for all records and not for a part of them. head: decodes one column last, from all others.
    """

    space: Space
    shape: Shape
    weights: Floats
    prior: Mixture
    components: Components | None
    noisy: bool
    losses: tuple[float, ...] = ()
    fixed: tuple[int, int] | None = None
    settled: bool = True
    head: Head | None = None

    def layout(self) -> DecoderLayout:
        """Where the decoder's outputs belong."""
        return layout_of(self.space)

    def draw(self, n: int, passes: int, rng: Generator, progress: Progress = silent) -> NDArray[np.unsignedinteger]:
        """Codes (attributes, n).

        Latent values are drawn from the prior, and values from the softmax of each block. Each further pass encodes
        the records and decodes them anew: a step of the chain whose records and latent values fit each other. The
        logits of every block get offsets by which all drawn records together have its released shares.
        """
        layout = self.layout()
        seed = rng.integers(2**63)
        tried = np.random.default_rng(seed)
        offsets: list[list[Floats]] = []
        z = self.prior.draw(self._tried() if self.settled else 1, tried)
        for turn in range(passes + 1):
            offsets.append(self._offsets(layout, z, tried))
            if turn < passes:
                z = self._again(self._values(layout, z, offsets[-1], tried), tried)
        out = np.empty((len(self.space.blocks), n), dtype=self.space.dtype)
        for start in range(0, n, CHUNK):
            count = min(CHUNK, n - start)
            z = self.prior.draw(count, rng)
            for turn in range(passes + 1):
                codes = self._values(layout, z, offsets[turn], rng)
                if turn < passes:
                    z = self._again(codes, rng)
            out[:, start : start + count] = codes
            progress("drawing records", start + count, n)
        return out

    def _tried(self) -> int:
        """How many records set the shares of values."""
        rarest = 1.0 if self.head is None else float(self.space.blocks[self.head.at].shares.min())
        return int(np.clip(RAREST / rarest, TRIED, MOST_TRIED))

    def _offsets(self, layout: DecoderLayout, z: Floats, rng: Generator) -> list[Floats]:
        """Offsets (blocks, values) of each group, and of the head, with which `z` gives the released shares."""
        if not self.settled:
            return [np.zeros_like(group.logs) for group in layout.groups]
        outputs = decoded(self.shape, self.weights, z)
        offsets = [settled(group, outputs) for group in layout.groups]
        if self.head is not None:
            offsets.append(self.head.offsets(self.space, self._coarse(layout, z, offsets, rng)))
        return offsets

    def _values(
        self, layout: DecoderLayout, z: Floats, offsets: list[Floats], rng: Generator
    ) -> NDArray[np.unsignedinteger]:
        """Codes (attributes, records) for latent values."""
        coarse = self._coarse(layout, z, offsets, rng)
        if self.head is not None:
            coarse[:, self.head.at] = self.head.draw(self.space, coarse, offsets[-1], rng)
        if self.fixed is not None:
            coarse[:, self.fixed[0]] = self.fixed[1]
        return self.space.fine(coarse, rng)

    def _coarse(self, layout: DecoderLayout, z: Floats, offsets: list[Floats], rng: Generator) -> NDArray[np.intp]:
        """Coarse values (records, attributes) by the decoder alone."""
        outputs = decoded(self.shape, self.weights, z)
        coarse = np.empty((len(z), len(self.space.blocks)), dtype=np.intp)
        for group, shift in zip(layout.groups, offsets[: len(layout.groups)], strict=True):
            coarse[:, group.attributes] = drawn(group, outputs, shift, rng)
        return coarse

    def _again(self, codes: NDArray[np.unsignedinteger], rng: Generator) -> Floats:
        """Latent values of records, with the encoder's noise."""
        seen = self.space.clipped(codes)
        if self.components is not None:
            means = self.components(seen)
            spread = variances(self.shape, self.weights, seen * self.space.radius)
        else:
            means, spread = encoded(self.shape, self.weights, seen * self.space.radius)
        if not self.noisy:
            return means
        shaken: Floats = means + rng.standard_normal(means.shape) * np.sqrt(spread)
        return shaken


@dataclass(frozen=True, kw_only=True)
class ReleasedModels:
    """What the private phase leaves: one model, or several with the shares of the records that they are for.

    passes: how often drawn records are encoded and decoded anew. one_ways: as they were released, once or twice each;
    a saved model is without them.
    """

    models: tuple[Trained, ...]
    shares: tuple[float, ...]
    total: float
    passes: int = 0
    one_ways: tuple[Measurement, ...] = ()

    def draw(
        self, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Codes (attributes, records): records of each model in the released shares, in a random order.

        n_records None: the released number.
        """
        n = max(0, round(self.total)) if n_records is None else n_records
        shares = np.asarray(self.shares, dtype=np.float64)
        counts = rng.multinomial(n, shares / shares.sum()) if len(shares) > 1 else np.array([n])
        parts = [
            model.draw(int(count), self.passes, rng, progress) for model, count in zip(self.models, counts, strict=True)
        ]
        out = np.concatenate(parts, axis=1)
        return out if len(parts) == 1 else out[:, rng.permutation(n)]
