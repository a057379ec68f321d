"""Lab 33: rates of an illness by district, drawn from the Gamma-Poisson model under two priors."""

from typing import cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ui.learn.controls import epsilon, pick
from ui.learn.kept import draw
from ui.learn.numbers import exposures as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import local, number, t
from ui.shared.theme import facts, palette
from ui.shared.theme import show as show_figure

SMALL = 0  # place of the smallest district
HIGH = 3  # of the one whose rate is high


def figure(prior: str, eps: float, drawn: NDArray[np.int64] | None = None) -> Figure:
    """Real and synthetic cases of 1,000 inhabitants by the number of inhabitants."""
    colours, found = palette(), lesson.model(cast("lesson.Prior", prior), eps)
    mean, deviation = (lesson.by_thousand(x) for x in found.moments())
    out = chart()
    y = lesson.by_thousand(lesson.CASES)
    out.add_trace(
        marks(
            lesson.PEOPLE,
            y,
            t("learn.exposures.real"),
            colours.real,
            "circle-open",
            size=12,
            marker_line={"width": 2},
            cliponaxis=False,
        )
    )
    spread = {"array": 2 * deviation, "arrayminus": np.minimum(2 * deviation, mean)}
    bars = {"type": "data", "symmetric": False, "color": colours.ink, "thickness": 1.2} | spread
    out.add_trace(marks(lesson.PEOPLE, mean, t("learn.exposures.mean"), colours.accent, "diamond", error_y=bars))
    if drawn is not None:
        y = lesson.by_thousand(drawn)
        out.add_trace(marks(lesson.PEOPLE, y, t("learn.exposures.drawn"), colours.warning, "x"))
    out.update_xaxes(title=t("learn.exposures.x"), type="log", dtick=1, tickformat=",~r", range=[2.8, 5.7])
    out.update_yaxes(title=t("learn.exposures.y"), type="log", dtick=1, tickformat=",~r", range=[-1.5, 2])
    return out


def _few(count: float) -> str:
    """A number of imaginary cases; few of them with a digit that tells it from none."""
    return number(round(count)) if count >= 10 else local(count, ".2g")


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns([3, 2, 1], gap="medium", vertical_alignment="bottom")
    prior = pick(t("learn.exposures.prior"), lesson.PRIORS, key="exposures_prior", words="of_", at=a)
    eps = epsilon("exposures_epsilon", 5.0, at=b)
    wanted = c.button(t("learn.exposures.draw"), key="exposures_draws")
    model = lesson.model(cast("lesson.Prior", prior), eps)
    mean = lesson.by_thousand(model.moments()[0])
    real = lesson.by_thousand(lesson.CASES)
    added = model.shapes.sum()
    small, high = local(mean[SMALL], ".2f"), local(mean[HIGH], ".2f")
    small_real, high_real = local(real[SMALL], ".2f"), local(real[HIGH], ".2f")
    facts(
        (
            _few(float(added)),
            t("learn.exposures.added"),
            t("learn.exposures.cases", cases=number(int(lesson.CASES.sum()))),
        ),
        (small, t("learn.exposures.small"), t("learn.exposures.really", rate=small_real)),
        (high, t("learn.exposures.high"), t("learn.exposures.really", rate=high_real)),
    )
    reading = t("learn.exposures.reading", small=small, small_real=small_real, high=high, high_real=high_real,
        added=_few(float(added)), cases=number(int(lesson.CASES.sum())))  # fmt: skip
    alt = t("learn.exposures.alt", reading=reading)
    if wanted:
        drawn = model.draw(np.random.default_rng())
        show_figure(figure(prior, eps, drawn), alt=alt, key="exposures_drawn", height=400)
    else:
        draw(figure, prior, eps, alt=alt, key="exposures_plot", height=400)
    st.write(reading)
    st.write(t(f"learn.exposures.says_{prior}"))
