"""Lab 12: everybody adds noise to their own answer, or one trusted person adds it to the count."""

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import asking as lesson
from ui.shared.charts import Figure, marks
from ui.shared.text import amount, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("asking")
PEOPLE = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
SHARES = (1, 5, 10, 20, 30, 50)
TIMES = 100
LEAST, MOST = 10.0, 1e6


def figure(eps: float, people: int, share: float) -> Figure:
    """Standard deviation of the share against the number of people, for both ways and for sampling alone."""
    colours = palette()
    n = np.geomspace(LEAST, MOST, 60)
    out = LAB.curves(
        n,
        ("local", [lesson.local_error(x, eps) for x in n], hues()[1], "dash"),
        ("central", [lesson.central_error(x, eps) for x in n], hues()[0], "solid"),
        ("sampling", [lesson.sampling_error(x, share) for x in n], colours.real, "dot"),
    )
    seen = [lesson.surveys(people, share, eps, local=local, times=TIMES, seed=0).std() for local in (True, False)]
    out.add_trace(marks([people, people], seen, LAB.say("seen", n=TIMES), colours.warning, "diamond", size=11))
    out.update_xaxes(title=LAB.say("x"), type="log", dtick=1, tickformat=",~r", range=[0.9, 6.1])
    out.update_yaxes(title=LAB.say("y"), type="log", dtick=1, tickformat=".4~%", range=[-6.2, 0.6])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps, people = LAB.epsilon(at=a), LAB.steps("people", PEOPLE, 1_000, at=b)
    share = LAB.steps("share", SHARES, 20, at=c) / 100
    local, central = lesson.local_error(people, eps), lesson.central_error(people, eps)
    truth = percent(lesson.truth_probability(eps), 1 if eps < 5 else 3)
    facts(
        (percent(local, 2), LAB.say("local_error"), LAB.say("truth", p=truth)),
        (percent(central, 3), LAB.say("central_error"), LAB.say("ratio", times=number(round(local / central, 1)))),
        (number(lesson.equal_people(people)), LAB.say("equal"), LAB.say("instead", n=number(people))),
    )
    each, one = (number(lesson.people_for(0.01, eps, local=local)) for local in (True, False))
    sampling = number(round(share * (1 - share) / 0.01**2))
    reading = LAB.say("reading", eps=amount(eps), local=each, central=one, sampling=sampling)
    LAB.tell(reading, figure, eps, people, share, height=420)
