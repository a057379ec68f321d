"""Record least squares: measures one-ways and the tables that pay, then fits records to them. The default method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.measure import measure_marginals
from dpsyn_core.measurement.select import choose_sets, noise_error, score_sets, shares
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.rls.even import even_records, pays
from dpsyn_core.records.rls.fit import fit_records, schedule
from dpsyn_core.schema.domain import AttributeSet
from dpsyn_core.synthesizers.base import Guarantee, MethodConfig, Synthesizer, Task
from dpsyn_core.synthesizers.registry import register
from dpsyn_core.synthesizers.rls.pairs import CAUTION, Pairs, affordable, choose_pairs
from dpsyn_core.synthesizers.rls.triples import expect, open_errors
from dpsyn_core.synthesizers.rls.view import View, total_of
from dpsyn_core.synthesizers.steps import WEAK_STRONG, Step, noise_of, share_of, usual_gains

TOTAL_SHARE = 0.005  # of the budget, for the number of records
SCORE_SHARE = 0.02  # for the scores of all pairs
LATER = 0.25  # of the cost of pairs, held back until triples have been scored
TRIPLE_SCORES = 0.06  # of what was held back, at most
FINE = 0.008  # noise of a triple's score, as a share of the records, that less is spent on
TRIPLES = 500  # triples that are scored at most
TRIPLE_CELLS = 2_000
TRIPLE_RESOLUTION = 12.0
CALM = 0.01  # mean noise error of pairs above which triples are not looked at; twice that where scores are PRECISE
PRECISE = 0.0125  # noise of a triple's score, as a share of the records
PARTS = (0.08, 0.12)  # of what was held back, for triples that pay; pairs get the rest
WORTH = (2.0, 50.0)  # error of triples that must be won for one of pairs that is lost by this part instead of the last


@register("rls")
class RlsConfig(MethodConfig):
    """Settings; None lets the public facts and the released total decide."""

    summary = (
        "Fits records straight to noisy tables of single columns and of the pairs that pay: the most accurate here."
    )
    guarantee = Guarantee(text="(epsilon, delta)-DP by exact Gaussian accounting; epsilon-DP at delta 0")

    one_way_share: float | None = Field(
        default=None, gt=0, lt=0.95, title="Share of one-ways",
        description="Part of the budget for the values of each attribute alone; empty: chosen for you",
    )  # fmt: skip
    resolution: int | None = Field(
        default=None, ge=2, le=4096, title="Coarse values",
        description="At most about this many coarse values an attribute in pairs; empty: chosen for you",
    )  # fmt: skip
    triples: bool = Field(
        default=True, title="Triples",
        description="Measure combinations of three attributes where released values say that they pay",
    )  # fmt: skip
    effort: float = Field(
        default=1.0, ge=0.1, le=100, title="Effort", description="Proposals to a cell, relative to the usual number",
    )  # fmt: skip
    even: bool = Field(
        default=True, title="Even out",
        description="Fit once more to the average of many fits, which halves the error of chance in small tables",
    )  # fmt: skip

    def build(self, task: Task) -> Synthesizer:
        """Calibrates: all-Gaussian with a delta, all-Laplace without."""
        return Rls(self, task)


class Rls(Synthesizer):
    """Calibrated."""

    def __init__(self, config: RlsConfig, task: Task) -> None:
        """Keeps what is public."""
        self.config = config
        self.domain = task.domain
        self.n_public = task.n_public
        self.cost = task.budget.gaussian() if task.budget.delta else task.budget.pure()
        self.unit = unit = task.unit
        self.theta = float(unit.l1() if self.cost.pure else unit.l2())

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> list[Measurement]:
        """Total (unless public), one-ways, scores of pairs, chosen pairs, and the same for triples if they may pay."""
        domain = self.domain
        measured: list[Measurement] = []
        if not len(domain):
            return measure_marginals(counter, [()], [self.cost], gate=gate)
        if self.n_public is None:
            measured += measure_marginals(counter, [()], [self.cost.scaled(TOTAL_SHARE)], gate=gate)
        total = total_of(measured, self.n_public)
        pairs = domain.subsets(2)
        for_ones, for_scores, for_pairs = self._split(total)
        parts = for_ones.split(self._shares(np.array(domain.sizes)))
        measured += measure_marginals(counter, domain.singletons(), parts, gate=gate)
        progress("measuring one-ways", 1, 1)
        if not pairs:
            return measured
        view = View(domain, measured, self.n_public)
        resolution = float(self.config.resolution or affordable(view, self._resolution(total)))
        chosen = choose_pairs(
            counter, view, resolution=resolution, for_scores=for_scores, for_pairs=for_pairs,
            theta=self.theta, gate=gate, progress=progress,
        )  # fmt: skip
        later: Cost | None = None
        for_pairs = chosen.cost
        triples = self._triples(view, chosen.scores)
        if chosen.sets and triples and self._calm(chosen.cells, for_pairs, len(triples), view.total):
            for_pairs, later = for_pairs.split([1 - LATER, LATER])
        measured += self._measure_pairs(counter, chosen, for_pairs, gate)
        progress("measuring pairs", 1, 1)
        if later is not None:
            measured += self._second_round(counter, measured, triples, chosen, later, gate)
        return measured

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Starts from independent columns and moves single cells until the measured tables fit."""
        domain = self.domain
        dtype = np.min_scalar_type(max(domain.sizes, default=1) - 1)
        if not len(domain):
            n = round(total_of(measured, self.n_public)) if n_records is None else n_records
            return np.zeros((0, n), dtype=dtype)
        view = View(domain, measured, self.n_public)
        n = round(view.total) if n_records is None else n_records
        rows = view.start(n, rng=rng)
        targets = view.targets(n)
        if n and view.joint:
            pace = schedule(n, len(domain), targets, effort=self.config.effort)
            fit_records(rows, targets, view.probabilities, pace=pace, rng=rng, progress=progress)
            if self.config.even and pays(n, len(domain)):
                even_records(rows, targets, view.probabilities, pace=pace, rng=rng, progress=progress)
        return np.ascontiguousarray(rows.T.astype(dtype))

    def steps(self, n_records: float) -> list[Step]:
        """Total, one-ways and scores nearly exactly; of pairs and triples, a forecast for ordinary dependence."""
        d, n = len(self.domain), float(n_records if self.n_public is None else self.n_public)
        known = () if self.n_public is not None else (self._step("total", [self.cost.scaled(TOTAL_SHARE)], [1]),)
        if not d:
            return []
        for_ones, for_scores, for_pairs = self._split(n)
        sizes = np.array(self.domain.sizes)
        ones_costs = for_ones.split(self._shares(sizes))
        ones = self._step("1-way", ones_costs, self.domain.sizes, about=self.n_public is None)
        pairs = self.domain.subsets(2)
        if not pairs:
            return [*known, ones]
        # a coarse value holds enough records; as values are never equally frequent, about two thirds of them are left
        held_by_one = np.maximum(n / self._resolution(n), [3 * noise_of(c, self.unit) for c in ones_costs])
        coarse = np.minimum(sizes, np.maximum(2, np.ceil(np.minimum(sizes, n / held_by_one) * 2 / 3)))
        cells = np.array([float(coarse[i]) * coarse[j] for i in range(d) for j in range(i + 1, d)])
        noise = self._score_noise(for_scores, len(pairs))
        likely: list[list[float]] = []
        for strength in WEAK_STRONG:
            gains = usual_gains(len(pairs), n, noise, strength)
            chosen = choose_sets(gains, cells, cost=for_pairs, theta=self.theta, caution=CAUTION)
            likely.append([float(c) for c in cells[chosen]])
        held = [h or [float(cells.min())] for h in likely]
        most, scored, extra = len(pairs), share_of(for_scores, self.cost), 0.0
        if self.config.triples and 3 <= d <= 60:  # a second round may score triples, and measure them or pairs again
            most += max(len(pairs), min(TRIPLES, math.comb(d, 3)))
            extra = share_of(for_pairs.scaled(LATER * TRIPLE_SCORES), self.cost)
        rest = share_of(for_pairs, self.cost)
        scales = [noise_of(c, self.unit) for h in held for c in for_pairs.split(self._shares(np.array(h)))]
        tables = [int(c) for h in held for c in h]
        return [
            *known, ones,
            # coarser tables of dear pairs may be scored as well
            Step(kind="scores", parts=(1, 2 + (extra > 0)), share=(scored, 2 * scored + extra), about=ones.about),
            Step(
                kind="chosen", parts=(0, most), share=(0.0, rest), sigma=(min(scales), max(scales)),
                cells=(min(tables), max(tables)), likely=(len(likely[0]), len(likely[1])), about=True,
            ),
        ]  # fmt: skip

    def _step(self, kind: str, costs: list[Cost], cells: Sequence[int], *, about: bool = False) -> Step:
        """A step of one release a cost."""
        scales = [noise_of(c, self.unit) for c in costs]
        share = sum(share_of(c, self.cost) for c in costs)
        return Step(
            kind=kind, parts=(len(costs), len(costs)), share=(share, share), sigma=(min(scales), max(scales)),
            cells=(min(cells), max(cells)), about=about,
        )  # fmt: skip

    def _second_round(
        self,
        counter: Counter,
        measured: list[Measurement],
        triples: list[AttributeSet],
        pairs: Pairs,
        cost: Cost,
        gate: Gate,
    ) -> list[Measurement]:
        """Triples that the pairs do not explain, where they pay, and the same pairs again with what is left."""
        view = View(self.domain, measured, self.n_public)
        coarse = view.recodes(TRIPLE_RESOLUTION)
        known = expect(view, triples, coarse)
        root = 1.0 if self.cost.pure else 0.5
        luck = self._score_noise(cost.scaled(TRIPLE_SCORES), len(triples)) / max(view.total, 1.0)
        scoring = TRIPLE_SCORES * float(np.clip((luck / FINE) ** (1 / root), 0.25, 1.0))
        for_scores, cost = cost.split([scoring, 1 - scoring])
        scores, sigma = score_sets(
            counter, triples, known.tables, coarse, cost=for_scores, gate=gate, name="scores of triples"
        )
        gains = open_errors(scores, sigma, known)
        cells = np.array([e.size for e in known.tables], dtype=np.float64)
        pair = len(self.domain) * (len(self.domain) - 1) / 2
        chosen, part, won, lost = list[int](), 0.0, 0.0, 0.0
        for tried, worth in zip(PARTS, WORTH, strict=True):
            for_triples = cost.scaled(tried)
            found = choose_sets(gains, cells, cost=for_triples, theta=self.theta, caution=1.0)
            wins = (gains[found].sum() - self._noise(cells[found], for_triples)) / len(triples) if found else 0.0
            loses = CAUTION * self._noise(pairs.cells, cost) * LATER**root * ((1 - tried * LATER) ** -root - 1) / pair
            if wins - won > worth * (loses - lost):
                chosen, part, won, lost = found, tried, wins, loses
        if not chosen:
            return self._measure_pairs(counter, pairs, cost, gate)
        for_triples, for_pairs = cost.split([part, 1 - part])
        sets = [triples[i] for i in chosen]
        parts = for_triples.split(self._shares(cells[chosen]))
        more = measure_marginals(counter, sets, parts, gate=gate, recodes=coarse)
        return more + self._measure_pairs(counter, pairs, for_pairs, gate)

    def _triples(self, view: View, scores: dict[AttributeSet, float]) -> list[AttributeSet]:
        """Triples worth scoring: small enough, and those whose pairs depend most when there are too many."""
        d = len(self.domain)
        if not self.config.triples or d < 3 or d > 60:
            return []
        recodes = view.recodes(TRIPLE_RESOLUTION)
        size = {n: int(r.max()) + 1 for n, r in recodes.items()}
        sets = [t for t in self.domain.subsets(3) if math.prod(size[n] for n in t) <= TRIPLE_CELLS]
        sets = [t for t in sets if min(size[n] for n in t) > 1]
        strength = [scores[t[0], t[1]] + scores[t[0], t[2]] + scores[t[1], t[2]] for t in sets]
        best = np.argsort(-np.array(strength), kind="stable")[:TRIPLES]
        return [sets[i] for i in sorted(best)]

    def _measure_pairs(self, counter: Counter, pairs: Pairs, cost: Cost, gate: Gate) -> list[Measurement]:
        """Measures pairs at the shares that minimise their total error; none when there are none."""
        if not pairs.sets:
            return []
        parts = cost.split(self._shares(pairs.cells))
        return [
            m
            for names, recodes, part in zip(pairs.sets, pairs.recodes, parts, strict=True)
            for m in measure_marginals(counter, [names], [part], gate=gate, recodes=recodes)
        ]

    def _shares(self, cells: NDArray[Any]) -> list[float]:
        return [float(s) for s in shares(cells.astype(np.float64), pure=self.cost.pure)]

    def _noise(self, cells: NDArray[np.float64], cost: Cost) -> float:
        """Expected L1 error of tables with these cells that split a cost."""
        return noise_error(float(sum(self._shares(cells))), cost, self.theta)

    def _score_noise(self, cost: Cost, count: int) -> float:
        """Standard deviation of a score when `count` of them split a cost, in records."""
        if self.cost.pure:
            return math.sqrt(2) * cost.scale(self.unit.l1() * count)
        return cost.sigma(self.unit.l1() * math.sqrt(count))

    def _calm(self, cells: NDArray[np.float64], for_pairs: Cost, triples: int, total: float) -> bool:
        """Whether the noise of pairs lets triples be worth a look, by released values."""
        error = self._noise(cells, for_pairs) / (len(self.domain) * (len(self.domain) - 1) * max(total, 1.0))
        luck = self._score_noise(for_pairs.scaled(LATER * TRIPLE_SCORES), triples) / max(total, 1.0)
        return error < (2 * CALM if luck < PRECISE else CALM)

    def _split(self, total: float) -> tuple[Cost, Cost, Cost]:
        """Costs of one-ways, scores and pairs: what the total has left over.

        Noise falls with the square root of rho but with epsilon itself, so shares of epsilon are those of rho
        under the root.
        """
        one = self._one_way_share(total) if len(self.domain) > 1 else 0.97
        parts = np.array([one, SCORE_SHARE, 1 - one - SCORE_SHARE])
        if self.cost.pure:
            parts = np.sqrt(parts)
        left = self.cost.scaled(1.0 if self.n_public is not None else 1 - TOTAL_SHARE)
        one_ways, scores, pairs = left.split([float(p) for p in parts])
        return one_ways, scores, pairs

    def _one_way_share(self, total: float) -> float:
        """More for one-ways, the more of them noise would hide: from .15 to .6 of the budget."""
        if self.config.one_way_share is not None:
            return self.config.one_way_share
        hidden = self._noise(np.array(self.domain.sizes), self.cost) / (len(self.domain) * max(total, 1.0))
        return float(np.clip(0.6 * (hidden / 0.1) ** 0.33, 0.15, 0.6))

    def _resolution(self, total: float) -> float:
        """Finer coarse codes, the more records stand against the noise of one count that spends everything."""
        if self.config.resolution is not None:
            return self.config.resolution
        noise = math.sqrt(2) * self.cost.scale(self.theta) if self.cost.pure else self.cost.sigma(self.theta)
        strength = total / noise
        if strength < 1800:
            return float(max(20.0, 64 * (strength / 1800) ** 1.5))
        return float(np.clip(64 * (strength / 2700) ** 0.9, 64, 640))
