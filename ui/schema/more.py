"""More about columns: groups, columns that follow from another, and labels for codes, for people who do not program."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsyn_core.schema import Schema
from ui.schema import codelists, editor, relations
from ui.shared import dialogs, uploads
from ui.shared.choices import one_of
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import number, t
from ui.shared.theme import note

TALL = 9  # rows of a table of codes before it scrolls
FILES = ["csv", "tsv", "txt", "json"]


def more(space: Workspace) -> None:
    """All three, in a dialog."""
    if space.schema is not None:
        dialogs.behind("more", t("more.title"), lambda: _views(space))


def _views(space: Workspace) -> None:
    if space.schema is None:
        return
    view = one_of(t("more.title"), list(VIEWS), key="more_view", called=lambda v: t(f"more.{v}"))
    VIEWS[view](space, space.schema)


def _fresh(key: str) -> str:
    """A key that is new after every change, so that files and pasted lines are not taken twice."""
    return f"{key}_{editor.generation()}"


def _line(text: str, button: str, key: str) -> bool:
    words, press = st.columns([5, 2], vertical_alignment="center")
    with words:
        note(text)
    return press.button(button, key=key, width="stretch")


def _groups(space: Workspace, schema: Schema) -> None:
    note(t("groups.lead"))
    found = relations.groups(schema)
    domain = schema.domain()
    for name, members in found.items():
        words = t("groups.line", columns=" + ".join(members), cells=number(domain.cells(members)))
        if _line(f"{name} \u2014 {words}", t("groups.apart"), f"apart_{name}"):
            editor.change(space, relations.ungrouped(schema, name))
    if not found:
        note(t("groups.none"))
    with st.form("group_form", border=False, enter_to_submit=False):
        left, middle, right = st.columns([5, 3, 2], vertical_alignment="bottom")
        names, words = [a.name for a in schema.coded], t("groups.choose")
        columns = left.multiselect(t("groups.columns"), names, key=_fresh("group_columns"), placeholder=words)
        name = middle.text_input(t("groups.name"), key=_fresh("group_name"), placeholder=t("groups.name_hint"))
        pressed = right.form_submit_button(t("groups.add"), width="stretch")
    if pressed:
        with refusals():
            editor.change(space, relations.grouped(schema, name or "", columns))


def _follows(space: Workspace, schema: Schema) -> None:
    note(t("follows.lead"))
    for a in relations.followers(schema):
        if _line(t("follows.line", column=a.name, origin=a.origin), t("follows.alone"), f"alone_{a.name}"):
            editor.change(space, relations.standing_alone(schema, a.name))
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
        alt = t("follows.table_alt", origin=origin, column=column)
        edited = _table(pairs, origin, column, f"follows_{column}_{origin}", alt=alt)
        if st.button(t("follows.save"), key="follows_save"):
            editor.change(space, relations.following(schema, column, origin, edited))


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
    hint = t("labels.paste_hint")
    pasted = right.text_area(t("labels.paste"), key=_fresh("labels_paste"), placeholder=hint, height=96)
    with refusals():
        found = codelists.read(got.getvalue(), got.name) if got is not None else {}
        known = {k: relations.labels(schema, column).get(k, "") for k in schema[column].keys}
        known |= found.get(column, found.get("", {})) | codelists.pasted(pasted or "")
        alt = t("labels.table_alt", column=column)
        edited = _table(known, t("labels.code"), t("labels.word"), f"labels_{column}", alt=alt)
        adds = st.checkbox(t("labels.codes"), key="labels_codes")
        if st.button(t("labels.save"), key="labels_save"):
            editor.change(space, _worded(schema, {**found, column: edited}, codes=bool(adds)))


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


def _table(pairs: dict[str, str], first: str, second: str, key: str, *, alt: str) -> dict[str, str]:
    """A small table whose second column can be typed or pasted; what stands in it now, by the first column."""
    import pandas as pd

    column, key = st.column_config.TextColumn, _fresh(f"{key}_{hash(tuple(pairs.items())) & 0xFFFFFF:x}")
    frame = pd.DataFrame({"first": list(pairs), "second": list(pairs.values())}, dtype="object")
    heads = {"first": column(first, disabled=True), "second": column(second)}
    edited = editor.table_of(frame, TALL, heads, key=key, alt=alt)
    return {str(k): "" if v is None else str(v) for k, v in zip(edited["first"], edited["second"], strict=True)}


VIEWS = {"groups": _groups, "follows": _follows, "labels": _labels}
