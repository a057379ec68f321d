"""Receipts: the result of checking a release, and who owns its files.

Ownership: whether a file or a folder belongs to a release, byte for byte, or only the table in it is the release's.

A workbook has room for other sheets, Parquet for key-value metadata, gzip for a comment, a folder for other files:
formats are too many to look for all of it. So nothing is looked for. A file is the release's where the SHA-256 of its
bytes stands in the manifest, and otherwise at most its table is.

Receipts: whether a table, its manifest and what was written with them are those of one release. Needs no ledger.

This is the only rule by which anything is called safe to publish: `dpsyn verify`, `dpsyn report -`, the app's
Publishable tab and its exports all ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import InputError, ReceiptError
from dpsyn_core.estimate import ReleasedFile, load_released
from dpsyn_core.privacy import NOT_PRIVATE, Manifest, PartDigests, fingerprint, signature_holds
from dpsyn_core.runs.verify.contradictions import contradictions, items_fault, schema_fault
from dpsyn_core.tables import digests_of_file, file_digest

if TYPE_CHECKING:
    from dpsyn_core.schema import Schema


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
        reason = "the manifest names no digest of a table (an earlier version wrote it), so that nothing ties one to it"
        return Ownership(fault=reason)
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
        reason = "is not the table of this manifest: it was edited after the run, or swapped for another"
        return Ownership(fault=f"'{table.name}' {reason}")
    if not any(d.files for d in every):
        return Ownership(more=f"the manifest names no digest of a file, so that '{table.name}' {_MAY}")
    return Ownership(more=_another(table))


PUBLIC_TABLE = "that the public table is public is the owner's word"
_SCHEMA = "what one individual may change in its charges follows from the schema of its tables, which was not given"
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
        identical = file_digest(file) in {p.file for p in parts}
        same = identical or digests_of_file(file)[0] in {p.content for p in parts}
    except InputError as error:
        return Ownership(fault=str(error))
    if not same:
        reason = "is no part of the table of this manifest: it was edited after the run, or swapped"
        return Ownership(fault=f"'{file.name}' {reason}")
    if file.is_symlink():
        return Ownership(more=f"'{file.name}' is a link to another place, and no file of the release")
    return Ownership() if identical else Ownership(more=_another(file))


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """The result of a check. sentence: for people. manifest: None where there is none that can be read and adds up.

    holds: everything that was asked fits together. own: the file is the release's byte for byte, and not another one
    with its table in it; of linked tables, with their schema at hand. key: fingerprint of the key that signed, None
    where unsigned.
    """

    holds: bool
    sentence: str
    own: bool = False
    manifest: Manifest | None = None
    key: str | None = None

    @property
    def publishable(self) -> bool:
        """Whether the file may be called safe to publish."""
        return self.holds and self.own and self.manifest is not None and self.manifest.private and not self.vouched

    @property
    def vouched(self) -> bool:
        """Whether the promise rests on an owner's word that nobody can check: for the query behind the records."""
        return self.manifest is not None and self.manifest.query is not None

    @property
    def public_table(self) -> bool:
        """Whether the run used a table that is public by its owner's word alone."""
        return self.manifest is not None and self.manifest.public_table is not None


def receipt(
    table: Path,
    manifest: Path,
    *,
    measurements: Path | None = None,
    schema: Schema | None = None,
    signer: str | None = None,
) -> Receipt:
    """Holds a table, and what else is given, against a manifest.

    Args:
        table: the file of a synthetic table, in any format that we write.
        manifest: the file of its manifest.
        measurements: the file of released marginals.
        schema: with which the table is read.
        signer: the public key that must have signed, hex; None: any key, or none.
    """
    try:
        manifest_read, document = Manifest.read(manifest)
    except InputError as error:
        return Receipt(holds=False, sentence=f"nothing holds: {error}")
    file = ownership(table, manifest_read)
    faults = [file.fault, *_agreement(manifest_read, measurements=measurements, schema=schema)]
    faults += manifest_faults(manifest_read, document)
    more = file.more or (_SCHEMA if manifest_read.hanging and schema is None else "")
    key = None if manifest_read.signature is None else fingerprint(manifest_read.signature.key)
    if signer is not None and (manifest_read.signature is None or manifest_read.signature.key != signer):
        faults.append(f"it is not signed by the key {fingerprint(signer)}")
    wrong = [f for f in faults if f]
    if wrong:
        return Receipt(holds=False, sentence="; ".join(wrong), manifest=manifest_read, key=key)
    sentence = _said(table, manifest_read, key, more)
    return Receipt(holds=True, sentence=sentence, own=not more, manifest=manifest_read, key=key)


def signing_faults(
    found: Manifest,
    *,
    schema: Schema | None = None,
    items: Sequence[str] | None = None,
    measurements: Path | None = None,
    table: Path | None = None,
) -> list[str]:
    """Why nobody should sign a manifest; none where all that is at hand agrees with it. See `receipt`.

    items: of a release of itemsets, in place of a schema.
    """
    faults = [*found.promise_faults(), *_agreement(found, measurements=measurements, schema=schema)]
    if items is not None:
        faults.append(items_fault(found, items))
    if table is not None:
        file = ownership(table, found)
        faults += [file.fault, file.more]
    return [f for f in faults if f]


def _agreement(found: Manifest, *, measurements: Path | None, schema: Schema | None) -> list[str]:
    """What schema, released marginals and method say against a manifest; some may be empty."""
    faults, released = [], None
    if measurements is not None:
        released, fault = _released(measurements, found, schema)
        faults.append(fault)
    if schema is not None:
        faults.append(schema_fault(found, schema))
    if any(faults):  # another run's schema or marginals would contradict everything
        return [*faults, *contradictions(found)]
    described = schema if released is None else released.schema
    return contradictions(found, schema=described, measurements=released)


def run_of(measurements: Path, manifest: Path, schema: Schema) -> Manifest:
    """The manifest of the run that released these marginals. Raises ReceiptError where they are not of one run."""
    manifest_read, document = Manifest.read(manifest)
    agreement = _agreement(manifest_read, measurements=measurements, schema=schema)
    faults = [*manifest_faults(manifest_read, document), *agreement]
    wrong = [f for f in faults if f]
    if wrong:
        raise ReceiptError("; ".join(wrong))
    return manifest_read


def manifest_faults(found: Manifest, document: dict[str, Any]) -> list[str]:
    """What a manifest that was read and adds up says against itself: its promise, or its signature."""
    faults = list(found.promise_faults())
    if found.signature is not None and not signature_holds(document):
        faults.append("the signature does not fit: manifest or signature were changed after signing")
    return faults


def _said(table: Path, found: Manifest, key: str | None, more: str) -> str:
    promise = f"{found.recomputed_epsilon():.4g} of the epsilon {found.epsilon:g} it promises at delta {found.delta:g}"
    second = found.second_epsilon()
    if second is not None:
        promise += f" ({second:.4g} by Renyi accounting, a second and coarser bound)"
    who = f"signed by the key {key}" if key else "unsigned"
    several = 0 if found.digests is None else len(found.digests.tables)
    parts = 0 if found.digests is None else len(found.digests.parts)
    which = f"one of the {several} tables" if several else "the table"
    if parts:
        which = f"the table ({parts} part{'s' * (parts > 1)})" if table.is_dir() else "one part"
    charged = f"whose charges add up to {promise}" if found.charges else "of a run that added no noise"
    if found.refit is not None and found.refit.by is not None:
        charged = f"made of tables of {found.refit.by}"
    sentence = f"'{table.name}' {'holds' if more else 'is'} {which} of this manifest, {charged}; {who}"
    if found.refit is not None:
        sentence += "; it was made again from the release of that run, for nothing" if found.refit.by is None else ""
    if not found.private:
        sentence = f"{NOT_PRIVATE}: {sentence}, and {'; '.join(found.not_private_because)}"
    if more:
        return f"{sentence}; {more}, and is not called safe to publish"
    sentence += "; byte for byte as it was written"
    public = "" if found.public_table is None else f"; {PUBLIC_TABLE}"
    if found.query:
        sentence += f"; that its query reads each record by itself is the {found.query}, on which its promise rests"
        return f"{sentence}, so that it is not called safe to publish{public}"
    return (f"{sentence}, and safe to publish" if found.private else sentence) + public


def _released(path: Path, found: Manifest, schema: Schema | None) -> tuple[ReleasedFile | None, str]:
    """The released marginals of a file, or why they are not those of the manifest."""
    stated = None if found.digests is None else found.digests.measurements
    if stated is None:
        return None, "the manifest names no released marginals"
    try:
        if file_digest(path) != stated:
            return None, f"'{path.name}' does not hold the marginals that were released with this manifest"
        stored = load_released(path, schema if schema is None or schema.version == 1 else None)
    except InputError as error:
        return None, str(error)
    return stored, schema_fault(found, stored.schema)
