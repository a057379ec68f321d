"""MST: one-way marginals and a spanning tree of pairs in a graphical model; McKenna's 2018 entry, generalised."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.estimate import Measurement, Recodes, ReleasedTables
from dpsyn_core.measure import Counter, Gate, measure_marginals, score_sets
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.others.graphical.compress import coarse_sizes, rare_codes, restored_codes, target
from dpsyn_core.systems.others.graphical.fit import Potentials, estimate_total, require_mbi
from dpsyn_core.systems.others.graphical.model import model_cells
from dpsyn_core.systems.others.graphical.settings import ModelSettings, records_of
from dpsyn_core.systems.question_sets import QuestionTables, asked_of, held
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import AttributeSets, Size, known_sets, setting
from dpsyn_core.systems.steps import Step, even, noise_of, share_of

CELL = 8  # bytes


@register("mst")
class MSTConfig(ModelSettings):
    """Settings. Defaults are those of the published mechanism: a third of the budget to each of its steps."""

    summary = "One-way marginals and the pairs of a maximum spanning tree, joined by a graphical model (McKenna)."
    guarantee = Guarantee(
        text="(epsilon, delta)-DP by exact Gaussian accounting; epsilon-DP with Laplace noise at delta 0"
    )

    takes_questions = True

    one_way_share: float = setting(1 / 3, "Share of one-ways", "Part of the budget for one-way marginals.", gt=0, lt=1)
    score_share: float = setting(
        1 / 3,
        "Share of scores",
        "Part of the budget for the noisy scores of all pairs, from which the tree is chosen.",
        gt=0,
        lt=1,
    )
    max_cells: int = setting(
        1_000_000,
        "Largest pair",
        "Pairs with more cells (after rare codes are joined) stay out of the tree.",
        between=(1, 50_000_000),
        unit="cells",
    )
    marginals: AttributeSets = setting(
        (),
        "Fixed list",
        "Public list of marginals measured in place of a chosen tree, as in 'age+sex+race, age+income': "
        "the 2018 winner's mechanism. Half of the budget then goes to the one-ways and half to the list.",
    )
    heavy: AttributeSets = setting(
        (),
        "Heavy attributes",
        "With a fixed list: attributes, as in 'income, sex', whose marginals get twice the weight "
        "(half the noise) in their round.",
    )

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.9 + 0.06 * size.attributes + 0.15 * size.values

    def build(self, task: Task) -> Synthesizer:
        """Refuses shares that leave nothing for the pairs, and lists whose model is too large."""
        if self.engine == "mbi":
            require_mbi("mst")
        if self.one_way_share + self.score_share >= 1:
            msg = "one_way_share and score_share of mst add up to 1 or more; leave a part for the pairs"
            raise SettingError(msg)
        fixed = [s for s in known_sets(self.marginals, task.domain, setting="marginals") if len(s) > 1]
        heavy = {n for s in known_sets(self.heavy, task.domain, setting="heavy") for n in s}
        sizes = {a.name: a.size for a in task.domain.attributes}
        asked = asked_of(task, self.name, fewest=2)
        listed = [*fixed, *asked.sets]
        if listed and model_cells(listed, sizes) * CELL > self.max_model_size * 2**20:
            what = "the questions" if asked.sets else "the fixed list"
            msg = (
                f"the model of {what} takes more than max_model_size {self.max_model_size:g} MB; shorten the "
                "list, or use the method 'rls', whose size does not grow with the overlaps"
            )
            raise SizeError(msg)
        return MST(self, task, fixed, heavy, asked)


@dataclass(frozen=True, kw_only=True, slots=True)
class MstMeasured:
    """Released marginals and the map of rare codes that the later ones were counted with.

    start, step: where the final fit may begin, when a model was fitted on the way; computed from the former.
    """

    measurements: ReleasedTables
    recodes: Recodes
    start: Potentials | None = None
    step: float | None = None


class MST(Synthesizer):
    """Calibrated."""

    def __init__(
        self, config: MSTConfig, task: Task, fixed: list[AttributeSet], heavy: set[str], asked: QuestionTables
    ) -> None:
        """Steps that a small domain does not need give their share to the others.

        What questions need is a fixed list beside the tree (or the list of the settings), and has its share of theirs.
        """
        self.config, self.task, self.domain = config, task, task.domain
        self.fixed, self.heavy, self.asked = fixed, heavy, asked
        self.cost: Cost = task.budget.gaussian() if task.budget.delta else task.budget.pure()

    def _split(self) -> tuple[list[Cost], Cost, list[Cost]]:
        """Costs of every one-way, of all pairs together, and (a list of one or none) of their scores."""
        d = len(self.domain)
        if self.fixed:
            first, second = self.cost.split([1.0, 1.0])
            return first.split(self._weights(self.domain.singletons())), second, []
        if d == 1:
            return [self.cost], self.cost, []
        rest = 1 - self.config.one_way_share - self.config.score_share
        score = self.config.score_share if d > 2 else 0.0
        first, second, *scoring = self.cost.split([self.config.one_way_share, rest] + ([score] if score else []))
        return first.split([1.0] * d), second, scoring

    def steps(self, n_records: float) -> list[Step]:
        """All but how many pairs the tree finds under the cap: pairs that fit at full size are always candidates."""
        d, unit, sizes = len(self.domain), self.task.unit, self.domain.sizes
        costs, second, scoring = self._split()
        scales = [noise_of(c, unit) for c in costs]
        rest, questions = self.asked.beside(second, 1)
        out = [
            Step(
                kind="1-way",
                parts=(d, d),
                share=(sum(share_of(c, self.cost) for c in costs),) * 2,
                sigma=(min(scales), max(scales)),
                cells=(min(sizes), max(sizes)),
            )
        ]
        if questions is not None and d > 1:
            # they get the pairs' part too where they connect all attributes, so that the tree needs none
            count = len(self.asked.sets)
            scales = [noise_of(c, unit) for whole in (questions, second) for c in self.asked.costs(whole, self.domain)]
            shares = share_of(questions, self.cost), share_of(second, self.cost)
            out.append(
                Step(
                    kind="question",
                    parts=(count, count),
                    share=shares,
                    sigma=(min(scales), max(scales)),
                    cells=(1, max(self.domain.cells(s) for s in self.asked.sets)),
                )
            )
        if rest is None:
            return out
        second = rest
        if self.fixed:
            scales = [noise_of(c, unit) for c in second.split(self._weights(self.fixed))]
            cells = [self.domain.cells(s) for s in self.fixed]
            share = share_of(second, self.cost)
            count = len(self.fixed)
            out.append(
                Step(
                    kind="listed",
                    parts=(count, count),
                    share=(share, share),
                    sigma=(min(scales), max(scales)),
                    cells=(1, max(cells)),
                )
            )
        elif d > 1:
            sure = [p for p in self.domain.subsets(2) if self.domain.cells(p) <= self.config.max_cells]
            if scoring:
                share = share_of(scoring[0], self.cost)
                out.append(Step(kind="scores", parts=(int(bool(sure)), 1), share=(share if sure else 0.0, share)))
            fewest = 0 if self.asked.sets else len(spanning_tree(sure, np.zeros(len(sure))))
            cells = [1, min(self.config.max_cells, int(np.prod(sorted(sizes)[-2:])))]
            out.append(even("2-way", second, self.cost, unit, parts=(fewest, d - 1), cells=cells))
        return out

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> MstMeasured:
        """One-ways; then the scores and the tree, or the fixed list."""
        d = len(self.domain)
        costs, second, scoring = self._split()
        ones = measure_marginals(counter, self.domain.singletons(), costs, gate=gate)
        progress("measure one-ways", 1, 1)
        recodes = rare_codes(ones, self.config.rare, self.domain)
        if d == 1:
            return MstMeasured(measurements=ReleasedTables(ones), recodes=recodes)
        if self.fixed:
            sets, weights = self.fixed, self._weights(self.fixed)
        else:
            sets = self._tree(counter, ones, recodes, scoring, gate)
            weights = [1.0] * len(sets)
        progress("choose pairs", 1, 1)
        rest, questions = self.asked.beside(second, len(sets))
        pairs: list[Measurement] = []
        if questions is not None:
            costs = self.asked.costs(questions, self.domain)
            pairs += measure_marginals(counter, self.asked.sets, costs, gate=gate, recodes=recodes, kind="question")
        if sets and rest is not None:
            pairs += measure_marginals(counter, sets, rest.split(weights), gate=gate, recodes=recodes)
        progress("measure pairs", 1, 1)
        return MstMeasured(measurements=ReleasedTables([*ones, *pairs]), recodes=recodes)

    def measurements(self, measured: MstMeasured) -> ReleasedTables:
        """One-ways, then what was counted with rare codes together."""
        return measured.measurements

    def restored(self, released: ReleasedTables) -> MstMeasured:
        """Which codes are rare follows from the first table of each attribute."""
        recodes = restored_codes(released, self.config.rare, self.domain)
        return MstMeasured(measurements=released, recodes=recodes)

    def _weights(self, sets: list[AttributeSet]) -> list[float]:
        """Shares of a round: a marginal of weight w gets noise sigma / w, which costs w^2 (w in a pure budget)."""
        power = 1 if self.cost.pure else 2
        return [2.0**power if self.heavy & set(s) else 1.0 for s in sets]

    def _tree(
        self, counter: Counter, ones: list[Measurement], recodes: Recodes, scoring: list[Cost], gate: Gate
    ) -> list[AttributeSet]:
        """Maximum spanning tree of |count - expected under independence|, scored with noise all at once.

        The published mechanism draws each edge by the exponential mechanism; noisy scores keep the run all-Gaussian,
        whose exact accounting makes up for the difference, and the tree is post-processing.
        """
        sizes = coarse_sizes(self.domain, recodes)
        pairs = [p for p in self.domain.subsets(2) if sizes[p[0]] * sizes[p[1]] <= self.config.max_cells]
        if not scoring:
            return [p for p in pairs if not held(p, self.asked.sets)]
        targets = [target(m, recodes) for m in ones]
        total = max(1.0, estimate_total(targets) if self.task.n_public is None else float(self.task.n_public))
        p = {t.attributes[0]: _proportions(t.values) for t in targets}
        expected = [np.outer(p[a], p[b]) * total for a, b in pairs]
        if not pairs:
            return []
        scores, _ = score_sets(
            counter, pairs, expected, [recodes] * len(pairs), cost=scoring[0], gate=gate, name="pair scores"
        )
        if not self.asked.sets:
            return spanning_tree(pairs, scores)
        most = self.config.max_model_size * 2**20 / CELL
        return spanning_tree(
            pairs, scores, beside=self.asked.sets, fits=lambda found: model_cells(found, sizes) <= most
        )

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Records of the fitted model."""
        return records_of(
            measured.measurements,
            measured.recodes,
            self.domain,
            self.config,
            n_records,
            n_public=self.task.n_public,
            rng=rng,
            progress=progress,
        )


def _proportions(values: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = np.clip(values, 0, None)
    return kept / kept.sum() if kept.sum() > 0 else np.full(values.shape, 1 / values.size)


def spanning_tree(
    pairs: list[AttributeSet],
    scores: NDArray[np.float64],
    *,
    beside: Sequence[AttributeSet] = (),
    fits: Callable[[list[AttributeSet]], bool] = lambda _: True,
) -> list[AttributeSet]:
    """Pairs of a maximum spanning tree (a forest where pairs are missing), by Kruskal's rule, in domain order.

    beside: sets that are in the model already, and connect their attributes. fits: whether a model of these sets is
    small enough; pairs that would make it too large are left out.
    """
    part = {n: n for n in itertools.chain.from_iterable([*pairs, *beside])}

    def top(n: str) -> str:
        while part[n] != n:
            part[n] = part[part[n]]
            n = part[n]
        return n

    for names in beside:
        for other in names[1:]:
            part[top(other)] = top(names[0])
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        a, b = (top(n) for n in pairs[i])
        if a != b and fits([*beside, *(pairs[j] for j in chosen), pairs[i]]):
            part[a] = b
            chosen.append(int(i))
    return [pairs[i] for i in sorted(chosen)]
