"""What a public table lets record least squares expect, trusted as far as the released values bear it out.

Post-processing: reads a public table and released values. The public table is one more set of marginals whose error
is unknown and is estimated from tables that were measured with noise of a given size. Where the public table
misleads, the estimated error is large, and its weight is near 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Recodes, Target, Trust, at_margins
from dpsyn_core.measure import Counter, Gate, MemoryCounter, score_sets
from dpsyn_core.privacy import Cost
from dpsyn_core.schema import AttributeSet
from dpsyn_core.systems.public_table import PublicTable
from dpsyn_core.systems.steps import share_of

if TYPE_CHECKING:
    from dpsyn_core.systems.rls.evidence import RlsEvidence

Floats = NDArray[np.float64]
HALF_NORMAL_MEAN = math.sqrt(2 / math.pi)  # mean absolute value of a standard normal
# variances of what the public table is off: times that of sampling in each cell, and times its mean in every cell
GRID = np.array([(k, t) for k in np.geomspace(1.0, 1e4, 13) for t in (0.0, *np.geomspace(1e-2, 1e8, 21))])
FIRST = 1 / np.cumsum(np.ones((13, 22)), axis=0).ravel() / np.cumsum(np.ones((13, 22)), axis=1).ravel()
FIRST /= FIRST.sum()  # the less, the likelier at first
DRAWS = 4  # of the noise, from which the error of an estimate is read
RESOLUTION = 64.0  # coarse values of an attribute, at most about, in pairs that the public table alone tells
NO_CHANCE, TINY = 1e-6, 1e-12  # of a factor; of a variance
MOST_APART = 0.1  # square distance between public and released one-ways, over the square of the latter; else unused
SURE_APART = 2.0  # standard deviations of that distance: beyond doubt
LEAST_TRUST = 0.4  # of the error of an estimate, that a public table has to take away; else it is left alone
TOO_FAR = 3.0  # standard deviations of the sum of squares of noise
LEAST_TOLD = 1.25  # dependence that the public table tells of a pair, over what it leaves open, at least
MEAN_DOUBT = 0.03  # of the variance of a mean: with none, pairs that noise makes alike are trusted without doubt
MOST_FOR_SCORES = 0.02  # of the cost of pairs: what a public table that misleads costs, half as much of the error
LEAST_PART = 0.3  # of the dependence in the public table, that the private one has at least where it is used
LEAST_NOISE = 1e-4  # of the variance that a joined table is trusted with
SWEEPS = 300  # of expectation-maximisation over these factors


class RlsPrior:
    """Marginals of a public table, as expectations of those of the private one."""

    def __init__(self, table: PublicTable) -> None:
        """table: with at least one record."""
        self.counter = MemoryCounter(table.codes, table.domain)
        self.names = frozenset(table.domain.names)
        self.n_records = table.n_records

    def borne_out(self, view: RlsEvidence) -> RlsPrior | None:
        """With the columns whose released one-ways do not contradict the public table; None where most do or may.

        The square distance of a one-way from what the public table lets expect is estimated from the noisy counts with
        a computable deviation. A column that is far beyond doubt is left out. The others must be half of all
        and, taken together, near beyond doubt, or nothing of the public table is used and nothing is spent on it.
        """
        far, size, doubt = (np.zeros(len(view.domain)) for _ in range(3))
        places = [i for i, n in enumerate(view.domain.names) if n in self.names]
        for i in places:
            name = view.domain.names[i]
            expected = view.total * self.shares((name,), {})
            for recode, values, sigma in _tables(view, name):
                cells, noise = len(values), len(values) * sigma**2
                apart = float(np.square(values - np.bincount(recode, expected, cells)).sum()) - noise
                far[i] += apart
                size[i] += float(np.square(values).sum()) - noise
                doubt[i] += 2 * cells * sigma**4 + 4 * sigma**2 * max(apart, 0.0)
        kept = [i for i in places if far[i] - SURE_APART * math.sqrt(doubt[i]) <= MOST_APART * max(size[i], 0.0)]
        most = far[kept].sum() + SURE_APART * math.sqrt(doubt[kept].sum())
        if 2 * len(kept) < len(places) or most > MOST_APART * size[kept].sum():
            return None
        out = copy(self)
        out.names = frozenset(view.domain.names[i] for i in kept)
        return out

    def knows(self, names: Sequence[str]) -> bool:
        """Whether the public table has all these attributes."""
        return self.names.issuperset(names)

    def shares(self, names: AttributeSet, recodes: Recodes) -> Floats:
        """Of all records, in each cell; cells without a public record share what records seen once let expect."""
        maps = {n: recodes[n] for n in names if n in recodes}
        counts = self.counter.marginal(names, maps).astype(np.float64)
        empty = counts == 0
        if empty.any():
            unseen = min(max(int(np.count_nonzero(counts == 1)), 1) / self.n_records, 0.5)  # Good 1953
            counts *= 1 - unseen
            weights = np.where(empty, _product(counts), 0.0)
            weights = weights if weights.sum() > 0 else empty.astype(np.float64)
            counts += unseen * self.n_records * weights / weights.sum()
        return counts / self.n_records

    def spread(self, expected: Floats) -> Floats:
        """Variance of cells if both tables were draws of one process: of the private counts and of the public ones."""
        total = max(float(expected.sum()), TINY)
        return np.asarray(np.maximum(expected * (1 - expected / total), 0.0) * (1 + total / self.n_records) + TINY)

    def one_ways(self, view: RlsEvidence) -> tuple[list[Floats], list[float]]:
        """The one-ways of a view and the noise that they are trusted with, joined with those of the public table."""
        rng = np.random.default_rng(0)  # post-processing inside measure: a public constant, not privacy noise
        ones, sigmas = list(view.one_ways), list(view.sigmas)
        places = [i for i, n in enumerate(view.domain.names) if n in self.names]
        doubts = []
        for i in places:
            name, counts = view.domain.names[i], ones[i]
            tables = _tables(view, name)
            expected = view.total * self.shares((name,), {})
            again = [view.one_way_again(i, rng) for _ in range(DRAWS)]
            doubts.append(
                Doubt(
                    estimate=counts,
                    error=_error(counts, again),
                    expected=expected,
                    spread=self.spread(expected),
                    tables=tuple(tables),
                )
            )
        for i, (values, kept) in zip(places, joined(doubts), strict=True):
            ones[i], sigmas[i] = values, sigmas[i] * kept
        return ones, sigmas

    def pair(self, names: AttributeSet, alone: Floats, recodes: Recodes, part: float = 1.0) -> Floats:
        """What is expected of a (coarse) pair, in counts: the dependence of the public table at the released one-ways.

        Args:
            names: of the pair.
            alone: its table if it were independent, from the released one-ways.
            recodes: its coarse maps.
            part: of the dependence, that the private table has.
        """
        table = self.shares(names, recodes) * max(float(alone.sum()), 0.0)
        return alone + part * (at_margins(table, alone.sum(axis=1), alone.sum(axis=0)) - alone)

    @staticmethod
    def cost_of_scores(scores: Cost, pairs: Cost) -> Cost:
        """Of the scores against the public table, out of that of pairs: as much as the others cost, or a small part."""
        return pairs.scaled(min(share_of(scores, pairs), MOST_FOR_SCORES))

    def scored(
        self,
        counter: Counter,
        pairs: Sequence[AttributeSet],
        recodes: Sequence[Recodes],
        alone: Sequence[Floats],
        scores: Floats,
        sigma: float,
        *,
        cost: Cost,
        gate: Gate,
    ) -> tuple[dict[AttributeSet, Trust], Floats]:
        """Scores pairs against the public table too; how far it is borne out, and what it leaves open of each pair.

        Args:
            counter: exact counts.
            pairs: all that are scored.
            recodes: coarse maps of each.
            alone: what independence expects of each.
            scores: noisy L1 distances from that, in records.
            sigma: standard deviation of their noise.
            cost: of the scores against the public table.
            gate: through which they are released.
        """
        places = [i for i, p in enumerate(pairs) if self.knows(p)]
        if not places:
            return {}, np.maximum(scores, 0)
        expected = [self.pair(pairs[i], alone[i], recodes[i]) for i in places]
        against, of_public = score_sets(
            counter,
            [pairs[i] for i in places],
            expected,
            [recodes[i] for i in places],
            cost=cost,
            gate=gate,
            name="scores of pairs against the public table",
        )
        apart = np.array([np.abs(e - alone[i]).sum() for e, i in zip(expected, places, strict=True)])
        sampling = np.array([HALF_NORMAL_MEAN * np.sqrt(self.spread(e)).sum() for e in expected])
        trust = trust_of([pairs[i] for i in places], scores[places], against, apart, sampling, (sigma, of_public))
        left = np.maximum(scores, 0)
        for i in places:
            if pairs[i] in trust:
                left[i] = trust[pairs[i]].left
        return trust, left

    def targets(self, view: RlsEvidence, targets: Sequence[Target], scale: float) -> list[Target]:
        """The targets of a view with what the public table says, as far as it is borne out.

        Measured pairs are joined with it; pairs that were not measured are added. Others stay as they are.
        """
        rng = np.random.default_rng(0)  # as above
        out = list(targets)
        first = len(view.domain)  # the one-ways stand in front
        places = [i for i, m in enumerate(view.joint) if m.attributes in view.trust]
        tables = [targets[first + i].values / scale for i in range(len(view.joint))]
        again = [view.pairs_again(tables, rng) for _ in range(DRAWS)]
        doubts = []
        for i in places:
            m = view.joint[i]
            t, maps = view.trust[m.attributes], view.maps(m)
            # at the margins that were found: what a measured pair tells of its columns stays as it is
            alone = _product(np.maximum(tables[i], 0.0))
            expected = self.pair(m.attributes, alone * (tables[i].sum() / max(alone.sum(), TINY)), maps, t.part)
            spread = self.spread(expected)
            doubts.append(
                Doubt(
                    estimate=tables[i],
                    error=_error(tables[i], [a[i] for a in again]),
                    expected=expected,
                    spread=spread,
                    tables=((np.arange(m.cells), m.values.ravel(), m.sigma),),
                    score=_of_score(t, spread),
                )
            )
        for i, (values, _) in zip(places, joined(doubts), strict=True):
            out[first + i] = replace(targets[first + i], values=values * scale)  # the margins are no surer than before
        measured = {m.attributes for m in view.joint}
        maps = view.recodes(RESOLUTION)
        for names, t in view.trust.items():
            if names in measured:
                continue
            table = self.pair(names, view.product(names, maps), maps, t.part)
            sigma = t.left / HALF_NORMAL_MEAN / table.size
            place = tuple(view.domain.index(n) for n in names)
            onto = tuple(maps[n].map for n in names)
            out.append(Target(attributes=place, maps=onto, values=table * scale, sigma=sigma * scale))
        return out


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """A table that was estimated from what was measured, and what a public table lets expect of it.

    estimate, expected, spread: of one shape, in counts; spread is the variance of the expectation if the public table
    were a draw of the same process. error: square error of the estimate. tables: what was measured, each as the place
    of every cell in it, its counts and the standard deviation of their noise. score: logarithms of the likelihood, one
    for each of GRID, of all other measurements.
    """

    estimate: Floats
    error: Floats
    expected: Floats
    spread: Floats
    tables: tuple[tuple[NDArray[np.intp], Floats, float], ...]
    score: Floats | float = 0.0

    def likelihood(self) -> Floats:
        """Logarithms, one for each of GRID."""
        out = np.zeros(len(GRID)) + self.score
        for place, values, sigma in self.tables:
            expected, spread = (
                np.bincount(place, x.ravel(), len(values)).astype(np.float64) for x in (self.expected, self.spread)
            )
            variance = sigma**2 + _variances(spread)
            out -= 0.5 * (np.log(variance) + np.square(values - expected) / variance).sum(axis=1)
        return out

    def fits(self, values: Floats) -> bool:
        """Whether these values are as near to what was measured as its noise allows, or as near as the estimate is."""
        for place, counts, sigma in self.tables:
            ours, before = (
                np.square(counts - np.bincount(place, x.ravel(), len(counts))) for x in (values, self.estimate)
            )
            most = max(float(before.sum()), sigma**2 * len(counts))
            if ours.sum() > most + TOO_FAR * sigma**2 * math.sqrt(2 * len(counts)):
                return False
        return True


def joined(tables: Sequence[Doubt]) -> list[tuple[Floats, float]]:
    """Estimates and expectations put together by what the expectations turn out to be worth.

    Cells of a table differ from what is expected of them by a variance that is an unknown multiple of `spread`. How
    often which multiple occurs is fitted to all tables together (non-parametric maximum likelihood over a grid; Kiefer
    and Wolfowitz 1956). An expectation is given the weight that its variance has against the error of the estimate.

    Returns:
        For each table its values, and the factor by which its noise became less.
    """
    if not tables:
        return []
    scores = np.stack([t.likelihood() for t in tables])
    likelihood = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = FIRST
    for _ in range(SWEEPS):
        posterior = likelihood * weights
        posterior /= posterior.sum(axis=1, keepdims=True)
        weights = (posterior.sum(axis=0) + FIRST) / (len(tables) + 1)
    out = []
    for t, p in zip(tables, posterior, strict=True):
        likely = np.flatnonzero(p > NO_CHANCE)
        of_cells = np.maximum(t.error.ravel() + _variances(t.spread)[likely], TINY)
        trusted = (p[likely] @ (t.error.ravel() / of_cells)).reshape(t.expected.shape)  # of the expectation, by cell
        values = t.estimate + trusted * (t.expected - t.estimate)
        if float((trusted * t.error).sum()) < LEAST_TRUST * float(t.error.sum()) or not t.fits(values):
            values, trusted = t.estimate, np.zeros(t.expected.shape)
        out.append((values, math.sqrt(max(float((1 - trusted).mean()), LEAST_NOISE))))
    return out


def _tables(view: RlsEvidence, name: str) -> list[tuple[NDArray[np.intp], Floats, float]]:
    """All released one-ways of a column: the place of every value in each, its counts and its noise."""
    alone = [(np.arange(m.cells), m.values, m.sigma) for m in view.value_by_value(name)]
    return alone + [(s.recode, s.values, s.sigma) for s in view.coarse[name]]


def _variances(spread: Floats) -> Floats:
    """Variances of the cells of an expectation, flat, one row for each pair of the grid."""
    out: Floats = GRID[:, :1] * spread.ravel() + GRID[:, 1:] * float(spread.mean())
    return out


def _error(found: Floats, again: Sequence[Floats]) -> Floats:
    """Square error of each cell, from estimates after fresh noise: the mean of that of the cell and of all cells."""
    squares = np.mean([(a - found) ** 2 for a in again], axis=0)
    return np.asarray((squares + squares.mean()) / 2)


def _of_score(trust: Trust, spread: Floats) -> Floats:
    """Log-likelihood of each pair of the grid, given how far a pair is from its expectation by the scores."""
    expected = HALF_NORMAL_MEAN * np.sqrt(_variances(spread)).sum(axis=1)
    out: Floats = -0.5 * ((expected - trust.left) / max(trust.deviation, 1e-9)) ** 2
    return out


def trust_of(
    pairs: Sequence[AttributeSet],
    alone: Floats,
    public: Floats,
    apart: Floats,
    sampling: Floats,
    sigmas: tuple[float, float],
) -> dict[AttributeSet, Trust]:
    """How much of the dependence of the public table the private pairs have, from two noisy scores of each.

    Distances are taken for those of vectors: with s of the private pair from independence, p from the public table
    and D between these two, the part w of D that leads to the private pair is (s^2 + D^2 - p^2) / (2 D^2), and
    (1 - w) s^2 + w p^2 - w (1 - w) D^2 is what is left. Noise has the same share in both squares. The parts of all
    pairs share a normal prior, whose mean and variance are fitted to them (James and Stein 1961), and so does what is
    left, with a mean that grows with D^2 (Fay and Herriot 1979). Pairs of which the public table tells next to nothing
    are left out: nothing changes for them.

    Args:
        pairs: their names.
        alone: noisy L1 distances from independence, in records, (pairs,).
        public: noisy L1 distances from the public table.
        apart: exact L1 distances between the public table and independence.
        sampling: what sampling alone leaves of `public`.
        sigmas: standard deviations of the noise of `alone` and of `public`.
    """
    (a2, b2), d2 = (s**2 for s in sigmas), np.maximum(apart**2, 1e-9)
    first, second = alone**2 - a2, public**2 - b2
    # of all pairs alike: with its own large square a pair that is high by chance would count for less
    level1, level2 = (float(np.maximum(x, sampling**2).mean()) for x in (first, second))
    noise = 4 * a2 * level1 + 2 * a2**2 + 4 * b2 * level2 + 2 * b2**2
    towards = (first + d2 - second) / (2 * d2)
    part = np.clip(_shrunk(towards, noise / (4 * d2**2), np.ones((len(pairs), 1)))[0], 0.0, 1.0)
    left2 = (1 - part) * first + part * second - part * (1 - part) * d2
    noise2 = (1 - part) ** 2 * (4 * a2 * level1 + 2 * a2**2) + part**2 * (4 * b2 * level2 + 2 * b2**2)
    shrunk, doubt = _shrunk(left2, noise2, np.column_stack([np.ones(len(pairs)), d2]))
    # what is left is at least what sampling leaves, and in doubt more: too little would be trusted like a measurement
    left = np.sqrt(np.maximum(shrunk, sampling**2) + np.sqrt(doubt))
    deviation = np.minimum(np.sqrt(doubt) / (2 * left), max(sigmas))
    tells = (part > LEAST_PART) & (part * apart > LEAST_TOLD * left)
    return {
        p: Trust(part=float(w), left=float(x), deviation=float(s))
        for p, w, x, s, covered in zip(pairs, part, left, deviation, tells, strict=True)
        if covered
    }


def _shrunk(values: Floats, variances: Floats, facts: Floats) -> tuple[Floats, Floats]:
    """Posterior means and variances of values with these variances, under a normal prior fitted to them.

    Its mean is a combination of facts (values, facts), which is fitted as well (Fay and Herriot 1979), and a part
    `MEAN_DOUBT` of what noise does to it counts as doubt.
    """
    between = 0.0
    for _ in range(30):
        weights = 1 / (variances + between)
        root = np.sqrt(weights)
        mean = facts @ np.linalg.lstsq(facts * root[:, None], values * root, rcond=None)[0]
        excess = (values - mean) ** 2 - variances
        between = max(float(np.average(excess, weights=weights**2)), 0.0)
    keep = between / (between + variances)
    of_mean = np.einsum("ij,jk,ik->i", facts, np.linalg.pinv(facts.T @ (facts * weights[:, None])), facts)
    return mean + keep * (values - mean), keep * variances + MEAN_DOUBT * (1 - keep) ** 2 * of_mean


def _product(counts: Floats) -> Floats:
    """The independent table with the margins of this one, up to a factor."""
    out = np.ones(())
    for axis in range(counts.ndim):
        out = np.multiply.outer(out, counts.sum(axis=tuple(i for i in range(counts.ndim) if i != axis)))
    return out
