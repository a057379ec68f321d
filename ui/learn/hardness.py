"""Lab 31: why results of impossibility stop nobody: the errors of which they speak, and those of real tables."""

import math

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import bounds as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("hardness")
WAYS = (2, 3, 4, 5, 6)
COLUMNS = (10, 20, 45, 100, 500)
RECORDS = tuple(10**k for k in range(3, 13))
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")  # powers of ten in a sentence


def figure(k: int, columns: int, records: int, eps: float) -> Figure:
    """Errors on one logarithmic axis, the theorems' from below."""
    found = lesson.errors(k, columns, records, eps)
    theirs, real = palette().warning, palette().real
    colours = {"published": theirs, "rebuild": theirs, "fingerprint": hues()[1], "noise": hues()[0], "fresh": real}
    # the first is the one case with all its factors
    left, right, every = (-70, 5, 30) if min(found.values()) < 1e-30 else (-13, 5, 4)
    out = chart()
    for name, error in found.items():
        label, colour = LAB.say(name), colours[name]
        side = "top right" if name == "published" else "top left"
        words = {"mode": "markers+text", "text": [power(error)], "textposition": side, "showlegend": False}
        out.add_trace(curve([10.0**left, error], [label] * 2, None, colour, width=3, showlegend=False))
        out.add_trace(marks([error], [label], None, colour, "diamond", size=14, **words))
    ticks = list(range(-every * (-left // every), right + 1, every))
    axis = {"type": "log", "range": [left, right], "tickangle": 0, "tickvals": [10.0**k for k in ticks]}
    out.update_xaxes(title=LAB.say("x"), ticktext=[f"10<sup>{k}</sup>" if k else "1" for k in ticks], **axis)
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
    k, columns = LAB.steps("ways", WAYS, most, at=a), LAB.steps("columns", COLUMNS, width, at=b)
    records, eps = LAB.steps("records", RECORDS, case, at=c), LAB.epsilon(at=d)
    found = lesson.errors(k, columns, records, eps)
    facts(
        (number(math.comb(columns, k)), LAB.say("marginals", k=k), LAB.say("marginals_note")),
        (local(found["noise"] / found["rebuild"], ".2g"), LAB.say("above"), LAB.say("above_note")),
    )
    there = {name: _ten_to(error) for name, error in lesson.errors(most, width, case, eps).items()}
    factors = LAB.say("factors", k=most, columns=width, records=number(case), **there)
    shares = {name: _small(error) for name, error in found.items() if name != "published"}
    reading = LAB.say("reading", records=number(records), columns=columns, k=k, **shares)
    LAB.tell(f"{reading} {factors}", figure, k, columns, records, eps, height=380)
