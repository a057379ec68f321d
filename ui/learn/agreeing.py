"""Lab 29: three ways to fill a table of three columns from its three tables of pairs."""

import math
from typing import cast

import streamlit as st

from ui.learn.controls import pick, steps
from ui.learn.kept import tell
from ui.learn.numbers import pairs as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, percent, t
from ui.shared.theme import facts, hues, palette

EPSILONS = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0, 0.0)  # 0: no noise, last on the slider
SYMBOLS = {"maximum-entropy": "circle", "least-norm": "diamond-open", "linear-program": "x"}


def budget(chosen: float) -> float:
    """What the place on the slider stands for."""
    return chosen or math.inf


def figure(which: str, eps: float) -> Figure:
    """A mark a cell and way: its real share of the records against the one that was filled in."""
    real, made = lesson.truth(cast("lesson.Truth", which)), lesson.rebuilt(cast("lesson.Truth", which), budget(eps))
    n, out = real.sum(), chart()
    most = 1.05 * float(max(real.max(), *(v.max() for v in made.values())) / n)
    out.add_trace(curve([0, most], [0, most], t("learn.agreeing.right"), palette().ink, "dash", width=1))
    for rule, hue in zip(lesson.RULES, hues(), strict=False):
        x, y = real.ravel() / n, made[rule].ravel() / n
        out.add_trace(marks(x, y, t(f"learn.agreeing.{rule}"), hue, SYMBOLS[rule]))
    out.update_xaxes(title=t("learn.agreeing.x"), tickformat=".0%", range=[-0.003, 0.15])
    out.update_yaxes(title=t("learn.agreeing.y"), tickformat=".0%", range=[-0.003, 0.15])
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b = st.columns([3, 2], gap="medium")
    which = pick(t("learn.agreeing.table"), lesson.TRUTHS, key="agreeing_table", words="of_", at=a)
    eps = steps(
        t("learn.epsilon"),
        EPSILONS,
        1.0,
        key="agreeing_epsilon",
        words=lambda e: local(e, "g") if e else t("learn.agreeing.no_noise"),
        at=b,
    )
    off = {r: percent(lesson.off(cast("lesson.Truth", which), budget(eps), r)) for r in lesson.RULES}
    facts(*[(off[r], t(f"learn.agreeing.{r}"), t(f"learn.agreeing.{r}_note")) for r in lesson.RULES])
    reading = t(
        "learn.agreeing.reading",
        entropy=off["maximum-entropy"],
        norm=off["least-norm"],
        program=off["linear-program"],
        table=t(f"learn.agreeing.of_{which}"),
    )
    tell("agreeing", reading, figure, which, eps, height=440)
    st.write(t(f"learn.agreeing.says_{which}"))
