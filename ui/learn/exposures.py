"""Lab 33: rates of an illness by district, drawn from the Gamma-Poisson model under two priors."""

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ui.learn.lab import Lab
from ui.learn.numbers import exposures as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import local, number
from ui.shared.theme import facts, palette
from ui.shared.theme import show as show_figure

LAB = Lab("exposures")
SMALL = 0  # place of the smallest district
HIGH = 3  # of the one whose rate is high


def figure(prior: lesson.Prior, eps: float, drawn: NDArray[np.int64] | None = None) -> Figure:
    """Real and synthetic cases of 1,000 inhabitants by the number of inhabitants."""
    colours, people = palette(), lesson.PEOPLE
    mean, deviation = (lesson.by_thousand(x) for x in lesson.model(prior, eps).moments())
    out, real = chart(), lesson.by_thousand(lesson.CASES)
    rings: dict[str, Any] = {"size": 12, "marker_line": {"width": 2}, "cliponaxis": False}
    out.add_trace(marks(people, real, LAB.say("real"), colours.real, "circle-open", **rings))
    spread = {"array": 2 * deviation, "arrayminus": np.minimum(2 * deviation, mean)}
    bars = {"type": "data", "symmetric": False, "color": colours.ink, "thickness": 1.2} | spread
    out.add_trace(marks(people, mean, LAB.say("mean"), colours.accent, "diamond", error_y=bars))
    if drawn is not None:
        out.add_trace(marks(people, lesson.by_thousand(drawn), LAB.say("drawn"), colours.warning, "x"))
    out.update_xaxes(title=LAB.say("x"), type="log", dtick=1, tickformat=",~r", range=[2.8, 5.7])
    out.update_yaxes(title=LAB.say("y"), type="log", dtick=1, tickformat=",~r", range=[-1.5, 2])
    return out


def _few(count: float) -> str:
    """A number of imaginary cases; few of them with a digit that tells it from none."""
    return number(round(count)) if count >= 10 else local(count, ".2g")


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns([3, 2, 1], gap="medium", vertical_alignment="bottom")
    prior, eps = LAB.pick("prior", lesson.PRIORS, "cases", words="of_", at=a), LAB.epsilon(5.0, at=b)
    wanted = c.button(LAB.say("draw"), key="exposures_draws")
    model = lesson.model(prior, eps)
    made, real = lesson.by_thousand(model.moments()[0]), lesson.by_thousand(lesson.CASES)
    small, small_real, high, high_real = (local(rates[at], ".2f") for at in (SMALL, HIGH) for rates in (made, real))
    added, cases = _few(float(model.shapes.sum())), number(int(lesson.CASES.sum()))
    facts(
        (added, LAB.say("added"), LAB.say("cases", cases=cases)),
        (small, LAB.say("small"), LAB.say("really", rate=small_real)),
        (high, LAB.say("high"), LAB.say("really", rate=high_real)),
    )
    rates = {"small": small, "small_real": small_real, "high": high, "high_real": high_real}
    reading = LAB.say("reading", added=added, cases=cases, **rates)
    if wanted:
        drawn = figure(prior, eps, model.draw(np.random.default_rng()))
        show_figure(drawn, alt=LAB.say("alt", reading=reading), key="exposures_drawn", height=400)
        st.write(reading)
    else:
        LAB.tell(reading, figure, prior, eps, height=400)
    st.write(LAB.say(f"says_{prior}"))
