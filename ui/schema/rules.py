"""Rules that no synthetic record breaks: the list, and a form that adds one; columns and words alone, no record."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from ui.schema import editor
from ui.shared.state import Workspace
from ui.shared.text import literal, t
from ui.shared.theme import note

KINDS = ("order", "difference", "sum", "impossible")
NUMBERS = ("numeric", "datetime")


def panel(space: Workspace) -> None:
    """The rules of the schema, each with a button that takes it out, and the form for another one."""
    schema = space.schema
    if schema is None:
        return
    with st.expander(t("rules.title", count=len(schema.rules)), key="rules_expander"):
        note(t("rules.lead"))
        for number, rule in enumerate(schema.rules):
            words, press = st.columns([8, 2], vertical_alignment="center")
            words.markdown(literal(str(rule)))
            if press.button(t("rules.remove"), key=f"rule_remove_{number}"):
                _take(space, [r for i, r in enumerate(_documents(schema)) if i != number])
        kind = st.segmented_control(
            t("rules.kind"),
            KINDS,
            default=KINDS[0],
            required=True,
            format_func=lambda k: t(f"rules.{k}"),
            key="rule_kind",
        )  # fmt: skip
        asked = _asked(schema, kind or KINDS[0])
        if st.button(t("rules.add"), key="rule_add", disabled=asked is None) and asked is not None:
            _take(space, [*_documents(schema), asked])


def _asked(schema: Schema, kind: str) -> dict[str, Any] | None:
    """The rule as the person has it now; None while something is open."""
    if kind == "impossible":
        where = st.text_input(t("rules.where"), key="rule_where", placeholder="age in [0, 15] and marital = married")
        note(t("rules.where_note"))
        return {"kind": kind, "where": where.strip()} if where.strip() else None
    names = [a.name for a in schema.coded if a.kind in NUMBERS]
    if len(names) < (2 if kind == "order" else 3):
        note(t("rules.few"))
        return None
    if kind == "sum":
        column = _column("rule_sum", t("rules.total"), names)
        parts = st.multiselect(
            t("rules.parts"), [n for n in names if n != column], key="rule_parts", format_func=literal
        )
        return {"kind": kind, "column": column, "parts": parts} if column and len(parts) > 1 else None
    first, second = st.columns(2)
    if kind == "order":
        with first:
            lower = _column("rule_lower", t("rules.lower"), names)
        with second:
            upper = _column("rule_upper", t("rules.upper"), names)
        strict = st.checkbox(t("rules.strict"), key="rule_strict")
        return {"kind": kind, "lower": lower, "upper": upper, "strict": strict} if lower and upper else None
    with first:
        of = _column("rule_of", t("rules.of"), names)
    with second:
        minus = _column("rule_minus", t("rules.minus"), names)
    column = _column("rule_difference", t("rules.column"), names)
    return {"kind": kind, "column": column, "of": of, "minus": minus} if column and of and minus else None


def _column(key: str, label: str, names: list[str]) -> str | None:
    return st.selectbox(label, names, index=None, key=key, format_func=literal, placeholder=t("rules.choose"))


def _documents(schema: Schema) -> list[dict[str, Any]]:
    return [r.model_dump(mode="json") for r in schema.rules]


def _take(space: Workspace, rules: list[dict[str, Any]]) -> None:
    """Makes these the rules of the schema, or says in one sentence why they cannot be."""
    from dpsyn_core.runs.repair import check_rules

    if space.schema is None:
        return
    try:
        made = Schema.of({**space.schema.document(), "rules": rules})
        check_rules(made)
    except SchemaError as error:
        st.error(literal(str(error)))
        return
    editor.take(space, made)
    st.rerun()
