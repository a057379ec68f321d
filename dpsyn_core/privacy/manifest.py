"""Manifest: what a release promises, what it spent, and how it was made; a document that travels with the table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dpsyn_core.errors import EngineError, InputError
from dpsyn_core.privacy.accountant import compose
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge, Mechanism
from dpsyn_core.privacy.unit import Neighbours, Unit

NOT_PRIVATE = "NOT PRIVATE"
_SIGMA = {"gaussian", "sampled-gaussian"}


class ChargeRecord(BaseModel):
    """One private access. `sigma` for Gaussian noise, `scale` (b, or a prior count) for the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    mechanism: Mechanism
    sensitivity: float = Field(ge=0, allow_inf_nan=False)
    sigma: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    scale: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cells: int = Field(ge=0)
    rho: float = Field(ge=0, allow_inf_nan=False)
    epsilon: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    delta: float = Field(default=0.0, ge=0, lt=1)
    sampling: float = Field(default=1.0, gt=0, le=1)
    steps: int = Field(default=1, ge=1)

    @classmethod
    def of(cls, charge: Charge) -> ChargeRecord:
        """The record of a charge."""
        gaussian = charge.mechanism in _SIGMA or (charge.mechanism == "partition-selection" and charge.epsilon == 0)
        return cls(
            name=charge.name,
            mechanism=charge.mechanism,
            sensitivity=charge.sensitivity,
            sigma=charge.scale if gaussian else None,
            scale=None if gaussian else charge.scale,
            cells=charge.cells,
            rho=charge.rho,
            epsilon=charge.epsilon,
            delta=charge.delta,
            sampling=charge.sampling,
            steps=charge.steps,
        )

    def charge(self) -> Charge:
        """Back to the value that the accountant composes."""
        return Charge(
            name=self.name,
            mechanism=self.mechanism,
            sensitivity=self.sensitivity,
            scale=(self.scale or 0.0) if self.sigma is None else self.sigma,
            cells=self.cells,
            rho=self.rho,
            epsilon=self.epsilon,
            delta=self.delta,
            sampling=self.sampling,
            steps=self.steps,
        )


class Manifest(BaseModel):
    """Version 1. Frozen; JSON both ways; every number can be recomputed from `charges`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    private: bool = Field(description="False: something was learnt from the data without paying; see the reasons")
    not_private_because: tuple[str, ...] = ()
    guarantee: str = Field(description="What is promised, in one sentence")
    epsilon: float = Field(gt=0, allow_inf_nan=False)
    delta: float = Field(ge=0, lt=1)
    mu: float | None = Field(default=None, description="Exact Gaussian cost of all charges; null for mixed runs")
    rho: float | None = Field(default=None, description="zCDP cost of all charges; null where there is none")
    neighbours: Neighbours
    max_records: int = Field(ge=1)
    identifier: str | None = Field(default=None, description="Column that names individuals; null: each record is one")
    dataset: str = Field(description="Name under which the run stands on the ledger")
    run_id: str = Field(description="Entry of the ledger that paid for this run")
    schema_name: str
    schema_hash: str
    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    n_records: int = Field(ge=0, description="Records of the synthetic table; a public number")
    charges: tuple[ChargeRecord, ...] = ()
    bought: tuple[ChargeRecord, ...] = Field(default=(), description="Earlier charges that bought parts of the schema")
    seed: int | None = Field(default=None, description="Seed of post-processing; noise has none")
    versions: dict[str, str] = Field(default_factory=dict)
    seconds: float = Field(ge=0, description="Wall time of what follows the last count, in tenths")

    @model_validator(mode="after")
    def _agree(self) -> Manifest:
        if self.private == bool(self.not_private_because):
            msg = "private and not_private_because disagree: a release is private when no reason speaks against it"
            raise ValueError(msg)
        return self

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

    def recomputed_epsilon(self, *, with_bought: bool = False) -> float:
        """Epsilon at this manifest's delta, composed anew from the sensitivities and scales of its charges.

        Args:
            with_bought: also counts what was paid earlier for parts of the schema.
        """
        records = (*self.charges, *self.bought) if with_bought else self.charges
        return compose(r.charge() for r in records).epsilon(self.delta)

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
        from dpsyn_core.privacy.certificate import certificate

        return certificate(self)


def guarantee(budget: Budget, unit: Unit, *, private: bool = True) -> str:
    """What is promised, in one sentence."""
    delta = f", delta {budget.delta:g}" if budget.delta else " (pure)"
    change = "more or less" if unit.neighbours == "add-remove" else "exchanged for another"
    text = f"epsilon {budget.epsilon:g}{delta}: differential privacy for {individual(unit)} {change}"
    if private:
        return text[0].upper() + text[1:] + "."
    return f"{NOT_PRIVATE}: the noise alone would give {text}, but the reasons listed undo it."


def individual(unit: Unit) -> str:
    """One individual, in words: who is meant, and how many records they hold."""
    if unit.identifier is not None:
        records = "one record is" if unit.max_records == 1 else f"at most {unit.max_records} records are"
        return f"one individual (named by '{unit.identifier}', of whom {records} counted)"
    if unit.max_records == 1:
        return "one record (each is an individual)"
    return f"one individual (who is said to hold at most {unit.max_records} records)"


def package_versions() -> dict[str, str]:
    """Versions of the packages that a release depends on, from installed metadata."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import dpsyn_core

    found = {"dpsyn-studio": dpsyn_core.__version__, "python": platform.python_version()}
    for name in ("numpy", "numba", "scipy", "cryptography", "pyarrow", "dp-accounting"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # an optional package that is not installed took no part
    return found
