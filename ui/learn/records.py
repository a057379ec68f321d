"""Lab 27: error against the number of records: ten times the records need a tenth of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import draw
from ui.learn.numbers import accounting as lesson
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

RECORDS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000, 10_000_000)
CELLS = (10, 30, 100, 300, 1_000)
AXIS = tuple(float(x) for x in np.geomspace(100, 1e7, 51))
TABLES, DELTA = 50, 1e-9  # tables that share the budget: about the pairs of ten columns
WANTED = 0.02
LARGEST = 999.0  # epsilon up to which one is sought


def figure(records: int, cells: int, eps: float) -> go.Figure:
    """Expected error of a table by the number of records: noise, and a fresh sample of as many."""
    import plotly.graph_objects as go

    out = go.Figure()
    lines = (
        ("noise", lesson.noise_error(AXIS, cells, TABLES, eps, DELTA), "solid"),
        ("tenth", lesson.noise_error(AXIS, cells, TABLES, eps / 10, DELTA), "dash"),
        ("sample", lesson.sample_error(AXIS, cells), "dot"),
    )
    for (name, y, dash), colour in zip(lines, hues(), strict=False):
        line = {"color": colour, "dash": dash, "width": 2.4}
        out.add_trace(go.Scatter(x=AXIS, y=y, mode="lines", name=t(f"learn.records.{name}"), line=line))
    out.add_vline(x=records, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=t("learn.records.x"), type="log", dtick=1, range=[2, 7], tickformat=",~r")
    out.update_yaxes(title=t("learn.records.y"), type="log", range=[-5, 0.05], tickformat=".2~%")
    return out


def found(records: int, cells: int, eps: float) -> dict[str, str]:
    """What the closing sentence says at these settings."""
    needed = [lesson.epsilon_for(WANTED, n, cells, TABLES, DELTA) for n in (records, 10 * records)]
    here, more = (t("learn.records.over") if e > LARGEST else local(e, ".3g") for e in needed)
    cross = lesson.records_where_noise_is_chance(cells, TABLES, eps, DELTA)
    return {
        "wanted": percent(WANTED, 0), "here": here, "more": more, "eps": local(eps, "g"), "cells": number(cells),
        "cross": number(float(f"{cross:.2g}")),
    }  # fmt: skip


def show() -> dict[str, str]:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    with a:
        records = int(steps(t("learn.records.records"), RECORDS, 10_000, key="records_records"))
    with b:
        cells = int(steps(t("learn.records.cells"), CELLS, 100, key="records_cells"))
    with c:
        eps = epsilon("records_epsilon")
    error = float(lesson.noise_error([records], cells, TABLES, eps, DELTA)[0])
    sample = float(lesson.sample_error([records], cells)[0])
    needed = [lesson.epsilon_for(WANTED, n, cells, TABLES, DELTA) for n in (records, 10 * records)]
    here, more = (t("learn.records.over") if e > LARGEST else local(e, ".3g") for e in needed)
    facts([
        (percent(error), t("learn.records.noise_is"), t("learn.records.sample_is", error=percent(sample))),
        (here, t("learn.records.needed", error=percent(WANTED, 0)), t("learn.records.more", epsilon=more)),
    ])  # fmt: skip
    reading = t("learn.records.reading", records=number(records), cells=number(cells), tables=TABLES,
        error=percent(error), sample=percent(sample), here=here, more=more, wanted=percent(WANTED, 0))  # fmt: skip
    draw(figure, records, cells, eps, alt=t("learn.records.alt", reading=reading), key="records_plot", height=400)
    return found(records, cells, eps)
