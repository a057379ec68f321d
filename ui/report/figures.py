"""Figures of a comparison: map of pairs, two tables and their difference, overlays, distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.report import template
from ui.report.comparing import Pairs
from ui.shared.text import t
from ui.shared.theme import painted, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

Floats = NDArray[np.float64]
LONG = 18  # characters of a label on an axis
MOST_TICKS = 40
BAR = {
    "orientation": "h",
    "tickformat": ".0%",
    "thickness": 8,
    "len": 0.6,
    "x": 0,
    "xanchor": "left",
    "y": 1,
    "yanchor": "bottom",
    "nticks": 5,
}


def _scale() -> list[list[object]]:
    """From paper to accent: low differences fade into the page."""
    return painted(template.AMOUNT)


def _diverging() -> list[list[object]]:
    """Purple, paper, orange: fewer synthetic records, equal, more."""
    return painted(template.DIFFERENCE)


def short(label: str) -> str:
    """A label that fits on an axis."""
    return label if len(label) <= LONG else label[: LONG - 1] + "…"


def pair_map(pairs: Pairs, second: Pairs | None = None) -> go.Figure:
    """Heat map of pairwise TVD; with a second run, the first stands above the diagonal and the other below."""
    import plotly.graph_objects as go

    z = pairs.tvd.copy()
    if second is not None:
        lower = np.tril_indices(len(z), -1)
        z[lower] = second.tvd[lower]
    names = [short(n) for n in pairs.names]
    top = float(np.nanmax(z)) if np.isfinite(z).any() else 1.0
    sides = np.full(z.shape, "", dtype=object)
    if second is not None:
        sides[np.triu_indices(len(z), 1)] = " (A)"
        sides[np.tril_indices(len(z), -1)] = " (B)"
    out = go.Figure(
        go.Heatmap(
            z=z,
            x=names,
            y=names,
            customdata=sides,
            colorscale=_scale(),
            zmin=0,
            zmax=max(top, 0.01),
            xgap=1,
            ygap=1,
            hoverongaps=False,
            hovertemplate=t("map.hover"),
            colorbar=BAR | {"title": {"text": t("map.bar"), "side": "top", "font": {"size": 13}}},
        )
    )
    n = len(names)
    out.update_yaxes(range=[n - 0.5, -0.5], showgrid=False, ticks="", dtick=max(1, n // 40))
    out.update_xaxes(range=[-0.5, n - 0.5], showgrid=False, ticks="", tickangle=-60, dtick=max(1, n // 40))
    out.update_layout(height=int(min(780, max(360, 25 * n + 170))))
    return out


def clickable(pairs: Pairs, figure: go.Figure) -> go.Figure:
    """The map with an invisible marker on each cell: heat maps themselves cannot be selected."""
    import plotly.graph_objects as go

    names = [short(n) for n in pairs.names]
    cells = [(i, j) for i in range(len(names)) for j in range(len(names)) if i != j]
    figure.add_trace(
        go.Scatter(
            x=[names[j] for _, j in cells],
            y=[names[i] for i, _ in cells],
            customdata=[[i, j] for i, j in cells],
            mode="markers",
            marker={"size": 18, "opacity": 0, "symbol": "square"},
            hoverinfo="skip",
            showlegend=False,
            selected={"marker": {"opacity": 0.0}},
            unselected={"marker": {"opacity": 0.0}},
        )
    )
    return figure


def two_tables(
    real: Floats, synthetic: Floats, rows: list[str], columns: list[str], names: tuple[str, str]
) -> go.Figure:
    """Two-way tables as shares, on one axis and one scale.

    The colour follows the square root, so that one large cell hides no others.
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    titles = [t("word.real"), t("word.synthetic")]
    out = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=titles)
    top = float(max(real.max(), synthetic.max())) ** 0.5
    for i, z in enumerate((real, synthetic), start=1):
        words = [[[r, c, z[j, k]] for k, c in enumerate(columns)] for j, r in enumerate(rows)]
        out.add_trace(
            go.Heatmap(
                z=np.sqrt(z),
                customdata=words,
                colorscale=_scale(),
                zmin=0,
                zmax=top,
                showscale=False,
                hovertemplate=t("two.hover"),
            ),
            row=1,
            col=i,
        )
    _labels(out.layout.yaxis, rows, 14, reverse=True)
    out.layout.yaxis2.update(range=[len(rows) - 0.5, -0.5], showgrid=False, ticks="")
    for axis in (out.layout.xaxis, out.layout.xaxis2):
        _labels(axis, columns, 5)
        axis.update(title=names[1])
    out.layout.yaxis.update(title=names[0])
    out.update_annotations(font={"size": 13})
    out.update_layout(height=300, margin={"t": 26})
    return out


def difference(z: Floats, rows: list[str], columns: list[str], *, names: tuple[str, str]) -> go.Figure:
    """Synthetic minus real shares, cell by cell."""
    import plotly.graph_objects as go

    top = float(np.abs(z).max()) or 1e-9
    out = go.Figure(
        go.Heatmap(
            z=z,
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            customdata=[[[r, c] for c in columns] for r in rows],
            colorscale=_diverging(),
            zmin=-top,
            zmax=top,
            showscale=False,
            hovertemplate=t("two.hover_difference"),
        )
    )
    _labels(out.layout.yaxis, rows, 14, reverse=True)
    _labels(out.layout.xaxis, columns, 10)
    out.update_yaxes(title=names[0])
    out.update_xaxes(title=names[1])
    out.update_layout(height=290)
    return out


def _labels(axis: go.layout.XAxis, labels: list[str], most: int, *, reverse: bool = False) -> None:
    """Labels of a two-way table, so few that none overlap."""
    step = -(-len(labels) // most)
    ends = [len(labels) - 0.5, -0.5] if reverse else [-0.5, len(labels) - 0.5]
    axis.update(
        tickvals=list(range(0, len(labels), step)), ticktext=[short(w) for w in labels[::step]], range=ends,
        showgrid=False, ticks="", tickangle=0 if reverse else -60,
    )  # fmt: skip


def overlay(labels: list[str], series: list[tuple[str, Floats, str]]) -> go.Figure:
    """One-way shares of several tables side by side: (name, shares, colour)."""
    import plotly.graph_objects as go

    out = go.Figure()
    patterns = ("", "/", "x")
    for i, (name, shares, colour) in enumerate(series):
        if len(labels) <= MOST_TICKS:
            lines = {"shape": patterns[i % 3], "fillmode": "overlay", "fgcolor": palette().paper, "fgopacity": 0.45}
            marker = {"color": colour, "pattern": {**lines, "size": 6, "solidity": 0.2}}
            out.add_trace(go.Bar(x=labels, y=shares, name=name, marker=marker, hovertemplate=t("overlay.hover")))
        else:
            line = {"color": colour, "width": 1.8, "dash": ("solid", "dot", "dash")[i % 3], "shape": "hvh"}
            out.add_trace(
                go.Scatter(x=labels, y=shares, name=name, mode="lines", line=line, hovertemplate=t("overlay.hover"))
            )
    out.update_xaxes(type="category", nticks=20, showgrid=False)
    out.update_yaxes(title=t("overlay.y"), tickformat=".0%", rangemode="tozero")
    out.update_layout(barmode="group", bargap=0.25, legend={"y": 1.02, "yanchor": "bottom", "x": 0})
    return out


def spread(groups: list[tuple[str, Floats, float | None]]) -> go.Figure:
    """Distribution of TVD over the marginals of each order: every marginal a point, its floor a line."""
    import plotly.graph_objects as go

    colours = palette()
    out = go.Figure()
    for name, values, floor in groups:
        out.add_trace(
            go.Box(
                x=values,
                name=name,
                orientation="h",
                boxpoints="all" if len(values) <= 400 else False,
                jitter=0.5,
                pointpos=0,
                marker={"color": colours.accent, "size": 4, "opacity": 0.45},
                line={"color": colours.real, "width": 1.2},
                fillcolor="rgba(0,0,0,0)",
                hovertemplate=t("spread.hover"),
            )
        )
        if floor is not None:
            out.add_trace(
                go.Scatter(
                    x=[floor],
                    y=[name],
                    mode="markers",
                    marker={"symbol": "line-ns", "size": 34, "line": {"width": 2, "color": colours.warning}},
                    hovertemplate=t("spread.hover_floor"),
                )
            )
    out.update_xaxes(title=t("spread.x"), tickformat=".0%", rangemode="tozero")
    out.update_layout(showlegend=False, height=260)
    return out
