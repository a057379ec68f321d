"""Settings of record synthesis, kept apart from the compiled code so that forms load quickly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Fill = Literal["s5", "half", "duplicate", "replace"]
Updater = Literal["gum", "mcf"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GumSettings:
    """How GUM moves. The rate of sweep t is alpha * decay^(t // decay_every)."""

    sweeps: int = 30
    alpha: float = 1.0
    decay: float = 0.84
    decay_every: int = 20
    fill: Fill = "s5"

    def rate(self, sweep: int) -> float:
        """The update rate of a sweep, counted from 0."""
        return self.alpha * self.decay ** (sweep // self.decay_every)

    def copies(self, sweep: int) -> float:
        """The share of additions that copy a whole record; S5 alternates half of them and all of them."""
        return {"s5": 0.5 if sweep % 2 == 0 else 1.0, "half": 0.5, "duplicate": 1.0, "replace": 0.0}[self.fill]


@dataclass(frozen=True, kw_only=True, slots=True)
class FitSettings:
    """Which updater runs, how, and how many polish proposals a record follow it.

    separate: attributes that no table connects are made apart and joined at random. append: attributes that hang
    on one pair are drawn from it after the updates.
    """

    updater: Updater = "gum"
    gum: GumSettings = field(default_factory=GumSettings)
    polish: int = 50
    squared: bool = False
    separate: bool = False
    append: bool = False
