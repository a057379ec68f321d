"""One release: measure a source through the gate, make synthetic records, and state it all in a manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError, TableError
from dpsyn_core.estimate import Measurement, ReleasedTables, Scores
from dpsyn_core.privacy import Manifest
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measurement import Measured
from dpsyn_core.runs.tables import make_tables, repaired_codes, table_of
from dpsyn_core.runs.writer import Places, Staged, staged_tables, write_release
from dpsyn_core.schema import Schema
from dpsyn_core.tables import LABELLED

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpsyn_core.runs.trees.answers import LinkedAnswer
    from dpsyn_core.tables import DeclaredColumn


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What leaves the engine. Everything here is released or computed from released values.

    copies: the synthetic tables by their names, once for each that was asked for, of the kinds that were handed in
    (pandas, polars or pyarrow), columns in the order of the private tables. arrow_copies: the same as pyarrow tables,
    with the types that the schema declares. schema: what the run declared public. measurements: what the system
    released, in the form of that system. codes: of one table, (n_attributes, n_records). released: every marginal that
    was paid for, with its noise, and the scores by which some were chosen; empty for a system that measures none.
    answers: to questions across links, with intervals. model: content of the file of the trained model that the records
    were drawn from, where they were drawn from one.
    """

    copies: tuple[Mapping[str, Any], ...]
    arrow_copies: tuple[Mapping[str, Any], ...]
    manifest: Manifest
    schema: Schema | None = None
    measurements: Any = None
    codes: NDArray[np.unsignedinteger] | None = None
    released: ReleasedTables = field(default_factory=ReleasedTables)
    answers: tuple[LinkedAnswer, ...] = ()
    model: bytes | None = None

    @property
    def tables(self) -> Mapping[str, Any]:
        """The synthetic tables by their names; of several copies the first."""
        return self.copies[0]

    @property
    def arrows(self) -> Mapping[str, Any]:
        """The same as pyarrow tables."""
        return self.arrow_copies[0]

    @property
    def table(self) -> Any:
        """The one synthetic table. Raises TableError where there are several that hang together."""
        return _only(self.tables)

    @property
    def arrow(self) -> Any:
        """The same as a pyarrow table."""
        return _only(self.arrows)

    def __repr__(self) -> str:
        """One line: what it is, and no arrays."""
        m = self.manifest
        private = "" if m.private else ", NOT PRIVATE"
        if len(self.arrows) > 1:
            sizes = ", ".join(f"{t.num_rows:,} of {name}" for name, t in self.arrows.items())
            return f"Release({sizes}; epsilon {m.epsilon:g}, delta {m.delta:g}{private}; see .tables and .write())"
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
        """Writes the tables and their manifest, which then names their digests; `key` signs it.

        Several copies of a table go to out-1.csv, out-2.csv and so on; linked tables to a folder of CSV files, a
        workbook (.xlsx) or a database (.sqlite, .duckdb). Of tables that are NOT PRIVATE the names say so. Without a
        name the manifest lies beside them: t.csv has t.manifest.json. Raises OutputError.
        """
        if self.schema is not None and self.schema.links:
            from dpsyn_core.runs.trees.export import places_of

            places = places_of(out, self.schema, manifest=manifest, copies=len(self.copies))
        else:
            places = Places.of(out, manifest, tables=len(self.copies), private=self.manifest.private)
        return write_release(self, places, key=key)

    @contextmanager
    def staged(self, places: Places, *, progress: Progress = silent) -> Iterator[Staged]:
        """See `Writable.staged`."""
        progress("writing", 0, 1)
        model = self.model if places.model is None else self.packed_model()
        if self.schema is not None and self.schema.links:
            from dpsyn_core.runs.trees.export import staged_trees

            staged = staged_trees(self.arrow_copies, self.schema, places.outs)
        else:
            staged = staged_tables([_only(c) for c in self.arrow_copies], places.outs, self._declared(places))
        with staged as digests:
            yield Staged(manifest=self.manifest, digests=digests, model=model)

    def _declared(self, places: Places) -> Mapping[str, DeclaredColumn] | None:
        """What the schema says of the columns, for files that carry labels."""
        if self.schema is None or not any(out.name.lower().endswith(LABELLED) for out in places.outs):
            return None
        from dpsyn_core.schema import declared_columns

        return declared_columns(self.schema)

    def packed_model(self) -> bytes:
        """The file of the trained model. Raises MethodError where the system released none."""
        from dpsyn_core.systems import pack, savable

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
    name, returned = schema.name, [measured.source.returned(a) for a in arrows]
    return Release(
        copies=tuple({name: t} for t in returned),
        arrow_copies=tuple({name: a} for a in arrows),
        manifest=measured.manifest(arrows[0].num_rows),
        measurements=measured.measurements,
        codes=repaired_codes(several[0], arrows[0], schema),
        schema=schema,
        released=measured.released,
    )


def _only(tables: Mapping[str, Any]) -> Any:
    """The one table. Raises TableError."""
    if len(tables) > 1:
        msg = f"the release holds linked tables, {', '.join(tables)}; take one of them by its name from .tables"
        raise TableError(msg)
    (table,) = tables.values()
    return table
