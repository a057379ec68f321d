"""Receipts: whether a table, its manifest and what was written with them are those of one release. Needs no ledger.

This is the only rule by which anything is called safe to publish: `dpsyn verify`, `dpsyn report -`, the app's
Publishable tab and its exports all ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import InputError, ReceiptError
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.signing import fingerprint, signature_holds
from dpsyn_core.privacy.statement import NOT_PRIVATE
from dpsyn_core.report.contradictions import contradictions, items_fault, schema_fault
from dpsyn_core.report.ownership import ownership
from dpsyn_core.report.released import ReleasedFile, load_released
from dpsyn_core.tables.digest import file_digest

if TYPE_CHECKING:
    from dpsyn_core.schema.document import Schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What was found. sentence: for people. manifest: None where there is none that can be read and adds up.

    holds: everything that was asked fits together. own: the file is the release's byte for byte, and not another one
    with its table in it. key: fingerprint of the key that signed, None where unsigned.
    """

    holds: bool
    sentence: str
    own: bool = False
    manifest: Manifest | None = None
    key: str | None = None

    @property
    def publishable(self) -> bool:
        """Whether the file may be called safe to publish."""
        return self.holds and self.own and self.manifest is not None and self.manifest.private


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
    file = ownership(table, found)
    faults = [file.fault, *_agreement(found, measurements=measurements, schema=schema)]
    faults += manifest_faults(found, document)
    key = None if found.signature is None else fingerprint(found.signature.key)
    if signer is not None and (found.signature is None or found.signature.key != signer):
        faults.append(f"it is not signed by the key {fingerprint(signer)}")
    wrong = [f for f in faults if f]
    if wrong:
        return Receipt(holds=False, sentence="; ".join(wrong), manifest=found, key=key)
    said = _said(table, found, key, file.more)
    return Receipt(holds=True, sentence=said, own=not file.more, manifest=found, key=key)


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
    known = schema if released is None else released.schema
    return contradictions(found, schema=known, measurements=released)


def run_of(measurements: Path, manifest: Path, schema: Schema) -> Manifest:
    """The manifest of the run that released these marginals. Raises ReceiptError where they are not of one run."""
    found, document = Manifest.read(manifest)
    agreement = _agreement(found, measurements=measurements, schema=schema)
    faults = [*manifest_faults(found, document), *agreement]
    wrong = [f for f in faults if f]
    if wrong:
        raise ReceiptError("; ".join(wrong))
    return found


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
    said = f"'{table.name}' {'holds' if more else 'is'} {which} of this manifest, {charged}; {who}"
    if found.query:
        said += "; that its query reads each record by itself is the owner's word"
    if not found.private:
        said = f"{NOT_PRIVATE}: {said}, and {'; '.join(found.not_private_because)}"
    if more:
        return f"{said}; {more}, and is not called safe to publish"
    return f"{said}; byte for byte as it was written{', and safe to publish' if found.private else ''}"


def _released(path: Path, found: Manifest, schema: Schema | None) -> tuple[ReleasedFile | None, str]:
    """The released marginals of a file, or why they are not those of the manifest."""
    stated = None if found.digests is None else found.digests.measurements
    if stated is None:
        return None, "the manifest names no released marginals"
    try:
        if file_digest(path) != stated:
            return None, f"'{path.name}' does not hold the marginals that were released with this manifest"
        stored = load_released(path, schema)
    except InputError as error:
        return None, str(error)
    return stored, schema_fault(found, stored.schema)
