"""One column at a time: real and synthetic laid over each other, and how marginals of each order differ."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Score
from dpsyn_core.report import build, profile_rows
from ui.report.look import Look
from ui.shared.blank_words import point_out_blank_words
from ui.shared.figure_files import table_button
from ui.shared.results import kept
from ui.shared.text import figure_words, percent, t
from ui.shared.theme import NAMES, dark, note, section, show, show_multiples, tokens

ORDERS = (("tvd-1way", "one"), ("tvd-2way", "two"), ("tvd-3way", "three"))
HEADS = ("column", "blank", "distinct", "mean", "deviation", "least", "median", "most_of", "largest", "wrong")
WIDE, DATES = 120, 170  # pixels of a column that holds two figures, or two dates
TWO_DATES = 23  # characters: 2020-01-01 / 2020-01-01
CHOSEN = "report_column"
CROWDED = 0.5  # share of a column's records in one bin from which on scores on bins tell little of it


def panel(view: Look) -> None:
    """All columns at a glance, the chosen one large, and the spread of TVD over all marginals of order 1, 2 and 3."""
    scores = [s for s in (view.score(side, "tvd-1way") for side in view.sides) if not isinstance(s, MetricError)]
    left, right = st.columns([7, 6], gap="large")
    with left:
        section(t("columns.all"))
        _glance(view, scores)
    with right:
        section(t("columns.title"))
        _overlay(view, scores)
        section(t("columns.spread"))
        _spread(view)
    _missing(view)
    section(t("columns.figures"))
    _figures(view)


def _missing(view: Look) -> None:
    """Blank cells, real beside synthetic; nothing where no table has any."""
    from dpsyn_core.report import missing_figure

    named = {view.name(s): s.comparison for s in view.sides}
    key = ("missing", *(s.job.id for s in view.sides))
    figure = kept(view.space, key, lambda: missing_figure(named, figure_words()))
    if figure is not None:
        section(t("columns.missing"))
        show(figure, key="missing")
        note(figure.caption)


def _figures(view: Look) -> None:
    """Every column in figures, real and synthetic."""
    note(t("columns.figures_note"))
    heads = [t(f"columns.{k}") for k in HEADS]
    for side in view.sides:
        if len(view.sides) > 1:
            note(view.name(side))
        point_out_blank_words(view.schema)
        rows = kept(view.space, ("profile", side.job.id), partial(profile_rows, side.comparison, figure_words()))
        longest = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        widths = [DATES if n >= TWO_DATES else WIDE for n in longest]
        widths[0] = NAMES
        config = {h: st.column_config.TextColumn(width=w) for h, w in list(zip(heads, widths, strict=True))[:-1]}
        shown, key = [dict(zip(heads, row, strict=True)) for row in rows], f"profile_{side.letter}"
        st.dataframe(shown, hide_index=True, key=key, alt=t("columns.figures"), column_config=config)
        table_button(f"profile_table_{side.letter}", t("columns.figures"), shown)


def _glance(view: Look, scores: list[Score]) -> None:
    """Small multiples of all columns; a click on one takes it over into the selector, once for each click."""
    from dpsyn_core.report import overview as glance

    if not scores:
        return
    named = {view.name(s): s.comparison for s in view.sides}
    differing = build.differences(scores)
    key = ("glance", *(s.job.id for s in view.sides))
    panels = kept(view.space, key, lambda: build.panels(named, differing, figure_words()))
    count, worst = len(panels), panels[0]
    note(t("columns.click") + (" " + t("columns.brush", shown=glance.MOST, all=count) if count > glance.MOST else ""))
    alt = t("columns.all_alt", count=count, name=worst.name, tvd=percent(worst.difference or 0.0))

    def made(width: str, across: int) -> dict[str, Any]:
        draw = partial(glance.glance, panels, across=across, palette=tokens(), words=figure_words())
        return kept(view.space, (*key, width, dark()), draw)

    fresh = show_multiples(made, key=view.key("glance"), alt=alt, across=(3, 2), selects=glance.CHOSEN)
    if fresh and fresh[0].get("column") in differing:
        st.session_state[view.key(CHOSEN)] = fresh[0]["column"]


def _overlay(view: Look, scores: list[Score]) -> None:
    differing = build.differences(scores)
    names = list(differing) or list(view.first.comparison.domain.names)
    called = {n: t("columns.differs", name=n, tvd=percent(differing.get(n, 0.0))) for n in names}
    name = st.selectbox(t("columns.choose"), names, format_func=called.__getitem__, key=view.key(CHOSEN))
    show(build.column({view.name(s): s.comparison for s in view.sides}, name, figure_words()), key="overlay")
    share = build.fullest_bin(view.first.comparison, name)
    if share is not None and share > CROWDED:
        note(t("crowd.note", column=name, share=percent(share, 0)), "warning")


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
    with st.container(gap="xxsmall"):
        for order, scores in orders.items():
            for name, score in scores.items():
                line = _line(order, score)
                note(line if len(view.sides) == 1 else f"{name}: {line}")
        note(t("columns.floor"))


def _line(order: str, score: Score) -> str:
    values = np.asarray(score.details["marginals"]["tvd"])
    worst = percent(float(values.max()))
    return t("columns.line", order=order, mean=percent(score.value), worst=worst, count=len(values))
