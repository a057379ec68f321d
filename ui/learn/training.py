"""Lab 19: what clipping, noise, samples and steps do to a model that learns from people, and what they cost."""

from typing import Any

import numpy as np
import streamlit as st

from dpsyn_core.report import theme
from ui.learn.lab import Lab
from ui.learn.numbers import training as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent
from ui.shared.theme import facts, hues, palette

LAB = Lab("training")
VIEWS = ("lengths", "loss", "epsilon", "systems")
SYSTEMS = ("rls", "p3gm")
LOOKS = {"free": (4, "dot"), "clipped": (2, "dash"), "first": (0, "solid"), "second": (5, "solid")}


def lengths_figure(clip: float) -> Figure:
    """How long the gradients of all people are at the start, before and after clipping."""
    before = lesson.lengths()
    most = max(float(np.quantile(before, 0.995)), 1.0)
    out, bins = chart(), {"start": 0, "end": most, "size": most / 40}
    for name, values, hue in (("before", before, hues()[1]), ("after", np.minimum(before, clip), hues()[0])):
        look = {"name": LAB.say(name), "marker": {"color": hue}, "opacity": 0.65}
        out.add_trace({"type": "histogram", "x": np.minimum(values, most * 0.999), "xbins": bins} | look)
    if clip <= most:
        out.add_vline(x=clip, line={"color": palette().warning, "width": 2, "dash": "dash"})
    out.update_layout(barmode="overlay")
    out.update_xaxes(title=LAB.say("x_lengths"))
    out.update_yaxes(title=LAB.say("y_lengths"), type="log", tickvals=[1, 10, 100, 1000], range=[-0.1, 3.4])
    return out


def loss_figure(made: dict[str, lesson.TrainingRun]) -> Figure:
    """Loss on other people, step by step, of the four runs."""
    out = chart()
    for name in lesson.RUNS:
        run, (hue, dash) = made[name], LOOKS[name]
        out.add_trace(LAB.curve(name, run.at, np.minimum(run.losses, 2.0), hues()[hue], dash))
    out.update_xaxes(title=LAB.say("x_steps"), range=[0, lesson.STEPS[-1]])
    out.update_yaxes(title=LAB.say("y_loss"), range=[0.45, 1.2])
    return out


def epsilon_figure(noise: float, batch: int, taken: int) -> Figure:
    """Epsilon against steps by both kinds of accounting, with the chosen number of steps marked."""
    renyi, exact = lesson.epsilons(noise, batch)
    lines = ("renyi", renyi, hues()[1], "dash"), ("exact", exact, hues()[0], "solid")
    out, here = LAB.curves(lesson.STEPS, *lines, mode="lines+markers"), exact[lesson.STEPS.index(taken)]
    out.add_trace(marks([taken], [here], LAB.say("yours"), palette().warning, "diamond", size=13))
    ticks: dict[str, Any] = {"tickvals": lesson.STEPS, "ticktext": [str(s) for s in lesson.STEPS]}
    out.update_xaxes(title=LAB.say("x_epsilon"), type="log", range=[1.3, 3], **ticks)
    ticks = {"tickvals": [0.1, 0.3, 1, 3, 10, 30, 100, 300]}
    out.update_yaxes(title=LAB.say("y_epsilon"), type="log", range=[-1.3, 2.8], **ticks)
    return out


def systems_figure() -> Figure:
    """What models learnt on synthetic records reach on real people, against epsilon, a line a system."""
    kept, out = lesson.systems(), chart()
    at, stars = kept["epsilons"], kept["paper"]
    for name in SYSTEMS:
        i, y = theme.SYSTEMS[name], np.mean(kept["auroc"][name], axis=1)
        out.add_trace(curve(at, y, name, hues()[i], theme.DASHES[i], mode="lines+markers"))
    out.add_trace(LAB.curve("real", [at[0], at[-1]], [kept["real"]] * 2, palette().real, "dot", width=1.5))
    x, y, names = [1.0] * len(stars), list(stars.values()), list(stars)
    out.add_trace(marks(x, y, LAB.say("paper"), palette().warning, "star", size=11, text=names))
    out.update_xaxes(title=LAB.say("x_systems"), type="log", tickvals=at, ticktext=[local(e, "g") for e in at])
    out.update_yaxes(title=LAB.say("y_systems"))
    return out


def show() -> None:
    """Controls, numbers, figure."""
    a, b, c, d = st.columns(4, gap="medium")
    clip, noise = LAB.steps("clip", lesson.CLIPS, 3.0, at=a), LAB.steps("noise", lesson.NOISES, 1.5, at=b)
    batch, taken = LAB.steps("batch", lesson.BATCHES, 60, at=c), LAB.steps("steps", lesson.STEPS, 200, at=d)
    made, others = lesson.runs(clip, noise, batch, taken), lesson.people(1)
    renyi, exact = (local(e[lesson.STEPS.index(taken)], ".3g") for e in lesson.epsilons(noise, batch))
    over = percent(float((lesson.lengths() > clip).mean()))
    share = {name: percent(lesson.right(run.weights, others)) for name, run in made.items()}
    facts(
        (exact, LAB.say("epsilon_fact"), LAB.say("epsilon_note", renyi=renyi)),
        (share["first"], LAB.say("right"), LAB.say("right_note", second=share["second"], free=share["free"])),
        (over, LAB.say("over"), LAB.say("over_note", clip=local(clip, "g"))),
    )
    view = LAB.segments("view", VIEWS, "loss", words="v_")
    figures: dict[str, tuple[Any, ...]] = {
        "lengths": (lengths_figure, clip),
        "loss": (loss_figure, made),
        "epsilon": (epsilon_figure, noise, batch, taken),
        "systems": (systems_figure,),
    }
    counts = {"steps": number(taken), "batch": number(batch), "people": number(lesson.PEOPLE)}
    said = {"noise": local(noise, "g"), "clip": local(clip, "g"), "width": local(noise * clip, "g")}
    reading = LAB.say("reading", per=local(noise * clip / batch, ".2g"), epsilon=exact, **counts, **said)
    told = systems_reading() if view == "systems" else reading
    alt = LAB.say(f"alt_{view}", reading=told)
    LAB.draw(*figures[view], of=(clip, noise, batch, taken), alt=alt, height=420, key=view)
    st.write(told)


def systems_reading() -> str:
    """What the lines of the systems say, at epsilon 1."""
    kept = lesson.systems()
    place = kept["epsilons"].index(1.0)
    at = {name: float(np.mean(kept["auroc"][name][place])) for name in SYSTEMS}
    found = at | {"paper": kept["paper"]["P3GM"], "real": kept["real"]}
    return LAB.say("systems_reading", **{name: local(share, ".3f") for name, share in found.items()})
