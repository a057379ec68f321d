"""Lab 16: choosing in private: the exponential mechanism on a vote, the sparse vector on a list of days."""

import numpy as np
import streamlit as st

from ui.learn.controls import epsilon, pick
from ui.learn.kept import tell
from ui.learn.numbers import choosing as lesson
from ui.shared.charts import Figure, bars
from ui.shared.text import local, percent, t
from ui.shared.theme import facts, hues, palette

WAYS = ("vote", "first")
MISTAKES = {"vote": (1.0, 0.5, 0.2), "first": (1.0, 0.5, 0.0)}  # what is assumed; 0: a mark without noise
FAR = 5.75  # of the axis of ratios; a broken promise may lie beyond it


def chances(way: str, eps: float, assumed: float) -> tuple[lesson.Floats, lesson.Floats, list[str]]:
    """Chance of every outcome with two neighbouring tables, and their names."""
    if way == "vote":
        names = [t(f"learn.choosing.outing_{i + 1}") for i in range(len(lesson.VOTES))]
        other = lesson.moved(lesson.VOTES, 1, 1.0)
        return lesson.exponential(lesson.VOTES, eps, assumed), lesson.exponential(other, eps, assumed), names
    names = [t("learn.choosing.day", n=i + 1) for i in range(len(lesson.WAITING))] + [t("learn.choosing.no_day")]
    other = lesson.WAITING - 1  # the same without one patient, who waited too long on every day
    with_noise = assumed > 0
    sensitivity = assumed or 1.0
    pair = [
        lesson.above_mark(scores, lesson.MARK, eps, sensitivity, noisy_mark=with_noise)
        for scores in (lesson.WAITING, other)
    ]
    return pair[0], pair[1], names


def figure(one: lesson.Floats, other: lesson.Floats, names: list[str], eps: float) -> Figure:
    """Above: the chance of every outcome with two neighbouring tables. Below: ln of their ratio, between the bounds."""
    from plotly.subplots import make_subplots

    colours = palette()
    out = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.6, 0.4], vertical_spacing=0.1)
    for y, name, colour in ((one, "with", hues()[0]), (other, "without", hues()[1])):
        out.add_trace(bars(names, y, t(f"learn.choosing.{name}"), colour), 1, 1)
    ratio = lesson.log_ratio(one, other)
    broken = np.abs(ratio) > eps * (1 + 1e-9)
    paint = [colours.alarm if b else colours.ink for b in broken]
    out.add_trace(bars(names, ratio, t("learn.choosing.ratio"), paint, showlegend=False), 2, 1)
    for bound in (eps, -eps):
        out.add_hline(y=bound, line={"color": colours.warning, "dash": "dot", "width": 1.5}, row=2, col=1)
    out.update_yaxes(title=t("learn.choosing.y"), tickformat=".0%", range=[0, 1], row=1, col=1)
    out.update_yaxes(title=t("learn.choosing.y2"), range=[-FAR, FAR], row=2, col=1)
    out.update_layout(barmode="group", bargap=0.35)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps = epsilon("choosing_epsilon", 0.5, at=a)
    way = pick(t("learn.choosing.way"), WAYS, key="choosing_way", across=False, at=b)
    step = pick(
        t("learn.choosing.assumed"),
        (0, 1, 2),
        key="choosing_assumed",
        words=lambda i: t(f"learn.choosing.{way}_{i}"),
        across=False,
        at=c,
    )
    one, other, names = chances(way, eps, MISTAKES[way][step])
    worst = float(np.abs(lesson.log_ratio(one, other)).max())
    assumed = MISTAKES[way][step]
    days = None if assumed else len(lesson.WAITING)
    most = lesson.largest_promise(eps, assumed or 1.0, days=days)
    best = 0 if way == "vote" else 3
    facts(
        (percent(float(one[best])), t(f"learn.choosing.{way}_right"), t(f"learn.choosing.{way}_truth")),
        (local(worst, ".3f"), t("learn.choosing.worst"), t(f"learn.choosing.{way}_neighbour")),
        (local(most, ".3g"), t("learn.choosing.most"), t("learn.choosing.allowed", eps=local(eps, "g"))),
    )
    kept = t(
        "learn.choosing.kept" if step == 0 else "learn.choosing.broken", most=local(most, ".3g"), eps=local(eps, "g")
    )
    reading = t(f"learn.choosing.{way}_reading", share=percent(float(one[best])), kept=kept)
    tell("choosing", reading, figure, one, other, names, eps, of=(way, eps, step), height=470)
