"""Figures of pairs: the map of all pairs, and the two tables of one pair with their difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.report.figures.labels import axis_labels, plain_text
from dpsyn_core.report.theme import AMOUNT, DIFFERENCE, Figure
from dpsyn_core.report.wording import ENGLISH, Words, local

Floats = NDArray[np.float64]
LONG, WIDE = 15, 30  # letters of the title of an axis: below one of two tables next to each other, and elsewhere
HALF = 12  # labels that have room below one of two tables next to each other
# columns of a map, of a table and of one of two, and rows, up to which cells have room for a number on a phone
MAP_ROOM, ROOM, HALF_ROOM, ROWS = 5, 4, 3, 12
FEW = 40  # attributes between whose cells a map has room for gaps
CELL = {"showgrid": False, "ticks": "", "type": "category"}
BAR = {
    "orientation": "h",
    "thickness": 8,
    "len": 0.6,
    "x": 0,
    "xanchor": "left",
    "y": 1,
    "yanchor": "bottom",
    "nticks": 3,
    "tickangle": 0,
    "outlinewidth": 0,
    "tickformat": "~%",
}


def pair_map(
    names: Sequence[str],
    first: Floats,
    second: Floats | None = None,
    *,
    most: int | None = None,
    words: Words = ENGLISH,
) -> Figure:
    """Heat map of pairwise TVD: one table in both triangles, or table A above the diagonal and B below.

    Args:
        names: attributes, d of them.
        first: symmetric (d, d), NaN on the diagonal.
        second: the same of another synthetic table.
        most: shows the so many attributes that differ most, and says so; None: all.
        words: of captions and hover texts.
    """
    z = np.array(first, dtype=float)
    keep = shown(z, most)
    if second is not None:
        lower = np.tril_indices(len(z), -1)
        z[lower] = np.asarray(second)[lower]
    caption = _worst(names, z, words)
    if len(keep) < len(names):
        caption += " " + words["map_cut"].format(shown=len(keep), all=len(names))
        z, names = z[np.ix_(keep, keep)], [names[i] for i in keep]
    labels = axis_labels(names, words=words)
    side = np.full(z.shape, "", dtype=object)
    if second is not None:
        side[np.triu_indices(len(z), 1)], side[np.tril_indices(len(z), -1)] = " (A)", " (B)"
    gap = 1 if len(names) <= FEW else 0
    trace = {
        "type": "heatmap",
        "z": z,
        "x": labels,
        "y": labels,
        **({} if second is None else {"customdata": side.tolist()}),
        "colorscale": AMOUNT,
        "zmin": 0,
        "zmax": max(float(np.nanmax(z)) if np.isfinite(z).any() else 1.0, 0.01),
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        **_in_cells(z, MAP_ROOM, words),
        "hovertemplate": words["map_hover"] if second is not None else words["map_hover"].replace("%{customdata}", ""),
        "colorbar": {**BAR, "title": {"text": words["map_bar"], "side": "top", "font": {"size": 13}}},
    }
    font = {"tickfont": {"size": 13 if len(names) <= FEW else 9}}
    layout = {
        "height": int(min(820, max(360, 25 * len(names) + 170))),
        "xaxis": {**CELL, **font, "tickangle": -50},
        "yaxis": {**CELL, **font, "autorange": "reversed"},
    }
    alt = words["map_alt"].format(count=len(names), finding=caption)
    return Figure(data=[trace], layout=layout, caption=caption, alt=alt, width=min(24 * len(names), 700) + 250)


def _in_cells(shares: Floats, room: int, words: Words, sign: str = "") -> dict[str, Any]:
    """The numbers of large cells, in two digits; nothing where there are more columns than `room`."""
    if shares.shape[1] > room or shares.shape[0] > ROWS:
        return {}
    texts = [["" if np.isnan(x) else _digits(x, sign, words) for x in row] for row in shares]
    return {"text": texts, "texttemplate": "%{text}", "textfont": {"size": 11}}


def _digits(share: float, sign: str, words: Words) -> str:
    text = "0%" if abs(share) < 0.0005 else f"{share:{sign}.{0 if abs(share) >= 0.1 else 1}%}"
    return local(text.replace("-", "\N{MINUS SIGN}"), words)


def shown(z: Floats, most: int | None) -> NDArray[np.intp]:
    """Which attributes a map shows, in their order: all, or the `most` that differ most from one other attribute."""
    if most is None or len(z) <= most:
        return np.arange(len(z))
    return np.sort(np.argsort(-np.nanmax(z, axis=1), kind="stable")[:most])


def _worst(names: Sequence[str], z: Floats, words: Words) -> str:
    if len(names) < 2 or not np.isfinite(z).any():
        return words["map_finding"].format(pair=words["none"], tvd="–")
    i, j = divmod(int(np.nanargmax(z)), len(z))
    pair = f"{names[min(i, j)]} x {names[max(i, j)]}"
    return words["map_finding"].format(pair=pair, tvd=local(f"{float(np.nanmax(z)):.1%}", words))


def panel(kind: str, words: Words = ENGLISH) -> dict[str, Any]:
    """A heat map without its numbers: shares ("amount") or synthetic less real ones ("difference").

    Colours of shares follow the square root, so that one large cell does not make all others look empty: z holds
    roots, customdata the shares. The report's script fills the same panels in the browser.
    """
    base = {"type": "heatmap", "xgap": 1, "ygap": 1, "hoverongaps": False}
    bar = {"thickness": 8, "outlinewidth": 0, "len": 1, "tickfont": {"size": 11}}
    if kind == "amount":
        return {**base, "colorscale": AMOUNT, "zmin": 0, "hovertemplate": words["cell_hover"], "colorbar": bar}
    bar["tickformat"], bar["nticks"] = "~%", 5
    return {**base, "colorscale": DIFFERENCE, "hovertemplate": words["gap_hover"], "colorbar": bar}


def panel_layout() -> dict[str, Any]:
    """Axes of one such panel."""
    small = {**CELL, "tickfont": {"size": 11}}
    return {
        "height": 320,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": {**small, "tickangle": -50},
        "yaxis": {**small, "autorange": "reversed"},
    }


def root_ticks(top: float, words: Words = ENGLISH) -> dict[str, Any]:
    """Ticks of a colour bar over square roots of shares: nothing, a quarter of the largest share, all of it."""
    at = [0.0, top / 4, top]
    return {
        "tickvals": [x**0.5 for x in at],
        "ticktext": ["0%", *(local(f"{x:.2g}%", words) for x in (25 * top, 100 * top))],
    }


def _title(name: str, most: int) -> str:
    """The title of an axis that is short itself: a long name would reach beyond it."""
    return plain_text(name if len(name) <= most else name[: most - 1] + "…")


def _ticks(values: int, most: int) -> dict[str, int]:
    """At most so many labels, where there are too many to stand next to each other."""
    return {"nticks": most // 2} if values > most else {}


def two_tables(
    real: Floats,
    synthetic: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    names: tuple[str, str],
    words: Words = ENGLISH,
) -> Figure:
    """The two tables of a pair as shares, on one axis and one scale.

    Args:
        real: shares, (rows, columns).
        synthetic: the same of the synthetic table.
        rows: labels of the first attribute's values.
        columns: of the second one's.
        names: the two attributes.
        words: of titles and hover texts.
    """
    top = float(max(real.max(), synthetic.max())) or 1.0
    y, x = axis_labels(rows, words=words), axis_labels(columns, words=words)
    data = []
    for i, (z, table) in enumerate(((real, "real"), (synthetic, "synthetic"))):
        trace = panel("amount", words) | {"z": np.sqrt(z), "customdata": z, "x": x, "y": y, "name": words[table]}
        trace |= _in_cells(z, HALF_ROOM, words)
        trace |= {"zmax": top**0.5, "xaxis": "x2" if i else "x", "yaxis": "y", "showscale": bool(i)}
        trace["colorbar"] = trace["colorbar"] | root_ticks(top, words)
        data.append(trace)
    axes = panel_layout()
    across = axes["xaxis"] | _ticks(len(x), HALF)
    title = {"text": _title(names[1], LONG), "font": {"size": 13}}  # once: on a phone two of them would meet
    heads = [
        {
            "text": words[t],
            "x": at,
            "y": 1,
            "xref": "paper",
            "yref": "paper",
            "yanchor": "bottom",
            "xanchor": "left",
            "showarrow": False,
        }
        for t, at in (("real", 0.0), ("synthetic", 0.52))
    ]
    layout = {
        "height": 320,
        "margin": {"l": 8, "r": 8, "t": 26, "b": 8},
        "xaxis": {**across, "title": title, "domain": [0, 0.48]},
        "xaxis2": {**across, "domain": [0.52, 1], "anchor": "y"},
        "yaxis": {**axes["yaxis"], "title": {"text": _title(names[0], WIDE)}},
        "annotations": heads,
    }
    return Figure(data=data, layout=layout, alt=words["tables_alt"].format(a=names[0], b=names[1]))


def difference(
    gap: Floats, rows: Sequence[str], columns: Sequence[str], names: tuple[str, str], words: Words = ENGLISH
) -> Figure:
    """Synthetic less real shares, cell by cell, on a scale that is symmetric around no difference."""
    far = float(np.abs(gap).max()) or 1e-9
    y, x = axis_labels(rows, words=words), axis_labels(columns, words=words)
    trace = panel("difference", words) | {"z": gap, "x": x, "y": y, "zmin": -far, "zmax": far}
    trace |= _in_cells(gap, ROOM, words, "+")
    axes = panel_layout()
    layout = {
        "height": 300,
        "xaxis": {**axes["xaxis"], "title": {"text": _title(names[1], WIDE)}, **_ticks(len(x), HALF + 4)},
        "yaxis": {**axes["yaxis"], "title": {"text": _title(names[0], WIDE)}},
    }
    return Figure(data=[trace], layout=layout, alt=words["gap_alt"].format(a=names[0], b=names[1]))
