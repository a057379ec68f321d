"""Lab 32: a network trained in one phase or in two, on the same budget, and what the phases of P3GM cost."""

import numpy as np
import streamlit as st

from ui.learn.controls import epsilon, segments, steps
from ui.learn.kept import draw
from ui.learn.numbers import phases as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

VIEWS = ("records", "loss", "by_dimension", "costs")
SHOWN = 400  # records that are drawn
DASHES = {"two": "solid", "one": "dash"}


def records_figure(dimensions: int, share: float, eps: float) -> Figure:
    """Real and synthetic people in the two directions in which the groups lie apart."""
    real, out = lesson.people(dimensions), chart()
    parts = [("real", real.seen, palette().real, "circle-open")]
    for way, hue, symbol in (("two", hues()[0], "circle"), ("one", hues()[1], "x")):
        made = lesson.made("two" if way == "two" else "one", dimensions, eps, share)
        parts.append((way, real.place(made.records), hue, symbol))
    for name, at, colour, symbol in parts:
        x, y = at[:SHOWN, 0], at[:SHOWN, 1]
        out.add_trace(marks(x, y, t(f"learn.phases.{name}"), colour, symbol, size=6, marker_opacity=0.7))
    out.update_xaxes(title=t("learn.phases.x"), range=[-2.8, 2.8])
    out.update_yaxes(title=t("learn.phases.y"), range=[-2.8, 2.8])
    return out


def loss_figure(dimensions: int, share: float, eps: float) -> Figure:
    """How far records are from what the network makes of them, step by step."""
    out = chart()
    for way, hue in zip(lesson.WAYS, hues(), strict=False):
        left = np.mean([lesson.made(way, dimensions, eps, share, i).left for i in range(3)], axis=0)
        x = np.arange(1, lesson.STEPS + 1)
        out.add_trace(curve(x, left, t(f"learn.phases.{way}"), hue, DASHES[way]))
    out.update_xaxes(title=t("learn.phases.x_loss"))
    out.update_yaxes(title=t("learn.phases.y_loss"), rangemode="tozero")
    return out


def dimensions_figure(share: float, eps: float) -> Figure:
    """How many other people a rule tells right that has learnt from synthetic ones, by numbers of a record."""
    out = chart()
    for way, hue in zip(lesson.WAYS, hues(), strict=False):
        y = [lesson.scores(way, d, eps, share) for d in lesson.DIMENSIONS]
        out.add_trace(curve(lesson.DIMENSIONS, y, t(f"learn.phases.{way}"), hue, DASHES[way], mode="lines+markers"))
    out.add_hline(y=0.5, line={"color": palette().line, "dash": "dot"})
    ticks = [str(d) for d in lesson.DIMENSIONS]
    out.update_xaxes(title=t("learn.phases.dimensions"), type="log", tickvals=lesson.DIMENSIONS, ticktext=ticks)
    out.update_yaxes(title=t("learn.phases.y_right"), tickformat=".0%", range=[0.3, 1.02])
    return out


def costs_figure(table: str, components: float, mixture: float, parts: int) -> Figure:
    """Epsilon of all phases by the noise of the training, by three ways of accounting: Figure 9 of the paper."""
    out, stated = chart(), lesson.STATED[table][-1]
    each = {s: lesson.cost(table, components, mixture, parts, s) for s in lesson.TRAININGS}
    for name, hue, dash in zip(("baseline", "theorem_4", "booked"), hues(), ("dot", "dash", "solid"), strict=False):
        y = [found[name] for found in each.values()]
        label = t(f"learn.phases.{name}")
        out.add_trace(curve(lesson.TRAININGS, y, label, hue, dash, mode="lines+markers"))
    y = [each[stated]["theorem_4"]]
    out.add_trace(marks([stated], y, t("learn.phases.stated"), palette().warning, "diamond", size=13))
    out.add_hline(y=1.0, line={"color": palette().line, "dash": "dot"})
    ticks = [local(s, "g") for s in lesson.TRAININGS]
    out.update_xaxes(title=t("learn.phases.x_costs"), type="log", tickvals=lesson.TRAININGS, ticktext=ticks)
    out.update_yaxes(title=t("learn.phases.y_costs"), rangemode="tozero")
    return out


def show() -> None:
    """The view, and what belongs to it."""
    view = segments(t("learn.phases.view"), VIEWS, "records", key="phases_view")
    if view == "costs":
        _costs()
    else:
        _trained(view)


def _costs() -> None:
    """Theorem 4 as a calculator: noise and parts to epsilon."""
    a, b, c, d = st.columns(4, gap="medium")
    table = steps(t("learn.phases.table"), tuple(lesson.STATED), "Adult", key="phases_table", at=a)
    components = steps(t("learn.phases.sigma_p"), lesson.COMPONENTS, 48.09, key="phases_components", at=b)
    mixture = steps(t("learn.phases.sigma_e"), lesson.MIXTURES, 82.2, key="phases_mixture", at=c)
    parts = steps(t("learn.phases.parts"), lesson.PARTS, 3, key="phases_parts", at=d)
    noise, taken = local(lesson.STATED[table][-1], "g"), number(lesson.taken(table))
    found = lesson.cost(table, components, mixture, parts, lesson.STATED[table][-1])
    theorem, baseline, booked = (local(found[name], ".3f") for name in ("theorem_4", "baseline", "booked"))
    facts(
        (theorem, t("learn.phases.theorem_is"), t("learn.phases.baseline_is", epsilon=baseline)),
        (booked, t("learn.phases.booked_is"), t("learn.phases.steps_are", steps=taken)),
    )
    reading = t(
        "learn.phases.costs_reading",
        table=table,
        noise=noise,
        steps=taken,
        theorem=theorem,
        baseline=baseline,
        booked=booked,
    )
    alt = t("learn.phases.alt_costs", reading=reading)
    draw(costs_figure, table, components, mixture, parts, alt=alt, key="phases_costs", height=380)
    st.write(reading)


def _trained(view: str) -> None:
    """Controls, numbers, figure of both ways of training."""
    a, b, c = st.columns(3, gap="medium")
    dimensions = int(steps(t("learn.phases.dimensions"), lesson.DIMENSIONS, 50, key="phases_dimensions", at=a))
    share = float(
        steps(
            t("learn.phases.share"), lesson.SHARES, 0.2, key="phases_share", words=lambda s: percent(float(s), 0), at=b
        )
    )
    eps = epsilon("phases_epsilon", 0.5, at=c)
    two, one = (percent(lesson.scores(way, dimensions, eps, share), 0) for way in lesson.WAYS)
    real = percent(lesson.right(lesson.people(dimensions).x, dimensions), 0)
    facts(
        (two, t("learn.phases.two"), t("learn.phases.real_is", share=real)),
        (one, t("learn.phases.one"), t("learn.phases.chance")),
    )
    reading = t("learn.phases.reading", two=two, one=one, real=real, dimensions=dimensions)
    alt = t(f"learn.phases.alt_{view}", reading=reading)
    if view == "records":
        draw(records_figure, dimensions, share, eps, alt=alt, key="phases_records", height=440)
    elif view == "loss":
        draw(loss_figure, dimensions, share, eps, alt=alt, key="phases_loss", height=380)
    else:
        draw(dimensions_figure, share, eps, alt=alt, key="phases_by_dimension", height=380)
    st.write(reading)
