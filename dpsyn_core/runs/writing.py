"""Writes a release: the table, and the manifest that names its digests; neither stands without the other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import OutputError
from dpsyn_core.files import write_bytes
from dpsyn_core.privacy.statement import Digests, TableDigests
from dpsyn_core.tables.digest import content_digest, excel_digest, file_digest
from dpsyn_core.tables.write import staged_table

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from dpsyn_core.privacy.manifest import Manifest


def write_release(
    manifest: Manifest,
    table: Any,
    out: Path,
    manifest_path: Path,
    *,
    measurements: bytes | None = None,
    measurements_path: Path | None = None,
    key: Ed25519PrivateKey | None = None,
) -> Manifest:
    """Writes table, manifest and released marginals; each file appears whole or not at all.

    The table is whole before its manifest is written, and gets its name after it: a table never stands without the
    document that says what it promises.

    Args:
        manifest: of the release.
        table: pyarrow; the ending of `out` chooses the format.
        out: of the table.
        manifest_path: of the manifest.
        measurements: the file of released marginals, with its `measurements_path`.
        measurements_path: where that goes.
        key: signs the manifest.

    Raises:
        OutputError: a file cannot be written; then no manifest stays.
    """
    return write_tables(
        manifest, [table], [out], manifest_path, measurements=measurements, measurements_path=measurements_path, key=key
    )


def write_tables(
    manifest: Manifest,
    tables: Sequence[Any],
    outs: Sequence[Path],
    manifest_path: Path,
    *,
    measurements: bytes | None = None,
    measurements_path: Path | None = None,
    model: bytes | None = None,
    model_path: Path | None = None,
    key: Ed25519PrivateKey | None = None,
) -> Manifest:
    """As `write_release`, for the several tables of one release, each to its own place; at least one.

    model: the file of a trained model, named in the manifest, and written where there is a `model_path`.
    """
    final: Manifest | None = None
    try:
        with ExitStack() as stack:
            whole = [stack.enter_context(staged_table(t, o)) for t, o in zip(tables, outs, strict=True)]
            found = [table_digests(t, o, w) for t, o, w in zip(tables, outs, whole, strict=True)]
            digests = Digests(
                **found[0].model_dump(),
                tables=tuple(found) if len(found) > 1 else (),
                measurements=None if measurements is None else hashlib.sha256(measurements).hexdigest(),
                model=None if model is None else hashlib.sha256(model).hexdigest(),
            )
            final = stated(manifest, digests, manifest_path, key)
            if measurements is not None and measurements_path is not None:
                write_bytes(measurements_path, measurements)
            if model is not None and model_path is not None:
                write_bytes(model_path, model)
    except OutputError:
        if final is not None:
            manifest_path.unlink(missing_ok=True)
        raise
    return final


def table_digests(table: Any, out: Path, written: Path) -> TableDigests:
    """Digests of a pyarrow table, and of the file that holds it already and will be called `out`."""
    content = content_digest(table)
    return TableDigests(content=content, excel=excel_digest(table, content), files={ending(out): file_digest(written)})


def numbered(out: Path, tables: int) -> list[Path]:
    """Where the tables of a release go: out.csv for one of them, out-1.csv, out-2.csv ... for several."""
    if tables == 1:
        return [out]
    name = out.name[: -len(ending(out)) - 1]
    return [out.with_name(f"{name}-{i}.{out.name[len(name) + 1 :]}") for i in range(1, tables + 1)]


def write_document(
    manifest: Manifest,
    content: bytes,
    out: Path,
    manifest_path: Path,
    *,
    measurements: bytes | None = None,
    measurements_path: Path | None = None,
    key: Ed25519PrivateKey | None = None,
) -> Manifest:
    """As `write_release`, for a release that is one document, such as the JSON of several marginals."""
    digests = Digests(
        files={ending(out): hashlib.sha256(content).hexdigest()},
        measurements=None if measurements is None else hashlib.sha256(measurements).hexdigest(),
    )
    final = stated(manifest, digests, manifest_path, key)
    try:
        if measurements is not None and measurements_path is not None:
            write_bytes(measurements_path, measurements)
        write_bytes(out, content)
    except OutputError:
        manifest_path.unlink(missing_ok=True)
        raise
    return final


def stated(manifest: Manifest, digests: Digests, path: Path, key: Ed25519PrivateKey | None) -> Manifest:
    """Writes the manifest with what was written, signed where there is a key."""
    final = manifest.written(digests)
    final = final if key is None else final.signed(key)
    final.dump(path)
    return final


def ending(path: Path) -> str:
    """The ending of a file's name as manifests list it, such as csv or csv.gz."""
    name = path.name.lower()
    return "csv.gz" if name.endswith(".csv.gz") else path.suffix.lower().lstrip(".")
