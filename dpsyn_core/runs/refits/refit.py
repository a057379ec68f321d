"""Refits: more tables from a release file or from tables that others published. Nothing is read and nothing is charged.

What a run measured goes through the code that makes the records of a run, as a `Measured` without records behind it:
with another seed, size or system, with further rules, for some columns, or for the records that meet a condition.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.random import Generator

from dpsyn_core.errors import EngineError, MethodError, ReceiptError, SchemaError, SizeError
from dpsyn_core.estimate import ReleasedFile, ReleasedTables, noisy_total
from dpsyn_core.measure import Opened
from dpsyn_core.privacy import AskedQuestions, Booking, Budget, Manifest, PublicFacts, Refit, Unit, guarantee, untold
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions import Questions
from dpsyn_core.runs.measurement import Measured, post_processing_generator
from dpsyn_core.runs.open import public_facts
from dpsyn_core.runs.refits.conditional_tables import conditioned, fit_size
from dpsyn_core.runs.refits.subset_schema import narrowed, only_columns
from dpsyn_core.runs.refits.tables import MAKERS, for_maker, onto_columns
from dpsyn_core.runs.release import Release, in_memory
from dpsyn_core.runs.release_file import ReleaseFile, check_reusable, load_release
from dpsyn_core.runs.spec import MAX_RECORDS, RunSpec
from dpsyn_core.runs.verify.contradictions import contradictions
from dpsyn_core.runs.verify.receipts import manifest_faults
from dpsyn_core.runs.verify.stated_noise import without_noise
from dpsyn_core.runs.writer import MOST_RECORDS
from dpsyn_core.schema import Schema, check_rules, computed_columns, part_of, rules_from_data, with_spans
from dpsyn_core.systems import DEFAULT, MethodConfig, Synthesizer, Task, configure

NOISY = 10.0  # deviations: no noise of a release is further off


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """Whose tables they are that no run of ours released, and what their owner promises: their word, not ours."""

    by: str
    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Reusable:
    """Released tables with their schema, and who paid for them.

    paid: the manifest of the run, or who published the tables. columns: of the tables, in their order. sha256: of the
    file. measurements: content of the file of released marginals, where a run released them.
    """

    released: ReleasedFile
    paid: Manifest | Published
    columns: tuple[str, ...]
    sha256: str
    measurements: bytes | None = None

    @property
    def private(self) -> bool:
        """Whether tables synthesized from it are private: it has a manifest that states privacy."""
        return isinstance(self.paid, Manifest) and self.paid.private

    @property
    def budget(self) -> Budget:
        """That of the promise."""
        return Budget(epsilon=self.paid.epsilon, delta=self.paid.delta)


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What a refit does otherwise than the run.

    method: the system that makes the records; None: that of the run, or the default one where it needs more than
    released tables. settings: of that system; those of the run where it is the same. n_records: None: as released.
    where: a condition that every record meets, as in questions. columns: None: all. rules: as in a schema, which hold
    beside those that the schema has. tables: how many, each with fresh noise on top where there are several.
    """

    method: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    n_records: int | None = None
    seed: int | None = None
    where: str | None = None
    columns: tuple[str, ...] | None = None
    rules: tuple[Mapping[str, Any], ...] = ()
    tables: int = 1


def refit(
    release: str | Path | Reusable,
    *,
    rng: Generator | int | None = None,
    method: str | None = None,
    settings: Mapping[str, Any] | None = None,
    n_records: int | None = None,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    rules: Sequence[Mapping[str, Any]] = (),
    tables: int = 1,
    progress: Progress = silent,
) -> Release:
    """Makes another synthetic table from what a run released, at no budget.

    Guarantee: that of the run, whose manifest the new one repeats with all its charges: this is post-processing, reads
    no record and writes nothing on a ledger. Of tables that others published it is their promise, and their word.

    Args:
        release: the file that `dpsyn synth --save-release` wrote, or what `opened` or `published_tables` returned.
        rng: seed or generator; the seed of the run makes its table again, with the system and size of the run. None
            draws a fresh seed, which the manifest records.
        method: the system that makes the records: that of the run, or one of 'rls', 'independent', 'dpsyn' and 'mst',
            which make them of any released tables. None: that of the run where it can, else 'rls'.
        settings: of that system; None: those of the run where it is the run's.
        n_records: how many records; None: the public or the released number.
        where: a condition that every record meets, as in questions: `CITY = Bellmere and AGE in [18, 30]`. The records
            are fitted to what the tables say under it; none are thrown away.
        columns: which columns are kept; None: all.
        rules: further rules that no record breaks, as in a schema.
        tables: how many tables, for `dpsyn_core.questions.answers.combination`.
        progress: called with stage, done, total and a convergence value.

    Raises:
        ReceiptError: the file is no release, or its parts contradict each other.
        InputError: method, settings, condition, columns or rules do not fit the release.
    """
    given = release if isinstance(release, Reusable) else opened(Path(release))
    generator, seed = post_processing_generator(rng)
    changes = Changes(
        method=method, settings=settings or {}, n_records=n_records, seed=seed, where=where,
        columns=None if columns is None else tuple(columns), rules=tuple(rules), tables=tables,
    )  # fmt: skip
    return in_memory(prepared(given, changes, rng=generator, progress=progress), progress=progress)


def opened(path: Path) -> Reusable:
    """Reads a release file and holds its parts against each other: tables, schema, charges, method and signature.

    Raises:
        ReceiptError: it is no release file, was changed, or states less than its tables cost.
        InputError: a part of it cannot be read.
    """
    released = load_release(path)
    faults = [*manifest_faults(released.manifest, released.document), *_contradictions(released)]
    if released.manifest.refit is not None:
        faults.append("its manifest is that of a refit, and the release of the run is needed")
    if faults:
        msg = f"no table is made of '{path.name}': {'; '.join(dict.fromkeys(faults))}"
        raise ReceiptError(msg)
    check_reusable(configure(released.manifest.method, released.manifest.settings))
    check_noise(released.released, path.name)
    return Reusable(
        released=released.released,
        paid=released.manifest,
        columns=released.columns,
        sha256=released.sha256,
        measurements=released.measurements,
    )


def _contradictions(found: ReleaseFile) -> list[str]:
    return contradictions(found.manifest, schema=found.released.schema, measurements=found.released)


def check_noise(released: ReleasedFile, name: str) -> None:
    """Raises ReceiptError for no tables at all, or for one without noise: nobody published that with a promise."""
    if not released.measurements:
        msg = f"'{name}' holds no table over the attributes of its schema, so that no record can be made of it"
        raise ReceiptError(msg)
    if without_noise(released.measurements):
        msg = f"'{name}' holds a table without noise; tables that protect somebody state their sigma, above 0"
        raise ReceiptError(msg)


def prepared(
    given: Reusable,
    changes: Changes,
    *,
    rng: Generator | None = None,
    most: int = MAX_RECORDS,
    progress: Progress = silent,
) -> Measured:
    """All that can be checked, checked, and the tables in the form in which the system makes records of them.

    most: records that may be synthesized. Raises InputError as `refit` does.
    """
    started = time.perf_counter()
    generator, seed = post_processing_generator(changes.seed) if rng is None else (rng, changes.seed)
    schema, tables, public = given.released.schema, given.released.measurements, given.released.schema.n_records
    schema = with_rules(schema, changes.rules, changes.columns)
    _check_size(tables, public, most, named=changes.n_records is not None and changes.where is None)
    if changes.where is not None:
        have = {name for m in tables for name in m.attributes}
        within = narrowed(schema, changes.where, computed_columns(schema, have))
        n = round(noisy_total(tables)) if public is None else public
        everybody = replace(changes, where=None, columns=None)
        _, task, system, ready = _made_ready(given, everybody, schema, tables, public)
        fitted = system.synthesize(ready, fit_size(n), rng=generator, progress=progress)
        part = replace(within, schema=part_of(within.schema, task.domain.names))
        tables, schema = conditioned(tables, task.domain, part, public, fitted), within.schema
        public = None
    if changes.columns is not None:
        have = {name for m in tables for name in m.attributes}
        schema = only_columns(schema, changes.columns, computed_columns(schema, have))
        tables = onto_columns(tables, with_spans(schema).domain().names)
    if schema.rules:
        check_rules(schema)
    config, task, system, measurements = _made_ready(given, changes, schema, tables, public)
    spec = RunSpec.of(
        epsilon=given.budget.epsilon,
        delta=given.budget.delta,
        method=config.name,
        settings=config.model_dump(mode="json"),
        n_records=changes.n_records,
        seed=changes.seed,
        tables=changes.tables,
    )
    spec.check(most=most)
    paid, looked = given.paid, chosen_by_looking(given, changes)
    theirs = (f"what the tables of {paid.by} promise is their word",) if isinstance(paid, Published) else ()
    facts = public_facts(
        given.released.schema,
        dataset=None,
        reasons=(*theirs, *looked),
        public_table=None,
        query_vouched=isinstance(paid, Manifest) and paid.query is not None,
    )
    return Measured(
        source=_NoSource(), schema=schema.model_copy(update={"n_records": public}), spec=spec, config=config,
        run=_Paid(given, changes, config.name, looked), facts=facts, task=task, system=system,
        measurements=measurements,
        columns=tuple(c for c in given.columns if c in schema.output_names), rng=generator, seed=seed, started=started,
    )  # fmt: skip


def chosen_by_looking(given: Reusable, changes: Changes) -> tuple[str, ...]:
    """Why the further rules of a refit undo the promise of the run. Raises SchemaError."""
    schema = given.released.schema
    further = with_rules(schema, changes.rules, changes.columns).rules[len(schema.rules) :]
    dataset = given.paid.dataset if isinstance(given.paid, Manifest) else None
    return (*rules_from_data(further), *untold(further, schema.ledger_name, dataset))


def with_rules(schema: Schema, rules: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> Schema:
    """The schema with further rules. columns: those that are kept; None: all. Raises SchemaError.

    A further rule on a column that is left out is refused, for nobody could see it kept.
    """
    if not rules:
        return schema
    document = schema.document()
    extended = Schema.of(document | {"rules": [*document.get("rules", ()), *rules]})
    for rule in extended.rules[len(schema.rules) :]:
        absent = [n for n in rule.columns if columns is not None and n not in columns]
        if absent:
            text = str(rule)[:200]
            msg = f"the rule '{text}' names '{absent[0]}', which is left out; keep the column, or drop the rule"
            raise SchemaError(msg)
    return extended


def described_by(paid: Schema, made: Refit) -> Schema:
    """The schema of the table of a refit: that of the run with the rules and columns of the refit."""
    schema = with_rules(paid, made.rules)
    return schema if made.columns is None else only_columns(schema, made.columns)


def _check_size(tables: ReleasedTables, n_public: int | None, most: int, *, named: bool) -> None:
    """Raises SizeError where a release counts more records than allowed, or beyond its noise more than a run writes.

    Each system averages the sums of the tables differently, and no average is above the largest. named: whether the
    number of records to make is.
    """
    beyond = max(float(m.values.sum()) - NOISY * m.sigma * math.sqrt(m.cells) for m in tables)
    if max(beyond, n_public or 0) > MOST_RECORDS:
        msg = f"the release tells of more than {MOST_RECORDS:,} records, and no run writes that many"
        raise SizeError(msg)
    count = max(float(m.values.sum()) for m in tables) if n_public is None else n_public
    if count > most and not named:
        msg = (
            f"a table of the release counts {count:,.0f} records, above the {most:,} that are made at once; name the "
            "number of records to make, without a condition"
        )
        raise SizeError(msg)


def _own(given: Reusable, name: str) -> bool:
    """Whether a system is the one that measured the tables."""
    return isinstance(given.paid, Manifest) and given.paid.method == name


def _config(given: Reusable, changes: Changes) -> MethodConfig:
    """The system of the refit, with its settings."""
    whole = changes.where is None and changes.columns is None
    first = given.paid.method if isinstance(given.paid, Manifest) else DEFAULT
    name = changes.method or first
    if name not in MAKERS and not (whole and _own(given, name)):
        if changes.method is not None:
            msg = f"'{name}' makes no records of tables that others measured, or of a part of them; use {_OR}"
            raise MethodError(msg)
        name = DEFAULT
    settings = dict(given.paid.settings) if isinstance(given.paid, Manifest) and _own(given, name) else {}
    return configure(name, settings | dict(changes.settings))


_OR = f"{', '.join(MAKERS[:-1])} or {MAKERS[-1]}"


def _made_ready(
    given: Reusable, changes: Changes, schema: Schema, tables: ReleasedTables, n_public: int | None
) -> tuple[MethodConfig, Task, Synthesizer, Any]:
    """The system, calibrated, and its measurements. That of the run needs nothing but its tables, where it can."""
    config, paid = _config(given, changes), given.paid
    budget, have = given.budget, {name for m in tables for name in m.attributes}  # further rules compute none of these
    if isinstance(paid, Manifest) and _own(given, config.name) and changes.where is None and changes.columns is None:
        asked = None if paid.questions is None else Questions.of(paid.questions.document)
        share = 0.0 if paid.questions is None else paid.questions.share
        plain = schema.model_copy(update={"questions": None})
        task = Task.of(plain, budget, measured=have, measures=config.measures)
        if asked is not None:
            task = Task.of(
                schema, budget, questions=asked, questions_share=share, measured=have, measures=config.measures
            )
        system = config.calibrate(task)
        try:
            return config, task, system, system.restored(tables)
        except MethodError:
            if changes.method is not None:
                raise
        config = configure(DEFAULT, changes.settings)
    plain = schema.model_copy(update={"questions": None, "n_records": n_public})
    task = Task.of(plain, budget, measured=have, measures=())  # what no table holds can only be computed
    system = config.calibrate(task)
    return config, task, system, system.restored(for_maker(tables, config, task.domain, n_public=n_public))


class _NoSource:
    """Stands where a run has its source: a refit has none."""

    @contextmanager
    def open(self, schema: Schema, *, progress: Progress) -> Iterator[Opened]:
        """Raises EngineError: nobody may ask."""
        del schema, progress
        msg = "a refit has no records to read"
        raise EngineError(msg)
        yield

    def returned(self, table: Any) -> Any:
        """As pyarrow."""
        return table


@dataclass(frozen=True, slots=True)
class _Paid:
    """The manifest of a refit: that of the run, and how this table was synthesized from its release."""

    given: Reusable
    changes: Changes
    method: str
    looked: tuple[str, ...]  # why a further rule undoes the promise

    def manifest(
        self, facts: PublicFacts, *, settings: Mapping[str, Any], n_records: int, seed: int | None, seconds: float,
        questions: AskedQuestions | None,
    ) -> Manifest:  # fmt: skip
        """The manifest of the run that paid, with the number of records, the seed and the refit of this table."""
        del questions
        paid, changes = self.given.paid, self.changes
        refit = Refit(
            release=self.given.sha256,
            by=paid.by if isinstance(paid, Published) else None,
            method=self.method,
            settings=dict(settings),
            where=changes.where,
            columns=changes.columns,
            rules=tuple(dict(r) for r in changes.rules),
        )
        if isinstance(paid, Published):
            schema = self.given.released.schema
            return Manifest.build(
                budget=self.given.budget, unit=Unit.of(schema.unit), charges=(), method=self.method, settings=settings,
                n_records=n_records, booking=Booking(schema.ledger_name, "none: nothing of it is on a ledger"),
                facts=facts, seed=seed, seconds=seconds, refit=refit,
            )  # fmt: skip
        return restated(paid, refit, self.looked, n_records=n_records, seed=seed, seconds=seconds)


def restated(
    paid: Manifest, made: Refit, looked: Sequence[str], *, n_records: int, seed: int | None, seconds: float
) -> Manifest:
    """The manifest of a run for tables that were synthesized again. looked: why further rules undo its promise."""
    why = tuple(dict.fromkeys((*paid.not_private_because, *looked)))
    budget = Budget(epsilon=paid.epsilon, delta=paid.delta)
    promise = guarantee(budget, Unit.of(paid), private=not why, noisy=bool(paid.charges), hanging=paid.hanging)
    stated = {"private": not why, "not_private_because": why, "guarantee": promise, "refit": made}
    size = {"n_records": n_records, "seed": seed, "seconds": round(seconds, 1)}
    return paid.model_copy(update={**stated, **size, "digests": None, "signature": None})
