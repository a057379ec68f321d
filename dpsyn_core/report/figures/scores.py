"""Figures of scores: incomes and sizes by group, Lorenz curves, range queries, records in a plane, several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.report.figures.labels import axis_labels, plain_text
from dpsyn_core.report.theme import DASHES, HEIGHT, SERIES, SHARE, SYMBOLS, Figure
from dpsyn_core.report.wording import ENGLISH, Words, dated, local

if TYPE_CHECKING:
    from dpsyn_core.evaluate import GroupError

Floats = NDArray[np.float64]
MOST_WORDS = 24  # values of an ordered category that are written on an axis
LONG = 10_000  # from here on numbers have marks between their thousands
FEW_RANKS = 5  # of more values than that
CROWDED = 1e-5  # smallest share from which on every power of ten has room for its label


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
    data: list[dict[str, Any]] = [
        {
            **base,
            "name": words["fresh"],
            "x": [r.real for r in rows],
            "y": [r.floor for r in rows],
            "text": [plain_text(r.value) for r in rows],
            "marker": {"symbol": "line-ew", "size": 12, "line": {"width": 2, "color": "@real"}},
        }
    ]
    for k, (table, found) in enumerate(tables.items()):
        data.append(
            {
                **base,
                "name": plain_text(table),
                "x": [r.real for r in found],
                "y": [r.error for r in found],
                "text": [plain_text(r.value) for r in found],
                "marker": {"size": 8, "symbol": SYMBOLS[k % 6], "color": SERIES[k % 6]},
            }
        )
    sizes = [r.real for r in rows if r.real > 0]
    # 1, 2 and 5 times each power of ten; groups of about one size may have none of these between them
    ticks = {"dtick": "D2"} if sizes and max(sizes) >= 5 * min(sizes) else {}
    layout = {
        "xaxis": {"type": "log", "title": {"text": words["groups_size"]}, "tickformat": ",~r", **ticks},
        "yaxis": {"title": {"text": words["groups_error"]}, "tickformat": SHARE, "rangemode": "tozero"},
    }
    return Figure(
        data=data, layout=layout, caption=finding, alt=words["groups_alt"].format(column=column, finding=finding)
    )


def lorenz(real: Sequence[float], tables: Mapping[str, Sequence[float]], income: str, words: Words = ENGLISH) -> Figure:
    """Lorenz curves: what share of all income the poorest x % hold."""
    at = np.linspace(0, 1, len(real)).round(4)
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [0, 1],
            "y": [0, 1],
            "name": words["all_equal"],
            "hoverinfo": "skip",
            "line": {"color": "@line", "width": 1.5},
        },
        _curve(words["real"], at, real, "@real", "solid", words),
    ]
    data += [_curve(t, at, y, SERIES[k % 6], DASHES[(k + 1) % 6], words) for k, (t, y) in enumerate(tables.items())]
    half = len(real) // 2
    others = ", ".join(
        words["lorenz_side"].format(share=local(f"{y[half]:.1%}", words), table=t) for t, y in tables.items()
    )
    caption = words["lorenz_finding"].format(real=local(f"{real[half]:.1%}", words), income=income, others=others)
    layout = {
        "xaxis": {"title": {"text": words["poorest"]}, "tickformat": SHARE},
        "yaxis": {"title": {"text": plain_text(words["of_income"].format(income=income))}, "tickformat": SHARE},
    }
    return Figure(data=data, layout=layout, caption=caption, alt=words["lorenz_alt"].format(finding=caption))


def _curve(name: str, x: Floats, y: Sequence[float], colour: str, dash: str, words: Words) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": np.asarray(y),
        "name": plain_text(name),
        "line": {"color": colour, "width": 2, "dash": dash},
        "hovertemplate": words["lorenz_hover"],
    }


def dots(
    rows: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    title: str,
    tickformat: str,
    caption: str,
    words: Words = ENGLISH,
) -> Figure:
    """One row a group or model: the reference in grey, each synthetic table beside it, joined by a line.

    Args:
        rows: names of groups or models.
        series: values by row of each table, the reference first; None where there is none.
        title: of the axis.
        tickformat: of the values in hover texts.
        caption: the finding.
        words: of the description.
    """
    y = axis_labels(rows, 28, words=words)
    values = np.array([[np.nan if v is None else v for v in s] for s in series.values()], dtype=float)
    shown = np.flatnonzero(np.isfinite(values).sum(axis=0) > 1) if len(values) else np.array([], dtype=int)
    ends: list[float | None] = []
    at: list[str | None] = []
    for i in shown:  # one trace for all lines: a gap between two rows
        ends += [float(np.nanmin(values[:, i])), float(np.nanmax(values[:, i])), None]
        at += [y[i], y[i], None]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": ends,
            "y": at,
            "hoverinfo": "skip",
            "showlegend": False,
            "line": {"color": "@line", "width": 2},
        }
    ]
    for k, (name, row) in enumerate(zip(series, values, strict=True)):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain_text(name),
                "x": row,
                "y": y,
                "marker": {"color": "@real" if k == 0 else SERIES[(k - 1) % 6], "size": 10, "symbol": SYMBOLS[k % 6]},
                "hovertemplate": f"%{{y}}: %{{x:{tickformat}}}<extra>%{{fullData.name}}</extra>",
            }
        )
    layout = {
        "xaxis": {"title": {"text": plain_text(title)}, "tickformat": ",~r", "nticks": 5},
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": y,
            "showgrid": False,
            "dtick": 1,
            "range": [len(rows) - 0.4, -0.6],
        },
        "height": 110 + 26 * max(3, len(rows)),
    }
    alt = words["dots_alt"].format(title=title, finding=caption)
    return Figure(data=data, layout=layout, caption=caption, alt=alt)


def range_scatter(real: Floats, tables: Mapping[str, Floats], smallest: float, words: Words = ENGLISH) -> Figure:
    """Frequencies of random range queries, real against synthetic, on log axes; 0 stands at half the smallest."""
    low = smallest / 2
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [low, 1],
            "y": [low, 1],
            "name": words["equal"],
            "hoverinfo": "skip",
            "line": {"color": "@line", "width": 1.5},
            "showlegend": False,
        }
    ]
    for k, (table, got) in enumerate(tables.items()):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain_text(table),
                "x": np.maximum(real, low),
                "y": np.maximum(got, low),
                "hovertemplate": words["query_hover"],
                "marker": {"color": SERIES[k % 6], "size": 5, "opacity": 0.45, "symbol": SYMBOLS[k % 6]},
            }
        )
    off = "; ".join(
        words["query_side"].format(table=t, error=local(f"{np.abs(g - real).mean():.2%}", words))
        for t, g in tables.items()
    )
    axis = {"type": "log", "tickformat": "~p", "dtick": 1 if low >= CROWDED else 2}
    layout = {
        "xaxis": {**axis, "title": {"text": words["real_share"]}},
        "yaxis": {**axis, "title": {"text": words["synthetic_share"]}},
        "height": HEIGHT + 40,
    }
    caption = words["query_finding"].format(count=len(real), sides=off)
    return Figure(data=data, layout=layout, caption=caption, alt=words["query_alt"].format(finding=caption))


def records_plot(
    names: tuple[str, str],
    tables: Mapping[str, tuple[Floats, Floats]],
    values: Mapping[str, Sequence[str]],
    words: Words = ENGLISH,
) -> Figure:
    """Records as dots in the plane of two columns, for boxes to be dragged on. Shows records: for the owner only.

    Args:
        names: the columns across and up.
        tables: numbers across and up of each table, the real one first.
        values: of dates and ordered categories that stand on an axis by their rank, their values in words.
        words: of the description.
    """
    data: list[dict[str, Any]] = []
    for k, (table, (x, y)) in enumerate(tables.items()):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": plain_text(table),
                "x": x,
                "y": y,
                "hoverinfo": "skip",
                "marker": {
                    "color": "@real" if k == 0 else SERIES[(k - 1) % 6],
                    "size": 5,
                    "opacity": 0.55,
                    "symbol": "circle" if k else "circle-open",
                },
                "unselected": {"marker": {"opacity": 0.25}},
            }
        )
    axes = []
    for i, name in enumerate(names):
        drawn = [table[i] for table in tables.values()]
        axis: dict[str, Any] = {"title": {"text": plain_text(name)}, "tickformat": ",~r"}
        if np.nanmax(np.abs(np.concatenate([*drawn, [0.0]]))) < LONG:
            axis["tickformat"] = "~r"  # years have no mark between thousands
        if name in values:
            ticks = _ranks(len(values[name]), drawn)
            labels = axis_labels([dated(values[name][k], words) for k in ticks], words=words)
            axis |= {"tickvals": ticks, "ticktext": labels}
        axes.append(axis)
    line = {"line": {"color": "@warning", "dash": "solid"}}
    layout = {"xaxis": axes[0], "yaxis": axes[1], "newselection": line, "height": 420}
    return Figure(data=data, layout=layout, alt=words["records_alt"].format(x=names[0], y=names[1]))


def _ranks(values: int, drawn: Sequence[Floats]) -> list[int]:
    """The ranks that an axis names: all of them, or of many a few from the smallest to the largest that is drawn."""
    if values <= MOST_WORDS:
        return list(range(values))
    there = np.concatenate(drawn)
    there = there[~np.isnan(there)]
    low, high = (there.min(), there.max()) if there.size else (0, values - 1)
    return [int(k) for k in np.unique(np.linspace(low, high, FEW_RANKS).round())]


def runs_plot(runs: Mapping[str, Sequence[float]], words: Words = ENGLISH) -> Figure:
    """Error of several runs by system and budget: a dot a run, a bar from the best to the worst of them."""
    names = sorted(runs, key=lambda n: min(runs[n]))
    y = axis_labels(names, 28, words=words)
    data: list[dict[str, Any]] = []
    for name, label in zip(names, y, strict=True):
        values = np.asarray(runs[name])
        data += [
            {
                "type": "scatter",
                "mode": "lines",
                "x": [values.min(), values.max()],
                "y": [label] * 2,
                "opacity": 0.25,
                "line": {"color": "@accent", "width": 8},
                "hoverinfo": "skip",
                "showlegend": False,
            },
            {
                "type": "scatter",
                "mode": "markers",
                "x": values,
                "y": [label] * len(values),
                "showlegend": False,
                "marker": {"color": "@accent", "size": 9},
                "hovertemplate": words["run_hover"],
            },
        ]
    layout = {
        "xaxis": {"title": {"text": words["mean_pairs"]}, "tickformat": SHARE, "rangemode": "tozero"},
        "yaxis": {"type": "category", "range": [len(names) - 0.4, -0.6], "showgrid": False, "dtick": 1},
        "height": 90 + 44 * len(names),
    }
    caption = (
        words["runs_finding"].format(name=names[0], tvd=local(f"{min(runs[names[0]]):.1%}", words)) if names else ""
    )
    return Figure(data=data, layout=layout, caption=caption, alt=caption)
