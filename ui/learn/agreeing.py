"""Lab 29: three ways to fill a table of three columns from its three tables of pairs."""

import math

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import pairs as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import local, percent, t
from ui.shared.theme import facts, hues, palette

LAB = Lab("agreeing")
EPSILONS = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0, 0.0)  # 0: no noise, last on the slider
SYMBOLS = {"maximum-entropy": "circle", "least-norm": "diamond-open", "linear-program": "x"}


def budget(chosen: float) -> float:
    """What the place on the slider stands for."""
    return chosen or math.inf


def budget_words(chosen: float) -> str:
    """How the slider calls it."""
    return local(chosen, "g") if chosen else LAB.say("no_noise")


def figure(which: lesson.Truth, eps: float) -> Figure:
    """A mark a cell and way: its real share of the records against the one that was filled in."""
    real, made = lesson.truth(which), lesson.rebuilt(which, budget(eps))
    n = real.sum()
    most = 1.05 * float(max(real.max(), *(v.max() for v in made.values())) / n)
    out = chart(LAB.curve("right", [0, most], [0, most], palette().ink, "dash", width=1))
    for rule, hue in zip(lesson.RULES, hues(), strict=False):
        out.add_trace(marks(real.ravel() / n, made[rule].ravel() / n, LAB.say(rule), hue, SYMBOLS[rule]))
    out.update_xaxes(title=LAB.say("x"), tickformat=".0%", range=[-0.003, 0.15])
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[-0.003, 0.15])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b = st.columns([3, 2], gap="medium")
    which = LAB.pick("table", lesson.TRUTHS, "sample", words="of_", at=a)
    eps = LAB.steps("epsilon", EPSILONS, 1.0, words=budget_words, label=t("learn.epsilon"), at=b)
    off = {r: percent(lesson.off(which, budget(eps), r)) for r in lesson.RULES}
    facts(*[(off[r], LAB.say(r), LAB.say(f"{r}_note")) for r in lesson.RULES])
    entropy, norm, program = off.values()
    reading = LAB.say("reading", entropy=entropy, norm=norm, program=program, table=LAB.say(f"of_{which}"))
    LAB.tell(reading, figure, which, eps, height=440)
    st.write(LAB.say(f"says_{which}"))
