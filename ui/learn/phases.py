"""Lab 32: a network trained in one phase or in two, on the same budget, and what the phases of P3GM cost."""

import numpy as np
import streamlit as st

from ui.learn.lab import Lab
from ui.learn.numbers import phases as lesson
from ui.shared.charts import Figure, chart, marks
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("phases")
VIEWS = ("records", "loss", "by_dimension", "costs")
SHOWN = 400  # records that are drawn
DASHES = {"two": "solid", "one": "dash"}


def records_figure(dimensions: int, share: float, eps: float) -> Figure:
    """Real and synthetic people in the two directions in which the groups lie apart."""
    real, out = lesson.people(dimensions), chart()
    two, one = (real.place(lesson.made(way, dimensions, eps, share).records) for way in lesson.WAYS)
    parts = ("real", real.seen, palette().real, "circle-open"), ("two", two, hues()[0], "circle")
    for name, at, colour, symbol in (*parts, ("one", one, hues()[1], "x")):
        x, y = at[:SHOWN].T
        out.add_trace(marks(x, y, LAB.say(name), colour, symbol, size=6, marker_opacity=0.7))
    out.update_xaxes(title=LAB.say("x"), range=[-2.8, 2.8])
    out.update_yaxes(title=LAB.say("y"), range=[-2.8, 2.8])
    return out


def loss_figure(dimensions: int, share: float, eps: float) -> Figure:
    """How far records are from what the network makes of them, step by step."""

    def left(way: lesson.Way) -> lesson.Floats:
        return np.asarray(np.mean([lesson.made(way, dimensions, eps, share, i).left for i in range(3)], axis=0))

    lines = ((way, left(way), hue, DASHES[way]) for way, hue in zip(lesson.WAYS, hues(), strict=False))
    out = LAB.curves(np.arange(1, lesson.STEPS + 1), *lines)
    out.update_xaxes(title=LAB.say("x_loss"))
    out.update_yaxes(title=LAB.say("y_loss"), rangemode="tozero")
    return out


def dimensions_figure(share: float, eps: float) -> Figure:
    """How many other people a rule tells right that has learnt from synthetic ones, by numbers of a record."""
    scores = {way: [lesson.scores(way, d, eps, share) for d in lesson.DIMENSIONS] for way in lesson.WAYS}
    lines = ((way, scores[way], hue, DASHES[way]) for way, hue in zip(lesson.WAYS, hues(), strict=False))
    out = LAB.curves(lesson.DIMENSIONS, *lines, mode="lines+markers")
    out.add_hline(y=0.5, line={"color": palette().line, "dash": "dot"})
    ticks = [str(d) for d in lesson.DIMENSIONS]
    out.update_xaxes(title=LAB.say("dimensions"), type="log", tickvals=lesson.DIMENSIONS, ticktext=ticks)
    out.update_yaxes(title=LAB.say("y_right"), tickformat=".0%", range=[0.3, 1.02])
    return out


def costs_figure(table: str, components: float, mixture: float, parts: int) -> Figure:
    """Epsilon of all phases by the noise of the training, by three ways of accounting: Figure 9 of the paper."""
    stated = lesson.STATED[table][-1]
    each = {s: lesson.cost(table, components, mixture, parts, s) for s in lesson.TRAININGS}
    ways = zip(("baseline", "theorem_4", "booked"), hues(), ("dot", "dash", "solid"), strict=False)
    lines = ((name, [found[name] for found in each.values()], hue, dash) for name, hue, dash in ways)
    out = LAB.curves(lesson.TRAININGS, *lines, mode="lines+markers")
    y = [each[stated]["theorem_4"]]
    out.add_trace(marks([stated], y, LAB.say("stated"), palette().warning, "diamond", size=13))
    out.add_hline(y=1.0, line={"color": palette().line, "dash": "dot"})
    ticks = [local(s, "g") for s in lesson.TRAININGS]
    out.update_xaxes(title=LAB.say("x_costs"), type="log", tickvals=lesson.TRAININGS, ticktext=ticks)
    out.update_yaxes(title=LAB.say("y_costs"), rangemode="tozero")
    return out


def show() -> None:
    """The view, and what belongs to it."""
    view = LAB.segments("view", VIEWS, "records")
    if view == "costs":
        _costs()
    else:
        _trained(view)


def _costs() -> None:
    """Theorem 4 as a calculator: noise and parts to epsilon."""
    a, b, c, d = st.columns(4, gap="medium")
    table = LAB.steps("table", tuple(lesson.STATED), "Adult", at=a)
    components = LAB.steps("components", lesson.COMPONENTS, 48.09, at=b)
    mixture, parts = LAB.steps("mixture", lesson.MIXTURES, 82.2, at=c), LAB.steps("parts", lesson.PARTS, 3, at=d)
    stated, taken = lesson.STATED[table][-1], number(lesson.taken(table))
    found = lesson.cost(table, components, mixture, parts, stated)
    theorem, baseline, booked = (local(found[name], ".3f") for name in ("theorem_4", "baseline", "booked"))
    facts(
        (theorem, LAB.say("theorem_is"), LAB.say("baseline_is", epsilon=baseline)),
        (booked, LAB.say("booked_is"), LAB.say("steps_are", steps=taken)),
    )
    epsilons = {"theorem": theorem, "baseline": baseline, "booked": booked}
    reading = LAB.say("costs_reading", table=table, noise=local(stated, "g"), steps=taken, **epsilons)
    alt = LAB.say("alt_costs", reading=reading)
    LAB.draw(costs_figure, table, components, mixture, parts, alt=alt, height=380, key="costs")
    st.write(reading)


def _trained(view: str) -> None:
    """Controls, numbers, figure of both ways of training."""
    a, b, c = st.columns(3, gap="medium")
    dimensions = LAB.steps("dimensions", lesson.DIMENSIONS, 50, at=a)
    share = LAB.steps("share", lesson.SHARES, 0.2, words=lambda s: percent(s, 0), at=b)
    eps = LAB.epsilon(0.5, at=c)
    two, one = (percent(lesson.scores(way, dimensions, eps, share), 0) for way in lesson.WAYS)
    real = percent(lesson.right(lesson.people(dimensions).x, dimensions), 0)
    facts((two, LAB.say("two"), LAB.say("real_is", share=real)), (one, LAB.say("one"), LAB.say("chance")))
    reading = LAB.say("reading", two=two, one=one, real=real, dimensions=dimensions)
    alt, height = LAB.say(f"alt_{view}", reading=reading), 440 if view == "records" else 380
    if view == "by_dimension":
        LAB.draw(dimensions_figure, share, eps, alt=alt, height=height, key=view)
    else:
        make = records_figure if view == "records" else loss_figure
        LAB.draw(make, dimensions, share, eps, alt=alt, height=height, key=view)
    st.write(reading)
