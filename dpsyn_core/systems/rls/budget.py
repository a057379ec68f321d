"""How record least squares divides its budget: one frozen plan, read by the run and by its forecast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.measure import noise_error, shares
from dpsyn_core.privacy import Cost, Unit
from dpsyn_core.systems.rls.tuning import Shares, Tuning

Floats = NDArray[np.float64]

NOTHING = 1e-9  # of the budget, for a part that nothing spends: no cost is 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise:
    """What noise a cost buys in this run: Gaussian for a rho, two-sided geometric for a pure epsilon."""

    unit: Unit
    pure: bool

    @property
    def sensitivity(self) -> float:
        """Of one table: L1 for geometric noise, L2 for Gaussian noise."""
        return float(self.unit.l1() if self.pure else self.unit.l2())

    @property
    def root(self) -> float:
        """Noise falls with this power of a cost: with epsilon itself, with the root of rho."""
        return 1.0 if self.pure else 0.5

    def shares(self, cells: NDArray[Any]) -> list[float]:
        """Relative costs of tables with so many cells, by which their total expected error is least."""
        return [float(s) for s in shares(cells.astype(np.float64), pure=self.pure)]

    def error(self, cells: NDArray[Any], cost: Cost) -> float:
        """Expected L1 error, in counts, of tables with so many cells that split a cost."""
        return noise_error(float(sum(self.shares(cells))), cost, self.sensitivity)

    def of_cell(self, cost: Cost) -> float:
        """Standard deviation, in records, of each cell of a table that spends a cost."""
        return math.sqrt(2) * cost.scale(self.sensitivity) if cost.pure else cost.sigma(self.sensitivity)

    def of_score(self, cost: Cost, count: int) -> float:
        """Standard deviation, in records, of each of `count` scores that split a cost; see `score_sets`."""
        if cost.pure:
            return math.sqrt(2) * cost.scale(self.unit.l1() * count)
        return cost.sigma(self.unit.l1() * math.sqrt(count))


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetPlan:
    """Every part of the budget that is settled before pairs are scored, and the rules for what is settled later.

    It depends on public facts and on one estimate of the number of records: the released one in a run, an assumed one
    in a forecast.

    Attributes:
        whole: what the run may spend.
        total: for the number of records; None where it is public.
        total_again: for the same once more, where the first figure is near its noise; None where it is not.
        one_ways: for each attribute, in domain order; its values one by one.
        coarse_one_ways: for each attribute, what a second table of its coarse values gets; None where there is none.
        blocks: for each attribute, how many runs of values its one-way tells apart; None where it tells all.
        scores: for the scores of all pairs together; not spent on them where questions get all.
        pairs: for the tables of pairs, and for all that is decided on the way: second scores at a coarser resolution,
            and the second round with its scores of triples, its triples, and the same pairs again. None where
            questions get all of it.
        questions: for the tables that declared questions need; a part of what pairs would get. None without questions.
        resolution: coarse values an attribute in pairs, at most about.
        number_resolution: the same for both sides of a pair of numbers, whose fine values are placed after the fit.
        mixed_resolution: the same for the number in a pair with a category.
        hopeless: whether the largest scores of pairs will be largely noise.
        noise: of this run.
        tuning: its constants.
    """

    whole: Cost
    total: Cost | None
    total_again: Cost | None = None
    one_ways: tuple[Cost, ...]
    coarse_one_ways: tuple[Cost | None, ...]
    blocks: tuple[int | None, ...] = ()
    scores: Cost
    pairs: Cost | None
    questions: Cost | None = None
    resolution: float
    number_resolution: float
    mixed_resolution: float
    hopeless: bool = False
    noise: Noise
    tuning: Tuning

    def second_scores(self, count: int, pairs: int) -> Cost:
        """For the scores of `count` coarser tables: as much each as the first scores of all `pairs` spent each."""
        return self.scores.scaled(count / pairs)

    def rounds(self, pairs: Cost) -> tuple[Cost, Cost]:
        """The cost of pairs, divided between the first round and the second."""
        first, second = pairs.split([1 - self.tuning.shares.held_back, self.tuning.shares.held_back])
        return first, second

    def answer(self, pairs: Cost) -> Cost:
        """For one answer of the search for sets of any order, of this cost of pairs."""
        orders = self.tuning.orders
        return pairs.scaled(orders.answer_pure if pairs.pure else orders.answer)

    def triple_scores(self, pairs: Cost) -> Cost:
        """For the scores of triples, at most, of what the second round would get from this cost of pairs."""
        return pairs.scaled(self.tuning.shares.held_back * self.tuning.triples.score_share)


def total_cost(whole: Cost, n_public: int | None, shares_: Shares) -> Cost | None:
    """What the number of records gets: nothing where it is public."""
    return None if n_public is not None else whole.scaled(shares_.total)


def total_again_cost(whole: Cost, n_public: int | None, total: float, noise: Noise, shares_: Shares) -> Cost | None:
    """What the number of records gets a second time: nothing where it is public, or far above its noise."""
    first = total_cost(whole, n_public, shares_)
    if first is None or total > shares_.total_sure * noise.of_cell(first):
        return None
    return whole.scaled(2 * shares_.total_again if whole.pure else shares_.total_again)


def plan_budget(
    sizes: tuple[int, ...],
    *,
    ranked: tuple[int, ...],
    whole: Cost,
    unit: Unit,
    n_public: int | None,
    total: float,
    again: bool | None = None,
    one_way_share: float | None,
    resolution: int | None,
    questions_share: float = 0.0,
    with_pairs: bool | None = None,
    tuning: Tuning,
) -> BudgetPlan:
    """The plan of one run.

    Noise falls with the square root of rho but with epsilon itself, so shares of epsilon are those of rho under the
    root.

    Args:
        sizes: of the attributes, at least one.
        ranked: for each attribute how many bins of a number it has; 0 where it is none.
        whole: what the run may spend.
        unit: of privacy.
        n_public: the number of records, when it is public.
        total: the number of records: public, released, or assumed for a forecast.
        again: whether the number of records is measured twice; None lets the number decide.
        one_way_share: a setting; None lets the error of one-ways decide.
        resolution: a setting; None lets the strength of the budget decide.
        questions_share: from 0 to 1, of what pairs would get, for the tables of declared questions.
        with_pairs: whether pairs are measured as well; None: where there are two attributes.
        tuning: constants.
    """
    noise, s = Noise(unit=unit, pure=whole.pure), tuning.shares
    second = total_again_cost(whole, n_public, 0.0 if again else total, noise, s) if again in (None, True) else None
    left = whole.scaled(1.0 if n_public is not None else 1 - s.total)
    if second is not None:
        left = left.less(second)
    counted = _counted(sizes, ranked, tuning)
    joint_of = partial(
        _parts,
        left,
        whole=whole,
        noise=noise,
        total=total,
        setting=one_way_share,
        shares_=s,
        with_pairs=len(sizes) > 1 if with_pairs is None else with_pairs,
    )
    one_ways, scores, joint, rest = joint_of(counted)
    blocks = _blocks(one_ways.split(noise.shares(np.array(counted))), ranked, noise, total, tuning)
    fewer = tuple(min(c, b) if b is not None else c for c, b in zip(counted, blocks, strict=True))
    if fewer != counted:  # a number of few blocks needs less
        counted = fewer
        one_ways, scores, joint, rest = joint_of(counted)
    pairs, questions = _with_questions(joint, rest, questions_share)
    strength = total / noise.of_cell(whole)  # records, in standard deviations of a count that spends everything
    usual = float(_resolution(strength, tuning) if resolution is None else resolution)
    each = one_ways.split(noise.shares(np.array(counted)))
    twice = [
        _twice(cost, r, b, pure=whole.pure, tuning=tuning) for cost, r, b in zip(each, ranked, blocks, strict=True)
    ]
    return BudgetPlan(
        whole=whole,
        total=total_cost(whole, n_public, s),
        total_again=second,
        one_ways=tuple(values for values, _ in twice),
        coarse_one_ways=tuple(coarse for _, coarse in twice),
        blocks=blocks,
        scores=scores,
        pairs=pairs,
        questions=questions,
        resolution=usual,
        number_resolution=min(usual, _number_resolution(strength, tuning)),
        mixed_resolution=min(usual, _mixed_resolution(strength, tuning)),
        hopeless=_hopeless(sizes, scores, noise, total, s),
        noise=noise,
        tuning=tuning,
    )


def _counted(sizes: tuple[int, ...], ranked: tuple[int, ...], tuning: Tuning) -> tuple[int, ...]:
    """What attributes count for when the one-ways are planned: numbers for at most so many values."""
    r = tuning.resolution
    return tuple(
        min(size, r.numbers_weight) if bins and size >= r.numbers_from else size
        for size, bins in zip(sizes, ranked, strict=True)
    )


def _parts(
    left: Cost,
    sizes: tuple[int, ...],
    *,
    whole: Cost,
    noise: Noise,
    total: float,
    setting: float | None,
    shares_: Shares,
    with_pairs: bool,
) -> tuple[Cost, Cost, Cost, Cost]:
    """What one-ways, scores and joint tables get, and the last two together."""
    if with_pairs:
        one = _one_way_share(sizes, whole, noise, total, shares_) if setting is None else setting
        scoring = _score_share(len(sizes), left, noise, total, shares_)
        scoring = min(scoring, max(shares_.scores, (1 - one) * shares_.scores_of_joint))
    else:
        one, scoring = 1 - 2 * NOTHING, NOTHING
    parts = _of_noise([one, scoring, 1 - one - scoring], pure=whole.pure)
    one_ways, scores, joint = left.split(parts)
    return one_ways, scores, joint, left.split([parts[0], parts[1] + parts[2]])[1]


def _hopeless(sizes: tuple[int, ...], scores: Cost, noise: Noise, total: float, shares_: Shares) -> bool:
    """Whether the largest scores of all pairs would be largely noise."""
    count = len(sizes) * (len(sizes) - 1) // 2
    least, most = shares_.hopeless
    limit = max(least, most * 2 / max(2.0, float(np.exp(np.log(sizes).mean()))))
    return count > 0 and noise.of_score(scores, count) > limit * total


def _blocks(
    each: list[Cost], ranked: tuple[int, ...], noise: Noise, total: float, tuning: Tuning
) -> tuple[int | None, ...]:
    """For each number how many blocks of bins its one-way tells apart, where single bins would be lost in noise."""
    r = tuning.resolution
    strengths = [total / noise.of_cell(cost) for cost in each]
    most = [max(r.fewest_blocks, int(bins / r.block_values)) for bins in ranked]
    counts = [min(max(r.fewest_blocks, round(r.blocks * s)), m) for s, m in zip(strengths, most, strict=True)]
    return tuple(
        count if strength < r.below(bins) and 2 * count <= bins else None
        for count, strength, bins in zip(counts, strengths, ranked, strict=True)
    )


def _twice(cost: Cost, bins: int, blocks: int | None, *, pure: bool, tuning: Tuning) -> tuple[Cost, Cost | None]:
    """What the one-way of an attribute gets, and what its coarse values get beside, where there are many."""
    if blocks is None and bins < tuning.resolution.numbers_from:
        return cost, None
    part = tuning.shares.coarse_few if bins < tuning.resolution.fine_from else tuning.shares.coarse_one_way
    part = part if blocks is None else tuning.resolution.coarse_share
    values, coarse = cost.split(_of_noise([1 - part, part], pure=pure))
    return values, coarse


def _of_noise(parts: list[float], *, pure: bool) -> list[float]:
    """Shares of rho, as shares of what is spent: noise falls with epsilon itself, and with the root of rho."""
    return [math.sqrt(p) for p in parts] if pure else parts


def _with_questions(joint: Cost, with_scores: Cost, share: float) -> tuple[Cost | None, Cost | None]:
    """What pairs would get, divided between pairs and questions, which get the scores too where they get all."""
    if share <= 0:
        return joint, None
    if share >= 1:
        return None, with_scores
    pairs, questions = joint.split([1 - share, share])
    return pairs, questions


def _one_way_share(sizes: tuple[int, ...], whole: Cost, noise: Noise, total: float, s: Shares) -> float:
    """More for one-ways, the larger their relative error would be if they had the whole budget."""
    error = noise.error(np.array(sizes), whole) / (len(sizes) * max(total, 1.0))
    share = s.one_ways_most * (error / s.one_ways_at) ** s.one_ways_power
    return float(np.clip(share, s.one_ways_least, s.one_ways_most))


def _score_share(attributes: int, left: Cost, noise: Noise, total: float, s: Shares) -> float:
    """More for scores, where those of all pairs would be too noisy to tell which pairs depend."""
    pairs = attributes * (attributes - 1) // 2
    if not pairs:
        return s.scores
    usual = noise.of_score(left.scaled(_of_noise([s.scores], pure=left.pure)[0]), pairs) / max(total, 1.0)
    return float(np.clip(s.scores * (usual / s.score_noise) ** 2, s.scores, s.scores_most))


def _number_resolution(strength: float, tuning: Tuning) -> float:
    """Fewer coarse values for pairs of numbers, whose fine values are placed after the fit."""
    return max(tuning.resolution.numbers_least, tuning.resolution.numbers * float(np.cbrt(strength)))


def _mixed_resolution(strength: float, tuning: Tuning) -> float:
    """Coarse values of a number in its pairs with categories."""
    r = tuning.resolution
    return max(r.numbers_least, r.mixed * math.pow(strength, r.mixed_power))


def _resolution(strength: float, tuning: Tuning) -> float:
    """Finer coarse codes, the larger the strength."""
    r = tuning.resolution
    if strength < r.strong:
        return float(max(r.weak, r.usual * (strength / r.strong) ** r.power_weak))
    return float(np.clip(r.usual * (strength / r.stronger) ** r.power_strong, r.usual, r.most))
