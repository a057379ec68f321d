"""The user's questions in a report: each as a figure or a sentence, with its interval, and the real answer if any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from dpsyn_core.estimate import Measurement, Scores
from dpsyn_core.evaluate import Comparison
from dpsyn_core.privacy import Manifest
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions import ENGLISH as ANSWERS
from dpsyn_core.questions import Answer, Answered, Questions, column_of, evaluate, number, unit_of
from dpsyn_core.report import figures
from dpsyn_core.report.answers import answer_codes
from dpsyn_core.report.page import Page
from dpsyn_core.report.theme import Figure
from dpsyn_core.report.wording import ENGLISH, Words, local, part
from dpsyn_core.schema import Schema, is_year

MOST_FIGURES = 40  # rows that are drawn; the table has all
HOVER = "%{y}: %{x:,.4~r}<extra>%{fullData.name}</extra>"
SORTED = ("gap", "mean", "sum", "gini")  # kinds whose groups stand in the order of their figures


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedAnswer:
    """One question: its answer from released values, and the real one where the report reads the real table."""

    answered: Answered
    real: Answer | None = None

    @property
    def labels(self) -> list[str]:
        """One a figure, in order, of what tells figures apart; a single figure has an empty one."""
        shape = [a.labels for a in self.answered.axes if len(a.labels) > 1]
        return [
            ", ".join(labels[i] for labels, i in zip(shape, at, strict=True))
            for at in np.ndindex(*(len(s) for s in shape))
        ]

    @property
    def difference(self) -> float | None:
        """Mean difference of synthetic and real figures, in their unit; None without the real ones."""
        if self.real is None:
            return None
        off = np.abs(self.answered.estimate - self.real.values).ravel()
        off = off[~np.isnan(off)]
        return float(off.mean()) if len(off) else None

    @property
    def rank_agreement(self) -> float | None:
        """Spearman's correlation of synthetic and real figures; None below three, or where all are equal."""
        if self.real is None or self.answered.question.kind not in SORTED:
            return None
        pairs = np.stack([self.answered.estimate.ravel(), self.real.values.ravel()])
        pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
        if pairs.shape[1] < 3 or (np.ptp(pairs, axis=1) == 0).any():
            return None
        ranks = np.stack([rankdata(row) for row in pairs])
        return float(np.corrcoef(ranks)[0, 1])

    @property
    def half_width(self) -> float | None:
        """Half the width of a typical interval; None where no figure has one."""
        half = (self.answered.high - self.answered.low).ravel() / 2
        half = half[~np.isnan(half)]
        return float(np.median(half)) if len(half) else None


def asked_answers(
    comparison: Comparison,
    schema: Schema,
    manifest: Manifest,
    questions: Questions,
    measured: Sequence[Measurement],
    *,
    scores: Scores | None = None,
    progress: Progress = silent,
) -> list[AskedAnswer]:
    """Answers of all questions; beside them the real ones where the comparison holds the real table.

    Reads private data where the comparison does; the answers themselves are post-processing of released values.
    """
    given = answer_codes(comparison.synthetic, measured, schema, manifest, questions, scores=scores, progress=progress)
    return [beside_real(a, comparison, schema) for a in given]


def beside_real(answered: Answered, comparison: Comparison, schema: Schema) -> AskedAnswer:
    """An answer with the real one, where the comparison holds the real table and both have the same figures."""
    if comparison.real is None:
        return AskedAnswer(answered=answered)
    weights = None  # of a sample: each record stands for so many
    if comparison.real_of is not None:
        weights = np.full(comparison.n, comparison.whole_n / comparison.n)
    real = evaluate(answered.question, comparison.real, schema, values=comparison.real_values, weights=weights)
    return AskedAnswer(answered=answered, real=real if real.values.shape == answered.estimate.shape else None)


def figure(found: AskedAnswer, words: Words = ENGLISH, *, finding: str = "") -> Figure | None:
    """A dot a figure with its interval, the real one beside it; None for a question of a single figure.

    finding: the answer as a sentence in the language of `words`; empty: the sentence of the answer.
    """
    answered = found.answered
    if not answered.axes or answered.estimate.size < 2:
        return None
    estimate, low, high = (x.ravel() for x in (answered.estimate, answered.low, answered.high))
    real = None if found.real is None else found.real.values.ravel()
    years = is_year(column_of(answered.question), *estimate[~np.isnan(estimate)])
    order = np.arange(len(estimate))
    rank = np.where(np.isnan(estimate), -np.inf, estimate)
    if answered.question.kind in SORTED and len(answered.axes) == 1:
        order = np.argsort(-rank, kind="stable")
    if len(order) > MOST_FIGURES:
        largest = np.argsort(-np.abs(np.where(np.isnan(estimate), 0.0, estimate)), kind="stable")[:MOST_FIGURES]
        order = np.array([i for i in order if i in set(largest.tolist())])
    labels = figures.axis_labels([found.labels[i] for i in order], 28, words=words)
    grades = [answered.grades[i] for i in order]
    data: list[dict[str, Any]] = []
    if real is not None:
        data.append(_dots(words["real"], real[order], labels, "@real", "circle", 1.0))
    for shown, name, opacity in (
        ([g != "none" for g in grades], words["asked_estimate"], 1.0),
        ([g == "none" for g in grades], words["asked_unsupported"], 0.4),
    ):
        at = np.flatnonzero(shown)
        if not len(at):
            continue
        x = estimate[order][at]
        made = _dots(name, x, [labels[i] for i in at], "@accent", "diamond", opacity)
        plus, minus = high[order][at] - x, x - low[order][at]
        if not np.isnan(plus).all():
            made["error_x"] = {
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(plus),
                "arrayminus": np.nan_to_num(minus),
                "color": "@accent",
                "thickness": 1.5,
                "width": 4,
            }
        data.append(made)
    for dots in data if years else ():
        dots["hovertemplate"] = HOVER.replace(",.4~r", ".6~r")
    layout = {
        "xaxis": {
            "title": {"text": figures.plain_text(unit_of(answered.question, answer_words(words)))},
            "nticks": 7,
            "tickformat": "~r" if years else ",~r",
        },
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": labels,
            "showgrid": False,
            "dtick": 1,
            "range": [len(labels) - 0.4, -0.6],
        },
        "height": 110 + 26 * max(3, len(labels)),
    }
    caption = words["asked_cut"].format(shown=len(order), all=len(estimate)) if len(order) < len(estimate) else ""
    alt = words["asked_alt"].format(question=answered.question.name, finding=finding or answered.sentence)
    return Figure(data=data, layout=layout, caption=caption, alt=alt)


def _dots(name: str, x: Any, y: Sequence[str], colour: str, symbol: str, opacity: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": figures.plain_text(name),
        "x": x,
        "y": list(y),
        "marker": {"color": colour, "size": 10, "symbol": symbol, "opacity": opacity},
        "hovertemplate": HOVER,
    }


def rows(found: AskedAnswer, words: Mapping[str, str] = ENGLISH) -> tuple[list[str], list[list[str]]]:
    """Headings and cells of the table of all figures: labels, estimate, interval, grade, synthetic table, real one."""
    answered, of = found.answered, column_of(found.answered.question)
    heads = [
        *(a.name for a in answered.axes),
        *(words[f"asked_{x}"] for x in ("estimate", "interval", "grade", "table_says")),
    ]
    if found.real is not None:
        heads.append(words["real"])
    out = []
    for i, row in enumerate(answered.rows()):
        between = (
            ""
            if row["low"] is None
            else f"{number(row['low'], words, of)} {words['asked_to']} {number(row['high'], words, of)}"
        )
        cells = [
            *row["labels"].values(),
            shown(row["estimate"], words, of),
            between or "–",
            words[f"grade_{row['grade']}"],
            shown(row["synthetic"], words, of),
        ]
        if found.real is not None:
            cells.append(shown(float(found.real.values.ravel()[i]), words, of))
        out.append(cells)
    return heads, out


def shown(value: float | None, words: Mapping[str, str] = ENGLISH, of: str = "") -> str:
    """A figure as people read it; of: the column whose values it is one of."""
    return "–" if value is None or np.isnan(value) else number(value, words, of)


def section(page: Page, name: str, asked: Sequence[AskedAnswer], *, publishable: bool) -> None:
    """The questions of one table, first in its report."""
    if not asked:
        return
    private = any(a.real is not None for a in asked)
    words = page.words
    page.section(words["asked_title"], private=private, safe=publishable and not private)
    for i, answer in enumerate(asked):
        page.heading(answer.answered.question.name)
        text = answer.answered.sentence if words is ENGLISH else answer.answered.said(answer_words(words))
        drawn = figure(answer, words, finding=text)
        if drawn is not None:
            page.figure(f"asked-{name}-{i}", drawn)
        elif answer.real is not None and answer.real.values.size == 1:
            real = float(answer.real.values.ravel()[0])
            page.text(f"{words['real']}: {shown(real, words, column_of(answer.answered.question))}.")
        page.text(text)
        page.text(beside(answer, words))
        if drawn is not None:
            heads, cells = rows(answer, words)
            with page.fold(words["asked_table"].format(count=len(cells))):
                page.table(heads, cells)


def answer_words(words: Words) -> Words:
    """The words of answers in the language of a report."""
    return {key: part(f"answer.{key}", english, words) for key, english in ANSWERS.items()}


def beside(found: AskedAnswer, words: Mapping[str, str] = ENGLISH) -> str:
    """How the synthetic figures lie beside the real ones, in a sentence; empty without them."""
    if found.difference is None:
        return ""
    ranks = (
        ""
        if found.rank_agreement is None
        else " " + words["asked_ranks"].format(value=local(f"{found.rank_agreement:.2f}", words))
    )
    return words["asked_difference"].format(amount=number(found.difference, words)) + ranks
