"""Lab 10: how many noisy sums give a secret column away, and how much noise stops that."""

import math

import numpy as np
import streamlit as st

from ui.learn.controls import steps
from ui.learn.kept import tell
from ui.learn.numbers import asking as lesson
from ui.shared.charts import Figure, curve, marks
from ui.shared.text import amount, local, number, percent, t
from ui.shared.theme import facts, hues, palette

PEOPLE = (32, 64, 128, 256)
PER_PERSON = (1, 2, 4, 8)
NOISES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
EPSILON, DELTA = 1.0, 1e-6


def figure(asked: lesson.Survey, noise: float, right: lesson.Bools, private: float) -> Figure:
    """Above: the share read rightly against the noise. Below: the people, those read wrongly marked."""
    from plotly.subplots import make_subplots

    colours = palette()
    people = len(asked.secret)
    out = make_subplots(rows=2, cols=1, row_heights=[0.72, 0.28], vertical_spacing=0.2)
    high = max(2.2 * private, 40.0)
    x = np.geomspace(0.1, high, 80)
    y = [lesson.expected_share(asked, float(v)) for v in x]
    out.add_trace(
        curve(x, y, t("learn.reconstruction.line"), hues()[0], hovertemplate=t("learn.reconstruction.hover")), 1, 1
    )
    here = max(noise, 0.1)
    out.add_trace(
        marks([here], [float(right.mean())], t("learn.reconstruction.here"), colours.warning, "diamond", size=12), 1, 1
    )
    # named in the legend: words beside two near lines would cover each other on a phone
    for at, words, dash in ((math.sqrt(people), "root", "dot"), (private, "private", "dash")):
        name = t(f"learn.reconstruction.{words}")
        out.add_trace(curve([at, at], [0.45, 1.03], name, colours.real, dash, width=1.5, hoverinfo="skip"), 1, 1)
    across = 32
    place = np.arange(people)
    for ok, words, colour, symbol in ((True, "right", hues()[0], "square"), (False, "wrong", colours.warning, "x")):
        chosen = place[right == ok]
        out.add_trace(
            marks(
                chosen % across,
                chosen // across,
                t(f"learn.reconstruction.{words}"),
                colour,
                symbol,
                size=8,
                hoverinfo="skip",
            ),
            2,
            1,
        )
    out.update_xaxes(title=t("learn.reconstruction.x"), type="log", dtick=1, range=[-1.1, 2.7], row=1, col=1)
    out.update_yaxes(title=t("learn.reconstruction.y"), tickformat=".0%", range=[0.45, 1.03], row=1, col=1)
    out.update_xaxes(visible=False, range=[-1, across], row=2, col=1)
    out.update_yaxes(visible=False, range=[max(8, -(-people // across)) - 0.4, -0.6], row=2, col=1)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    people = steps(t("learn.reconstruction.people"), PEOPLE, 64, key="reconstruction_people", at=a)
    per_person = steps(t("learn.reconstruction.answers"), PER_PERSON, 4, key="reconstruction_answers", at=b)
    noise = float(steps(t("learn.reconstruction.noise"), NOISES, 1.0, key="reconstruction_noise", at=c))
    asked = lesson.survey(int(people), int(per_person))
    answers = len(asked.groups)
    turn = int(st.session_state.get("reconstruction_turn", 0))
    if st.button(t("learn.reconstruction.again"), key="reconstruction_again"):
        turn += 1
        st.session_state["reconstruction_turn"] = turn
    right = lesson.attack(asked, noise, turn)
    private = lesson.private_noise(answers, EPSILON, DELTA)
    cliff = lesson.noise_for_share(asked, 0.95)
    facts(
        (
            f"{int(right.sum())} / {people}",
            t("learn.reconstruction.got"),
            t("learn.reconstruction.expected", share=percent(lesson.expected_share(asked, noise))),
        ),
        (
            number(round(cliff, 2)),
            t("learn.reconstruction.cliff"),
            t(
                "learn.reconstruction.of_root",
                factor=local(cliff / math.sqrt(people), ".2f"),
                root=local(math.sqrt(people), ".1f"),
            ),
        ),
        (
            number(round(private, 1)),
            t("learn.reconstruction.needed", eps=amount(EPSILON), delta=amount(DELTA)),
            t("learn.reconstruction.for", answers=answers),
        ),
    )
    reading = t(
        "learn.reconstruction.reading",
        people=people,
        answers=answers,
        noise=amount(noise),
        share=percent(float(right.mean())),
        cliff=local(cliff, ".1f"),
    )
    tell(
        "reconstruction",
        reading,
        figure,
        asked,
        noise,
        right,
        private,
        of=(people, per_person, noise, turn),
        height=480,
    )
