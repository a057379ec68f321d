"""Lab 10: how many noisy sums give a secret column away, and how much noise stops that."""

import math

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import asking as lesson
from ui.shared.charts import Figure, marks
from ui.shared.text import amount, local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("reconstruction")
PEOPLE = (32, 64, 128, 256)
PER_PERSON = (1, 2, 4, 8)
NOISES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
EPSILON, DELTA = 1.0, 1e-6
ACROSS = 32  # people in a row of the figure


def figure(asked: lesson.Survey, noise: float, right: lesson.Bools, private: float) -> Figure:
    """Above: the share read rightly against the noise. Below: the people, those read wrongly marked."""
    from plotly.subplots import make_subplots

    colours, people = palette(), len(asked.secret)
    out = make_subplots(rows=2, cols=1, row_heights=[0.72, 0.28], vertical_spacing=0.2)
    x = np.geomspace(0.1, max(2.2 * private, 40.0), 80)
    y = [lesson.expected_share(asked, float(v)) for v in x]
    out.add_trace(LAB.curve("line", x, y, hues()[0], hovertemplate=LAB.say("hover")), 1, 1)
    here, share = max(noise, 0.1), float(right.mean())
    out.add_trace(marks([here], [share], LAB.say("here"), colours.warning, "diamond", size=12), 1, 1)
    # named in the legend: words beside two near lines would cover each other on a phone
    for at, name, dash in ((math.sqrt(people), "root", "dot"), (private, "private", "dash")):
        line = LAB.curve(name, [at, at], [0.45, 1.03], colours.real, dash, width=1.5, hoverinfo="skip")
        out.add_trace(line, 1, 1)
    place = np.arange(people)
    for ok, name, colour, symbol in ((True, "right", hues()[0], "square"), (False, "wrong", colours.warning, "x")):
        row, column = np.divmod(place[right == ok], ACROSS)
        out.add_trace(marks(column, row, LAB.say(name), colour, symbol, size=8, hoverinfo="skip"), 2, 1)
    out.update_xaxes(title=LAB.say("x"), type="log", dtick=1, range=[-1.1, 2.7], row=1, col=1)
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[0.45, 1.03], row=1, col=1)
    out.update_xaxes(visible=False, range=[-1, ACROSS], row=2, col=1)
    out.update_yaxes(visible=False, range=[max(8, -(-people // ACROSS)) - 0.4, -0.6], row=2, col=1)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    people, per_person = LAB.steps("people", PEOPLE, 64, at=a), LAB.steps("answers", PER_PERSON, 4, at=b)
    noise = LAB.steps("noise", NOISES, 1.0, at=c)
    asked, turn = lesson.survey(people, per_person), LAB.again()
    right, answers, root = lesson.attack(asked, noise, turn), len(asked.groups), math.sqrt(people)
    private, cliff = lesson.private_noise(answers, EPSILON, DELTA), lesson.noise_for_share(asked, 0.95)
    of_root = LAB.say("of_root", factor=local(cliff / root, ".2f"), root=local(root, ".1f"))
    needed = LAB.say("needed", eps=amount(EPSILON), delta=amount(DELTA))
    expected = percent(lesson.expected_share(asked, noise))
    facts(
        (f"{int(right.sum())} / {people}", LAB.say("got"), LAB.say("expected", share=expected)),
        (number(round(cliff, 2)), LAB.say("cliff"), of_root),
        (number(round(private, 1)), needed, LAB.say("for", answers=answers)),
    )
    found = {"share": percent(float(right.mean())), "cliff": local(cliff, ".1f")}
    reading = LAB.say("reading", people=people, answers=answers, noise=amount(noise), **found)
    LAB.tell(reading, figure, asked, noise, right, private, of=(people, per_person, noise, turn), height=480)
