"""The verdict as values: its grade, what moved and what was lost, and the list of findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dpsyn_core.evaluate import column_shifts as moved_columns
from dpsyn_core.evaluate import shifts as moved
from dpsyn_core.evaluate.base import Score
from dpsyn_core.evaluate.findings.finding import Finding
from dpsyn_core.evaluate.shuffled_floor import Between

WEAKER = 0.05  # by so much a relation has fallen that is named

Measure = Literal["rank correlation", "correlation ratio", "Cramer's V less chance"]
# near, good: words of praise; the others state what is kept. few: even single columns are off. shares: pairs are off
# more than unrelated columns with the right shares of single columns
Grade = Literal[
    "near", "good", "kept", "weak", "gone", "bins", "shares", "few", "few_alone", "alone", "none", "unclear"
]
PRAISE: tuple[Grade, ...] = ("near", "good")


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """A pair of columns that lost most of its relation, or whose rank correlation moved.

    kept: share of the way from unrelated columns to a fresh sample, where the pair is related in the real table.
    synthetic: None where one of the columns has a single value or none, so that there is no figure.
    """

    columns: tuple[str, str]
    measure: Measure
    real: float
    synthetic: float | None
    kept: float | None

    @property
    def weaker(self) -> bool:
        """Whether the relation fell so far that its two figures show it."""
        return self.synthetic is not None and abs(self.synthetic) < abs(self.real) - WEAKER


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """relations_kept: 0 to 1, None where the real table has none; why_none: then the reason.

    ones, pairs: the scores of single columns and of pairs with their floors; pairs is None for one column. fixed: all
    columns that were left with one value. whole: all synthetic records are the same. findings: all, the gravest first.
    """

    grade: Grade
    relations_kept: float | None
    why_none: str
    ones: Score
    pairs: Between | None
    correlations: list[moved.MovedPair]
    means: list[moved.MovedMean]
    groups: list[moved.MovedGroup]
    dates: list[moved_columns.MovedDate]
    days: list[moved_columns.MovedDays]
    blanks: list[moved_columns.MovedBlanks]
    fixed: list[moved_columns.Fixed]
    lost: list[Lost]
    whole: bool
    n: int
    m: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def alarm(self) -> Finding | None:
        """That the table is too near to the real one."""
        return next((f for f in self.findings if f.alarm), None)

    @property
    def shows_rules(self) -> bool:
        """Whether it shows how many real records keep what could be declared as a rule."""
        return any(f.impossible and f.key not in ("rule", "combinations") for f in self.findings)

    @property
    def praises(self) -> bool:
        """Whether the grade allows words of praise."""
        return self.grade in PRAISE
