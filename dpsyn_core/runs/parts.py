"""Releases larger than memory: records are synthesized in shards on several cores, and written as they come."""

from __future__ import annotations

import contextlib
import copy
import json
import secrets
import shutil
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from dpsyn_core.errors import OutputError
from dpsyn_core.estimate import Shard, shards_of
from dpsyn_core.files import check_folder
from dpsyn_core.measure import Spreading, memory_of, source_of, vouched
from dpsyn_core.privacy import Digests, Ledger, Manifest, PartDigests
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.measurement import Measured, measure, post_processing_generator
from dpsyn_core.runs.release import Release, in_memory
from dpsyn_core.runs.spec import NamedRun, RunSpec
from dpsyn_core.runs.tables import table_of
from dpsyn_core.runs.writer import Places, Staged, ending, write_release
from dpsyn_core.schema import Schema
from dpsyn_core.systems import Make, Sharded
from dpsyn_core.tables import (
    LABELLED,
    ContentDigest,
    check_target,
    content_digest,
    file_digest,
    parquet_writer,
    staged_parts,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from numpy.random import Generator as Random

THREADS = 2  # shards that are made at a time
PIECE_BYTES = 20  # for each value of a table that is made in one piece, at its peak
ALLOWED = 8 * 10**9  # bytes that it may take where nobody says; a constant, so that a seed means one table everywhere


T = TypeVar("T")
Spread = Callable[[Callable[[int], str], int], list[str]]
Work = Callable[[Shard, Callable[[], None]], Any]  # the table of a shard; the second is called often, and ends it


class _EndedError(Exception):
    """Ends a shard whose table is no longer needed."""


def synthesize_to(
    table: Any,
    schema: Schema | Mapping[str, Any] | str | Path,
    *,
    out: str | Path,
    manifest: str | Path,
    rng: Random | int | None,
    ledger: Ledger | None = None,
    strict: bool = False,
    engine: str | None = None,
    memory: int | str | None = None,
    query_vouched: bool = False,
    key: Ed25519PrivateKey | None = None,
    progress: Progress = silent,
    **more: Unpack[NamedRun],
) -> Manifest:
    """As `synthesize`, but writes the table, which then need not fit in memory.

    Args:
        table: as for `synthesize`: a frame, the path of a file, a folder or a pattern of files, or a source.
        schema: as for `synthesize`.
        out: a CSV or Parquet file, or a folder for Parquet parts: a name that ends with a slash or is a folder.
        manifest: where the manifest goes, which names digests of all that was written.
        rng: as for `synthesize`.
        ledger: as for `synthesize`.
        strict: as for `synthesize`.
        engine: as for `synthesize`.
        memory: bytes that the run may use, or text such as '4GB'; None: half of the machine's.
        query_vouched: as for `synthesize`.
        key: signs the manifest.
        progress: called with stage, done, total and a convergence value.
        more: epsilon, delta, and the options of `synthesize`.

    Raises:
        InputError: before anything is charged, when anything does not fit; OutputError, which is one, also later.
    """
    generator, seed = post_processing_generator(rng)
    spec = RunSpec.of(seed=seed, **more)
    declared: Schema = Schema.given(schema)
    facts = spec.facts(declared, query_vouched=query_vouched or vouched(table))
    places = Places.of(out, manifest, tables=spec.tables, private=not facts.reasons)
    if not places.folder:
        check_target(places.outs[0])
    places.check(table, schema)
    measured = measure(
        source_of(table, strict=strict, engine=engine, memory=memory, schema=declared),
        declared,
        spec,
        facts=facts,
        rng=generator,
        ledger=ledger,
        most=places.most_records,
        progress=progress,
    )
    return write_release(
        PendingRelease(measured=measured, memory=memory_of(memory)), places, key=key, progress=progress
    )


def fits(n_records: int, attributes: int, memory: int | None) -> bool:
    """Whether so many synthetic records fit into memory in one piece; memory: bytes that the run may use, or None."""
    return PIECE_BYTES * n_records * attributes <= (ALLOWED if memory is None else memory // 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingRelease:
    """A run that has been measured, and whose records are synthesized while they are written.

    memory: bytes that the run may use; None: `ALLOWED`.
    """

    measured: Measured
    memory: int | None = None

    def sharded(self, places: Places) -> Sharded | None:
        """The plan of shards for the records; None where they are synthesized in one piece.

        Decided by released and public facts alone: the system, the output, the number of synthetic records, and the
        memory that was named. The generator of the run is copied, so that a seed makes the same table in one piece
        wherever that is decided. A rule on all records together, such as unique ones, needs one piece.
        """
        run = self.measured
        if run.spec.tables > 1 or any(rule.table_wide for rule in run.schema.rules):
            return None
        sharded = run.system.sharded(run.measurements, run.wanted, rng=copy.deepcopy(run.rng))
        if sharded is None or places.folder:
            return sharded
        if places.outs[0].name.lower().endswith(LABELLED):  # whose header names the number of records
            return None
        return None if fits(sharded.n_records, len(run.task.domain), self.memory) else sharded

    @contextlib.contextmanager
    def staged(self, places: Places, *, progress: Progress = silent) -> Iterator[Staged]:
        """See `Writable.staged`. Shards go to a folder of Parquet parts, or one after the other into one file."""
        run, sharded = self.measured, self.sharded(places)
        out, spread, model = places.outs[0], None, None
        if sharded is None:
            release = in_memory(run, progress=progress)
            if not places.folder:
                with release.staged(places, progress=progress) as whole:
                    yield whole
                return
            n = release.arrow.num_rows
            shards, work = shards_of(n, release.arrow.num_columns), _cut(release)
            model = None if places.model is None else release.packed_model()
        else:
            n = sharded.n_records
            shards = shards_of(n, len(run.task.domain))
            listed = places.folder or ending(out) == "parquet"
            work = _making(run, sharded.begin(progress), run.rng.spawn(len(shards)), listed=listed)
            spread = run.source.spread if isinstance(run.source, Spreading) else None
        write = (
            _folder(out, shards, work, progress, spread, run.repaired)
            if places.folder
            else _file(out, shards, work, progress)
        )
        with write as digests:
            # the manifest is stated now that all records are made: it says how long that took
            yield Staged(manifest=run.manifest(n), digests=digests, model=model)


def _cut(release: Release) -> Work:
    """A worker that cuts the records of a shard from a table that was synthesized in one piece."""

    def cut(shard: Shard, _: Callable[[], None]) -> Any:
        return release.arrow.slice(shard.start, shard.n_records)

    return cut


def _making(run: Measured, make: Make, own: Sequence[Random], *, listed: bool) -> Work:
    """A worker that synthesizes a shard with a separate generator, as a pyarrow table; listed: see `Codec.decode`."""
    # the work may travel: it refers to released values alone
    schema, columns, repaired, names = run.schema, run.columns, run.repaired, run.task.domain.names

    def made(shard: Shard, check: Callable[[], None]) -> Any:
        def ended(stage: str, done: float, total: float, value: float | None = None) -> None:
            del stage, done, total, value  # what one of many shards does says nothing of the whole
            check()

        rng = own[shard.number]
        codes = make(shard, rng, ended)
        check()
        return table_of(codes, schema, columns=columns, rng=rng, listed=listed, repaired=repaired, measured=names)

    return made


def _made(
    shards: list[Shard], work: Callable[[Shard, Callable[[], None]], T], progress: Progress
) -> Generator[T, None, None]:
    """The outcome for every shard, in order; few wait in memory. Whoever stops asking ends the work within a sweep."""
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise _EndedError

    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            rest = iter(shards)
            for done in range(len(shards)):
                while len(waiting) < THREADS + (done > 0) and (shard := next(rest, None)) is not None:
                    waiting.append(pool.submit(work, shard, check))
                progress("making records", done, len(shards))
                yield waiting.popleft().result()
            progress("making records", len(shards), len(shards))
        finally:
            stop.set()
            for future in waiting:
                future.cancel()


@contextlib.contextmanager
def _file(out: Path, shards: list[Shard], work: Work, progress: Progress) -> Iterator[Digests]:
    """All shards in one file."""
    content = ContentDigest()

    def tables() -> Generator[Any, None, None]:
        with contextlib.closing(_made(shards, work, progress)) as tables_made:
            for table in tables_made:
                content.update(table)
                yield table

    with contextlib.closing(tables()) as parts, staged_parts(parts, out) as whole:
        yield Digests(content=content.hexdigest(), files={ending(out): file_digest(whole)})


@contextlib.contextmanager
def _folder(
    out: Path,
    shards: list[Shard],
    work: Work,
    progress: Progress,
    spread: Spread | None,
    repaired: list[tuple[int, int]],
) -> Iterator[Digests]:
    """A folder with a Parquet file for each shard; it has its name when the block ends well.

    spread: the machines of the source make and write the shards, into the same folder: all of them must see it.
    repaired: gets how many cells were changed for the rules of the schema; other machines have a copy, and tell.
    """
    check_folder(out)
    staged = out.with_name(f".dpsyn-{secrets.token_hex(6)}")
    width = max(5, len(str(len(shards))))

    def write(shard: Shard, check: Callable[[], None]) -> PartDigests:
        table = work(shard, check)
        written = _written(table, staged / f"part-{shard.number + 1:0{width}}.parquet")
        check()
        return written

    try:
        staged.mkdir()
        if spread is None:
            with contextlib.closing(_made(shards, write, progress)) as digests:
                parts = tuple(digests)
        else:
            progress("making records", 0, len(shards))

            def told(number: int) -> str:
                before = len(repaired)
                digest = write(shards[number], _never).model_dump(mode="json")
                return json.dumps([digest, repaired[before:]])

            outcomes = [json.loads(text) for text in spread(told, len(shards))]
            parts = tuple(PartDigests.model_validate(digest) for digest, _ in outcomes)
            repaired += [(cells, left_out) for _, changed in outcomes for cells, left_out in changed]
            if not all((staged / part.name).exists() for part in parts):
                msg = (
                    f"the executors wrote '{out.name}' where this machine does not see it; name a folder that all share"
                )
                raise OutputError(msg)
            progress("making records", len(shards), len(shards))
        yield Digests(parts=parts)
        if out.is_dir():
            out.rmdir()  # empty: it was checked
        staged.rename(out)
    except OSError as error:
        reason = error.strerror or "no reason given"
        msg = f"the folder '{out}' cannot be written ({reason}); choose a place that may be written to and has room"
        raise OutputError(msg) from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _written(table: Any, path: Path) -> PartDigests:
    """One part, under its name only when it is whole: a machine may begin it again after another was lost."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    try:
        with parquet_writer(temporary, table.schema) as writer:
            writer.write_table(table)
        digests = PartDigests(
            name=path.name, n_records=table.num_rows, content=content_digest(table), file=file_digest(temporary)
        )
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return digests


def _never() -> None:
    """A shard on another machine is not asked whether to end: its task is ended as a whole."""
