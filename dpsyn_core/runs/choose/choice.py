"""Runs systems a random number of times, scores each run through the gate, and releases the best run alone.

Guarantee and proof: docs/proofs/tuning.md. The whole price is on the ledger before the first run. How many runs there
were, and what the others scored, is forgotten: it is not part of what the price covers.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError, SettingError
from dpsyn_core.measure.counting.base import Counter
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.sources.base import Source
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.conversions import gdp_epsilon
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.statement import PublicFacts
from dpsyn_core.privacy.selection import selection_epsilon, selection_rho
from dpsyn_core.progress import silent
from dpsyn_core.runs.measurement import Measured, post_processing_generator
from dpsyn_core.runs.open import open_run
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import AttributeSet, Domain
from dpsyn_core.systems.base import Synthesizer, Task
from dpsyn_core.systems.dry_run import check_drawable, plan_of

SCORE_SHARE = 0.02  # of a run's rho: one number, whose noise is then some hundredths of a usual distance
MOST_PAIRS = 60  # that a score compares; a public sample where there are more
MOST_CELLS = 100_000  # of a pair that a score compares
MOST_CANDIDATES = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A system with settings; public."""

    method: str
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        """As it is written on the command line: privbayes:degree=3."""
        said = ",".join(f"{k}={v}" for k, v in self.settings.items())
        return f"{self.method}:{said}" if said else self.method


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ready:
    """A candidate that is calibrated to what one run may spend."""

    candidate: Candidate
    spec: RunSpec
    task: Task
    system: Synthesizer


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What a choice costs, before it is paid. rho: of one run with its score. run_epsilon: what a run by itself would
    promise at the delta of the whole; epsilon / run_epsilon is the factor that the choice costs.
    """  # noqa: D205

    epsilon: float
    delta: float
    runs: int
    rho: float
    run_epsilon: float

    @property
    def factor(self) -> float:
        """How many times the epsilon of one run the choice costs."""
        return self.epsilon / self.run_epsilon


def price_of(budget: Budget, runs: int) -> Price:
    """The price of a choice among about `runs` runs. Raises BudgetError."""
    budget.check_spendable()
    rho = selection_rho(budget.pure().epsilon, budget.delta, runs)
    one = gdp_epsilon(float(np.sqrt(2 * rho * (1 - SCORE_SHARE))), budget.delta)
    return Price(epsilon=budget.epsilon, delta=budget.delta, runs=runs, rho=rho, run_epsilon=one)


def ready(candidates: Sequence[Candidate], schema: Schema, price: Price) -> list[_Ready]:
    """Every candidate, calibrated. Raises InputError, before anything is charged, for what cannot take part."""
    if not 1 <= len(candidates) <= MOST_CANDIDATES or len({str(c) for c in candidates}) < len(candidates):
        msg = f"there are {len(candidates)} candidates; name 1 to {MOST_CANDIDATES}, each once"
        raise SettingError(msg)
    if schema.rules:
        msg = (
            "a choice among runs takes no schema with rules; leave the rules out, or run one system with `dpsyn synth`"
        )
        raise SettingError(msg)
    made = []
    for candidate in candidates:
        spec = RunSpec.of(
            epsilon=price.run_epsilon * (1 - 1e-6), delta=price.delta, method=candidate.method,
            settings=dict(candidate.settings),
        )  # fmt: skip
        config, task = spec.config, spec.task(schema)
        if config.guarantee.needs_public_n or config.guarantee.one_record or config.unprotected:
            msg = f"{candidate} needs a public number of records or adds no noise; leave it out of the choice"
            raise MethodError(msg)
        system = config.calibrate(task)
        if system.cost.pure or system.failure or system.cost.rho > price.rho * (1 - SCORE_SHARE):
            msg = f"{candidate} has no cost in zCDP alone, which the price of a choice needs; leave it out"
            raise MethodError(msg)
        check_drawable(plan_of(system, task))
        made.append(_Ready(candidate=candidate, spec=spec, task=task, system=system))
    return made


def scored_pairs(domain: Domain) -> list[AttributeSet]:
    """The pairs that a score compares, from public facts alone; the only column where there is one."""
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    pairs = [p for p in combinations(domain.names, 2) if sizes[p[0]] * sizes[p[1]] <= MOST_CELLS]
    if not pairs:
        return list(domain.singletons()[:MOST_PAIRS])
    order = np.random.default_rng(0).permutation(len(pairs))[:MOST_PAIRS]
    return [pairs[i] for i in sorted(order)]


def distance(counter: Counter, codes: NDArray[np.unsignedinteger], domain: Domain) -> int:
    """Sum over the scored pairs of the L1 distance of counts. Private: for the gate alone.

    A record more or less changes one cell of each pair by 1, and so the sum by at most the number of pairs.
    """
    pairs = scored_pairs(domain)
    made = MemoryCounter(codes, domain).marginals(pairs)
    return sum(int(np.abs(a - b).sum()) for a, b in zip(counter.marginals(pairs), made, strict=True))


def draw_runs(mean: int) -> int:
    """A geometric number of runs: after each, it ends with probability 1/mean. From the system's entropy, exactly."""
    runs = 1
    while secrets.randbelow(mean):
        runs += 1
    return runs


def choose(
    source: Source, schema: Schema, candidates: Sequence[Candidate], *, budget: Budget, runs: int,
    facts: PublicFacts, dataset: str | None = None, ledger: Ledger | None = None,
) -> Measured:  # fmt: skip
    """The best of a random number of runs, each of a candidate drawn uniformly, by noisy scores.

    Guarantee: (epsilon, delta)-DP of what is returned, for the schema's unit. The time that it takes tells about the
    number of runs, which the guarantee does not cover: it must not be published.

    Args:
        source: of the records.
        schema: public metadata, without rules.
        candidates: public.
        budget: of the whole choice.
        runs: their mean number, from 2 to 100.
        facts: where what the choice takes for public comes from.
        dataset: name on the ledger; None takes the schema's.
        ledger: None is the ledger in DPSYN_HOME.

    Raises:
        InputError: before anything is charged, when budget, schema or candidates do not fit.
    """
    price = price_of(budget, runs)
    able = ready(candidates, schema, price)
    task = able[0].task
    charge = selection_charge(price, candidates)
    with source.open(schema, progress=silent) as opened:
        run = open_run(
            schema.ledger_name if dataset is None else dataset, budget.pure(), budget=budget, unit=task.unit,
            method="tune", failure=budget.delta, ledger=ledger,
        )  # fmt: skip
        run.gate.account.debit(charge)
        best: tuple[tuple[int, int], _Ready, Any, int] | None = None
        for _ in range(draw_runs(runs)):
            one = secrets.choice(able)
            gate = run.gate.run_of_selection(one.system.cost)
            measured = one.system.measure(opened.counter, gate=gate)
            rng, seed = post_processing_generator(None)
            codes = one.system.synthesize(measured, schema.n_records, rng=rng)
            score = _score(opened.counter, codes, one, gate=run.gate, price=price)
            key = (score, secrets.randbits(256))  # ties by fair chance
            if best is None or key < best[0]:
                best = (key, one, measured, int(seed or 0))
        columns = opened.columns
    if best is None:  # the number of runs is at least 1
        raise AssertionError
    _, won, released, seed = best
    config = won.spec.config
    return Measured(
        source=source, schema=schema, spec=won.spec, config=config, run=replace(run, method=config.name), facts=facts,
        task=won.task, system=won.system, measurements=released, columns=columns, rng=np.random.default_rng(seed),
        seed=seed, started=time.perf_counter(),
    )  # fmt: skip


def selection_charge(price: Price, candidates: Sequence[Candidate]) -> Charge:
    """The whole choice as one charge."""
    listed = ", ".join(str(c) for c in candidates)
    return Charge(
        name=f"best of about {price.runs} runs among {listed}", mechanism="private-selection", sensitivity=1.0,
        scale=price.rho, cells=1, epsilon=selection_epsilon(price.rho, price.runs, price.delta), delta=price.delta,
        steps=price.runs, kind="selection",
    )  # fmt: skip


def _score(
    counter: Counter, codes: NDArray[np.unsignedinteger], one: _Ready, *, gate: Any, price: Price
) -> int:  # fmt: skip
    """The noisy distance of a run; smaller is better."""
    domain, cost = one.task.domain, Cost(rho=price.rho * SCORE_SHARE)
    most = float(len(scored_pairs(domain)) * one.task.unit.l1())
    own = gate.run_of_selection(cost)
    found = own.release(
        "distance of a run", lambda: np.array([distance(counter, codes, domain)], dtype=np.int64), kind="scores",
        cells=1, cost=cost, l1=most, l2=most,
    )  # fmt: skip
    return int(found.values.ravel()[0])
