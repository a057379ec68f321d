"""One release: measure a source through the gate, make synthetic records, and state it all in a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError
from dpsyn_core.estimate.marginals.types import Measurement, ReleasedTables, Scores
from dpsyn_core.measure.sources.base import Source
from dpsyn_core.measure.sources.choice import source_of, vouched
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measurement import Measured, measure, post_processing_generator
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.tables import make_tables, repaired_codes, table_of
from dpsyn_core.runs.writer import Places, Staged, staged_tables, write_release
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.write import LABELLED

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpsyn_core.questions.document import Questions
    from dpsyn_core.tables.declarations import DeclaredColumn


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What leaves the engine. Everything here is released or computed from released values.

    table: synthetic, of the kind that was handed in (pandas, polars or pyarrow), columns in the order of the private
    table. arrow: the same as a pyarrow table, with the types that the schema declares.
    measurements: what the system released, in its own form. codes: (n_attributes, n_records). tables: all tables of
    the release, of which `table` is the first, and arrows the same as pyarrow; one unless several were asked for.
    schema: what the run declared public. released: every marginal that was paid for, with its noise, and the scores
    by which some were chosen; empty for a system that measures none. model: content of the file of the trained model
    that the records were drawn from, where they were drawn from one.
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
    model: bytes | None = None

    def __repr__(self) -> str:
        """One line: what it is, and no arrays. The table itself is `.table`."""
        m = self.manifest
        private = "" if m.private else ", NOT PRIVATE"
        return (
            f"Release({self.arrow.num_rows:,} records x {self.arrow.num_columns} columns by {m.method}, "
            f"epsilon {m.epsilon:g}, delta {m.delta:g}{private}; see .table, .manifest and .write())"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: what was promised, what the release is worth, and the first records."""
        from dpsyn_core.runs.notebook import as_html

        return as_html(self.manifest, self.arrow, self.released)

    def write(
        self, out: str | Path, manifest: str | Path | None = None, *, key: Ed25519PrivateKey | None = None
    ) -> Manifest:
        """Writes the table and its manifest, which then names the digests of the table; `key` signs it.

        Several tables go to out-1.csv, out-2.csv and so on; of a table that is NOT PRIVATE the name says so. Without a
        name the manifest lies beside the table: t.csv has t.manifest.json.
        """
        return write_release(
            self, Places.of(out, manifest, tables=len(self._arrows), private=self.manifest.private), key=key
        )

    @property
    def _arrows(self) -> tuple[Any, ...]:
        return self.arrows or (self.arrow,)

    @contextmanager
    def staged(self, places: Places, *, progress: Progress = silent) -> Iterator[Staged]:
        """See `Writable.staged`."""
        progress("writing", 0, 1)
        model = self.model if places.model is None else self.packed_model()
        with staged_tables(self._arrows, places.outs, self._declared(places)) as digests:
            yield Staged(manifest=self.manifest, digests=digests, model=model)

    def _declared(self, places: Places) -> Mapping[str, DeclaredColumn] | None:
        """What the schema says of the columns, for files that carry labels."""
        if self.schema is None or not any(out.name.lower().endswith(LABELLED) for out in places.outs):
            return None
        from dpsyn_core.schema.importers.declared import declared_columns

        return declared_columns(self.schema)

    def packed_model(self) -> bytes:
        """The file of the trained model. Raises MethodError where the system released none."""
        from dpsyn_core.systems.deep.model_file import pack, savable

        if not savable(self.measurements):
            msg = f"{self.manifest.method} releases no model that could be saved"
            raise MethodError(msg)
        return pack(self.measurements, columns=self.arrow.column_names)

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
    schema: Schema | Mapping[str, Any] | str | Path,
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
    public_table: str | Path | None = None,
    progress: Progress = silent,
) -> Release:
    """Makes a differentially private synthetic table.

    Guarantee: (epsilon, delta)-DP for the schema's unit of privacy, as the manifest states it, provided that the
    schema is public knowledge (or bought); otherwise the manifest says NOT PRIVATE.

    Args:
        table: pandas, polars or pyarrow; the path of a file, a folder or a pattern of files; or a source, for records
            that are elsewhere.
        schema: public metadata: a schema, its document as a dictionary, or the path of its file.
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
            by `dpsyn_core.questions.answers.combination`, knows what the noise does to it. They cost no further budget.
        questions: what will be asked of the table (docs/questions.md): a `Questions`, the parsed JSON, or the path of a
            file; None takes those of the schema file. Public: they must not come from looking at the data.
        questions_share: of what pairs of attributes would get, for the tables that questions need, from 0 to 1; None
            is at most half.
        engine: where records are counted: 'memory', or 'stored' (codes on disk, docs/reference/scale.md); None chooses
            by the size of the table. All count the same.
        memory: bytes that reading and counting may use, or text such as '4GB'; None: half of the machine's.
        query_vouched: the table is the answer to a query, and that the query reads each record by itself is the owner's
            word; the manifest states it. What was opened by `open_table` with that word says it itself.
        public_table: path of a table with columns of the schema that the owner vouches is public, such as last year's
            release: the system learns from it at no budget, as far as what it measures bears it out. The manifest
            names it. Never the private table, nor anything that was made from it without protection.
        progress: called with stage, done, total and a convergence value.

    Raises:
        InputError: before anything is charged, when budget, schema, table, method or settings do not fit.
    """
    declared = Schema.given(schema)
    if declared.links:
        from dpsyn_core.runs.trees.release import synthesize_linked

        return synthesize_linked(
            table,
            declared,
            epsilon=epsilon,
            delta=delta,
            rng=rng,
            n_records=n_records,
            dataset=dataset,
            ledger=ledger,
            strict=strict,
            questions=questions,
            query_vouched=query_vouched,
            progress=progress,
        )
    generator, seed = post_processing_generator(rng)
    spec = RunSpec.of(
        epsilon=epsilon, delta=delta, method=method, settings=settings, n_records=n_records, seed=seed,
        dataset=dataset, questions=questions, questions_share=questions_share, tables=tables,
        public_table=None if public_table is None else str(public_table),
    )  # fmt: skip
    if public_table is not None:
        from dpsyn_core.runs.public_table import check_apart

        check_apart(Path(public_table), table)
    source = source_of(table, strict=strict, engine=engine, memory=memory, schema=declared)
    facts = spec.facts(declared, query_vouched=query_vouched or vouched(table))
    measured = measure(source, declared, spec, facts=facts, rng=generator, ledger=ledger, progress=progress)
    return in_memory(measured, progress=progress)


def in_memory(measured: Measured, *, progress: Progress = silent) -> Release:
    """All records in one piece, and their manifest."""
    schema = measured.schema
    several = make_tables(measured, progress=progress)
    progress("decoding", 0, 1)
    arrows = tuple(
        table_of(
            c,
            schema,
            columns=measured.columns,
            rng=measured.rng,
            repaired=measured.repaired,
            measured=measured.task.domain.names,
        )
        for c in several
    )
    returned = tuple(measured.source.returned(a) for a in arrows)
    return Release(
        table=returned[0], arrow=arrows[0], manifest=measured.manifest(arrows[0].num_rows),
        measurements=measured.measurements, codes=repaired_codes(several[0], arrows[0], schema), tables=returned,
        arrows=arrows, schema=schema, released=measured.released,
    )  # fmt: skip
