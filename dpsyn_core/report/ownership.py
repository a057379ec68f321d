"""Ownership: whether a file or a folder is a release's own, byte for byte, or only the table in it is the release's.

A workbook has room for other sheets, Parquet for key-value metadata, gzip for a comment, a folder for other files:
formats are too many to look for all of it. So nothing is looked for. A file is the release's where the SHA-256 of its
bytes stands in the manifest, and otherwise at most its table is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpsyn_core.errors import InputError
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.statement import PartDigests
from dpsyn_core.tables.digest import digests_of_file, file_digest


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """What a file is to a manifest.

    fault: why its table is not that of the manifest; empty when it is. more: why the file is nevertheless not the
    release's; empty when every byte of it is.
    """

    fault: str = ""
    more: str = ""


def ownership(table: Path, found: Manifest) -> Ownership:
    """Holds a file, or the folder of a table in parts, against the digests of a manifest."""
    if found.digests is None:
        said = "the manifest names no digest of a table (an earlier version wrote it), so that nothing ties one to it"
        return Ownership(fault=said)
    if found.digests.parts:
        return _of_parts(table, found.digests.parts)
    every = (found.digests, *found.digests.tables)
    try:
        if file_digest(table) in {f for d in every for f in d.files.values()}:
            return Ownership()
        content, excel = ("", False) if table.suffix.lower() == ".json" else digests_of_file(table)
    except InputError as error:
        return Ownership(fault=str(error))
    if content not in {d.excel if excel else d.content for d in every}:
        said = "is not the table of this manifest: it was edited after the run, or swapped for another"
        return Ownership(fault=f"'{table.name}' {said}")
    if not any(d.files for d in every):
        return Ownership(more=f"the manifest names no digest of a file, so that '{table.name}' {_MAY}")
    return Ownership(more=_another(table))


_MAY = "may hold more than the table (another sheet, metadata, a comment)"


def _another(file: Path) -> str:
    return f"'{file.name}' is not the file that was written: it {_MAY}"


def _of_parts(folder: Path, parts: Sequence[PartDigests]) -> Ownership:
    """A folder, whose entries are to be the parts and nothing else; or one part by itself, whichever it is."""
    by_name = {p.name: p for p in parts}
    if not folder.is_dir():
        return _of_part(folder, parts)
    there = {f.name for f in folder.iterdir()}
    # whoever reads the folder as a table leaves these out, and whoever gets it has them all the same
    unread = sorted(name for name in there if name.startswith((".", "_")))
    lacking, beside = sorted(set(by_name) - there), sorted(there - set(by_name) - set(unread))
    if lacking or beside:
        what = f"lacks '{lacking[0]}'" if lacking else f"holds '{beside[0]}', which is no part of it"
        return Ownership(fault=f"'{folder.name}' is not the table of this manifest: it {what}")
    every = [_of_part(folder / name, [part]) for name, part in by_name.items()]
    fault = next((o.fault for o in every if o.fault), "")
    if fault or not unread:
        return Ownership(fault=fault, more=next((o.more for o in every if o.more), ""))
    return Ownership(more=f"'{folder.name}' also holds '{unread[0]}', which the release did not write")


def _of_part(file: Path, parts: Sequence[PartDigests]) -> Ownership:
    try:
        own = file_digest(file) in {p.file for p in parts}
        same = own or digests_of_file(file)[0] in {p.content for p in parts}
    except InputError as error:
        return Ownership(fault=str(error))
    if not same:
        said = "is no part of the table of this manifest: it was edited after the run, or swapped"
        return Ownership(fault=f"'{file.name}' {said}")
    if file.is_symlink():
        return Ownership(more=f"'{file.name}' is a link to another place, and no file of the release")
    return Ownership() if own else Ownership(more=_another(file))
