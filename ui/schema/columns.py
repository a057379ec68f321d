"""Columns and their cells: a list with problems first, and the chosen one drawn as bars of equal height, with noise.

No count of a record is looked at: each bar is the share of a cell if all were equally full, and the band on it is the
noise of the budget that is chosen on the Privacy page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.privacy import Budget, Unit
from dpsyn_core.report import axis_labels
from ui.privacy import noise, plan
from ui.schema import editor
from ui.schema.rows import READ_FROM_DATA, changed
from ui.shared.charts import Figure, bars, chart
from ui.shared.state import Workspace
from ui.shared.text import amount, counted, figure_words, literal, number, percent, t
from ui.shared.theme import note, palette, section, show

if TYPE_CHECKING:
    from ui.schema.rows import Row

TALL = 430  # pixels of the list, which scrolls
WRAPPED = 22  # letters of a name in a line of the list
ALONG = 60  # cells up to which each has a bar; the axis names them
TICKS = 4  # stretches of the axis of more cells, whose ends are named
HEIGHT = 230


def panel(space: Workspace) -> None:
    """Both sides."""
    schema = space.schema
    rows = {row.name: row for row in listed(space)}
    if schema is None or not rows:
        return
    names = sorted(rows, key=lambda n: ready(rows[n]))  # stable: those with a problem stand first
    marks = {n: "✓" if ready(row) else "⚠" for n, row in rows.items()}
    left, right = st.columns([3, 8], gap="large")
    lines = sum(1 + len(n) // WRAPPED for n in names)
    drawn = {a.name for a in schema.coded}
    first = next((i for i, n in enumerate(names) if n in drawn or not ready(rows[n])), 0)
    with left, st.container(height=min(TALL, 24 * lines + 16), border=False, key="columns_list"):
        words: dict[str, Any] = {"format_func": lambda n: f"{marks[n]} {literal(n)}", "label_visibility": "collapsed"}
        key = editor.field_key(space, "schema_preview")
        name = st.radio(t("schema.preview"), names, index=first, key=key, persist_state="session", **words)
    with right:
        _cells(space, rows[name])


def listed(space: Workspace) -> list[Row]:
    """The rows of columns that are described: keys of linked tables are declared with the links."""
    return [row for row in space.rows if not (space.one_of_linked and row.document["kind"] == "identifier")]


def ready(row: Row) -> bool:
    """Whether nothing is left to be said about a column."""
    return not row.problem and row.document["source"] not in READ_FROM_DATA


def _cells(space: Workspace, row: Row) -> None:
    """Title with the finding, bars, number of bins, and what the cells are."""
    schema = space.schema
    if schema is None or row.name not in {a.name for a in schema.coded}:
        section(row.name)
        note(row.problem or t("schema.no_cells"))
        return
    attribute, unit = schema[row.name], Unit.of(schema.unit)
    labels = axis_labels(attribute.labels(), 40, words=figure_words())
    budget = Budget(epsilon=space.choices.epsilon, delta=space.choices.delta)
    k = plan.usual_k(plan.planned(space, budget, public=True, quiet=True))
    found = noise.curves(budget.epsilon, budget.delta, unit.neighbours, unit.max_records, (k,))
    about = schema.n_records or plan.guessed()
    off = noise.value_at(found, noise.used_curve(found)) * len(labels) / about
    share = percent(off, 0)
    cells = counted("schema.cells", len(labels))
    section(f"{row.name}: {t('schema.cell_cost', cells=cells, share=share, n=number(about))}")
    alt = t("schema.preview_alt", name=row.name, cells=len(labels), share=share)
    show(_figure(labels, off), key="bins_figure", alt=alt, height=HEIGHT)
    first, second = st.columns([1, 3], vertical_alignment="center")
    if attribute.limits is not None and not attribute.dated:
        with first:
            _bins(space, row, len(labels))
    with second:
        note(t("schema.assumed", n=number(about), epsilon=amount(budget.epsilon)))


def _bins(space: Workspace, row: Row, cells: int) -> None:
    """A number of equal bins; taken over at once."""
    key = f"bins_of_{row.name}_{st.session_state.get(editor.GENERATION, 0)}"

    def take() -> None:
        made = changed(row, {**row.cells(), "bins": str(st.session_state[key])})
        editor.adopt(space, [made if r.name == row.name else r for r in space.rows])
        editor.redraw()

    st.number_input(t("schema.column_bins"), 1, 10_000, cells, key=key, on_change=take, help=t("schema.help_bins"))


def _figure(labels: list[str], share: float) -> Figure:
    """Bars of equal height, and on each the band of noise, in shares of the bar."""
    colours, cells = palette(), len(labels)
    few = cells <= ALONG
    xs = labels if few else list(range(cells))
    low, high = max(0.0, 1 - share), min(2.0, 1 + share)
    ends = [round(i * (cells - 1) / TICKS) for i in range(TICKS + 1)]
    hover = {"hovertext": labels, "hovertemplate": "%{hovertext}<extra></extra>"}
    band = {"base": [low] * cells, "marker_opacity": 0.8} | hover
    out = chart(
        bars(xs, [1.0] * cells, t("schema.bar"), colours.real, marker_opacity=0.5, **hover),
        bars(xs, [high - low] * cells, t("schema.noise"), colours.accent, **band),
    )
    named = {"type": "category"} if few else {"tickvals": ends, "ticktext": [labels[i] for i in ends]}
    out.update_xaxes(showgrid=False, **named)
    out.update_yaxes(range=[0, max(1.1, high)], visible=False)
    return out.update_layout(barmode="overlay", bargap=0.12 if few else 0)
