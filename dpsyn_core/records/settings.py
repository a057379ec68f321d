"""Settings of record synthesis, kept apart from the compiled code so that forms load quickly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

Fill = Literal["s5", "half", "duplicate", "replace", "close"]
Updater = Literal["gum", "mcf"]
Decay = Literal["step", "exponential", "linear", "square-root"]
Removal = Literal["proportional", "share"]

CLOSE = 0.1  # records count as close to the tables once a sweep lowered their distance by less than this part


@dataclass(frozen=True, kw_only=True, slots=True)
class GumSettings:
    """How GUM moves.

    The rate of sweep t is alpha times decay^(t // decay_every) (step), e^(-k t) (exponential), 1 / (1 + k t) (linear)
    or 1 / sqrt(1 + k t) (square-root), where k = -ln(decay) / decay_every, so that step and exponential meet at every
    step. removal: over-full cells give in proportion to their excess, or the same share of their count, but never more
    than their excess (share). Source: Li, Zhang, Wang, appendices A.2 and A.3.
    """

    sweeps: int = 30
    alpha: float = 1.0
    decay: float = 0.84
    decay_every: int = 20
    decay_curve: Decay = "step"
    removal: Removal = "proportional"
    fill: Fill = "s5"

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


@dataclass(frozen=True, kw_only=True, slots=True)
class FitSettings:
    """Which updater runs, how, and how many polish proposals a record follow it.

    separate: attributes that no table connects are synthesized separately and joined at random. append: attributes
    that only one pair connects to the others are drawn from that pair after the updates.
    """

    updater: Updater = "gum"
    gum: GumSettings = field(default_factory=GumSettings)
    polish: int = 50
    squared: bool = False
    separate: bool = False
    append: bool = False
