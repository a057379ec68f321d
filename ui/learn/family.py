"""Lab 15: what a promise to one person means for a family, and what it costs to protect the family as one."""

import streamlit as st

from dpsyn_core.privacy import best_guess
from ui.learn.attacker import near
from ui.learn.lab import Lab
from ui.learn.numbers import family as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("family")
DELTA = 1e-9
MOST = 12
KINDS = ("laplace", "gaussian")


def promised(kind: str, eps: float, people: int, unit: int) -> lesson.Promise:
    """What a group gets under either noise."""
    if kind == "gaussian":
        return lesson.gaussian(eps, DELTA, people, unit=unit)
    return lesson.laplace(eps, people, unit=unit)


def figure(kind: str, eps: float, family: int) -> Figure:
    """How often the best attack is right about a group, against its size, by whom the noise protects."""
    colours, sizes = palette(), list(range(1, MOST + 1))
    limits, unseen = [lesson.bound(eps, k) for k in sizes], {"showlegend": False, "hoverinfo": "skip"}
    out = chart(LAB.curve("bound", sizes, limits, colours.real, "dot", width=2))
    for unit, name, colour, dash in ((1, "single", hues()[1], "dash"), (family, "household", hues()[0], "solid")):
        y = [promised(kind, eps, k, unit).guess for k in sizes]
        out.add_trace(curve(sizes, y, LAB.say(name, n=family), colour, dash, mode="lines+markers"))
        here = promised(kind, eps, family, unit).guess
        out.add_trace(marks([family], [here], None, colours.warning, "diamond", size=13, **unseen))
    out.update_xaxes(title=LAB.say("x"), dtick=1, range=[0.5, MOST + 0.5])
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[0.48, 1.02])
    return out


def found(kind: str, eps: float, family: int) -> dict[str, str]:
    """What the closing sentence says at these settings."""
    group, household = promised(kind, eps, family, 1), promised(kind, eps, family, family)
    bound = near(best_guess(group.epsilon, DELTA if kind == "gaussian" else 0.0))
    said = {"n": str(family), "rule": LAB.say(f"rule_{kind}", n=family), "bound": bound, "group": near(group.guess)}
    numbers = {"whole": group.epsilon, "noise": group.noise, "wide": household.noise}
    return said | {"eps": local(eps, "g")} | {name: local(value, ".3g") for name, value in numbers.items()}


def show() -> dict[str, str]:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps, family = LAB.epsilon(0.5, at=a), LAB.slide("size", 2, MOST, 5, at=b)
    kind = LAB.pick("noise", KINDS, "laplace", at=c)
    one, group, whole = promised(kind, eps, 1, 1), promised(kind, eps, family, 1), promised(kind, eps, family, family)
    price, price_one = (number(round(promise.noise, 1)) for promise in (whole, one))
    facts(
        (local(group.epsilon, ".3g"), LAB.say("epsilon", n=family), LAB.say("epsilon_one", eps=local(eps, "g"))),
        (percent(group.guess), LAB.say("guess", n=family), LAB.say("guess_one", guess=percent(one.guess))),
        (f"±{price}", LAB.say("price", n=family), LAB.say("price_one", noise=price_one)),
    )
    guesses = {"group": percent(group.guess), "one": percent(one.guess), "whole": percent(whole.guess)}
    times = local(whole.noise / one.noise, ".1f")
    reading = LAB.say("reading", eps=local(eps, "g"), n=family, times=times, **guesses)
    LAB.draw(figure, kind, eps, family, alt=LAB.say("alt", reading=reading), height=400)
    if kind == "gaussian":
        rule, exact = (local(f(eps, DELTA, family), ".1g") for f in (lesson.simple_delta, lesson.exact_delta))
        st.write(LAB.say("textbook", n=family, eps=local(family * eps, "g"), rule=rule, exact=exact))
    return found(kind, eps, family)
