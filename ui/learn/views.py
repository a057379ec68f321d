"""Lab 6: views: few large tables or many small ones, when every pair must be inside one."""

import itertools

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dpsyn_core.estimate import affine_plane, greedy_cover, pair_error, schonheim, uncovered
from ui.learn.lab import Lab
from ui.shared.charts import Figure, squares
from ui.shared.text import number
from ui.shared.theme import facts, hues, palette

LAB = Lab("views")
Design = list[tuple[int, ...]]
POINTS = 12
EXAMPLE: Design = [tuple(range(8)), (0, 1, 2, 3, 8, 9, 10, 11), tuple(range(4, 12))]  # the published Example 1
KINDS = ("example", "greedy", "plane", "own")
USUAL = "1-6; 7-12"  # views of one's own, to begin with


@st.cache_data(show_spinner=False)
def design(kind: str, size: int) -> tuple[Design, int]:
    """The views and the number of attributes: three views of Example 1, a greedy cover, or the lines of AG(2, 8)."""
    if kind == "example":
        return EXAMPLE, POINTS
    if kind == "plane":
        return affine_plane(8), 64
    return greedy_cover([2] * POINTS, 2, size, 1 << POINTS), POINTS


def own(text: str) -> Design:
    """Views that somebody typed, such as "1-4, 9; 5-8": numbers from 1 to POINTS. Raises ValueError for other text."""
    views = []
    for part in filter(None, (p.strip() for p in text.split(";"))):
        view: set[int] = set()
        for piece in part.split(","):
            first, _, last = piece.partition("-")
            a, b = int(first), int(last or first)
            if not 1 <= a <= b <= POINTS:
                raise ValueError(piece)
            view |= set(range(a - 1, b))
        views.append(tuple(sorted(view)))
    if not views or min(map(len, views)) < 2:
        raise ValueError(text)
    return views


def _typed() -> Design | None:
    """The field for one's own views, which is part of the link; None for text that names none."""
    key = "views_own"
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get(key, USUAL)
    text = str(st.text_input(LAB.say("own_field"), key=key, max_chars=200, help=LAB.say("own_help")))
    st.query_params[key] = text
    try:
        return own(text)
    except ValueError:
        st.error(LAB.say("own_wrong", n=POINTS))
        return None


def covered(views: Design, points: int) -> NDArray[np.int64]:
    """How many views contain each pair; the diagonal is 0."""
    out = np.zeros((points, points), dtype=np.int64)
    for view in views:
        for a, b in itertools.permutations(view, 2):
            out[a, b] += 1
    return out


def figure(views: Design, points: int) -> Figure:
    """Left: the pairs that are covered. Right: noise of a pair against the size of a view."""
    from plotly.subplots import make_subplots

    colours = palette()
    names = [str(i + 1) for i in range(points)]
    z = covered(views, points).astype(float)
    np.fill_diagonal(z, np.nan)
    out = make_subplots(rows=1, cols=2, column_widths=[0.48, 0.52], horizontal_spacing=0.2)
    scale = [[0, colours.soft], [1, colours.accent]]
    ends, hover = {"zmin": 0, "zmax": max(2, np.nanmax(z))}, LAB.say("hover")
    out.add_trace(squares(z, names, names, scale, hovertemplate=hover, hoverongaps=False, **ends), 1, 1)
    sizes = list(range(3, 13))
    for order, name, hue, dash in ((2, "pairs", hues()[0], "solid"), (3, "triples", hues()[1], "dash")):
        noise = np.array([pair_error(s, order) for s in sizes])
        out.add_trace(LAB.curve(name, sizes, noise / noise.min(), hue, dash, width=2, mode="lines+markers"), 1, 2)
    out.update_xaxes(title=LAB.say("attribute"), nticks=12, showgrid=False, row=1, col=1)
    out.update_yaxes(autorange="reversed", nticks=12, showgrid=False, row=1, col=1)
    out.update_xaxes(title=LAB.say("size_axis"), range=[2.5, 12.5], row=1, col=2)
    out.update_yaxes(title=LAB.say("noise_axis"), range=[0, 11], row=1, col=2)
    out.update_layout(legend={"x": 0.58})  # above the figure that it is about
    return out


def show() -> None:
    """Design, size, figure."""
    a, b = st.columns(2, gap="medium")
    kind = LAB.pick("kind", KINDS, "example", at=a)
    size = LAB.slide("size", 3, 12, 6, disabled=kind != "greedy", at=b)
    views, points = (_typed(), POINTS) if kind == "own" else design(kind, size)
    if views is None:
        return
    largest, pairs = max(len(v) for v in views), points * (points - 1) // 2
    covers = number(pairs - uncovered(views, points, 2))
    facts(
        (str(len(views)), LAB.say("count"), LAB.say("bound", n=number(schonheim(points, largest, 2)))),
        (covers, LAB.say("covered"), LAB.say("of", n=number(pairs))),
        (number(2**largest), LAB.say("cells"), LAB.say("each", n=largest)),
    )
    alt = LAB.say("alt", views=len(views), pairs=covers, of=number(pairs))
    LAB.draw(figure, views, points, of=(tuple(views), points), alt=alt, height=400)
    if points == POINTS:
        st.write(LAB.say("list") + " " + "; ".join("{" + ", ".join(str(i + 1) for i in v) + "}" for v in views))
