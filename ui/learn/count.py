"""Lab 1: one count, its noise, and the same count without one person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ui.learn.controls import epsilon, pick, whole
from ui.learn.kept import draw as draw_kept
from ui.learn.numbers.counting import law, log_ratio
from ui.shared.text import local, number, t
from ui.shared.theme import hues, palette
from ui.shared.theme import show as draw

if TYPE_CHECKING:
    import plotly.graph_objects as go

DRAWS = 40


def sample(mechanism: str, eps: float, size: int) -> NDArray[np.int64]:
    """Draws for the figure from the distribution above; the engine's own noise comes from the operating system."""
    z, p = law(mechanism, eps)
    return np.random.default_rng().choice(z, size=size, p=p / p.sum())


def figure(mechanism: str, eps: float, count: int, draws: NDArray[np.int64] | None) -> go.Figure:
    """The two distributions above, the logarithm of their ratio below."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    z, p = law(mechanism, eps)
    _, ratio = log_ratio(mechanism, eps)
    colours = palette()
    out = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.12)
    seen = p > 1e-4 * p.max()
    for shift, name, colour, dash in ((0, "with", hues()[0], "solid"), (-1, "without", hues()[1], "dash")):
        line = {"color": colour, "dash": dash, "width": 2, "shape": "hvh"}
        label = t(f"learn.count.{name}")
        out.add_trace(go.Scatter(x=count + z[seen] + shift, y=p[seen], name=label, mode="lines", line=line), 1, 1)
    if draws is not None:
        marker = {"symbol": "line-ns", "size": 14, "line": {"width": 1.5, "color": colours.warning}}
        y = np.full(len(draws), -0.05 * p.max())
        out.add_trace(
            go.Scatter(x=count + draws, y=y, name=t("learn.count.draws"), mode="markers", marker=marker), 1, 1
        )
    out.add_trace(
        go.Scatter(
            x=count + z[seen], y=ratio[seen], name=t("learn.count.ratio"), mode="lines", line={"color": colours.ink}
        ),
        2, 1,
    )  # fmt: skip
    for bound in (eps, -eps):
        out.add_hline(y=bound, line={"color": colours.warning, "dash": "dot", "width": 1.5}, row=2, col=1)
    out.update_yaxes(title=t("learn.count.y"), row=1, col=1)
    out.update_yaxes(title=t("learn.count.y2"), row=2, col=1)
    out.update_xaxes(title=t("learn.count.x"), row=2, col=1)
    return out


def show() -> None:
    """Controls, figure, table."""
    a, b, c = st.columns(3, gap="medium")
    with a:
        eps = epsilon("count_epsilon")
    with b:
        mechanism = pick(
            t("learn.count.mechanism"),
            ("laplace", "gaussian"),
            key="count_mechanism",
            words=lambda m: t(f"learn.count.{m}"),
        )
    with c:
        count = whole(t("learn.count.count"), 1, 1000, 20, key="count_count")
    pressed = st.button(t("learn.count.draw", n=DRAWS), key="count_draw")
    draws = sample(mechanism, eps, DRAWS) if pressed else None
    z, p = law(mechanism, eps)
    spread = float(np.sqrt((z**2 * p).sum()))
    beyond = float(p[np.abs(log_ratio(mechanism, eps)[1]) > eps * (1 + 1e-9)].sum())
    alt = t("learn.count.alt", spread=number(spread), eps=local(eps, "g"))
    if draws is None:
        draw_kept(figure, mechanism, eps, count, None, alt=alt, key="count_plot", height=470)
    else:
        draw(figure(mechanism, eps, count, draws), alt=alt, key="count_plot", height=470)
    st.write(t("learn.count.reading", spread=number(spread), beyond=local(beyond, ".1e") if beyond else "0"))
