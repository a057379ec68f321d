"""Lab 7: a prior as privacy: Dirichlet-multinomial draws of the Race counts."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from ui.learn.controls import epsilon, segments, slide
from ui.learn.numbers.family import (
    COUNTS,
    PUBLISHED,
    STEPS,
    PriorSteps,
    derivation,
    least_alpha,
    moments,
    synthetic,
    walk,
)
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import counted, local, number, percent, t
from ui.shared.theme import facts, marked, palette, table
from ui.shared.theme import show as draw

DRAW = "prior_draws"
SMALL = 4  # place of the smallest group
WHY = "why"  # the last of the steps: the derivation


def names() -> list[str]:
    """The words of the six categories."""
    return [t(f"learn.prior.group_{i + 1}") for i in range(len(COUNTS))]


def walk_table(made: PriorSteps, step: str) -> pd.DataFrame:
    """The published table, original beside synthetic, with one more column a step up to the given one."""
    columns: dict[str, Any] = {t("learn.prior.category"): names(), t("learn.prior.original"): COUNTS}
    columns[t("learn.prior.step_alpha")] = made.counts.round(2)
    if step in ("theta", "y"):
        columns[t("learn.prior.step_theta")] = made.shares.round(4)
    if step == "y":
        columns[t("learn.prior.step_y")] = made.drawn
        columns[t("learn.prior.published")] = PUBLISHED
    return pd.DataFrame(columns)


def why(eps: float) -> list[list[str]]:
    """Equations (8) to (13) of the slides, what each says, and its value for the published counts and draw.

    The other table has one person of the smallest group in the largest instead.
    """
    d = derivation(COUNTS, PUBLISHED, eps, left=SMALL, joined=0)
    here = {
        8: local(d.log_chance, ".4f"),
        9: local(d.by_gamma, ".4f"),
        10: local(d.by_four, ".4f"),
        11: f"{local(d.least, '.4g')}; {local(d.largest, '.4g')}",
        12: local(d.epsilon, ".4f"),
        13: local(d.alpha, ".6f"),
    }
    return [[f"({n})", t(f"learn.prior.why_{n}"), value] for n, value in here.items()]


def figure(eps: float, draws: list[NDArray[np.int64]], counts: NDArray[np.int64] = COUNTS) -> Figure:
    """Real counts, the mean of the synthetic ones with two deviations, and draws."""
    colours = palette()
    mean, deviation = moments(counts, int(counts.sum()), eps)
    out = chart()
    # marks, not bars: on a log axis a bar has no foot
    out.add_trace(
        marks(names(), counts, t("learn.prior.real"), colours.real, "circle-open", size=12, marker_line={"width": 2})
    )
    out.add_trace(
        marks(
            names(),
            mean,
            t("learn.prior.mean"),
            colours.accent,
            "diamond",
            size=10,
            error_y={"type": "data", "array": 2 * deviation, "color": colours.ink, "thickness": 1.2},
        )
    )
    for i, drawn in enumerate(draws):
        label = t("learn.prior.draws")
        out.add_trace(marks(names(), drawn, label, colours.warning, "x", showlegend=i == 0))
    out.update_yaxes(title=t("learn.prior.y"), type="log", dtick=1, tickformat=",~r", range=[-0.1, 3.1])
    return out


def show() -> None:
    """Epsilon, draw, figure, table."""
    a, b = st.columns(2, gap="medium", vertical_alignment="bottom")
    eps = epsilon("prior_epsilon", 5.0, at=a)
    n = 5 if b.button(t("learn.prior.draw"), key=DRAW) else 0
    small = slide(t("learn.prior.people"), 1, 200, int(COUNTS[SMALL]), key="prior_people")
    counts = COUNTS.copy()
    counts[SMALL] = small
    m = int(counts.sum())
    mean, deviation = moments(counts, m, eps)
    facts(
        (local(least_alpha(m, eps), ".3g"), t("learn.prior.alpha"), t("learn.prior.formula", m=m)),
        (
            percent(mean[SMALL] / small - 1, 0, "+"),
            t("learn.prior.small"),
            counted("learn.prior.six", small),
        ),
        (percent(mean[0] / COUNTS[0] - 1, 0, "+"), t("learn.prior.large"), t("learn.prior.most")),
    )
    alt = t(
        "learn.prior.alt",
        eps=local(eps, "g"),
        people=small,
        small=local(mean[SMALL], ".0f"),
        large=local(mean[0], ".0f"),
    )
    draw(figure(eps, [synthetic(counts, m, eps) for _ in range(n)], counts), alt=alt, key="prior_plot", height=380)
    step = segments(t("learn.prior.steps"), (*STEPS, WHY), "y", key="prior_step", words="step_")
    published = int(COUNTS.sum())
    made = walk(COUNTS, published, eps, np.random.default_rng())
    st.write(t(f"learn.prior.says_{step}", alpha=local(made.alpha, ".2f"), m=published))
    if step == WHY:
        head = [t(f"learn.prior.why_{c}") for c in ("equation", "says", "here")]
        table(head, why(eps), alt=t("learn.prior.why_table"), numbers=False)
    else:
        st.dataframe(marked(walk_table(made, step)), hide_index=True, alt=t("learn.prior.walk_table"))
    head = ["", *(t(f"learn.prior.{c}") for c in ("real", "mean", "deviation"))]
    rows = [
        [name, number(int(n)), local(a, ",.1f"), local(b, ",.1f")]
        for name, n, a, b in zip(names(), counts, mean, deviation, strict=True)
    ]
    table(head, rows, alt=t("learn.prior.table"))
