"""Lab 13: the bound of a private mean, between bias and noise."""

import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import counting as lesson
from ui.shared.charts import Figure, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

LAB = Lab("clipping")
PEOPLE = (100, 300, 1_000, 3_000, 10_000)
BOUNDS = (100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 15_000, 20_000)
TICKS = (100, 1_000, 10_000)


def figure(people: int, eps: float, bound: float) -> Figure:
    """Bias, noise and error of the mean against the bound, with the best bound and the chosen one marked."""
    values = lesson.incomes(people)
    # a bias of nothing has no place on a log axis
    bias, noise, error = ([v if v > 0.05 else None for v in y] for y in lesson.curves(values, eps))
    lines = ("bias", bias, hues()[1], "dash"), ("noise", noise, hues()[2], "dot"), ("error", error, hues()[0], "solid")
    out, best = LAB.curves(lesson.BOUNDS, *lines), lesson.best_bound(values, eps)
    for at, name, hue, symbol in ((best, "best", hues()[0], "star"), (bound, "yours", palette().warning, "diamond")):
        out.add_trace(marks([at], [lesson.error(values, at, eps)], LAB.say(name), hue, symbol, size=13))
    ticks = {"tickvals": TICKS, "ticktext": [number(x) for x in TICKS]}
    out.update_xaxes(title=LAB.say("x"), type="log", range=[1.65, 4.5], **ticks)
    ticks = {"tickvals": [0.1, 1, 10, 100, 1000], "tickformat": ",~r"}
    out.update_yaxes(title=LAB.say("y"), type="log", range=[-1, 3.3], **ticks)
    return out


def dollars(value: float, digits: int = 1) -> str:
    """An amount as the visitor's language writes it."""
    return t("learn.dollars", amount=local(value, f",.{digits}f"))


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    bound, eps = LAB.steps("bound", BOUNDS, 2_000, at=a), LAB.epsilon(at=b)
    people = LAB.steps("people", PEOPLE, 300, at=c)
    values = lesson.incomes(people)
    best, over, mean = lesson.best_bound(values, eps), number(lesson.above(values, bound)), float(values.mean())
    error, least = lesson.error(values, bound, eps), lesson.error(values, best, eps)
    bias, noise = (local(part, ",.1f") for part in (lesson.bias(values, bound), lesson.noise(people, bound, eps)))
    facts(
        (dollars(error), LAB.say("off"), LAB.say("parts", bias=bias, noise=noise)),
        (dollars(best, 0), LAB.say("best"), LAB.say("there", error=dollars(least))),
        (over, LAB.say("over"), LAB.say("at_best", n=number(lesson.above(values, best)))),
    )
    amounts = {"mean": local(mean, ",.0f"), "bound": local(bound, ",.0f"), "best": local(best, ",.0f")}
    reading = LAB.say("reading", over=over, share=percent(error / mean), **amounts)
    LAB.tell(reading, figure, people, eps, bound, height=420)
