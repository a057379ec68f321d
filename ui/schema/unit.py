"""The unit of privacy on pages: whether a look at the table decided it, and the button that confirms it."""

from typing import Literal

import streamlit as st

from dpsyn_core.schema import LADDER, Schema, confirm
from ui.schema import tried
from ui.schema.rows import typed_source
from ui.shared.going import go_to
from ui.shared.state import Workspace
from ui.shared.text import counted, field, number, t
from ui.shared.theme import note


def panel(space: Workspace, *, key: str) -> None:
    """Says that the unit was read from the data, with the way to confirm it; nothing where it is public."""
    schema = space.schema
    if space.linked is not None or schema is None or not schema.unit_from_data:
        return
    unit = schema.unit
    with st.container(border=True, key=f"unit_{key}"):
        if unit.identifier is None:
            note(t("unit.undecided"), "alarm")
            if key != "data" and st.button(t("unit.decide"), key=f"unit_decide_{key}"):
                go_to("data")
            return
        who = t("data.named_by", column=unit.identifier)
        note(t("unit.read", who=who, most=number(unit.max_records)), "alarm")
        if st.button(key=f"unit_known_{key}", **field("unit.known")):
            space.schema = confirm(schema, (), unit=True)
            st.rerun()


def see(space: Workspace) -> None:
    """Writes down that this visitor is shown how many rows people have in this table. Raises OutputError."""
    tried.see(tried.names(space), "unit")


def source(space: Workspace, identifier: str | None) -> str:
    """Where a unit comes from that this visitor chooses now."""
    if space.schema is None or space.dataset is None:
        return "public"
    return typed_source(space.schema, identifier, looked=tried.seen(tried.names(space), "unit"))


def ladder(most: int) -> None:
    """The limits that are proposed, the same for every table, one press each; a field takes any other."""
    note(t("unit.ladder", limits=", ".join(map(number, LADDER))))
    with st.container(horizontal=True, gap="small", key="ladder"):
        for limit in LADDER:
            kind: Literal["secondary", "tertiary"] = "secondary" if limit == most else "tertiary"
            st.button(number(limit), key=f"ladder_{limit}", type=kind, on_click=_limited, args=(limit,))


def _limited(limit: int) -> None:
    st.session_state["theta"] = limit


def dropped(schema: Schema) -> str:
    """What a run leaves out of one table or keeps of linked ones, by what is declared; empty where that is all."""
    if schema.links:
        rows = t("linked.rows") if schema.one_file else ""
        most = [counted("linked.keeps", one.max_children, child=rows or one.table) for one in schema.hanging]
        return t("linked.keeps_lead", list=", ".join(most))
    unit = schema.unit
    return "" if unit.identifier is None else counted("unit.dropped", unit.max_records, column=unit.identifier)


def limited(label: str, schema: Schema | None) -> str:
    """The words of a button that starts a run, with what it leaves out of one table."""
    if schema is None or schema.links or schema.unit.identifier is None:
        return label
    return f"{label}, {counted('unit.rows', schema.unit.max_records)}"
