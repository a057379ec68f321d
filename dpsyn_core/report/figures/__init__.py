"""Figures, computed once from released values or the owner's scores, and drawn by the HTML report and by the app."""

from dpsyn_core.report.figures.columns import distribution, overlay, released_overlay
from dpsyn_core.report.figures.labels import axis_labels, plain_text, short_bins
from dpsyn_core.report.figures.pairs import difference, pair_map, panel, panel_layout, shown, two_tables
from dpsyn_core.report.figures.scores import dots, group_errors, lorenz, range_scatter, records_plot, runs_plot
from dpsyn_core.report.theme import Figure

__all__ = [
    "Figure",
    "axis_labels",
    "difference",
    "distribution",
    "dots",
    "group_errors",
    "lorenz",
    "overlay",
    "pair_map",
    "panel",
    "panel_layout",
    "plain_text",
    "range_scatter",
    "records_plot",
    "released_overlay",
    "runs_plot",
    "short_bins",
    "shown",
    "two_tables",
]
