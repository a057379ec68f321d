"""Lab 11: whether a synthetic table tells that somebody was in the real one."""

import numpy as np
import streamlit as st

from dpsyn_core.privacy import best_guess
from ui.learn.attacker import near
from ui.learn.controls import pick, steps
from ui.learn.kept import draw
from ui.learn.numbers import game as lesson
from ui.shared.charts import Figure, band, chart, curve
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

TURN = "membership_turn"
DELTAS = {"histogram": 0.0, "rls": 1e-9, "independent": 1e-9}


def figure(found: lesson.RocPoints, system: str, eps: float) -> Figure:
    """Tables with the person that are found, against false alarms; the bound of epsilon above, a coin below."""
    colours = palette()
    out = chart()
    if system != "exact":
        x = np.linspace(0, 1, 201)
        out.add_trace(
            curve(x, lesson.limit(x, eps, DELTAS[system]), t("learn.membership.limit"), colours.warning, "dot", width=2)
        )
    width = 1.96 * np.sqrt(np.maximum(found.found * (1 - found.found), 1e-9) / found.runs)
    low, high = (np.clip(found.found + side * width, 0, 1) for side in (-1, 1))
    out.add_trace(band(found.alarms, low, high, t("learn.membership.band"), hues()[0]))
    out.add_trace(curve(found.alarms, found.found, t("learn.membership.attack"), hues()[0]))
    out.add_trace(curve([0, 1], [0, 1], t("learn.membership.coin"), colours.real, "dash", width=1.5))
    out.update_xaxes(title=t("learn.membership.x"), range=[0, 1], tickformat=".0%")
    out.update_yaxes(title=t("learn.membership.y"), range=[0, 1.02], tickformat=".0%")
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b = st.columns([3, 2], gap="medium")
    system = pick(t("learn.membership.system"), lesson.SYSTEMS, key="membership_system", at=a)
    eps = steps(t("learn.epsilon"), lesson.EPSILONS, 1.0, key="membership_epsilon", at=b)
    turn = int(st.session_state.get(TURN, 0))
    if system == "histogram":
        if st.button(t("learn.membership.again", n=2 * lesson.RUNS), key="membership_again"):
            turn += 1
            st.session_state[TURN] = turn
        found = lesson.drawn(eps, turn)
    else:
        found = lesson.shadow(system, eps)
    exact = system == "exact"
    allowed = percent(1, 0) if exact else near(best_guess(eps, DELTAS[system]))
    facts(
        (percent(found.right), t("learn.membership.right"), t("learn.membership.margin", width=percent(found.margin))),
        (
            allowed,
            t("learn.membership.allowed"),
            t("learn.membership.no_epsilon" if exact else "learn.membership.at", eps=local(eps, "g")),
        ),
        (
            number(2 * found.runs),
            t("learn.membership.judged"),
            t("learn.membership.live" if system == "histogram" else "learn.membership.before"),
        ),
    )
    who = ", ".join(lesson.person().values())
    about = t("learn.membership.about_histogram") if system == "histogram" else t("learn.membership.about", who=who)
    reading = t("learn.membership.reading", right=percent(found.right), allowed=allowed)
    draw(
        figure, found, system, eps, of=(system, eps, turn), alt=t("learn.membership.alt", reading=reading),
        key="membership_plot", height=430,
    )  # fmt: skip
    st.write(f"{reading} {about}")
