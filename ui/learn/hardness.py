"""Lab 31: why results of impossibility stop nobody: the errors of which they speak, and those of real tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.lessons import bounds as lesson
from ui.learn.controls import epsilon, steps
from ui.learn.kept import draw
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

RECORDS = tuple(10**k for k in range(3, 13))
COLUMNS = (5, 10, 20, 50, 100, 500)
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")  # powers of ten in a sentence
ROWS = ("hardness", "fingerprint", "noise", "fresh")  # from below


def figure(records: int, columns: int, eps: float) -> go.Figure:
    """Errors on one logarithmic axis of seventy powers of ten."""
    import plotly.graph_objects as go

    found = lesson.errors(records, columns, eps)
    colours = {"hardness": palette().warning, "fingerprint": hues()[1], "noise": hues()[0], "fresh": palette().real}
    out = go.Figure()
    for name in ROWS:
        label = t(f"learn.hardness.{name}")
        bar = {"color": colours[name], "width": 3}
        out.add_trace(go.Scatter(x=[1e-70, found[name]], y=[label] * 2, mode="lines", line=bar, showlegend=False))
        marker = {"color": colours[name], "size": 14, "symbol": "diamond"}
        out.add_trace(
            go.Scatter(
                x=[found[name]], y=[label], mode="markers+text", marker=marker, showlegend=False,
                text=[power(found[name])], textposition="top left" if found[name] > 1e-30 else "top right",
            )
        )  # fmt: skip
    ticks = list(range(-60, 1, 20))
    out.update_xaxes(
        title=t("learn.hardness.x"), type="log", range=[-70, 3], tickvals=[10.0**k for k in ticks],
        ticktext=[f"10<sup>{k}</sup>" if k else "1" for k in ticks],
    )  # fmt: skip
    out.update_yaxes(automargin=True)
    return out


def power(value: float) -> str:
    """A share as a percentage where that can be read, else as a power of ten."""
    return percent(value, 2) if value >= 1e-4 else f"10<sup>{round(math.log10(value))}</sup>"


def _small(value: float) -> str:
    """A share of the records, with the digits that tell it from none."""
    return percent(value, 4) if value >= 1e-6 else f"{local(100 * value, '.2g')}\u00a0%"


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    with a:
        records = int(steps(t("learn.hardness.records"), RECORDS, 100_000, key="hardness_records"))
    with b:
        columns = int(steps(t("learn.hardness.columns"), COLUMNS, 20, key="hardness_columns"))
    with c:
        eps = epsilon("hardness_epsilon")
    found = lesson.errors(records, columns, eps)
    orders = round(math.log10(found["noise"] / found["hardness"]))
    above = local(found["noise"] / found["fingerprint"], ".2g")
    digits = str(round(math.log10(lesson.records_for()))).translate(RAISED)
    facts([
        (str(orders), t("learn.hardness.orders"), t("learn.hardness.orders_note")),
        (above, t("learn.hardness.above"), t("learn.hardness.above_note")),
    ])  # fmt: skip
    reading = t("learn.hardness.reading", records=number(records), columns=columns, noise=_small(found["noise"]),
        fresh=_small(found["fresh"]), orders=orders, digits=digits)  # fmt: skip
    draw(figure, records, columns, eps, alt=t("learn.hardness.alt", reading=reading), key="hardness_plot", height=360)
    st.write(reading)
