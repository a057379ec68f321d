"""More about columns: groups, columns that follow from another, and labels for codes, for people who do not program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsyn_core.schema import Schema
from ui.schema import codelists, editor, relations
from ui.shared import dialogs, uploads
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import number, t
from ui.shared.theme import note

if TYPE_CHECKING:
    import pandas as pd

TALL = 9  # rows of a table of codes before it scrolls
FILES = ["csv", "tsv", "txt", "json"]


def more(space: Workspace) -> None:
    """All three, in a dialog."""
    if space.schema is not None:
        dialogs.behind("more", t("more.title"), lambda: _views(space))


def _views(space: Workspace) -> None:
    if space.schema is None:
        return
    view = st.segmented_control(
        t("more.title"),
        list(VIEWS),
        default="groups",
        required=True,
        format_func=lambda v: t(f"more.{v}"),
        key="more_view",
        label_visibility="collapsed",
    )
    VIEWS[view or "groups"](space, space.schema)


def _fresh(key: str) -> str:
    """A key that is new after every change, so that files and pasted lines are not taken twice."""
    return f"{key}_{st.session_state.get(editor.GENERATION, 0)}"


def _change(space: Workspace, made: Schema) -> None:
    """Takes a changed schema over and draws the page again."""
    editor.take(space, made)
    editor.sync(space)
    editor.redraw()
    st.rerun()


def _line(text: str, button: str, key: str) -> bool:
    words, press = st.columns([5, 2], vertical_alignment="center")
    with words:
        note(text)
    with press:
        return bool(st.button(button, key=key, width="stretch"))


def _groups(space: Workspace, schema: Schema) -> None:
    note(t("groups.lead"))
    found = relations.groups(schema)
    domain = schema.domain()
    for name, members in found.items():
        words = t("groups.line", columns=" + ".join(members), cells=number(domain.cells(members)))
        if _line(f"{name} \u2014 {words}", t("groups.apart"), f"apart_{name}"):
            _change(space, relations.ungrouped(schema, name))
    if not found:
        note(t("groups.none"))
    with st.form("group_form", border=False, enter_to_submit=False):
        left, middle, right = st.columns([5, 3, 2], vertical_alignment="bottom")
        with left:
            names = [a.name for a in schema.coded]
            columns = st.multiselect(
                t("groups.columns"), names, key=_fresh("group_columns"), placeholder=t("groups.choose")
            )
        name = middle.text_input(t("groups.name"), key=_fresh("group_name"), placeholder=t("groups.name_hint"))
        pressed = right.form_submit_button(t("groups.add"), width="stretch")
    if pressed:
        with refusals():
            made = relations.grouped(schema, name or "", columns)
            _change(space, made)


def _follows(space: Workspace, schema: Schema) -> None:
    note(t("follows.lead"))
    for a in relations.followers(schema):
        if _line(t("follows.line", column=a.name, origin=a.origin), t("follows.alone"), f"alone_{a.name}"):
            _change(space, relations.standing_alone(schema, a.name))
    if not relations.followers(schema):
        note(t("follows.none"))
    left, right = st.columns(2)
    column = _column(space, "column", [a.name for a in schema.attributes], left)
    if column is None:
        return
    origins = relations.parents(schema, column)
    if not origins:
        note(t("follows.no_parent"))
        return
    origin = _column(space, "origin", origins, right)
    if origin is None:
        return
    pairs = {k: relations.known_pairs(schema, column, origin).get(k, "") for k in schema[origin].keys}
    got = uploads.one(t("follows.upload"), FILES, key=_fresh("follows_file"))
    with refusals():
        if got is not None:
            listed = codelists.read(got.getvalue(), got.name)
            pairs |= listed.get(column, listed.get("", {}))
        edited = _table(pairs, origin, column, f"follows_{column}_{origin}", alt=("follows", origin, column))
        if st.button(t("follows.save"), key="follows_save"):
            _change(space, relations.following(schema, column, origin, edited))


def _column(space: Workspace, word: str, names: list[str], at: DeltaGenerator) -> str | None:
    key = editor.field_key(space, f"follows_{word}")
    return at.selectbox(t(f"follows.{word}"), names, index=None, placeholder=t("follows.choose"), key=key)


def _labels(space: Workspace, schema: Schema) -> None:
    note(t("labels.lead"))
    names = relations.parents(schema, "")
    if not names:
        note(t("labels.none"))
        return
    worded = [n for n in names if relations.labels(schema, n)]
    if worded:
        note(t("labels.saved", names=", ".join(worded[:12])))
    column = st.selectbox(t("labels.column"), names, key=editor.field_key(space, "labels_column"))
    left, right = st.columns(2)
    with left:
        got = uploads.one(t("labels.upload"), FILES, key=_fresh("labels_file"))
    pasted = right.text_area(
        t("labels.paste"), key=_fresh("labels_paste"), placeholder=t("labels.paste_hint"), height=96
    )
    with refusals():
        found = codelists.read(got.getvalue(), got.name) if got is not None else {}
        known = {k: relations.labels(schema, column).get(k, "") for k in schema[column].keys}
        known |= found.get(column, found.get("", {})) | codelists.pasted(pasted or "")
        edited = _table(known, t("labels.code"), t("labels.word"), f"labels_{column}", alt=("labels", column, ""))
        adds = st.checkbox(t("labels.codes"), key="labels_codes")
        if st.button(t("labels.save"), key="labels_save"):
            _change(space, _worded(schema, {**found, column: edited}, codes=bool(adds)))


def _worded(schema: Schema, found: codelists.CodeList, *, codes: bool) -> Schema:
    """The schema with the words of every column that a file names. Raises SchemaError; nothing is taken then."""
    from dpsyn_core.errors import SchemaError

    known = {a.name for a in schema.attributes}
    for name, words in found.items():
        if not name:
            continue
        if name not in known:
            raise SchemaError(t("labels.absent", name=name[:80]))
        schema = relations.labelled(schema, name, words, codes=codes)
    return schema


def _table(pairs: dict[str, str], first: str, second: str, key: str, *, alt: tuple[str, str, str]) -> dict[str, str]:
    """A small table whose second column can be typed or pasted; what stands in it now, by the first column."""
    kind, a, b = alt
    words = t("labels.table_alt", column=a) if kind == "labels" else t("follows.table_alt", origin=a, column=b)
    edited = st.data_editor(
        _frame(pairs),
        key=_fresh(f"{key}_{hash(tuple(pairs.items())) & 0xFFFFFF:x}"),
        hide_index=True,
        alt=words,
        height=33 * (min(TALL, len(pairs)) + 1) + 3,
        column_config={
            "first": st.column_config.TextColumn(first, disabled=True),
            "second": st.column_config.TextColumn(second),
        },
    )
    return {str(k): "" if v is None else str(v) for k, v in zip(edited["first"], edited["second"], strict=True)}


def _frame(pairs: dict[str, str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({"first": list(pairs), "second": list(pairs.values())}, dtype="object")


VIEWS = {"groups": _groups, "follows": _follows, "labels": _labels}
