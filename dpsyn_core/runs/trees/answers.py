"""Answers of linked questions: each is measured by a separate table, so that its interval follows from its noise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, Need, noise
from dpsyn_core.files import write_text
from dpsyn_core.measure import Gate, measure_marginals
from dpsyn_core.privacy import Cost
from dpsyn_core.questions import (
    Answer,
    Axis,
    GiniQuestion,
    LinkedQuestion,
    QuantileQuestion,
    Questions,
    compile_question,
    evaluate,
    numbers_of,
)
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.flat_table import AskedTable, in_order
from dpsyn_core.runs.trees.forest import Forest
from dpsyn_core.runs.trees.measurement import ViewCounter
from dpsyn_core.runs.trees.order_statistics import RankedCounts, gini_interval
from dpsyn_core.runs.trees.stages import View, ViewColumn
from dpsyn_core.schema import LinkedSchema

Floats = NDArray[np.float64]
KIND = "question"  # of the charges
DRAWS = 400  # of the noise, from which an interval is read: its ends are then within some 0.3 standard errors
CONFIDENCE = 0.95  # of intervals
Z = 1.96  # standard deviations on either side of a normal variable that make this confidence
Z_LAPLACE = 2.17  # of one with Laplace noise, by its kurtosis (Cornish and Fisher 1938); sums of several need less


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedAnswer:
    """One question, answered from a table released for it, next to the answer of the synthetic tables.

    at_most: records of one root that count fully; None: all. axes: what the figures are broken down by; none for a
    single one. estimate, low, high, synthetic: float64 of the shape of the axes, NaN where there is none.
    The interval is about the bounded real tables: what bounding leaves out (more than `max_children`, orphans) is in
    none of them.
    """

    name: str
    about: str
    at_most: int | None
    axes: tuple[Axis, ...]
    unit: str
    estimate: Floats
    low: Floats
    high: Floats
    synthetic: Floats

    def rows(self) -> list[dict[str, Any]]:
        """One row a figure: its labels, and its numbers as JSON values (null where there is none)."""
        figures = {"estimate": self.estimate, "low": self.low, "high": self.high, "synthetic": self.synthetic}
        return [
            {"labels": {a.name: a.labels[k] for a, k in zip(self.axes, at, strict=True)}}
            | {n: float(v[at]) if np.isfinite(v[at]) else None for n, v in figures.items()}
            for at in np.ndindex(self.estimate.shape)
        ]

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "question": self.name,
            "about": self.about,
            "at_most": self.at_most,
            "unit": self.unit,
            "confidence": CONFIDENCE,
            "sentence": self.sentence(),
            "figures": self.rows(),
        }

    def sentence(self) -> str:
        """What the answer is and how far it may be off."""
        few = "" if self.at_most is None else f" Of one root at most {self.at_most} records count fully."
        if self.estimate.size == 1:
            middle, low, high, synthetic = (
                float(v.ravel()[0]) for v in (self.estimate, self.low, self.high, self.synthetic)
            )
            if not np.isfinite([middle, low, high]).all():
                return (
                    f"{self.name}: no figure ({self.unit}), for noise is all that its table holds; the synthetic "
                    f"tables say {synthetic:.4g}.{few}"
                )
            return (
                f"{self.name}: {middle:.4g} ({self.unit}), between {low:.4g} and {high:.4g} at {CONFIDENCE:.0%} "
                f"confidence; the synthetic tables say {synthetic:.4g}.{few}"
            )
        half = float(np.nanmedian((self.high - self.low) / 2)) if np.isfinite(self.high).any() else float("nan")
        return (
            f"{self.name}: {self.estimate.size} figures ({self.unit}); a typical one is off by at most {half:.4g} at "
            f"{CONFIDENCE:.0%} confidence for each.{few}"
        )


def asked_needs(schema: LinkedSchema, questions: Questions) -> list[tuple[AskedTable, Need]]:
    """The table that each question needs. Public facts. Raises QuestionError."""
    out = []
    for question in questions.across:
        table = AskedTable(schema, question)
        (need,) = compile_question(question.ask, table.table)
        out.append((table, replace(need, maps={**need.maps, **table.ends, **table.runs})))
    return out


def measure_questions(
    forest: Forest, schema: LinkedSchema, questions: Questions, costs: Sequence[Cost], gate: Gate
) -> list[Measurement]:
    """One noisy table a question, through the gate, for as many records of a root as its table may hold.

    Args:
        forest: bounded; private.
        schema: public.
        questions: that fit it.
        costs: of each.
        gate: of the run.
    """
    out = []
    for (table, need), cost in zip(asked_needs(schema, questions), costs, strict=True):
        view = View(
            columns=tuple(ViewColumn(attribute=a, kind="own") for a in table.table.domain().attributes),
            unit=table.unit,
            pairs=(),
        )
        codes, weights = table.counted(forest)
        counter = ViewCounter(view, list(codes), weights)
        out += measure_marginals(
            counter, [need.attributes], [cost], gate=gate.counting(table.unit), recodes=[need.maps], kind=KIND
        )
    return out


def answers_of(
    schema: LinkedSchema,
    questions: Questions,
    released: Sequence[Measurement],
    tables: Mapping[str, Any],
    *,
    pure: bool,
    rng: Generator,
) -> tuple[LinkedAnswer, ...]:
    """Answers with intervals. Post-processing.

    Args:
        schema: public.
        questions: declared.
        released: of `measure_questions`, in their order.
        tables: synthetic, pyarrow by name.
        pure: whether the noise is two-sided geometric.
        rng: for the draws of noise.
    """
    if not released:
        return ()
    forest, _ = bounded(schema, tables, key=bytes(32))
    out = []
    for (table, need), measured in zip(asked_needs(schema, questions), released, strict=True):
        question = table.question
        weights = table.weights(forest) / table.whole
        synthetic = evaluate(question.ask, table.codes(forest), table.table, weights=weights)
        estimate, low, high = estimated(table, need, measured, pure=pure, rng=rng)
        out.append(
            LinkedAnswer(
                name=question.name,
                about=question.about,
                at_most=question.at_most,
                axes=estimate.axes,
                unit=_unit(question, estimate),
                estimate=estimate.values,
                low=low,
                high=high,
                synthetic=_scaled(synthetic, estimate),
            )
        )
    return tuple(out)


def estimated(
    table: AskedTable, need: Need, measured: Measurement, *, pure: bool, rng: Generator
) -> tuple[Answer, Floats, Floats]:
    """The answer from a noisy table, and both ends of its interval."""
    counts, sigma = measured.values / table.whole, measured.sigma / table.whole
    estimate = _of_cells(table, need, counts)
    ask = table.question.ask
    if in_order(ask):
        return _ranked(table, ask, need, replace(measured, values=counts, sigma=sigma), estimate, pure=pure, rng=rng)
    drawn = np.stack(
        [
            _of_cells(table, need, counts + noise(measured, pure=pure, rng=rng) / table.whole).values
            for _ in range(DRAWS)
        ]
    )
    low, high = _tails(drawn - estimate.values)
    return estimate, estimate.values - high, estimate.values - low


def _tails(drawn: Floats) -> tuple[Floats, Floats]:
    tail = (1 - CONFIDENCE) / 2
    with np.errstate(invalid="ignore"):
        low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return low, high


def _ranked(
    table: AskedTable,
    ask: QuantileQuestion | GiniQuestion,
    need: Need,
    measured: Measurement,
    estimate: Answer,
    *,
    pure: bool,
    rng: Generator,
) -> tuple[Answer, Floats, Floats]:
    """The same of quantiles and Gini indices, which depend on the order of the number's values."""
    attribute = table.table[ask.of]
    numbers = numbers_of(attribute)
    place = need.maps[ask.of].map if ask.of in need.maps else np.arange(attribute.size)
    numbered = ~np.isnan(numbers)
    middle = np.bincount(place[numbered], numbers[numbered]) / np.bincount(place[numbered])
    order = np.argsort(middle)
    binning = attribute.binning
    low, high = middle.copy(), middle.copy()
    if binning is not None:
        first, last = binning.bounds()
        np.minimum.at(low, place[: len(first)], first)
        np.maximum.at(high, place[: len(last)], last)
    axes = [need.attributes.index(n) for n in (*ask.by, ask.of)]
    groups = estimate.values.shape[: len(ask.by)]

    def of(values: Floats) -> RankedCounts:
        counts = np.transpose(values, axes)[..., order].reshape(-1, len(order))
        return RankedCounts(
            counts=counts,
            sigma=measured.sigma,
            low=low[order],
            high=high[order],
            middle=middle[order],
            whole=ask.of in table.runs,
        )

    figure, z = of(measured.values), Z_LAPLACE if pure else Z
    if isinstance(ask, QuantileQuestion):
        ends = np.array([figure.quantiles(float(q), z) for q in ask.at])  # (quantiles, 3, groups)
        middles, lows, highs = (ends[:, i].T.reshape(*groups, len(ask.at)) for i in range(3))
        return replace(estimate, values=middles), lows, highs
    drawn = np.stack(
        [
            of(measured.values + noise(measured, pure=pure, rng=rng)).gini_parts(2 * measured.sigma**2)
            for _ in range(DRAWS)
        ]
    )
    figures = gini_interval(figure.gini_parts(measured.sigma**2), drawn, z)
    ginis, lows, highs = (f.reshape(groups) for f in figures)
    return replace(estimate, values=ginis), lows, highs


def _scaled(synthetic: Answer, estimate: Answer) -> Floats:
    """What the synthetic tables say, as it stands: numbers of records are theirs."""
    return (
        synthetic.values if synthetic.values.shape == estimate.values.shape else np.full_like(estimate.values, np.nan)
    )


def _unit(question: LinkedQuestion, answer: Answer) -> str:
    return question.about if answer.unit == "records" else answer.unit


def _of_cells(table: AskedTable, need: Need, values: Floats) -> Answer:
    """The answer from a table of counts: each cell is a record of its first codes, and its count a weight."""
    names = table.table.domain().names
    firsts = []
    for name, size in zip(need.attributes, values.shape, strict=True):
        place = need.maps[name].map if name in need.maps else np.arange(size)
        firsts.append(np.array([np.flatnonzero(place == k)[0] for k in range(size)], dtype=np.int64))
    grid = np.meshgrid(*firsts, indexing="ij")
    rows = {n: g.ravel() for n, g in zip(need.attributes, grid, strict=True)}
    codes = np.stack([rows[n] for n in names])
    return evaluate(table.question.ask, codes, table.table, weights=values.ravel())


def write_answers(answers: Sequence[LinkedAnswer], out: Path, *, private: bool) -> None:
    """Writes the answers. private: the run is NOT PRIVATE, and the file for its owner alone. Raises OutputError."""
    content = json.dumps([a.plain() for a in answers], indent=2, ensure_ascii=False) + "\n"
    write_text(out, content, private=private)
