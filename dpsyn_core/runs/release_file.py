"""Release files (`.dpsyn`): what a run released, in one file from which more tables follow at no privacy cost.

A zip archive without compression, which any zip tool opens: `release.json` (version, columns, digests of the others),
`manifest.json`, and `measurements.json.gz` with the schema and every released table. It holds what a run publishes and
nothing else. A file of somebody else is read without trust: no member is unpacked to disk, and sizes are checked first.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.errors import MethodError, OutputError, ReceiptError, SizeError
from dpsyn_core.estimate import parsed_document, read_released
from dpsyn_core.files import fields_once, unfit_text
from dpsyn_core.privacy import Manifest
from dpsyn_core.schema import Schema
from dpsyn_core.systems import MethodConfig

SUFFIX = ".dpsyn"
INDEX, MANIFEST, MEASUREMENTS = "release.json", "manifest.json", "measurements.json.gz"
MOST_BYTES = {INDEX: 1 << 24, MANIFEST: 1 << 28, MEASUREMENTS: 1 << 30}  # of the largest that a run writes, and more
FIRST_LOOK = 4 << 20  # bytes of packed tables up to which they are read for their schema alone
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # of a zip archive: the same release is the same file, whenever it is written


class Index(BaseModel):
    """What `release.json` says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(ge=1)
    columns: tuple[str, ...] = Field(description="Of the tables, in their order")
    sha256: dict[str, str] = Field(description="Of the other members, by their names")


def check_reusable(config: MethodConfig) -> None:
    """Refuses, before any charge, a run whose records cannot be synthesized again from tables. Raises MethodError."""
    why = config.no_marginals
    if config.trains:
        why = f"{config.name} makes records of a trained model; save that with --save-model, and use `dpsyn draw`"
    if why:
        msg = f"no release can be saved for refits: {why}"
        raise MethodError(msg)


def check_name(path: Path) -> None:
    """Raises OutputError for a name that does not end as release files do."""
    if path.suffix != SUFFIX:
        msg = f"the release '{path.name}' must end with {SUFFIX}"
        raise OutputError(msg)


def pack_release(manifest: Manifest, measurements: bytes, columns: Sequence[str]) -> bytes:
    """The content of the release file of a run.

    Args:
        manifest: as it was written, with the digest of the measurements.
        measurements: content of the file of released marginals, with the schema.
        columns: of the tables, in their order.
    """
    members = {MANIFEST: manifest.to_json().encode(), MEASUREMENTS: measurements}
    index = Index(version=1, columns=tuple(columns), sha256={n: _sha256(c) for n, c in members.items()})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {INDEX: index.model_dump_json(indent=2).encode(), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, FIRST_DAY), content)
    return out.getvalue()


class ReleaseFile(BaseModel):
    """A release file that was read, and holds together.

    document: the manifest as it stands in the file, which a signature is over. measurements: content of that member.
    sha256: of the file.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    manifest: Manifest
    document: dict[str, Any]
    released: Any
    measurements: bytes
    columns: tuple[str, ...]
    sha256: str


def load_release(path: Path) -> ReleaseFile:
    """Reads a release file.

    What the parts say about each other is checked here; what the method would have charged is
    `report.receipts.manifest_faults`' business.

    Raises:
        ReceiptError: it is something else, or its parts are not of one run.
        InputError: a part cannot be read, or is larger than a run writes.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"cannot read the release '{path.name}': {error.strerror}"
        raise ReceiptError(msg) from error
    parts = _members(content, path.name)
    manifest, document = Manifest.parse(parts[MANIFEST], path.name)
    released = _released(parts[MEASUREMENTS], path.name)
    stated = None if manifest.digests is None else manifest.digests.measurements
    if stated != _sha256(parts[MEASUREMENTS]):
        msg = f"'{path.name}' does not hold the tables that were released with its manifest"
        raise ReceiptError(msg)
    if _sha256(released.schema.dumps().encode()) != manifest.schema_hash:
        msg = f"the schema in '{path.name}' is not the one that its manifest names"
        raise ReceiptError(msg)
    index = _index(parts[INDEX], path.name)
    return ReleaseFile(
        manifest=manifest,
        document=document,
        released=released,
        measurements=parts[MEASUREMENTS],
        columns=index.columns,
        sha256=_sha256(content),
    )


def _released(content: bytes, name: str) -> Any:
    """The released tables: a `ReleasedFile` of one table, or a `TreeFile` of linked ones."""
    if "views" not in parsed_document(content, name):
        return read_released(content, name)
    from dpsyn_core.runs.trees.release_file import read_tree

    return read_tree(content, name)


def manifest_of(content: bytes, name: str) -> Manifest:
    """The manifest in a release file, for a first look; `load_release` reads the rest. Raises as that does."""
    return Manifest.parse(_members(content, name)[MANIFEST], name)[0]


def columns_in(content: bytes, name: str) -> tuple[str, ...]:
    """The columns of a release file, as `manifest_of`."""
    return _index(_members(content, name)[INDEX], name).columns


def schema_in(content: bytes, name: str) -> Schema | None:
    """The schema in a release file, as `manifest_of`; None where its tables are too many for a first look."""
    measured = _members(content, name)[MEASUREMENTS]
    return _released(measured, name).schema if len(measured) <= FIRST_LOOK else None


def _members(content: bytes, name: str) -> dict[str, bytes]:
    """The members of a release file, whose digests hold; nothing is read that is larger than it may be."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            if sorted(i.filename for i in listed) != sorted(MOST_BYTES):
                raise _unfit(name, f"it holds other files than {', '.join(MOST_BYTES)}")
            if any(i.compress_type != zipfile.ZIP_STORED or i.file_size != i.compress_size for i in listed):
                raise _unfit(name, "its members are compressed once more")
            for i in listed:
                if i.file_size > MOST_BYTES[i.filename]:
                    msg = f"'{i.filename}' of '{name}' has {i.file_size >> 20} MB, more than a run writes"
                    raise SizeError(msg)
            parts = {i.filename: archive.read(i) for i in listed}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        if isinstance(error, ReceiptError | SizeError):
            raise
        raise _unfit(name, "it is no zip archive, or a damaged one") from error
    digest = _index(parts[INDEX], name).sha256
    if digest != {n: _sha256(c) for n, c in parts.items() if n != INDEX}:
        raise _unfit(name, "a part of it was changed after it was written")
    return parts


def _index(content: bytes, name: str) -> Index:
    try:
        document = json.loads(content, object_pairs_hook=fields_once)
        if unfit := unfit_text(document):
            raise _unfit(name, f"its {INDEX} holds {unfit}")
        index = Index.model_validate(document)
    except ReceiptError:
        raise
    except (ValueError, RecursionError) as error:
        raise _unfit(name, f"its {INDEX} does not say what a release file says") from error
    if index.version != 1:
        raise _unfit(name, f"it is of version {index.version}, and this program reads version 1")
    return index


def _unfit(name: str, why: str) -> ReceiptError:
    msg = f"'{name}' is no release file of `dpsyn synth --save-release`: {why}"
    return ReceiptError(msg)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
