"""Answers: every declared question with its figures, intervals and grades, and the sentence that says each. Blind.

The sentences are in the words of a language (ENGLISH here).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.questions.answer import Axis
from dpsyn_core.questions.answers.functionals import Floats
from dpsyn_core.questions.answers.intervals import GRADES, Grade, Inferrer, Truth
from dpsyn_core.questions.answers.regression import infer_regression
from dpsyn_core.questions.answers.requests import asked
from dpsyn_core.questions.forms import (
    MeanQuestion,
    QuantileQuestion,
    Question,
    RangeQuestion,
    RegressionQuestion,
    TableQuestion,
)
from dpsyn_core.schema import Schema, is_year

Words = Mapping[str, str]
MARKS = str.maketrans(",.", ".,")
ENGLISH: Words = tomllib.loads(Path(__file__).with_name("answers.en.toml").read_text("utf-8"))


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """One question, answered from released values alone.

    axes: what the figures are broken down by; none for a single one. estimate, low, high, synthetic, released, noise:
    float64 of the shape of the axes, NaN where there is none. synthetic: what the synthetic table itself says; where
    the grade is none, that is all there is. released and noise: for grade exact, the sum over noisy cells and its
    standard error. grades: one a figure, in order. sentence: for people.
    """

    question: Question
    axes: tuple[Axis, ...]
    unit: str
    estimate: Floats
    low: Floats
    high: Floats
    synthetic: Floats
    released: Floats
    noise: Floats
    grades: tuple[Grade, ...]
    truth: Truth
    confidence: float
    sentence: str
    notes: tuple[str, ...] = ()

    @property
    def grade(self) -> Grade:
        """The weakest grade of its figures that have an interval; none where no figure has one."""
        given = [GRADES.index(g) for g in self.grades if g != "none"]
        return GRADES[max(given)] if given else "none"

    def said(self, words: Words) -> str:
        """Its sentence in the words of another language; reasons and notes stay as they are."""
        if not self.axes and self.grades == ("none",) and self.notes:
            return words["unanswered"].format(why=self.notes[0])
        unit = unit_of(self.question, words)
        text = sentence(
            self.estimate, self.low, self.high, self.grades, unit, self.truth, self.confidence, words,
            of=column_of(self.question),
        )  # fmt: skip
        return f"{text} {ended(self.notes, words)}".strip()

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure, in order: its labels, and its numbers as JSON values (null where there is none)."""
        out = []
        for i, at in enumerate(np.ndindex(self.estimate.shape)):
            labels = {a.name: a.labels[k] for a, k in zip(self.axes, at, strict=True)}
            out.append(
                {
                    "labels": labels,
                    "estimate": _plain(self.estimate[at]),
                    "low": _plain(self.low[at]),
                    "high": _plain(self.high[at]),
                    "grade": self.grades[i],
                    "synthetic": _plain(self.synthetic[at]),
                    "released": _plain(self.released[at]),
                    "noise": _plain(self.noise[at]),
                }
            )
        return out

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "question": self.question.name,
            "kind": self.question.kind,
            "unit": self.unit,
            "truth": self.truth,
            "confidence": self.confidence,
            "grade": self.grade,
            "sentence": self.sentence,
            "notes": list(self.notes),
            "figures": self.rows(),
        }


def answer_question(
    question: Question, schema: Schema, inferrer: Inferrer, *, truth: Truth = "table", confidence: float = 0.95
) -> Answered:
    """The answer of one question that fits the schema; a question of too many cells is answered with grade none."""
    if isinstance(question, RegressionQuestion):
        return _regression(question, schema, inferrer, truth, confidence)
    try:
        parts = asked(question, schema, lambda names: inferrer.tables(names)[0])
        answers = [(inferrer.infer(q, truth=truth, confidence=confidence), place) for q, place in parts.parts]
    except SizeError as error:
        return _unanswered(question, str(error), truth, confidence)
    size = int(np.prod(parts.shape, dtype=np.int64))
    figures = {n: np.full(size, np.nan) for n in ("estimate", "low", "high", "synthetic", "released", "noise")}
    grades: list[Grade] = ["none"] * size
    for got, place in answers:
        for name, values in figures.items():
            values[place] = getattr(got, name)
        for grade, at in zip(got.grades, place, strict=True):
            grades[int(at)] = grade
    unit = unit_of(question)
    estimate, low, high, synthetic, released, noise = (v.reshape(parts.shape) for v in figures.values())
    return Answered(
        question=question, axes=parts.axes, unit=unit, estimate=estimate, low=low, high=high, synthetic=synthetic,
        released=released, noise=noise, grades=tuple(grades), truth=truth, confidence=confidence,
        sentence=sentence(estimate, low, high, grades, unit, truth, confidence, of=column_of(question)),
    )  # fmt: skip


def _regression(
    question: RegressionQuestion, schema: Schema, inferrer: Inferrer, truth: Truth, confidence: float
) -> Answered:
    got = infer_regression(
        question,
        schema,
        inferrer.evidence,
        inferrer.fits.codes,
        inferrer.fits.redrawn,
        truth=truth,
        confidence=confidence,
        tuning=inferrer.tuning,
    )
    unit, blank = unit_of(question), np.full(len(got.terms), np.nan)
    notes = tuple(dict.fromkeys([*([got.warning] if got.warning else []), *(w for w in got.why if w)]))
    text = sentence(got.estimate, got.low, got.high, got.grades, unit, truth, confidence)
    return Answered(
        question=question, axes=(Axis(name="term", labels=got.terms),), unit=unit, estimate=got.estimate, low=got.low,
        high=got.high, synthetic=got.synthetic, released=blank, noise=blank, grades=tuple(got.grades), truth=truth,
        confidence=confidence, sentence=f"{text} {ended(notes)}".strip(), notes=notes,
    )  # fmt: skip


def _unanswered(question: Question, why: str, truth: Truth, confidence: float) -> Answered:
    blank = np.full((), np.nan)
    return Answered(
        question=question, axes=(), unit=unit_of(question), estimate=blank, low=blank, high=blank, synthetic=blank,
        released=blank, noise=blank, grades=("none",), truth=truth, confidence=confidence,
        sentence=ENGLISH["unanswered"].format(why=why), notes=(why,),
    )  # fmt: skip


def _plain(x: Any) -> float | None:
    return float(x) if np.isfinite(x) else None
