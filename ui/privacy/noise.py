"""The noise plot: what one cell's noise costs on every curve, for every number of marginals that share a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpsyn_core.privacy import CURVES, Unit, noise_curves
from ui.shared.text import engine, language, local, number, t
from ui.shared.theme import dressed, palette, tokens
from ui.shared.theme import table as wrapped

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

MOST = 10_000  # largest k on the plot
HEIGHT, TALL = 430, 520  # pixels, with a legend of two columns and of one
MARKS = 5  # on a curve, which tell it apart without colour
SHORT = 20  # letters of a curve in a legend of two columns, beyond which the columns are wider
NEAR = 1.2  # points of this run within this factor of each other share one letter
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
    """The sentence under the plot: from which k Gaussian noise is smaller, and what exact accounting gains."""
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


def drawn(
    epsilon: float, delta: float, neighbours: str, max_records: int, points: tuple[tuple[str, float, float], ...],
    k: int, is_dark: bool,
) -> go.Figure:  # fmt: skip
    """`figure`, kept: it shows public values only, and visitors of a class look at the same few. Not to be changed."""
    return _drawn(epsilon, delta, neighbours, max_records, points, k, is_dark, language())


@lru_cache(maxsize=200)
def _drawn(
    epsilon: float, delta: float, neighbours: str, max_records: int, points: tuple[tuple[str, float, float], ...],
    k: int, is_dark: bool, words: str,
) -> go.Figure:  # fmt: skip
    """One language's figure; `words` only tells them apart."""
    made = figure(curves(epsilon, delta, neighbours, max_records), points, k, is_dark=is_dark)
    return dressed(made, is_dark=is_dark, height=HEIGHT if _short() else TALL)


def figure(
    document: dict[str, Any], points: Sequence[tuple[str, float, float]], k: int, *, is_dark: bool = False
) -> go.Figure:
    """Curves on log axes, crossings as rings, `points` (label, k, std) of this run as filled circles, k as a line.

    Made in one piece: Plotly checks a figure again on every change of it, which takes four times as long.
    """
    import plotly.graph_objects as go

    colours = palette(is_dark)
    traces = [_trace(document, name, is_dark) for name in document["curves"]]
    crossed = [(v, n.split(":")[1]) for n, v in document["crossings"].items() if v >= 1]
    if crossed:
        basic = value_at(document, "laplace_basic")
        traces.append(
            {
                "type": "scatter",
                "x": [x for x, _ in crossed],
                "y": [basic * x for x, _ in crossed],
                "text": [called(n) for _, n in crossed],
                "name": t("noise.crossings"),
                "mode": "markers",
                "marker": {"symbol": "circle-open", "size": 11, "color": colours.ink, "line": {"width": 1.6}},
                "hovertemplate": t("noise.hover_crossing"),
            }
        )
    if points:
        traces.append(
            {
                "type": "scatter",
                "x": [x for _, x, _ in points],
                "y": [y for _, _, y in points],
                "text": letters(points),
                "textfont": {"size": 11, "color": colours.on_accent},
                "customdata": [label for label, _, _ in points],
                "name": t("noise.this_run"),
                "mode": "markers+text",
                "marker": {"size": 18, "color": colours.accent, "line": {"color": colours.paper, "width": 2}},
                "hovertemplate": t("noise.hover_run"),
            }
        )
    ticks = [1, 10, 100, 1000, 10_000]
    here = {"type": "line", "x0": k, "x1": k, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain", "layer": "below"}
    layout = {
        "xaxis": {
            "type": "log",
            "title": {"text": t("noise.x")},
            "tickvals": ticks,
            "ticktext": [number(x) for x in ticks],
            "range": [0, max([4.0, *(math.log10(x) + 0.1 for _, x, _ in points)])],
        },
        "yaxis": {"type": "log", "title": {"text": t("noise.y")}, "dtick": 1, "tickformat": ",~g"},
        "shapes": [here | {"line": {"color": colours.line, "width": 1.4, "dash": "dot"}}],
        "legend": {
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "entrywidth": 132 if _short() else 172,
            "entrywidthmode": "pixels",
        },
        "margin": {"t": 6},
    }
    return go.Figure(data=traces, layout=layout)


def _short() -> bool:
    """Whether the names of the curves, in this language, leave room for two columns of them."""
    return max(len(called(name)) for name in STYLES) <= SHORT


def letters(points: Sequence[tuple[str, float, float]]) -> list[str]:
    """A letter for each point of this run, by its noise; those that (nearly) coincide share the letter of the least.

    Words beside the points would cover curves and each other, or leave the figure on a phone.
    """
    out = [""] * len(points)
    first: list[int] = []
    for i in sorted(range(len(points)), key=lambda i: points[i][2]):
        near = (j for j in first if _close(points[j][1], points[i][1]) and _close(points[j][2], points[i][2]))
        same = next(near, None)
        if same is None:
            first.append(i)
        out[i] = chr(ord("A") + len(first) - 1) if same is None else out[same]
    return out


def key(points: Sequence[tuple[str, float, float]]) -> str:
    """The sentence that says what the letters stand for; none for a run without points."""
    named: dict[str, list[str]] = {}
    for letter, (label, _, _) in zip(letters(points), points, strict=True):
        named.setdefault(letter, []).append(label.split(",")[0])
    return t("noise.key", points="; ".join(f"{k} {', '.join(named[k])}" for k in sorted(named))) if named else ""


def _close(first: float, second: float) -> bool:
    return abs(math.log(first / second)) < math.log(NEAR)


def _trace(document: dict[str, Any], name: str, is_dark: bool) -> dict[str, Any]:
    """One curve, with gaps where its formula proves nothing."""
    hue, dash, marker = STYLES[name]
    hue = tokens(is_dark)[hue]
    values, hidden, label = document["curves"][name], set(document["invalid"].get(name, [])), called(name)
    return {
        "type": "scatter",
        "x": [int(x) for x in values],
        "y": [None if x in hidden else y for x, y in values.items()],
        "name": label,
        "mode": "lines+markers",
        "line": {"color": hue, "dash": dash, "width": 3 if name == used_curve(document) else 1.6},
        "marker": {"symbol": marker, "size": 7, "opacity": 1, "maxdisplayed": MARKS},
        "hovertemplate": t("noise.hover", name=label),
    }


def table(document: dict[str, Any], k: int) -> pd.DataFrame:
    """The curves at one k as a table: name, standard deviation, how it is computed."""
    import pandas as pd

    rows = []
    for name, values in document["curves"].items():
        value = values[str(k)]
        words = engine(f"curve.{name}", CURVES[name][1])
        if str(k) in document["invalid"].get(name, []):
            words = t("noise.invalid")
        rows.append((called(name), value, words))
    return pd.DataFrame(rows, columns=[t("noise.column_curve"), t("noise.column_std"), t("noise.column_why")])


def show_table(document: dict[str, Any], k: int) -> None:
    """The same numbers as the plot, as a table."""
    rows = [
        [f"{name}\n{words}", local(value, ",.4g") if math.isfinite(value) else "–"]
        for name, value, words in table(document, k).itertuples(index=False)
    ]
    head = [t("noise.column_curve"), t("noise.column_std")]
    wrapped(head, rows, alt=t("noise.table_alt", k=k))
