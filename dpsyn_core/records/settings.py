"""Settings of record updates, kept apart from the compiled code so that forms load quickly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Fill = Literal["s5", "half", "duplicate", "replace", "close"]
Updater = Literal["gum", "mcf"]
Decay = Literal["step", "exponential", "linear", "square-root"]
Removal = Literal["proportional", "share"]

CLOSE = 0.1  # records count as close to the tables once a sweep lowered their distance by less than this part


class UpdateSettings(BaseModel):
    """Which updater moves the records, how, and how many polish proposals follow.

    The rate of sweep t is alpha times decay^(t // decay_every) (step), e^(-k t) (exponential), 1 / (1 + k t) (linear)
    or 1 / sqrt(1 + k t) (square-root), where k = -ln(decay) / decay_every, so that step and exponential meet at every
    step. Source: Li, Zhang, Wang, appendices A.2 and A.3.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    updater: Updater = Field(
        default="gum",
        title="Record updater",
        description="gum moves records gradually; mcf (min-cost flow) is the simpler method that it improves on.",
    )
    sweeps: int = Field(
        default=30,
        ge=0,
        le=1000,
        title="Sweeps",
        description="At most this many updates of every marginal; it stops early.",
    )
    alpha: float = Field(
        default=0.2,
        gt=0,
        le=10,
        title="Update rate",
        description=(
            "Share of its count by which a cell may grow in one update. The authors of GUM used 0.2 in 2018, always "
            "below 1, and 1 in PrivSyn, where 0.2 is as good."
        ),
    )
    decay: float = Field(
        default=0.84, gt=0, le=1, title="Rate decay", description="The update rate is multiplied by this at every step."
    )
    decay_every: int = Field(
        default=20, ge=1, le=1000, title="Sweeps per step", description="Sweeps between two steps of the decay."
    )
    decay_curve: Decay = Field(
        default="step",
        title="Decay curve",
        description=(
            "How the rate falls from sweep to sweep: in steps, or as e^(-kt), 1/(1+kt) or 1/sqrt(1+kt) with the k at "
            "which the second meets the steps."
        ),
    )
    removal: Removal = Field(
        default="proportional",
        title="Removal",
        description=(
            "Over-full cells give records in proportion to their excess, or the same share of their count, but no more "
            "than their excess, which is what the authors describe. Neither is better on most tables."
        ),
    )
    fill: Fill = Field(
        default="s5",
        title="Filling",
        description=(
            "How a cell gains records: duplicate copies whole records, replace rewrites records on the marginal only, "
            "half does half of each, s5 alternates half of each and copies only; close rewrites at first and copies "
            "once the records are close to the tables, as the authors of 2018 advise, and is no better on most tables."
        ),
    )
    polish: int = Field(
        default=50,
        ge=0,
        le=10_000,
        title="Polish proposals",
        description="Single-cell moves proposed for every record after the sweeps; 0 leaves the result of the sweeps.",
        json_schema_extra={"unit": "per record"},
    )

    def rate(self, sweep: int) -> float:
        """The update rate of a sweep, counted from 0."""
        if self.decay_curve == "step":
            return self.alpha * self.decay ** (sweep // self.decay_every)
        fallen = -math.log(self.decay) / self.decay_every * sweep
        if self.decay_curve == "exponential":
            return self.alpha * math.exp(-fallen)
        if self.decay_curve == "linear":
            return self.alpha / (1 + fallen)
        return self.alpha / math.sqrt(1 + fallen)

    def copies(self, sweep: int, history: Sequence[float]) -> float:
        """The share of additions that copy a whole record.

        S5 alternates half of them and all of them. Close copies none until the records are close to the tables, and
        then only copies.

        Args:
            sweep: counted from 0.
            history: mean total variation distance to the targets in each sweep before.
        """
        if self.fill == "close":
            return 1.0 if any(b > (1 - CLOSE) * a for a, b in pairwise(history)) else 0.0
        return {"s5": 0.5 if sweep % 2 == 0 else 1.0, "half": 0.5, "duplicate": 1.0, "replace": 0.0}[self.fill]
