"""Where it differs: the map of pairs, and behind each of its squares the two tables and their difference."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dpsyn_core.report import Figure, build, figures
from ui.report import comparing
from ui.report.look import Look, Side
from ui.shared.charts import marks
from ui.shared.results import drawn, kept
from ui.shared.text import figure_words, percent, t
from ui.shared.theme import note, section, show

CHOSEN = "report_pair"
MOST_MAPPED = 60  # attributes beyond which the map shows the ones that differ most
TALLEST = 620  # pixels of the map
FEW = 40  # attributes whose squares are large enough for a large marker


def panel(view: Look) -> None:
    """Map on the left, the chosen pair on the right."""
    maps = [comparing.pairs(view.space, s.job, s.comparison) for s in view.sides]
    first = maps[0]
    if len(first.names) < 2:
        note(t("pairs.single"))
        return
    left, right = st.columns([6, 7], gap="large")
    with left:
        section(t("pairs.title"))
        second = maps[1] if len(maps) > 1 and maps[1].names == first.names else None
        ids = tuple(s.job.id for s in view.sides)
        made = kept(view.space, ("map", *ids), lambda: _map(first, second))
        figure = drawn(view.space, ("map", ids), lambda: made)
        got = show(figure, alt=made.alt, key=view.key("pair_map"), selects="points", ready=True)
        _remember(view, got["points"])
        note(" ".join([made.caption, t("pairs.click"), t("pairs.two") if second is not None else ""]))
    with right:
        a, b = _chosen(view, first.worst(beyond_chance=True))
        for side in view.sides:
            _tables(view, side, a, b)
            _scatter(view, side, a, b)


def _map(first: comparing.Pairs, second: comparing.Pairs | None) -> Figure:
    """The map with an invisible marker on each square: heat maps themselves cannot be selected."""
    other = None if second is None else second.tvd
    made = figures.pair_map(first.names, first.tvd, other, most=MOST_MAPPED, words=figure_words())
    labels = made.data[0]["x"]
    kept_names = [first.names[i] for i in figures.shown(first.tvd, MOST_MAPPED)]
    at = np.argwhere(~np.eye(len(labels), dtype=bool))
    x, y = [labels[j] for _, j in at], [labels[i] for i, _ in at]
    unseen = {"marker": {"opacity": 0}}
    more: dict[str, Any] = {"hoverinfo": "skip", "showlegend": False, "selected": unseen, "unselected": unseen}
    more["marker"] = {"size": 18 if len(labels) <= FEW else 9, "opacity": 0, "symbol": "square"}
    squares = marks(x, y, None, None, customdata=[[kept_names[i], kept_names[j]] for i, j in at], **more)
    # half a page is as wide as this is tall, so that squares of many columns stay squares
    layout = made.layout | {"height": min(TALLEST, made.layout["height"])}
    return replace(made, data=[*made.data, squares], layout=layout)


def _remember(view: Look, points: list[dict[str, object]]) -> None:
    """Takes a click over into the two selectors, once for each click."""
    if not points:
        return
    pair = points[0].get("customdata")
    if not isinstance(pair, list) or st.session_state.get(view.key("pair_clicked")) == pair:
        return
    st.session_state[view.key("pair_clicked")] = pair
    st.session_state[view.key(f"{CHOSEN}_a")], st.session_state[view.key(f"{CHOSEN}_b")] = pair


def _chosen(view: Look, worst: tuple[str, str, float]) -> tuple[str, str]:
    names = list(view.first.comparison.domain.names)
    for key, name in ((view.key(f"{CHOSEN}_a"), worst[0]), (view.key(f"{CHOSEN}_b"), worst[1])):
        if st.session_state.get(key) not in names:
            st.session_state[key] = name
    first, second = st.columns(2)
    a = first.selectbox(t("pairs.rows"), names, key=view.key(f"{CHOSEN}_a"))
    b = second.selectbox(t("pairs.columns"), names, key=view.key(f"{CHOSEN}_b"))
    return a, b


def _tables(view: Look, side: Side, a: str, b: str) -> None:
    if a == b:
        note(t("pairs.same"))
        return
    found = comparing.pairs(view.space, side.job, side.comparison)
    at = found.names.index(a), found.names.index(b)
    finding = t("pairs.finding", a=a, b=b, tvd=percent(float(found.tvd[at])), floor=percent(float(found.floors[at])))
    prefix = "" if len(view.sides) == 1 else f"{view.name(side)} · "
    note(prefix + finding)
    key = (side.job.id, a, b)
    both, gap = _pair(view, side, a, b)
    # one scale for the runs that are compared
    far = max(float(g.data[0]["zmax"]) for _, g in (_pair(view, s, a, b) for s in view.sides))
    gap = replace(gap, data=[gap.data[0] | {"zmin": -far, "zmax": far}])
    tables = drawn(view.space, ("two", *key), lambda: both)
    show(tables, alt=both.alt, key=f"pair_tables_{side.letter}", ready=True)
    note(t("pairs.difference"))
    difference = drawn(view.space, ("gap", *key, far), lambda: gap)
    show(difference, alt=f"{gap.alt}. {finding}", key=f"pair_difference_{side.letter}", ready=True)


def _scatter(view: Look, side: Side, a: str, b: str) -> None:
    """Both numbers record by record, where both columns hold numbers."""
    from dpsyn_core.report import numbers_of, scatter_figure

    if a == b or not {a, b} <= set(numbers_of(side.comparison)):
        return
    key = ("scatter", side.job.id, a, b)
    figure = kept(view.space, key, lambda: scatter_figure(side.comparison, a, b, figure_words()))
    if figure is not None:
        show(figure, key=f"pair_scatter_{side.letter}")
        note(figure.caption)


def _pair(view: Look, side: Side, a: str, b: str) -> tuple[Figure, Figure]:
    """The tables of a pair in one run, and their difference."""
    key = ("pair", side.job.id, a, b)
    return kept(view.space, key, lambda: build.pair(side.comparison, a, b, figure_words()))
