"""MWEM: a distribution over the whole domain, corrected round by round where it answers worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError, SizeError
from dpsyn_core.estimate import Law, Measurement, ReleasedTables
from dpsyn_core.measure import GRID, Counter, Gate, law_of
from dpsyn_core.privacy import Cost, table_kind
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.few_values import FewValuesConfig
from dpsyn_core.systems.others.graphical.model import draw_within
from dpsyn_core.systems.question_sets import QuestionTables, asked_of, times
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import AttributeSets, Size, known_sets, setting
from dpsyn_core.systems.steps import Step, noise_of

Array = NDArray[np.float64]
FLOOR = 1e-290  # keeps a cell alive that many corrections have pushed down
STILL = 1e-7  # total variation of a sweep below which replaying stops


@register("mwem")
class MWEMConfig(FewValuesConfig):
    """Settings. Defaults are the paper's."""

    summary = "Multiplicative weights over every cell of a small domain, corrected where answers are worst."
    guarantee = Guarantee(
        text="epsilon-DP, or (epsilon, delta)-DP by tight zCDP accounting; the number of records is public",
        needs_public_n=True,
    )

    takes_questions = True

    kind: Literal["marginals", "queries"] = setting(
        "marginals",
        "Measured",
        "A round measures a whole marginal, or one query as in the paper: a single cell of one.",
    )
    variant: Literal["practical", "basic"] = setting(
        "practical",
        "Variant",
        "practical replays all measurements after every round and keeps the last distribution; basic "
        "corrects once a round and averages all of them with the uniform start, as the theorem does.",
    )
    rounds: int = setting(10, "Rounds", "Measurements made; more rounds mean more noise in each.", between=(1, 1000))
    replays: int = setting(
        100,
        "Replays",
        "How often the practical variant replays all measurements after a round; it stops early.",
        between=(1, 10_000),
    )
    workload: AttributeSets = setting(
        (), "Workload", "Marginals to be accurate on, as in 'age+sex, age+income'; empty: all of the degree."
    )
    degree: int = setting(2, "Degree", "Attributes of a marginal when no workload is named.", between=(1, 8))
    max_cells: int = setting(
        1_000_000,
        "Largest domain",
        "Domains with more cells are refused: all of them are kept in memory.",
        between=(1, 50_000_000),
        unit="cells",
    )

    @property
    def no_marginals(self) -> str:
        """Cells that were counted one by one are no tables."""
        return "mwem measured single counts, and no whole marginal" if self.kind == "queries" else ""

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.7 + 37 * size.domain

    def build(self, task: Task) -> Synthesizer:
        """Refuses domains above the cap."""
        cells = task.domain.cells(task.domain.names)
        if cells > self.max_cells:
            size = str(cells) if cells < 10**9 else f"about 1e{math.floor(math.log10(cells))}"
            msg = (
                f"mwem holds every cell of the domain, and there are {size}, above max_cells {self.max_cells}; use "
                "fewer or coarser attributes, or the method 'mst' or 'aim', which need not hold them all"
            )
            raise SizeError(msg)
        sets = known_sets(self.workload, task.domain, setting="workload")
        asked = asked_of(task, self.name)
        return MWEM(self, task, sets or task.domain.subsets(min(self.degree, len(task.domain))), asked)


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """What a round measured: counts of some cells (flat positions) of a marginal. sigma, law: of their noise."""

    attributes: AttributeSet
    cells: NDArray[np.intp]
    values: Array
    sigma: float = 0.0
    law: Law | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """What the rounds leave: the distribution, of the domain's shape, and all that was measured on the way."""

    p: Array
    corrections: tuple[Correction, ...]


class MWEM(Synthesizer):
    """Calibrated."""

    def __init__(self, config: MWEMConfig, task: Task, workload: list[AttributeSet], asked: QuestionTables) -> None:
        """Splits the budget over rounds, and each round into a choice and a measurement.

        With questions, their share of the rounds choose among what these need, before the others.
        """
        self.config, self.domain, self.workload = config, task.domain, workload
        self.n = task.known_n
        first = times(asked.share, config.rounds) if asked.sets else 0
        self.of_round = [list(asked.sets)] * first + [workload] * (config.rounds - first)
        self.cost: Cost = task.budget.zcdp() if task.budget.delta else task.budget.pure()
        # halves in the pure case (Hardt, Ligett, McSherry 2012); a tenth for the choice under zCDP
        self.choice_share = 0.5 if self.cost.pure else 0.1
        self.unit = task.unit

    def steps(self, n_records: float) -> list[Step]:
        """Exactly: the rounds are fixed, only what they measure is not."""
        rounds, share = self.config.rounds, 1 - self.choice_share
        each = self.cost.scaled(share / rounds)
        cells = [self.domain.cells(s) for sets in self.of_round for s in sets]
        if self.config.kind == "marginals":
            kind, sigma, span = "chosen", noise_of(each, self.unit), (min(cells), max(cells))
        else:  # one count, which a record moves by at most 1 whatever the neighbours
            moved = float(self.unit.max_records)
            kind, sigma, span = "cell", each.scale(moved) if each.pure else each.sigma(moved), (1, 1)
        return [
            Step(kind="choice", parts=(rounds, rounds), share=(self.choice_share,) * 2),
            Step(kind=kind, parts=(rounds, rounds), share=(share, share), sigma=(sigma, sigma), cells=span),
        ]

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Distribution:
        """Rounds of choose, measure, correct."""
        shares = self.cost.split([1.0] * self.config.rounds)

        def measured(i: int, p: Array) -> Correction:
            choose, spend = shares[i].split([self.choice_share, 1 - self.choice_share])
            pick = self._marginal if self.config.kind == "marginals" else self._query
            return pick(p, self.of_round[i], counter, gate, choose, spend)

        return self._rounds(measured, progress)

    def _rounds(self, measured: Callable[[int, Array], Correction], progress: Progress = silent) -> Distribution:
        """The distribution after all rounds; measured: what a round measures where the last one left a distribution."""
        rounds = self.config.rounds
        p = uniform(self.domain)
        mean = p / (rounds + 1)  # the uniform start is one of the T + 1 distributions of the theorem
        corrections: list[Correction] = []
        for i in range(rounds):
            corrections.append(measured(i, p))
            if self.config.variant == "basic":
                p = corrected(p, corrections[-1:], self.n, self.domain)
                mean += p / (rounds + 1)
            else:
                p = replayed(p, corrections, self.n, self.domain, self.config.replays)
            progress("rounds", i + 1, rounds)
        last = mean / mean.sum() if self.config.variant == "basic" else p
        return Distribution(p=last, corrections=tuple(corrections))

    def measurements(self, measured: Distribution) -> ReleasedTables:
        """The marginals of the rounds; single cells are none."""
        if self.config.kind == "queries":
            return ReleasedTables()
        return ReleasedTables(
            Measurement(
                attributes=c.attributes,
                values=c.values.reshape(self.domain.shape(c.attributes)),
                sigma=c.sigma,
                law=c.law,
            )
            for c in measured.corrections
        )

    def restored(self, released: ReleasedTables) -> Distribution:
        """The rounds once more, with what each of them released."""
        if len(released) != self.config.rounds:
            msg = "mwem needs the marginal of every round; name another method for the refit, such as 'rls'"
            raise MethodError(msg)
        corrections = [
            Correction(
                attributes=m.attributes, cells=np.arange(m.cells), values=m.values.ravel(), sigma=m.sigma, law=m.law
            )
            for m in released
        ]
        return self._rounds(lambda i, _: corrections[i])

    def _expected(self, p: Array, workload: list[AttributeSet]) -> list[Array]:
        return [self.n * marginal_of(p, s, self.domain) for s in workload]

    def _marginal(
        self, p: Array, workload: list[AttributeSet], counter: Counter, gate: Gate, choose: Cost, spend: Cost
    ) -> Correction:
        """The marginal whose L1 error is furthest above that of the noise it would get."""
        expected = self._expected(p, workload)
        grids = [np.rint(GRID * e).astype(np.int64) for e in expected]
        l1 = gate.unit.l1()
        noise = spend.scale(l1) if spend.pure else math.sqrt(2 / math.pi) * spend.sigma(gate.unit.l2())
        penalty = np.array([round(GRID * noise * g.size) for g in grids], dtype=np.int64)

        def scores() -> NDArray[np.int64]:
            tables = counter.marginals(workload)
            return np.array([np.abs(GRID * t - g).sum() for t, g in zip(tables, grids, strict=True)]) - penalty

        i = gate.select("the worst marginal", scores, sensitivity=float(GRID * l1), cost=choose)
        names = workload[i]
        cells = expected[i].size
        got = gate.release(
            "marginal " + " x ".join(names),
            partial(counter.marginal, names),
            kind=table_kind(len(names)),
            cells=cells,
            cost=spend,
        )
        values = got.values.ravel().astype(np.float64)
        return Correction(
            attributes=names, cells=np.arange(cells), values=values, sigma=got.sigma, law=law_of(got.charge)
        )

    def _query(
        self, p: Array, workload: list[AttributeSet], counter: Counter, gate: Gate, choose: Cost, spend: Cost
    ) -> Correction:
        """The cell whose count is furthest off. A count moves by at most max_records, whatever the neighbours."""
        grids = [np.rint(GRID * e).astype(np.int64).ravel() for e in self._expected(p, workload)]
        max_records = gate.unit.max_records

        def scores() -> NDArray[np.int64]:
            tables = counter.marginals(workload)
            return np.concatenate([np.abs(GRID * t.ravel() - g) for t, g in zip(tables, grids, strict=True)])

        at = gate.select("the worst query", scores, sensitivity=float(GRID * max_records), cost=choose)
        ends = np.cumsum([g.size for g in grids])
        i = int(np.searchsorted(ends, at, side="right"))
        names, cell = workload[i], at - int(ends[i] - grids[i].size)
        got = gate.release(
            "one cell of " + " x ".join(names),
            lambda: counter.marginal(names).ravel()[cell : cell + 1],
            kind="cell",
            cells=1,
            cost=spend,
            l1=max_records,
            l2=max_records,
        )
        return Correction(
            attributes=names,
            cells=np.array([cell]),
            values=got.values.astype(np.float64),
            sigma=got.sigma,
            law=law_of(got.charge),
        )

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Stratified draws from the distribution."""
        n = self.n if n_records is None else n_records
        cells = draw_within(measured.p.reshape(1, -1), np.zeros(n, dtype=np.intp), rng=rng)
        codes = np.stack(np.unravel_index(cells, measured.p.shape))
        progress("sample", 1, 1)
        return codes.astype(np.min_scalar_type(max(self.domain.sizes) - 1))


def uniform(domain: Domain) -> Array:
    """The distribution before anything is measured."""
    return np.full(domain.sizes, 1 / domain.cells(domain.names))


def marginal_of(p: Array, names: AttributeSet, domain: Domain) -> Array:
    """Marginal of a distribution over the domain."""
    drop = tuple(i for i, n in enumerate(domain.names) if n not in names)
    return np.asarray(p.sum(axis=drop))


def corrected(p: Array, corrections: Sequence[Correction], n: int, domain: Domain) -> Array:
    """Multiplicative weights: p(x) grows by exp(q(x) (measured - q(p) n) / 2 n) for each correction in turn.

    The exponent is clipped to -1 to 1, which binds only where noise exceeds the number of records.
    """
    n = max(n, 1)
    for c in corrections:
        now = marginal_of(p, c.attributes, domain).ravel()
        factor = np.ones(now.size)
        factor[c.cells] = np.exp(np.clip((c.values - n * now[c.cells]) / (2 * n), -1, 1))
        p = p * factor.reshape([a.size if a.name in c.attributes else 1 for a in domain.attributes])
        p /= p.sum()
    return p


def replayed(p: Array, corrections: Sequence[Correction], n: int, domain: Domain, replays: int) -> Array:
    """Applies all corrections again and again, until a sweep changes next to nothing."""
    for _ in range(replays):
        after = np.maximum(corrected(p, corrections, n, domain), FLOOR)
        moved = float(np.abs(after - p).sum()) / 2
        p = after
        if moved < STILL:
            break
    return p
