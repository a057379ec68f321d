"""Lab 5: growing a table towards noisy marginals: one GUM update by hand, min-cost flow, and error curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dpsyn_core.estimate import Decay, UpdateSettings, flow, seed_state, update
from ui.learn.controls import pick, steps
from ui.learn.kept import draw
from ui.learn.numbers.systems import results
from ui.shared.text import local, number, t
from ui.shared.theme import hues, palette, table

if TYPE_CHECKING:
    import plotly.graph_objects as go

Codes = NDArray[np.uint8]
# income, gender, age of five people; the published example: (high, male) 4 -> 1, (high, female) 1 -> 4
PEOPLE: Codes = np.array([[1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 1, 1, 0, 2]], dtype=np.uint8)
TARGET = np.array([0, 0, 1, 4], dtype=np.int64)  # (low, male), (low, female), (high, male), (high, female)
WORDS = (("low", "high"), ("male", "female"), ("teen", "adult", "old"))  # entries of the catalogue
SHARES = (np.array([0.3, 0.3, 0.4]), np.array([0.5, 0.2, 0.3]))  # teen, adult, elderly before and after
ALPHAS = (0.5, 1.0, 2.0)
COPIES = {"replace": 0.0, "half": 0.5, "duplicate": 1.0}
RECORDS = 4_000  # of the sample, in the runs made beforehand
RATED = 100  # sweeps over which the rates are drawn
DASHES = ("dot", "dash", "longdash", "dashdot", "solid")


def grown(alpha: float, copies: float, seed: int = 0) -> Codes:
    """The five people after one update."""
    codes = PEOPLE.copy()
    cell = np.empty(codes.shape[1], dtype=np.int32)
    state = seed_state(np.random.default_rng(seed))
    update(codes, np.array([0, 1]), np.array([2, 2]), TARGET, alpha, copies, cell, state)
    return codes


def shades(people: pd.DataFrame) -> list[str]:
    """A background per record that changed: light for replaced, stronger for copied."""
    colours = palette()
    tints = {"": "", t("learn.growing.replaced"): f"background: {colours.line}; color: {colours.ink}"}
    strong = f"background: {colours.accent}; color: {colours.on_accent}"
    return [tints.get(how, strong) for how in people[t("learn.growing.how")]]


def people_table(before: Codes, after: Codes) -> pd.DataFrame:
    """The five people in words; an arrow marks what changed."""
    rows = []
    for i in range(before.shape[1]):
        old, new = ([t(f"learn.growing.{WORDS[j][people[j, i]]}") for j in range(3)] for people in (before, after))
        cells = [a if a == b else f"{a} → {b}" for a, b in zip(old, new, strict=True)]
        changed = sum(a != b for a, b in zip(old, new, strict=True))
        how = t("learn.growing.replaced") if changed == 1 else ""
        if changed > 1:  # the first record that was there before and is now here too
            twins = [k for k in range(before.shape[1]) if (before[:, k] == after[:, i]).all()]
            how = t("learn.growing.copied", n=twins[0] + 1) if twins else t("learn.growing.changed")
        rows.append([f"v{i + 1}", *cells, how])
    names = [t(f"learn.growing.{n}") for n in ("person", "income", "gender", "age", "how")]
    return pd.DataFrame(rows, columns=names)


def curves() -> dict[str, list[float]]:
    """Mean distance to all exact pairs of the simulated sample, sweep by sweep; made by `benchmarks.lessons`."""
    found: dict[str, list[float]] = results("growing")
    return found


def rates(sweeps: int = RATED) -> dict[str, list[float]]:
    """The update rate, sweep by sweep, for the four ways to let it fall; alpha 1, and .84 after 20 sweeps in steps."""
    return {c: [UpdateSettings(alpha=1.0, decay_curve=c).rate(t) for t in range(sweeps)] for c in get_args(Decay)}


def rates_figure(curves: dict[str, list[float]]) -> go.Figure:
    """The four rates against sweeps."""
    import plotly.graph_objects as go

    out = go.Figure()
    for i, (name, values) in enumerate(curves.items()):
        line = {"color": hues()[i], "dash": DASHES[i], "width": 2.2}
        label = t(f"learn.growing.decay_{name.replace('-', '_')}")
        out.add_trace(go.Scatter(x=list(range(1, 1 + len(values))), y=values, name=label, mode="lines", line=line))
    out.update_xaxes(title=t("learn.growing.sweeps"))
    out.update_yaxes(title=t("learn.growing.alpha"), rangemode="tozero")
    return out


def figure(curve: dict[str, list[float]]) -> go.Figure:
    """Distance to the targets against sweeps, for each updater."""
    import plotly.graph_objects as go

    out = go.Figure()
    for i, (name, values) in enumerate(curve.items()):
        start = len(curve["s5"]) if name == "polish" else 1
        out.add_trace(
            go.Scatter(
                x=list(range(start, start + len(values))), y=values, name=t(f"learn.growing.{name}"),
                mode="lines", line={"color": hues()[i], "dash": DASHES[i], "width": 2.2},
            )
        )  # fmt: skip
    out.update_xaxes(title=t("learn.growing.sweeps"))
    out.update_yaxes(title=t("learn.growing.error"), tickformat=".0%", rangemode="tozero")
    return out


def flow_figure() -> go.Figure:
    """What min-cost flow moves in the published example of three ages."""
    import plotly.graph_objects as go

    moved = flow(*SHARES)
    names = [t(f"learn.growing.{n}") for n in ("teen", "adult", "old")]
    colours = palette()
    over, under = [i for i in range(3) if moved[i].sum() > 0], [j for j in range(3) if moved[:, j].sum() > 0]
    labels = [names[i] for i in over] + [names[j] for j in under]
    links = [(a, len(over) + b, moved[i, j]) for a, i in enumerate(over) for b, j in enumerate(under) if moved[i, j]]
    source, target, value = (list(x) for x in zip(*links, strict=True))
    return go.Figure(
        go.Sankey(
            node={"label": labels, "color": colours.accent, "pad": 24, "thickness": 14},
            link={"source": source, "target": target, "value": [round(float(v), 3) for v in value],
                  "color": colours.line},
            textfont={"size": 14, "color": colours.ink},
        )
    )  # fmt: skip


def show() -> None:
    """One update by hand, the flow, and the curves."""
    a, b = st.columns(2, gap="medium")
    with a:
        alpha = steps(t("learn.growing.alpha"), ALPHAS, 2.0, key="growing_alpha")
    with b:
        fill = pick(
            t("learn.growing.fill"),
            tuple(COPIES),
            default="half",
            key="growing_fill",
            words=lambda f: t(f"learn.growing.fill_{f}"),
        )
    after = grown(alpha, COPIES[fill])
    left, right = st.columns([3, 2], gap="large")
    with left:
        people = people_table(PEOPLE, after)
        table(
            list(people), people.to_numpy().tolist(), alt=t("learn.growing.table_alt"), numbers=False,
            shades=shades(people),
        )  # fmt: skip
        women = int((after[1] == 1).sum())
        same = [t("learn.growing.reading_same")] if (after == PEOPLE).all() else []
        st.write(" ".join([t("learn.growing.reading", women=women, men=5 - women), *same]))
    with right:
        st.write(t("learn.growing.flow"))
        draw(flow_figure, alt=t("learn.growing.flow_alt"), key="growing_flow", height=180)
    curve = curves()
    last = {name: local(100 * values[-1], ".1f") for name, values in curve.items()}
    st.write(t("learn.growing.race", records=number(RECORDS)))
    draw(figure, curve, of=(), alt=t("learn.growing.alt", **last), key="growing_plot", height=360)
    falling = rates()
    st.write(t("learn.growing.decays"))
    ends = {f"{name.replace('-', '_')}": local(values[-1], ".2f") for name, values in falling.items()}
    draw(rates_figure, falling, of=(), alt=t("learn.growing.decays_alt", **ends), key="growing_rates", height=240)
