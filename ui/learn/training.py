"""Lab 19: what clipping, noise, samples and steps do to a model that learns from people, and what they cost."""

from typing import Any

import numpy as np
import streamlit as st

from dpsyn_core.report import theme
from ui.learn.controls import segments, steps
from ui.learn.kept import draw
from ui.learn.numbers import training as lesson
from ui.shared.charts import Figure, chart, curve, marks
from ui.shared.text import local, number, percent, t
from ui.shared.theme import facts, hues, palette

VIEWS = ("lengths", "loss", "epsilon", "systems")
SYSTEMS = ("rls", "p3gm")
LOOKS = {"free": (4, "dot"), "clipped": (2, "dash"), "first": (0, "solid"), "second": (5, "solid")}


def lengths_figure(clip: float) -> Figure:
    """How long the gradients of all people are at the start, before and after clipping."""
    before = lesson.lengths()
    most = float(np.quantile(before, 0.995))
    bins = {"start": 0, "end": max(most, 1.0), "size": max(most, 1.0) / 40}
    out = chart()
    for name, values, hue in (("before", before, hues()[1]), ("after", np.minimum(before, clip), hues()[0])):
        shown = np.minimum(values, bins["end"] * 0.999)
        look = {"name": t(f"learn.training.{name}"), "marker": {"color": hue}, "opacity": 0.65}
        out.add_trace({"type": "histogram", "x": shown, "xbins": bins} | look)
    if clip <= bins["end"]:
        out.add_vline(x=clip, line={"color": palette().warning, "width": 2, "dash": "dash"})
    out.update_layout(barmode="overlay")
    out.update_xaxes(title=t("learn.training.x_lengths"))
    out.update_yaxes(title=t("learn.training.y_lengths"), type="log", tickvals=[1, 10, 100, 1000], range=[-0.1, 3.4])
    return out


def loss_figure(made: dict[str, lesson.TrainingRun]) -> Figure:
    """Loss on other people, step by step, of the four runs."""
    out = chart()
    for name in lesson.RUNS:
        hue, dash = LOOKS[name]
        out.add_trace(
            curve(made[name].at, np.minimum(made[name].losses, 2.0), t(f"learn.training.{name}"), hues()[hue], dash)
        )
    out.update_xaxes(title=t("learn.training.x_steps"), range=[0, lesson.STEPS[-1]])
    out.update_yaxes(title=t("learn.training.y_loss"), range=[0.45, 1.2])
    return out


def epsilon_figure(noise: float, batch: int, taken: int) -> Figure:
    """Epsilon against steps by both kinds of accounting, with the chosen number of steps marked."""
    out = chart()
    renyi, exact = lesson.epsilons(noise, batch)
    for name, y, hue, dash in (("renyi", renyi, hues()[1], "dash"), ("exact", exact, hues()[0], "solid")):
        out.add_trace(curve(lesson.STEPS, y, t(f"learn.training.{name}"), hue, dash, mode="lines+markers"))
    place = lesson.STEPS.index(taken)
    out.add_trace(marks([taken], [exact[place]], t("learn.training.yours"), palette().warning, "diamond", size=13))
    out.update_xaxes(
        title=t("learn.training.x_epsilon"),
        type="log",
        tickvals=lesson.STEPS,
        ticktext=[str(s) for s in lesson.STEPS],
        range=[1.3, 3],
    )
    out.update_yaxes(
        title=t("learn.training.y_epsilon"), type="log", tickvals=[0.1, 0.3, 1, 3, 10, 30, 100, 300], range=[-1.3, 2.8]
    )
    return out


def systems_figure() -> Figure:
    """What models learnt on synthetic records reach on real people, against epsilon, a line a system."""
    kept, out = lesson.systems(), chart()
    at = kept["epsilons"]
    for name in SYSTEMS:
        i = theme.SYSTEMS[name]
        out.add_trace(
            curve(at, np.mean(kept["auroc"][name], axis=1), name, hues()[i], theme.DASHES[i], mode="lines+markers")
        )
    ends = [at[0], at[-1]]
    out.add_trace(curve(ends, [kept["real"]] * 2, t("learn.training.real"), palette().real, "dot", width=1.5))
    stars = kept["paper"]
    out.add_trace(
        marks(
            [1.0] * len(stars),
            list(stars.values()),
            t("learn.training.paper"),
            palette().warning,
            "star",
            size=11,
            text=list(stars),
        )
    )
    out.update_xaxes(title=t("learn.training.x_systems"), type="log", tickvals=at, ticktext=[local(e, "g") for e in at])
    out.update_yaxes(title=t("learn.training.y_systems"))
    return out


def show() -> None:
    """Controls, numbers, figure."""
    columns = st.columns(4, gap="medium")
    clip = steps(t("learn.training.clip"), lesson.CLIPS, 3.0, key="training_clip", at=columns[0])
    noise = steps(t("learn.training.noise"), lesson.NOISES, 1.5, key="training_noise", at=columns[1])
    batch = steps(t("learn.training.batch"), lesson.BATCHES, 60, key="training_batch", at=columns[2])
    taken = steps(t("learn.training.steps"), lesson.STEPS, 200, key="training_steps", at=columns[3])
    made = lesson.runs(clip, noise, batch, taken)
    renyi, exact = (float(e[lesson.STEPS.index(taken)]) for e in lesson.epsilons(noise, batch))
    over = float((lesson.lengths() > clip).mean())
    others = lesson.people(1)
    share = {name: percent(lesson.right(run.weights, others)) for name, run in made.items()}
    facts(
        (
            local(exact, ".3g"),
            t("learn.training.epsilon_fact"),
            t("learn.training.epsilon_note", renyi=local(renyi, ".3g")),
        ),
        (
            share["first"],
            t("learn.training.right"),
            t("learn.training.right_note", second=share["second"], free=share["free"]),
        ),
        (percent(over), t("learn.training.over"), t("learn.training.over_note", clip=local(clip, "g"))),
    )
    view = segments(t("learn.training.view"), VIEWS, "loss", key="training_view", words="v_")
    figures: dict[str, tuple[Any, ...]] = {
        "lengths": (lengths_figure, clip),
        "loss": (loss_figure, made),
        "epsilon": (epsilon_figure, noise, batch, taken),
        "systems": (systems_figure,),
    }
    reading = t(
        "learn.training.reading",
        steps=number(taken),
        batch=number(batch),
        people=number(lesson.PEOPLE),
        noise=local(noise, "g"),
        clip=local(clip, "g"),
        width=local(noise * clip, "g"),
        per=local(noise * clip / batch, ".2g"),
        epsilon=local(exact, ".3g"),
    )
    told = systems_reading() if view == "systems" else reading
    make, *values = figures[view]
    draw(
        make,
        *values,
        of=(clip, noise, batch, taken),
        alt=t(f"learn.training.alt_{view}", reading=told),
        key=f"training_{view}",
        height=420,
    )
    st.write(told)


def systems_reading() -> str:
    """What the lines of the systems say, at epsilon 1."""
    kept = lesson.systems()
    place = kept["epsilons"].index(1.0)
    at = {name: float(np.mean(kept["auroc"][name][place])) for name in SYSTEMS}
    return t(
        "learn.training.systems_reading",
        rls=local(at["rls"], ".3f"),
        p3gm=local(at["p3gm"], ".3f"),
        paper=local(kept["paper"]["P3GM"], ".3f"),
        real=local(kept["real"], ".3f"),
    )
