"""Lab 23: one noise, and what every variant of differential privacy says of it."""

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import accounting as lesson
from ui.shared.charts import Figure
from ui.shared.text import amount, local, number, t
from ui.shared.theme import facts, hues, palette, table

LAB = Lab("variants")
SIGMAS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
TIMES = (1, 5, 20, 100, 500)
DELTAS = (1e-12, 1e-9, 1e-6, 1e-4, 1e-2)
AXIS = tuple(float(x) for x in np.geomspace(1e-12, 1e-2, 41))
WAYS = {"exact": "solid", "tight": "dash", "standard": "dot", "each": "dashdot"}


def figure(sigma: float, times: int, delta: float) -> Figure:
    """Epsilon against delta, by four ways of reckoning."""
    found = [lesson.variants(sigma, times, d) for d in AXIS]
    ways = zip(WAYS.items(), hues(), strict=False)
    out = LAB.curves(AXIS, *((way, [getattr(v, way) for v in found], hue, dash) for (way, dash), hue in ways))
    out.add_vline(x=delta, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=t("learn.delta"), type="log", exponentformat="power", dtick=2, range=[-12.1, -1.9])
    out.update_yaxes(title=LAB.say("y"), type="log", dtick=1, tickformat=",~r", range=[-2, 2.3])
    return out


def show() -> None:
    """Controls, numbers, figure, the table of promises."""
    a, b, c = st.columns(3, gap="medium")
    sigma, times = LAB.steps("sigma", SIGMAS, 10.0, at=a), LAB.steps("times", TIMES, 20, at=b)
    delta = LAB.delta(DELTAS, 1e-6, at=c)
    v = lesson.variants(sigma, times, delta)
    more = [LAB.say("more", times=local(epsilon / v.exact, ".3g")) for epsilon in (v.standard, v.each)]
    exact, standard, each = (local(epsilon, ".3g") for epsilon in (v.exact, v.standard, v.each))
    facts(
        (exact, LAB.say("exact_is"), LAB.say("at", delta=amount(delta))),
        (standard, LAB.say("standard_is"), more[0]),
        (each, LAB.say("each_is"), more[1]),
    )
    reading = LAB.counted("reading", times, sigma=number(sigma), exact=exact, standard=standard, each=each)
    LAB.tell(reading, figure, sigma, times, delta, height=400)
    two, ten = (local(order, ".3g") for order in lesson.renyi(v.mu, np.array([2.0, 10.0])))
    rows = [
        [LAB.say("pure"), LAB.say("pure_says")],
        [LAB.say("approximate"), LAB.say("approximate_says", epsilon=exact, delta=amount(delta))],
        [LAB.say("concentrated"), LAB.say("concentrated_says", rho=local(v.rho, ".3g"))],
        [LAB.say("renyi"), LAB.say("renyi_says", two=two, ten=ten)],
        [LAB.say("gaussian"), LAB.say("gaussian_says", mu=local(v.mu, ".3g"))],
    ]
    table([LAB.say("variant"), LAB.say("says")], rows, alt=LAB.say("table"), numbers=False)
