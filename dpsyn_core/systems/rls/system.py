"""Record least squares: measures one-ways and the tables that pay, then fits records to them. The default method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import (
    Coarsening,
    Measurement,
    ReleasedTables,
    Scores,
    even_records,
    fit_records,
    pays,
    place_by_category,
    place_numbers,
    proposals_of,
    schedule,
)
from dpsyn_core.measure import Gate, measure_marginals
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.systems.base import Guarantee, MethodConfig, Sharded, Synthesizer, Task
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.rls.batteries import measure_mean_tables
from dpsyn_core.systems.rls.budget import NOTHING, BudgetPlan, Noise, plan_budget, total_cost
from dpsyn_core.systems.rls.evidence import RlsEvidence, even_blocks, total_of
from dpsyn_core.systems.rls.expectation import fit_view
from dpsyn_core.systems.rls.finer_pairs import of_numbers, with_finer_pairs
from dpsyn_core.systems.rls.followers import measure_followers, measure_together
from dpsyn_core.systems.rls.implied_dependence import cooler_half, denied_pairs
from dpsyn_core.systems.rls.orders import Search, measure_orders, triples_may_pay, triples_to_score
from dpsyn_core.systems.rls.pairs import Pairs, choose_pairs
from dpsyn_core.systems.rls.sharding import in_shards
from dpsyn_core.systems.rls.tuning import TUNING, Tuning
from dpsyn_core.systems.settings import Estimate, Size, estimate_of, setting
from dpsyn_core.systems.steps import Step, share_of

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter

# of one core, for a pair beyond those of 100 attributes: its score, one record in it, and a table made ready for a fit
SECONDS_OF_SCORE, SECONDS_OF_COUNT, SECONDS_OF_TABLE, USUAL_PAIRS = 2e-4, 5e-10, 1e-3, 4950
MOST_ATTRIBUTES = 2_000  # whose two million pairs take some 400 s of one core to score
DRAFT_EFFORT = 0.1  # of records from which the sums of regressions start
PAIR_CELLS = 400  # of a pair on average, at most about: bins of numbers are merged before pairs are counted


@register("rls")
class RlsConfig(MethodConfig):
    """Settings; None lets the public facts and the released total decide."""

    summary = (
        "Fits records directly to noisy tables of single columns and of the pairs that matter: the most accurate here."
    )
    guarantee = Guarantee(text="(epsilon, delta)-DP by exact Gaussian accounting; epsilon-DP at delta 0")
    takes_questions = True
    measures = ("ratio",)  # all of its columns
    takes_public_table = True
    takes_links = True

    one_way_share: float | None = setting(
        None,
        "Share of one-ways",
        "Part of the budget for the values of each attribute alone; empty: chosen for you",
        gt=0,
        lt=0.95,
    )
    resolution: int | None = setting(
        None,
        "Coarse values",
        "At most about this many coarse values per attribute in pairs; empty: chosen for you",
        between=(2, 4096),
    )
    triples: bool = setting(
        True,
        "Triples",
        "Measure combinations of three attributes where released values predict that this lowers the error",
    )
    effort: float = setting(1.0, "Effort", "Proposals to a cell, relative to the usual number", between=(0.1, 100))
    even: bool = setting(
        True, "Even out", "Fit once more to the average of many fits, which halves the sampling error in small tables"
    )

    def seconds(self, size: Size) -> float:
        """Visits of proposals to measured tables, 10 ns each with all that follows, and the scores of all pairs.

        Some 4.5 pairs an attribute are measured, of hundreds of attributes a tenth of all pairs, but no more than the
        limit of `PairChoice.most`.
        """
        every = size.attributes * (size.attributes - 1) / 2
        pairs = min(every, max(4.5 * size.attributes, 0.1 * every), TUNING.pairs.most(size.attributes, size.records))
        visits = size.out * (2 * size.attributes + 2 * pairs)
        wide = max(0.0, every - USUAL_PAIRS)
        scoring = wide * (SECONDS_OF_SCORE + SECONDS_OF_COUNT * size.records) + SECONDS_OF_TABLE * min(pairs, wide)
        return 0.7 + scoring + 1.0e-8 * visits * self.effort * proposals_of(visits, TUNING.records.fitting)

    def estimate(self, size: Size) -> Estimate:
        """Pairs are counted at coarse values: numbers of a thousand bins do not make tables of a million cells."""
        most = PAIR_CELLS * size.attributes * (size.attributes - 1) / 2 / 1e6
        return estimate_of(self.seconds(size), replace(size, cells=min(size.cells, most)))

    def check(self, task: Task) -> None:
        """As for every system. Raises SizeError, too, for more columns than whose pairs can be scored one by one."""
        super().check(task)
        d = len(task.domain)
        if d > MOST_ATTRIBUTES:
            pairs = math.comb(d, 2)
            msg = (
                f"the schema has {d:,} columns, whose {pairs:,} pairs would be scored one by one, for about "
                f"{pairs * SECONDS_OF_SCORE / 60:.0f} minutes of one core; {MOST_ATTRIBUTES:,} columns fit: give the "
                "others the kind 'ignored', or use the method 'independent', which measures single columns alone"
            )
            raise SizeError(msg)

    def build(self, task: Task) -> Synthesizer:
        """Calibrates: all-Gaussian with a delta, all-Laplace without."""
        return Rls(self, task)


class Rls(Synthesizer):
    """Calibrated."""

    def __init__(self, config: RlsConfig, task: Task, *, tuning: Tuning = TUNING) -> None:
        """Keeps what is public. tuning: other constants, for experiments and tests."""
        self.config, self.task, self.tuning = config, task, tuning
        self.domain = task.domain
        self.n_public = task.n_public
        self.cost = task.budget.gaussian() if task.budget.delta else task.budget.pure()
        self.unit = task.unit
        self.noise = Noise(unit=task.unit, pure=self.cost.pure)
        self.workload = task.workload
        self.zeros = task.zeros
        self.prior = None
        if task.public is not None:
            from dpsyn_core.systems.rls.prior import RlsPrior

            self.prior = RlsPrior(task.public)

    def budget_plan(self, total: float, *, again: bool | None = None, with_pairs: bool | None = None) -> BudgetPlan:
        """How the budget is divided when there are about so many records; for at least one attribute.

        again: whether the number of records is measured twice; None lets the number decide. with_pairs: see
        `plan_budget`.
        """
        return plan_budget(
            self.domain.sizes,
            ranked=tuple(a.size - a.special if a.number else 0 for a in self.domain.attributes),
            whole=self.cost,
            unit=self.unit,
            n_public=self.n_public,
            total=total,
            again=again,
            one_way_share=self.config.one_way_share,
            resolution=self.config.resolution,
            tuning=self.tuning,
            questions_share=self._asked_share(),
            with_pairs=with_pairs,
        )

    def _asked_share(self) -> float:
        """Of what pairs would get, for the tables of questions alone."""
        if self.workload is None:
            return 0.0
        from dpsyn_core.systems.rls.question_tables import (
            asked_share,  # like all of that file, where something is asked
        )

        return asked_share(self.workload)

    def view(self, measured: Sequence[Measurement]) -> RlsEvidence:
        """What has been released so far, read for a fit."""
        return RlsEvidence(self.domain, measured, self.n_public, tuning=self.tuning, zeros=self.zeros, prior=self.prior)

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> list[Measurement]:
        """As `measure_tables`, then the sums of declared regressions, which start from records fitted to the tables."""
        measured, cost = self._measure_tables(counter, gate=gate, progress=progress)
        if self.workload is not None and cost is not None:
            from dpsyn_core.systems.rls.models import measure_models

            def draft(n_records: int) -> NDArray[np.unsignedinteger]:
                config = self.config.model_copy(update={"effort": min(self.config.effort, DRAFT_EFFORT), "even": False})
                system = Rls(config, self.task, tuning=self.tuning)
                return system.synthesize(measured, n_records, rng=np.random.default_rng(0))

            total = self.view(measured).total
            measure_models(self.workload.models, measured, draft, counter, total=total, cost=cost, gate=gate)
            progress("measuring what regressions need", 1, 1)
        return measured

    def _measure_tables(
        self, counter: Counter, *, gate: Gate, progress: Progress = silent
    ) -> tuple[ReleasedTables, Cost | None]:
        """Total (unless public), one-ways, tables of questions, scores of pairs, chosen pairs, triples if they pay.

        Returns:
            What was released, and what the sums of declared regressions may spend.
        """
        domain = self.domain
        measured, models = ReleasedTables(), None
        if not len(domain):
            return ReleasedTables(measure_marginals(counter, [()], [self.cost], gate=gate)), None
        for_total = total_cost(self.cost, self.n_public, self.tuning.shares)
        if for_total is not None:
            measured += measure_marginals(counter, [()], [for_total], gate=gate)
        plan = self.budget_plan(total_of(measured, self.n_public))
        if plan.total_again is not None:
            measured += measure_marginals(counter, [()], [plan.total_again], gate=gate)
            plan = self.budget_plan(total_of(measured, self.n_public), again=True)
        measured += self.measure_one_ways(counter, plan, gate)
        measured += self.measure_coarse_one_ways(counter, measured, plan, gate)
        progress("measuring one-ways", 1, 1)
        if len(domain) < 2:
            return measured, models
        view = self.view(measured)
        if self.workload is not None and plan.questions is not None:
            from dpsyn_core.systems.rls.question_tables import asked_tables, declared_tables, parts_of_questions

            cost, models = parts_of_questions(self.workload, plan.questions)
            if cost is not None:
                needs = asked_tables(self.workload, pure=cost.pure)
                measured += declared_tables(needs, view, cost=cost, noise=self.noise).measure(counter, gate=gate)
                progress("measuring what questions need", 1, 1)
                view = self.view(measured)
        if plan.pairs is None:
            return measured, models
        measured.together, left = measure_together(counter, view, cost=plan.pairs, noise=self.noise, gate=gate)
        view = self.view(measured) if measured.together else view
        maps, measured.followers, left = measure_followers(counter, view, cost=left, noise=self.noise, gate=gate)
        if measured.followers:
            measured += maps
            view = self.view(measured)
        chosen, weight = self._choose(counter, view, plan, left, gate, progress)
        measured.trust = chosen.trust
        if chosen.one_ways is not None:
            measured += self.measure_one_ways(counter, plan, gate, chosen.one_ways)
        measured.scores = Scores(
            sets=tuple(chosen.scores), values=np.array(list(chosen.scores.values())), sigma=chosen.sigma
        )
        if self.workload is None and self.prior is None:
            measured.means, chosen = measure_mean_tables(counter, view, chosen, plan=plan, noise=self.noise, gate=gate)
        chosen = self._measure_surest(counter, measured, chosen, plan, gate)
        search = Search(view, plan, chosen.cost, self.target(most=math.inf), weight)
        self._measure_rounds(counter, measured, chosen, search, plan, gate, progress)
        return measured, models

    def _measure_rounds(
        self,
        counter: Counter,
        measured: ReleasedTables,
        pairs: Pairs,
        search: Search,
        plan: BudgetPlan,
        gate: Gate,
        progress: Progress,
    ) -> None:
        """Measures pairs, and then, where the first round may say so, wider sets, finer pairs and the others again."""

        def measure_pairs(cost: Cost, pairs: Pairs) -> list[Measurement]:
            if not pairs.sets:  # nothing is left to spend it on but the one-ways
                return self.measure_one_ways(counter, plan, gate, cost)
            return self.measure_pairs(counter, pairs, cost, gate)

        view = search.view
        triples = triples_to_score(view, pairs.scores) if self.config.triples and pairs.sets else []
        if triples and not triples_may_pay(view, plan, pairs, len(triples)):
            triples = []
        wider = self.config.triples and bool(triples or search.pays())
        finer = bool(pairs.sets) and self.workload is None and self.prior is None
        finer = finer and bool(of_numbers([*pairs.sets, *(m.attributes for m in measured)], view))
        if not (wider or finer):
            measured += measure_pairs(pairs.cost, pairs)
            return
        cost = pairs.cost
        if pairs.sets:
            first, cost = plan.rounds(cost)
            measured += measure_pairs(first, pairs)
        progress("measuring pairs", 1, 1)
        if finer:
            pairs, cost = with_finer_pairs(counter, pairs, self.view(measured), plan=plan, cost=cost, gate=gate)
        if not wider:
            measured += measure_pairs(cost, pairs)
            return
        measured += measure_orders(
            counter,
            self.view(measured),
            triples,
            search,
            plan=plan,
            pairs=pairs,
            cost=cost,
            gate=gate,
            measure_pairs=measure_pairs,
        )

    def _measure_surest(
        self, counter: Counter, measured: ReleasedTables, pairs: Pairs, plan: BudgetPlan, gate: Gate
    ) -> Pairs:
        """Measures the pairs that nothing else may explain, and says which are left, with their shares of the rest.

        Each pair that these do not explain comes to its share of the cost of all. Scores against independence may say
        which they explain; where they are too noisy for it, the others are scored once more, against a fit to the
        tables. With declared questions or a public table, no pair waits.
        """
        if not pairs.doubtful.any() or self.workload is not None or self.prior is not None:
            return pairs
        from dpsyn_core.systems.rls.explained_pairs import ExplainedPairs

        parts = np.array(self.noise.shares(pairs.cells * pairs.weights))
        parts /= parts.sum()
        spent = np.where(pairs.doubtful, 0.0, parts)
        first, left = pairs.cost.split([spent.sum(), 1 - spent.sum()])
        measured += self.measure_pairs(counter, pairs.only(np.flatnonzero(~pairs.doubtful).tolist()), first, gate)
        explained = ExplainedPairs(pairs, self.view(measured))
        needless = explained.by_scores(self.noise)
        if explained.vague and not needless.any():
            again = plan.second_scores(int(pairs.doubtful.sum()), len(pairs.scores))
            again = left.scaled(min(share_of(again, left), self.tuning.shares.scores_of_joint))
            needless, left = explained.by_fit(counter, cost=again, noise=self.noise, gate=gate), left.less(again)
        goal = np.where(needless, 0.0, parts)
        goal = goal / goal.sum() - spent
        places = np.flatnonzero(goal > NOTHING)
        rest = replace(pairs.only(places.tolist()), cost=left)
        # by these weights, the shares are those of the goal
        return replace(rest, weights=goal[places] ** (2.0 if self.cost.pure else 1.5) / rest.cells)

    def _choose(
        self, counter: Counter, view: RlsEvidence, plan: BudgetPlan, cost: Cost, gate: Gate, progress: Progress
    ) -> tuple[Pairs, float]:
        """The pairs to measure, some widened by a target, and how many times more those with a target count."""
        if self.workload is None:
            return choose_pairs(counter, view, plan=plan, cost=cost, gate=gate, progress=progress), 1.0
        from dpsyn_core.systems.rls import question_tables as declared

        weights, pairs = declared.pair_weights(self.workload, tuning=self.tuning.declared), None
        needs, target = self.workload.needs, self.target()
        if target is not None:
            pairs, scoring = declared.pairs_to_score(counter, view, plan, target, needs, gate=gate)
            plan = replace(declared.beside_target(plan, self.domain[target].size), scores=scoring)
        chosen = choose_pairs(
            counter,
            view,
            plan=plan,
            cost=cost,
            gate=gate,
            progress=progress,
            pairs=pairs,
            weights=weights,
            whole=declared.kept_whole(self.workload, self.domain, tuning=self.tuning.declared),
        )
        if target is not None:
            chosen = declared.with_target(chosen, target, needs, view)
        return chosen, max(weights.values(), default=1.0)

    def target(self, *, most: float | None = None) -> str | None:
        """What is to be predicted, of so many values; by default where pairs are measured together with it."""
        if self.workload is None:
            return None
        from dpsyn_core.systems.rls.question_tables import target_of

        return target_of(
            self.workload.needs, self.domain, most=self.tuning.declared.target_most if most is None else most
        )

    def measure_one_ways(
        self, counter: Counter, plan: BudgetPlan, gate: Gate, cost: Cost | None = None
    ) -> list[Measurement]:
        """The one-ways, each at its planned cost, or once more at a given total in the same proportions."""
        costs: Sequence[Cost] = plan.one_ways
        if cost is not None:
            costs = cost.split([share_of(c, plan.whole) for c in plan.one_ways])
        recodes = {
            a.name: even_blocks(a, blocks, tuning=self.tuning)
            for a, blocks in zip(self.domain.attributes, plan.blocks, strict=True)
            if blocks is not None
        }
        return measure_marginals(counter, self.domain.singletons(), costs, gate=gate, recodes=recodes)

    def measure_coarse_one_ways(
        self, counter: Counter, measured: Sequence[Measurement], plan: BudgetPlan, gate: Gate
    ) -> list[Measurement]:
        """The second one-ways of numbers of many bins, at coarse values that follow from the first ones."""
        if not any(plan.coarse_one_ways):
            return []
        view = self.view(measured)
        twice = [
            (name, cost, self._coarse(view, name, cost, blocks is None))
            for name, cost, blocks in zip(self.domain.names, plan.coarse_one_ways, plan.blocks, strict=True)
            if cost is not None
        ]
        return measure_marginals(
            counter,
            [(name,) for name, _, _ in twice],
            [cost for _, cost, _ in twice],
            gate=gate,
            recodes={name: coarse for name, _, coarse in twice},
        )

    def _coarse(self, view: RlsEvidence, name: str, cost: Cost, every: bool) -> Coarsening:
        """The coarse values of a second one-way; every: whether the first one counted all values singly."""
        r = self.tuning.resolution
        if every:
            return view.second_partition(name)
        return view.isolate_spikes(
            name, view.recode(name, r.few_values, least=r.few_held * self.noise.of_cell(cost), alone=True)
        )

    def measure_pairs(self, counter: Counter, pairs: Pairs, cost: Cost, gate: Gate) -> list[Measurement]:
        """Measures pairs at the shares that minimise their total error; none when there are none."""
        if not pairs.sets:
            return []
        parts = cost.split(self.noise.shares(pairs.cells * pairs.weights))
        return measure_marginals(counter, pairs.sets, parts, gate=gate, recodes=pairs.recodes)

    def restored(self, released: ReleasedTables) -> ReleasedTables:
        """The very tables."""
        return released

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Starts from independent columns and moves single cells until the measured tables fit."""
        domain, tuning = self.domain, self.tuning.records
        dtype = np.min_scalar_type(max(domain.sizes, default=1) - 1)
        if not len(domain):
            n = round(total_of(measured, self.n_public)) if n_records is None else n_records
            return np.zeros((0, n), dtype=dtype)
        view = self.view(measured)
        n = round(view.total) if n_records is None else n_records
        trees, whole = view.hierarchies, view.targets(n)
        rows, targets = view.start(n, rng=rng), trees.narrowed(whole)
        if n and any(len(t.attributes) > 1 for t in targets):
            kept = rows.shape[1]
            pace = schedule(n, kept, targets, effort=self.config.effort, tuning=tuning.fitting)
            targets = fit_view(rows, targets, view, pace=pace, rng=rng, progress=progress, tuning=tuning.fitting)
            denied = trees.narrowed(denied_pairs(trees.whole(rows), whole, view, self.budget_plan(view.total)))
            if denied:
                targets += denied
                fit_records(
                    rows,
                    targets,
                    view.probabilities,
                    pace=cooler_half(pace),
                    rng=rng,
                    progress=progress,
                    tuning=tuning.fitting,
                )
            valued, one_ways = trees.numbers(view.valued), trees.of_kept(view.one_ways)
            if self.config.even and pays(n, kept, tuning=tuning.evening):
                coarse = self.budget_plan(view.total).mixed_resolution
                fine = [(i, domain.names[j]) for i, j in enumerate(trees.kept) if domain.names[j] in view.fine]
                numbers = {i: view.recode(name, coarse).map for i, name in fine}
                even_records(
                    rows,
                    targets,
                    view.probabilities,
                    pace=pace,
                    rng=rng,
                    numbers=numbers,
                    valued=valued,
                    progress=progress,
                    tuning=tuning,
                )
            place_numbers(rows, targets, one_ways, trees.numbers(view.places), rng=rng)
            place_by_category(rows, targets, one_ways, valued, rng=rng)
        out = trees.whole(rows, rng)
        sums = trees.of_free_outcomes(view.sums)
        if sums:
            places = {name: i for i, name in enumerate(domain.names)}
            from dpsyn_core.estimate import exchange_outcomes  # where regressions were declared

            exchange_outcomes(out, places, sums, total=view.total, rng=rng)
        return np.ascontiguousarray(out.T.astype(dtype))

    def sharded(self, measured: Any, n_records: int | None, *, rng: Generator) -> Sharded | None:
        """One draft is fitted at length, and every shard goes on from it towards its share of the measured tables."""
        if len(self.domain) < 2:
            return None
        view = self.view(measured)
        n = round(view.total) if n_records is None else n_records
        plan = self.budget_plan(view.total)
        return in_shards(view, n, plan=plan, effort=self.config.effort, tuning=self.tuning.records, rng=rng)

    def question_tables(self, n_records: float) -> list[tuple[float, float]]:
        """Cells and noise as the plan divides the budget of questions among likely sizes."""
        if self.workload is None or len(self.domain) < 2:
            return []
        from dpsyn_core.systems.rls.question_tables import likely_answers

        n = self.n_public if self.n_public is not None else n_records
        return likely_answers(self.workload, self.domain, self.budget_plan(n), total=n)

    def steps(self, n_records: float) -> list[Step]:
        """Total, one-ways and scores nearly exactly; of pairs and triples, a forecast for ordinary dependence."""
        from dpsyn_core.systems.rls.forecast import ForecastInputs, forecast_steps

        given = ForecastInputs(
            domain=self.domain,
            n_public=self.n_public,
            workload=self.workload,
            prior=self.prior,
            cost=self.cost,
            unit=self.unit,
            noise=self.noise,
            tuning=self.tuning,
            triples=self.config.triples,
            target=self.target(),
            plan=self.budget_plan,
        )
        return forecast_steps(given, n_records)
