"""Buying knowledge: ranges, bins and categories learnt from the data at a price, on the ledger."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.buying import buy_schema
from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.measurement.discover import Kind, Wanted
from dpsyn_core.schema.document import Schema
from ui import editor
from ui.budget import plain, read, sentence
from ui.schemas import Row
from ui.state import Workspace
from ui.text import t
from ui.theme import note

KINDS: dict[str, Kind] = {
    "category": "categorical",
    "ordered category": "categorical",
    "whole number": "integer",
    "number": "float",
    "date": "date",
}
BINS = 20


def panel(space: Workspace) -> None:
    """Columns, price, and one button that spends."""
    if space.dataset is None or space.dataset.table is None or space.schema is None:
        return
    rows = {r.name: r for r in space.rows if r.cells()["kind"] in KINDS}
    with st.expander(t("buying.title")):
        note(t("buying.lead"))
        first, second, third = st.columns([5, 2, 2], vertical_alignment="bottom")
        with first:
            wanted = st.multiselect(
                t("buying.columns"), list(rows), default=[n for n in space.schema.from_data if n in rows],
                key=f"buying_{space.dataset.serial}", placeholder=t("buying.none"),
            )  # fmt: skip
        with second:
            price = st.text_input(t("buying.price"), "0.1", key="buying_price", help=t("buying.price_help"))
        got = read(price or "", plain(space.choices.delta))
        with third:
            name = t("buying.spend", epsilon=price)
            pressed = st.button(name, key="buy", disabled=not wanted or got.budget is None, width="stretch")
        if got.budget is None:
            note(got.epsilon_problem or got.delta_problem, "alarm")
        if pressed and got.budget is not None:
            try:
                with st.spinner(t("buying.running")):
                    space.schema = bought(space, [rows[n] for n in wanted], got.budget.epsilon, got.budget.delta)
            except DPSynError as error:
                st.error(sentence(error))
            else:
                editor.sync(space)
                editor.redraw()
                st.rerun()


def bought(space: Workspace, rows: list[Row], epsilon: float, delta: float) -> Schema:
    """The schema with these columns learnt anew at a price. Raises DPSynError; nothing is bought then."""
    if space.dataset is None or space.schema is None:
        msg = "no table is loaded; load one on the Data page"
        raise SchemaError(msg)
    schema = space.schema
    found = buy_schema(
        space.dataset.table,
        [Wanted(name=r.name, kind=KINDS[r.cells()["kind"]], bins=BINS) for r in rows],
        name=schema.name,
        epsilon=epsilon,
        delta=delta,
        unit=schema.unit,
        dataset=space.dataset.ledger,
    )
    learnt = {a.name: a for a in found.schema.attributes}
    document = schema.model_copy(
        update={
            "attributes": tuple(learnt.get(a.name, a) for a in schema.attributes),
            "bought": (*schema.bought, *found.schema.bought),
        }
    )
    return Schema.of(document.document())
