"""Figures of a report: made from scores and counts, free of colours (see template.py), each with its finding."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.report.template import AMOUNT, DASHES, HEIGHT, SERIES, SYMBOLS, Figure

Floats = NDArray[np.float64]
FEW = 40  # bars and tick labels that can be told apart


def pair_map(names: Sequence[str], first: Floats, second: Floats | None = None) -> Figure:
    """Heat map of pairwise TVD: one table in both triangles, or table A above the diagonal and B below.

    Args:
        names: attributes, d of them.
        first: symmetric (d, d), NaN on the diagonal.
        second: the same of another synthetic table.
    """
    z = np.array(first, dtype=float)
    if second is not None:
        lower = np.tril_indices(len(z), -1)
        z[lower] = np.asarray(second)[lower]
    top = float(np.nanmax(z)) if np.isfinite(z).any() else 1.0
    i, j = divmod(int(np.nanargmax(z)), len(z)) if np.isfinite(z).any() else (0, 0)
    shown = axis_labels(names)
    trace = {
        "type": "heatmap",
        "z": [[None if np.isnan(v) else round(float(v), 5) for v in row] for row in z],
        "x": shown,
        "y": shown,
        "colorscale": AMOUNT,
        "zmin": 0,
        "zmax": max(top, 0.01),
        "xgap": 1 if len(names) <= FEW else 0,
        "ygap": 1 if len(names) <= FEW else 0,
        "hoverongaps": False,
        "hovertemplate": "%{y} x %{x}: %{z:.1%} of the records would have to move<extra></extra>",
        "colorbar": {"tickformat": ".0%", "thickness": 10, "len": 0.9, "outlinewidth": 0},
    }
    axis = {"showgrid": False, "ticks": "", "type": "category", "constrain": "domain"}
    small = {"tickfont": {"size": 13 if len(names) <= FEW else 9}, "nticks": 60}
    layout = {
        "height": int(min(820, max(340, 24 * len(names) + 120))),
        "xaxis": {**axis, **small, "tickangle": -50},
        "yaxis": {**axis, **small, "autorange": "reversed", "scaleanchor": "x"},
    }
    worst = f"{names[min(i, j)]} x {names[max(i, j)]}" if len(names) > 1 else "none"
    caption = f"The pair that differs most is {worst}: {top:.1%}."
    alt = f"Heat map of {len(names)} attributes. {caption}"
    return Figure(data=[trace], layout=layout, caption=caption, alt=alt, width=min(24 * len(names), 700) + 250)


def overlay(name: str, labels: Sequence[str], series: Mapping[str, Floats]) -> Figure:
    """Shares of one attribute's values, the real table first in grey, then each synthetic one."""
    data = []
    bars = len(labels) <= FEW
    for k, (table, shares) in enumerate(series.items()):
        colour = "@real" if k == 0 else SERIES[(k - 1) % len(SERIES)]
        base = {"x": axis_labels(labels, 40), "y": [round(float(v), 6) for v in shares], "name": table}
        hover = {"hovertemplate": "%{x}: %{y:.2%} of " + table + "<extra></extra>"}
        if bars:
            pattern = {
                "shape": "" if k < 2 else ("/", "x", ".", "+")[(k - 2) % 4],
                "fillmode": "overlay",
                "fgcolor": "@paper",
            }
            data.append({"type": "bar", **base, **hover, "marker": {"color": colour, "pattern": pattern}})
        else:
            line = {"color": colour, "width": 1.8, "shape": "hvh", "dash": "solid" if k < 2 else DASHES[(k - 1) % 6]}
            data.append({"type": "scatter", "mode": "lines", **base, **hover, "line": line})
    values = list(series.values())
    gaps = [abs(v - values[0]) / 2 for v in values[1:]]
    found = "; ".join(f"{t} differs by {g.sum():.1%}" for t, g in zip(list(series)[1:], gaps, strict=True))
    caption = f"{name}: {found}." if found else name
    layout = {
        "barmode": "group",
        "bargap": 0.25,
        "xaxis": {"type": "category", "nticks": 30, "showgrid": False},
        "yaxis": {"title": {"text": "share of records"}, "tickformat": ".0%", "rangemode": "tozero"},
    }
    return Figure(data=data, layout=layout, caption=caption, alt=f"Distribution of {caption}")


def distribution(groups: Sequence[tuple[str, str, Floats, float]]) -> Figure:
    """TVD of every marginal by order and table: (order in words, table, values, mean noise floor)."""
    data: list[dict[str, Any]] = []
    tables = list(dict.fromkeys(g[1] for g in groups))
    for order, table, values, _ in groups:
        k = tables.index(table)
        colour = SERIES[k % len(SERIES)]
        data.append({
            "type": "box",
            "x": [round(float(v), 5) for v in (values if len(values) <= 1000 else np.quantile(values, GRID))],
            "y": [order] * min(len(values), 1000 if len(values) <= 1000 else len(GRID)),
            "name": table,
            "legendgroup": table,
            "offsetgroup": table,
            "showlegend": order == groups[0][0],
            "orientation": "h",
            "boxpoints": False,
            "line": {"color": colour, "width": 1.4},
            "hoverinfo": "x",
        })  # fmt: skip
    floors = {order: floor for order, _, _, floor in groups}
    data.append({
        "type": "scatter", "mode": "markers", "x": list(floors.values()), "y": list(floors), "name": "a fresh sample",
        "marker": {"symbol": "line-ns", "size": 26, "line": {"width": 2, "color": "@real"}},
        "hovertemplate": "a fresh sample of the real table would score %{x:.1%}<extra></extra>",
    })  # fmt: skip
    means = "; ".join(f"{o}: {v.mean():.1%} for {t}" for o, t, v, _ in groups)
    layout = {
        "boxmode": "group",
        "xaxis": {"title": {"text": "share of records that would have to move"}, "tickformat": ".0%",
                  "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "showgrid": False},
        "height": 120 + 70 * len(groups),
    }  # fmt: skip
    return Figure(data=data, layout=layout, caption=f"On average, {means}.", alt=f"Box plots of TVD. {means}.")


def lorenz(real: Sequence[float], tables: Mapping[str, Sequence[float]], income: str) -> Figure:
    """Lorenz curves: what share of all income the poorest x % hold."""
    at = np.linspace(0, 1, len(real)).round(4).tolist()
    data = [
        {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "name": "all equal", "hoverinfo": "skip",
         "line": {"color": "@line", "width": 1.5}},
        _curve("real", at, real, "@real", "solid"),
    ]  # fmt: skip
    data += [_curve(t, at, y, SERIES[k % 6], DASHES[(k + 1) % 6]) for k, (t, y) in enumerate(tables.items())]
    half = len(real) // 2
    found = ", ".join(f"{y[half]:.1%} in {t}" for t, y in tables.items())
    caption = f"The poorer half holds {real[half]:.1%} of all {income} really, {found}."
    layout = {
        "xaxis": {"title": {"text": "share of people, poorest first"}, "tickformat": ".0%"},
        "yaxis": {"title": {"text": f"share of all {income}"}, "tickformat": ".0%"},
    }
    return Figure(data=data, layout=layout, caption=caption, alt=f"Lorenz curves. {caption}")


def _curve(name: str, x: list[float], y: Sequence[float], colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": x, "y": [round(float(v), 5) for v in y], "name": name,
        "line": {"color": colour, "width": 2, "dash": dash},
        "hovertemplate": "the poorest %{x:.0%} hold %{y:.1%} in " + name + "<extra></extra>",
    }  # fmt: skip


def range_scatter(real: Floats, tables: Mapping[str, Floats], smallest: float) -> Figure:
    """Frequencies of random range queries, real against synthetic, on log axes; 0 stands at half the smallest."""
    low = smallest / 2
    data: list[dict[str, Any]] = [
        {"type": "scatter", "mode": "lines", "x": [low, 1], "y": [low, 1], "name": "equal", "hoverinfo": "skip",
         "line": {"color": "@line", "width": 1.5}, "showlegend": False}
    ]  # fmt: skip
    for k, (table, got) in enumerate(tables.items()):
        data.append({
            "type": "scatter", "mode": "markers", "name": table,
            "x": [float(f"{max(v, low):.4g}") for v in real], "y": [float(f"{max(v, low):.4g}") for v in got],
            "marker": {"color": SERIES[k % 6], "size": 5, "opacity": 0.45, "symbol": SYMBOLS[k % 6]},
            "hovertemplate": "%{x:.3%} really, %{y:.3%} in " + table + "<extra></extra>",
        })  # fmt: skip
    off = "; ".join(f"{t} is off by {abs(g - real).mean():.2%} of the records" for t, g in tables.items())
    axis = {"type": "log", "tickformat": "~p", "dtick": 1}
    layout = {
        "xaxis": {**axis, "title": {"text": "real share of records"}},
        "yaxis": {**axis, "title": {"text": "synthetic share of records"}},
        "height": HEIGHT + 40,
    }
    caption = f"{len(real)} random range queries: on average {off}."
    return Figure(data=data, layout=layout, caption=caption, alt=f"Scatter plot. {caption}")


def dots(
    rows: Sequence[str], series: Mapping[str, Sequence[float | None]], *, title: str, tickformat: str, caption: str
) -> Figure:
    """One row a group or model: the reference in grey, each synthetic table beside it."""
    data: list[dict[str, Any]] = []
    for k, (name, values) in enumerate(series.items()):
        colour = "@real" if k == 0 else SERIES[(k - 1) % 6]
        data.append({
            "type": "scatter", "mode": "markers", "name": name, "x": list(values), "y": axis_labels(rows, 28),
            "marker": {"color": colour, "size": 10, "symbol": SYMBOLS[k % 6]},
            "hovertemplate": f"%{{y}}: %{{x:{tickformat}}} ({name})<extra></extra>",
        })  # fmt: skip
    layout = {
        "xaxis": {"title": {"text": title}, "tickformat": tickformat},
        "yaxis": {"type": "category", "autorange": "reversed"},
        "height": 110 + 26 * max(3, len(rows)),
    }
    return Figure(data=data, layout=layout, caption=caption, alt=f"Dot plot of {title}. {caption}")


def released_overlay(
    name: str, labels: Sequence[str], noisy: Floats, half: float, tables: Mapping[str, Floats]
) -> Figure:
    """A released one-way marginal with its 95 % intervals, and each synthetic table scaled to it. Safe to publish."""
    x = axis_labels(labels, 40)
    data: list[dict[str, Any]] = [{
        "type": "scatter", "mode": "markers", "name": "released (noisy)", "x": x,
        "y": [round(float(v), 1) for v in noisy],
        "error_y": {"type": "constant", "value": round(half, 2), "color": "@real", "thickness": 1.2, "width": 3},
        "marker": {"color": "@real", "size": 6, "symbol": "circle-open"},
        "hovertemplate": "%{x}: %{y:,.0f} released<extra></extra>",
    }]  # fmt: skip
    for k, (table, counts) in enumerate(tables.items()):
        data.append({
            "type": "scatter", "mode": "markers", "name": table, "x": x, "y": [round(float(v), 1) for v in counts],
            "marker": {"color": SERIES[k % 6], "size": 7, "symbol": SYMBOLS[(k + 1) % 6]},
            "hovertemplate": "%{x}: %{y:,.0f} in " + table + "<extra></extra>",
        })  # fmt: skip
    inside = "; ".join(f"{(abs(c - noisy) <= half).mean():.0%} of {t} inside" for t, c in tables.items())
    layout = {
        "xaxis": {"type": "category", "nticks": 30, "showgrid": False},
        "yaxis": {"title": {"text": "records"}},
    }
    caption = f"{name}: 95 % intervals of {half:,.0f} records to either side; {inside}."
    return Figure(data=data, layout=layout, caption=caption, alt=f"Released counts of {caption}")


GRID = np.linspace(0, 1, 201)


def axis_labels(names: Sequence[str], most: int = 18) -> list[str]:
    """Labels that fit on an axis, hold no markup, and stay different from each other."""
    out: list[str] = []
    seen: dict[str, int] = {}
    for given in names:
        name = given or "(blank)"
        label = name if len(name) <= most else name[: most - 1] + "…"
        seen[label] = seen.get(label, 0) + 1
        out.append(plain_text(label if seen[label] == 1 else f"{label} ({seen[label]})"))
    return out


def plain_text(text: str) -> str:
    """Text that Plotly shows as it is: neither its markup nor its hover fields."""
    return html.escape(text, quote=False).replace("%{", "% {")
