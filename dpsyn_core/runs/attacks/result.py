"""What an attack is asked to do, what it finds in a run, and what may be concluded.

What an attack is asked to do: the run that is attacked, and how; the document that the app leaves for its worker.

Outcome: what one shadow run leaves for the attacker's books. Private, for the coins name records of the owner.

Result of an attack: a document for the owner of the table, and its sentences.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.runs.jobs.spec import JobSpec

Kind = Literal["membership", "singling-out", "linkage", "inference"]
ATTACKS: tuple[Kind, ...] = ("membership", "singling-out", "linkage", "inference")
RUNS = {"membership": 100, "singling-out": 20, "linkage": 20, "inference": 20}  # shadow runs, unless said otherwise
RECORDS = 2000  # records of the owner's table that shadow runs use, unless said otherwise
CANARIES = 20


class AttackSpec(JobSpec):
    """The system, settings and budget of the run that is attacked, and the attack.

    records: at most so many records of the owner's table take part, drawn at random with all records of an
    individual; fewer make shadow runs quicker, and a single record easier to see. The promise holds for any table.
    """

    charges: ClassVar[bool] = False  # nothing is booked on the ledger
    query_vouched: bool = Field(default=False, description="Stands in no manifest: none leaves here")

    kind: Kind
    runs: int = Field(ge=4, le=100_000)
    records: int = Field(default=RECORDS, ge=20)
    canaries: int = Field(default=CANARIES, ge=1, le=200)
    secret: str | None = Field(default=None, description="the column that attribute inference is about; null: all")
    about: str | None = Field(
        default=None, description="of linked tables, the one whose records are attacked; null: the first child table"
    )
    workers: int = Field(default=1, ge=0, le=64, description="child processes; 0 runs everything in this process")


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
            inside=self.inside + other.inside,
            inside_right=self.inside_right + other.inside_right,
            control=self.control + other.control,
            control_right=self.control_right + other.control_right,
        )


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
            "coins": self.coins.tolist(),
            "scores": self.scores.tolist(),
            "counts": self.counts.tolist(),
            "guessed": self.guessed.tolist(),
            "said": self.said.tolist(),
            "sure": self.sure.tolist(),
            "tallies": {k: [t.inside, t.inside_right, t.control, t.control_right] for k, t in self.tallies.items()},
        }

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


Verdict = Literal["leak", "doubt", "nothing"]
LABEL = "reads private data: for the owner only, not DP; not to be published"
NOT_BOOKED = (
    "The shadow runs spent a budget of their own that is thrown away with them: nothing was booked on the ledger."
)
READING = (
    "A failed attack proves nothing, for a better one may exist; a successful one disproves the promise. "
    "The guarantee is the proved bound."
)
TITLES: dict[Kind, str] = {
    "membership": "membership: who of the added people was in the table",
    "singling-out": "singling out: statements that fit one person alone",
    "linkage": "linkage: two halves of a record led to each other",
    "inference": "attribute inference: one column guessed from the others",
}


class Roc(BaseModel):
    """Receiver operating characteristic of guessing who is in, on runs that the attack did not learn from.

    alarms: false positive rates. found: true positive rates, with
    their pointwise 95 % band. area: under the curve; one half is guessing.
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
    """The result of an attack. Private: it is computed from the owner's table.

    epsilon, delta: promised by the attacked run. coins: in the runs that count; guesses and right: of them. needed:
    the epsilon that it takes to explain the right guesses, wrong once in twenty such attacks; sure: the same, wrong
    once in ten thousand. provable: the largest `needed` that so many coins could have given. tested: of linked tables,
    what a coin moves and which tables the attack looked at, in a sentence.
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
    tested: str = ""
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
        """The result in sentences: the verdict first."""
        return [self._verdict(), self._guesses(), *filter(None, [self.tested]), *self._weak(), READING]

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
