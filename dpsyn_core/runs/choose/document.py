"""What a grid is asked for, and what it found: documents. The imports are light, for every page of the app has them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.runs.jobs.spec import JobSpec

LEVEL = 0.95  # of the interval of a mean over repeats
PROMISE = "NOT PRIVATE: the table is public by its owner's word"  # of scores, which are exact answers about it


class GridSpec(JobSpec):
    """What a grid is asked for; the budget and system of the run that it is built on are those of its first cell."""

    charges: ClassVar[bool] = False  # nothing is booked: the table is public
    query_vouched: bool = Field(default=False, description="Stands in no manifest: none leaves here")

    methods: tuple[str, ...] = Field(min_length=1)
    epsilons: tuple[float, ...] = Field(min_length=1)
    repeats: int = Field(default=2, ge=1, le=50)
    public: bool = Field(description="That the table is public is the word of whoever starts the grid")


class GridRun(BaseModel):
    """One run: its cell, and the mean TVD of all pairs and of all single columns (pairs: None for a single column)."""

    model_config = ConfigDict(frozen=True)

    method: str
    epsilon: float
    repeat: int
    pairs: float | None
    columns: float
    seconds: float


class GridCell(BaseModel):
    """One system at one epsilon: the mean of a score over its repeats, half its 95 % interval (None for one run)."""

    model_config = ConfigDict(frozen=True)

    method: str
    epsilon: float
    mean: float
    half: float | None
    runs: int


class GridResult(BaseModel):
    """All runs of a grid, and the systems that refused a cell, with their sentence.

    pairs_floor, columns_floor: the same scores of a fresh sample of as many records; None where there is none.
    """

    model_config = ConfigDict(frozen=True)

    runs: tuple[GridRun, ...]
    refused: dict[str, str] = Field(default_factory=dict)
    delta: float
    n_records: int
    pairs_floor: float | None = None
    columns_floor: float | None = None

    def cells(self, score: str = "pairs") -> list[GridCell]:
        """Means by system and epsilon, in the order in which they were asked for; empty where no run has the score."""
        found = []
        for method, epsilon in dict.fromkeys((r.method, r.epsilon) for r in self.runs):
            same = [r for r in self.runs if (r.method, r.epsilon) == (method, epsilon)]
            values = [v for r in same if (v := getattr(r, score)) is not None]
            if values:
                found.append(
                    GridCell(
                        method=method, epsilon=epsilon, mean=float(np.mean(values)), half=half_width(values),
                        runs=len(values),
                    )
                )  # fmt: skip
        return found

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


def half_width(values: Sequence[float]) -> float | None:
    """Half the interval of the mean by Student's t; None for a single value, which tells nothing of its spread."""
    if len(values) < 2:
        return None
    from scipy.stats import t as student

    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return float(student.ppf(0.5 + LEVEL / 2, len(values) - 1)) * spread
