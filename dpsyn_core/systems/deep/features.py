"""Features of a record: columns as inputs of a network.

Smooth counts of ordered bins: few noisy cosine coefficients say what many noisy bins do.

What the networks see of a record: a map of its codes that released one-ways and public settings decide.

Every attribute becomes a block: coarse values (neighbouring bins and rare values share one), their released shares,
and features. A number has the normal score of its bin; a category has one indicator a value, centred. A block's
variance under the released shares is at most 1, so that no attribute outweighs the others in the components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Coarsening, Measurement, entropy, in_order, shrink_one_way, with_total
from dpsyn_core.schema import CodedAttribute, Domain

Floats = NDArray[np.float64]
FEWEST = 8  # bins; with fewer there is nothing to smooth
STEEP = 4  # how fast weights fall beyond the bandwidth
BANDWIDTHS = 24  # that are tried
WORTH = 0.5  # of the noise's own squared error: counts that cannot be made this smooth are left as they are


def smoothed(counts: Floats, sigma: float) -> Floats | None:
    """Counts of neighbouring bins with less noise; None where they are not smooth, or noise is no matter.

    The coefficient k of the cosine transform is multiplied by 1 / (1 + (k / b)^4). The bandwidth b is that of the least
    expected squared error, which follows from the counts and their noise alone: with weights w_k it is the sum of
    (1 - w_k)^2 (c_k^2 - sigma^2) + w_k^2 sigma^2 (Stein 1981; for ordered weights, Efromovich and Pinsker 1984). Heaped
    counts have large coefficients everywhere, so that no bandwidth is worth it.

    Args:
        counts: (bins,), noisy.
        sigma: standard deviation of the noise of each.
    """
    from scipy.fft import dct, idct  # heavy

    if len(counts) < FEWEST or sigma <= 0:
        return None
    waves = dct(counts, norm="ortho")
    at = np.arange(len(counts))
    widths = np.geomspace(1.0, len(counts), BANDWIDTHS)
    weights = 1 / (1 + (at / widths[:, None]) ** STEEP)
    errors = ((1 - weights) ** 2 * (waves**2 - sigma**2) + weights**2 * sigma**2).sum(axis=1)
    best = int(errors.argmin())
    if errors[best] > WORTH * len(counts) * sigma**2:
        return None
    return np.asarray(idct(weights[best] * waves, norm="ortho"))


FEW = 8  # a number of at most so many coarse values is decoded value by value
MOST_CELLS = 600  # coarse values of all blocks that are decoded value by value; beyond, numbers are decoded by curves
CURVED_VALUES = 1600  # of all columns together: softmax over more takes time and says no more
MOST_FEATURES = 2500  # their matrix of second moments is released whole
CURVES = 4  # coefficients of a number's curve
HELD = 3.0  # standard deviations of noise that a coarse value holds at least
HELD_NAMED = 1.5  # the same for the column to predict: a value that is merged with others cannot be predicted
FLOOR = 0.3  # least variance by which the indicators of an attribute are scaled
BEND = 0.5  # weight of a number's squared score beside its score
BENT = 50  # columns beyond which squared scores are left out: noise in the second moment grows with its features


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One attribute as the networks see it.

    recode: coarse value of every code (size,). within: share of every code in its coarse value (size,). shares: of
    the coarse values (values,), summing to 1. ranked: how many of the coarse values are in order; the others follow
    them. scores: normal scores (values,) with mean 0 and variance 1 under the shares of ranked values, 0 for others;
    None for categories. features: (values, columns), mean 0 under the shares. weight: of the features.
    curves: (values, CURVES) basis of the decoder's logits; None when every value has one output. bent: the second
    feature is the number's squared score.
    """

    name: str
    recode: NDArray[np.intp]
    within: Floats
    shares: Floats
    ranked: int
    scores: Floats | None
    features: Floats
    weight: float
    curves: Floats | None = None
    bent: bool = False

    @property
    def size(self) -> int:
        """Number of coarse values."""
        return len(self.shares)

    @property
    def outputs(self) -> int:
        """Outputs of the decoder for this block."""
        return self.size if self.curves is None else self.curves.shape[1]

    @property
    def entropy(self) -> float:
        """Of the released shares, in nats: the loss of a decoder that knows nothing."""
        return entropy(self.shares)

    @property
    def variance(self) -> float:
        """Of all features together, under the released shares."""
        return float(self.shares @ (self.features**2).sum(axis=1))


@dataclass(frozen=True)
class Space:
    """All blocks in the order of the domain, and the released number of records."""

    blocks: tuple[Block, ...]
    total: float
    dtype: np.dtype[np.unsignedinteger]

    @cached_property
    def places(self) -> list[slice]:
        """Columns of each block in the features."""
        ends = np.cumsum([b.features.shape[1] for b in self.blocks])
        return [slice(int(e) - b.features.shape[1], int(e)) for b, e in zip(self.blocks, ends, strict=True)]

    @cached_property
    def width(self) -> int:
        """Number of features."""
        return int(self.places[-1].stop)

    @cached_property
    def radius(self) -> float:
        """Length at which features are clipped: a little above the root of their mean squared length."""
        return float(np.sqrt(max(1.2 * sum(b.variance for b in self.blocks), 1e-6)))

    @cached_property
    def _tables(self) -> list[Floats]:
        return [b.features[b.recode] for b in self.blocks]

    def features(self, codes: NDArray[np.unsignedinteger]) -> Floats:
        """Features of records, (records, width), for codes (attributes, records); each a function of its record."""
        out = np.empty((codes.shape[1], self.width))
        for place, table, column in zip(self.places, self._tables, codes, strict=True):
            np.take(table, column, axis=0, out=out[:, place])
        return out

    def clipped(self, codes: NDArray[np.unsignedinteger]) -> Floats:
        """Features at most 1 long: divided by the radius, and longer ones shortened."""
        return self.shortened(self.features(codes))

    def shortened(self, features: Floats) -> Floats:
        """The same for features (records, width), which are overwritten."""
        lengths = np.sqrt(np.einsum("ij,ij->i", features, features)) / self.radius
        features /= (self.radius * np.maximum(lengths, 1))[:, None]
        return features

    def coarse(self, codes: NDArray[np.unsignedinteger]) -> NDArray[np.intp]:
        """Coarse values of records, (records, attributes)."""
        return np.stack([b.recode[c] for b, c in zip(self.blocks, codes, strict=True)], axis=1)

    def featured(self, coarse: NDArray[np.intp]) -> Floats:
        """Features (records, width) of coarse values (records, attributes)."""
        return np.concatenate([b.features[v] for b, v in zip(self.blocks, coarse.T, strict=True)], axis=1)

    def fine(self, coarse: NDArray[np.intp], rng: Generator) -> NDArray[np.unsignedinteger]:
        """Codes (attributes, records) of coarse values (records, attributes), by the released shares within them."""
        out = np.empty(coarse.T.shape, dtype=self.dtype)
        for i, block in enumerate(self.blocks):
            order = np.argsort(block.recode, kind="stable")
            ends = np.cumsum(block.within[order])  # each coarse value takes up 1
            drawn = np.searchsorted(ends, coarse[:, i] + rng.random(len(coarse)), side="right")
            first = np.searchsorted(block.recode[order], coarse[:, i])
            last = np.searchsorted(block.recode[order], coarse[:, i], side="right") - 1
            out[i] = order[np.clip(drawn, first, last)]
        return out


def space_of(
    domain: Domain, ones: Sequence[Measurement], n_public: int | None, *, values: int, weights: Mapping[str, float]
) -> Space:
    """Reads the blocks off released one-ways. Post-processing.

    Args:
        domain: the attributes.
        ones: one-ways in their order.
        n_public: the number of records, where it is public.
        values: about how many coarse values an attribute keeps.
        weights: of the attributes to predict, which count more in the components; 1 for those that are not named.
    """
    precision = np.array([1 / (m.cells * m.sigma**2) if m.sigma else 1.0 for m in ones])
    sums = np.array([m.values.sum() for m in ones])
    total = float(n_public) if n_public is not None else max(float(np.average(sums, weights=precision)), 0.0)
    d = max(len(domain), 1)
    values = max(2, min(values, max(16, CURVED_VALUES // d)))
    told_apart = max(2, min(values, MOST_FEATURES // d))  # each has a feature; a number of any values has one or two
    bend = BEND if d <= BENT else 0.0
    blocks = [
        _block(
            a,
            m,
            total,
            (values, told_apart),
            weights.get(a.name, 1.0),
            bend,
            least=(HELD_NAMED if a.name in weights else HELD) * m.sigma,
        )
        for a, m in zip(domain.attributes, ones, strict=True)
    ]
    if sum(b.size for b in blocks) > MOST_CELLS:
        blocks = [_curved(b) for b in blocks]
    return Space(tuple(blocks), total, np.min_scalar_type(max(domain.sizes) - 1))


def _block(
    a: CodedAttribute, m: Measurement, total: float, most: tuple[int, int], weight: float, bend: float, least: float
) -> Block:
    """most: about how many coarse values a number keeps, and a category. Few values are all kept, rare ones too.

    least: records of a value that keeps a separate feature.
    """
    ordered = a.ordered or in_order(m.values[: a.size - a.special])
    values = most[0] if ordered else most[1]
    a = replace(a, ordered=ordered)
    counts = _counts(a, m, total)
    counts = np.clip(counts, 0, None) + max(total, 1.0) * 1e-9
    rare = 0.0 if a.size <= values else float(counts.sum()) / values
    recode = Coarsening.by_mass(counts, a, least=max(rare, least))
    ranked = int(recode.map[: a.size - a.special].max()) + 1 if ordered and a.size > a.special else 0
    sums = recode.sum(counts)
    shares = np.maximum(sums / sums.sum(), 1e-6)
    shares /= shares.sum()
    scores = _scores(shares, ranked) if ranked > 1 else None
    features = _features(shares, ranked, scores, bend) * weight
    return Block(
        name=a.name,
        recode=recode.map,
        within=recode.within(counts),
        shares=shares,
        ranked=ranked,
        scores=scores,
        features=features,
        weight=weight,
        bent=scores is not None and ranked > 2 and bend > 0,
    )


def _counts(a: CodedAttribute, m: Measurement, total: float) -> Floats:
    """A one-way without most of its noise. Bins of a number are smoothed where their counts are smooth."""
    ranked = a.size - a.special if a.ordered else 0
    evened = m.values + (total - float(m.values.sum())) / len(m.values)  # the total is known far better than the sum
    smooth = smoothed(evened[:ranked], m.sigma)
    if smooth is None or total <= 0:
        return shrink_one_way(m.values, m.sigma, ordered=a.ordered, special=a.special, total=total)
    return with_total(np.concatenate([smooth, evened[ranked:]]), total)


def _scores(shares: Floats, ranked: int) -> Floats:
    """Normal quantiles at the middle of each ranked value, standardised under the shares."""
    from scipy.special import ndtri  # heavy

    p = shares[:ranked] / shares[:ranked].sum()
    z = ndtri(np.clip(np.cumsum(p) - p / 2, 1e-6, 1 - 1e-6))
    z -= p @ z
    out = np.zeros(len(shares))
    out[:ranked] = z / max(float(np.sqrt(p @ z**2)), 1e-9)
    return out


def _features(shares: Floats, ranked: int, scores: Floats | None, bend: float) -> Floats:
    """Centred columns (values, columns): a number's score, and bent score unless `bend` is 0; else indicators."""
    columns: list[Floats] = []
    if scores is None:
        ranked = 0
    else:
        columns.append(scores)
        if ranked > 2 and bend:
            bent = np.where(np.arange(len(shares)) < ranked, scores**2, 1.0)
            bent = np.where(np.arange(len(shares)) < ranked, bent - shares @ bent, 0.0)
            columns.append(bend * bent / max(float(np.sqrt(shares @ bent**2)), 1e-9))
    rest = np.eye(len(shares))[:, ranked:]
    if rest.shape[1] and len(shares) > 1:
        centred = rest - shares[ranked:]
        spread = float(shares @ (centred**2).sum(axis=1))
        columns.extend((centred / np.sqrt(max(spread, FLOOR))).T)
    if not columns:
        columns.append(np.zeros(len(shares)))
    return np.stack(columns, axis=1)


def _curved(block: Block) -> Block:
    """A number of many coarse values gets a curve: score, its square and cube, and its most frequent single value."""
    if block.scores is None or block.ranked <= FEW:
        return block
    s, ranked = block.scores, np.arange(block.size) < block.ranked
    single = ~ranked if block.ranked < block.size else np.arange(block.size) == int(block.shares.argmax())
    columns = [s, s**2 * ranked, s**3 / 3 * ranked, single.astype(np.float64)]
    return replace(block, curves=np.stack(columns, axis=1))
