"""AIM: marginals chosen one at a time where the model is worst, with an adaptive budget; McKenna and others 2022."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import Measurement, Recodes, ReleasedTables
from dpsyn_core.measure import GRID, Counter, Gate, measure_marginals
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.others.graphical.compress import coarse_sizes, rare_codes, restored_codes, target
from dpsyn_core.systems.others.graphical.fit import Potentials, fit, require_mbi
from dpsyn_core.systems.others.graphical.model import Model, model_cells
from dpsyn_core.systems.others.graphical.settings import ModelSettings, records_of
from dpsyn_core.systems.others.mst import CELL, MstMeasured
from dpsyn_core.systems.question_sets import QuestionTables, asked_of
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import AttributeSets, Size, known_sets, setting
from dpsyn_core.systems.steps import Step, noise_of

MEASURE = 0.9  # share of a round that its measurement gets, the rest is for the choice
WEIGHT = 100  # the largest weight of a candidate, where questions are declared
BATCH = 4_000_000  # cells counted at a time
# Fits between rounds start from the last one and need not be finished: the final fit is.
ROUND_TOLERANCE = 1e-3
WORK = 20_000_000  # cells times iterations of a fit between rounds
LEAST = 20  # iterations, unless fewer are asked for


@register("aim")
class AIMConfig(ModelSettings):
    """Settings. Rounds and split are those of the paper; its models may take 80 MB."""

    summary = "Marginals chosen one at a time where a graphical model is worst, with a budget that adapts (McKenna)."
    guarantee = Guarantee(text="(epsilon, delta)-DP by tight zCDP accounting of Gaussian noise and choices", pure=False)

    takes_questions = True

    max_model_size: float = setting(
        8.0,
        "Largest model",
        "Tables of the junction tree may take this much memory; the time of a round grows with it (80 in the paper).",
        gt=0,
        le=4096,
        unit="MB",
    )
    workload: AttributeSets = setting(
        (), "Workload", "Attribute sets that should be accurate, as in 'age+sex, age+income'; empty: all of the degree."
    )
    degree: int = setting(2, "Degree", "Size of the attribute sets when no workload is named.", between=(1, 4))
    rounds: int | None = setting(
        None,
        "Rounds",
        "Rounds that the budget is made for; empty: 16 times the number of attributes. The mechanism "
        "leaves out rounds when it finds that less noise is needed.",
        between=(1, 100_000),
    )
    round_iterations: int = setting(
        200,
        "Iterations per round",
        "At most this many steps of mirror descent after each measurement.",
        between=(1, 10_000),
    )
    max_cells: int = setting(
        10_000,
        "Largest marginal",
        "Larger marginals (after rare codes are joined) are not measured.",
        between=(1, 50_000_000),
        unit="cells",
    )

    def seconds(self, size: Size) -> float:
        """As measured with the usual rounds; see `synthesizers.estimates`."""
        return float(0.8 + (1.5 + 0.3 * size.records / 1000) * (size.attributes / 14) ** 1.6)

    def build(self, task: Task) -> Synthesizer:
        """Refuses workloads without end."""
        if self.engine == "mbi":
            require_mbi("aim")
        d = len(task.domain)
        sets = known_sets(self.workload, task.domain, setting="workload")
        count = len(sets) or math.comb(d, min(self.degree, d))
        if count > 100_000:
            msg = (
                f"aim would score {count} attribute sets in every round, above 100000; name a 'workload', lower the "
                "degree, or use the method 'mst' or 'rls'"
            )
            raise SizeError(msg)
        workload = sets or task.domain.subsets(min(self.degree, d))
        return AIM(self, task, workload, asked_of(task, self.name))


class AIM(Synthesizer):
    """Calibrated."""

    def __init__(self, config: AIMConfig, task: Task, workload: list[AttributeSet], asked: QuestionTables) -> None:
        """Candidates are all subsets of the workload, weighed by how much of it they touch.

        With questions the workload has two parts. What they need has their share of the weight, and all other sets
        have the rest; weights are whole numbers, so that scores are.
        """
        self.config, self.task, self.domain = config, task, task.domain
        self.cost: Cost = task.budget.zcdp()
        closure = {
            s for w in [*workload, *asked.sets] for k in range(1, len(w) + 1) for s in itertools.combinations(w, k)
        }
        self.candidates = sorted(closure, key=lambda s: (len(s), [self.domain.index(n) for n in s]))
        members = [frozenset(w) for w in workload]
        self.weights = {r: sum(len(w & frozenset(r)) for w in members) for r in self.candidates}
        if asked.sets:
            self.weights = _with_questions(self.weights, asked)
        self.rounds = max(config.rounds or 16 * len(self.domain), 2 * len(self.domain))

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> MstMeasured:
        """One-ways, then rounds of choose, measure, fit; the last round spends what is left."""
        ones = measure_marginals(
            counter, self.domain.singletons(), [self._share(MEASURE / self.rounds)] * len(self.domain), gate=gate
        )
        recodes = rare_codes(ones, self.config.rare, self.domain)
        run = _Run(self, ones, recodes)
        used, size = MEASURE * len(self.domain) / self.rounds, 1.0 / self.rounds
        while used < 1 - 1e-9:
            left = 1 - used
            if left < 2 * size:
                size = left
            spend = self._share(size * MEASURE)
            sigma = spend.sigma(gate.unit.l2())
            chosen = run.choose(counter, gate, self._share(size * (1 - MEASURE)), sigma=sigma, used=used + size)
            used += size
            if run.measure(chosen, counter, gate, spend):
                size *= 4
            progress("adaptive rounds", used, 1.0)
        return MstMeasured(
            measurements=ReleasedTables(run.measured), recodes=recodes, start=run.potentials, step=run.step
        )

    def measurements(self, measured: MstMeasured) -> ReleasedTables:
        """One-ways, then the marginal of every round."""
        return measured.measurements

    def restored(self, released: ReleasedTables) -> MstMeasured:
        """As of MST. The last model is fitted from the start, and not from where the rounds ended."""
        recodes = restored_codes(released, self.config.rare, self.domain)
        return MstMeasured(measurements=released, recodes=recodes)

    def _share(self, part: float) -> Cost:
        return self.cost.scaled(part * (1 - 1e-12))

    def steps(self, n_records: float) -> list[Step]:
        """One-ways exactly; of the rounds, how few and how many there can be, and their least and largest noise.

        A round quadruples at most, hence always quadrupling gives the fewest rounds, never the most. The last round
        takes what is left when that is less than two rounds would take.
        """
        d, unit, sizes = len(self.domain), self.task.unit, self.domain.sizes
        first = MEASURE * d / self.rounds
        rest, noise = 1 - first, noise_of(self._share(MEASURE / self.rounds), unit)
        fewest, largest = _rounds(rest, 1 / self.rounds, 4.0)
        parts = (fewest, _rounds(rest, 1 / self.rounds, 1.0)[0])
        cells = [c for r in self.candidates if (c := self.domain.cells(r)) <= self.config.max_cells or len(r) == 1]
        sigma = (noise_of(self._share(largest * MEASURE), unit), noise)
        return [
            Step(
                kind="1-way", parts=(d, d), share=(first, first), sigma=(noise, noise), cells=(min(sizes), max(sizes))
            ),
            Step(kind="choice", parts=parts, share=(rest * (1 - MEASURE),) * 2),
            Step(
                kind="chosen",
                parts=parts,
                share=(rest * MEASURE,) * 2,
                sigma=sigma,
                cells=(1, max([self.config.max_cells, *cells] if len(cells) < len(self.candidates) else cells)),
            ),
        ]

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Records of the model that all measurements make most likely."""
        return records_of(
            measured.measurements,
            measured.recodes,
            self.domain,
            self.config,
            n_records,
            n_public=self.task.n_public,
            rng=rng,
            start=measured.start,
            step=measured.step,
            progress=progress,
        )


def _with_questions(weights: dict[AttributeSet, int], asked: QuestionTables) -> dict[AttributeSet, int]:
    """Weights of candidates when questions have a share of the workload: at least 1, so that all stay candidates."""
    members = [(frozenset(s), w) for s, w in zip(asked.sets, asked.weights, strict=True)]
    weights_of = {r: sum(w * len(m & frozenset(r)) for m, w in members) for r in weights}
    of_own, of_all = max(sum(weights_of.values()), 1e-300), max(sum(weights.values()), 1)
    mixed = {r: asked.share * weights_of[r] / of_own + (1 - asked.share) * weights[r] / of_all for r in weights}
    most = max(mixed.values())
    return {r: max(1, round(WEIGHT * m / most)) for r, m in mixed.items()}


def _rounds(left: float, size: float, growth: float) -> tuple[int, float]:
    """Rounds until nothing is left when each is `growth` times the one before it, and what one round takes at most."""
    count, largest = 0, size
    while left > 1e-9:
        if left < 2 * size:
            return count + 1, max(left, 2 * largest)  # a path that grew less often can end on what two rounds take
        left, largest, count, size = left - size, size, count + 1, size * growth
    return count, 2 * largest


@dataclass(frozen=True, slots=True)
class _Choice:
    attributes: AttributeSet
    expected: NDArray[np.float64]


class _Run:
    """The state of one private phase: released values and the model fitted to them."""

    def __init__(self, system: AIM, ones: list[Measurement], recodes: Recodes) -> None:
        self.system, self.config = system, system.config
        self.measured = list(ones)
        self.recodes = recodes
        self.sizes = coarse_sizes(system.domain, recodes)
        self.total = None if system.task.n_public is None else max(1.0, float(system.task.n_public))
        self.potentials: Potentials = {}
        self.step: float | None = None
        self.model = self._fit()
        self.cells = {r: math.prod(self.sizes[n] for n in r) for r in system.candidates}
        self.open = [r for r in system.candidates if self.cells[r] <= system.config.max_cells or len(r) == 1]

    def _fit(self) -> Model:
        targets = [target(m, self.recodes) for m in self.measured]
        cells = model_cells([t.attributes for t in targets], self.sizes)
        got = fit(
            targets,
            self.sizes,
            iterations=min(self.config.round_iterations, max(LEAST, WORK // cells)),
            start=self.potentials,
            step=self.step,
            total=self.total,
            tolerance=ROUND_TOLERANCE,
        )
        self.potentials, self.step = got.potentials, got.step
        return got.model

    def _fitting(self, used: float) -> list[AttributeSet]:
        """Candidates that keep the model within the part of its memory that the spent budget allows."""
        cap = self.config.max_model_size * 2**20 / CELL * used
        sets = [m.attributes for m in self.measured]
        cliques = [frozenset(c) for c in self.model.tree.cliques]
        return [
            r for r in self.open if any(c.issuperset(r) for c in cliques) or model_cells([*sets, r], self.sizes) <= cap
        ]

    def choose(self, counter: Counter, gate: Gate, cost: Cost, *, sigma: float, used: float) -> _Choice:
        """The exponential mechanism on w (|count - model|_1 - expected noise), in whole numbers.

        Scores are GRID times w times counts against a model rounded to the grid, so that one record in a table
        moves its score by exactly GRID w; the penalty is public.
        """
        l1 = gate.unit.l1()
        sets = self._fitting(used)
        expected = [self.model.project(r) for r in sets]
        weights = np.array([self.system.weights[r] for r in sets], dtype=np.int64)
        penalty = np.rint(
            [GRID * w * math.sqrt(2 / math.pi) * sigma * self.cells[r] for w, r in zip(weights, sets, strict=True)]
        ).astype(np.int64)
        grids = [np.rint(GRID * e).astype(np.int64) for e in expected]
        i = gate.select(
            f"one of {len(sets)} marginals",
            lambda: weights * self._errors(counter, sets, grids) - penalty,
            sensitivity=float(GRID * l1 * int(weights.max())),
            cost=cost,
        )
        return _Choice(sets[i], expected[i])

    def _errors(self, counter: Counter, sets: list[AttributeSet], grids: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        errors: list[int] = []
        start = 0
        while start < len(sets):
            stop = start + 1
            while stop < len(sets) and sum(g.size for g in grids[start : stop + 1]) <= BATCH:
                stop += 1
            tables = counter.marginals(sets[start:stop], self.recodes)
            errors += [int(np.abs(GRID * t - g).sum()) for t, g in zip(tables, grids[start:stop], strict=True)]
            start = stop
        return np.array(errors, dtype=np.int64)

    def measure(self, chosen: _Choice, counter: Counter, gate: Gate, cost: Cost) -> bool:
        """Measures and refits; True when the model moved less than the noise would explain: time for less noise."""
        (m,) = measure_marginals(counter, [chosen.attributes], [cost], gate=gate, recodes=self.recodes)
        self.measured.append(m)
        self.model = self._fit()
        moved = float(np.abs(self.model.project(chosen.attributes) - chosen.expected).sum())
        return moved <= math.sqrt(2 / math.pi) * m.sigma * self.cells[chosen.attributes]
