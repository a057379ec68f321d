"""Lab 18: who pays for the noise: the error of small groups and of large ones."""

import numpy as np
import streamlit as st

from dpsyn_core.report import theme
from ui.learn.budgets import EPSILONS
from ui.learn.controls import pick, several, steps
from ui.learn.kept import draw
from ui.learn.numbers import systems as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

LEAST = 1e-3  # an error of nothing has no place on a log axis
TICKS = [1, 10, 100, 1_000]


def figure(chosen: list[str], eps: float, what: str) -> Figure:
    """Error of every group against its size, and the median of groups of a size."""
    names, sizes = lesson.groups()
    middles = [float(np.median(sizes[(sizes >= low) & (sizes <= high)])) for low, high in lesson.CLASSES]
    out = chart()
    for name in chosen:
        i = theme.SYSTEMS[name]
        y = np.maximum(lesson.group_errors(name, eps, what), LEAST)
        out.add_trace(
            marks(
                sizes,
                y,
                None,
                hues()[i],
                theme.SYMBOLS[i],
                size=7,
                text=names,
                showlegend=False,
                opacity=0.55,
                hovertemplate=t("learn.groups.hover", system=name),
            )
        )
        median = np.maximum(lesson.by_class(name, eps, what), LEAST)
        out.add_trace(curve(middles, median, name, hues()[i], theme.DASHES[i], hoverinfo="skip"))
    fresh = np.maximum(lesson.by_class(lesson.FRESH, eps, what), LEAST)
    out.add_trace(curve(middles, fresh, t("learn.budgets.fresh"), palette().real, "dot", width=2))
    out.update_xaxes(
        title=t("learn.groups.x"), type="log", range=[-0.1, 3.8], tickvals=TICKS, ticktext=[number(x) for x in TICKS]
    )
    out.update_yaxes(
        title=t(f"learn.groups.{what}_axis"),
        type="log",
        tickformat=".1~%",
        tickvals=[0.001, 0.01, 0.1, 1, 10],
        range=[-3.1, 1],
    )
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c = st.columns([4, 3, 4], gap="medium")
    chosen = several(t("learn.race.runners"), lesson.SYSTEMS, ("rls", "independent"), key="groups_systems", at=a)
    eps = steps(t("learn.epsilon"), EPSILONS, 1.0, key="groups_epsilon", at=b)
    what = pick(t("learn.groups.what"), lesson.ERRORS, key="groups_what", at=c)
    if not chosen:
        st.info(t("learn.budgets.none"))
        return
    first = chosen[0]
    found = lesson.by_class(first, eps, what)
    fresh = lesson.by_class(lesson.FRESH, eps, what)
    _, sizes = lesson.groups()
    few, many = (int(((sizes >= a) & (sizes <= b)).sum()) for a, b in (lesson.CLASSES[1], lesson.CLASSES[-1]))
    facts(
        (
            percent(float(found[1])),
            t("learn.groups.small", system=first),
            t("learn.groups.of", n=few, fresh=percent(float(fresh[1]))),
        ),
        (
            percent(float(found[-1])),
            t("learn.groups.large", system=first),
            t("learn.groups.of", n=many, fresh=percent(float(fresh[-1]))),
        ),
        (
            f"{local(found[1] / found[-1], '.0f')} ×",
            t("learn.groups.ratio"),
            t("learn.groups.ratio_fresh", times=local(fresh[1] / fresh[-1], ".0f")),
        ),
    )
    reading = t(
        f"learn.groups.reading_{what}",
        eps=local(eps, "g"),
        system=first,
        small=percent(float(found[1])),
        large=percent(float(found[-1])),
    )
    draw(
        figure,
        chosen,
        eps,
        what,
        of=(tuple(chosen), eps, what),
        alt=t("learn.groups.alt", reading=reading),
        key="groups_plot",
        height=430,
    )
    st.write(reading)
