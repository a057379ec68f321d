"""Lab 28: which pairs are worth a measurement, and what it helps to put rare values together."""

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import pairs as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("dependence")


def figure(kept: int, rare: float, eps: float) -> Figure:
    """A mark a pair: its dependence against the error that measuring it has; above the line measuring is better."""
    found, out = lesson.pairs(rare), chart()
    own = np.minimum(found.noise(eps, kept) + found.lost, 1.0)
    hover = "%{text}<br>%{y:.1%} / %{x:.1%}<extra></extra>"
    measured = slice(0, kept), LAB.say("measured"), hues()[0], "circle"
    left = slice(kept, None), LAB.say("left"), palette().real, "circle-open"
    for which, name, hue, symbol in (measured, left):
        text = [" x ".join(pair) for pair in found.names[which]]
        x, y = own[which], found.dependence[which]
        out.add_trace(marks(x, y, name, hue, symbol, text=text, hovertemplate=hover))
    out.add_trace(LAB.curve("even", [0.001, 1.0], [0.001, 1.0], palette().warning, "dash", width=1.6))
    out.update_xaxes(title=LAB.say("x"), type="log", range=[-3.3, 0.05], tickformat=".2~%", dtick=1)
    out.update_yaxes(title=LAB.say("y"), type="log", range=[-3.1, 0.05], tickformat=".2~%", dtick=1)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    kept, rare = LAB.steps("kept", lesson.KEPT, 20, at=a), LAB.steps("rare", lesson.RARE, 0.0, words=percent, at=b)
    eps = LAB.epsilon(at=c)
    found, full = lesson.pairs(rare), number(int(lesson.pairs().cells.sum()))
    best = found.best(eps)
    mean, least = (percent(float(found.errors(eps, many).mean())) for many in (kept, best))
    alone = percent(float(found.dependence.mean()))
    facts(
        (mean, LAB.say("mean"), LAB.say("alone", error=alone)),
        (number(best), LAB.say("best"), LAB.say("least", error=least)),
        (number(int(found.cells.sum())), LAB.say("cells"), LAB.say("full", cells=full)),
    )
    reading = LAB.say("reading", kept=kept, mean=mean, best=best, least=least, alone=alone)
    LAB.tell(reading, figure, kept, rare, eps, height=440)
