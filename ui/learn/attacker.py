"""Lab 2: what an attacker can conclude, whatever was believed before."""

import numpy as np
import streamlit as st

from dpsyn_core.privacy import best_guess, posterior, trade_off
from ui.learn.lab import Lab
from ui.privacy.guarantee import odds_words
from ui.shared.charts import Figure, marks
from ui.shared.text import local, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("attacker")
DELTAS = (0.0, 1e-9, 1e-6, 1e-3, 0.05)


def figure(eps: float, delta: float, prior: float) -> Figure:
    """Left: belief after against belief before. Right: missed detections against false alarms."""
    from plotly.subplots import make_subplots

    colours = palette()
    p = np.linspace(0, 1, 101)
    low, high = posterior(p, eps)
    out = make_subplots(rows=1, cols=2, horizontal_spacing=0.18)
    out.add_trace(LAB.curve("most", p, high, hues()[0], width=2), 1, 1)
    fill = {"fill": "tonexty", "fillcolor": "rgba(0,114,178,0.15)"}
    out.add_trace(LAB.curve("least", p, low, hues()[0], "dash", width=2, **fill), 1, 1)
    ends, dots = [float(end) for end in posterior(prior, eps)], {"color": colours.warning, "dash": "dot"}
    lines = {"mode": "markers+lines", "line": dots}
    out.add_trace(marks([prior] * 2, ends, LAB.say("yours"), colours.warning, size=10, **lines), 1, 1)
    alarm = np.linspace(0, 1, 201)
    out.add_trace(LAB.curve("frontier", alarm, trade_off(alarm, eps, delta), hues()[1], width=2), 1, 2)
    out.add_trace(LAB.curve("guess", [0, 1], [1, 0], colours.real, "dot", width=2), 1, 2)
    for column, x, y in ((1, "prior_axis", "posterior_axis"), (2, "alarm_axis", "miss_axis")):
        out.update_xaxes(title=LAB.say(x), range=[0, 1], row=1, col=column)
        out.update_yaxes(title=LAB.say(y), range=[0, 1], row=1, col=column)
    out.update_layout(legend={"traceorder": "normal"})
    return out


def near(share: float) -> str:
    """A percentage that rounding does not turn into certainty: below epsilon infinity nothing is certain."""
    if 0.9995 <= share < 1:
        return LAB.say("over")
    if 0 < share < 0.0005:
        return LAB.say("under")
    return percent(share)


def show() -> None:
    """Controls, sentence, figure."""
    a, b, c = st.columns(3, gap="medium")
    eps, delta, prior = LAB.epsilon(at=a), LAB.delta(DELTAS, 1e-6, at=b), LAB.slide("prior", 1, 99, 10, at=c) / 100
    low, high = (near(float(x)) for x in posterior(prior, eps))
    before = percent(prior, 0)
    st.html(f"<p class='dp-lead'>{odds_words(eps, delta)}</p>")
    facts(
        (near(best_guess(eps, delta)), LAB.say("right"), LAB.say("coin")),
        (high, LAB.say("belief"), LAB.say("from", prior=before)),
        (low, LAB.say("doubt"), LAB.say("from", prior=before)),
    )
    alt = LAB.say("alt", eps=local(eps, "g"), prior=before, low=low, high=high)
    LAB.draw(figure, eps, delta, prior, alt=alt, height=420)
