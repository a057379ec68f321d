"""Scatter: two numbers against each other, some records of the real and of the synthetic table. Reads private data."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsyn_core.evaluate import Comparison, Floats
from dpsyn_core.report.amounts import fine
from dpsyn_core.report.figures.labels import plain_text
from dpsyn_core.report.theme import Figure
from dpsyn_core.report.wording import ENGLISH, Words, local
from dpsyn_core.schema import is_year

DOTS = 1500  # records of each table that are drawn: more cover each other
SEED = 0  # of the choice of records, so that a figure stays what it is


def numbers_of(comparison: Comparison) -> list[str]:
    """The columns that a scatter can show: numbers of both tables."""
    both = comparison.real_values.keys() & comparison.synthetic_values.keys()
    return [n for n in comparison.domain.names if n in both]


def scatter_figure(comparison: Comparison, across: str, up: str, words: Words = ENGLISH) -> Figure | None:
    """The real table on the left, the synthetic one on the right, on the same axes; None where a table has no records.

    Args:
        comparison: of both tables.
        across: column of the horizontal axis, one of `numbers_of`.
        up: column of the vertical axis.
        words: of captions, titles and hover texts.
    """
    rng = np.random.default_rng(SEED)
    drawn = [_pairs(side[across], side[up], rng) for side in (comparison.real_values, comparison.synthetic_values)]
    if any(not len(x) for x, _, _ in drawn):
        return None
    hover = words["scatter_hover"]
    plain: dict[str, dict[str, bool]] = {"x": {}, "y": {}}
    for letter, name, found in (("x", across, (d[0] for d in drawn)), ("y", up, (d[1] for d in drawn))):
        if is_year(name, *(end for values in found for end in (values.min(), values.max()))):
            hover = hover.replace(f"%{{{letter}:,.4~g}}", f"%{{{letter}:.6~g}}")
            plain[letter] = {"separatethousands": False}
    data: list[dict[str, Any]] = []
    for (x, y, _), name, colour, axis in zip(
        drawn, (words["real"], words["synthetic"]), ("@real", "@accent"), ("", "2"), strict=True
    ):
        data.append(
            {
                "type": "scattergl",
                "mode": "markers",
                "name": name,
                "x": x,
                "y": y,
                "xaxis": f"x{axis}",
                "yaxis": f"y{axis}",
                "marker": {"color": colour, "size": 4, "opacity": 0.45},
                "showlegend": False,
                "hovertemplate": hover,
            }
        )
    ranges = [_range(*(d[0] for d in drawn)), _range(*(d[1] for d in drawn))]
    ranks = [local(fine(r), words) for _, _, r in drawn]
    caption = words["scatter_caption"].format(across=across, up=up, real=ranks[0], synthetic=ranks[1])
    head = {"xref": "paper", "yref": "paper", "y": 1.0, "yanchor": "bottom", "showarrow": False, "xanchor": "left"}
    layout = {
        "height": 380,
        "margin": {"t": 30},
        "xaxis": {"domain": [0, 0.48], "range": ranges[0], "title": {"text": plain_text(across)}, **plain["x"]},
        "xaxis2": {
            "domain": [0.52, 1],
            "range": ranges[0],
            "title": {"text": plain_text(across)},
            "anchor": "y2",
            "gridcolor": "@line",
            "linecolor": "@line",
            "zerolinecolor": "@line",
            **plain["x"],
        },
        "yaxis": {"range": ranges[1], "title": {"text": plain_text(up)}, **plain["y"]},
        "yaxis2": {
            "range": ranges[1],
            "anchor": "x2",
            "showticklabels": False,
            "gridcolor": "@line",
            "linecolor": "@line",
            "zerolinecolor": "@line",
        },
        "annotations": [{**head, "x": 0, "text": words["real"]}, {**head, "x": 0.52, "text": words["synthetic"]}],
    }
    return Figure(data=data, layout=layout, caption=caption, alt=words["scatter_alt"].format(finding=caption))


def _pairs(x: Floats, y: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Some records where both are there, and the rank correlation of all of those."""
    from scipy.stats import spearmanr

    valid = np.flatnonzero(~(np.isnan(x) | np.isnan(y)))
    a, b = x[valid], y[valid]
    varied = len(valid) > 2 and np.ptp(a) > 0 and np.ptp(b) > 0
    rank = float(spearmanr(a, b).statistic) if varied else 0.0
    some = rng.choice(valid, DOTS, replace=False) if len(valid) > DOTS else valid
    return x[some], y[some], rank


def _range(*values: Floats) -> list[float]:
    """Both ends of an axis that holds all values, with some room."""
    low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    room = 0.04 * ((high - low) or 1.0)
    return [low - room, high + room]
