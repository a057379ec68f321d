"""Sentences of answers: what a figure is and how far it may be off, in the words of a language (ENGLISH here)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.answers.intervals import GRADES, Grade, Truth
from dpsyn_core.questions.forms import (
    MeanQuestion,
    QuantileQuestion,
    Question,
    RangeQuestion,
    RegressionQuestion,
    TableQuestion,
)
from dpsyn_core.schema.years import is_year

Words = Mapping[str, str]
MARKS = str.maketrans(",.", ".,")
ENGLISH: Words = {
    "decimal_mark": ".",
    "percent": "{value}%",
    "means_exact": "exact: one released table holds it, whose noise is known",
    "means_estimated": "estimated: released tables hold its columns together or coarsely; the rest is estimated from "
    "how well they predict each other",
    "means_bounded": "bounded: part of it was scored and not measured; the score bounds how far off it may be",
    "unanswered": "Not answered: {why}.",
    "nothing": "Not answered: no released marginal holds it, and the synthetic table has no records that do.",
    "unsupported": "Not supported by this release: nothing that was released says how far the {value} ({unit}) of the "
    "synthetic table may be off.",
    "unsupported_many": "Not supported by this release: nothing that was released says how far these {count} figures "
    "of the synthetic table may be off.",
    "table": "in the real table",
    "population": "in the population",
    "one": "{value} ({unit}); it lies {about} between {low} and {high}, at {sure} confidence ({because}).",
    "many": "{count} figures ({unit}); a typical one is off {about} by at most {half}, at {sure} confidence for each "
    "({because}).",
    "rest": "{count} of them are not supported by this release.",
    "note": "Note: {notes}.",
    "note_more": "{notes} (and {count} more notes)",
    "unit_records": "records",
    "unit_gini": "Gini index of {of}",
    "unit_predict": "share of what is uncertain about {of}",
    "unit_logistic": "log odds of {of}",
    "unit_linear": "{of} a unit",
    "unit_mean": "mean of {of}",
    "unit_sum": "sum of {of}",
    "unit_quantile": "quantile of {of}",
    "unit_gap": "gap of {of}",
}


def number(x: float, words: Words = ENGLISH, of: str = "") -> str:
    """Four digits of a small number, whole numbers with commas of a large one that is no year of the column `of`."""
    text = f"{x:.0f}" if is_year(of, x) else f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"
    return text.translate(MARKS) if words["decimal_mark"] == "," else text


def unit_of(question: Question, words: Words = ENGLISH) -> str:
    """What the figures of a question count."""
    if isinstance(question, TableQuestion | RangeQuestion):
        return words["unit_records"]
    kind = question.model if isinstance(question, RegressionQuestion) else question.kind
    return words.get(f"unit_{kind}", f"{kind} of {{of}}").format(of=question.of)


def column_of(question: Question) -> str:
    """The column whose values the figures of a question are; empty where they are differences, sums or shares."""
    return question.of if isinstance(question, MeanQuestion | QuantileQuestion) else ""


def sentence(
    estimate: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    grades: Iterable[Grade],
    unit: str,
    truth: Truth,
    confidence: float,
    words: Words = ENGLISH,
    *,
    of: str = "",
) -> str:
    """What the answer is and how far it may be off, in one or two plain sentences; of: as in `number`."""
    graded = list(grades)
    given = [i for i, g in enumerate(graded) if g != "none"]
    flat = [x.ravel() for x in (estimate, low, high)]
    if not given:
        if np.isnan(estimate).all():
            return words["nothing"]
        if len(graded) == 1:
            return words["unsupported"].format(value=number(float(flat[0][0]), words, of), unit=unit)
        return words["unsupported_many"].format(count=len(graded))
    because = "; ".join(words[f"means_{g}"] for g in GRADES if g in graded and g != "none")
    sure, about = words["percent"].format(value=f"{100 * confidence:.0f}"), words[truth]
    if len(graded) == 1:
        value, first, last = (number(float(x[0]), words, of) for x in flat)
        return words["one"].format(
            value=value, unit=unit, about=about, low=first, high=last, sure=sure, because=because
        )
    half = number(float(np.median((flat[2] - flat[1])[given] / 2)), words)
    left = len(graded) - len(given)
    rest = f" {words['rest'].format(count=left)}" if left else ""
    count = len(graded)
    return words["many"].format(count=count, unit=unit, about=about, half=half, sure=sure, because=because) + rest


def ended(notes: tuple[str, ...], words: Words = ENGLISH) -> str:
    """The first two notes as a sentence; empty without any."""
    if not notes:
        return ""
    some = "; ".join(notes[:2])
    if len(notes) > 2:
        some = words["note_more"].format(notes=some, count=len(notes) - 2)
    return words["note"].format(notes=some)
