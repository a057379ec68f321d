"""A figure as plotly draws it: that it accepts every property of a figure."""

import plotly.graph_objects as go

from dpsyn_core.report.theme import LAYOUT, paint


def to_plotly(figure, palette):
    """The figure as a plotly Figure in the colours of a palette."""
    layout = paint(figure.layout, palette) | {"template": {"layout": paint(LAYOUT, palette)}}
    return go.Figure(data=paint(figure.data, palette), layout=layout)
