"""Writes a release: the tables, the manifest that names their digests, and what is kept beside them.

One function, `write_release`, for every release and every route: neither table nor manifest stands without the other.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dpsyn_core.errors import OutputError
from dpsyn_core.files import (
    check_folder,
    check_writable,
    manifest_beside,
    not_private_name,
    replacing,
    same_path,
    write_bytes,
)
from dpsyn_core.privacy import Digests, Manifest, TableDigests
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.spec import MAX_RECORDS
from dpsyn_core.tables import content_digest, excel_digest, file_digest, staged_table

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpsyn_core.tables import DeclaredColumn

MOST_RECORDS = 10_000_000_000  # that one run may write into a folder of parts


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Where the files of a release go.

    outs: a file for each table of the release, or the one folder that gets Parquet parts (`folder`). measurements: of
    the released marginals. model: of a trained model. release: of the file for refits. answers: to questions across
    links. None: not written.
    """

    outs: tuple[Path, ...]
    manifest: Path
    measurements: Path | None = None
    model: Path | None = None
    release: Path | None = None
    answers: Path | None = None
    folder: bool = False

    @classmethod
    def of(
        cls,
        out: str | Path,
        manifest: str | Path | None = None,
        *,
        tables: int = 1,
        measurements: Path | None = None,
        model: Path | None = None,
        release: Path | None = None,
        private: bool,
    ) -> Places:
        """The places that a person names.

        Args:
            out: of the table; a name that ends with a slash, or an existing folder, is the folder of parts.
            manifest: None: beside the table; t.csv has t.manifest.json.
            tables: of the release; several go to out-1.csv, out-2.csv and so on.
            measurements: of the released marginals.
            model: of the trained model.
            release: of the file for refits.
            private: False gives every file but the manifest a name that says NOT-PRIVATE.

        Raises:
            OutputError: several tables have no place in one folder.
        """
        path = Path(out)
        folder = str(out).endswith(("/", os.sep)) or path.is_dir()
        if folder and tables > 1:
            msg = "several tables of one release are files of their own; name an output that ends with .csv or .parquet"
            raise OutputError(msg)
        mark = Path if private else not_private_name
        return cls(
            outs=tuple(mark(p) for p in numbered(path, tables)),
            manifest=manifest_beside(path) if manifest is None else Path(manifest),
            measurements=None if measurements is None else mark(measurements),
            model=None if model is None else mark(model),
            release=None if release is None else mark(release),
            folder=folder,
        )

    @property
    def most_records(self) -> int:
        """Records that one run may write there."""
        return MOST_RECORDS if self.folder else MAX_RECORDS

    def check(self, *inputs: object) -> None:
        """Refuses, before anything is spent, places that cannot be written, or that are named twice.

        Args:
            inputs: what the run reads; those that are paths may not be outputs.

        Raises:
            OutputError: naming the place.
        """
        beside = (self.manifest, self.measurements, self.model, self.release, self.answers)
        files = [*self.outs, *(p for p in beside if p is not None)]
        for a, b in [*itertools.product(files, inputs), *itertools.combinations(files, 2)]:
            if same_path(a, b):
                msg = f"'{a.name}' is named twice, as an input or as another output; give every file its own name"
                raise OutputError(msg)
        if self.folder:
            out = self.outs[0]
            check_folder(out)
            if any(isinstance(i, Path) and out.resolve().is_relative_to(i.resolve()) for i in inputs):
                msg = f"'{out.name}' lies inside the folder that is read; give the output a folder of its own"
                raise OutputError(msg)
        for path in files[self.folder :]:
            check_writable(path)

    def __str__(self) -> str:
        """Where the tables are, in a sentence."""
        first, last = self.outs[0], self.outs[-1]
        return str(first) if first == last else f"each of {len(self.outs)} tables, {first} to {last.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Staged:
    """A release whose tables are whole on disk and have no names yet.

    manifest: states it, without digests. digests: of the tables. model: content of the file of a trained model.
    """

    manifest: Manifest
    digests: Digests
    model: bytes | None = None


class Writable(Protocol):
    """A release that can be written."""

    def staged(self, places: Places, *, progress: Progress) -> AbstractContextManager[Staged]:
        """Writes the tables; they get their names when the block ends well, and are gone otherwise.

        Raises OutputError.
        """


def write_release(
    release: Writable,
    places: Places,
    *,
    measurements: bytes | None = None,
    columns: Sequence[str] = (),
    key: Ed25519PrivateKey | None = None,
    progress: Progress = silent,
) -> Manifest:
    """Writes a release with its manifest; each file appears whole or not at all.

    The tables are whole before the manifest is written, since it names their digests, and get their names after it: a
    table never stands without the document that says what it promises.

    Args:
        release: the result of a run.
        places: where its files go.
        measurements: content of the file of released marginals.
        columns: of the tables, in their order; for the file for refits.
        key: signs the manifest.
        progress: receives the stages.

    Returns:
        The manifest as it was written.

    Raises:
        OutputError: a file cannot be written; then no manifest stays.
    """
    stated = False
    try:
        with release.staged(places, progress=progress) as whole:
            beside = [(measurements, places.measurements), (whole.model, places.model)]
            digests = {"measurements": _sha256(measurements), "model": _sha256(whole.model)}
            manifest = whole.manifest.written(whole.digests.model_copy(update=digests))
            if key is not None:
                manifest = manifest.signed(key)
            if places.release is not None and measurements is not None:
                from dpsyn_core.runs.release_file import pack_release

                beside.append((pack_release(manifest, measurements, columns), places.release))
            manifest.dump(places.manifest)
            stated = True
            for content, path in beside:
                if content is not None and path is not None:
                    write_bytes(path, content, private=not manifest.private)  # they hold the schema
    except OutputError:
        if stated:
            places.manifest.unlink(missing_ok=True)
        raise
    return manifest


def _sha256(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


@contextmanager
def staged_tables(
    tables: Sequence[Any], outs: Sequence[Path], declared: Mapping[str, DeclaredColumn] | None = None
) -> Iterator[Digests]:
    """Writes pyarrow tables, each to a separate file; the ending chooses the format. See `Writable.staged`.

    declared: of their columns, for formats with labels.
    """
    with ExitStack() as stack:
        whole = [stack.enter_context(staged_table(t, o, declared)) for t, o in zip(tables, outs, strict=True)]
        digests = [_table_digests(t, o, w) for t, o, w in zip(tables, outs, whole, strict=True)]
        yield Digests(**digests[0].model_dump(), tables=tuple(digests) if len(digests) > 1 else ())


@contextmanager
def staged_document(content: bytes, out: Path) -> Iterator[Digests]:
    """As `staged_tables`, for a release that is one document, such as the JSON of several marginals."""
    with replacing(out) as temporary:
        temporary.write_bytes(content)
        yield Digests(files={ending(out): hashlib.sha256(content).hexdigest()})


def _table_digests(table: Any, out: Path, written: Path) -> TableDigests:
    """Digests of a pyarrow table, and of the file that holds it already and will be called `out`."""
    content = content_digest(table)
    return TableDigests(content=content, excel=excel_digest(table, content), files={ending(out): file_digest(written)})


def numbered(out: Path, tables: int) -> list[Path]:
    """Where the tables of a release go: out.csv for one of them, out-1.csv, out-2.csv ... for several."""
    if tables == 1:
        return [out]
    name = out.name[: -len(ending(out)) - 1]
    return [out.with_name(f"{name}-{i}.{out.name[len(name) + 1 :]}") for i in range(1, tables + 1)]


def ending(path: Path) -> str:
    """The ending of a file's name as manifests list it, such as csv or csv.gz."""
    name = path.name.lower()
    return "csv.gz" if name.endswith(".csv.gz") else path.suffix.lower().lstrip(".")
