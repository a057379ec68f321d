"""Results of a run: what its folder holds, read once and kept for its owner alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from dpsyn_core.report import Figure
from dpsyn_core.runs import MANIFEST, MEASUREMENTS, SCHEMA, SYNTHETIC, JobSpec
from ui.questions import kept as questions
from ui.shared.state import Workspace
from ui.shared.text import language
from ui.shared.theme import dark, dressed

if TYPE_CHECKING:
    from pathlib import Path

    import plotly.graph_objects as go
    import pyarrow as pa

    from dpsyn_core.estimate import ReleasedTables
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.runs import Receipt
    from dpsyn_core.schema import LinkedSchema, Schema
    from ui.shared.jobs import Job

Value = TypeVar("Value")

MOST_KEPT = 200  # results kept for one visitor before all are forgotten
MOST_CELLS = 20_000_000  # of a synthetic table that pages hold whole
NAMELESS = ("comparison", "score", "synthetic", "manifest", "receipt", "measurements", "schema", "asked", "released")
FIGURES, FIGURES_KEY = 12, "figures"  # figures kept for one visitor, and where


def fingerprint(schema: Schema | LinkedSchema, spec: JobSpec) -> str:
    """Names the schema and the settings of a run; the table has a name of its own (`same_table`)."""
    chosen = spec.model_dump_json(
        include={"epsilon", "delta", "method", "settings", "n_records", "questions", "questions_share", "public_table"}
    )
    return hashlib.sha256(f"{schema.dumps()}|{chosen}".encode()).hexdigest()[:24]


def stale(space: Workspace, job: Job, spec: JobSpec) -> bool:
    """Whether table, schema or settings are others now than those that the run was made with."""
    if not same_table(space, job):
        return True
    schema = space.kept_schema
    return schema is None or fingerprint(questions.in_schema(space, schema), spec) != job.fingerprint


def same_table(space: Workspace, job: Job) -> bool:
    """Whether what is loaded, one table or linked ones, is what the run was made from."""
    return bool(space.serial) and job.made_from(space.serial)


def kept(space: Workspace, key: tuple[Any, ...], make: Callable[[], Value]) -> Value:
    """A value computed once for this visitor; never shared, for it may be private."""
    key = (*key, language())  # some hold words
    if key not in space.memo:
        if len(space.memo) > MOST_KEPT:
            space.memo.clear()
        space.memo[key] = make()
    value: Value = space.memo[key]
    return value


def is_kept(space: Workspace, key: tuple[Any, ...]) -> bool:
    """Whether `kept` would compute nothing."""
    return (*key, language()) in space.memo


def forget_names(space: Workspace, job: Job) -> None:
    """Forgets figures and reports, which name the run, after it got another name; what was computed stays."""
    space.memo.pop(FIGURES_KEY, None)
    for key in [k for k in space.memo if isinstance(k, tuple) and job.id in k and k[0] not in NAMELESS]:
        del space.memo[key]


def drawn(space: Workspace, key: tuple[Any, ...], make: Callable[[], Figure | go.Figure]) -> go.Figure:
    """A figure in the visitor's theme, ready for `show`; the last FIGURES of a visitor are kept, never shared."""
    figures = space.memo.setdefault(FIGURES_KEY, {})
    is_dark = dark()
    whole = (*key, is_dark, language())
    if whole not in figures:
        while len(figures) >= FIGURES:
            del figures[next(iter(figures))]
        figures[whole] = dressed(make(), is_dark=is_dark)
    return figures[whole]


def synthetic(space: Workspace, job: Job) -> pa.Table:
    """The synthetic table of a finished run; of a very large one, some records drawn by chance (`synthetic_of`)."""
    return kept(space, ("synthetic", job.id), lambda: _read(job.folder / SYNTHETIC))


def _read(path: Path) -> pa.Table:
    import numpy as np
    import pyarrow.parquet as pq

    from dpsyn_core.tables import cells_of, parquet_batches, sampled

    if cells_of(path) <= MOST_CELLS:
        return pq.read_table(path)
    batches = parquet_batches(path)
    return sampled(batches, MOST_CELLS // len(batches.columns), rng=np.random.default_rng(0)).whole()


def tree(space: Workspace, job: Job) -> LinkedSchema:
    """The schema of the tables of a run of linked ones."""
    from dpsyn_core.schema import LinkedSchema

    found = schema(space, job)
    if not isinstance(found, LinkedSchema):
        msg = f"the run '{job.label}' is of one table; open a run of linked ones"
        raise TypeError(msg)
    return found


def tables(space: Workspace, job: Job) -> dict[str, pa.Table]:
    """The synthetic tables of a finished run by name; one table has the name of its dataset."""
    if not job.spec.linked:
        return {_only(job): synthetic(space, job)}

    def make() -> dict[str, pa.Table]:
        import pyarrow.parquet as pq

        return {name: pq.read_table(path) for name, path in places(space, job).items()}

    return kept(space, ("synthetic", job.id), make)


def _only(job: Job) -> str:
    """What the table of a run of one table is called."""
    return str(job.public.get("dataset", ""))


def places(space: Workspace, job: Job) -> dict[str, Path]:
    """Where the synthetic tables of a run are, by name."""
    from dpsyn_core.runs import synthetic_places

    return (
        {_only(job): job.folder / SYNTHETIC} if not job.spec.linked else synthetic_places(job.folder, tree(space, job))
    )


def synthetic_of(space: Workspace, job: Job) -> int | None:
    """How many records the synthetic table has, where `synthetic` holds some of them; None where it holds all."""
    whole = int(manifest(space, job)["n_records"])
    return None if synthetic(space, job).num_rows == whole else whole


def manifest(space: Workspace, job: Job) -> dict[str, Any]:
    """The manifest of a finished run."""
    return kept(space, ("manifest", job.id), lambda: json.loads((job.folder / MANIFEST).read_text("utf-8")))


def stated(job: Job) -> Manifest:
    """The same, as the engine reads it."""
    from dpsyn_core.privacy import Manifest

    return Manifest.load(job.folder / MANIFEST)


def receipts(space: Workspace, job: Job) -> dict[str, Receipt]:
    """For each synthetic table of a run, whether it and the schema, and marginals of one table, are the manifest's."""
    from dpsyn_core.runs import receipt

    def make() -> dict[str, Receipt]:
        stated, known = job.folder / MANIFEST, paid_schema(space, job)
        beside = None if job.spec.linked else job.folder / MEASUREMENTS
        return {n: receipt(p, stated, measurements=beside, schema=known) for n, p in places(space, job).items()}

    return kept(space, ("receipt", job.id), make)


def holds(space: Workspace, job: Job) -> bool:
    """Whether every file of a run is still that of its manifest."""
    return all(found.holds for found in receipts(space, job).values())


def measurements(space: Workspace, job: Job) -> ReleasedTables:
    """The released marginals of a finished run: of a refit those of the columns that it kept."""
    from dpsyn_core.estimate import ReleasedTables, load_measurements
    from dpsyn_core.schema import with_spans

    def make() -> ReleasedTables:
        found = load_measurements(job.folder / MEASUREMENTS, with_spans(paid_schema(space, job)).domain())
        if (manifest(space, job).get("refit") or {}).get("columns") is None:
            return found
        names = set(schema(space, job).domain().names)
        return ReleasedTables(m for m in found if set(m.attributes) <= names)

    return kept(space, ("measurements", job.id), make)


def paid_schema(space: Workspace, job: Job) -> Schema:
    """The schema of the run that paid, as the manifest names it."""
    from dpsyn_core.schema import Schema

    return kept(space, ("paid schema", job.id), lambda: Schema.load(job.folder / SCHEMA))


def schema(space: Workspace, job: Job) -> Schema:
    """The schema of the table: of a refit with its further rules, and without the columns that it left out."""
    refit = manifest(space, job).get("refit")
    if refit is None:
        return paid_schema(space, job)

    def make() -> Schema:
        from dpsyn_core.privacy import Refit
        from dpsyn_core.runs import described_by, described_tree
        from dpsyn_core.schema import LinkedSchema

        paid, made = paid_schema(space, job), Refit.model_validate(refit)
        if isinstance(paid, LinkedSchema):
            return described_tree(paid, made.rules, made.columns)
        return described_by(paid, made)

    return kept(space, ("schema", job.id), make)


def described(space: Workspace, job: Job) -> list[Schema]:
    """The schemas of the synthetic tables of a run, without those of keys alone."""
    return [found for _, found in named_schemas(space, job)]


def named_schemas(space: Workspace, job: Job) -> list[tuple[str, Schema]]:
    """The same, each with the name of its table."""
    if not job.spec.linked:
        return [(_only(job), schema(space, job))]
    return [(one.name, one.columns) for one in tree(space, job).tables if one.columns is not None]


def computed(space: Workspace, job: Job) -> list[tuple[str, tuple[str, ...]]]:
    """The columns of which the run measured nothing, each with those that it is computed from."""
    described = schema(space, job)
    if not described.rules:
        return []
    from dpsyn_core.schema import computed_columns

    held = {n for m in measurements(space, job) for n in m.attributes}
    return [(one.column, one.named) for one in computed_columns(described, held)] if held else []


def condition(space: Workspace, job: Job) -> str | None:
    """What all records of the table of a refit meet; None where it holds all."""
    found = (manifest(space, job).get("refit") or {}).get("where")
    return None if found is None else str(found)
