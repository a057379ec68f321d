"""Lab 16: choosing in private: the exponential mechanism on a vote, the sparse vector on a list of days."""

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import choosing as lesson
from ui.shared.charts import Figure, bars
from ui.shared.text import local, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("choosing")
WAYS = ("vote", "first")
MISTAKES = {"vote": (1.0, 0.5, 0.2), "first": (1.0, 0.5, 0.0)}  # what is assumed; 0: a mark without noise
FAR = 5.75  # of the axis of ratios; a broken promise may lie beyond it


def chances(way: str, eps: float, assumed: float) -> tuple[lesson.Floats, lesson.Floats, list[str]]:
    """Chance of every outcome with two neighbouring tables, and their names."""
    if way == "vote":
        names = [LAB.say(f"outing_{i + 1}") for i in range(len(lesson.VOTES))]
        other = lesson.moved(lesson.VOTES, 1, 1.0)
        return lesson.exponential(lesson.VOTES, eps, assumed), lesson.exponential(other, eps, assumed), names
    names = [LAB.say("day", n=i + 1) for i in range(len(lesson.WAITING))] + [LAB.say("no_day")]
    one, other = (
        lesson.above_mark(scores, lesson.MARK, eps, assumed or 1.0, noisy_mark=assumed > 0)
        for scores in (lesson.WAITING, lesson.WAITING - 1)  # without one patient, who waited too long on every day
    )
    return one, other, names


def figure(one: lesson.Floats, other: lesson.Floats, names: list[str], eps: float) -> Figure:
    """Above: the chance of every outcome with two neighbouring tables. Below: ln of their ratio, between the bounds."""
    from plotly.subplots import make_subplots

    colours = palette()
    out = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.6, 0.4], vertical_spacing=0.1)
    out.add_trace(bars(names, one, LAB.say("with"), hues()[0]), 1, 1)
    out.add_trace(bars(names, other, LAB.say("without"), hues()[1]), 1, 1)
    ratio = lesson.log_ratio(one, other)
    paint = [colours.alarm if broken else colours.ink for broken in np.abs(ratio) > eps * (1 + 1e-9)]
    out.add_trace(bars(names, ratio, LAB.say("ratio"), paint, showlegend=False), 2, 1)
    for bound in (eps, -eps):
        out.add_hline(y=bound, line={"color": colours.warning, "dash": "dot", "width": 1.5}, row=2, col=1)
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[0, 1], row=1, col=1)
    out.update_yaxes(title=LAB.say("y2"), range=[-FAR, FAR], row=2, col=1)
    out.update_layout(barmode="group", bargap=0.35)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps, way = LAB.epsilon(0.5, at=a), LAB.pick("way", WAYS, "vote", across=False, at=b)
    step = LAB.pick("assumed", (0, 1, 2), 0, words=f"{way}_", across=False, at=c)
    assumed = MISTAKES[way][step]
    one, other, names = chances(way, eps, assumed)
    worst = float(np.abs(lesson.log_ratio(one, other)).max())
    most = lesson.largest_promise(eps, assumed or 1.0, days=None if assumed else len(lesson.WAITING))
    right, promise = (
        percent(float(one[0 if way == "vote" else 3])),
        {"most": local(most, ".3g"), "eps": local(eps, "g")},
    )
    facts(
        (right, LAB.say(f"{way}_right"), LAB.say(f"{way}_truth")),
        (local(worst, ".3f"), LAB.say("worst"), LAB.say(f"{way}_neighbour")),
        (promise["most"], LAB.say("most"), LAB.say("allowed", eps=promise["eps"])),
    )
    reading = LAB.say(f"{way}_reading", share=right, kept=LAB.say("broken" if step else "kept", **promise))
    LAB.tell(reading, figure, one, other, names, eps, of=(way, eps, step), height=470)
