"""Lab 7: a prior as privacy: Dirichlet-multinomial draws of the Race counts."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from ui.learn.lab import Lab
from ui.learn.numbers import family as lesson
from ui.learn.numbers.family import COUNTS, PUBLISHED, STEPS
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, marked, palette, table
from ui.shared.theme import show as draw

LAB = Lab("prior")
DRAW = "prior_draws"
SMALL = 4  # place of the smallest group
WHY = "why"  # the last of the steps: the derivation


def names() -> list[str]:
    """The words of the six categories."""
    return [LAB.say(f"group_{i + 1}") for i in range(len(COUNTS))]


def walk_table(made: lesson.PriorSteps, step: str) -> pd.DataFrame:
    """The published table, original beside synthetic, with one more column a step up to the given one."""
    columns: dict[str, Any] = {"category": names(), "original": COUNTS, "step_alpha": made.counts.round(2)}
    if step in ("theta", "y"):
        columns["step_theta"] = made.shares.round(4)
    if step == "y":
        columns |= {"step_y": made.drawn, "published": PUBLISHED}
    return pd.DataFrame({LAB.say(name): cells for name, cells in columns.items()})


def why(eps: float) -> list[list[str]]:
    """Equations (8) to (13) of the slides, what each says, and its value for the published counts and draw.

    The other table has one person of the smallest group in the largest instead.
    """
    d = lesson.derivation(COUNTS, PUBLISHED, eps, left=SMALL, joined=0)
    logs = {8: d.log_chance, 9: d.by_gamma, 10: d.by_four, 12: d.epsilon}
    here = {n: local(value, ".4f") for n, value in logs.items()}
    here |= {11: f"{local(d.least, '.4g')}; {local(d.largest, '.4g')}", 13: local(d.alpha, ".6f")}
    return [[f"({n})", LAB.say(f"why_{n}"), here[n]] for n in sorted(here)]


def figure(eps: float, draws: list[NDArray[np.int64]], counts: NDArray[np.int64] = COUNTS) -> Figure:
    """Real counts, the mean of the synthetic ones with two deviations, and draws."""
    colours, x = palette(), names()
    mean, deviation = lesson.moments(counts, int(counts.sum()), eps)
    spread = {"type": "data", "array": 2 * deviation, "color": colours.ink, "thickness": 1.2}
    out = chart(  # marks, not bars: on a log axis a bar has no foot
        marks(x, counts, LAB.say("real"), colours.real, "circle-open", size=12, marker_line={"width": 2}),
        marks(x, mean, LAB.say("mean"), colours.accent, "diamond", size=10, error_y=spread),
    )
    for i, drawn in enumerate(draws):
        out.add_trace(marks(x, drawn, LAB.say("draws"), colours.warning, "x", showlegend=i == 0))
    out.update_yaxes(title=LAB.say("y"), type="log", dtick=1, tickformat=",~r", range=[-0.1, 3.1])
    return out


def show() -> None:
    """Epsilon, draw, figure, table."""
    a, b = st.columns(2, gap="medium", vertical_alignment="bottom")
    eps = LAB.epsilon(5.0, at=a)
    n = 5 if b.button(LAB.say("draw"), key=DRAW) else 0
    small = LAB.slide("people", 1, 200, int(COUNTS[SMALL]))
    counts = COUNTS.copy()
    counts[SMALL] = small
    m, published = int(counts.sum()), int(COUNTS.sum())
    mean, deviation = lesson.moments(counts, m, eps)
    facts(
        (local(lesson.least_alpha(m, eps), ".3g"), LAB.say("alpha"), LAB.say("formula", m=m)),
        (percent(mean[SMALL] / small - 1, 0, "+"), LAB.say("small"), LAB.counted("six", small)),
        (percent(mean[0] / COUNTS[0] - 1, 0, "+"), LAB.say("large"), LAB.say("most")),
    )
    means = {"small": local(mean[SMALL], ".0f"), "large": local(mean[0], ".0f")}
    drawn = [lesson.synthetic(counts, m, eps) for _ in range(n)]
    alt = LAB.say("alt", eps=local(eps, "g"), people=small, **means)
    draw(figure(eps, drawn, counts), alt=alt, key="prior_plot", height=380)
    step = LAB.segments("step", (*STEPS, WHY), "y", words="step_")
    made = lesson.walk(COUNTS, published, eps, np.random.default_rng())
    st.write(LAB.say(f"says_{step}", alpha=local(made.alpha, ".2f"), m=published))
    if step == WHY:
        head = [LAB.say(f"why_{c}") for c in ("equation", "says", "here")]
        table(head, why(eps), alt=LAB.say("why_table"), numbers=False)
    else:
        st.dataframe(marked(walk_table(made, step)), hide_index=True, alt=LAB.say("walk_table"))
    moments = ([local(x, ",.1f") for x in column] for column in (mean, deviation))
    rows = [list(row) for row in zip(names(), map(number, counts.tolist()), *moments, strict=True)]
    table(["", *(LAB.say(c) for c in ("real", "mean", "deviation"))], rows, alt=LAB.say("table"))
