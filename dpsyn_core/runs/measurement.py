"""The private phase of a run on a table: open the source, reserve the budget, measure, and let go of the records."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator, SeedSequence

from dpsyn_core.errors import SchemaError, SettingError
from dpsyn_core.estimate import ReleasedTables
from dpsyn_core.measure import Source
from dpsyn_core.privacy import AskedQuestions, Ledger, Manifest, PublicFacts
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.open import open_run
from dpsyn_core.runs.spec import MAX_RECORDS, RunSpec
from dpsyn_core.runs.stated_rules import bought_rules
from dpsyn_core.schema import Schema
from dpsyn_core.systems import MethodConfig, Synthesizer, Task, check_drawable, plan_of


class Stating(Protocol):
    """Who states what was released, with the charges that paid for it: a run, or the run behind a refit."""

    def manifest(
        self, facts: PublicFacts, *, settings: Mapping[str, Any], n_records: int, seed: int | None, seconds: float,
        questions: AskedQuestions | None,
    ) -> Manifest:  # fmt: skip
        """See `Run.manifest`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """A run after its private phase: all that post-processing needs, and nothing that holds records.

    run: states the release. facts: where what it took for public comes from. measurements: what the system released, in
    the form of that system. columns: names of the source's columns, in their order. seed: of `rng`; None for a caller's
    generator. started: when the private phase had ended. repaired: gets how many synthetic cells were changed so that
    no rule is broken, and how many records were left out for it, once a table or shard.
    """

    source: Source
    schema: Schema
    spec: RunSpec
    config: MethodConfig
    run: Stating
    facts: PublicFacts
    task: Task
    system: Synthesizer
    measurements: Any
    columns: tuple[str, ...]
    rng: Generator
    seed: int | None
    started: float
    repaired: list[tuple[int, int]] = field(default_factory=list)

    @property
    def released(self) -> ReleasedTables:
        """The marginals among the measurements, over the schema's attributes."""
        return self.system.measurements(self.measurements)

    @property
    def wanted(self) -> int | None:
        """Records to write; None where a released total says."""
        return self.schema.n_records if self.spec.n_records is None else self.spec.n_records

    def manifest(self, n_records: int) -> Manifest:
        """The manifest of the run with this number of synthetic records."""
        return self.run.manifest(
            replace(self.facts, rules=(*self.facts.rules, *bought_rules(self.released, self.schema))),
            settings=self.config.model_dump(mode="json"),
            n_records=n_records,
            seed=self.seed,
            seconds=time.perf_counter() - self.started,
            questions=self._questions(),
        )

    def _questions(self) -> AskedQuestions | None:
        """The questions declared for the run, as its manifest states them; None without any."""
        if self.task.workload is None:
            return None
        questions = self.spec.asked(self.schema)
        return AskedQuestions(sha256=questions.digest, share=self.task.workload.share, document=questions.document())


def measure(
    source: Source,
    schema: Schema,
    spec: RunSpec,
    *,
    facts: PublicFacts,
    rng: Generator | None = None,
    ledger: Ledger | None = None,
    most: int = MAX_RECORDS,
    task: Task | None = None,
    progress: Progress = silent,
) -> Measured:
    """Checks all that can be checked, then spends the budget and measures.

    The source is closed and the counter forgotten when this returns, so that post-processing has their memory.

    Guarantee: see `synthesize`.

    Args:
        source: of the records.
        schema: public metadata.
        spec: of the run.
        facts: where what it takes for public comes from, by `spec.facts`.
        rng: of post-processing; None makes it from the seed of the run.
        ledger: None is the ledger in DPSYN_HOME.
        most: records that may be asked for.
        task: of the run and the schema; None: computed.
        progress: receives the stages.

    Raises:
        InputError: before anything is charged, when budget, schema, records, method or settings do not fit.
    """
    config, task = spec.config, spec.task(schema) if task is None else task
    if task.public is not None:
        facts = replace(facts, public_table=task.public.used())
    spec.check(most=most)
    generator, seed = post_processing_generator(spec.seed) if rng is None else (rng, spec.seed)
    if schema.rules:
        from dpsyn_core.schema import check_rules

        check_rules(schema, schema.n_records if spec.n_records is None else spec.n_records)
    system = config.calibrate(task)
    if not config.unprotected:
        check_drawable(plan_of(system, task))  # noise beyond the samplers is refused here, where nothing is spent yet
    with source.open(_part(schema, task), progress=progress) as opened:
        # the number of records is public under these two conditions alone, and only then may a refusal depend on it
        public_size = task.unit.neighbours == "replace" and task.unit.max_records == 1
        if public_size and config.guarantee.needs_public_n and opened.n_records > task.known_n:
            msg = "the table has more records than the schema's n_records; correct it, or use the method 'rls'"
            raise SchemaError(msg)
        run = open_run(
            schema.ledger_name if spec.dataset is None else spec.dataset,
            system.cost,
            budget=task.budget,
            unit=task.unit,
            method=config.name,
            failure=system.failure,
            unprotected=config.unprotected,
            ledger=ledger,
        )
        measurements = system.measure(opened.counter, gate=run.gate, progress=progress)
    return Measured(
        source=source, schema=schema, spec=spec, config=config, run=run, facts=facts, task=task,
        system=system, measurements=measurements, columns=opened.columns, rng=generator, seed=seed,
        started=time.perf_counter(),  # how long reading and counting took would tell the number of records
    )  # fmt: skip


def _part(schema: Schema, task: Task) -> Schema:
    """The schema of the columns that are measured."""
    if not schema.rules:
        return schema
    from dpsyn_core.schema import part_of

    return part_of(schema, task.domain.names)


def post_processing_generator(rng: Generator | int | None) -> tuple[Generator, int | None]:
    """The generator and the seed that the manifest records (None for a caller's generator). Raises SettingError."""
    if isinstance(rng, Generator):
        return rng, None
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, int) or rng < 0):
        msg = f"the seed is {rng!r}; it must be a whole number of at least 0"
        raise SettingError(msg)
    seed = int(SeedSequence().entropy) % 2**53 if rng is None else rng  # type: ignore[arg-type]
    return np.random.default_rng(seed), seed
