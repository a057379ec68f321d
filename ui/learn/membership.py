"""Lab 11: whether a synthetic table tells that somebody was in the real one."""

import numpy as np
import streamlit as st

from dpsyn_core.privacy import best_guess
from ui.learn.attacker import near
from ui.learn.lab import Lab
from ui.learn.numbers import game as lesson
from ui.shared.charts import Figure, band, chart
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("membership")
DELTAS = {"histogram": 0.0, "rls": 1e-9, "independent": 1e-9}


def figure(found: lesson.RocPoints, system: str, eps: float) -> Figure:
    """Tables with the person that are found, against false alarms; the bound of epsilon above, a coin below."""
    colours, out = palette(), chart()
    if system != "exact":
        x = np.linspace(0, 1, 201)
        bound = lesson.limit(x, eps, DELTAS[system])
        out.add_trace(LAB.curve("limit", x, bound, colours.warning, "dot", width=2))
    width = 1.96 * np.sqrt(np.maximum(found.found * (1 - found.found), 1e-9) / found.runs)
    low, high = (np.clip(found.found + side * width, 0, 1) for side in (-1, 1))
    out.add_trace(band(found.alarms, low, high, LAB.say("band"), hues()[0]))
    out.add_trace(LAB.curve("attack", found.alarms, found.found, hues()[0]))
    out.add_trace(LAB.curve("coin", [0, 1], [0, 1], colours.real, "dash", width=1.5))
    out.update_xaxes(title=LAB.say("x"), range=[0, 1], tickformat=".0%")
    out.update_yaxes(title=LAB.say("y"), range=[0, 1.02], tickformat=".0%")
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b = st.columns([3, 2], gap="medium")
    system = LAB.pick("system", lesson.SYSTEMS, "histogram", at=a)
    eps = LAB.epsilon(1.0, lesson.EPSILONS, at=b)
    live, exact = system == "histogram", system == "exact"
    turn = LAB.again(n=2 * lesson.RUNS) if live else 0
    found = lesson.drawn(eps, turn) if live else lesson.shadow(system, eps)
    allowed = percent(1, 0) if exact else near(best_guess(eps, DELTAS[system]))
    right, at = percent(found.right), LAB.say("no_epsilon") if exact else LAB.say("at", eps=local(eps, "g"))
    facts(
        (right, LAB.say("right"), LAB.say("margin", width=percent(found.margin))),
        (allowed, LAB.say("allowed"), at),
        (number(2 * found.runs), LAB.say("judged"), LAB.say("live" if live else "before")),
    )
    about = LAB.say("about_histogram") if live else LAB.say("about", who=", ".join(lesson.person().values()))
    reading = LAB.say("reading", right=right, allowed=allowed)
    alt = LAB.say("alt", reading=reading)
    LAB.draw(figure, found, system, eps, of=(system, eps, turn), alt=alt, height=430)
    st.write(f"{reading} {about}")
