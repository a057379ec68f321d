"""Stamps: why a run with this schema would be NOT PRIVATE, in words for the page."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.schema.document import Schema
from ui.shared.going import go_to
from ui.shared.state import Workspace
from ui.shared.text import counted, number, t
from ui.shared.theme import not_private

NAMED = 6  # columns that a sentence names


def words(schema: Schema) -> str:
    """One sentence for each kind of reason; empty for a private schema."""
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


def draft(space: Workspace, *, key: str) -> None:
    """The red box for a schema that gives no guarantee, with the button that leads to where that is mended."""
    if space.schema is None or space.schema.private:
        return
    count = len(space.schema.from_data)
    words = counted("guide.to_guide", count) if count else t("stamp.to_schema")
    with st.container(key=f"stamp_{key}"):
        not_private(shortly(space.schema))
        if st.button(words, key=key, type="primary"):
            go_to("schema")


def shortly(schema: Schema) -> str:
    """The same in one sentence, of what has to be mended first."""
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
