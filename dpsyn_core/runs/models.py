"""Saved models: the file of a trained release, and more records from it. Post-processing, free of charge."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from dpsyn_core.errors import MethodError, ReceiptError, SettingError
from dpsyn_core.privacy import Budget, Manifest
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measurement import post_processing_generator
from dpsyn_core.runs.release import Release
from dpsyn_core.runs.spec import check_records
from dpsyn_core.runs.tables import repaired_codes, table_of
from dpsyn_core.schema import Schema
from dpsyn_core.systems import Task, registry

SUFFIX = ".safetensors"


def check_savable(method: str, path: Path) -> None:
    """Refuses, before anything is charged, what leaves no model. Raises MethodError, SettingError."""
    if not registry.config_class(method).trains:
        able = [n for n in registry.names() if registry.config_class(n).trains]
        msg = f"{method} releases no model that could be saved; leave --save-model out, or use one of {', '.join(able)}"
        raise MethodError(msg)
    if path.suffix != SUFFIX:
        msg = f"the model '{path.name}' must end with {SUFFIX}"
        raise SettingError(msg)
    from dpsyn_core.systems import require_safetensors

    require_safetensors()


def draw(
    model: bytes, manifest: Manifest, schema: Schema, *, n_records: int, rng: int | None, progress: Progress = silent
) -> Release:
    """More records of a saved model; what the manifest promises holds for them too, and nothing is charged.

    Args:
        model: content of the file.
        manifest: of the run that saved it, which names its digest.
        schema: of that run.
        n_records: how many.
        rng: seed; None draws a fresh one. The new manifest records it.
        progress: receives the stages.

    Raises:
        ReceiptError: model, schema and manifest are not those of one run.
        InputError: the file is no model, or the number of records is out of range.
    """
    if manifest.digests is None or manifest.digests.model != hashlib.sha256(model).hexdigest():
        msg = "the model is not the one of this manifest: it was changed after the run, or belongs to another"
        raise ReceiptError(msg)
    if hashlib.sha256(schema.dumps().encode()).hexdigest() != manifest.schema_hash:
        msg = "the schema is not the one that the model was made with"
        raise ReceiptError(msg)
    check_records(n_records)
    from dpsyn_core.systems import unpack

    started = time.perf_counter()
    generator, seed = post_processing_generator(rng)
    domain = Task.of(schema, Budget(epsilon=manifest.epsilon, delta=manifest.delta), questions_share=0).domain
    saved = unpack(model, domain)
    codes = saved.released.draw(n_records, rng=generator, progress=progress)
    arrow = table_of(codes, schema, columns=saved.columns, rng=generator, measured=domain.names)
    stated = manifest.model_copy(
        update={
            "n_records": arrow.num_rows,
            "seed": seed,
            "seconds": round(time.perf_counter() - started, 1),
            "digests": None,
            "signature": None,
        }
    )
    tables = ({schema.name: arrow},)
    return Release(
        copies=tables,
        arrow_copies=tables,
        manifest=stated,
        measurements=saved.released,
        codes=repaired_codes(codes, arrow, schema),
        schema=schema,
        model=model,
    )
