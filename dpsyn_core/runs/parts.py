"""Releases larger than memory: records are made in shards on both cores, and written as they come."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import os
import secrets
import shutil
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpsyn_core.errors import OutputError
from dpsyn_core.files import check_folder, check_writable, write_bytes
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.statement import Digests, PartDigests
from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.shards import Shard, shards_of
from dpsyn_core.runs.models import packed
from dpsyn_core.runs.output import table_of
from dpsyn_core.runs.release import MAX_RECORDS, Prepared, in_memory, prepare
from dpsyn_core.runs.writing import ending, stated, write_tables
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.base import Spreading
from dpsyn_core.sources.choose import memory_of
from dpsyn_core.synthesizers.base import Make, Sharded
from dpsyn_core.tables.digest import ContentDigest, content_digest, file_digest
from dpsyn_core.tables.write import check_target, parquet_writer, staged_parts

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from numpy.random import Generator as Random

THREADS = 2  # shards that are made at a time
MOST_RECORDS = 10_000_000_000  # that one run may write in parts
PIECE_BYTES = 20  # for each value of a table that is made in one piece, at its peak
ALLOWED = 8 * 10**9  # bytes that it may take where nobody says; a constant, so that a seed means one table everywhere


T = TypeVar("T")
Spread = Callable[[Callable[[int], str], int], list[str]]
Work = Callable[[Shard, Callable[[], None]], Any]  # the table of a shard; the second is called often, and ends it


class _EndedError(Exception):
    """Ends a shard whose table is not wanted any more."""


def in_parts(prepared: Prepared, *, folder: bool, memory: int | None) -> Sharded | None:
    """How the records of a run are made in shards; None where they are made in one piece.

    Decided by released and public facts alone: the system, the output, the number of synthetic records, and the
    memory that was named. The run's own generator is not touched, so that a seed makes the same table in one piece
    wherever that is decided.
    """
    measured = prepared.measured
    found = measured.system.sharded(measured.released, prepared.wanted, rng=copy.deepcopy(prepared.rng))
    if found is None or folder:
        return found
    return None if fits(found.n_records, len(measured.task.domain), memory) else found


def fits(n_records: int, attributes: int, memory: int | None) -> bool:
    """Whether so many synthetic records are made in one piece; memory: bytes that the run may use, or None."""
    return PIECE_BYTES * n_records * attributes <= (ALLOWED if memory is None else memory // 2)


def synthesize_to(
    table: Any,
    schema: Schema | str | Path,
    *,
    out: str | Path,
    manifest: str | Path,
    epsilon: float,
    delta: float,
    rng: Random | int | None,
    key: Ed25519PrivateKey | None = None,
    memory: int | str | None = None,
    progress: Progress = silent,
    **more: Any,
) -> Manifest:
    """As `synthesize`, but writes the table, which then need not fit in memory.

    Args:
        table: as for `synthesize`: a frame, the path of a file, a folder or a pattern of files, or a source.
        schema: public metadata, or the path of its file.
        out: a CSV or Parquet file, or a folder for Parquet parts: a name that ends with a slash or is a folder.
        manifest: where the manifest goes, which names digests of all that was written.
        epsilon: as for `synthesize`.
        delta: as for `synthesize`.
        rng: as for `synthesize`.
        key: signs the manifest.
        memory: bytes that the run may use, or text such as '4GB'; None: half of the machine's.
        progress: called with stage, done, total and a convergence value.
        more: what else `synthesize` takes, but for several tables.

    Raises:
        InputError: before anything is charged, when anything does not fit; OutputError, which is one, also later.
    """
    path = Path(out)
    folder = str(out).endswith(("/", os.sep)) or path.is_dir()
    if folder:
        check_folder(path)
    else:
        check_target(path)
    check_writable(Path(manifest))
    prepared = prepare(
        table, schema, epsilon=epsilon, delta=delta, rng=rng, memory=memory, progress=progress,
        most=MOST_RECORDS if folder else MAX_RECORDS, **more,
    )  # fmt: skip
    return write_release_to(
        prepared, [path], Path(manifest), folder=folder, memory=memory_of(memory),
        key=key, progress=progress,
    )  # fmt: skip


def write_release_to(
    prepared: Prepared,
    outs: Sequence[Path],
    manifest_path: Path,
    *,
    folder: bool,
    memory: int | None = None,
    measurements: bytes | None = None,
    measurements_path: Path | None = None,
    model_path: Path | None = None,
    key: Ed25519PrivateKey | None = None,
    progress: Progress = silent,
) -> Manifest:
    """Makes the records of a run and writes them with their manifest; neither stands without the other.

    Args:
        prepared: the run.
        outs: a CSV or Parquet file, one for each of the several tables of one release, or the folder of Parquet
            parts, which must not hold anything yet.
        manifest_path: of the manifest.
        folder: whether `out` is a folder.
        memory: bytes that the run may use; see `in_parts`.
        measurements: the file of released marginals, with its `measurements_path`.
        measurements_path: where that goes.
        model_path: where the trained model goes too.
        key: signs the manifest.
        progress: told the share of the records.

    Raises:
        OutputError: something cannot be written; then neither table nor manifest stays.
    """
    out, spread = outs[0], None
    sharded = in_parts(prepared, folder=folder, memory=memory) if len(outs) == 1 else None
    if sharded is None:
        release = in_memory(prepared, tables=len(outs), progress=progress)
        if not folder:
            progress("writing", 0, 1)
            return write_tables(
                release.manifest, release.arrows, outs, manifest_path, measurements=measurements,
                measurements_path=measurements_path, model=None if model_path is None else packed(release),
                model_path=model_path, key=key,
            )  # fmt: skip
        n = release.arrow.num_rows
        shards = shards_of(n, release.arrow.num_columns)

        def cut(shard: Shard, _: Callable[[], None]) -> Any:
            return release.arrow.slice(shard.start, shard.n_records)

        work: Work = cut
    else:
        n = sharded.n_records
        shards = shards_of(n, len(prepared.measured.task.domain))
        own = prepared.rng.spawn(len(shards))
        make, schema, columns = sharded.begin(progress), prepared.schema, prepared.measured.columns
        listed = folder or ending(out) == "parquet"

        def made(shard: Shard, check: Callable[[], None]) -> Any:  # may travel: it refers to released values alone
            return _table(make, schema, columns, shard, own[shard.number], check, listed=listed)

        work = made
        spread = prepared.source.spread if isinstance(prepared.source, Spreading) else None
    model = None if sharded is not None or model_path is None else packed(release)
    beside = [(measurements, measurements_path), (model, model_path)]
    more = {"measurements": _sha256(measurements), "model": _sha256(model)}
    written = False
    try:
        with _folder(out, shards, work, progress, spread) if folder else _file(out, shards, work, progress) as digests:
            manifest = prepared.manifest(n)  # now that all records are made: it says how long that took
            final = stated(manifest, digests.model_copy(update=more), manifest_path, key)
            written = True
            for content, path in beside:
                if content is not None and path is not None:
                    write_bytes(path, content)
    except OutputError:
        if written:
            manifest_path.unlink(missing_ok=True)
        raise
    return final


def _sha256(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _table(
    make: Make, schema: Schema, columns: Sequence[str], shard: Shard, rng: Random, check: Callable[[], None], *,
    listed: bool,
) -> Any:  # fmt: skip
    """The records of one shard as a pyarrow table; listed: see `Codec.decode`."""

    def ended(stage: str, done: float, total: float, value: float | None = None) -> None:
        del stage, done, total, value  # what one of many shards does says nothing of the whole
        check()

    codes = make(shard, rng, ended)
    check()
    return table_of(codes, schema, columns=columns, rng=rng, listed=listed)


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
        with contextlib.closing(_made(shards, work, progress)) as made:
            for table in made:
                content.update(table)
                yield table

    with contextlib.closing(tables()) as parts, staged_parts(parts, out) as whole:
        yield Digests(content=content.hexdigest(), files={ending(out): file_digest(whole)})


@contextlib.contextmanager
def _folder(
    out: Path, shards: list[Shard], work: Work, progress: Progress, spread: Spread | None = None
) -> Iterator[Digests]:
    """A folder with a Parquet file for each shard; it has its name when the block ends well.

    spread: the machines of the source make and write the shards, into the same folder: all of them must see it.
    """
    check_folder(out)
    staged = out.with_name(f".dpsyn-{secrets.token_hex(6)}")
    width = max(5, len(str(len(shards))))

    def write(shard: Shard, check: Callable[[], None]) -> PartDigests:
        table = work(shard, check)
        found = _written(table, staged / f"part-{shard.number + 1:0{width}}.parquet")
        check()
        return found

    try:
        staged.mkdir()
        if spread is None:
            with contextlib.closing(_made(shards, write, progress)) as made:
                parts = tuple(made)
        else:
            progress("making records", 0, len(shards))
            said = spread(lambda i: write(shards[i], _never).model_dump_json(), len(shards))
            parts = tuple(PartDigests.model_validate_json(text) for text in said)
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
    own = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    try:
        with parquet_writer(own, table.schema) as writer:
            writer.write_table(table)
        found = PartDigests(
            name=path.name, n_records=table.num_rows, content=content_digest(table), file=file_digest(own)
        )
        own.replace(path)
    finally:
        own.unlink(missing_ok=True)
    return found


def _never() -> None:
    """A shard on another machine is not asked whether to end: its task is ended as a whole."""
