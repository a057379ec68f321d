"""Manifest: what a release promises, what it spent, and how it was made; a document that travels with the table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dpsyn_core.errors import EngineError, InputError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.certificate import certificate
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.composition import compose
from dpsyn_core.privacy.statement import ChargeRecord, Statement, guarantee
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.version import __version__


class Manifest(Statement):
    """Version 1. Frozen; JSON both ways; every number can be recomputed from `charges`."""

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
        dataset: str,
        run_id: str,
        schema_name: str,
        schema_hash: str,
        seed: int | None,
        seconds: float,
        versions: Mapping[str, str] | None = None,
        reasons: Iterable[str] = (),
        bought: Iterable[Charge] = (),
        ledger_chain: str | None = None,
    ) -> Manifest:
        """The manifest of a finished run.

        Args:
            budget: what the run promised; the charges are recomposed and must lie within it.
            unit: whom it protects.
            charges: the account's, in the order in which they were booked.
            method: name of the system, with its `settings`.
            n_records: records of the output.
            dataset: name on the ledger, with the `run_id` of the reservation.
            schema_name: name of the schema, with the `schema_hash` of its text.
            seed: of post-processing, when the user gave one or one was drawn.
            seconds: wall time of what follows the last count; earlier steps take a time that depends on the table.
            versions: of the packages that took part; default `package_versions()`.
            reasons: why the release is NOT PRIVATE; empty when it is.
            bought: charges of earlier runs that bought parts of the schema.
            ledger_chain: hash of the ledger's entry.

        Raises:
            EngineError: the charges do not lie within the budget, or are not accounted for this unit: a fault of
                ours, and the table must not leave.
        """
        whole = compose(charges)
        if not whole.within(budget.epsilon, budget.delta):
            msg = f"the charges of this run of {method} are not covered by its budget; the table is withheld"
            raise EngineError(msg)
        if unit.neighbours != "add-remove" and any(c.mechanism == "sampled-gaussian" for c in charges):
            msg = f"{method} released sampled noise under replace neighbours, which is not accounted; table withheld"
            raise EngineError(msg)
        why = tuple(dict.fromkeys(reasons))
        return cls(
            private=not why,
            not_private_because=why,
            guarantee=guarantee(budget, unit, private=not why),
            epsilon=budget.epsilon,
            delta=budget.delta,
            mu=whole.mu,
            rho=whole.zcdp,
            neighbours=unit.neighbours,
            max_records=unit.max_records,
            identifier=unit.identifier,
            dataset=dataset,
            run_id=run_id,
            ledger_chain=ledger_chain,
            schema_name=schema_name,
            schema_hash=schema_hash,
            method=method,
            settings=json.loads(json.dumps(dict(settings))),
            n_records=n_records,
            charges=tuple(ChargeRecord.of(c) for c in charges),
            bought=tuple(ChargeRecord.of(c) for c in bought),
            seed=seed,
            versions=dict(package_versions() if versions is None else versions),
            seconds=round(seconds, 1),
        )

    def dump(self, path: Path) -> None:
        """Writes the JSON atomically. Raises OutputError when it cannot be written."""
        from dpsyn_core.files import write_text

        write_text(path, self.to_json())

    def to_json(self) -> str:
        """Indented JSON."""
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Reads a manifest. Raises InputError that names the field that is wrong."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            msg = f"cannot read the manifest '{path.name}': {error.strerror}"
            raise InputError(msg) from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(p) for p in first["loc"]) or "the document"
            msg = f"'{path.name}' is no manifest of version 1: {where}: {first['msg']}"
            raise InputError(msg) from error

    def certificate(self) -> str:
        """The manifest as a text that a person can read."""
        return certificate(self)


def package_versions() -> dict[str, str]:
    """Versions of the packages that a release depends on, from installed metadata."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"dpsyn-studio": __version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "scipy", "cryptography", "pyarrow", "dp-accounting"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # an optional package that is not installed took no part
    return found
