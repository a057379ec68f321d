"""ChargeRecord: a charge as it stands in a manifest, and whether its stated cost is that of its noise."""

from __future__ import annotations

from dataclasses import fields
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.charge import Charge, Mechanism

_ROUNDING = 1e-9
_SIGMA = {"gaussian", "sampled-gaussian"}
_DIVIDED = {*_SIGMA, "geometric"}  # mechanisms whose cost is a sensitivity over noise
MOST, LEAST = 1e100, 1e-100  # of any number that is stated: their squares and quotients are still numbers
WHOLE = 1 << 62  # the same of whole numbers


class ChargeRecord(BaseModel):
    """One private access. `sigma` for Gaussian noise, `scale` (b, or a prior count) for the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    mechanism: Mechanism
    sensitivity: float = Field(ge=0, le=MOST)
    sigma: float | None = Field(default=None, ge=LEAST, le=MOST)
    scale: float | None = Field(default=None, ge=0, le=MOST)
    cells: int = Field(ge=0, le=WHOLE)
    rho: float = Field(ge=0, le=MOST)
    epsilon: float = Field(default=0.0, ge=0, le=MOST)
    delta: float = Field(default=0.0, ge=0, lt=1)
    sampling: float = Field(default=1.0, gt=0, le=1)
    steps: int = Field(default=1, ge=1, le=WHOLE)
    records: int = Field(default=1, ge=1, le=WHOLE)
    exchanged: bool = False
    kind: str | None = Field(
        default=None,
        pattern="^[a-z0-9-]{1,40}$",
        description="What was released: total, 1-way, 2-way, scores, choice ...; null in manifests of earlier versions",
    )

    @model_validator(mode="after")
    def _has_noise(self) -> Self:
        least = min(self.scale or self.sigma or 0.0, self.sensitivity if self.mechanism == "sampled-gaussian" else MOST)
        divided = self.mechanism in _DIVIDED or (self.mechanism == "partition-selection" and not self.epsilon)
        if divided and least < LEAST:
            msg = f"'{self.name}' states a noise or a sensitivity of 0; both must be above 0"
            raise ValueError(msg)
        return self

    @classmethod
    def of(cls, charge: Charge) -> ChargeRecord:
        """The record of a charge."""
        gaussian = charge.mechanism in _SIGMA or (charge.mechanism == "partition-selection" and charge.epsilon == 0)
        out = {f.name: getattr(charge, f.name) for f in fields(charge)} | {"scale": None if gaussian else charge.scale}
        return cls(**out, sigma=charge.scale if gaussian else None)

    @property
    def wrong(self) -> bool:
        """Whether the stated cost is less than what sensitivity and noise make of it."""
        if self.mechanism == "sampled-gaussian":
            return self._wrong_samples()
        if self.sigma is not None:
            mu = self.sensitivity / self.sigma
            return self.rho < mu * mu / 2 * (1 - _ROUNDING)
        if self.mechanism in {"geometric", "partition-selection"}:
            return not self.scale or self.epsilon < self.sensitivity / self.scale * (1 - _ROUNDING)
        return self.epsilon <= 0

    def _wrong_samples(self) -> bool:
        """As `wrong`, for noise on samples: a charge without a delta must state no cost."""
        if not self.sigma or not self.sensitivity or not self.delta:
            return self.delta != 0 or self.rho != 0 or not self.sigma or not self.sensitivity
        try:
            from dpsyn_core.privacy.subsampling import sampled_mu, sampling_of  # only where there are samples

            mu = sampled_mu(sampling_of(self.charge()), self.delta)
        except BudgetError:
            return True
        return self.rho < mu * mu / 2 * (1 - _ROUNDING)

    def charge(self) -> Charge:
        """The charge as the value that is composed."""
        values = self.model_dump(exclude={"sigma"})
        return Charge(**values | {"scale": (self.scale or 0.0) if self.sigma is None else self.sigma})
