"""One release: measure a source through the gate, make synthetic records, and state it all in a manifest."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError
from dpsyn_core.marginals.types import Measurement, ReleasedTables, Scores
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger import Ledger
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.statement import AskedQuestions
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions.document import Questions, declared
from dpsyn_core.runs.measured import Measured, measure
from dpsyn_core.runs.open import Declared
from dpsyn_core.runs.output import table_of
from dpsyn_core.runs.several import check_several, make_tables
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.base import Source
from dpsyn_core.sources.choose import source_of
from dpsyn_core.synthesizers import registry
from dpsyn_core.synthesizers.base import MethodConfig, Task

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAX_RECORDS = 100_000_000  # records that one run may write


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What leaves the engine. Everything here is released or computed from released values.

    table: synthetic, of the kind that was handed in (pandas, polars or pyarrow), columns in the order of the private
    table. arrow: the same as a pyarrow table, with the types that the schema declares.
    measurements: what the system released, in its own form. codes: (n_attributes, n_records). tables: all tables of
    the release, of which `table` is the first, and arrows the same as pyarrow; one unless several were asked for.
    schema: what the run declared public. released: every marginal that was paid for, with its noise, and the scores
    by which some were chosen; empty for a system that measures none.
    """

    table: Any
    arrow: Any
    manifest: Manifest
    measurements: Any
    codes: NDArray[np.unsignedinteger]
    tables: tuple[Any, ...] = ()
    arrows: tuple[Any, ...] = ()
    schema: Schema | None = None
    released: ReleasedTables = field(default_factory=ReleasedTables)

    def __repr__(self) -> str:
        """One line: what it is, and no arrays. The table itself is `.table`."""
        m = self.manifest
        private = "" if m.private else ", NOT PRIVATE"
        return (
            f"Release({self.arrow.num_rows:,} records x {self.arrow.num_columns} columns by {m.method}, "
            f"epsilon {m.epsilon:g}, delta {m.delta:g}{private}; see .table, .manifest and .write())"
        )

    def write(
        self, out: str | Path, manifest: str | Path | None = None, *, key: Ed25519PrivateKey | None = None
    ) -> Manifest:
        """Writes the table and its manifest, which then names the digests of the table; `key` signs it.

        Several tables go to out-1.csv, out-2.csv and so on. Without a name the manifest lies beside the table: t.csv
        has t.manifest.json.
        """
        from dpsyn_core.files import manifest_beside
        from dpsyn_core.runs.writing import numbered, write_tables

        arrows = self.arrows or (self.arrow,)
        path = manifest_beside(Path(out)) if manifest is None else Path(manifest)
        return write_tables(self.manifest, arrows, numbered(Path(out), len(arrows)), path, key=key)

    @property
    def marginals(self) -> list[Measurement]:
        """Released marginals, for the report that is safe to publish; `no_marginals` says why a system has none."""
        return self.released

    @property
    def scores(self) -> Scores | None:
        """Released dependences of attribute sets, for answers about what no table holds; None where none were kept."""
        return self.released.scores


def synthesize(
    table: Source | Any,
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float,
    rng: Generator | int | None,
    method: str | None = None,
    settings: Mapping[str, Any] | None = None,
    n_records: int | None = None,
    dataset: str | None = None,
    ledger: Ledger | None = None,
    strict: bool = False,
    tables: int = 1,
    questions: Questions | Mapping[str, Any] | Sequence[Any] | str | Path | None = None,
    questions_share: float | None = None,
    engine: str | None = None,
    memory: int | str | None = None,
    query_vouched: bool = False,
    progress: Progress = silent,
) -> Release:
    """Makes a differentially private synthetic table.

    Guarantee: (epsilon, delta)-DP for the schema's unit of privacy, as the manifest states it, provided that the
    schema is public knowledge (or bought); otherwise the manifest says NOT PRIVATE.

    Args:
        table: pandas, polars or pyarrow; the path of a file, a folder or a pattern of files; or a source, for records
            that are elsewhere.
        schema: public metadata, or the path of its file.
        epsilon: privacy budget, above 0.
        delta: 0 (pure DP) or in (0, 1).
        rng: seed or generator of the post-processing; None draws a fresh seed, which the manifest records.
        method: a name of `registry.names()`; None is the default system.
        settings: of that system.
        n_records: records to write; None takes the schema's public number, else a released total.
        dataset: name on the ledger; None takes the schema's name.
        ledger: None is the ledger in DPSYN_HOME.
        strict: refuse a table without records, or with cells that the schema has no place for, instead of leaving
            those records out. Whether it refuses is an exact answer about the data, for the owner only.
        tables: how many synthetic tables to make of the one release. More than one are fitted each to the released
            counts after their noise was drawn again, so that an analysis that is run on all of them, and put together
            by `dpsyn_core.inference.combine`, knows what the noise does to it. They cost no further budget.
        questions: what will be asked of the table (docs/questions.md): a `Questions`, the parsed JSON, or the path of a
            file; None takes those of the schema file. Public: they must not come from looking at the data.
        questions_share: of what pairs of attributes would get, for the tables that questions need, from 0 to 1; None
            is at most half.
        engine: where records are counted: 'memory', or 'stored' (codes on disk, docs/scale.md); None chooses by the
            size of the table. All count the same.
        memory: bytes that reading and counting may use, or text such as '4GB'; None: half of the machine's.
        query_vouched: the table is the answer to a query, and that the query reads each record by itself is the owner's
            word; the manifest states it.
        progress: called with stage, done, total and a convergence value.

    Raises:
        InputError: before anything is charged, when budget, schema, table, method or settings do not fit.
    """
    prepared = prepare(
        table, schema, epsilon=epsilon, delta=delta, rng=rng, method=method, settings=settings, n_records=n_records,
        dataset=dataset, ledger=ledger, strict=strict, tables=tables, questions=questions,
        questions_share=questions_share, engine=engine, memory=memory, query_vouched=query_vouched, progress=progress,
    )  # fmt: skip
    return in_memory(prepared, tables=tables, progress=progress)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A run after its private phase: all that post-processing needs, and nothing that holds records.

    wanted: records to write, None where a released total says. started: when the private phase had ended.
    query_vouched: see `synthesize`.
    """

    source: Source
    schema: Schema
    config: MethodConfig
    budget: Budget
    asked: Questions
    measured: Measured
    wanted: int | None
    rng: Generator
    seed: int | None
    started: float
    query_vouched: bool = False

    @property
    def released(self) -> ReleasedTables:
        """As of `Release`."""
        return self.measured.tables

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the release is NOT PRIVATE; empty when it is."""
        return (*self.config.reasons, *self.schema.reasons)

    def manifest(self, n_records: int) -> Manifest:
        """States the run, with so many records made."""
        return self.measured.run.manifest(
            Declared.by(self.schema, reasons=self.config.reasons, query_vouched=self.query_vouched),
            settings=self.config.model_dump(mode="json"),
            n_records=n_records,
            seed=self.seed,
            seconds=time.perf_counter() - self.started,
            questions=stated(self.asked, self.measured.task),
        )


def prepare(
    table: Source | Any,
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float,
    rng: Generator | int | None,
    method: str | None = None,
    settings: Mapping[str, Any] | None = None,
    n_records: int | None = None,
    dataset: str | None = None,
    ledger: Ledger | None = None,
    strict: bool = False,
    tables: int = 1,
    questions: Questions | Mapping[str, Any] | Sequence[Any] | str | Path | None = None,
    questions_share: float | None = None,
    engine: str | None = None,
    memory: int | str | None = None,
    query_vouched: bool = False,
    most: int = MAX_RECORDS,
    progress: Progress = silent,
) -> Prepared:
    """Checks all that can be checked, then spends and measures; see `synthesize`.

    most: records that may be asked for.
    """
    if not isinstance(schema, Schema):
        schema = Schema.load(schema)
    budget = Budget(epsilon=epsilon, delta=delta)
    asked = declared(questions, schema)
    config = registry.configure(registry.DEFAULT if method is None else method, settings or {})
    generator, seed = post_processing_generator(rng)
    if n_records is not None and not 0 <= n_records <= most:
        msg = f"n_records is {n_records}; it must lie between 0 and {most:,}"
        raise SettingError(msg)
    check_several(config, tables)
    source = source_of(table, strict=strict, engine=engine, memory=memory, schema=schema)
    measured = measure(
        source, schema, config, budget=budget, dataset=dataset, ledger=ledger, progress=progress, questions=asked,
        questions_share=questions_share,
    )  # fmt: skip
    return Prepared(
        source=source, schema=schema, config=config, budget=budget, asked=asked, measured=measured,
        wanted=schema.n_records if n_records is None else n_records, rng=generator, seed=seed,
        query_vouched=query_vouched,
        started=time.perf_counter(),  # how long reading and counting took would tell the number of records
    )  # fmt: skip


def in_memory(prepared: Prepared, *, tables: int = 1, progress: Progress = silent) -> Release:
    """All records in one piece, and their manifest."""
    measured, schema = prepared.measured, prepared.schema
    pure = prepared.budget.delta == 0
    several = make_tables(measured, prepared.wanted, tables, pure=pure, rng=prepared.rng, progress=progress)
    progress("decoding", 0, 1)
    arrows = tuple(table_of(c, schema, columns=measured.columns, rng=prepared.rng) for c in several)
    returned = tuple(prepared.source.returned(a) for a in arrows)
    return Release(
        table=returned[0], arrow=arrows[0], manifest=prepared.manifest(several[0].shape[1]),
        measurements=measured.released, codes=several[0], tables=returned, arrows=arrows, schema=schema,
        released=prepared.released,
    )  # fmt: skip


def stated(questions: Questions, task: Task) -> AskedQuestions | None:
    """The questions of a run, as its manifest states them; None where it was told none."""
    if task.workload is None:
        return None
    return AskedQuestions(sha256=questions.digest, share=task.workload.share, document=questions.document())


def post_processing_generator(rng: Generator | int | None) -> tuple[Generator, int | None]:
    """The generator and the seed that the manifest records (None for a caller's own generator)."""
    if isinstance(rng, Generator):
        return rng, None
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, int) or rng < 0):
        msg = f"the seed is {rng!r}; it must be a whole number of at least 0"
        raise SettingError(msg)
    seed = int(SeedSequence().entropy) % 2**53 if rng is None else rng  # type: ignore[arg-type]
    return np.random.default_rng(seed), seed
