"""Marginals without records: views of a table are measured once by PriView, and any marginals are read off them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsyn_core.errors import MethodError
from dpsyn_core.estimate import Measurement, Reconstruction, ReleasedTables, check_query
from dpsyn_core.measure import source_of
from dpsyn_core.privacy import Ledger, Manifest, PublicFacts
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions import Reader, ReadingSettings
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.writer import Places, Staged, staged_document, staged_tables
from dpsyn_core.schema import Schema, with_spans
from dpsyn_core.systems import PriViewConfig, validated

if TYPE_CHECKING:
    from dpsyn_core.measure import Source

MARGINALS_METHOD = "priview"
COUNT = "count"  # the column of counts in a table of one marginal


@dataclass(frozen=True, kw_only=True, slots=True)
class MarginalRelease:
    """What leaves the engine: the marginals asked for, in order, and the released views, for any further marginal."""

    found: list[Reconstruction]
    manifest: Manifest
    released: ReleasedTables
    schema: Schema

    @contextmanager
    def staged(self, places: Places, *, progress: Progress = silent) -> Iterator[Staged]:
        """See `Writable.staged`: one marginal as a table, any number of them as JSON."""
        del progress
        (out,) = places.outs
        if out.suffix.lower() == ".json":
            text = json.dumps(as_document(self.found, self.schema), ensure_ascii=False)
            staged = staged_document(text.encode(), out)
        else:
            staged = staged_tables([as_table(self.found[0], self.schema)], [out])
        with staged as digests:
            yield Staged(manifest=self.manifest, digests=digests)


def release_marginals(
    table: Source | Any,
    schema: Schema,
    queries: Sequence[Sequence[str]],
    spec: RunSpec,
    *,
    facts: PublicFacts,
    ledger: Ledger | None = None,
    strict: bool = False,
    progress: Progress = silent,
) -> MarginalRelease:
    """Releases views once and reads any number of marginals off them; `read_marginals` reads further ones for nothing.

    With the strategy `direct`, what is asked for is measured itself, and shares the budget.

    Guarantee: (epsilon, delta)-DP for all of them together, for the schema's unit of privacy.

    Args:
        table: pandas, polars or pyarrow; or a source.
        schema: public metadata.
        queries: attribute names of each marginal.
        spec: of the run; its system is priview.
        facts: where what it takes for public comes from, by `spec.facts`.
        ledger: None is the ledger in DPSYN_HOME.
        strict: see `synthesize`.
        progress: called with stage, done, total and a convergence value.

    Raises:
        InputError: before anything is charged, when a name, the budget, the schema or the table does not fit.
    """
    domain = schema.domain()
    for names in queries:
        check_query(domain, names)
    config = spec.config
    if not isinstance(config, PriViewConfig):
        msg = f"the system is '{spec.method}'; marginals are released by '{MARGINALS_METHOD}'"
        raise MethodError(msg)
    if config.strategy == "direct" and not config.queries:
        asked = {"queries": tuple(tuple(q) for q in queries)}
        spec = spec.model_copy(update={"settings": {**spec.settings, **asked}})
    task = spec.task(schema, measured=tuple(n for names in queries for n in names))
    measured = measure(
        source_of(table, strict=strict), schema, spec, facts=facts, ledger=ledger, task=task, progress=progress
    )
    released = measured.released
    reader = Reader(
        released,
        with_spans(schema).domain(),
        config.reading(),
        n_public=schema.n_records,
        as_measured=config.strategy == "direct",
    )
    marginals = [reader.read(names) for names in queries]
    # no records are made: there is no seed, and no time that they took
    manifest = measured.manifest(0).model_copy(update={"seed": None, "seconds": 0.0})
    return MarginalRelease(found=marginals, manifest=manifest, released=released, schema=schema)


def read_marginals(
    released: Sequence[Measurement],
    schema: Schema,
    queries: Sequence[Sequence[str]],
    *,
    settings: Mapping[str, Any] | None = None,
) -> list[Reconstruction]:
    """Reads marginals off what a run of any system released; costs nothing, and no private table is near.

    Guarantee: post-processing of released values: what the run promises holds for them too.

    Args:
        released: marginals of one run (`Release.released`, or those of a file).
        schema: of that run.
        queries: attribute names of each marginal.
        settings: see `ReadingSettings`.

    Raises:
        TableError: nothing was released, or no table holds an attribute.
        SchemaError: an attribute is unknown or named twice.
        SizeError: a marginal has too many cells.
        SettingError: a setting is unknown or out of range.
    """
    reader = reader_of(released, schema, settings)
    for names in queries:
        reader.check(names)
    return [reader.read(names) for names in queries]


def reader_of(released: Sequence[Measurement], schema: Schema, settings: Mapping[str, Any] | None = None) -> Reader:
    """Reads any number of marginals as `read_marginals` does; what it worked out for one is kept for the next."""
    how = validated(ReadingSettings, "reading", settings or {})
    return Reader(released, with_spans(schema).domain(), how, n_public=schema.n_records)


def as_table(found: Reconstruction, schema: Schema) -> Any:
    """A pyarrow table with one row a cell: a column of labels for each attribute, and `count`."""
    import pyarrow as pa

    words = {a.name: a.labels() for a in with_spans(schema).coded}
    cells = np.indices(found.values.shape).reshape(found.values.ndim, -1)
    columns = {n: pa.array(np.array(words[n], dtype=object)[cells[i]]) for i, n in enumerate(found.attributes)}
    return pa.table({**columns, COUNT: pa.array(found.values.ravel())})


def as_document(found: Sequence[Reconstruction], schema: Schema, *, run: Manifest | None = None) -> dict[str, Any]:
    """All marginals as one JSON document. run: the manifest of what they were read off, where they have none."""
    words = {a.name: a.labels() for a in with_spans(schema).coded}
    of_run = {} if run is None else {
        "run_id": run.run_id, "method": run.method, "guarantee": run.guarantee, "private": run.private,
        "not_private_because": list(run.not_private_because),
    }  # fmt: skip
    return {
        **of_run,
        "marginals": [
            {
                "attributes": list(f.attributes),
                "labels": [list(words[n]) for n in f.attributes],
                "counts": f.values.tolist(),
                "covered": f.covered,
                "sigma": f.sigma,
                "residual": f.residual,
                "apart": f.apart,
                "wide": f.wide,
            }
            for f in found
        ],
    }
