"""Several systems at one budget, one small figure a measure: hovering over a system marks it in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsyn_core.report.theme import LIGHT, Palette, altair_settings

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

    Args:
        measures: with values for the same systems.
        across: figures in a row.
        palette: colours.
        system: what a row is called in hover texts.
        mark: what the upright line is called there.
    """
    import altair as alt

    first = measures[0].values
    order = sorted(first, key=lambda s: first[s])
    over = alt.selection_point(name="over", fields=["system"], on="pointerover", empty=False)
    rows: list[dict[str, Any]] = []
    parts = []
    for k, m in enumerate(measures):
        rows += [{"measure": k, "system": s, "value": v, "mark": m.mark} for s, v in m.values.items()]
        ends = [*m.values.values(), *([] if m.mark is None else [m.mark])]
        low, high = min(0.0, *ends), max(0.0, *ends)
        room = ROOM * ((high - low) or 1.0)
        domain = [low - room / 2, high + room]
        x = alt.X("value:Q", title=None, scale=alt.Scale(domain=domain, nice=False),
                  axis=alt.Axis(format=m.format, tickCount=4, grid=False))  # fmt: skip
        tip = [alt.Tooltip("system:N", title=system), alt.Tooltip("value:Q", title=m.name, format=m.format)]
        y = alt.Y(
            "system:N", title=None, sort=order, axis=alt.Axis(ticks=False, domain=False, labelLimit=96, labelPadding=6)
        )
        here = alt.Chart(alt.NamedData(name="systems"), width=WIDE, height={"step": ROW}).transform_filter(
            f"datum.measure == {k}"
        )
        stems = here.mark_bar(size=2, color=palette["line"]).encode(x=x, y=y)
        colour = alt.when(over).then(alt.value(palette["warning"])).otherwise(alt.value(palette["accent"]))
        size = alt.when(over).then(alt.value(170)).otherwise(alt.value(90))
        dots = (
            here.mark_circle(opacity=1)
            .encode(x=x, y=y, color=colour, size=size, tooltip=tip)
            .properties(name=f"measure_{k}")
        )
        layers = [stems, dots]
        if m.mark is not None:
            line = here.mark_rule(strokeDash=[3, 3], strokeWidth=1.6, color=palette["real"])
            layers.append(line.encode(x="mark:Q", tooltip=[alt.Tooltip("mark:Q", title=mark, format=m.format)]))
        parts.append(alt.layer(*layers, title=m.name))
    chart = alt.concat(*parts, columns=across, spacing=GAP).configure(**altair_settings(palette))
    # one selection shared by all figures is named here, for Altair warns when the same one is added to each of them
    views = [f"measure_{k}" for k in range(len(measures))]
    shared = {"params": [over.param.to_dict() | {"views": views}], "datasets": {"systems": rows}}
    return dict(chart.to_dict()) | shared
