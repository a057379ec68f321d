"""Lab 12: everybody adds noise to their own answer, or one trusted person adds it to the count."""

import numpy as np
import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import tell
from ui.learn.numbers import asking as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import amount, number, percent, t
from ui.shared.theme import facts, hues, palette

PEOPLE = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
SHARES = (1, 5, 10, 20, 30, 50)
TIMES = 100
LEAST, MOST = 10.0, 1e6


def figure(eps: float, people: int, share: float) -> Figure:
    """Standard deviation of the share against the number of people, for both ways and for sampling alone."""
    colours = palette()
    n = np.geomspace(LEAST, MOST, 60)
    out = chart()
    curves = (
        ("local", [lesson.local_error(x, eps) for x in n], hues()[1], "dash"),
        ("central", [lesson.central_error(x, eps) for x in n], hues()[0], "solid"),
        ("sampling", [lesson.sampling_error(x, share) for x in n], colours.real, "dot"),
    )
    for name, y, colour, dash in curves:
        out.add_trace(curve(n, y, t(f"learn.asking.{name}"), colour, dash))
    seen = [lesson.surveys(people, share, eps, local=local, times=TIMES, seed=0).std() for local in (True, False)]
    out.add_trace(marks([people, people], seen, t("learn.asking.seen", n=TIMES), colours.warning, "diamond", size=11))
    out.update_xaxes(title=t("learn.asking.x"), type="log", dtick=1, tickformat=",~r", range=[0.9, 6.1])
    out.update_yaxes(title=t("learn.asking.y"), type="log", dtick=1, tickformat=".4~%", range=[-6.2, 0.6])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps = epsilon("asking_epsilon", at=a)
    people = int(steps(t("learn.asking.people"), PEOPLE, 1_000, key="asking_people", at=b))
    share = int(steps(t("learn.asking.share"), SHARES, 20, key="asking_share", at=c)) / 100
    local, central = lesson.local_error(people, eps), lesson.central_error(people, eps)
    facts(
        (
            percent(local, 2),
            t("learn.asking.local_error"),
            t("learn.asking.truth", p=percent(lesson.truth_probability(eps), 1 if eps < 5 else 3)),
        ),
        (
            percent(central, 3),
            t("learn.asking.central_error"),
            t("learn.asking.ratio", times=number(round(local / central, 1))),
        ),
        (number(lesson.equal_people(people)), t("learn.asking.equal"), t("learn.asking.instead", n=number(people))),
    )
    reading = t(
        "learn.asking.reading",
        eps=amount(eps),
        local=number(lesson.people_for(0.01, eps, local=True)),
        central=number(lesson.people_for(0.01, eps, local=False)),
        sampling=number(round(share * (1 - share) / 0.01**2)),
    )
    tell("asking", reading, figure, eps, people, share, height=420)
