"""An answer: the figures of one question on one table, with names for its axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.questions.forms import Question


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """One axis of an answer: an attribute (or 'quantile', 'term'), and a label a position."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The figures of one question on one table.

    question: as declared. axes: what the figures are broken down by; none for a single figure. values: float64, one
    axis each; NaN where the table does not say, such as the mean of a group without records. unit: of the figures.
    scales: whether they grow with the number of records, so that tables of different sizes are compared as shares.
    """

    question: Question
    axes: tuple[Axis, ...]
    values: NDArray[np.float64]
    unit: str
    scales: bool

    def rows(self) -> list[tuple[tuple[str, ...], float]]:
        """One row a figure: its labels and its value, in order."""
        shape = [a.labels for a in self.axes]
        return [
            (tuple(labels[i] for labels, i in zip(shape, at, strict=True)), float(self.values[at]))
            for at in np.ndindex(self.values.shape)
        ]

    def plain(self) -> dict[str, Any]:
        """As JSON values; missing figures are null."""
        figures = [None if np.isnan(v) else float(v) for v in self.values.ravel()]
        return {
            "question": self.question.name,
            "kind": self.question.kind,
            "unit": self.unit,
            "axes": [{"name": a.name, "labels": list(a.labels)} for a in self.axes],
            "values": figures,
        }
