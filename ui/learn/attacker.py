"""Lab 2: what an attacker can conclude, whatever was believed before."""

import numpy as np
import streamlit as st

from dpsyn_core.privacy import best_guess, posterior, trade_off
from ui.learn.controls import deltas, epsilon, slide
from ui.learn.kept import draw
from ui.privacy.guarantee import odds_words
from ui.shared.charts import Figure, curve, marks
from ui.shared.text import local, percent, t
from ui.shared.theme import facts, hues, palette

DELTAS = (0.0, 1e-9, 1e-6, 1e-3, 0.05)


def figure(eps: float, delta: float, prior: float) -> Figure:
    """Left: belief after against belief before. Right: missed detections against false alarms."""
    from plotly.subplots import make_subplots

    colours = palette()
    p = np.linspace(0, 1, 101)
    low, high = posterior(p, eps)
    out = make_subplots(rows=1, cols=2, horizontal_spacing=0.18)
    out.add_trace(curve(p, high, t("learn.attacker.most"), hues()[0], width=2), 1, 1)
    fill = {"fill": "tonexty", "fillcolor": "rgba(0,114,178,0.15)"}
    out.add_trace(curve(p, low, t("learn.attacker.least"), hues()[0], "dash", width=2, **fill), 1, 1)
    ends, dots = [float(end) for end in posterior(prior, eps)], {"color": colours.warning, "dash": "dot"}
    yours = t("learn.attacker.yours")
    both = marks([prior] * 2, ends, yours, colours.warning, size=10, mode="markers+lines", line=dots)
    out.add_trace(both, 1, 1)
    alarm = np.linspace(0, 1, 201)
    frontier = t("learn.attacker.frontier")
    out.add_trace(curve(alarm, trade_off(alarm, eps, delta), frontier, hues()[1], width=2), 1, 2)
    out.add_trace(curve([0, 1], [1, 0], t("learn.attacker.guess"), colours.real, "dot", width=2), 1, 2)
    out.update_xaxes(title=t("learn.attacker.prior_axis"), range=[0, 1], row=1, col=1)
    out.update_yaxes(title=t("learn.attacker.posterior_axis"), range=[0, 1], row=1, col=1)
    out.update_xaxes(title=t("learn.attacker.alarm_axis"), range=[0, 1], row=1, col=2)
    out.update_yaxes(title=t("learn.attacker.miss_axis"), range=[0, 1], row=1, col=2)
    out.update_layout(legend={"traceorder": "normal"})
    return out


def near(share: float) -> str:
    """A percentage that rounding does not turn into certainty: below epsilon infinity nothing is certain."""
    if 0.9995 <= share < 1:
        return t("learn.attacker.over")
    if 0 < share < 0.0005:
        return t("learn.attacker.under")
    return percent(share)


def show() -> None:
    """Controls, sentence, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps = epsilon("attacker_epsilon", at=a)
    delta = deltas(DELTAS, 1e-6, key="attacker_delta", at=b)
    prior = slide(t("learn.attacker.prior"), 1, 99, 10, key="attacker_prior", at=c) / 100
    low, high = (float(x) for x in posterior(prior, eps))
    st.html(f"<p class='dp-lead'>{odds_words(eps, delta)}</p>")
    facts(
        (near(best_guess(eps, delta)), t("learn.attacker.right"), t("learn.attacker.coin")),
        (near(high), t("learn.attacker.belief"), t("learn.attacker.from", prior=percent(prior, 0))),
        (near(low), t("learn.attacker.doubt"), t("learn.attacker.from", prior=percent(prior, 0))),
    )
    alt = t("learn.attacker.alt", eps=local(eps, "g"), prior=percent(prior, 0), low=near(low), high=near(high))
    draw(figure, eps, delta, prior, alt=alt, key="attacker_plot", height=420)
