"""Lab 1: one count, its noise, and the same count without one person."""

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ui.learn.lab import EPSILONS, Lab
from ui.learn.numbers.counting import law, log_ratio
from ui.shared.charts import Figure, marks
from ui.shared.text import local, number
from ui.shared.theme import hues, palette
from ui.shared.theme import show as draw

LAB = Lab("count")
DRAWS = 40
SHOWN = EPSILONS[:8]  # up to 5: beyond, one bar holds everything
AROUND = 30  # records to either side of the true count
MOST = 200.0  # of the axis of ratios


def sample(mechanism: str, eps: float, size: int) -> NDArray[np.int64]:
    """Draws for the figure from the distribution above; the engine's own noise comes from the operating system."""
    z, p = law(mechanism, eps)
    return np.random.default_rng().choice(z, size=size, p=p / p.sum())


def figure(mechanism: str, eps: float, count: int, draws: NDArray[np.int64] | None) -> Figure:
    """The two distributions above, their ratio below; the axes are the same at every epsilon."""
    from plotly.subplots import make_subplots

    z, p = law(mechanism, eps)
    _, ratio = log_ratio(mechanism, eps)
    colours, reach = palette(), np.log10(MOST)
    look: dict[str, Any] = {"width": 2, "line_shape": "hvh"}
    out = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.12)
    seen = p > 1e-4 * p.max()
    at = count + z[seen]
    out.add_trace(LAB.curve("with", at, p[seen], hues()[0], **look), 1, 1)
    out.add_trace(LAB.curve("without", at - 1, p[seen], hues()[1], "dash", **look), 1, 1)
    if draws is not None:
        y, line = np.full(len(draws), -0.03), {"width": 1.5, "color": colours.warning}
        out.add_trace(marks(count + draws, y, LAB.say("draws"), None, "line-ns", size=14, marker_line=line), 1, 1)
    out.add_trace(LAB.curve("ratio", at, np.exp(ratio[seen]), colours.ink, **look), 2, 1)
    for bound in (np.exp(eps), np.exp(-eps)):
        out.add_hline(y=bound, line={"color": colours.warning, "dash": "dot", "width": 1.5}, row=2, col=1)
    ticks = {"type": "log", "range": [-reach, reach], "tickvals": [0.01, 0.1, 1, 10, 100], "tickformat": ",~r"}
    out.update_yaxes(title=LAB.say("y"), range=[-0.06, 1], row=1, col=1)
    out.update_yaxes(title=LAB.say("y2"), row=2, col=1, **ticks)
    out.update_xaxes(range=[count - AROUND, count + AROUND])
    out.update_xaxes(title=LAB.say("x"), row=2, col=1)
    return out


def spread(mechanism: str, eps: float) -> float:
    """Standard deviation of an answer, in records."""
    z, p = law(mechanism, eps)
    return float(np.sqrt((z**2 * p).sum()))


def found(mechanism: str, eps: float) -> dict[str, str]:
    """What the closing sentences say at these settings."""
    here, half = spread(mechanism, eps), spread(mechanism, eps / 2)
    said = {"most": local(float(np.exp(eps)), ".3g"), "times": local(half / here, ".2f")}
    return said | {"spread": number(here), "half": number(half)}


def show() -> dict[str, str]:
    """Controls and figure."""
    a, b, c, d = st.columns([3, 3, 2, 2], gap="medium", vertical_alignment="bottom")
    eps = LAB.epsilon(1.0, SHOWN, at=a)
    mechanism = LAB.pick("mechanism", ("laplace", "gaussian"), "laplace", at=b)
    count = LAB.whole("count", 1, 1000, 20, at=c)
    pressed = d.button(LAB.say("draw", n=DRAWS), key="count_draw")
    _, p = law(mechanism, eps)
    values = found(mechanism, eps)
    beyond = float(p[np.abs(log_ratio(mechanism, eps)[1]) > eps * (1 + 1e-9)].sum())
    alt = LAB.say("alt", **values)
    if pressed:
        draws = sample(mechanism, eps, DRAWS)
        draw(figure(mechanism, eps, count, draws), alt=alt, key="count_plot", height=470)
    else:
        LAB.draw(figure, mechanism, eps, count, None, alt=alt, height=470)
    st.write(LAB.say("reading", beyond=local(beyond, ".1e") if beyond else "0", **values))
    return values
