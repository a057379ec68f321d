"""Lab 27: error, and marginals of one error, against the number of records: ten times need a tenth of the budget."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.learn.lab import Lab
from ui.learn.numbers import accounting as lesson
from ui.shared.charts import Figure
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("records")
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
    noise, tenth = (lesson.noise_error(AXIS, cells, TABLES, e, DELTA) for e in (eps, eps / 10))
    first, second, third, *_ = hues()
    lines = ("noise", noise, first, "solid"), ("tenth", tenth, second, "dash")
    out = LAB.curves(AXIS, *lines, ("sample", lesson.sample_error(AXIS, cells), third, "dot"))
    out.update_yaxes(title=LAB.say("y"), type="log", dtick=1, range=[-5.2, 0.05], tickformat=".3~%")
    return _by_records(out, records)


def marginals_figure(records: int, error: float, eps: float) -> Figure:
    """How many marginals can have this error, by the number of records, under epsilon alone and with delta."""
    pure, approximate = lesson.marginals_within(error, AXIS, eps)
    out = LAB.curves(AXIS, ("pure", pure, hues()[0], "dash"), ("approximate", approximate, hues()[1], "solid"))
    out.update_yaxes(title=LAB.say("y_marginals"), type="log", dtick=2, range=[0, 10], tickformat=",~r")
    return _by_records(out, records)


def _by_records(out: Figure, records: int) -> Figure:
    """The figure with the axis of records, on which the chosen number is marked."""
    out.add_vline(x=records, line={"color": palette().line, "dash": "dot"})
    return out.update_xaxes(title=LAB.say("x"), type="log", range=[2, 7], tickvals=TICKS, tickformat=",~r")


def needed(records: int, cells: int) -> list[str]:
    """Epsilon at which noise alone gives the wanted error, with so many records and with ten times as many."""
    found = [lesson.epsilon_for(WANTED, n, cells, TABLES, DELTA) for n in (records, 10 * records)]
    return [LAB.say("over") if e > LARGEST else local(e, ".3g") for e in found]


def found(records: int, cells: int, eps: float) -> dict[str, str]:
    """What the closing sentence says at these settings."""
    here, more = needed(records, cells)
    cross = number(float(f"{lesson.records_where_noise_is_chance(cells, TABLES, eps, DELTA):.2g}"))
    said = {"wanted": percent(WANTED, 0), "eps": local(eps, "g"), "cells": number(cells)}
    return said | {"here": here, "more": more, "cross": cross}


def show() -> dict[str, str]:
    """The view, controls, numbers, figure."""
    view = LAB.segments("view", VIEWS, "error")
    a, b, c = st.columns(3, gap="medium")
    records, eps = LAB.steps("records", RECORDS, 10_000, at=a), LAB.epsilon(at=c)
    if view == "marginals":
        _marginals(records, eps, b)
        return found(records, USUAL, eps)
    cells = LAB.steps("cells", CELLS, USUAL, at=b)
    _error(records, cells, eps)
    return found(records, cells, eps)


def _error(records: int, cells: int, eps: float) -> None:
    """Numbers and figure of the error of a table."""
    error = percent(float(lesson.noise_error([records], cells, TABLES, eps, DELTA)[0]))
    sample, wanted = percent(float(lesson.sample_error([records], cells)[0])), percent(WANTED, 0)
    here, more = needed(records, cells)
    facts(
        (error, LAB.say("noise_is"), LAB.say("sample_is", error=sample)),
        (here, LAB.say("needed", error=wanted), LAB.say("more", epsilon=more)),
    )
    table = {"records": number(records), "cells": number(cells), "tables": TABLES}
    reading = LAB.say("reading", error=error, sample=sample, here=here, more=more, wanted=wanted, **table)
    LAB.draw(figure, records, cells, eps, alt=LAB.say("alt", reading=reading), height=400)


def _marginals(records: int, eps: float, place: DeltaGenerator) -> None:
    """A control in its place, numbers and figure of the marginals that can have one error."""
    share = LAB.steps("share", ERRORS, 1e-3, words=lambda e: percent(e, 3), at=place)
    both = lesson.marginals_within(share, [records, 10 * records], eps)
    shown = [[number(float(f"{int(m):.3g}")) for m in line] for line in both]
    (pure, more_pure), (approximate, more_approximate) = shown
    facts(
        (pure, LAB.say("pure_is"), LAB.say("ten", count=more_pure)),
        (approximate, LAB.say("approximate_is"), LAB.say("ten", count=more_approximate)),
    )
    counts = {"pure": pure, "approximate": approximate, "more_pure": more_pure, "more_approximate": more_approximate}
    settings = {"share": percent(share, 3), "records": number(records), "eps": local(eps, "g")}
    reading = LAB.say("marginals_reading", **settings, **counts)
    alt = LAB.say("marginals_alt", reading=reading)
    LAB.draw(marginals_figure, records, share, eps, alt=alt, height=400, key="marginals")
    st.write(reading)
