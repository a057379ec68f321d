"""Traces of Plotly figures as the house draws them, so that a chart names only what is its own."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Figure: TypeAlias = Any  # of Plotly, which has no types; it is loaded when the first figure is made
Trace = dict[str, Any]


def chart(*traces: Trace, layout: Mapping[str, Any] | None = None) -> Figure:
    """A figure of these traces; it is dressed where it is shown."""
    from plotly.graph_objects import Figure as Drawn

    return Drawn(data=list(traces), layout=layout)


def curve(
    x: Any, y: Any, name: str | None, colour: str, dash: str = "solid", *, width: float = 2.4, **more: Any
) -> Trace:
    """A line; `more` is what else Plotly knows of a scatter trace."""
    return (
        {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name}
        | more
        | {"line": {"color": colour, "dash": dash, "width": width}}
    )


def marks(
    x: Any, y: Any, name: str | None, colour: Any, symbol: Any = "circle", *, size: float = 9, **more: Any
) -> Trace:
    """Marks without a line."""
    marker = {"color": colour, "symbol": symbol, "size": size}
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "name": name, "marker": marker} | more


def bars(x: Any, y: Any, name: str | None, colour: Any, **more: Any) -> Trace:
    """Bars, upright unless `orientation` says otherwise."""
    return {"type": "bar", "x": x, "y": y, "name": name, "marker": {"color": colour}} | more


def band(x: Any, low: Any, high: Any, name: str | None, colour: str, **more: Any) -> Trace:
    """The area between two curves; in the legend where it has a name."""
    import numpy as np

    return {
        "type": "scatter", "x": np.concatenate([x, x[::-1]]), "y": np.concatenate([high, low[::-1]]), "name": name,
        "fill": "toself", "fillcolor": colour, "opacity": 0.18, "line": {"width": 0}, "hoverinfo": "skip",
        "showlegend": name is not None,
    } | more  # fmt: skip


def squares(z: Any, x: Any, y: Any, scale: Any, *, gap: int = 1, **more: Any) -> Trace:
    """A heat map whose cells stand apart, without a key to its colours."""
    return {
        "type": "heatmap", "z": z, "x": x, "y": y, "colorscale": scale, "showscale": False, "xgap": gap, "ygap": gap
    } | more  # fmt: skip
