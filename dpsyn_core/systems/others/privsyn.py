"""PrivSyn: measures the marginals whose dependence exceeds their noise, then makes records that follow them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import (
    Compressed,
    Measurement,
    ReleasedTables,
    Scores,
    allocation,
    combine,
    compress,
    compressed_domain,
    compressed_one_way,
    dense_marginals,
    on_compressed,
    recodes_of,
    restore_all,
)
from dpsyn_core.measure import Counter, Gate, expected_pairs, indif_counts, l1_counts, measure_marginals
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.others.dpsyn import check_pairs
from dpsyn_core.systems.others.record_settings import RecordConfig, RecordSettings, records_from, updates
from dpsyn_core.systems.question_sets import asked_of
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import Size, setting
from dpsyn_core.systems.steps import WEAK_STRONG, Step, even, noise_of, share_of, usual_gains

MAX_PAIRS = 100_000  # of 447 attributes: all of them are counted for the scores


@register("privsyn")
class PrivSynConfig(RecordConfig):
    """Settings of PrivSyn, with the shares and caps of its authors."""

    summary = "Scores all pairs, measures those above their noise, joins small cliques, and updates records."
    guarantee = Guarantee(text="(epsilon, delta)-DP by exact Gaussian accounting", pure=False)

    takes_questions = True

    score_share: float = setting(0.1, "Share for scores", "Part of the budget that scores the pairs.", gt=0, lt=1)
    one_way_share: float = setting(
        0.1, "Share for one-ways", "Part of the budget that measures every attribute.", gt=0, lt=1
    )
    scores: Literal["indif", "released"] = setting(
        "indif",
        "Scores",
        "indif compares a pair with the product of its exact one-ways (sensitivity 4), as published; released "
        "compares it with the noisy ones (sensitivity 1), so that the same budget buys less noise.",
    )
    gap: float = setting(
        0.0, "Stopping gap", "A pair must lower the expected error by more than this to be measured.", unit="counts"
    )
    combine_cells: int = setting(
        5000,
        "Combination cap",
        "Pairs that form a clique with fewer cells than this are measured as one marginal; 0 never.",
        between=(0, 1_000_000),
        unit="cells",
    )
    low_count: float = setting(
        3.0,
        "Low-count filter",
        "Values whose noisy count is below this many standard deviations share one cell; 0 keeps all.",
        between=(0, 100),
        unit="sigma",
    )
    append: bool = setting(
        True,
        "Appending",
        "Attributes that only one pair connects to the others are drawn from that pair after the updates.",
    )
    separate: bool = setting(
        True,
        "Separate and join",
        "Attributes that no measured marginal connects are synthesized separately and joined at random.",
    )

    update: RecordSettings = updates(sweeps=50)

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.8 + 2.0 * size.values

    def build(self, task: Task) -> Synthesizer:
        """An all-Gaussian run."""
        return PrivSyn(self, task)


@dataclass(frozen=True, kw_only=True, slots=True)
class PrivSynMeasured:
    """What was released: one-ways at full resolution, how codes were compressed, the selected marginals."""

    one_ways: list[Measurement]
    compressed: dict[str, Compressed]
    marginals: list[Measurement]
    scores: NDArray[np.float64]
    score_sigma: float = 0.0


class PrivSyn(Synthesizer):
    """Calibrated: rho for scores, one-ways and marginals."""

    def __init__(self, config: PrivSynConfig, task: Task) -> None:
        """Keeps the task. Raises SizeError for more than 100,000 pairs."""
        self.config = config
        self.task = task
        self.domain = task.domain
        check_pairs(task.domain, MAX_PAIRS)
        self.asked = asked_of(task, config.name, fewest=2)
        self.cost = task.budget.gaussian()

    def _split(self) -> tuple[Cost, Cost, Cost]:
        """Costs of the scores, of all one-ways and of all chosen marginals."""
        c = self.config
        rest = 1 - c.score_share - c.one_way_share
        scores, ones, chosen = self.cost.split([c.score_share, c.one_way_share, max(rest, 1e-6)])
        return scores, self.cost if len(self.domain) < 2 else ones, chosen

    def steps(self, n_records: float) -> list[Step]:
        """One-ways and scores exactly; of the chosen marginals, a forecast for pairs of ordinary dependence."""
        d, unit, sizes = len(self.domain), self.task.unit, self.domain.sizes
        for_scores, for_ones, for_chosen = self._split()
        out = [even("1-way", for_ones, self.cost, unit, parts=(d, d), cells=sizes)] if d else []
        pairs = self.domain.subsets(2)
        if not pairs:
            return out
        share = share_of(for_scores, self.cost)
        out.append(Step(kind="scores", parts=(1, 1), share=(share, share)))
        for_pairs, for_questions = self.asked.beside(for_chosen, len(pairs))
        if for_questions is not None:
            costs = self.asked.costs(for_questions, self.domain)
            scales = [noise_of(c, unit) for c in costs]
            share = share_of(for_questions, self.cost)
            out.append(
                Step(
                    kind="question",
                    parts=(len(costs), len(costs)),
                    share=(share, share),
                    sigma=(min(scales), max(scales)),
                    cells=(1, max(self.domain.cells(s) for s in self.asked.sets)),
                )
            )
        if for_pairs is None:
            return out
        for_chosen = for_pairs
        cells = [self.domain.cells(p) for p in pairs]
        noise = for_scores.sigma((4 if self.config.scores == "indif" else 1) * unit.l1() * len(pairs) ** 0.5)
        n = n_records if self.task.n_public is None else self.task.n_public
        held = []
        for strength in WEAK_STRONG:
            gains = usual_gains(len(pairs), n, noise, strength)
            picked = dense_marginals(gains, cells, for_chosen.rho, sensitivity=unit.l2(), gap=self.config.gap)
            held.append([cells[i] for i in picked] or list(sizes))
        scales = [noise_of(c, unit) for h in held for c in for_chosen.split(allocation(h))]
        share = share_of(for_chosen, self.cost)
        out.append(
            Step(
                kind="chosen",
                parts=(1, max(len(pairs), d)),
                share=(share, share),
                sigma=(min(scales), max(scales)),
                cells=(1, max(*held[0], *held[1], self.config.combine_cells)),
                likely=(len(held[0]), len(held[1])),
                about=True,
            )
        )
        return out

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> PrivSynMeasured:
        """One-ways, then scores of all pairs in one release, then the chosen marginals."""
        pairs = self.domain.subsets(2)
        score_cost, one_way_cost, rest = self._split()
        singles = self.domain.singletons()
        one_ways = measure_marginals(counter, singles, one_way_cost.split([1.0] * len(singles)), gate=gate)
        compressed = self._compressed(one_ways)
        progress("select", 1, 3)
        if not pairs:
            return PrivSynMeasured(one_ways=one_ways, compressed=compressed, marginals=[], scores=np.zeros(0))
        scores, noise = self._score(counter, pairs, one_ways, compressed, score_cost, gate)
        progress("select", 2, 3)
        pair_cost, question_cost = self.asked.beside(rest, len(pairs))
        inner = compressed_domain(self.domain, compressed)
        recodes = recodes_of(compressed)
        marginals: list[Measurement] = []
        if question_cost is not None:
            costs = self.asked.costs(question_cost, self.domain)
            marginals += measure_marginals(counter, self.asked.sets, costs, gate=gate, recodes=recodes, kind="question")
        if pair_cost is None:
            return PrivSynMeasured(
                one_ways=one_ways, compressed=compressed, marginals=marginals, scores=scores, score_sigma=noise
            )
        chosen = self._choose(pairs, scores, inner, pair_cost)
        progress("select", 3, 3)
        costs = pair_cost.split(allocation([inner.cells(s) for s in chosen]))
        marginals += measure_marginals(counter, chosen, costs, gate=gate, recodes=recodes)
        progress("measure", 1, 1)
        return PrivSynMeasured(
            one_ways=one_ways, compressed=compressed, marginals=marginals, scores=scores, score_sigma=noise
        )

    def _compressed(self, one_ways: list[Measurement]) -> dict[str, Compressed]:
        """How each attribute is counted in pairs, by its released one-way."""
        return {m.attributes[0]: compress(m.values, self.config.low_count * m.sigma) for m in one_ways}

    def _score(
        self,
        counter: Counter,
        pairs: list[AttributeSet],
        one_ways: list[Measurement],
        compressed: dict[str, Compressed],
        cost: Cost,
        gate: Gate,
    ) -> tuple[NDArray[np.float64], float]:
        """Released dependence of every pair, in counts, and the standard deviation of its noise."""
        unit, recodes = self.task.unit, recodes_of(compressed)
        if self.config.scores == "indif":
            count, sensitivity = partial(indif_counts, counter, pairs, recodes), 4
        else:
            singles = {n: compressed_one_way(m, compressed[n]) for m in one_ways for n in m.attributes}
            expected = expected_pairs(singles, pairs)
            count, sensitivity = partial(l1_counts, counter, pairs, expected, recodes), 1
        # an individual's records come and go one by one, and a replacement is one of each
        got = gate.release(
            f"dependence of {len(pairs)} pairs",
            count,
            kind="scores",
            cells=len(pairs),
            cost=cost,
            l1=sensitivity * unit.l1(len(pairs)),
            l2=sensitivity * unit.l1() * len(pairs) ** 0.5,
        )
        return got.values.astype(np.float64), got.sigma

    def _choose(
        self, pairs: list[AttributeSet], scores: NDArray[np.float64], inner: Domain, cost: Cost
    ) -> list[AttributeSet]:
        """Attribute sets to measure; the one-ways again when no pair exceeds its noise."""
        size = dict(zip(inner.names, inner.sizes, strict=True))
        cells = [size[a] * size[b] for a, b in pairs]
        picked = dense_marginals(scores, cells, cost.rho, sensitivity=self.task.unit.l2(), gap=self.config.gap)
        chosen = [pairs[i] for i in picked]
        if self.config.combine_cells:
            chosen = combine(chosen, inner, max_cells=self.config.combine_cells)
        return chosen or self.domain.singletons()

    def measurements(self, measured: PrivSynMeasured) -> ReleasedTables:
        """One-ways at full resolution and the chosen marginals on compressed codes; the scores of all pairs."""
        out = ReleasedTables([*measured.one_ways, *measured.marginals])
        if len(measured.scores):
            sets = tuple(self.domain.subsets(2))
            out.scores = Scores(sets=sets, values=measured.scores, sigma=measured.score_sigma)
        return out

    def restored(self, released: ReleasedTables) -> PrivSynMeasured:
        """The first table of each attribute alone decides how its values were joined in the others."""
        count = len(self.domain)
        ones, others = list(released[:count]), list(released[count:])
        return PrivSynMeasured(one_ways=ones, compressed=self._compressed(ones), marginals=others, scores=np.zeros(0))

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Consistency on compressed codes, records, then the codes that shared a cell."""
        inner = compressed_domain(self.domain, measured.compressed)
        singles = [compressed_one_way(m, measured.compressed[m.attributes[0]]) for m in measured.one_ways]
        tables = singles + on_compressed(measured.marginals, measured.compressed)
        codes = records_from(
            tables,
            inner,
            n_records,
            self.config.update,
            n_public=self.task.n_public,
            separate=self.config.separate,
            append=self.config.append,
            rng=rng,
            progress=progress,
        )
        return restore_all(codes, self.domain, measured.compressed, rng=rng)
