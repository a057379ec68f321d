"""Figures of single columns and of marginals by order: overlays, spreads, and released marginals with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.report.amounts import percent
from dpsyn_core.report.figures.labels import axis_labels, plain_text, widths
from dpsyn_core.report.theme import DASHES, SERIES, SHARE, SYMBOLS, Figure
from dpsyn_core.report.wording import ENGLISH, Words, local

Floats = NDArray[np.float64]
FEW = 40  # bars that can be told apart
LABEL = 22  # characters of a value under a bar
DOTS = 400  # marginals of one order that are drawn as a dot each
GRID = np.linspace(0, 1, 201)
MOST = 1000  # values of a box that are drawn as they are; more are drawn by their quantiles
UNEVEN = 1.5  # times the usual width of a bin from which on equal bars would mislead
SPIKE = 20  # a bin so many times narrower than the usual one stands for single values: its share is drawn as it is
VALUES = {"type": "category", "showgrid": False}


def overlay(name: str, labels: Sequence[str], series: Mapping[str, Floats], words: Words = ENGLISH) -> Figure:
    """Shares of one attribute's values, the real table first in grey, then each synthetic one."""
    data: list[dict[str, Any]] = []
    x = axis_labels(labels, LABEL, words=words)
    scale, per = density(labels)
    if any((np.asarray(shares) * scale > 1).any() for shares in series.values()):
        scale, per = np.ones(len(labels)), None  # a narrow bin that is full would have more than all records
    title = words["shares"] if per is None else words["density"].format(width=local(f"{per:,g}", words))
    for k, (table, shares) in enumerate(series.items()):
        colour = "@real" if k == 0 else SERIES[(k - 1) % len(SERIES)]
        base = {
            "x": x,
            "y": np.asarray(shares) * scale,
            "customdata": np.asarray(shares),
            "name": plain_text(table),
            "hovertemplate": words["share_hover"],
        }
        if len(labels) <= FEW:
            pattern = {
                "shape": "" if k < 2 else ("/", "x", ".", "+")[(k - 2) % 4],
                "fillmode": "overlay",
                "fgcolor": "@paper",
            }
            data.append(
                {"type": "bar", **base, "opacity": 1 if k else 0.55, "marker": {"color": colour, "pattern": pattern}}
            )
        else:
            line = {"color": colour, "width": 1.8, "shape": "hvh", "dash": "solid" if k < 2 else DASHES[(k - 1) % 6]}
            data.append({"type": "scatter", "mode": "lines", **base, "line": line})
    values = list(series.values())
    gaps = [float(np.abs(v - values[0]).sum()) / 2 for v in values[1:]]
    text = "; ".join(
        words["column_finding"].format(table=table, tvd=local(f"{gap:.1%}", words))
        for table, gap in zip(list(series)[1:], gaps, strict=True)
    )
    caption = f"{name}: {text}." if text else name
    layout = {
        "barmode": "group",
        "bargap": 0.25,
        "xaxis": VALUES,
        "yaxis": {"title": {"text": title}, "tickformat": SHARE, "rangemode": "tozero"},
    }
    return Figure(data=data, layout=layout, caption=caption, alt=words["column_alt"].format(finding=caption))


def density(labels: Sequence[str]) -> tuple[Floats, float | None]:
    """What the share of each bin is multiplied by, and for how wide a stretch it then holds; None: shares as they are.

    Bins of numbers of unequal width are drawn as shares for the usual width, so that a wide bin does not look full.
    Values that stand alone, such as 0 next to 1-99, and special values keep their share.
    """
    sizes = widths(labels)
    plain = np.array(sizes or [])
    usual = float(np.median(plain[plain > 0])) if (plain > 0).any() else 0.0
    scaled = plain * SPIKE > usual
    if not scaled.any() or plain[scaled].max() <= UNEVEN * plain[scaled].min():
        return np.ones(len(labels)), None
    return np.where(scaled, usual / np.where(plain > 0, plain, 1.0), 1.0), usual


def distribution(groups: Sequence[tuple[str, str, Floats, float | None]], words: Words = ENGLISH) -> Figure:
    """TVD of every marginal by order and table, few marginals as a dot each, and a mark at the noise floor.

    Args:
        groups: (order in words, table, values, mean noise floor or None) of each box.
        words: of titles and hover texts.
    """
    data: list[dict[str, Any]] = []
    tables = list(dict.fromkeys(g[1] for g in groups))
    for order, table, values, _ in groups:
        colour = SERIES[tables.index(table) % len(SERIES)]
        x = values if len(values) <= MOST else np.quantile(values, GRID)
        data.append(
            {
                "type": "box",
                "x": x,
                "y": [order] * len(x),
                "name": plain_text(table),
                "legendgroup": table,
                "offsetgroup": table,
                "showlegend": order == groups[0][0],
                "orientation": "h",
                "boxpoints": "all" if len(values) <= DOTS else False,
                "jitter": 0.5,
                "pointpos": 0,
                "marker": {"color": colour, "size": 4, "opacity": 0.4},
                "fillcolor": "rgba(0,0,0,0)",
                "line": {"color": colour, "width": 1.4},
                "hovertemplate": words["spread_hover"],
            }
        )
    floors = {order: floor for order, _, _, floor in groups if floor is not None}
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": list(floors.values()),
            "y": list(floors),
            "name": words["fresh"],
            "marker": {"symbol": "line-ns", "size": 30, "line": {"width": 2.5, "color": "@real"}},
            "hovertemplate": words["floor_hover"],
        }
    )
    text = "; ".join(
        words["spread_line"].format(order=o, mean=local(f"{v.mean():.1%}", words), table=table)
        for o, table, v, _ in groups
    )
    orders = list(dict.fromkeys(g[0] for g in groups))
    layout = {
        "boxmode": "group",
        "xaxis": {"title": {"text": words["moved"]}, "tickformat": SHARE, "rangemode": "tozero"},
        "yaxis": {"showgrid": False, "range": [len(orders) - 0.4, -0.6]},
        "height": 120 + 70 * len(groups),
    }
    caption = words["spread_finding"].format(lines=text)
    return Figure(data=data, layout=layout, caption=caption, alt=words["spread_alt"].format(lines=text))


def released_overlay(
    name: str, labels: Sequence[str], noisy: Floats, half: float, tables: Mapping[str, Floats], words: Words = ENGLISH
) -> Figure:
    """A released one-way marginal with its 95 % intervals, and each synthetic table scaled to it. Safe to publish.

    Args:
        name: of the attribute.
        labels: of its values.
        noisy: released counts.
        half: half the width of an interval, in records.
        tables: counts of each synthetic table, scaled to the released total.
        words: of titles and hover texts.
    """
    x = axis_labels(labels, LABEL, words=words)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": words["released"],
            "x": x,
            "y": np.asarray(noisy, dtype=float),
            "error_y": {"type": "constant", "value": float(half), "color": "@real", "thickness": 1.2, "width": 3},
            "marker": {"color": "@real", "size": 6, "symbol": "circle-open"},
            "hovertemplate": words["released_hover"],
        }
    ]
    for k, (table, counts) in enumerate(tables.items()):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain_text(table),
                "x": x,
                "y": np.asarray(counts),
                "marker": {"color": SERIES[k % 6], "size": 7, "symbol": SYMBOLS[(k + 1) % 6]},
                "hovertemplate": words["released_hover"],
            }
        )
    sides = "; ".join(
        words["released_side"].format(
            share=local(percent(float((np.abs(c - noisy) <= half).mean()), 0), words), table=t
        )
        for t, c in tables.items()
    )
    layout = {"xaxis": VALUES, "yaxis": {"title": {"text": words["records"]}, "tickformat": ",~r"}}
    caption = words["released_finding"].format(name=name, half=local(f"{half:,.0f}", words), sides=sides)
    return Figure(data=data, layout=layout, caption=caption, alt=words["released_alt"].format(finding=caption))
