"""Outcome: what one shadow run leaves for the attacker's books. Private, for the coins name records of the owner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackTally:
    """Attempts of an attack on people of the table, and on the control group: how many, and how many succeeded."""

    inside: int = 0
    inside_right: int = 0
    control: int = 0
    control_right: int = 0

    def __add__(self, other: AttackTally) -> AttackTally:
        """Both together."""
        return AttackTally(
            inside=self.inside + other.inside, inside_right=self.inside_right + other.inside_right,
            control=self.control + other.control, control_right=self.control_right + other.control_right,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Of one shadow run.

    coins: bool (m,), as they fell. scores: (attackers, m), how strongly each attacker believes in each canary, and
    counts: (features,), what an attacker learns from over runs; membership only. guessed, said, sure: (g,) numbers of
    coins that an attack guessed, how, and how sure it was. tallies: by column, or under one name.
    """

    coins: NDArray[np.bool_]
    scores: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    counts: Floats = field(default_factory=lambda: np.zeros(0))
    guessed: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    said: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    sure: Floats = field(default_factory=lambda: np.zeros(0))
    tallies: dict[str, AttackTally] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON values, for the pipe from a child."""
        return {
            "coins": self.coins.tolist(), "scores": self.scores.tolist(), "counts": self.counts.tolist(),
            "guessed": self.guessed.tolist(), "said": self.said.tolist(), "sure": self.sure.tolist(),
            "tallies": {
                k: [t.inside, t.inside_right, t.control, t.control_right] for k, t in self.tallies.items()
            },
        }  # fmt: skip

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        """From `document`."""
        names = ("inside", "inside_right", "control", "control_right")
        coins = np.asarray(document["coins"], dtype=bool)
        return cls(
            coins=coins,
            scores=np.asarray(document["scores"], dtype=np.float64).reshape(len(document["scores"]), len(coins)),
            counts=np.asarray(document["counts"], dtype=np.float64),
            guessed=np.asarray(document["guessed"], dtype=np.int64),
            said=np.asarray(document["said"], dtype=bool),
            sure=np.asarray(document["sure"], dtype=np.float64),
            tallies={k: AttackTally(**dict(zip(names, t, strict=True))) for k, t in document["tallies"].items()},
        )
