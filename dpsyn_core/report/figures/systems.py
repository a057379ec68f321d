"""Several systems at one budget, one small figure a measure: hovering over a system marks it in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsyn_core.report.theme import LIGHT, Palette, altair_settings

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # a name, which nobody fetches
WIDE, ROW, GAP = 250, 26, 26  # pixels: width of a measure's figure, height of a system's row, between figures
ROOM = 0.08  # of its values, that an axis goes on to the right, and half as far to the left


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One measure: its name above the figure, a value a system, what to hold it against, and how numbers are written.

    format: of d3, as Vega-Lite reads it.
    """

    name: str
    values: Mapping[str, float]
    mark: float | None = None
    format: str = "~r"


def systems_chart(
    measures: Sequence[Measure],
    *,
    across: int = 2,
    palette: Palette = LIGHT,
    system: str = "system",
    mark: str = "mark",
) -> dict[str, Any]:
    """Dot plots of all measures as a Vega-Lite document; systems stand in the order of the first measure.

    It is written as it is sent: Altair takes half a second to make it, and a page makes one on every move.

    Args:
        measures: with values for the same systems.
        across: figures in a row.
        palette: colours.
        system: what a row is called in hover texts.
        mark: what the upright line is called there.
    """
    first = measures[0].values
    order = sorted(first, key=lambda s: first[s])
    rows = [
        {"measure": k, "system": s, "value": v, "mark": m.mark}
        for k, m in enumerate(measures)
        for s, v in m.values.items()
    ]
    return {
        "$schema": SCHEMA,
        "config": altair_settings(palette),
        "datasets": {"systems": rows},
        # one selection that all figures share
        "params": [
            {
                "name": "over",
                "select": {"type": "point", "fields": ["system"], "on": "pointerover"},
                "views": [f"measure_{k}" for k in range(len(measures))],
            }
        ],
        "concat": [_part(k, m, order, palette, system, mark) for k, m in enumerate(measures)],
        "columns": across,
        "spacing": GAP,
    }


def _part(k: int, m: Measure, order: list[str], palette: Palette, system: str, mark: str) -> dict[str, Any]:
    """One measure: a stem and a dot a system, and the line of its mark."""
    ends = [*m.values.values(), *([] if m.mark is None else [m.mark])]
    low, high = min(0.0, *ends), max(0.0, *ends)
    room = ROOM * ((high - low) or 1.0)
    place = {
        "x": {
            "field": "value",
            "type": "quantitative",
            "title": None,
            "scale": {"domain": [low - room / 2, high + room], "nice": False},
            "axis": {"format": m.format, "tickCount": 4, "grid": False},
        },
        "y": {
            "field": "system",
            "type": "nominal",
            "title": None,
            "sort": order,
            "axis": {"ticks": False, "domain": False, "labelLimit": 96, "labelPadding": 6},
        },
    }
    number = {"type": "quantitative", "format": m.format}
    look = {
        "color": _over(palette["warning"], palette["accent"]),
        "size": _over(170, 90),
        "tooltip": [
            {"field": "system", "type": "nominal", "title": system},
            {"field": "value", "title": m.name, **number},
        ],
    }
    here = {"transform": [{"filter": f"datum.measure == {k}"}]}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "size": 2, "color": palette["line"]}, "encoding": place, **here},
        {"mark": {"type": "circle", "opacity": 1}, "encoding": place | look, "name": f"measure_{k}", **here},
    ]
    if m.mark is not None:
        line = {"type": "rule", "strokeDash": [3, 3], "strokeWidth": 1.6, "color": palette["real"]}
        axes = {"x": {"field": "mark", "type": "quantitative"}, "tooltip": [{"field": "mark", "title": mark, **number}]}
        layers.append({"mark": line, "encoding": axes, **here})
    size = {"width": WIDE, "height": {"step": ROW}}
    return {"title": m.name, "data": {"name": "systems"}, "layer": layers, **size}


def _over(marked: object, otherwise: object) -> dict[str, Any]:
    """A channel that changes for the system under the pointer."""
    return {"condition": [{"param": "over", "empty": False, "value": marked}], "value": otherwise}
