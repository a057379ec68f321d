"""Who is one individual, on the Data page: each row, or all rows with one name, and how many of them are counted."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dpsyn_core.schema import Repeats, Schema, candidates, coded, looked_at, repeating, repeats
from ui.schema import unit as protected
from ui.schema.rows import identified, with_unit
from ui.shared.faults import refusals
from ui.shared.going import keep
from ui.shared.limits import ladder
from ui.shared.results import kept
from ui.shared.state import Workspace
from ui.shared.text import counted, field, literal, t
from ui.shared.theme import lead, note, private_tag

EACH_ROW = ""  # of the choices of who is one person; no column has a blank name
LIMIT = "who_limit"  # in the memo: a proposed column was taken in the guide, which has not asked for the limit yet


def panel(space: Workspace, *, guided: bool = False) -> None:
    """Who is one individual: each row, or an identifier column, with the maximum number of rows per person.

    guided: as a question of the guide, which goes on as soon as it is answered.
    """
    if space.linked is not None:
        from ui.linked import who as individuals

        individuals.panel(space.linked)
        return
    schema = space.schema
    if schema is None:
        return
    key = f"who_{space.dataset.serial if space.dataset else ''}"
    seen = _proposal(space, schema, key, guided=guided)
    unit, open_still = schema.unit, undecided(space, schema)
    named = {a.name: t("data.named_by", column=a.name) for a in schema.attributes}
    options = {EACH_ROW: t("data.each_row")} | named
    shown = st.session_state.get(key)
    if open_still and shown == EACH_ROW:  # decided once, and open again
        st.session_state[key] = None
    elif not open_still and shown is None:
        st.session_state[key] = unit.identifier if unit.identifier in options else EACH_ROW
    more = field("data.individual") | {"on_change": _each_row, "args": (space, key)}
    more["index"] = None if open_still else 0  # a choice that was made can be changed, not taken back
    more |= {"placeholder": t("data.individual_choose"), "format_func": options.__getitem__}
    answer = st.selectbox(options=list(options), key=key, **more)
    chosen = unit.identifier if answer is None else answer or None
    most = unit.max_records
    if chosen is not None:
        keep("theta", max(1, most))
        # the same field as on the Privacy page, so that the two cannot disagree
        limits = field("unit.theta") | {"min_value": 1, "max_value": 1000, "bind": "query-params"}
        most = int(st.number_input(key="theta", **limits))
        protected.ladder(most)
        note(t("data.identifier_note"))
    if (chosen, most) != (unit.identifier, unit.max_records) and (chosen or unit.identifier):
        known = "public" if chosen is None else protected.source(space, chosen)
        known = "data" if seen is not None and chosen == seen else known
        with refusals():
            space.schema = identified(schema, chosen, most, known)
    protected.panel(space, key="data")
    if chosen is not None:
        _kept(space, chosen)


def undecided(space: Workspace, schema: Schema) -> bool:
    """Whether somebody still has to say who is one person: nothing is taken for granted where a column may name one."""
    unit, data = schema.unit, space.dataset
    if data is None or data.sample or unit.identifier is not None or unit.source == "public":
        return False
    return unit.source == "data" or bool(candidates(schema))


def limit_open(space: Workspace, schema: Schema) -> bool:
    """Whether the guide has yet to ask how many rows of one person are counted: nobody sees that it starts at 1."""
    return bool(space.memo.get(LIMIT)) and schema.unit.identifier is not None


def confirm_limit(space: Workspace, schema: Schema) -> None:
    """The press that ends the question of who is one person, with how many rows of each are counted."""
    if st.button(counted("data.limit_taken", schema.unit.max_records), key="limit_taken", type="primary"):
        space.memo.pop(LIMIT, None)
        st.rerun()


def _each_row(space: Workspace, key: str) -> None:
    """Takes the choice that each row is one person as a person's word."""
    if space.schema is not None and st.session_state[key] == EACH_ROW and undecided(space, space.schema):
        space.schema = with_unit(space.schema, source="public")


def _proposal(space: Workspace, schema: Schema, key: str, *, guided: bool) -> str | None:
    """Asks whether one person can have several rows, of a column that may name persons.

    A header of that kind is public, so it is asked whatever the table holds, and the answer is a person's word. For
    the owner alone, values that mostly repeat and columns of codes are pointed out; a choice after that is marked.

    Returns:
        The column where a look at its values proposes it; None where none is proposed, or its header alone does it.
    """
    data = space.dataset
    if data is None or not undecided(space, schema):
        return None
    named, names = candidates(schema), looked_at(schema)
    found: Repeats | None = None
    code: str | None = None
    if data.whole is not None and not space.choices.safe:
        if named:
            found = kept(space, ("repeats", data.serial, *named), lambda: repeating(data.whole, named))
        else:
            code = kept(space, ("codes", data.serial, *names), lambda: coded(data.whole, names))
    column = found.column if found is not None else code or next(iter(named), None)
    if column is None:
        return None
    looked = found is not None or code is not None
    with st.container(border=True, key="several_rows"):
        if looked:
            private_tag()
        words = "data.repeats" if found is not None else "data.codes" if code is not None else "data.named_like"
        note(t(words, column=column), "warning")
        lead(t("data.several"))
        kind: Literal["primary", "secondary"] = "primary" if guided else "secondary"
        yes = st.button(t("data.take_identifier", column=literal(column)), key="take_identifier", type=kind)
        no = st.button(t("data.each_row_is_one"), key="keep_rows")
    if yes:
        space.schema = identified(schema, column, 1, "data" if looked else "public")
        # set, not forgotten: the browser would send the field's old value again, and each row would be protected
        st.session_state[key] = column
        st.session_state["theta"] = 1
        space.memo[LIMIT] = guided  # the Data page shows the limit beside it
        st.rerun()
    if no:
        st.session_state[key] = EACH_ROW
        _each_row(space, key)
        st.rerun()
    return column if looked else None


def _kept(space: Workspace, column: str) -> None:
    """What each limit on the rows of a person keeps, for an owner who asks; a limit chosen after that is marked."""
    data = space.dataset
    if space.choices.safe or data is None or data.table is None:
        return
    if data.whole is None:
        note(t("data.large_who"))
        return
    with st.expander(t("data.limits"), key="limits_expander"):
        note(t("data.limits_lead"))
        key = ("limits", data.serial, column)
        if key in space.memo:
            private_tag()
            ladder(space.memo[key], about="data", key="kept_rows")
            note(t("data.kept_note"))
        elif st.button(t("data.limits_look"), key="limits_look"):
            protected.see(space)
            space.memo[key] = repeats(data.whole, column)
            st.rerun()
