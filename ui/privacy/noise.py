"""The noise plot: what one cell's noise costs on every curve, for every number of marginals that share a budget."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.privacy import CURVES, Unit, noise_curves
from ui.shared.charts import chart, curve, marks
from ui.shared.text import amount, engine, language, local, number, t
from ui.shared.theme import dressed, palette, table, tokens

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST = 10_000  # largest k on the plot
HEIGHT, TALL = 320, 470  # pixels, of two curves and of all with their legend
DECADES = 5  # of the axis of noise, from one record on where a person has one
MARKS = 5  # on a curve, which tell it apart without colour
SEEN = "epsilon_seen"  # in the visitor's session: the epsilon that was drawn before, and the one that is
KS = tuple(sorted({round(10 ** (i / 15)) for i in range(61)}))
# each curve by hue, dash and marker, so that none needs its colour to be told apart
STYLES = {
    "laplace_basic": ("vermilion", "solid", "circle"),
    "laplace_advanced": ("amber", "dash", "square"),
    "laplace_zcdp": ("pink", "dot", "diamond"),
    "gaussian_naive": ("grey", "longdash", "x"),
    "gaussian_advanced": ("amber", "longdashdot", "cross"),
    "gaussian_zcdp": ("sky", "dashdot", "triangle-up"),
    "gaussian_zcdp_tight": ("green", "dot", "triangle-down"),
    "gaussian_exact": ("blue", "solid", "star"),
}
USED = "gaussian_exact"


@lru_cache(maxsize=500)
def curves(epsilon: float, delta: float, neighbours: str, max_records: int, ks: tuple[int, ...] = KS) -> dict[str, Any]:
    """The curves of the engine; public values only, hence kept for everybody, and not to be changed."""
    return noise_curves(epsilon, delta, ks, Unit(neighbours=neighbours, max_records=max_records))  # type: ignore[arg-type]


def called(name: str) -> str:
    """A curve's name in the visitor's language."""
    return engine(f"curve_name.{name}", CURVES[name][0])


def used_curve(document: dict[str, Any]) -> str:
    """The curve that the engine uses: exact Gaussian, or basic Laplace when delta is 0."""
    return USED if USED in document["curves"] else "laplace_basic"


def finding(document: dict[str, Any], k: int) -> str:
    """The sentence about all curves: from which k Gaussian noise is smaller, and what exact accounting gains."""
    used = used_curve(document)
    if used != USED:
        return t("noise.pure")
    crossing = document["crossings"][f"laplace_basic:{USED}"]
    from_k = max(1, math.ceil(crossing))
    gain = 1 - value_at(document, USED) / value_at(document, "gaussian_zcdp")
    return t("noise.finding", k=number(from_k), gain=local(100 * gain, ".0f"), at=number(k))


def value_at(document: dict[str, Any], name: str) -> float:
    """A curve's first value: ratios between curves in sqrt k are the same everywhere."""
    return float(next(iter(document["curves"][name].values())))


def rounded(noise: float) -> str:
    """The noise of a cell in words: two digits, or the whole number that has more."""
    return number(round(noise)) if noise >= 100 else number(float(f"{noise:.2g}"))


def before(epsilon: float) -> float | None:
    """The epsilon that this page showed before the present one; None for a first one."""
    seen: tuple[float | None, float] = st.session_state.get(SEEN, (None, epsilon))
    if seen[1] != epsilon:
        seen = (seen[1], epsilon)
    st.session_state[SEEN] = seen
    return seen[0]


def drawn(
    epsilon: float, delta: float, neighbours: str, max_records: int, k: int, *, ghost: float | None = None,
    every: bool = False, is_dark: bool,
) -> go.Figure:  # fmt: skip
    """`figure`, kept: it shows public values only, and visitors of a class look at the same few. Not to be changed."""
    return _drawn((delta, neighbours, max_records), epsilon, ghost, k, every, is_dark, language())


@lru_cache(maxsize=200)
def _drawn(
    unit: tuple[float, str, int], epsilon: float, ghost: float | None, k: int, every: bool, is_dark: bool, words: str
) -> go.Figure:
    """One language's figure; `words` only tells them apart."""
    past = None if ghost is None else (ghost, curves(ghost, *unit))
    asked, here, decade = curves(epsilon, *unit), curves(epsilon, *unit, ks=(k,)), int(math.log10(unit[2]))
    made = figure(asked, k, at=here, past=past, every=every, is_dark=is_dark, decade=decade)
    return dressed(made, is_dark=is_dark, height=TALL if every else HEIGHT)


def figure(
    document: dict[str, Any], k: int = 1, *, at: dict[str, Any] | None = None,
    past: tuple[float, dict[str, Any]] | None = None, every: bool = True, decade: int = 0, is_dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Curves on log axes that are the same at every epsilon, so that more noise is seen as a higher curve.

    Made in one piece: Plotly checks a figure again on every change of it, which takes four times as long.

    Args:
        document: of the engine.
        k: where the noise is read, a dotted line.
        at: the document of this k alone, whose noise on the curve in use is a dot with its number.
        past: another epsilon and its document, in grey.
        every: all curves with their crossings and a legend; else the best Laplace and the one in use, named at their
            ends.
        decade: powers of ten by which the axis of noise begins higher: those of the records of a person.
        is_dark: the visitor's theme.
    """
    colours, limit = palette(is_dark), decade + DECADES
    named: list[Any] = []
    if every:
        traces = [_trace(document, name, is_dark) for name in document["curves"]]
        traces += _crossings(document, is_dark)
    else:
        traces, named = _two(document, limit, is_dark)
        if past is not None:
            ghosts, words = _two(past[1], limit, is_dark, t("noise.past", epsilon=amount(past[0])))
            traces, named = ghosts + traces, words + named
    if at is not None:
        noise, name = value_at(at, used_curve(at)), t("noise.this_run")
        hover = t("noise.hover", name=name)
        traces.append(marks([k], [noise], name, colours.accent, size=13, hovertemplate=hover))
        number_of = {"yanchor": "bottom", "yshift": 8, "font": {"size": 18, "color": colours.accent}}
        named.append(_text(k, noise, rounded(noise), colours.accent) | number_of)
    ticks = [1, 10, 100, 1000, 10_000]
    across = {"tickvals": ticks, "ticktext": [number(x) for x in ticks]}
    up = {"dtick": 1, "tickformat": ",~g"}
    here = {"type": "line", "x0": k, "x1": k, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain", "layer": "below"}
    layout = {
        "xaxis": across | {"type": "log", "title": {"text": t("noise.x")}, "range": [-0.06, 4.06]},
        "yaxis": up | {"type": "log", "title": {"text": t("noise.y")}, "range": [decade - 0.1, limit + 0.06]},
        "shapes": [here | {"line": {"color": colours.line, "width": 1.4, "dash": "dot"}}],
        "annotations": named,
        "showlegend": every,
        "legend": {"y": 0, "yref": "container", "yanchor": "bottom", "entrywidth": 172, "entrywidthmode": "pixels"},
        "margin": {"t": 6},
    }
    return chart(*traces, layout=layout)


def _two(
    document: dict[str, Any], limit: int, is_dark: bool, ghost: str = ""
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The best that Laplace noise can do for each k and the curve in use, with their names at their ends.

    With delta 0 the curve in use is Laplace and stands alone. ghost: the words of both curves in grey.
    """
    used, laplace = used_curve(document), [v for name, v in document["curves"].items() if name.startswith("laplace")]
    shown = [("used" if used == USED else "used_pure", "blue", list(document["curves"][used].values()))]
    if used == USED:
        best = [min(values) for values in zip(*(v.values() for v in laplace), strict=True)]
        shown.insert(0, ("best", "vermilion", best))
    traces, named = [], []
    for name, hue, noise in shown:
        colour = tokens(is_dark)["grey" if ghost else hue]
        ks = [int(k) for k in document["curves"][used]]
        words = ghost or t(f"noise.{name}")
        shade: dict[str, Any] = {"opacity": 0.5 if ghost else 1, "hovertemplate": t("noise.hover", name=words)}
        traces.append(curve(ks, noise, words, colour, width=3, **shade))
        inside = [point for point in zip(ks, noise, strict=True) if point[1] <= 10**limit]
        if inside and not ghost:
            place = {"yanchor": "bottom"} if name == "best" else {"yanchor": "top", "yshift": -26, "align": "right"}
            named.append(_text(*inside[-1], words, colour) | place)
        elif inside and name != "best":
            corner = {"x": 0.99, "y": 0.02, "xref": "x domain", "yref": "y domain", "yanchor": "bottom"}
            named.append(_text(*inside[0], ghost, palette(is_dark).real) | corner)
    return traces, named


def _text(x: float, y: float, words: str, hue: str) -> dict[str, Any]:
    """Words at a point of log axes, left of it."""
    place = {"x": math.log10(x), "y": math.log10(y), "xanchor": "right", "showarrow": False}
    return place | {"text": words, "font": {"color": hue, "size": 13}}


def _crossings(document: dict[str, Any], is_dark: bool) -> list[dict[str, Any]]:
    """Rings where a curve falls below basic Laplace."""
    crossed = [(v, n.split(":")[1]) for n, v in document["crossings"].items() if v >= 1]
    if not crossed:
        return []
    ink, basic = palette(is_dark).ink, value_at(document, "laplace_basic")
    ring = {"symbol": "circle-open", "size": 11, "color": ink, "line": {"width": 1.6}}
    words: dict[str, Any] = {"text": [called(n) for _, n in crossed], "hovertemplate": t("noise.hover_crossing")}
    ks = [k for k, _ in crossed]
    return [marks(ks, [basic * k for k in ks], t("noise.crossings"), ink, marker=ring, **words)]


def _trace(document: dict[str, Any], name: str, is_dark: bool) -> dict[str, Any]:
    """One curve, with gaps where its formula proves nothing."""
    hue, dash, marker = STYLES[name]
    hue = tokens(is_dark)[hue]
    values, hidden, label = document["curves"][name], set(document["invalid"].get(name, [])), called(name)
    ks, noise = [int(k) for k in values], [None if k in hidden else y for k, y in values.items()]
    signs = {"symbol": marker, "size": 7, "opacity": 1, "maxdisplayed": MARKS}
    more = {"mode": "lines+markers", "marker": signs, "hovertemplate": t("noise.hover", name=label)}
    return curve(ks, noise, label, hue, dash, width=3 if name == used_curve(document) else 1.6, **more)


def show_table(document: dict[str, Any], k: int) -> None:
    """The same numbers as the plot, as a table: each curve with how it is computed, and its noise at one k."""
    rows = []
    for name, values in document["curves"].items():
        noise, invalid = values[str(k)], str(k) in document["invalid"].get(name, [])
        words = t("noise.invalid") if invalid else engine(f"curve.{name}", CURVES[name][1])
        rows.append([f"{called(name)}\n{words}", local(noise, ",.4g") if math.isfinite(noise) else "–"])
    table([t("noise.column_curve"), t("noise.column_std")], rows, alt=t("noise.table_alt", k=k))
