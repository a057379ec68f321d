"""Lab 23: one noise, and what every variant of differential privacy says of it."""

import numpy as np
import streamlit as st

from ui.learn.controls import deltas, steps
from ui.learn.kept import tell
from ui.learn.numbers import accounting as lesson
from ui.shared.charts import Figure, chart, curve
from ui.shared.text import amount, counted, local, number, t
from ui.shared.theme import facts, hues, palette, table

SIGMAS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
TIMES = (1, 5, 20, 100, 500)
DELTAS = (1e-12, 1e-9, 1e-6, 1e-4, 1e-2)
AXIS = tuple(float(x) for x in np.geomspace(1e-12, 1e-2, 41))
WAYS = ("exact", "tight", "standard", "each")
DASHES = ("solid", "dash", "dot", "dashdot")


def figure(sigma: float, times: int, delta: float) -> Figure:
    """Epsilon against delta, by four ways of reckoning."""
    found = [lesson.variants(sigma, times, d) for d in AXIS]
    out = chart()
    for way, dash, colour in zip(WAYS, DASHES, hues(), strict=False):
        y = [getattr(v, way) for v in found]
        out.add_trace(curve(AXIS, y, t(f"learn.variants.{way}"), colour, dash))
    out.add_vline(x=delta, line={"color": palette().line, "dash": "dot"})
    out.update_xaxes(title=t("learn.delta"), type="log", exponentformat="power", dtick=2, range=[-12.1, -1.9])
    out.update_yaxes(title=t("learn.variants.y"), type="log", dtick=1, tickformat=",~r", range=[-2, 2.3])
    return out


def show() -> None:
    """Controls, numbers, figure, the table of promises."""
    a, b, c = st.columns(3, gap="medium")
    sigma = float(steps(t("learn.variants.sigma"), SIGMAS, 10.0, key="variants_sigma", at=a))
    times = int(steps(t("learn.variants.times"), TIMES, 20, key="variants_times", at=b))
    delta = deltas(DELTAS, 1e-6, key="variants_delta", at=c)
    v = lesson.variants(sigma, times, delta)

    def said(x: float) -> str:
        return local(x, ".3g")

    facts(
        (said(v.exact), t("learn.variants.exact_is"), t("learn.variants.at", delta=amount(delta))),
        (said(v.standard), t("learn.variants.standard_is"), t("learn.variants.more", times=said(v.standard / v.exact))),
        (said(v.each), t("learn.variants.each_is"), t("learn.variants.more", times=said(v.each / v.exact))),
    )
    reading = counted("learn.variants.reading", times, sigma=number(sigma), exact=said(v.exact),
        standard=said(v.standard), each=said(v.each))  # fmt: skip
    tell("variants", reading, figure, sigma, times, delta, height=400)
    two, ten = lesson.renyi(v.mu, np.array([2.0, 10.0]))
    rows = [
        [t("learn.variants.pure"), t("learn.variants.pure_says")],
        [
            t("learn.variants.approximate"),
            t("learn.variants.approximate_says", epsilon=said(v.exact), delta=amount(delta)),
        ],
        [t("learn.variants.concentrated"), t("learn.variants.concentrated_says", rho=said(v.rho))],
        [t("learn.variants.renyi"), t("learn.variants.renyi_says", two=said(two), ten=said(ten))],
        [t("learn.variants.gaussian"), t("learn.variants.gaussian_says", mu=said(v.mu))],
    ]
    table([t("learn.variants.variant"), t("learn.variants.says")], rows, alt=t("learn.variants.table"), numbers=False)
