"""Figures of epsilons: one number a cell on a grid, curves with error bars, and what each epsilon buys and risks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.report.figures.labels import plain_text
from dpsyn_core.report.theme import DASHES, HUES, SHARE, SYMBOLS, Figure, places_of

READABLE = [[0, "@low"], [1, "@middle"]]  # words of the ink's colour have a contrast of 4.5 on each of them
ROW, AROUND = 38, 90  # pixels of a row, and of what stands around all rows
TICKS = [0.01, 0.1, 1, 10, 100]


def grid_figure(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    *,
    across: str,
    down: str,
    hover: str,
    most: float | None = None,
    caption: str = "",
    alt: str = "",
) -> Figure:
    """A heat map whose cells say their number.

    Args:
        rows: labels, from the top.
        columns: labels, from the left.
        values: numbers of the colours, 0 or above, a list a row; None: no colour.
        texts: what stands in each cell.
        across: title of the columns.
        down: title of the rows.
        hover: template in which %{x}, %{y} and %{text} stand.
        most: the number at the dark end; None: the largest of `values`.
        caption: the finding.
        alt: for a person who cannot see it.
    """
    valid = [v for row in values for v in row if v is not None]
    axis = {"type": "category", "showgrid": False, "ticks": ""}
    trace = {
        "type": "heatmap",
        "z": [list(row) for row in values],
        "text": [list(row) for row in texts],
        "x": [plain_text(c) for c in columns],
        "y": [plain_text(r) for r in rows],
        "texttemplate": "%{text}",
        "textfont": {"color": "@ink"},
        "colorscale": READABLE,
        "zmin": 0,
        "zmax": max(valid, default=1.0) if most is None else most,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hoverongaps": False,
        "hovertemplate": hover,
    }
    layout = {
        "height": ROW * len(rows) + AROUND,
        "xaxis": {**axis, "title": {"text": across}, "side": "top"},
        "yaxis": {**axis, "title": {"text": down}, "autorange": "reversed"},
    }
    return Figure(data=[trace], layout=layout, caption=caption, alt=alt)


def bars_figure(
    names: Sequence[str],
    places: Sequence[float],
    values: Mapping[str, Sequence[tuple[float, float | None] | None]],
    *,
    across: str,
    up: str,
    floor: float | None,
    floor_name: str,
    caption: str = "",
    alt: str = "",
) -> Figure:
    """A curve a name over places on a logarithmic axis, each point with its error bar, and a line for the floor.

    Args:
        names: of the curves, of which systems keep their hues; they repeat after as many as there are.
        places: rising, above 0.
        values: for each name, (value, half of its interval) a place; None where there is none.
        across: title of the places.
        up: title of the values, which are shares.
        floor: a value to compare with; None: none.
        floor_name: what it is called.
        caption: the finding.
        alt: for a person who cannot see it.
    """
    data: list[dict[str, Any]] = []
    for i, name in zip(places_of(names), names, strict=True):
        points = [(x, *v) for x, v in zip(places, values[name], strict=True) if v is not None]
        colour = HUES[i % len(HUES)]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain_text(name),
                "x": [x for x, _, _ in points],
                "y": [y for _, y, _ in points],
                "line": {"color": colour, "dash": DASHES[i % len(DASHES)]},
                "marker": {"symbol": SYMBOLS[i % len(SYMBOLS)], "size": 8},
                "error_y": {"type": "data", "array": [h or 0.0 for _, _, h in points], "color": colour, "width": 4},
            }
        )
    if floor is not None:
        ends = [min(places), max(places)]
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": floor_name,
                "x": ends,
                "y": [floor, floor],
                "line": {"color": "@real", "dash": "dot", "width": 1.5},
                "hoverinfo": "skip",
            }
        )
    layout = {
        "height": 420,
        "xaxis": {"type": "log", "title": {"text": across}, "tickvals": list(places), "tickformat": "~g"},
        "yaxis": {"title": {"text": up}, "tickformat": SHARE, "rangemode": "tozero"},
        "legend": {"y": 0, "yref": "container", "yanchor": "bottom"},
    }
    return Figure(data=data, layout=layout, caption=caption, alt=alt)


def choice_figure(
    epsilons: Sequence[float],
    errors: Sequence[float | None],
    gains: Sequence[float],
    *,
    chosen: float | None,
    error: float | None,
    gain: float | None,
    titles: Mapping[str, str],
    caption: str,
    alt: str,
) -> Figure:
    """Two curves that share the axis of epsilon, with the targets as lines across and the chosen epsilon as one down.

    Args:
        epsilons: rising.
        errors: expected error at each, as a share; None where there is none.
        gains: what an attacker may gain at each, as a share.
        chosen: epsilon that the targets lead to; None: none does.
        error: the target of the error; None: not asked for.
        gain: the target of the gain; None: not asked for.
        titles: words for `epsilon`, `error`, `gain`, `error_hover`, `gain_hover`.
        caption: the finding.
        alt: for a person who cannot see it.
    """
    line = {"type": "scatter", "mode": "lines", "showlegend": False}
    data = [
        {
            **line,
            "x": list(epsilons),
            "y": list(errors),
            "line": {"color": "@accent", "width": 2.5},
            "name": titles["error"],
            "hovertemplate": titles["error_hover"],
        },
        {
            **line,
            "x": list(epsilons),
            "y": list(gains),
            "yaxis": "y2",
            "name": titles["gain"],
            "line": {"color": "@warning", "width": 2.5, "dash": "dash"},
            "hovertemplate": titles["gain_hover"],
        },
    ]
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
    dotted = {"width": 1.4, "dash": "dot"}
    shapes = [
        {**across, "yref": axis, "y0": target, "y1": target, "line": {**dotted, "color": colour}}
        for axis, target, colour in (("y", error, "@accent"), ("y2", gain, "@warning"))
        if target is not None
    ]
    if chosen is not None:
        down = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": chosen, "x1": chosen, "layer": "below"}
        shapes.append({**down, "line": {**dotted, "color": "@ink"}})
    layout = {
        "height": 430,
        "xaxis": {
            "type": "log",
            "title": {"text": titles["epsilon"]},
            "tickvals": TICKS,
            "anchor": "y2",
            "tickformat": "~g",
        },
        "yaxis": {"domain": [0.55, 1], "title": {"text": titles["error"]}, "tickformat": SHARE, "rangemode": "tozero"},
        "yaxis2": {
            "domain": [0, 0.45],
            "title": {"text": titles["gain"]},
            "tickformat": SHARE,
            "range": [0, 0.52],
            "gridcolor": "@line",
            "linecolor": "@line",
            "zerolinecolor": "@line",
        },
        "shapes": shapes,
        "margin": {"t": 12, "r": 24},
    }
    return Figure(data=data, layout=layout, caption=caption, alt=alt)
