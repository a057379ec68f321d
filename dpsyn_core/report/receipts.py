"""Receipts: whether a table, its manifest and what was written with them are those of one release. Needs no ledger.

This is the only rule by which anything is called safe to publish: `dpsyn verify`, `dpsyn report -`, the app's
Publishable tab and its exports all ask here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import InputError, ReceiptError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.signing import fingerprint, signature_holds
from dpsyn_core.privacy.statement import NOT_PRIVATE, PartDigests, guarantee
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.tables.digest import digests_of_file, file_digest

if TYPE_CHECKING:
    from dpsyn_core.schema.document import Schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What was found. sentence: for people. manifest: None where there is none that can be read and adds up.

    holds: everything that was asked fits together. key: fingerprint of the key that signed, None where unsigned.
    """

    holds: bool
    sentence: str
    manifest: Manifest | None = None
    key: str | None = None

    @property
    def publishable(self) -> bool:
        """Whether the table may be called safe to publish."""
        return self.holds and self.manifest is not None and self.manifest.private


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
        found, document = Manifest.read(manifest)
    except InputError as error:
        return Receipt(holds=False, sentence=f"nothing holds: {error}")
    faults = [_table_fault(table, found)]
    if measurements is not None:
        faults.append(_measurements_fault(measurements, found))
    if schema is not None and hashlib.sha256(schema.dumps().encode()).hexdigest() != found.schema_hash:
        faults.append("the schema is not the one that the release was made with")
    faults += manifest_faults(found, document)
    key = None if found.signature is None else fingerprint(found.signature.key)
    if signer is not None and (found.signature is None or found.signature.key != signer):
        faults.append(f"it is not signed by the key {fingerprint(signer)}")
    wrong = [f for f in faults if f]
    if wrong:
        return Receipt(holds=False, sentence="; ".join(wrong), manifest=found, key=key)
    return Receipt(holds=True, sentence=_said(table, found, key), manifest=found, key=key)


def run_of(measurements: Path, manifest: Path, schema: Schema) -> Manifest:
    """The manifest of the run that released these marginals. Raises ReceiptError where they are not of one run."""
    found, document = Manifest.read(manifest)
    faults = [_measurements_fault(measurements, found), *manifest_faults(found, document)]
    if hashlib.sha256(schema.dumps().encode()).hexdigest() != found.schema_hash:
        faults.append("the schema is not the one that the release was made with")
    wrong = [f for f in faults if f]
    if wrong:
        raise ReceiptError("; ".join(wrong))
    return found


def manifest_faults(found: Manifest, document: dict[str, Any]) -> list[str]:
    """What a manifest that was read and adds up says against itself: its sentence, or its signature."""
    faults = []
    promise = guarantee(
        Budget(epsilon=found.epsilon, delta=found.delta),
        Unit.of(found),
        private=found.private,
        noisy=bool(found.charges),
    )
    if found.guarantee != promise:
        faults.append("the manifest's sentence of the guarantee is not what its numbers say")
    if found.signature is not None and not signature_holds(document):
        faults.append("the signature does not fit: manifest or signature were changed after signing")
    return faults


def _said(table: Path, found: Manifest, key: str | None) -> str:
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
    said = f"'{table.name}' is {which} of this manifest, {charged}; {who}"
    return said if found.private else f"{NOT_PRIVATE}: {said}, and {'; '.join(found.not_private_because)}"


def _table_fault(table: Path, found: Manifest) -> str:
    """Why the table is not that of the manifest; empty when it is."""
    if found.digests is None:
        return "the manifest names no digest of a table (an earlier version wrote it), so that nothing ties one to it"
    if found.digests.parts:
        return _parts_fault(table, found.digests.parts)
    every = (found.digests, *found.digests.tables)
    try:
        if file_digest(table) in {f for d in every for f in d.files.values()}:
            return ""
        content, excel = ("", False) if table.suffix.lower() == ".json" else digests_of_file(table)
    except InputError as error:
        return str(error)
    if content in {d.excel if excel else d.content for d in every}:
        return ""
    return f"'{table.name}' is not the table of this manifest: it was edited after the run, or swapped for another"


def _parts_fault(folder: Path, parts: Sequence[PartDigests]) -> str:
    """Why a folder is not that of the manifest, or a file none of its parts; empty when it is."""
    by_name = {p.name: p for p in parts}
    if not folder.is_dir():
        return _part_fault(folder, list(parts))
    there = {f.name for f in folder.iterdir() if not f.name.startswith((".", "_"))}
    lacking, beside = sorted(set(by_name) - there), sorted(there - set(by_name))
    if lacking or beside:
        what = f"lacks '{lacking[0]}'" if lacking else f"holds '{beside[0]}', which is no part of it"
        return f"'{folder.name}' is not the table of this manifest: it {what}"
    return next(filter(None, (_part_fault(folder / name, [part]) for name, part in by_name.items())), "")


def _part_fault(file: Path, parts: Sequence[PartDigests]) -> str:
    """Why a file is none of these parts; empty when it is one."""
    try:
        if file_digest(file) in {p.file for p in parts} or digests_of_file(file)[0] in {p.content for p in parts}:
            return ""
    except InputError as error:
        return str(error)
    return f"'{file.name}' is no part of the table of this manifest: it was edited after the run, or swapped"


def _measurements_fault(path: Path, found: Manifest) -> str:
    stated = None if found.digests is None else found.digests.measurements
    if stated is None:
        return "the manifest names no released marginals"
    try:
        same = file_digest(path) == stated
    except InputError as error:
        return str(error)
    return "" if same else f"'{path.name}' does not hold the marginals that were released with this manifest"
