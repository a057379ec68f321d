"""Several runs side by side: the error of every finished run by system and epsilon, with the band over its repeats."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import streamlit as st

from ui.report import comparing
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import percent, t
from ui.shared.theme import note, palette, section, show


def panel(space: Workspace, runs: list[Job]) -> None:
    """One row a system and epsilon; dots are runs, the bar reaches from the best to the worst of them."""
    import plotly.graph_objects as go

    section(t("several.title"))
    groups: dict[tuple[str, float], list[float]] = defaultdict(list)
    for job in runs:
        if results.same_table(space, job):
            comparison = comparing.of(space, job)
            if comparison is not None and len(comparison.domain) > 1:
                groups[(job.spec.method, job.spec.epsilon)].append(comparing.pairs(space, job, comparison).mean)
    if not groups:
        note(t("several.none"))
        return
    colours = palette()
    order = sorted(groups, key=lambda g: min(groups[g]))
    figure = go.Figure()
    rows = []
    for method, epsilon in order:
        values = groups[method, epsilon]
        name = t("run.label", method=method, epsilon=f"{epsilon:g}")
        figure.add_trace(
            go.Scatter(x=[min(values), max(values)], y=[name] * 2, mode="lines", hoverinfo="skip", showlegend=False,
                       line={"color": colours.accent, "width": 8}, opacity=0.25)
        )  # fmt: skip
        figure.add_trace(
            go.Scatter(x=values, y=[name] * len(values), mode="markers", showlegend=False,
                       marker={"color": colours.accent, "size": 9}, hovertemplate="%{x:.2%}<extra></extra>")
        )  # fmt: skip
        rows.append({t("several.run"): name, t("several.count"): len(values), t("several.best"): percent(min(values)),
                     t("several.worst"): percent(max(values)), t("several.band"): _band(values)})  # fmt: skip
    figure.update_xaxes(title=t("several.x"), tickformat=".1%", rangemode="tozero")
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    best = t("several.finding", name=rows[0][t("several.run")], tvd=rows[0][t("several.best")])
    show(figure, alt=best, key="several", height=80 + 44 * len(order))
    note(best)
    note(t("several.charged"))
    st.dataframe(rows, hide_index=True, key="several_table", alt=best)


def _band(values: list[float]) -> str:
    """Mean and 95 % interval of the mean over repeats; blank for a single run."""
    if len(values) < 2:
        return ""
    from scipy.stats import t as student

    half = float(student.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{percent(float(np.mean(values)))} ± {percent(half)}"
