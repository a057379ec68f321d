"""Stamps: why a run with this schema would be NOT PRIVATE, in words for the page."""

import streamlit as st

from dpsyn_core.schema import Schema
from ui.shared.going import go_to
from ui.shared.state import Linked, Workspace
from ui.shared.text import counted, number, t
from ui.shared.theme import not_private

NAMED = 6  # columns that a sentence names


def words(space: Workspace) -> str:
    """One sentence for each kind of reason; empty where all that is declared is public."""
    if space.linked is not None:
        return _words_of_links(space.linked, read(space))
    return "" if space.schema is None else _words_of_one(space.schema)


def read(space: Workspace) -> list[str]:
    """Returns the columns that were described by looking at the data; of linked tables as table.column, no keys."""
    linked = space.linked
    if linked is None:
        return [] if space.schema is None else list(space.schema.from_data)
    schemas = {name: part.schema for name, part in linked.parts.items() if part.schema is not None}
    return [f"{n}.{c}" for n, schema in schemas.items() for c in schema.from_data if c not in linked.keys_of(n)]


def _words_of_links(linked: Linked, found: list[str]) -> str:
    out = []
    if found:
        out.append(t("schema.stamp", count=number(len(found)), names=some(found)))
    if linked.unit_source == "data":
        out.append(t("unit.undecided" if not linked.decided else "linked.stamp_links"))
    schema = linked.declared()
    if not out and schema is not None and schema.reasons:
        out.append("; ".join(schema.reasons))
    return " ".join(out)


def _words_of_one(schema: Schema) -> str:
    out = []
    read = [a.name for a in schema.attributes if a.source == "data"]
    if read:
        out.append(t("schema.stamp", count=number(len(read)), names=some(read)))
    kinds = [n for n in schema.from_data if n not in read]
    if kinds:
        out.append(t("schema.stamp_kinds", count=number(len(kinds)), names=some(kinds)))
    if schema.unit_from_data:
        out.append(t("schema.stamp_read_unit" if schema.unit.identifier else "unit.undecided"))
    rules = sum(rule.source == "data" for rule in schema.rules)
    if rules:
        out.append(t("schema.stamp_rules"))
    if len(schema.reasons) > len(schema.from_data) + schema.unit_from_data + rules:
        out.append(t("schema.stamp_unit"))
    return " ".join(out)


def draft(space: Workspace, *, key: str, comes_next: bool) -> None:
    """The red box for a schema that gives no guarantee, with the button that leads to where that is mended.

    comes_next: it is what to press on its page.
    """
    why = shortly(space)
    if not why:
        return
    count = len(read(space))
    press = counted("guide.to_guide", count) if count else t("stamp.to_schema")
    with st.container(key=f"stamp_{key}"):
        not_private(why)
        if st.button(press, key=key, type="primary" if comes_next else "secondary"):
            go_to("schema")


def shortly(space: Workspace) -> str:
    """The same in one sentence, of what has to be mended first."""
    if space.linked is not None:
        return t("stamp.draft") if read(space) else words(space)
    schema = space.schema
    if schema is None or schema.private:
        return ""
    if schema.from_data:
        return t("stamp.draft")
    if schema.unit_from_data and schema.unit.identifier is None:
        return t("unit.undecided")
    if any(rule.source == "data" for rule in schema.rules):
        return t("schema.stamp_rules")
    return t("stamp.read_unit" if schema.unit_from_data else "stamp.unit")


def some(names: list[str]) -> str:
    """The first of many columns, and how many more there are."""
    said, more = ", ".join(names[:NAMED]), len(names) - NAMED
    return t("plan.columns_more", columns=said, count=number(more)) if more > 0 else said
