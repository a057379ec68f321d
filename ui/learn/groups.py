"""Lab 18: who pays for the noise: the error of small groups and of large ones."""

from typing import Any

import numpy as np
import streamlit as st

from dpsyn_core.report import theme
from ui.learn.lab import Lab
from ui.learn.numbers import systems as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

LAB = Lab("groups")
LEAST = 1e-3  # an error of nothing has no place on a log axis
TICKS = [1, 10, 100, 1_000]


def figure(chosen: tuple[str, ...], eps: float, what: str) -> Figure:
    """Error of every group against its size, and the median of groups of a size."""
    names, sizes = lesson.groups()
    middles = [float(np.median(sizes[(sizes >= low) & (sizes <= high)])) for low, high in lesson.CLASSES]
    look: dict[str, Any] = {"size": 7, "text": names, "showlegend": False, "opacity": 0.55}
    out = chart()

    def medians(system: str) -> lesson.Floats:
        return np.maximum(lesson.by_class(system, eps, what), LEAST)

    for name in chosen:
        i = theme.SYSTEMS[name]
        y, hover = np.maximum(lesson.group_errors(name, eps, what), LEAST), LAB.say("hover", system=name)
        out.add_trace(marks(sizes, y, None, hues()[i], theme.SYMBOLS[i], hovertemplate=hover, **look))
        out.add_trace(curve(middles, medians(name), name, hues()[i], theme.DASHES[i], hoverinfo="skip"))
    out.add_trace(curve(middles, medians(lesson.FRESH), t("learn.budgets.fresh"), palette().real, "dot", width=2))
    ticks = {"tickvals": TICKS, "ticktext": [number(x) for x in TICKS]}
    out.update_xaxes(title=LAB.say("x"), type="log", range=[-0.1, 3.8], **ticks)
    ticks = {"tickvals": [0.001, 0.01, 0.1, 1, 10], "tickformat": ".1~%"}
    out.update_yaxes(title=LAB.say(f"{what}_axis"), type="log", range=[-3.1, 1], **ticks)
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns([4, 3, 4], gap="medium")
    runners, usual = t("learn.race.runners"), ("rls", "independent")
    chosen = LAB.several("systems", lesson.SYSTEMS, usual, words=str, label=runners, at=a)
    eps, what = LAB.epsilon(1.0, lesson.EPSILONS, at=b), LAB.pick("what", lesson.ERRORS, "count", at=c)
    if not chosen:
        st.info(t("learn.budgets.none"))
        return
    first, (_, sizes) = chosen[0], lesson.groups()
    found, fresh = lesson.by_class(first, eps, what), lesson.by_class(lesson.FRESH, eps, what)
    few, many = (int(((sizes >= a) & (sizes <= b)).sum()) for a, b in (lesson.CLASSES[1], lesson.CLASSES[-1]))
    small, large, small_fresh, large_fresh = (percent(float(x[at])) for x in (found, fresh) for at in (1, -1))
    times, times_fresh = (local(x[1] / x[-1], ".0f") for x in (found, fresh))
    facts(
        (small, LAB.say("small", system=first), LAB.say("of", n=few, fresh=small_fresh)),
        (large, LAB.say("large", system=first), LAB.say("of", n=many, fresh=large_fresh)),
        (f"{times} ×", LAB.say("ratio"), LAB.say("ratio_fresh", times=times_fresh)),
    )
    reading = LAB.say(f"reading_{what}", eps=local(eps, "g"), system=first, small=small, large=large)
    LAB.tell(reading, figure, chosen, eps, what, height=430)
