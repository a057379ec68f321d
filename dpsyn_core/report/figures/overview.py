"""All columns at a glance: small multiples of shares, sorted by difference, with a brush over the differences.

Altair draws them, for its views share selections: a brush over the strip of differences chooses whose panels are
shown, a click on a panel names its column. Shares of the real table are counts of it: for the owner only.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.report.figures.labels import said_bins
from dpsyn_core.report.theme import LIGHT, SERIES, Palette, altair_settings, paint
from dpsyn_core.report.wording import ENGLISH, Words, local

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
CHOSEN, BRUSH = "chosen", "brush"  # names of the selections
PANELS, COLUMNS = "panels", "columns"  # names of the data: a row a value and table, a row a column
PLACE = re.compile(r'"@table(\d+)"')  # of the name of a table in a document that is kept
BREAK = "\n"  # where a title goes on in the next line
MOST = 24  # panels that the brush covers at first
PANEL, TALL, GAP, STRIP = 138, 56, 14, 44  # pixels: width and height of a panel, between panels, height of the strip
LONG = 19  # characters of a column's name above its panel
BESIDE = 20  # of the name and its difference, in one line; longer ones stand in two


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One column: its values in words, and their shares by table, the first table as bars, the others as lines."""

    name: str
    labels: Sequence[str]
    shares: Mapping[str, Floats]
    difference: float | None = None


def frame(panels: Sequence[Panel], said: Words = ENGLISH) -> pd.DataFrame:
    """One row a value and table: column, its place and title, the value in words, and its share."""
    import pandas as pd

    parts, titles = [], Counter[str]()
    between = "  " if all(len(title(p, said)) <= BESIDE for p in panels) else BREAK
    for place, p in enumerate(panels):
        words, above = said_bins(p.labels, said), title(p, said, between)
        above += "\u200b" * titles[above]  # panels are told apart by what stands above them
        titles[above.rstrip("\u200b")] += 1
        for k, (table, share) in enumerate(p.shares.items()):
            parts.append(
                pd.DataFrame(
                    {
                        "column": p.name,
                        "place": place,
                        "title": above,
                        "value": words,
                        "position": np.arange(len(words)),
                        "table": table,
                        "series": k,
                        "share": np.asarray(share, dtype=float),
                        "difference": 0.0 if p.difference is None else p.difference,
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def title(panel: Panel, words: Words = ENGLISH, between: str = "  ") -> str:
    """What stands above a panel; between: what stands between name and difference."""
    name = panel.name if len(panel.name) <= LONG else panel.name[: LONG - 1] + "…"
    return name if panel.difference is None else f"{name}{between}{local(f'{panel.difference:.1%}', words)}"


def glance(
    panels: Sequence[Panel], *, across: int = 3, palette: Palette = LIGHT, selects: bool = True, words: Words = ENGLISH
) -> dict[str, Any]:
    """Small multiples of columns as a Vega-Lite document, in the order given.

    Args:
        panels: columns, those that differ most first.
        across: panels in a row.
        palette: colours.
        selects: a click on a panel selects its column, in the selection named by CHOSEN.
        words: of axes and hover texts.

    Returns:
        The strip of differences above the panels where columns have differences, else the panels alone. Neither the
        document nor its data is checked here: tests check the former, and the latter would take seconds.
    """
    data = frame(panels, words)
    tables = list(dict.fromkeys(data["table"]))
    datasets = {PANELS: data}
    if compared := all(p.difference is not None for p in panels):
        datasets[COLUMNS] = data.drop_duplicates("column")
    columns = len(panels) if compared else None
    text = _document(len(tables), columns, across, selects, tuple(palette.items()), tuple(words.items()))
    document: dict[str, Any] = json.loads(PLACE.sub(lambda found: json.dumps(tables[int(found[1])]), text))
    return document | {"datasets": {name: rows.to_dict("records") for name, rows in datasets.items()}}


@lru_cache(maxsize=32)
def _document(
    tables: int,
    columns: int | None,
    across: int,
    selects: bool,
    colours: tuple[tuple[str, str], ...],
    said: tuple[tuple[str, str], ...],
) -> str:
    """The document of `glance` without data, as JSON; Altair takes a tenth of a second for it, so it is kept.

    Args:
        tables: how many; `PLACE` finds where their names stand.
        columns: how many have differences; None: none has.
        across, selects: as of `glance`.
        colours, said: its palette and words, as pairs.
    """
    import altair as alt

    palette, words = dict(colours), dict(said)
    chosen = alt.selection_point(name=CHOSEN, fields=["column"], on="click", clear="dblclick", toggle=False)
    chart = _panels([f"@table{k}" for k in range(tables)], across, palette, chosen if selects else None, words)
    if columns is not None:
        first = {"value": {"x": [-0.5, MOST - 0.5]}} if columns > MOST else {}
        brush = alt.selection_interval(name=BRUSH, encodings=["x"], mark=_mark(palette), **first)
        strip = _strip(columns, across, palette, chosen if selects else None, brush, words)
        chart = alt.vconcat(strip, chart.transform_filter(brush), spacing=GAP).resolve_scale(color="independent")
    document = dict(chart.configure(**altair_settings(palette), aria=False).to_dict(validate=False))
    # the whole figure has words of its own; those of single marks would be hundreds, and some marks have none
    document["config"]["lineBreak"] = BREAK
    document["config"]["mark"] = document["config"].get("mark", {}) | {"aria": False}
    return json.dumps(document)


def _mark(palette: Palette) -> dict[str, Any]:
    return {"fill": palette["accent"], "fillOpacity": 0.12, "stroke": palette["accent"], "strokeOpacity": 0.6}


def _strip(count: int, across: int, palette: Palette, chosen: Any, brush: Any, words: Words) -> Any:
    """A bar a column, as tall as it differs."""
    import altair as alt

    colour = alt.value(palette["accent"])
    if chosen is not None:
        colour = alt.when(chosen, empty=False).then(alt.value(palette["warning"])).otherwise(colour)
    width, title = across * PANEL + (across - 1) * GAP, alt.Title(words["strip_title"], fontWeight=400)
    return (
        alt.Chart(alt.NamedData(name=COLUMNS), width=width, height=STRIP, title=title)
        .mark_bar(size=max(1.0, 0.8 * width / count))
        .encode(
            x=alt.X("place:Q", axis=None, scale=alt.Scale(domain=[-0.5, count - 0.5], nice=False)),
            y=alt.Y("difference:Q", title=None, axis=alt.Axis(format="~%", tickCount=2, grid=False)),
            color=colour,
            tooltip=[
                alt.Tooltip("column:N", title=words["column"]),
                alt.Tooltip("difference:Q", title=words["tvd"], format=".1%"),
            ],
        )
        .add_params(brush)
    )


def _panels(tables: list[str], across: int, palette: Palette, chosen: Any, words: Words) -> Any:
    """Bars of the first table, and a line at the share of each other one."""
    import altair as alt

    colours = paint(["@real", *SERIES][: len(tables)], palette)
    tip = [
        alt.Tooltip("column:N", title=words["column"]),
        alt.Tooltip("value:N", title=words["value"]),
        *([alt.Tooltip("table:N", title=words["table"])] if len(tables) > 1 else []),
        alt.Tooltip("share:Q", title=words["shares"], format=".2%"),
    ]
    cursor = "pointer" if chosen is not None else "default"
    x = alt.X("position:O", axis=None, scale=alt.Scale(paddingInner=0.08, paddingOuter=0))
    y = alt.Y("share:Q", axis=None, scale=alt.Scale(domainMin=0, nice=False))
    legend = {} if len(tables) > 1 else {"legend": None}
    colour = alt.Color("table:N", sort=tables, scale=alt.Scale(domain=tables, range=colours), **legend)
    base = alt.Chart().encode(x=x, y=y, color=colour, tooltip=tip)
    ground = (
        alt.Chart()
        .transform_filter("datum.position == 0 && datum.series == 0")
        .mark_rect(cursor=cursor)
        .encode(x=alt.value(0), x2=alt.value(PANEL), y=alt.value(0), y2=alt.value(TALL))
    )
    if chosen is None:
        ground = ground.encode(color=alt.value(palette["soft"]))
    else:
        here = alt.when(chosen, empty=False).then(alt.value(palette["line"])).otherwise(alt.value(palette["soft"]))
        ground = ground.encode(color=here).add_params(chosen)  # clicks on marks of the other layers count as well
    bars = base.transform_filter("datum.series == 0").mark_bar(opacity=0.55, cursor=cursor)
    lines = base.transform_filter("datum.series > 0").mark_tick(orient="horizontal", thickness=2, cursor=cursor)
    return (
        alt.layer(ground, bars, lines, data=alt.NamedData(name=PANELS), width=PANEL, height=TALL)
        .facet(
            facet=alt.Facet(
                "title:N",
                title=None,
                sort=alt.SortField("place"),
                header=alt.Header(labelAnchor="start", labelPadding=3, labelLimit=PANEL),
            ),
            columns=across,
            spacing=GAP,
        )
        .resolve_scale(x="independent", y="independent")
    )
