"""Measurements as values: arithmetic on them, and fresh noise.

Measurement: a noisy marginal, the only thing that post-processing is handed.

Algebra of marginals: projection, products and integer rounding.

Draws the noise of released tables again: what else could have been released, as far as anybody can tell. Blind.

Nothing here protects anybody: the released values are noisy already, and more noise is post-processing. It therefore
takes a seeded generator, unlike the noise of `dpsyn_core.privacy.noise`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.estimate.marginals.coarsening import NO_RECODES, Coarsening, Recodes
from dpsyn_core.schema import AttributeSet

if TYPE_CHECKING:
    from dpsyn_core.estimate.marginals.model_sums import ModelSum

Law = Literal["gaussian", "geometric"]  # of noise on whole counts: rounded Gaussian, or two-sided geometric


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A released marginal.

    attributes: in domain order (empty: the total). values: float64, one axis an attribute, in counts, may be
    negative. sigma: standard deviation of the noise of one cell, in counts. recodes: for attributes measured
    coarsely, which of their values share a position on the axis. law: of the noise;
    None in files of earlier versions, where the run's delta decides. shared: names the
    one release from which this table and others were computed, which therefore share its noise; empty
    for a table with independent noise.
    """

    attributes: AttributeSet
    values: NDArray[np.float64]
    sigma: float
    recodes: Recodes = field(default_factory=lambda: NO_RECODES)
    law: Law | None = None
    shared: str = ""

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.values.size)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scores:
    """Released dependences of attribute sets.

    sets: in domain order each. values: float64 (len(sets),), for each the L1 distance of its (coarse) table from what
    its one-ways alone let expect, in records, with noise. sigma: standard deviation of that noise.
    """

    sets: tuple[AttributeSet, ...]
    values: NDArray[np.float64]
    sigma: float

    def among(self, names: Sequence[str]) -> Scores:
        """The scores of the sets that hold these attributes alone."""
        kept = [i for i, s in enumerate(self.sets) if set(s) <= set(names)]
        return Scores(sets=tuple(self.sets[i] for i in kept), values=self.values[kept], sigma=self.sigma)

    def bounds(self, deviations: float = 2.0) -> dict[AttributeSet, float]:
        """For each set its score, at least 0, and so many standard deviations of the noise more.

        Tables with low scores are not measured, and a score may be low by chance: hence two of them.
        """
        return {s: max(float(v), 0.0) + deviations * self.sigma for s, v in zip(self.sets, self.values, strict=True)}


@dataclass(frozen=True, kw_only=True, slots=True)
class JointAxis:
    """An axis that stands for several attributes together.

    recode: of the cells of their product (C order). recodes: of those attributes whose values are merged before the
    product is formed, as the days of ten dates of which only presence is counted.
    """

    attributes: AttributeSet
    recode: Coarsening
    recodes: Recodes = field(default_factory=lambda: NO_RECODES)


@dataclass(frozen=True, kw_only=True, slots=True)
class JointTable:
    """A released marginal whose axes hold combinations of attributes, of which rare ones share a cell.

    axes: with all attributes that the table counts. values: float64, one axis each, in counts, may be negative.
    sigma, law: of the noise of one cell.
    """

    axes: tuple[JointAxis, ...]
    values: NDArray[np.float64]
    sigma: float
    law: Law | None = None

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.values.size)


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanTable:
    """A released mean of the marginals of several pairs, whose attributes have as many values each.

    pairs: the attribute of the rows and that of the columns of each. values: float64, in counts, may be negative.
    sigma, law: of the noise of one cell. recodes: as those of a `Measurement`.
    """

    pairs: tuple[tuple[str, str], ...]
    values: NDArray[np.float64]
    sigma: float
    recodes: Recodes = field(default_factory=lambda: NO_RECODES)
    law: Law | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trust:
    """How far released scores bear out what a public table says of a pair.

    part: of the dependence that the public table shows, 0 to 1, that the private one has. left: L1 distance, in
    records, of the private pair from what is then expected of it. deviation: standard deviation of `left`.
    """

    part: float
    left: float
    deviation: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Follower:
    """An attribute that follows from another one, by a released number of exceptions.

    name: of the attribute. of: from which it follows; the two have a released table of all their values. exceptions:
    share of the records that have another value than the one that follows.
    """

    name: str
    of: str
    exceptions: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Together:
    """Values that columns have in the same records, as "skip" where a question is not asked.

    codes: by column, the codes of these values; in a record, all of the columns have one of them or none has.
    """

    codes: Mapping[str, tuple[int, ...]]


class ReleasedTables(list[Measurement]):
    """Released marginals in order, with the scores by which some of them were chosen; None where there are none.

    joint: released tables over combinations of attributes, which are no product of the attributes' values. trust: in
    a public table, by pair; empty without one. sums: of declared regressions. followers: attributes that follow from
    others. together: values that attributes have in the same records. means: of marginals of pairs.
    """

    scores: Scores | None = None
    trust: Mapping[AttributeSet, Trust] = MappingProxyType({})
    joint: tuple[JointTable, ...] = ()
    sums: tuple[ModelSum, ...] = ()
    followers: tuple[Follower, ...] = ()
    together: tuple[Together, ...] = ()
    means: tuple[MeanTable, ...] = ()

    def like(self, tables: Iterable[Measurement]) -> ReleasedTables:
        """Other tables with the same scores, trust, joint tables, sums, means and what follows."""
        out = ReleasedTables(tables)
        out.scores, out.trust, out.joint, out.sums = self.scores, self.trust, self.joint, self.sums
        out.followers, out.together, out.means = self.followers, self.together, self.means
        return out


Array = NDArray[np.float64]
ROUNDS = 20  # of iterative proportional fitting of a table of two attributes: more change little


def project(values: Array, names: Sequence[str], keep: Sequence[str]) -> Array:
    """Sums a table over all attributes that are not kept; the kept axes stand in the order of `keep`.

    Raises EngineError when an attribute to keep is not on the table.
    """
    missing = [n for n in keep if n not in names]
    if missing:
        msg = f"a table over {', '.join(names) or 'nothing'} has no axis '{missing[0]}'"
        raise EngineError(msg)
    dropped = tuple(i for i, n in enumerate(names) if n not in keep)
    left = [n for n in names if n in keep]
    return np.asarray(values.sum(axis=dropped)).transpose([left.index(n) for n in keep])


def at_margins(tables: Array, rows: Array, columns: Array) -> Array:
    """Tables of two attributes, each with its dependence at other margins: iterative proportional fitting.

    tables: float64 (..., rows, columns), not negative. rows, columns: what their rows and columns are to add up to,
    (..., rows) and (..., columns).
    """
    for _ in range(ROUNDS):
        for wanted, axis in ((rows[..., :, None], -1), (columns[..., None, :], -2)):
            held = tables.sum(axis=axis, keepdims=True)
            tables = tables * np.divide(wanted, held, out=np.zeros(held.shape), where=held > 0)
    return tables


def spread(values: Array, names: Sequence[str], onto: Sequence[str]) -> Array:
    """Gives a table over some attributes an axis of length 1 for each of the others, ready to broadcast."""
    positions = [list(onto).index(n) for n in names]
    ordered = values.transpose(np.argsort(positions)) if len(names) else values
    shape = [1] * len(onto)
    for axis, position in enumerate(sorted(positions)):
        shape[position] = ordered.shape[axis]
    return ordered.reshape(shape)


def product(one_ways: Sequence[Array], total: float) -> Array:
    """The independent table: the outer product of marginals that share a total, scaled to it.

    A marginal without a positive count is taken as uniform.
    """
    out = np.array(float(total))
    for values in one_ways:
        out = np.multiply.outer(out, probabilities(values))
    return out


def probabilities(values: Array) -> Array:
    """Clips at zero and scales to 1; uniform when nothing is left."""
    clipped = np.clip(np.asarray(values, dtype=np.float64), 0, None)
    total = clipped.sum()
    if total > 0 and np.isfinite(total):
        return np.asarray(clipped / total)
    return np.full(clipped.shape, 1 / max(clipped.size, 1))


def whole_counts(values: Array, total: int, *, rng: Generator) -> NDArray[np.int64]:
    """Scales a table to `total` records and rounds by largest remainder; ties are broken at random.

    Without that, of thousands of equally small cells the first ones would always be rounded up.

    Args:
        values: any shape, negative cells count as zero; uniform when nothing is positive.
        total: number of records, at least 0.
        rng: post-processing randomness.

    Returns:
        int64, same shape, sums to `total`, each cell within one record of its share.
    """
    share = probabilities(values).ravel() * total
    whole = np.floor(share).astype(np.int64)
    left = int(total - whole.sum())
    if left > 0:
        order = rng.permutation(share.size)
        remainder = (share - whole)[order]
        top = order[np.argpartition(-remainder, left - 1)[:left]] if left < share.size else order
        whole[top] += 1
    return whole.reshape(np.shape(values))


def redrawn(measured: Sequence[Measurement], *, pure: bool, rng: Generator) -> ReleasedTables:
    """The released tables and sums with fresh noise of the same size on top.

    A refit to them differs from a fit to the released ones by what noise does to it, which is about how the latter
    differs from a fit to exact counts (Raisa, Jalko, Kaski and Honkela 2023 draw the exact counts in the same spirit).

    Args:
        measured: what was released.
        pure: whether the noise was two-sided geometric (delta 0), else Gaussian, where a table does not say.
        rng: of the post-processing.
    """
    out = ReleasedTables(replace(m, values=m.values + noise(m, pure=pure, rng=rng)) for m in measured)
    if isinstance(measured, ReleasedTables):
        out.sums = tuple(s.redrawn(rng) for s in measured.sums)
    return out


def noise(m: Measurement, *, pure: bool, rng: Generator) -> NDArray[np.float64]:
    """Noise of a measurement's shape and standard deviation; Laplace stands for two-sided geometric."""
    laplace = pure if m.law is None else m.law == "geometric"
    return rng.laplace(0.0, m.sigma / 2**0.5, m.values.shape) if laplace else rng.normal(0.0, m.sigma, m.values.shape)


def merged(measured: Sequence[Measurement]) -> list[Measurement]:
    """Each table once; what was measured several times, at the same coarse values, has the noise of all together."""
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for m in measured:
        key = (m.attributes, *(m.recodes.get(n) for n in m.attributes))
        groups.setdefault(key, []).append(m)
    out = []
    for same in groups.values():
        precision = sum(1 / m.sigma**2 for m in same)
        values = np.sum([m.values / m.sigma**2 for m in same], axis=0) / precision
        first = same[0]
        out.append(replace(first, values=values, sigma=float(precision**-0.5)))
    return out


def noisy_total(measured: Sequence[Measurement]) -> float:
    """The number of records by the sums of tables of at most one attribute, else of all; at least 0, without any 0."""
    used = [m for m in measured if len(m.attributes) < 2] or list(measured)
    if not used:
        return 0.0
    sums = [float(m.values.sum()) for m in used]
    return max(float(np.average(sums, weights=[1 / (m.cells * m.sigma**2) for m in used])), 0.0)
