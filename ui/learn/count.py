"""Lab 1: one count, its noise, and the same count without one person."""

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ui.learn.controls import EPSILONS, pick, steps, whole
from ui.learn.kept import draw as draw_kept
from ui.learn.numbers.counting import law, log_ratio
from ui.shared.charts import Figure, curve, marks
from ui.shared.text import local, number, t
from ui.shared.theme import hues, palette
from ui.shared.theme import show as draw

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
    colours = palette()
    out = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.62, 0.38], vertical_spacing=0.12)
    seen = p > 1e-4 * p.max()
    for shift, name, colour, dash in ((0, "with", hues()[0], "solid"), (-1, "without", hues()[1], "dash")):
        label = t(f"learn.count.{name}")
        out.add_trace(curve(count + z[seen] + shift, p[seen], label, colour, dash, width=2, line_shape="hvh"), 1, 1)
    if draws is not None:
        y, line, label = np.full(len(draws), -0.03), {"width": 1.5, "color": colours.warning}, t("learn.count.draws")
        out.add_trace(marks(count + draws, y, label, None, "line-ns", size=14, marker_line=line), 1, 1)
    label, y = t("learn.count.ratio"), np.exp(ratio[seen])
    out.add_trace(curve(count + z[seen], y, label, colours.ink, width=2, line_shape="hvh"), 2, 1)
    for bound in (np.exp(eps), np.exp(-eps)):
        out.add_hline(y=bound, line={"color": colours.warning, "dash": "dot", "width": 1.5}, row=2, col=1)
    reach = [-np.log10(MOST), np.log10(MOST)]
    out.update_yaxes(title=t("learn.count.y"), range=[-0.06, 1], row=1, col=1)
    out.update_yaxes(
        title=t("learn.count.y2"),
        type="log",
        range=reach,
        tickvals=[0.01, 0.1, 1, 10, 100],
        tickformat=",~r",
        row=2,
        col=1,
    )
    out.update_xaxes(range=[count - AROUND, count + AROUND])
    out.update_xaxes(title=t("learn.count.x"), row=2, col=1)
    return out


def spread(mechanism: str, eps: float) -> float:
    """Standard deviation of an answer, in records."""
    z, p = law(mechanism, eps)
    return float(np.sqrt((z**2 * p).sum()))


def found(mechanism: str, eps: float) -> dict[str, str]:
    """What the closing sentences say at these settings."""
    here, half = spread(mechanism, eps), spread(mechanism, eps / 2)
    return {
        "most": local(float(np.exp(eps)), ".3g"),
        "spread": number(here),
        "half": number(half),
        "times": local(half / here, ".2f"),
    }


def show() -> dict[str, str]:
    """Controls and figure."""
    a, b, c, d = st.columns([3, 3, 2, 2], gap="medium", vertical_alignment="bottom")
    eps = steps(t("learn.epsilon"), SHOWN, 1.0, key="count_epsilon", at=a)
    mechanism = pick(t("learn.count.mechanism"), ("laplace", "gaussian"), key="count_mechanism", at=b)
    count = whole(t("learn.count.count"), 1, 1000, 20, key="count_count", at=c)
    pressed = d.button(t("learn.count.draw", n=DRAWS), key="count_draw")
    draws = sample(mechanism, eps, DRAWS) if pressed else None
    _, p = law(mechanism, eps)
    values = found(mechanism, eps)
    beyond = float(p[np.abs(log_ratio(mechanism, eps)[1]) > eps * (1 + 1e-9)].sum())
    alt = t("learn.count.alt", **values)
    if draws is None:
        draw_kept(figure, mechanism, eps, count, None, alt=alt, key="count_plot", height=470)
    else:
        draw(figure(mechanism, eps, count, draws), alt=alt, key="count_plot", height=470)
    st.write(t("learn.count.reading", beyond=local(beyond, ".1e") if beyond else "0", **values))
    return values
