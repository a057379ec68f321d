"""Result of an attack: a document for the owner of the table, and its sentences."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from dpsyn_core.attacks.spec import Kind

Verdict = Literal["leak", "doubt", "nothing"]
LABEL = "reads private data: for the owner only, not DP; not to be published"
NOT_BOOKED = (
    "The shadow runs spent a budget of their own that is thrown away with them: nothing was booked on the ledger."
)
READING = (
    "A failed attack proves nothing, for a better one may exist; a successful one disproves the promise. "
    "The guarantee is the proved bound."
)
WHY_NO_DISTANCES = (
    "Distances to the closest record are not offered: tables that leak pass them, and tables that do not may fail."
)
TITLES: dict[Kind, str] = {
    "membership": "membership: who of the added people was in the table",
    "singling-out": "singling out: statements that fit one person alone",
    "linkage": "linkage: two halves of a record led to each other",
    "inference": "attribute inference: one column guessed from the others",
}


class Roc(BaseModel):
    """Receiver operating characteristic of guessing who is in, on runs that the attack did not learn from.

    alarms: share of those who are out but were called in. found: share of those who are in that were called in, with
    its pointwise 95 % band. area: under the curve; one half is guessing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    alarms: tuple[float, ...]
    found: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    area: float


class Rate(BaseModel):
    """Success of an attack on people of the table and on the control group.

    excess: of the room above the control group's success, what being in the table adds; with its 95 % interval.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    tried: int
    succeeded: int
    control_tried: int
    control_succeeded: int
    excess: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of attacks on people of the table that succeeded."""
        return self.succeeded / max(1, self.tried)

    @property
    def control_share(self) -> float:
        """Of attacks on the control group that succeeded."""
        return self.control_succeeded / max(1, self.control_tried)


class AttackResult(BaseModel):
    """What an attack found. Private: it is computed from the owner's table.

    epsilon, delta: promised by the attacked run. coins: in the runs that count; guesses and right: of them. needed:
    the epsilon that it takes to explain the right guesses, wrong once in twenty such attacks; sure: the same, wrong
    once in ten thousand. provable: the largest `needed` that so many coins could have given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    label: str = LABEL
    ledger: str = NOT_BOOKED
    kind: Kind
    method: str
    epsilon: float
    delta: float
    runs: int
    records: int
    table_records: int
    coins: int
    guesses: int
    right: int
    needed: float
    sure: float
    provable: float
    verdict: Verdict
    roc: Roc | None = None
    rates: tuple[Rate, ...] = ()
    seconds: float = 0.0

    @property
    def sentences(self) -> list[str]:
        """What was found, in words: the verdict first."""
        return [self._verdict(), self._guesses(), *self._weak(), READING]

    def _verdict(self) -> str:
        promised, needed = f"epsilon {self.epsilon:g}", f"{self.needed:.2f}"
        if self.verdict == "leak":
            return (
                f"LEAK: it takes an epsilon of at least {needed} to explain what the attack found, and {promised} was "
                "promised. The system does not keep its promise: do not publish what it made, and report the fault."
            )
        if self.verdict == "doubt":
            return (
                f"In doubt: it takes an epsilon of {needed} to explain what the attack found, above the promised "
                f"{promised}; by chance this happens once in twenty attacks. Repeat it with more runs."
            )
        return (
            f"No leak was found: an epsilon of {needed} is enough to explain what the attack found, and {promised} "
            "was promised."
        )

    def _guesses(self) -> str:
        return (
            f"In {self.runs} shadow runs, half of them for learning, the attack guessed {self.guesses} of "
            f"{self.coins} coins that decided who is in the table, and {self.right} guesses were right."
        )

    def _weak(self) -> list[str]:
        if self.provable > self.epsilon:
            return []
        return [
            f"This number of coins could have shown at most epsilon {self.provable:.2f}: this attack cannot disprove "
            f"epsilon {self.epsilon:g}; use more runs."
        ]
