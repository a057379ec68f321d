"""Lab 6: views: few large tables or many small ones, when every pair must be inside one."""

import itertools

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dpsyn_core.estimate import affine_plane, greedy_cover, pair_error, schonheim, uncovered
from ui.learn.controls import pick, slide
from ui.learn.kept import draw
from ui.shared.charts import Figure, curve, squares
from ui.shared.text import number, t
from ui.shared.theme import facts, hues, palette

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
    text = str(st.text_input(t("learn.views.own_field"), key=key, max_chars=200, help=t("learn.views.own_help")))
    st.query_params[key] = text
    try:
        return own(text)
    except ValueError:
        st.error(t("learn.views.own_wrong", n=POINTS))
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
    ends, hover = {"zmin": 0, "zmax": max(2, np.nanmax(z))}, t("learn.views.hover")
    out.add_trace(squares(z, names, names, scale, hovertemplate=hover, hoverongaps=False, **ends), 1, 1)
    sizes = list(range(3, 13))
    for order, hue, dash in ((2, hues()[0], "solid"), (3, hues()[1], "dash")):
        noise = np.array([pair_error(s, order) for s in sizes])
        label = t("learn.views.pairs" if order == 2 else "learn.views.triples")
        out.add_trace(curve(sizes, noise / noise.min(), label, hue, dash, width=2, mode="lines+markers"), 1, 2)
    nticks = 12
    out.update_xaxes(title=t("learn.views.attribute"), nticks=nticks, showgrid=False, row=1, col=1)
    out.update_yaxes(autorange="reversed", nticks=nticks, showgrid=False, row=1, col=1)
    out.update_xaxes(title=t("learn.views.size_axis"), range=[2.5, 12.5], row=1, col=2)
    out.update_yaxes(title=t("learn.views.noise_axis"), range=[0, 11], row=1, col=2)
    out.update_layout(legend={"x": 0.58})  # above the figure that it is about
    return out


def show() -> None:
    """Design, size, figure."""
    a, b = st.columns(2, gap="medium")
    kind = pick(t("learn.views.kind"), KINDS, key="views_kind", at=a)
    size = slide(t("learn.views.size"), 3, 12, 6, key="views_size", disabled=kind != "greedy", at=b)
    if kind == "own":
        typed = _typed()
        if typed is None:
            return
        views, points = typed, POINTS
    else:
        views, points = design(kind, size)
    largest = max(len(v) for v in views)
    missing = uncovered(views, points, 2)
    pairs = points * (points - 1) // 2
    facts(
        (str(len(views)), t("learn.views.count"), t("learn.views.bound", n=number(schonheim(points, largest, 2)))),
        (number(pairs - missing), t("learn.views.covered"), t("learn.views.of", n=number(pairs))),
        (number(2**largest), t("learn.views.cells"), t("learn.views.each", n=largest)),
    )
    alt = t("learn.views.alt", views=len(views), pairs=number(pairs - missing), of=number(pairs))
    draw(figure, views, points, of=(tuple(views), points), alt=alt, key="views_plot", height=400)
    if points == POINTS:
        st.write(t("learn.views.list") + " " + "; ".join("{" + ", ".join(str(i + 1) for i in v) + "}" for v in views))
