"""Where it differs: the map of pairs, and behind each of its squares the two tables and their difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from ui.report import comparing, figures
from ui.report.look import Look, Side
from ui.shared.results import drawn
from ui.shared.text import percent, t
from ui.shared.theme import note, section, show

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHOSEN = "report_pair"
MOST_MAPPED = 60  # attributes beyond which the map shows the ones that differ most


def panel(view: Look) -> None:
    """Map on the left, the chosen pair on the right."""
    maps = [_cut(comparing.pairs(view.space, s.job, s.comparison)) for s in view.sides]
    first = maps[0]
    if len(first.names) < 2:
        note(t("pairs.single"))
        return
    left, right = st.columns([6, 7], gap="large")
    with left:
        section(t("pairs.title"))
        second = maps[1] if len(maps) > 1 and maps[1].names == first.names else None
        ids = tuple(s.job.id for s in view.sides)
        figure = drawn(view.space, ("map", ids), lambda: figures.clickable(first, figures.pair_map(first, second)))
        worst = first.worst()
        found = t("outcome.map", a=worst[0], b=worst[1], tvd=percent(worst[2]))
        got = show(figure, alt=found, key="pair_map", selects="points", ready=True)
        _remember(first, got["points"])
        note(t("pairs.click") + " " + (t("pairs.two") if second is not None else ""))
    with right:
        a, b = _chosen(view, worst)
        for side in view.sides:
            _tables(view, side, a, b)


def _cut(pairs: comparing.Pairs) -> comparing.Pairs:
    """The attributes that differ most when there are too many for a map."""
    if len(pairs.names) <= MOST_MAPPED:
        return pairs
    keep = np.sort(np.argsort(-np.nanmean(pairs.tvd, axis=1))[:MOST_MAPPED])
    names = tuple(pairs.names[i] for i in keep)
    return comparing.Pairs(names, pairs.tvd[np.ix_(keep, keep)], pairs.mean, pairs.floor)


def _remember(pairs: comparing.Pairs, points: list[dict[str, object]]) -> None:
    """Takes a click over into the two selectors, once for each click."""
    if not points:
        return
    i, j = points[0].get("customdata", [None, None])  # type: ignore[misc]
    if i is None or st.session_state.get("pair_clicked") == (i, j):
        return
    st.session_state["pair_clicked"] = (i, j)
    st.session_state[f"{CHOSEN}_a"], st.session_state[f"{CHOSEN}_b"] = pairs.names[int(i)], pairs.names[int(j)]


def _chosen(view: Look, worst: tuple[str, str, float]) -> tuple[str, str]:
    names = list(view.first.comparison.domain.names)
    for key, name in ((f"{CHOSEN}_a", worst[0]), (f"{CHOSEN}_b", worst[1])):
        if st.session_state.get(key) not in names:
            st.session_state[key] = name
    first, second = st.columns(2)
    with first:
        a = st.selectbox(t("pairs.rows"), names, key=f"{CHOSEN}_a")
    with second:
        b = st.selectbox(t("pairs.columns"), names, key=f"{CHOSEN}_b")
    return a, b


def _tables(view: Look, side: Side, a: str, b: str) -> None:
    c = side.comparison
    if a == b:
        note(t("pairs.same"))
        return
    real, synthetic = _shares(c.real_counter, a, b, c.domain), _shares(c.synthetic_counter, a, b, c.domain)
    rows, columns = c.words(a), c.words(b)
    tvd = percent(float(np.abs(real - synthetic).sum()) / 2)
    prefix = "" if len(view.sides) == 1 else f"{view.name(side)} · "
    note(prefix + t("pairs.finding", a=a, b=b, tvd=tvd))
    names = (a, b)
    key = (side.job.id, a, b)
    both = drawn(view.space, ("two", *key), lambda: figures.two_tables(real, synthetic, rows, columns, names))
    show(both, alt=t("pairs.alt_tables", a=a, b=b), key=f"pair_tables_{side.letter}", ready=True)
    note(t("pairs.difference"))
    gap = drawn(view.space, ("gap", *key), lambda: figures.difference(synthetic - real, rows, columns, names=names))
    alt = t("pairs.alt_difference", a=a, b=b, tvd=tvd)
    show(gap, alt=alt, key=f"pair_difference_{side.letter}", ready=True)


def _shares(counter, a: str, b: str, domain) -> NDArray[np.float64]:  # noqa: ANN001
    """A two-way table as shares, rows a and columns b."""
    names = domain.ordered_set((a, b))
    counts = counter.marginal(names).astype(np.float64)
    table = counts if names == (a, b) else counts.T
    return table / max(1.0, counts.sum())
