"""The documents of a comparison of systems: what is asked for, and its result. Light, for every page has it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.runs.jobs.spec import JobSpec

LEVEL = 0.95  # of the interval of a mean over repeats
SURE = 2.0  # standard errors of a difference that is more than noise
SCORES = ("pairs", "columns", "triples")  # mean TVD of all marginals over two, one and three columns
PROMISE = "NOT PRIVATE: the table is public by its owner's word"  # of scores, which are exact answers about it


class Candidate(BaseModel):
    """A system with settings; public."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str
    settings: dict[str, Any] = Field(default_factory=dict)

    def __str__(self) -> str:
        """As it is written on the command line: privbayes:degree=3."""
        settings = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.method}:{settings}" if settings else self.method


class ComparisonSpec(JobSpec):
    """What is compared; the budget and system of the run that it is built on are those of its first cell."""

    charges: ClassVar[bool] = False  # nothing is booked: the table is public
    query_vouched: bool = Field(default=False, description="Stands in no manifest: none leaves here")

    candidates: tuple[Candidate, ...] = Field(min_length=1)
    epsilons: tuple[float, ...] = Field(min_length=1)
    repeats: int = Field(default=2, ge=1, le=50)
    about: int | None = Field(
        default=None, ge=1, description="Records of each run, drawn from the table; null: the schema's, else all"
    )
    triples: bool = Field(default=False, description="Whether triples of columns are scored too")
    public: bool = Field(description="That the table is public is the word of whoever starts the comparison")

    @classmethod
    def of_candidates(cls, candidates: Sequence[Candidate], epsilons: Sequence[float], **fields: Any) -> ComparisonSpec:
        """From what is compared; `fields` are the others by their names. Raises ValidationError."""
        return cls(
            candidates=tuple(candidates),
            epsilons=tuple(epsilons),
            method=candidates[0].method if candidates else "",
            epsilon=epsilons[0] if epsilons else 1.0,
            **fields,
        )


class Trial(BaseModel):
    """One run: its candidate as text, and the mean TVD of all pairs, columns and triples (None: not scored)."""

    model_config = ConfigDict(frozen=True)

    method: str
    epsilon: float
    repeat: int
    pairs: float | None
    columns: float
    triples: float | None = None
    seconds: float


class TrialCell(BaseModel):
    """One candidate at one epsilon: the mean of a score over its repeats.

    half: half its 95 % interval. error: its standard error. Both are None for one run.
    """

    model_config = ConfigDict(frozen=True)

    method: str
    epsilon: float
    mean: float
    half: float | None
    error: float | None
    runs: int


class SystemsComparison(BaseModel):
    """All runs, and the candidates that refused a cell, with their sentence.

    n_records: of each run. pairs_floor, columns_floor: the same scores of a fresh sample of as many records; None where
    there is none.
    """

    model_config = ConfigDict(frozen=True)

    runs: tuple[Trial, ...]
    refused: dict[str, str] = Field(default_factory=dict)
    delta: float
    n_records: int
    pairs_floor: float | None = None
    columns_floor: float | None = None

    def cells(self, score: str = "pairs") -> list[TrialCell]:
        """Means by candidate and epsilon, in the order of the runs; empty where no run has the score."""
        cells = []
        for method, epsilon in dict.fromkeys((r.method, r.epsilon) for r in self.runs):
            same = [r for r in self.runs if (r.method, r.epsilon) == (method, epsilon)]
            values = [v for r in same if (v := getattr(r, score)) is not None]
            if values:
                cells.append(
                    TrialCell(
                        method=method,
                        epsilon=epsilon,
                        mean=float(np.mean(values)),
                        half=half_width(values),
                        error=standard_error(values),
                        runs=len(values),
                    )
                )
        return cells

    @property
    def score(self) -> str:
        """By which candidates are ranked: pairs, or single columns where the table has no pair."""
        return "pairs" if self.cells("pairs") else "columns"

    def ranking(self, epsilon: float) -> list[TrialCell]:
        """The cells of one epsilon, the smallest mean first; of equal ones the first that was named."""
        return sorted((c for c in self.cells(self.score) if c.epsilon == epsilon), key=lambda c: c.mean)

    def within_noise(self, epsilon: float) -> list[str]:
        """Candidates whose mean is not larger than the best one's beyond doubt; all others after one run of each."""
        best, *others = self.ranking(epsilon)
        return [c.method for c in others if _close(best, c)]

    def csv(self) -> str:
        """One line a run, each with what is promised to the records of the table: nothing."""
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["method", "epsilon", "delta", "repeat", "pairs", "columns", "seconds", "promise"])
        for r in self.runs:
            pairs = "" if r.pairs is None else f"{r.pairs:.6g}"
            lines.writerow(
                [r.method, f"{r.epsilon:g}", f"{self.delta:g}", r.repeat, pairs, f"{r.columns:.6g}", r.seconds, PROMISE]
            )
        return out.getvalue()


def _close(best: TrialCell, other: TrialCell) -> bool:
    if best.error is None or other.error is None:
        return True
    return other.mean - best.mean < SURE * math.hypot(best.error, other.error)


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean; None for a single value, which tells nothing of its spread."""
    return None if len(values) < 2 else float(np.std(values, ddof=1)) / math.sqrt(len(values))


def half_width(values: Sequence[float]) -> float | None:
    """Half the interval of the mean by Student's t; None for a single value."""
    error = standard_error(values)
    if error is None:
        return None
    from scipy.stats import t as student

    return float(student.ppf(0.5 + LEVEL / 2, len(values) - 1)) * error
