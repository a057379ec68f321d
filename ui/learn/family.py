"""Lab 15: what a promise to one person means for a family, and what it costs to protect the family as one."""

import streamlit as st

from dpsyn_core.privacy import best_guess
from ui.learn.attacker import near
from ui.learn.controls import epsilon, pick, slide
from ui.learn.kept import draw
from ui.learn.numbers import family as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

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
    colours = palette()
    sizes = list(range(1, MOST + 1))
    out = chart()
    limits = [lesson.bound(eps, k) for k in sizes]
    out.add_trace(curve(sizes, limits, t("learn.family.bound"), colours.real, "dot", width=2))
    for unit, name, colour, dash in ((1, "single", hues()[1], "dash"), (family, "household", hues()[0], "solid")):
        y = [promised(kind, eps, k, unit).guess for k in sizes]
        label = t(f"learn.family.{name}", n=family)
        out.add_trace(curve(sizes, y, label, colour, dash, mode="lines+markers"))
        here = promised(kind, eps, family, unit).guess
        out.add_trace(
            marks([family], [here], None, colours.warning, "diamond", size=13, showlegend=False, hoverinfo="skip")
        )
    out.update_xaxes(title=t("learn.family.x"), dtick=1, range=[0.5, MOST + 0.5])
    out.update_yaxes(title=t("learn.family.y"), tickformat=".0%", range=[0.48, 1.02])
    return out


def found(kind: str, eps: float, family: int) -> dict[str, str]:
    """What the closing sentence says at these settings."""
    group, household = promised(kind, eps, family, 1), promised(kind, eps, family, family)
    bound = best_guess(group.epsilon, DELTA if kind == "gaussian" else 0.0)
    return {
        "eps": local(eps, "g"),
        "n": str(family),
        "whole": local(group.epsilon, ".3g"),
        "rule": t(f"learn.family.rule_{kind}", n=family),
        "bound": near(bound),
        "group": near(group.guess),
        "noise": local(group.noise, ".3g"),
        "wide": local(household.noise, ".3g"),
    }


def show() -> dict[str, str]:
    """Controls, numbers, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps = epsilon("family_epsilon", 0.5, at=a)
    family = slide(t("learn.family.size"), 2, MOST, 5, key="family_size", at=b)
    kind = pick(t("learn.family.noise"), KINDS, key="family_noise", at=c)
    one, group = promised(kind, eps, 1, 1), promised(kind, eps, family, 1)
    whole = promised(kind, eps, family, family)
    facts(
        (
            local(group.epsilon, ".3g"),
            t("learn.family.epsilon", n=family),
            t("learn.family.epsilon_one", eps=local(eps, "g")),
        ),
        (
            percent(group.guess),
            t("learn.family.guess", n=family),
            t("learn.family.guess_one", guess=percent(one.guess)),
        ),
        (
            f"±{number(round(whole.noise, 1))}",
            t("learn.family.price", n=family),
            t("learn.family.price_one", noise=number(round(one.noise, 1))),
        ),
    )
    reading = t(
        "learn.family.reading",
        eps=local(eps, "g"),
        n=family,
        group=percent(group.guess),
        one=percent(one.guess),
        whole=percent(whole.guess),
        times=local(whole.noise / one.noise, ".1f"),
    )
    draw(figure, kind, eps, family, alt=t("learn.family.alt", reading=reading), key="family_plot", height=400)
    if kind == "gaussian":
        rule, exact = (f(eps, DELTA, family) for f in (lesson.simple_delta, lesson.exact_delta))
        st.write(
            t(
                "learn.family.textbook",
                n=family,
                eps=local(family * eps, "g"),
                rule=local(rule, ".1g"),
                exact=local(exact, ".1g"),
            )
        )
    return found(kind, eps, family)
