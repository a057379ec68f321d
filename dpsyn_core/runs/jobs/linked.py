"""A run or a refit of linked tables in the folder of a job: one file for each table, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpsyn_core.errors import ReceiptError
from dpsyn_core.files import put_private
from dpsyn_core.outside import below
from dpsyn_core.runs.jobs.folder import MANIFEST, MEASUREMENTS, SCHEMA, take_tables, with_public_table
from dpsyn_core.runs.jobs.spec import RELEASE, JobSpec

ANSWERS = "answers.json"  # of the declared questions, in the folder of the job

if TYPE_CHECKING:
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.progress import Progress
    from dpsyn_core.runs.release import Release
    from dpsyn_core.schema import Schema


def synthetic_places(folder: Path, schema: Schema) -> dict[str, Path]:
    """Where the synthetic tables of a finished run are, by name; tables of one file are one table."""
    return {name: folder / f"synthetic-{i}.parquet" for i, name in enumerate(schema.outputs)}


def leave_linked(folder: Path, spec: JobSpec, progress: Progress) -> None:
    """Runs linked tables, and leaves the synthetic ones with their manifest. Raises DPSynError."""
    from dpsyn_core.runs.measurement import post_processing_generator
    from dpsyn_core.runs.trees.answers import write_answers
    from dpsyn_core.runs.trees.release import TreePlan, TreeSource, release_tree
    from dpsyn_core.runs.trees.release_file import pack_tree
    from dpsyn_core.schema import LinkedSchema

    schema = LinkedSchema.load(folder / SCHEMA)
    learnt = with_public_table(folder, spec).public_table
    named = None if learnt is None else f"{schema.root.name}={learnt}"
    plan = TreePlan.of(spec.model_copy(update={"public_table": named}), schema)
    progress("reading the table", 0, 1)
    source = TreeSource(tables=take_tables(folder, spec, schema), vouched=spec.query_vouched)
    rng, seed = post_processing_generator(spec.seed)
    release = release_tree(source, plan, rng=rng, seed=seed, progress=progress)
    del source
    marginals = pack_tree(release.measurements, schema, plan.settings)
    manifest = _write(folder, release, schema, marginals, progress)
    if release.answers:
        write_answers(release.answers, folder / ANSWERS, private=not manifest.private)
    progress("writing", 1, 1)


def leave_linked_refit(folder: Path, spec: JobSpec, progress: Progress) -> None:
    """Makes linked tables of the release file in the folder; nothing is read or charged. Raises DPSynError."""
    from dpsyn_core.runs.measurement import post_processing_generator
    from dpsyn_core.runs.refits.refit import Changes
    from dpsyn_core.runs.release_file import load_release
    from dpsyn_core.runs.trees.refit import refit_tree

    released = load_release(below(folder, RELEASE))
    schema: Schema = released.released.schema
    if not schema.links:
        msg = f"'{RELEASE}' holds one table, and its manifest names tables that hang on it; give the file of the run"
        raise ReceiptError(msg)
    rng, seed = post_processing_generator(spec.seed)
    changes = Changes(
        method=spec.maker,
        seed=seed,
        n_records=spec.n_records,
        where=spec.where,
        columns=spec.columns,
        rules=spec.rules,
    )
    release = refit_tree(released, RELEASE, changes, rng=rng, progress=progress)
    put_private(folder / SCHEMA, schema.dumps().encode("utf-8"))
    _write(folder, release, schema, released.measurements, progress)
    progress("writing", 1, 1)


def _write(folder: Path, release: Release, schema: Schema, measurements: bytes, progress: Progress) -> Manifest:
    from dpsyn_core.runs.writer import Places, write_release

    outs = tuple(synthetic_places(folder, schema).values())
    places = Places(outs=outs, manifest=folder / MANIFEST, measurements=folder / MEASUREMENTS)
    return write_release(release, places, measurements=measurements, progress=progress)
