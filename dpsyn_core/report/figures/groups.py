"""The figure of small groups: the error of each group by its size, against what a fresh sample of its people has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.metrics.small_groups import GroupError
from dpsyn_core.report.figures.labels import plain_text
from dpsyn_core.report.theme import SERIES, SHARE, SYMBOLS, Figure
from dpsyn_core.report.words import ENGLISH, Words


def group_errors(
    column: str, tables: Mapping[str, Sequence[GroupError]], finding: str, words: Words = ENGLISH
) -> Figure:
    """A dot a group and table, on a logarithmic axis of sizes; grey marks: a fresh sample.

    Args:
        column: whose values are the groups.
        tables: the groups by synthetic table, with the same real one.
        finding: the sentence on small and large groups.
        words: of titles and hover texts.
    """
    rows = next(iter(tables.values()))
    base: dict[str, Any] = {"type": "scatter", "mode": "markers", "hovertemplate": words["groups_hover"]}
    data: list[dict[str, Any]] = [{
        **base, "name": words["fresh"], "x": [r.real for r in rows], "y": [r.floor for r in rows],
        "text": [plain_text(r.value) for r in rows],
        "marker": {"symbol": "line-ew", "size": 12, "line": {"width": 2, "color": "@real"}},
    }]  # fmt: skip
    for k, (table, found) in enumerate(tables.items()):
        data.append({
            **base, "name": plain_text(table), "x": [r.real for r in found], "y": [r.error for r in found],
            "text": [plain_text(r.value) for r in found],
            "marker": {"size": 8, "symbol": SYMBOLS[k % 6], "color": SERIES[k % 6]},
        })  # fmt: skip
    layout = {
        "xaxis": {"type": "log", "title": {"text": words["groups_size"]}, "tickformat": ",~r", "dtick": "D2"},
        "yaxis": {"title": {"text": words["groups_error"]}, "tickformat": SHARE, "rangemode": "tozero"},
    }
    return Figure(
        data=data, layout=layout, caption=finding, alt=words["groups_alt"].format(column=column, finding=finding)
    )
