"""Ask your own question: drag a box on a plot, or write a query; both counts and the error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import CountQuery, Filter, QueryAnswer, ask, fresh_error, parse
from dpsyn_core.report import Figure, build, figures
from ui.report.look import Look
from ui.shared.faults import refusals
from ui.shared.text import figure_words, local, number, percent, t
from ui.shared.theme import facts, note, section, show

if TYPE_CHECKING:
    from dpsyn_core.evaluate import Comparison

POINTS = 900  # dots a table on the plot
FEW = 10  # values of a number below which its dots stand on a few lines


def panel(view: Look) -> None:
    """The plot on the left, answers on the right."""
    left, right = st.columns([7, 6], gap="large")
    with left:
        section(t("queries.title"))
        box = _plot(view)
    with right:
        section(t("queries.answer"))
        if box is None:
            note(t("queries.none"))
        else:
            _answers(view, [box])
        section(t("queries.written"))
        example = _example(view.first.comparison)
        text = st.text_input(t("queries.text"), key=view.key("query_text"), placeholder=example, help=t("queries.help"))
        if text:
            with refusals():
                _answers(view, [parse(text, view.first.comparison)])
        section(t("queries.random"))
        _random(view)


def _random(view: Look) -> None:
    """Random range queries: a dot each, and what the scores say."""
    known = {}
    for side in view.sides:
        got = view.score(side, "range-queries")
        if isinstance(got, MetricError):
            note(str(got))
            continue
        known[view.name(side)] = got
        off = got.details["quantiles"]["0.5"]
        note(t("queries.off", mean=percent(got.value, 2), half=percent(off, 2), fresh=percent(got.floor or 0, 2)))
        nist = view.score(side, "nist")
        if not isinstance(nist, MetricError):
            clean = {name: number(round(part["clean"])) for name, part in nist.details["parts"].items()}
            parts = [t(f"queries.{name}", score=score) for name, score in clean.items()]
            note(t("queries.nist", parts=", ".join(parts), score=number(round(nist.value))))
    if known:
        show(build.ranges(known, view.first.comparison.n, figure_words()), key="random_queries")


def _example(c: Comparison) -> str:
    """A number and the middle half of its synthetic values, or a value of the first column."""
    name = next((n for n in c.domain.names if n in c.synthetic_values), None)
    if name is None:
        return f"{c.domain.names[0]} in {{{c.words(c.domain.names[0])[0]}}}"
    low, high = np.nanquantile(c.exact(name)[1], (0.25, 0.75))
    form = ".0f" if high - low > FEW else ".3g"
    return f"{name} in [{low:{form}}, {high:{form}}]"


def _plot(view: Look) -> CountQuery | None:
    c = view.first.comparison
    # numbers of many values first: an ordered category stands on the plot by its rank, and a few values on lines
    few = {n for n, size in zip(c.domain.names, c.domain.sizes, strict=True) if size < FEW}
    names = sorted((n for n in c.domain.names if c.numeric(n)), key=lambda n: (n in few, n not in c.synthetic_values))
    if len(names) < 2:
        note(t("queries.few"))
        return None
    first, second = st.columns(2)
    x = first.selectbox(t("queries.x"), names, key=view.key("query_x"))
    y = second.selectbox(t("queries.y"), [n for n in names if n != x], key=view.key("query_y"))
    got = show(_dots(view, x, y), alt=t("queries.alt", x=x, y=y), key=f"box_{x}_{y}", selects="box")
    note(t("queries.drag"))
    if not got["box"]:
        return None
    area = got["box"][0]
    (x0, x1), (y0, y1) = sorted(area["x"]), sorted(area["y"])  # type: ignore[call-overload]
    return CountQuery(
        (Filter(attribute=x, low=float(x0), high=float(x1)), Filter(attribute=y, low=float(y0), high=float(y1)))
    )


def _dots(view: Look, x: str, y: str) -> Figure:
    c = view.first.comparison
    rng = np.random.default_rng(0)
    tables = {}
    for label, which in ((t("word.real"), 0), (t("word.synthetic"), 1)):
        xs, ys = c.numbers(x)[which], c.numbers(y)[which]
        at = rng.permutation(len(xs))[:POINTS]
        tables[label] = (xs[at], ys[at])
    ranked = {name: c.words(name) for name in (x, y) if name not in c.synthetic_values}
    return figures.records_plot((x, y), tables, ranked, figure_words())


def _answers(view: Look, queries: list[CountQuery]) -> None:
    with refusals():
        for side in view.sides:
            prefix = "" if len(view.sides) == 1 else f"{side.letter} · "
            _answer(side.comparison, ask(side.comparison, queries)[0], prefix)


def _answer(c: Comparison, got: QueryAnswer, prefix: str) -> None:
    error = t("queries.no_relative") if got.relative is None else local(got.relative, "+.1%")
    spread = float(fresh_error(got.real, c.n, c.m)) * c.n
    facts(
        (number(got.real), prefix + t("queries.real"), t("queries.records")),
        (number(got.synthetic), prefix + t("queries.synthetic"), t("queries.scaled", n=number(round(got.scaled)))),
        (error, prefix + t("queries.error"), t("queries.sampling", spread=percent(spread / max(1, got.real)))),
    )
    note(got.text)
