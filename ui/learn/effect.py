"""Lab 17: whether an effect is real: intervals that count the noise, and intervals that forget it."""

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import family as lesson
from ui.shared.charts import Figure, chart
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("effect")
PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
EFFECTS = (0, 2, 5, 10, 20)
DELTA = 1e-6
SHOWN, COUNTED = 50, 1_000  # studies drawn, and studies that coverage is counted over


def figure(found: lesson.Studies) -> Figure:
    """The first studies: both intervals of each, and the truth; those that miss it stand out."""
    colours, out = palette(), chart()
    ways = (("honest", found.honest, hues()[0], 2.0, -0.18), ("naive", found.naive, hues()[1], 4.0, 0.18))
    for name, half, colour, width, shift in ways:
        hits = found.covers(half)[:SHOWN]
        for ok in (True, False):
            x: list[float | None] = []
            y: list[float | None] = []
            for i in np.flatnonzero(hits == ok):
                x += [i + 1 + shift, i + 1 + shift, None]
                y += [float(found.estimate[i] - half[i]), float(found.estimate[i] + half[i]), None]
            entry, paint, seen = (name, colour, 0.55) if ok else (f"{name}_miss", colours.alarm, 1.0)
            out.add_trace(LAB.curve(entry, x, y, paint, width=width, opacity=seen))
    out.add_hline(y=found.truth, line={"color": colours.ink, "dash": "dot", "width": 1.5})
    out.update_xaxes(title=LAB.say("x"), range=[0, SHOWN + 1])
    out.update_yaxes(title=LAB.say("y"), tickformat="+.0%", range=[-1, 1])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps, people = LAB.epsilon(0.5, at=a), LAB.steps("people", PEOPLE, 200, at=b)
    effect = LAB.steps("size", EFFECTS, 10, at=c) / 100
    turn, noise = LAB.again(n=number(COUNTED)), lesson.sigma(eps, DELTA)
    found = lesson.studies(people, effect, noise, times=COUNTED, seed=turn)
    ways = found.naive, found.honest
    naive, honest = (percent(float(found.covers(half).mean())) for half in ways)
    naive_finds, honest_finds = (percent(float(found.finds(half).mean())) for half in ways)
    expected = percent(lesson.expected_coverage(people, effect, noise))
    claims = LAB.say("false" if effect == 0 else "found")
    facts(
        (naive, LAB.say("naive_cover"), LAB.say("expected", share=expected)),
        (honest, LAB.say("honest_cover"), LAB.say("promised")),
        (honest_finds, claims, LAB.say("naive_claims", share=naive_finds)),
    )
    wider = local(float(np.median(found.honest) / np.median(found.naive)), ".2f")
    counts = {"n": number(COUNTED), "people": number(people), "sigma": number(round(noise, 1))}
    reading = LAB.say("reading", naive=naive, honest=honest, wider=wider, **counts)
    LAB.tell(reading, figure, found, of=(eps, people, effect, turn), height=430)
