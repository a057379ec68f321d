"""One column at a time: real and synthetic laid over each other, and how marginals of each order differ."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpsyn_core.errors import MetricError
from ui.report import figures
from ui.report.look import Look
from ui.shared.text import percent, t
from ui.shared.theme import note, palette, section, show

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
    c = view.first.comparison
    score = view.score(view.first, "tvd-1way")
    differing = {} if isinstance(score, MetricError) else dict(score.details["by_attribute"])
    names = sorted(c.domain.names, key=lambda n: -differing.get(n, 0.0))
    name = st.selectbox(
        t("columns.choose"),
        names,
        format_func=lambda n: t("columns.differs", name=n, tvd=percent(differing.get(n, 0.0))),
        key="report_column",
    )
    series = [(t("word.real"), _shares(c.real_counter.marginal((name,))), palette().real)]
    series += [
        (view.name(s), _shares(s.comparison.synthetic_counter.marginal((name,))), s.colour) for s in view.sides
    ]  # fmt: skip
    figure = figures.overlay(c.words(name), series)
    show(figure, alt=t("columns.alt", name=name, tvd=percent(differing.get(name, 0.0))), key="overlay")


def _shares(counts: np.ndarray) -> np.ndarray:
    return counts / max(1, counts.sum())


def _spread(view: Look) -> None:
    groups, lines = [], []
    for metric, words in ORDERS:
        if metric == "tvd-3way" and len(view.first.comparison.domain) < 3:
            continue
        got = view.score(view.first, metric)
        if isinstance(got, MetricError):
            note(str(got))
            continue
        values = np.asarray(got.details["marginals"]["tvd"])
        groups.append((t(f"columns.{words}"), values, got.floor))
        lines.append(t("columns.line", order=t(f"columns.{words}"), mean=percent(got.value),
                       worst=percent(float(values.max())), count=len(values)))  # fmt: skip
    show(figures.spread(groups), alt=t("columns.spread_alt", lines="; ".join(lines)), key="spread")
    for line in lines:
        note(line)
    note(t("columns.floor"))
