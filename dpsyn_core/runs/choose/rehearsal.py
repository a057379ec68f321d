"""Chooses among systems and settings by runs on a public table, which costs the private one nothing.

Every run is a whole run at the budget of the private one, with fresh noise, on a ledger that is thrown away: nobody in
the public table is protected, and the private table is not read.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError, SettingError, TableError
from dpsyn_core.measure.counting.base import Counter
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.sources.base import Opened
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.statement import UsedTable
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.spec import MAX_RECORDS, RunSpec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.domain import AttributeSet, Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.public_table import PublicTable

MOST_RUNS = 50  # of a candidate
MOST_CANDIDATES = 50
MOST_PAIRS = 60  # that a score compares; a public sample where there are more
MOST_CELLS = 100_000  # of a pair that a score compares
Codes = NDArray[np.unsignedinteger]
SURE = 2.0  # standard errors of a difference


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
class Rehearsed:
    """A candidate with its distances in all runs: mean total variation distance of at most 60 pairs of columns."""

    candidate: Candidate
    distances: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Of all runs."""
        return float(np.mean(self.distances))

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return float(np.std(self.distances, ddof=1)) / math.sqrt(len(self.distances))


@dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsal:
    """What came out. tried: in the order in which candidates were named. n_records: of each run."""

    tried: tuple[Rehearsed, ...]
    used: UsedTable
    n_records: int

    @property
    def best(self) -> Rehearsed:
        """Of the smallest mean distance; the first of equal ones."""
        return min(self.tried, key=lambda one: one.mean)

    @property
    def within_noise(self) -> tuple[str, ...]:
        """Other candidates whose distance is not larger than the best one's beyond doubt."""
        best = self.best
        others = [one for one in self.tried if one is not best]
        return tuple(str(o.candidate) for o in others if o.mean - best.mean < SURE * math.hypot(o.error, best.error))


def scored_pairs(domain: Domain) -> list[AttributeSet]:
    """The pairs that a score compares, from public facts alone; the only column where there is one."""
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    pairs = [p for p in combinations(domain.names, 2) if sizes[p[0]] * sizes[p[1]] <= MOST_CELLS]
    if not pairs:
        return list(domain.singletons()[:MOST_PAIRS])
    order = np.random.default_rng(0).permutation(len(pairs))[:MOST_PAIRS]
    return [pairs[i] for i in sorted(order)]


def distance(counter: Counter, codes: NDArray[np.unsignedinteger], domain: Domain) -> int:
    """Sum over the scored pairs of the L1 distance of counts."""
    pairs = scored_pairs(domain)
    made = MemoryCounter(codes, domain).marginals(pairs)
    return sum(int(np.abs(a - b).sum()) for a, b in zip(counter.marginals(pairs), made, strict=True))


def rehearse(
    public: PublicTable, schema: Schema, candidates: Sequence[Candidate], *, budget: Budget, runs: int = 3,
    n_records: int | None = None, progress: Progress = silent,
) -> Rehearsal:  # fmt: skip
    """Runs every candidate on the public table.

    Guarantee: none for the public table; the private table is not read.

    Args:
        public: by the schema; with all columns that the candidates synthesize.
        schema: of the private table.
        candidates: at least two, each once.
        budget: of the private run that is to come.
        runs: of each candidate, from 2 to 50.
        n_records: at which they are tried, drawn from the public table; None: the public number of the schema, else
            as many as the public table has.
        progress: told how many runs are done.

    Raises:
        InputError: a candidate that cannot run, a number out of range, a public table that lacks a column.
    """
    if not 2 <= len(candidates) <= MOST_CANDIDATES or len({str(c) for c in candidates}) < len(candidates):
        msg = f"there are {len(candidates)} candidates; name 2 to {MOST_CANDIDATES}, each once"
        raise SettingError(msg)
    if isinstance(runs, bool) or not 2 <= runs <= MOST_RUNS:
        msg = f"the number of runs of a candidate is {runs}; it must be a whole number between 2 and {MOST_RUNS}"
        raise SettingError(msg)
    if n_records is not None and not 1 <= n_records <= MAX_RECORDS:
        msg = f"n_records is {n_records}; it must lie between 1 and {MAX_RECORDS:,}"
        raise SettingError(msg)
    if schema.n_records is not None and n_records not in (None, schema.n_records):
        msg = f"the schema says that there are {schema.n_records} records; leave the number of records out"
        raise SettingError(msg)
    n = next(k for k in (schema.n_records, n_records, public.n_records) if k is not None)
    ready = [_ready(c, schema, budget, public) for c in candidates]
    scored = public.domain.project(n for n in public.domain.names if all(n in task.domain.names for _, task in ready))
    rng, found = np.random.default_rng(), [[0.0] * runs for _ in ready]
    for run in range(runs):
        codes = public.codes
        if n != public.n_records:
            codes = codes[:, rng.choice(public.n_records, n, replace=n > public.n_records)]
        drawn = replace(public, codes=np.ascontiguousarray(codes))
        truth = MemoryCounter(_rows(drawn.codes, drawn.domain, scored.names), scored)
        for i, (spec, task) in enumerate(ready):
            progress("runs", run * len(ready) + i, runs * len(ready))
            made = _made(drawn, schema, spec, task)
            apart = distance(truth, _rows(made, task.domain, scored.names), scored)
            found[i][run] = apart / (2 * n * len(scored_pairs(scored)))
    progress("runs", 1, 1)
    tried = tuple(Rehearsed(candidate=c, distances=tuple(d)) for c, d in zip(candidates, found, strict=True))
    used = public.used([str(c) for c in candidates])
    return Rehearsal(tried=tried, used=used, n_records=n)


def _ready(candidate: Candidate, schema: Schema, budget: Budget, public: PublicTable) -> tuple[RunSpec, Task]:
    """A candidate as the run that it would be. Raises InputError for one that cannot be that run."""
    spec = RunSpec.of(
        epsilon=budget.epsilon, delta=budget.delta, method=candidate.method, settings=dict(candidate.settings)
    )
    config, task = spec.config, spec.task(schema)
    if config.unprotected:
        msg = f"{candidate} adds no noise, so that it would win every choice; leave it out"
        raise MethodError(msg)
    lacking = [n for n in task.domain.names if n not in public.domain.names]
    if lacking:
        msg = (
            f"the public table '{public.name}' lacks the column '{lacking[0][:80]}', and a choice needs all columns "
            "that are synthesized; give one with all of them, or name one system with `dpsyn synth`"
        )
        raise TableError(msg)
    config.calibrate(task)
    return spec, task


class _Public:
    """The public table as the source of a run."""

    def __init__(self, table: PublicTable) -> None:
        self.table = table

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Its codes, of the columns that the run measures."""
        domain = schema.domain()
        counter = MemoryCounter(_rows(self.table.codes, self.table.domain, domain.names), domain)
        yield Opened(counter=counter, n_records=self.table.n_records, columns=domain.names)

    def returned(self, table: Any) -> Any:
        """Unchanged."""
        return table


def _made(table: PublicTable, schema: Schema, spec: RunSpec, task: Task) -> Codes:
    """The codes of a run on the public table."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite3")
        facts = spec.facts(schema, query_vouched=False, chosen_on=None)  # what is made here leaves nowhere
        run = measure(_Public(table), schema, spec, facts=facts, task=task, ledger=ledger)
    return run.system.synthesize(run.measurements, schema.n_records, rng=run.rng)


def _rows(codes: Codes, domain: Domain, names: Sequence[str]) -> Codes:
    """The codes of some columns."""
    return np.ascontiguousarray(codes[[domain.index(n) for n in names]])
