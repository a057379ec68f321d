"""Lab 8: why reading the list of values from the data breaks the guarantee, and what buying it costs."""

import math

import numpy as np
import streamlit as st

from ui.learn.controls import deltas, epsilon, whole
from ui.learn.kept import draw
from ui.learn.numbers.counting import chance_shown, enough
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import amount, local, number, percent, t
from ui.shared.theme import hues, palette

DELTAS = (1e-3, 1e-6, 1e-9)
MOST = 500  # people on the axis
NOBODY = 0.5  # where 0 people stand on a logarithmic axis


def figure(eps: float, delta: float, holders: int) -> Figure:
    """Chance that the value is listed against how many hold it: read from the data, and bought."""
    colours = palette()
    x = [0, *sorted({round(k) for k in np.geomspace(1, MOST, 150)})]
    at = np.maximum(x, NOBODY)
    out = chart()
    out.add_trace(
        curve(at, [float(n > 0) for n in x], t("learn.leak.read"), hues()[1], "dash", width=2.2, line_shape="hv")
    )
    bought = [chance_shown(n, eps, delta) for n in x]
    out.add_trace(curve(at, bought, t("learn.leak.bought"), hues()[0], width=2.2))
    pair = [holders - 1, holders]
    out.add_trace(
        marks(
            [max(n, NOBODY) for n in pair * 2],
            [float(n > 0) for n in pair] + [chance_shown(n, eps, delta) for n in pair],
            t("learn.leak.worlds"),
            colours.warning,
            size=11,
        )
    )
    ticks = [NOBODY, 1, 3, 10, 30, 100, 300]
    out.update_xaxes(
        title=t("learn.leak.x"),
        type="log",
        range=[-0.35, np.log10(MOST)],
        tickvals=ticks,
        ticktext=[str(int(n)) for n in ticks],
    )
    out.update_yaxes(title=t("learn.leak.y"), tickformat=".0%", range=[-0.03, 1.05])
    return out


def show() -> None:
    """Controls, both cases in words (read and bought), figure."""
    a, b, c = st.columns(3, gap="medium")
    eps = epsilon("leak_epsilon", at=a)
    delta = deltas(DELTAS, 1e-6, key="leak_delta", at=b)
    holders = whole(t("learn.leak.holders"), 1, 400, 1, key="leak_holders", at=c)
    without, with_you = chance_shown(holders - 1, eps, delta), chance_shown(holders, eps, delta)
    one, two = st.columns(2, gap="large")
    with one:
        st.write(t("learn.leak.naive_title"))
        st.write(t("learn.leak.naive", without=percent(0 if holders == 1 else 1, 0)))
    with two:
        st.write(t("learn.leak.bought_title"))
        st.write(t("learn.leak.fair", with_you=shown(with_you), without=shown(without)))
    n = enough(eps, delta)
    alt = t("learn.leak.alt", n=n, eps=local(eps, "g"), delta=amount(delta))
    draw(figure, eps, delta, holders, alt=alt, key="leak_plot", height=360)
    st.write(alt)


def shown(chance: float) -> str:
    """A probability in words, in which a small one is not rounded to 0."""
    if chance == 0:
        return t("learn.leak.never")
    if chance < 1e-3:
        return t("learn.leak.one_in", n=number(math.floor(1 / chance)))
    return percent(chance)
