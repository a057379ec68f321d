"""The schema editor: a table of attributes that keeps every edit, filter and bulk edit for wide tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.schema.rows import FIELDS, KINDS, SOURCES, Row, build, changed, kind_words, with_unit
from ui.shared.state import Workspace
from ui.shared.text import language, literal, number, sentence, t
from ui.shared.theme import note

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from dpsyn_core.schema import Schema, SchemaUnit

Value = TypeVar("Value")
EDITOR, GENERATION, FRAME = "schema_editor", "schema_generation", "schema_frame"
PART = "schema_part"  # which table the page shows
SHOWN = 12  # rows of the table before it scrolls
ORDER = ("kind", "source", "content", "bins", "missing", "other", "group")
SHOWN_ORDER = ("name", *ORDER[:-1])  # groups have a place of their own
BULK = ("missing", "source", "bins", "kind")
PAST, STEPS = "schema_past", 30  # changes that can be undone


def shows(part: Workspace, space: Workspace) -> None:
    """Draws all fields anew where another table is shown now: the table's widget keeps its edits by numbers of rows."""
    version = 0 if space.linked is None else space.linked.version
    mark = (space.serial, version, "" if part.dataset is None else part.dataset.name)
    if st.session_state.get(PART, mark) != mark:
        redraw()
    st.session_state[PART] = mark


def field_key(space: Workspace, key: str) -> str:
    """The key of a field that offers columns: of linked tables each has one, since their columns differ."""
    return f"{key}_{space.dataset.name}" if space.one_of_linked and space.dataset is not None else key


def sync(space: Workspace) -> None:
    """Makes rows for a schema that came from elsewhere."""
    schema = space.schema
    if schema is None:
        space.rows = []
        return
    if schema.unit_from_data:  # said in the document, so that it stays so when the last column is confirmed
        schema = space.schema = with_unit(schema, source="data")
    documents = schema.document()["attributes"]
    if [r.document for r in space.rows] != documents:
        pending = {r.name: (r.pending, r.problem) for r in space.rows if r.pending}
        space.rows = [Row(d, *pending.get(d["name"], ({},))) for d in documents]
        redraw()


def change(space: Workspace, made: Schema, *, redraws: bool = True) -> NoReturn:
    """Takes over a schema that was changed elsewhere than in the table, and draws the page again.

    redraws: its tables begin anew; else they keep their place.
    """
    take(space, made)
    sync(space)
    if redraws:
        redraw()
    st.rerun()


def generation() -> int:
    """A number that is new after every change, for keys of fields that then begin anew."""
    return int(st.session_state.get(GENERATION, 0))


def held(slot: str, key: str, make: Callable[[], Value]) -> Value:
    """What the table of this key is drawn from: it must stay the same while its widget lives, whose edits go by it."""
    kept = st.session_state.get(slot)
    if kept is None or kept[0] != key or key not in st.session_state:
        kept = st.session_state[slot] = (key, make())
    value: Value = kept[1]
    return value


def redraw() -> None:
    """Forgets the table's widget, so that it is drawn from the rows again."""
    st.session_state[GENERATION] = generation() + 1


def _filtered(space: Workspace) -> list[int]:
    first, second, third = st.columns([3, 2, 2])
    text = first.text_input(t("schema.search"), key="schema_search", placeholder=t("schema.search_hint")).lower()
    words: dict[str, Any] = {"placeholder": t("schema.any"), "format_func": kind_words}
    kinds = second.multiselect(t("schema.kinds"), KINDS, key="schema_kinds", **words)
    words["format_func"] = source_words
    sources = third.multiselect(t("schema.sources"), SOURCES, key="schema_sources", **words)

    def shows(cells: dict[str, Any]) -> bool:
        chosen = (not kinds or cells["kind"] in kinds) and (not sources or cells["source"] in sources)
        return chosen and text in cells["name"].lower()

    return [i for i, row in enumerate(space.rows) if shows(row.cells())]


def source_words(source: str | float | bool) -> str:
    """Where knowledge comes from, in words."""
    return t(f"source.{source}")


def _frame(rows: list[Row], index: list[int]) -> pd.DataFrame:
    import pandas as pd

    cells = [rows[i].cells() for i in index]
    return pd.DataFrame(cells, index=index, columns=["name", *ORDER])


def table(space: Workspace) -> None:
    """The editor; every accepted edit goes into the schema at once, others stay with their reason."""
    index = _filtered(space)
    if not index:
        note(t("schema.no_match"))
        return
    key = f"{EDITOR}_{generation()}_{language()}_{hash(tuple(index)) & 0xFFFFFF:x}"  # long lists are shortened in words
    frame = held(FRAME, key, lambda: _frame(space.rows, index))
    _take(space, table_of(frame, SHOWN, _columns(), key=key, column_order=SHOWN_ORDER), index)
    with st.container(horizontal=True, gap="small"):
        _bulk(space, index)
        undo_button(space)


def table_of(frame: pd.DataFrame, shown: int, columns: dict[str, Any], *, key: str, **more: Any) -> pd.DataFrame:
    """A table to type into, as it is now. shown: rows before it scrolls."""
    more = {"alt": t("schema.table_alt")} | more
    height = 33 * (min(shown, len(frame)) + 1) + 3
    return st.data_editor(frame, key=key, hide_index=True, height=height, column_config=columns, **more)


def _columns() -> dict[str, Any]:
    column = st.column_config
    source: dict[str, Any] = {"help": t("schema.help_source"), "width": 136}
    return {
        "name": column.TextColumn(t("schema.column_name"), disabled=True, width=150, pinned=True),
        "kind": column.SelectboxColumn(
            t("schema.column_kind"), options=list(KINDS), required=True, format_func=kind_words, width=142
        ),
        "content": column.TextColumn(t("schema.column_content"), help=t("schema.help_content"), width=196),
        "bins": column.TextColumn(t("schema.column_bins"), help=t("schema.help_bins"), width=86),
        "missing": column.CheckboxColumn(t("schema.column_missing"), help=t("schema.help_missing"), width=72),
        "other": column.CheckboxColumn(t("schema.column_other"), help=t("schema.help_other"), width=72),
        "source": column.SelectboxColumn(
            t("schema.column_source"), options=list(SOURCES), required=True, format_func=source_words, **source
        ),
    }


def _take(space: Workspace, edited: pd.DataFrame, index: list[int]) -> None:
    """Takes edits over into rows, and rows into the schema when all of them fit."""
    rows = list(space.rows)
    for i, cells in zip(index, edited.to_dict("records"), strict=True):
        if {f: cells[f] for f in FIELDS} != {f: rows[i].cells()[f] for f in FIELDS}:
            rows[i] = changed(rows[i], cells)
    if rows != space.rows:
        adopt(space, rows)


def adopt(space: Workspace, rows: list[Row]) -> None:
    """Makes rows the schema; one that does not fit as a whole is shown and not taken over."""
    if space.schema is None:
        return
    try:
        built = build(space.schema, rows)
    except DPSynError as error:
        st.error(literal(sentence(error)))
        redraw()
        return
    take(space, built)
    documents = space.schema.document()["attributes"]
    space.rows = [Row(d, r.pending, r.problem) for d, r in zip(documents, rows, strict=True)]


def take(space: Workspace, schema: Schema) -> None:
    """Makes a changed schema the visitor's, and remembers the one before it."""
    if space.schema is not None and schema.attributes != space.schema.attributes:
        past = space.memo.get(PAST, [])
        if past and past[-1][1].attributes != space.schema.attributes:
            past = []  # something else changed it since: another table, a file, a purchase
        space.memo[PAST] = [*past, (space.schema, schema)][-STEPS:]
    space.schema = schema


def undo_button(space: Workspace) -> None:
    """Takes back edits that do not fit, else the last change of a column; what was bought or loaded since stays."""
    past = space.memo.get(PAST, [])
    unfit = any(row.pending for row in space.rows)
    usable = bool(past) and space.schema is not None and past[-1][1].attributes == space.schema.attributes
    if st.button(t("schema.undo"), key="schema_undo", disabled=not (usable or unfit), help=t("schema.undo_help")):
        if unfit:
            space.rows = [Row(row.document, {}) for row in space.rows]
        else:
            before, after = space.memo[PAST].pop()
            space.schema = before.model_copy(update={"unit": _unit(space, before, after)})
            sync(space)
        redraw()
        st.rerun()


def _unit(space: Workspace, before: Schema, after: Schema) -> SchemaUnit:
    """Who is protected stays as it is now, but for the identifier, which is an attribute's kind, and a confirmation."""
    now = before.unit if space.schema is None else space.schema.unit
    same = before.unit.source == after.unit.source or now.source == "data"
    source = now.source if same else before.unit.source
    return now.model_copy(update={"identifier": before.unit.identifier, "source": source})


def _bulk(space: Workspace, index: list[int]) -> None:
    with st.popover(t("schema.bulk", count=number(len(index)))):
        note(t("schema.bulk_note"))
        what = st.selectbox(t("schema.bulk_what"), BULK, format_func=lambda f: t(f"schema.column_{f}"), key="bulk_what")
        value: Any
        if what == "missing":
            value = st.toggle(t("schema.column_missing"), key="bulk_missing")
        elif what in ("source", "kind"):
            options, say = (SOURCES, source_words) if what == "source" else (KINDS, kind_words)
            value = st.selectbox(t("schema.bulk_to"), options, key=f"bulk_{what}", format_func=say)
        else:
            value = st.text_input(t("schema.bulk_to"), key=f"bulk_{what}")
        if st.button(t("schema.bulk_apply"), key="bulk_apply"):
            rows = list(space.rows)
            for i in index:
                cells = rows[i].cells()
                coded = cells["kind"] not in ("identifier", "left out")
                binned = cells["kind"] in ("whole number", "number", "date")
                if (what == "bins" and not binned) or (what in ("missing", "group") and not coded):
                    continue
                rows[i] = changed(rows[i], {**cells, what: value})
            adopt(space, rows)
            redraw()
            st.rerun()


def problems(space: Workspace) -> None:
    """Every edit that does not fit, with its column and its remedy."""
    for row in space.rows:
        if row.problem:
            st.error(literal(sentence(ValueError(row.problem))))
