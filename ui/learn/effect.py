"""Lab 17: whether an effect is real: intervals that count the noise, and intervals that forget it."""

import numpy as np
import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import tell
from ui.learn.numbers import family as lesson
from ui.shared.charts import Figure, chart, curve
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

PEOPLE = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
EFFECTS = (0, 2, 5, 10, 20)
DELTA = 1e-6
SHOWN, COUNTED = 50, 1_000  # studies drawn, and studies that coverage is counted over


def figure(found: lesson.Studies) -> Figure:
    """The first studies: both intervals of each, and the truth; those that miss it stand out."""
    colours = palette()
    out = chart()
    ways = (("honest", found.honest, hues()[0], 2.0, -0.18), ("naive", found.naive, hues()[1], 4.0, 0.18))
    for name, half, colour, width, shift in ways:
        hits = found.covers(half)[:SHOWN]
        for ok in (True, False):
            x: list[float | None] = []
            y: list[float | None] = []
            for i in np.flatnonzero(hits == ok):
                x += [i + 1 + shift, i + 1 + shift, None]
                y += [float(found.estimate[i] - half[i]), float(found.estimate[i] + half[i]), None]
            label = t(f"learn.effect.{name}") if ok else t(f"learn.effect.{name}_miss")
            out.add_trace(curve(x, y, label, colour if ok else colours.alarm, width=width, opacity=0.55 if ok else 1.0))
    out.add_hline(y=found.truth, line={"color": colours.ink, "dash": "dot", "width": 1.5})
    out.update_xaxes(title=t("learn.effect.x"), range=[0, SHOWN + 1])
    out.update_yaxes(title=t("learn.effect.y"), tickformat="+.0%", range=[-1, 1])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps = epsilon("effect_epsilon", 0.5, at=a)
    people = steps(t("learn.effect.people"), PEOPLE, 200, key="effect_people", at=b)
    effect = steps(t("learn.effect.effect"), EFFECTS, 10, key="effect_size", at=c) / 100
    turn = int(st.session_state.get("effect_turn", 0))
    if st.button(t("learn.effect.again", n=number(COUNTED)), key="effect_again"):
        turn += 1
        st.session_state["effect_turn"] = turn
    noise = lesson.sigma(eps, DELTA)
    found = lesson.studies(people, effect, noise, times=COUNTED, seed=turn)
    naive, honest = float(found.covers(found.naive).mean()), float(found.covers(found.honest).mean())
    claims = t("learn.effect.false" if effect == 0 else "learn.effect.found")
    facts(
        (
            percent(naive),
            t("learn.effect.naive_cover"),
            t("learn.effect.expected", share=percent(lesson.expected_coverage(people, effect, noise))),
        ),
        (percent(honest), t("learn.effect.honest_cover"), t("learn.effect.promised")),
        (
            percent(float(found.finds(found.honest).mean())),
            claims,
            t("learn.effect.naive_claims", share=percent(float(found.finds(found.naive).mean()))),
        ),
    )
    reading = t(
        "learn.effect.reading",
        n=number(COUNTED),
        people=number(people),
        sigma=number(round(noise, 1)),
        naive=percent(naive),
        honest=percent(honest),
        wider=local(float(np.median(found.honest) / np.median(found.naive)), ".2f"),
    )
    tell("effect", reading, figure, found, of=(eps, people, effect, turn), height=430)
