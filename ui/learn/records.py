"""Lab 27: error, and marginals of one error, against the number of records: ten times need a tenth of the budget."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.learn.controls import epsilon, segments, steps
from ui.learn.kept import draw
from ui.learn.numbers import accounting as lesson
from ui.shared.charts import Figure, chart, curve
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

RECORDS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000, 10_000_000)
CELLS = (10, 30, 100, 300, 1_000)
USUAL = 100  # cells
AXIS = tuple(float(x) for x in np.geomspace(100, 1e7, 51))
TICKS = (100, 10_000, 1_000_000)  # of the axis of records: more of them, or 10,000,000, leave no room on a phone
TABLES, DELTA = 50, 1e-9  # tables that share the budget: about the pairs of ten columns
WANTED = 0.02
VIEWS = ("error", "marginals")
ERRORS = (1e-5, 1e-4, 1e-3, 1e-2)  # of a cell, as shares of the records; the first is that of the document
LARGEST = 999.0  # epsilon up to which one is sought


def figure(records: int, cells: int, eps: float) -> Figure:
    """Expected error of a table by the number of records: noise, and a fresh sample of as many."""
    out = chart()
    lines = (
        ("noise", lesson.noise_error(AXIS, cells, TABLES, eps, DELTA), "solid"),
        ("tenth", lesson.noise_error(AXIS, cells, TABLES, eps / 10, DELTA), "dash"),
        ("sample", lesson.sample_error(AXIS, cells), "dot"),
    )
    for (name, y, dash), colour in zip(lines, hues(), strict=False):
        out.add_trace(curve(AXIS, y, t(f"learn.records.{name}"), colour, dash))
    out.add_vline(x=records, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=t("learn.records.x"), type="log", range=[2, 7], tickvals=TICKS, tickformat=",~r")
    out.update_yaxes(title=t("learn.records.y"), type="log", dtick=1, range=[-5.2, 0.05], tickformat=".3~%")
    return out


def marginals_figure(records: int, error: float, eps: float) -> Figure:
    """How many marginals can have this error, by the number of records, under epsilon alone and with delta."""
    out = chart()
    both = lesson.marginals_within(error, AXIS, eps)
    for name, y, colour, dash in zip(("pure", "approximate"), both, hues(), ("dash", "solid"), strict=False):
        out.add_trace(curve(AXIS, y, t(f"learn.records.{name}"), colour, dash))
    out.add_vline(x=records, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=t("learn.records.x"), type="log", range=[2, 7], tickvals=TICKS, tickformat=",~r")
    out.update_yaxes(title=t("learn.records.y_marginals"), type="log", dtick=2, range=[0, 10], tickformat=",~r")
    return out


def found(records: int, cells: int, eps: float) -> dict[str, str]:
    """What the closing sentence says at these settings."""
    needed = [lesson.epsilon_for(WANTED, n, cells, TABLES, DELTA) for n in (records, 10 * records)]
    here, more = (t("learn.records.over") if e > LARGEST else local(e, ".3g") for e in needed)
    cross = lesson.records_where_noise_is_chance(cells, TABLES, eps, DELTA)
    return {
        "wanted": percent(WANTED, 0),
        "here": here,
        "more": more,
        "eps": local(eps, "g"),
        "cells": number(cells),
        "cross": number(float(f"{cross:.2g}")),
    }


def show() -> dict[str, str]:
    """The view, controls, numbers, figure."""
    view = segments(t("learn.records.view"), VIEWS, "error", key="records_view")
    a, b, c = st.columns(3, gap="medium")
    records = int(steps(t("learn.records.records"), RECORDS, 10_000, key="records_records", at=a))
    eps = epsilon("records_epsilon", at=c)
    if view == "marginals":
        _marginals(records, eps, b)
        return found(records, USUAL, eps)
    cells = int(steps(t("learn.records.cells"), CELLS, USUAL, key="records_cells", at=b))
    _error(records, cells, eps)
    return found(records, cells, eps)


def _error(records: int, cells: int, eps: float) -> None:
    """Numbers and figure of the error of a table."""
    error = float(lesson.noise_error([records], cells, TABLES, eps, DELTA)[0])
    sample = float(lesson.sample_error([records], cells)[0])
    needed = [lesson.epsilon_for(WANTED, n, cells, TABLES, DELTA) for n in (records, 10 * records)]
    here, more = (t("learn.records.over") if e > LARGEST else local(e, ".3g") for e in needed)
    facts(
        (percent(error), t("learn.records.noise_is"), t("learn.records.sample_is", error=percent(sample))),
        (here, t("learn.records.needed", error=percent(WANTED, 0)), t("learn.records.more", epsilon=more)),
    )
    reading = t("learn.records.reading", records=number(records), cells=number(cells), tables=TABLES,
        error=percent(error), sample=percent(sample), here=here, more=more, wanted=percent(WANTED, 0))  # fmt: skip
    draw(figure, records, cells, eps, alt=t("learn.records.alt", reading=reading), key="records_plot", height=400)


def _marginals(records: int, eps: float, place: DeltaGenerator) -> None:
    """A control in its place, numbers and figure of the marginals that can have one error."""
    share = steps(
        t("learn.records.share"), ERRORS, 1e-3, key="records_share", words=lambda e: percent(float(e), 3), at=place
    )
    both = lesson.marginals_within(share, [records, 10 * records], eps)
    shown = [[number(float(f"{int(m):.3g}")) for m in line] for line in both]
    (pure, more_pure), (approximate, more_approximate) = shown
    facts(
        (pure, t("learn.records.pure_is"), t("learn.records.ten", count=more_pure)),
        (approximate, t("learn.records.approximate_is"), t("learn.records.ten", count=more_approximate)),
    )
    reading = t(
        "learn.records.marginals_reading",
        share=percent(share, 3),
        records=number(records),
        eps=local(eps, "g"),
        pure=pure,
        approximate=approximate,
        more_pure=more_pure,
        more_approximate=more_approximate,
    )
    alt = t("learn.records.marginals_alt", reading=reading)
    draw(marginals_figure, records, share, eps, alt=alt, key="records_marginals", height=400)
    st.write(reading)
