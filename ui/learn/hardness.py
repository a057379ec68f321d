"""Lab 31: why results of impossibility stop nobody: the errors of which they speak, and those of real tables."""

import math

import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import draw
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

WAYS = (2, 3, 4, 5, 6)
COLUMNS = (10, 20, 45, 100, 500)
RECORDS = tuple(10**k for k in range(3, 13))
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")  # powers of ten in a sentence


def figure(k: int, columns: int, records: int, eps: float) -> Figure:
    """Errors on one logarithmic axis, the theorems' from below."""
    found = lesson.errors(k, columns, records, eps)
    colours = {
        "published": palette().warning,
        "rebuild": palette().warning,
        "fingerprint": hues()[1],
        "noise": hues()[0],
        "fresh": palette().real,
    }
    worked_out = min(found.values()) < 1e-30  # the one case with all its factors
    left, right = (-70, 5) if worked_out else (-13, 5)
    out = chart()
    for name, error in found.items():
        label = t(f"learn.hardness.{name}")
        out.add_trace(curve([10.0**left, error], [label] * 2, None, colours[name], width=3, showlegend=False))
        out.add_trace(
            marks(
                [error],
                [label],
                None,
                colours[name],
                "diamond",
                size=14,
                mode="markers+text",
                showlegend=False,
                text=[power(error)],
                textposition="top right" if name == "published" else "top left",
            )
        )
    every = 30 if worked_out else 4
    ticks = list(range(-every * (-left // every), right + 1, every))
    out.update_xaxes(
        title=t("learn.hardness.x"),
        type="log",
        range=[left, right],
        tickangle=0,
        tickvals=[10.0**k for k in ticks],
        ticktext=[f"10<sup>{k}</sup>" if k else "1" for k in ticks],
    )
    out.update_yaxes(automargin=True)
    return out


def power(value: float) -> str:
    """A share as a percentage where that can be read, else as a power of ten."""
    return percent(value, 2) if 1e-4 <= value < 10 else f"10<sup>{round(math.log10(value))}</sup>"


def _small(value: float) -> str:
    """A share of the records, with the digits that tell it from none."""
    return percent(value, 4) if value >= 1e-6 else percent(value, -1 - math.floor(math.log10(value)))


def _ten_to(value: float) -> str:
    """The power of ten that is nearest, in a sentence."""
    return f"10{str(round(math.log10(value))).translate(RAISED)}"


def show() -> None:
    """Controls, numbers, figure."""
    most, width, case = lesson.WORKED_OUT
    a, b, c, d = st.columns(4, gap="medium")
    k = int(steps(t("learn.hardness.ways"), WAYS, most, key="hardness_ways", at=a))
    columns = int(steps(t("learn.hardness.columns"), COLUMNS, width, key="hardness_columns", at=b))
    records = int(steps(t("learn.hardness.records"), RECORDS, case, key="hardness_records", at=c))
    eps = epsilon("hardness_epsilon", at=d)
    found = lesson.errors(k, columns, records, eps)
    facts(
        (number(math.comb(columns, k)), t("learn.hardness.marginals", k=k), t("learn.hardness.marginals_note")),
        (local(found["noise"] / found["rebuild"], ".2g"), t("learn.hardness.above"), t("learn.hardness.above_note")),
    )
    there = lesson.errors(most, width, case, eps)
    factors = t("learn.hardness.factors", k=most, columns=width, records=number(case),
        rebuild=_ten_to(there["rebuild"]), published=_ten_to(there["published"]))  # fmt: skip
    reading = t("learn.hardness.reading", records=number(records), columns=columns, k=k, noise=_small(found["noise"]),
        rebuild=_small(found["rebuild"]), fresh=_small(found["fresh"])) + " " + factors  # fmt: skip
    alt = t("learn.hardness.alt", reading=reading)
    draw(figure, k, columns, records, eps, alt=alt, key="hardness_plot", height=380)
    st.write(reading)
