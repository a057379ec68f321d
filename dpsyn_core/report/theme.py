"""The look of every figure, in the report and in the app: palettes, Plotly layout, Altair settings, colours by name.

Figures name colours as tokens ("@real", "@accent"), so that one figure can be painted for either mode: the app paints
it in the visitor's theme, the HTML report in the browser and again when the reader's system changes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Palette = Mapping[str, str]

_PALETTES = tomllib.loads(Path(__file__).with_name("palettes.toml").read_text("utf-8"))
LIGHT: Palette = _PALETTES["light"]
DARK: Palette = _PALETTES["dark"]
# the first synthetic table wears the accent, the next ones follow; real is grey everywhere
SERIES = ("@accent", "@second", "@third", "@fourth", "@fifth", "@sixth")
# hues of curves: Okabe and Ito's, without yellow and black for want of contrast on paper
HUES = ("@blue", "@vermilion", "@green", "@pink", "@sky", "@amber", "@grey")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
# a system keeps its place in HUES, DASHES and SYMBOLS in every chart
SYSTEMS = {"rls": 0, "independent": 1, "mst": 2, "privbayes": 3, "p3gm": 4, "dpsyn": 5}
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
HEIGHT = 360  # pixels of a figure that stands alone
DIFFERENCE = [[0, "@less"], [0.5, "@paper"], [1, "@more"]]  # fewer synthetic records, equal, more
AMOUNT = [[0, "@low"], [0.5, "@middle"], [1, "@high"]]
SHARE = "~%"  # ticks of shares with as many digits as they need, so that none repeats: 0.5%, 1%, 1.5%

_AXIS: dict[str, Any] = {
    "gridcolor": "@line",
    "linecolor": "@line",
    "zerolinecolor": "@line",
    "tickcolor": "@line",
    "ticks": "outside",
    "ticklen": 4,
    "automargin": True,
    "minexponent": 9,  # 1,000 and not 1k, in every language
    "separatethousands": True,
    "title": {"standoff": 10, "font": {"size": 13}},
}
LAYOUT: dict[str, Any] = {
    "font": {"family": FONT, "size": 13, "color": "@ink"},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "colorway": list(SERIES),
    # half of a label such as 10,000 stands right of the axis; Plotly leaves out one that has no room
    "margin": {"l": 8, "r": 24, "t": 12, "b": 8},
    "xaxis": _AXIS,
    "yaxis": _AXIS,
    "hoverlabel": {"bgcolor": "@soft", "bordercolor": "@line", "font": {"color": "@ink", "size": 13}},
    # at the top of the figure and not of its plot: there it would stay where it was when a window is resized
    "legend": {"orientation": "h", "y": 1, "yref": "container", "yanchor": "top", "x": 0, "title": {"text": ""}},
    "height": HEIGHT,
    "dragmode": False,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A Plotly figure with colour tokens. caption: the finding; alt: what a person who cannot see it should know.

    Numbers are kept as they were computed; the HTML report rounds them when it embeds a figure.
    """

    data: list[dict[str, Any]]
    layout: dict[str, Any] = field(default_factory=dict)
    caption: str = ""
    alt: str = ""
    width: int | None = None  # at most so many pixels; None: all there is


def paint(value: Any, palette: Palette) -> Any:
    """Replaces colour tokens by the colours of a palette, all the way down; arrays of numbers pass as they are."""
    if isinstance(value, str):
        return palette[value[1:]] if value[:1] == "@" and value[1:] in palette else value
    if isinstance(value, Mapping):
        return {k: paint(v, palette) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [paint(v, palette) for v in value]
    return value


def places_of(names: Sequence[str]) -> list[int]:
    """Places in HUES, DASHES and SYMBOLS: a listed system has one, every other name the next that is free."""
    free = iter(i for i in range(len(names) + len(SYSTEMS)) if i not in {SYSTEMS.get(n) for n in names})
    return [SYSTEMS[n] if n in SYSTEMS else next(free) for n in names]


def altair_settings(palette: Palette) -> dict[str, Any]:
    """The same look for Altair charts, as the `config` of a Vega-Lite chart."""
    words = {"labelFont": FONT, "titleFont": FONT, "labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": 400}
    inks = {"labelColor": palette["ink"], "titleColor": palette["ink"]}
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            **words,
            **inks,
            "gridColor": palette["line"],
            "domainColor": palette["line"],
            "tickColor": palette["line"],
            "labelOverlap": "greedy",
            "labelLimit": 150,
        },
        "header": {**words, **inks, "labelFontSize": 13},
        "legend": {**words, **inks, "orient": "top", "direction": "horizontal", "title": None},
        "title": {"font": FONT, "fontSize": 13, "fontWeight": 600, "color": palette["ink"], "anchor": "start"},
        "range": {"category": [palette[s[1:]] for s in ("@real", *SERIES)]},
    }
