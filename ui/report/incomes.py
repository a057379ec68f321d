"""Incomes: Gini index and pay gap by group, real and synthetic, with their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import MetricError
from ui.report.look import Look, look
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import capital, number, sentence, t
from ui.shared.theme import facts, note, palette, section, show

if TYPE_CHECKING:
    import plotly.graph_objects as go


def panel(space: Workspace, runs: list[Job], view: Look) -> None:
    """Roles first, then the two quantities by group."""
    roles = _roles(view)
    chosen = look(space, runs, **roles)
    if chosen is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        section(t("incomes.gini"))
        _quantity(chosen, "gini", "gini")
    with right:
        section(capital(t("incomes.gap")))
        _quantity(chosen, "pay-gap", "gap")


def _roles(view: Look) -> dict[str, Any]:
    c = view.first.comparison
    guessed = c.resolved
    names = list(c.domain.names)
    readable = [n for n in names if c.readable(n)]
    columns = st.columns(4)
    out: dict[str, Any] = {}
    for column, (role, options, start) in zip(
        columns,
        (("income", readable, guessed.income), ("group", names, guessed.group), ("split", names, guessed.split)),
        strict=False,
    ):
        if not options:
            continue
        with column:
            at = options.index(start) if start in options else 0
            out[role] = st.selectbox(t(f"incomes.{role}"), options, index=at, key=f"role_{role}")
    with columns[3]:
        limit = st.number_input(
            t("incomes.limit"), value=guessed.not_applicable, key="role_limit", help=t("incomes.limit_help"),
            placeholder=t("incomes.none"), format="%g",
        )  # fmt: skip
        out["not_applicable"] = limit
    return out


def _quantity(view: Look, metric: str, what: str) -> None:
    got = view.score(view.first, metric)
    if isinstance(got, MetricError):
        st.warning(sentence(got))
        return
    rows = list(got.details["groups"])
    if metric == "gini":
        overall = got.details["overall"]
        facts([(f"{overall['synthetic']:.3f}", t("incomes.gini_synthetic"),
                t("incomes.gini_real", real=f"{overall['real']:.3f}"))])  # fmt: skip
    else:
        facts([(f"{got.value:.2f}", t("incomes.rank"), t("incomes.sides", a=got.details["sides"][0],
                b=got.details["sides"][1]))])  # fmt: skip
    others = [(s, view.score(s, metric)) for s in view.sides[1:]]
    second = [(s.colour, o.details["groups"], view.name(s)) for s, o in others if not isinstance(o, MetricError)]
    show(_dumbbell(rows, second, what), alt=t("incomes.alt", what=t(f"incomes.{what}"), words=got.sentence),
         key=f"income_{what}", height=max(240, 26 * len(rows) + 90))  # fmt: skip
    note(got.sentence)
    table = [
        {t("incomes.column_group"): r["group"], t("word.real"): _round(r[f"{what}_real"], what),
         t("word.synthetic"): _round(r[f"{what}_synthetic"], what)}
        for r in rows
    ]  # fmt: skip
    with st.expander(t("incomes.table")):
        st.dataframe(table, hide_index=True, key=f"income_table_{what}", alt=t("incomes.table"))


def _round(value: float | None, what: str) -> float | None:
    return None if value is None else round(value, 3 if what == "gini" else 1)


def _dumbbell(rows: list[dict[str, Any]], second: list[tuple[str, Any, str]], what: str) -> go.Figure:
    """Groups in the order of the real quantity; a line joins the real and the synthetic value."""
    import plotly.graph_objects as go

    colours = palette()
    known = sorted((r for r in rows if r[f"{what}_real"] is not None), key=lambda r: r[f"{what}_real"])
    names = [r["group"] for r in known]
    out = go.Figure()
    for r in known:
        if r[f"{what}_synthetic"] is not None:
            out.add_trace(
                go.Scatter(
                    x=[r[f"{what}_real"], r[f"{what}_synthetic"]], y=[r["group"]] * 2, mode="lines",
                    line={"color": colours.line, "width": 2}, hoverinfo="skip", showlegend=False,
                )
            )  # fmt: skip
    series = [
        (t("word.real"), [r[f"{what}_real"] for r in known], colours.real, "circle"),
        (t("word.synthetic"), [r[f"{what}_synthetic"] for r in known], colours.synthetic, "diamond"),
    ]
    for colour, other, label in second:
        found = {r["group"]: r[f"{what}_synthetic"] for r in other}
        series.append((label, [found.get(n) for n in names], colour, "square"))
    for label, values, colour, symbol in series:
        out.add_trace(
            go.Scatter(
                x=values, y=names, name=label, mode="markers", marker={"color": colour, "size": 9, "symbol": symbol},
                hovertemplate="%{y}: %{x:,.3~g}<extra>" + label + "</extra>",
            )
        )  # fmt: skip
    out.update_xaxes(title=t(f"incomes.{what}"))
    out.update_yaxes(type="category", showgrid=False, title=number(len(names)) + " " + t("incomes.groups"))
    out.update_layout(legend={"y": 1.02, "yanchor": "bottom"})
    return out
