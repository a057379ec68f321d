"""Lab 3: spending a budget k times, rule by rule."""

import math
from functools import lru_cache
from typing import Any

import streamlit as st

from dpsyn_core.privacy import CURVES, Unit, crossings
from ui.learn.lab import Lab
from ui.privacy import noise
from ui.shared.charts import Figure
from ui.shared.text import amount, local
from ui.shared.theme import dark, table

LAB = Lab("composition")
DELTAS = (1e-5, 1e-6, 1e-8, 1e-9, 1e-12)
RULES = ("laplace_basic", "gaussian_zcdp", "gaussian_exact")  # at first
PAPER = ((0.01, 1e-8), (0.01, 1e-12), (1.0, 1e-8), (1.0, 1e-12))  # the four panels of Figure 2


def only(document: dict[str, Any], rules: list[str]) -> dict[str, Any]:
    """The document of the noise plot, with the chosen curves alone."""
    kept = {name: values for name, values in document["curves"].items() if name in rules}
    meet = {n: v for n, v in document["crossings"].items() if set(n.split(":")) <= set(rules)}
    return {**document, "curves": kept, "crossings": meet}


def figure(document: dict[str, Any], rules: tuple[str, ...]) -> Figure:
    """The noise plot with the chosen curves, and the one that the others are held against."""
    return noise.figure(only(document, [*rules, "laplace_basic"]), is_dark=dark())


@lru_cache(maxsize=1)
def paper_crossings() -> list[tuple[float, float, float, int]]:
    """(epsilon, delta, exact crossing of basic Laplace with Gaussian zCDP, first k at which Gaussian wins)."""
    out = []
    for eps, delta in PAPER:
        k = crossings(eps, delta, Unit())["laplace_basic:gaussian_zcdp"]
        out.append((eps, delta, k, math.ceil(k)))
    return out


def show() -> None:
    """Controls, figure, the paper's four crossings."""
    a, b = st.columns(2, gap="medium")
    eps, delta = LAB.epsilon(at=a), LAB.delta(DELTAS, 1e-9, at=b)
    rules = LAB.several("rules", list(CURVES), RULES, words=noise.called)
    if not rules:
        st.info(LAB.say("none"))
        return
    document = noise.curves(eps, delta, "add-remove", 1)
    gain = 1 - noise.value_at(document, "gaussian_exact") / noise.value_at(document, "gaussian_zcdp")
    LAB.draw(figure, document, rules, of=(eps, delta, rules), alt=LAB.say("alt"), height=440)
    st.write(LAB.say("gain", eps=local(eps, "g"), delta=amount(delta), gain=local(100 * gain, ".1f")))
    met = document["crossings"]
    usual, exact = (met.get(f"laplace_basic:gaussian_{name}") for name in ("zcdp", "exact"))
    if usual and exact:
        st.write(LAB.say("yours", k=local(usual, ".2f"), exact=local(exact, ".2f")))
    rows = [[local(e, "g"), amount(d), local(k, ".2f"), str(first)] for e, d, k, first in paper_crossings()]
    table([LAB.say(c) for c in ("epsilon", "delta", "crossing", "first")], rows, alt=LAB.say("table"))
