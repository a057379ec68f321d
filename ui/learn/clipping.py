"""Lab 13: the bound of a private mean, between bias and noise."""

import streamlit as st

from ui.learn.controls import epsilon, steps
from ui.learn.kept import tell
from ui.learn.numbers import counting as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

PEOPLE = (100, 300, 1_000, 3_000, 10_000)
BOUNDS = (100, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 15_000, 20_000)


def figure(people: int, eps: float, bound: float) -> Figure:
    """Bias, noise and error of the mean against the bound, with the best bound and the chosen one marked."""
    colours = palette()
    values = lesson.incomes(people)
    bias, noise, error = lesson.curves(values, eps)
    out = chart()
    for name, y, colour, dash in (
        ("bias", bias, hues()[1], "dash"),
        ("noise", noise, hues()[2], "dot"),
        ("error", error, hues()[0], "solid"),
    ):
        shown = [v if v > 0.05 else None for v in y]  # a bias of nothing has no place on a log axis
        out.add_trace(curve(lesson.BOUNDS, shown, t(f"learn.clipping.{name}"), colour, dash))
    best = lesson.best_bound(values, eps)
    for at, name, symbol, colour in ((best, "best", "star", hues()[0]), (bound, "yours", "diamond", colours.warning)):
        out.add_trace(
            marks([at], [lesson.error(values, at, eps)], t(f"learn.clipping.{name}"), colour, symbol, size=13)
        )
    places = [100, 1_000, 10_000]
    ticks = {"tickvals": places, "ticktext": [number(x) for x in places]}
    out.update_xaxes(title=t("learn.clipping.x"), type="log", range=[1.65, 4.5], **ticks)
    out.update_yaxes(
        title=t("learn.clipping.y"), type="log", tickvals=[0.1, 1, 10, 100, 1000], tickformat=",~r", range=[-1, 3.3]
    )
    return out


def dollars(value: float) -> str:
    """An amount as the visitor's language writes it."""
    return t("learn.dollars", amount=local(value, ",.1f"))


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    bound = float(steps(t("learn.clipping.bound"), BOUNDS, 2_000, key="clipping_bound", at=a))
    eps = epsilon("clipping_epsilon", at=b)
    people = int(steps(t("learn.clipping.people"), PEOPLE, 300, key="clipping_people", at=c))
    values = lesson.incomes(people)
    best = lesson.best_bound(values, eps)
    over = lesson.above(values, bound)
    facts(
        (
            dollars(lesson.error(values, bound, eps)),
            t("learn.clipping.off"),
            t(
                "learn.clipping.parts",
                bias=local(lesson.bias(values, bound), ",.1f"),
                noise=local(lesson.noise(people, bound, eps), ",.1f"),
            ),
        ),
        (
            t("learn.dollars", amount=local(best, ",.0f")),
            t("learn.clipping.best"),
            t("learn.clipping.there", error=dollars(lesson.error(values, best, eps))),
        ),
        (number(over), t("learn.clipping.over"), t("learn.clipping.at_best", n=number(lesson.above(values, best)))),
    )
    reading = t(
        "learn.clipping.reading",
        mean=local(values.mean(), ",.0f"),
        bound=local(bound, ",.0f"),
        over=number(over),
        share=percent(lesson.error(values, bound, eps) / float(values.mean())),
        best=local(best, ",.0f"),
    )
    tell("clipping", reading, figure, people, eps, bound, height=420)
