"""Chooses the source for what a caller hands in, and the engine that counts it: memory, or codes stored on disk."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.measure.sources.base import Source
from dpsyn_core.measure.sources.memory import GatheredSource, MemorySource
from dpsyn_core.platforms import physical_mb
from dpsyn_core.schema import Schema
from dpsyn_core.tables import Batches, ReadForm, open_table

ENGINES = ("memory", "stored", "spark")
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
LEAST_MEMORY = 500 * 10**6  # bytes that any run takes, with the libraries it loads
BASE, CELL = 300 * 10**6, 20  # bytes of a run in memory: in any case, and for each cell of the table it reads


SECONDS = 3e-7  # for each cell that is read, and as many records written, on two idle cores (benchmarks.scale)
SPILL = 40  # bytes of scratch space for each record while individuals are bounded, beside its codes: name and hash


@dataclass(frozen=True, kw_only=True, slots=True)
class CountingPlan:
    """Which engine counts, and what that takes.

    why: sentences for the owner, since they may tell the size of the private table; so do the numbers: bytes on disk
    and in memory at the peak, and seconds of the whole run on two idle cores, all of them about.
    """

    engine: str
    why: str
    memory: float
    seconds: float
    scratch: int = 0


def source_of(
    given: Any,
    *,
    strict: bool = False,
    engine: str | None = None,
    memory: int | str | None = None,
    schema: Schema | None = None,
) -> Source:
    """A source unchanged; a table of pandas, polars or pyarrow, or the path of files, as a source of the chosen engine.

    A Spark DataFrame is counted on the cluster of its session.

    A table of another kind is refused when the source is opened.

    Args:
        given: a source, a frame, `Batches`, or the path of a file, a folder, or a pattern of files.
        strict: see `MemorySource`.
        engine: one of `ENGINES`; None: memory for frames, and for files by their size.
        memory: bytes that the run may use, or text such as '4GB'; None: half of the machine's.
        schema: tells how many columns are read, for the choice; None: all.

    Raises:
        SettingError: an unknown engine, or no amount of memory.
        SizeError: the codes of the table do not fit the scratch folder.
        TableError: files that are not there or cannot be read as one table.
    """
    check_engine(engine)
    limit = memory_of(memory)
    if type(given).__module__.startswith("pyspark."):
        if engine not in (None, "spark"):
            msg = f"the engine is '{engine}', and a Spark DataFrame is counted by its own cluster; leave engine out"
            raise SettingError(msg)
        return on_spark(given, strict=strict)
    if isinstance(given, Source):
        if engine is not None:
            msg = f"the engine is '{engine}', and the source that was given counts in its own way; leave engine out"
            raise SettingError(msg)
        return given
    if engine == "spark":
        return on_spark(given, strict=strict)
    if isinstance(given, Batches):
        return source_of_batches(given, choose(given, engine=engine, memory=limit, schema=schema), strict, limit)
    if isinstance(given, str | os.PathLike):
        batches = open_table(given, ReadForm(strict=strict))
        return source_of_batches(batches, choose(batches, engine=engine, memory=limit, schema=schema), strict, limit)
    if engine == "stored":
        from dpsyn_core.tables import of_frame

        return _stored(of_frame(given), strict=strict, like=given, memory=limit)
    return MemorySource(given, strict=strict)


def vouched(given: Any) -> bool:
    """Whether a table, or what a source reads, was opened with its owner's word for the query behind it."""
    read = getattr(given, "batches", given)
    return isinstance(read, Batches) and read.form.query_vouched


def on_spark(given: Any, *, strict: bool) -> Source:
    """A Spark DataFrame, or the path or address of files, counted by executors of Spark. Raises SettingError."""
    if isinstance(given, str | os.PathLike):
        files: Source = import_module("dpsyn_core.measure.spark.files").SparkFiles(given, ReadForm(strict=strict))
        return files
    if type(given).__module__.startswith("pyspark."):
        frame: Source = import_module("dpsyn_core.measure.spark.source").SparkSource(given, strict=strict)
        return frame
    msg = "the engine 'spark' takes a Spark DataFrame, or a path that its executors can read, and no table in memory"
    raise SettingError(msg)


def source_of_batches(batches: Batches, choice: CountingPlan, strict: bool, memory: int | None) -> Source:
    """The source of the chosen engine."""
    if choice.engine == "stored":
        return _stored(batches, strict=strict, memory=memory)
    return GatheredSource(batches, strict=strict)


def check_engine(engine: str | None) -> None:
    """Raises SettingError for an engine that there is not."""
    if engine is not None and engine not in ENGINES:
        msg = f"the engine is '{engine}'; it must be one of {', '.join(ENGINES)}"
        raise SettingError(msg)


def choose(batches: Batches, *, engine: str | None, memory: int | None, schema: Schema | None = None) -> CountingPlan:
    """The engine that was asked for; else memory where the table fits into it, else stored."""
    columns = len(batches.columns) if schema is None else len(schema.coded)
    cells = columns * batches.likely_records
    need, limit = BASE + CELL * cells, half_of_machine() if memory is None else memory
    chosen = engine or ("memory" if need <= limit else "stored")
    why = f"the table needs about {shown(need)} in memory, and {shown(limit)} may be used"
    why += f"; the engine '{engine}' was asked for" if engine else ""
    if cells:
        why += f"; a run takes about {period(SECONDS * cells)} on two idle cores"
    if chosen == "memory":
        return CountingPlan(engine=chosen, why=why, memory=need, seconds=SECONDS * cells)
    from dpsyn_core.scratch import room

    scratch, free = scratch_of(batches, schema), room()
    if batches.records is not None and scratch > free:
        msg = (
            f"the codes of the table do not fit the {shown(free)} of scratch space that are free (for the owner only); "
            "free disk space, or name a folder with room in the variable DPSYN_SCRATCH"
        )
        raise SizeError(msg)
    return CountingPlan(
        engine=chosen,
        why=f"{why}, and about {shown(scratch)} of scratch space ({shown(free)} are free)",
        scratch=scratch,
        memory=min(need, limit),
        seconds=SECONDS * cells,
    )


def scratch_of(batches: Batches, schema: Schema | None) -> int:
    """Bytes that the codes of a table take on disk, about; with an identifier, also what bounding takes."""
    sizes = [2] * len(batches.columns) if schema is None else schema.domain().sizes
    record = sum(np.min_scalar_type(size - 1).itemsize for size in sizes)
    bounded = schema is not None and schema.unit.identifier is not None
    return batches.likely_records * (2 * record + SPILL if bounded else record)


def period(seconds: float) -> str:
    """A length of time for people."""
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{round(seconds / 60)} minutes"


def half_of_machine() -> int:
    """Half of the memory that this machine has, in bytes."""
    return physical_mb() * 2**20 // 2


def memory_of(given: int | str | None) -> int | None:
    """Bytes from a number or a text such as '4GB' or '800 MB'. Raises SettingError."""
    if given is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT]I?)?B?)?\s*", str(given).upper())
    if isinstance(given, bool) or match is None:
        msg = f"the memory is {str(given)[:40]!r}; it must be a number of bytes with a unit, for example 4GB"
        raise SettingError(msg)
    size = int(float(match[1]) * UNITS[match[2] or ""])
    if size < LEAST_MEMORY:
        msg = f"the memory is {shown(size)}; it must be at least {shown(LEAST_MEMORY)}, which the libraries take"
        raise SettingError(msg)
    return size


def shown(size: float) -> str:
    """A number of bytes for people."""
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size / 1000:.3g} KB"


def _stored(batches: Batches, *, strict: bool, memory: int | None, like: Any = None) -> Source:
    from dpsyn_core.measure.sources.stored import (
        StoredSource,  # with what counts on disk: a table in memory needs neither
    )

    return StoredSource(batches, strict=strict, memory=memory, like=like)
