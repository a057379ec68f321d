"""One column at a time: real and synthetic laid over each other, and how marginals of each order differ."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Score
from dpsyn_core.report import build
from ui.report.look import Look
from ui.shared.text import figure_words, percent, t
from ui.shared.theme import note, section, show

ORDERS = (("tvd-1way", "one"), ("tvd-2way", "two"), ("tvd-3way", "three"))


def panel(view: Look) -> None:
    """Overlay of a chosen column, then the spread of TVD over all marginals of order 1, 2 and 3."""
    left, right = st.columns([7, 6], gap="large")
    with left:
        section(t("columns.title"))
        _overlay(view)
    with right:
        section(t("columns.spread"))
        _spread(view)


def _overlay(view: Look) -> None:
    scores = [s for s in (view.score(side, "tvd-1way") for side in view.sides) if not isinstance(s, MetricError)]
    differing = dict(scores[0].details["by_attribute"]) if scores else {}
    names = build.by_difference(view.first.comparison.domain.names, scores)
    name = st.selectbox(
        t("columns.choose"),
        names,
        format_func=lambda n: t("columns.differs", name=n, tvd=percent(differing.get(n, 0.0))),
        key="report_column",
    )
    show(build.column({view.name(s): s.comparison for s in view.sides}, name, figure_words()), key="overlay")


def _spread(view: Look) -> None:
    orders: dict[str, dict[str, Score]] = {}
    for metric, words in ORDERS:
        if metric == "tvd-3way" and len(view.first.comparison.domain) < 3:
            continue
        for side in view.sides:
            got = view.score(side, metric)
            if isinstance(got, MetricError):
                note(str(got))
                continue
            orders.setdefault(t(f"columns.{words}"), {})[view.name(side)] = got
    figure = build.spread(orders, figure_words())
    if figure is None:
        return
    show(figure, key="spread")
    for order, scores in orders.items():
        for name, score in scores.items():
            line = _line(order, score)
            note(line if len(view.sides) == 1 else f"{name}: {line}")
    note(t("columns.floor"))


def _line(order: str, score: Score) -> str:
    values = np.asarray(score.details["marginals"]["tvd"])
    worst = percent(float(values.max()))
    return t("columns.line", order=order, mean=percent(score.value), worst=worst, count=len(values))
