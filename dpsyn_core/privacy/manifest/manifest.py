"""Manifest: the guarantee, charges and settings of a release; a document that travels with the table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dpsyn_core.errors import EngineError, InputError
from dpsyn_core.files import fields_once, unfit_text
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.manifest.statement import (
    MOST_LISTED,
    OWNERS_WORD,
    Booking,
    Digests,
    PublicFacts,
    Refit,
    Signature,
    Statement,
    guarantee,
)
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.version import __version__

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class Manifest(Statement):
    """Frozen; JSON both ways; every number can be recomputed from `charges`."""

    @classmethod
    def build(
        cls,
        *,
        budget: Budget,
        unit: Unit,
        charges: Sequence[Charge],
        method: str,
        settings: Mapping[str, Any],
        n_records: int,
        booking: Booking,
        facts: PublicFacts,
        seed: int | None,
        seconds: float,
        refit: Refit | None = None,
    ) -> Manifest:
        """The manifest of a finished run without declared questions.

        Args:
            budget: what the run promised; the charges are recomposed and must lie within it.
            unit: whom it protects.
            charges: the account's, in the order in which they were booked; of very many, those that are equal stand
                together inside each step.
            method: name of the system, with its `settings`.
            n_records: records of the output.
            booking: the reservation on the ledger.
            facts: where all that the run took for public comes from.
            seed: of post-processing, when the user gave one or one was drawn.
            seconds: wall time of what follows the last count; earlier steps take a time that depends on the table.
            refit: of tables that others published.

        Raises:
            EngineError: the charges do not lie within the budget, or are not accounted for this unit: a fault of
                ours, and the table must not leave.
        """
        whole = compose(charges)
        if not whole.within(budget.epsilon, budget.delta):
            msg = f"the charges of this run of {method} are not covered by its budget; the table is withheld"
            raise EngineError(msg)
        meant = (unit.max_records, unit.neighbours == "replace")
        if any(c.mechanism == "sampled-gaussian" and (c.records, c.exchanged) != meant for c in charges):
            msg = f"{method} released noise on samples that is accounted for another unit of privacy; table withheld"
            raise EngineError(msg)
        why = tuple(dict.fromkeys(facts.reasons))
        booked, paid_earlier = (tuple(ChargeRecord.of(c) for c in some) for some in (charges, facts.bought))
        columns: tuple[str, ...] = ()
        if len(booked) + len(paid_earlier) > MOST_LISTED:
            from dpsyn_core.privacy.ledger.grouping import columns_of, in_groups

            columns = columns_of((*booked, *paid_earlier))
            booked = tuple(chain.from_iterable(in_groups(booked, columns)))
            paid_earlier = tuple(chain.from_iterable(in_groups(paid_earlier, columns)))
        return cls(
            version=3,
            private=not why,
            not_private_because=why,
            guarantee=guarantee(
                budget,
                unit,
                private=not why,
                noisy=bool(charges),
                hanging=facts.hanging,
                by=None if refit is None else refit.by,
            ),
            refit=refit,
            epsilon=budget.epsilon,
            delta=budget.delta,
            mu=whole.mu,
            rho=whole.zcdp,
            neighbours=unit.neighbours,
            max_records=unit.max_records,
            identifier=unit.identifier,
            hanging=facts.hanging,
            dataset=booking.dataset,
            run_id=booking.run_id,
            ledger_chain=booking.chain,
            schema_name=facts.name,
            schema_hash=facts.digest,
            method=method,
            settings=json.loads(json.dumps(dict(settings))),
            query=OWNERS_WORD if facts.query_vouched else None,
            public_table=facts.public_table,
            rules=facts.rules,
            n_records=n_records,
            columns=columns,
            charges=booked,
            bought=paid_earlier,
            seed=seed,
            versions=package_versions(),
            seconds=round(seconds, 1),
        )

    def dump(self, path: Path) -> None:
        """Writes the JSON atomically. Raises OutputError when it cannot be written."""
        from dpsyn_core.files import write_text

        write_text(path, self.to_json())

    def to_json(self) -> str:
        """Indented JSON."""
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def written(self, digests: Digests) -> Manifest:
        """The manifest of what was written with it; what was signed before is not signed any more."""
        return self.model_copy(update={"digests": digests, "signature": None})

    def written_too(self, files: Mapping[str, str], each: Sequence[str] = ()) -> Manifest:
        """Names more files of the same table, by their endings, with the SHA-256 of each.

        Only for files that this program wrote from the cells of the table. A signature would not fit any more, so that
        a signed manifest is refused.

        Args:
            files: SHA-256 by ending.
            each: of the CSV file of every table, where one release was written as several.

        Raises:
            EngineError: the manifest is signed, or names no table.
        """
        if self.signature is not None or self.digests is None:
            msg = "a manifest that is signed, or names no table, takes no more digests; write it with the table"
            raise EngineError(msg)
        tables = tuple(
            table.model_copy(update={"files": {**table.files, "csv": own}})
            for table, own in zip(self.digests.tables, each if self.digests.tables else (), strict=True)
        )
        changed = {"files": {**self.digests.files, **files}, "tables": tables}
        return self.written(self.digests.model_copy(update=changed))

    def signed(self, key: Ed25519PrivateKey) -> Manifest:
        """The manifest with an owner's signature over all the rest.

        Raises:
            InputError: the manifest contradicts itself: an owner would stand behind numbers that cannot be. Or a text
                or a number in it has no canonical form, so that nobody could check the signature.
        """
        faults = (*self.faults(), *self.promise_faults())
        if faults:
            msg = f"the manifest is not signed, for it contradicts itself: {'; '.join(faults)}"
            raise InputError(msg)
        from dpsyn_core.privacy.manifest.signing import sign

        try:
            signature = sign(self.model_dump(mode="json"), key)
        except ValueError as error:
            msg = (
                f"the manifest is not signed, for it has no canonical form ({error}); change what is named in its "
                "settings, names or questions"
            )
            raise InputError(msg) from error
        return self.model_copy(update={"signature": Signature.model_validate(signature)})

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Reads a manifest. Raises InputError that names the field that is wrong, or says what does not add up."""
        return cls.read(path)[0]

    @classmethod
    def read(cls, path: Path) -> tuple[Manifest, dict[str, Any]]:
        """As `load`, with the document as it stands in the file, which a signature is over."""
        try:
            return cls.parse(path.read_bytes(), path.name)
        except OSError as error:
            msg = f"cannot read the manifest '{path.name}': {error.strerror}"
            raise InputError(msg) from error

    @classmethod
    def parse(cls, content: bytes, name: str) -> tuple[Manifest, dict[str, Any]]:
        """As `read`, of the content of a file of this name."""
        try:
            document = json.loads(content, object_pairs_hook=fields_once)
            if unfit := unfit_text(document):
                msg = f"the manifest '{name}' holds {unfit}"
                raise InputError(msg)
            manifest = cls.model_validate(document)
        except InputError:
            raise
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(p) for p in first["loc"]) or "the document"
            msg = f"'{name}' is no manifest of version 1, 2 or 3: {where}: {first['msg']}"
            raise InputError(msg) from error
        except (ValueError, RecursionError) as error:
            msg = f"'{name}' is no manifest of version 1, 2 or 3: the document is not JSON with each field once"
            raise InputError(msg) from error
        faults = manifest.faults()
        if faults:
            msg = f"the manifest '{name}' does not add up: {'; '.join(faults)}; get it again from whoever made it"
            raise InputError(msg)
        return manifest, document

    def certificate(self) -> str:
        """The manifest as a text that a person can read, in English."""
        from dpsyn_core.privacy.manifest.certificates import certificate  # no run needs it

        return certificate(self)


def package_versions() -> dict[str, str]:
    """Versions of the packages that a release depends on, from installed metadata, and the system that it ran on."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from dpsyn_core.platforms import line

    versions = {"dpsyn-studio": __version__, "system": line(), "python": platform.python_version()}
    for name in ("numpy", "numba", "scipy", "cryptography", "pyarrow", "dp-accounting"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue  # an optional package that is not installed took no part
    return versions
