"""Lab 8: why reading the list of values from the data breaks the guarantee, and what buying it costs."""

import math

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers.counting import chance_shown, enough
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import amount, local, number, percent
from ui.shared.theme import hues, palette

LAB = Lab("leak")
DELTAS = (1e-3, 1e-6, 1e-9)
MOST = 500  # people on the axis
NOBODY = 0.5  # where 0 people stand on a logarithmic axis
TICKS = (NOBODY, 1, 3, 10, 30, 100, 300)


def figure(eps: float, delta: float, holders: int) -> Figure:
    """Chance that the value is listed against how many hold it: read from the data, and bought."""
    x, pair = [0, *sorted({round(k) for k in np.geomspace(1, MOST, 150)})], [holders - 1, holders]

    def read(people: list[int]) -> list[float]:
        return [float(n > 0) for n in people]

    def bought(people: list[int]) -> list[float]:
        return [chance_shown(n, eps, delta) for n in people]

    at, worlds = np.maximum(x, NOBODY), [max(n, NOBODY) for n in pair * 2]
    out = chart(
        LAB.curve("read", at, read(x), hues()[1], "dash", width=2.2, line_shape="hv"),
        LAB.curve("bought", at, bought(x), hues()[0], width=2.2),
        marks(worlds, read(pair) + bought(pair), LAB.say("worlds"), palette().warning, size=11),
    )
    axis = {"type": "log", "range": [-0.35, np.log10(MOST)], "tickvals": TICKS}
    out.update_xaxes(title=LAB.say("x"), ticktext=[str(int(n)) for n in TICKS], **axis)
    out.update_yaxes(title=LAB.say("y"), tickformat=".0%", range=[-0.03, 1.05])
    return out


def show() -> None:
    """Controls, both cases in words (read and bought), figure."""
    a, b, c = st.columns(3, gap="medium")
    eps, delta, holders = LAB.epsilon(at=a), LAB.delta(DELTAS, 1e-6, at=b), LAB.whole("holders", 1, 400, 1, at=c)
    without, with_you = (shown(chance_shown(n, eps, delta)) for n in (holders - 1, holders))
    one, two = st.columns(2, gap="large")
    one.write(LAB.say("naive_title"))
    one.write(LAB.say("naive", without=percent(0 if holders == 1 else 1, 0)))
    two.write(LAB.say("bought_title"))
    two.write(LAB.say("fair", with_you=with_you, without=without))
    alt = LAB.say("alt", n=enough(eps, delta), eps=local(eps, "g"), delta=amount(delta))
    LAB.draw(figure, eps, delta, holders, alt=alt, height=360)
    st.write(alt)


def shown(chance: float) -> str:
    """A probability in words, in which a small one is not rounded to 0."""
    if chance == 0:
        return LAB.say("never")
    return LAB.say("one_in", n=number(math.floor(1 / chance))) if chance < 1e-3 else percent(chance)
