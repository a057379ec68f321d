"""The form on which a person corrects how a table was read: one widget for each field of `ReadForm`."""

from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from dpsyn_core.tables import ReadForm
from ui.shared.text import catalogue, language, t

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be")
OFFERED: dict[str, tuple[str, ...]] = {"delimiter": tuple(DELIMITERS), "encoding": ENCODINGS}
MOST = 1000  # lines above the headers


def asked(kind: str, form: ReadForm, *, key: str) -> dict[str, Any]:
    """The fields that are for tables of this kind, as the person has them now; the sheet stays what it is.

    Args:
        kind: of the table.
        form: how it was read.
        key: of the table, for the keys of the widgets.
    """
    fields = ReadForm.model_fields.items()
    rules = {name: rule for name, rule in fields if kind in _extra(rule)["of"] and name != "sheet"}
    out: dict[str, Any] = {"sheet": form.sheet}
    narrow = [name for name, rule in rules.items() if not _wide(rule)]
    rows = [narrow[i : i + 2] for i in range(0, len(narrow), 2)] + [[n] for n in rules if n not in narrow]
    for row in rows:  # a row for each pair, so that widgets next to each other are level
        for place, name in zip(st.columns(len(row), vertical_alignment="bottom"), row, strict=True):
            with place:
                example = (_extra(rules[name]).get("example") or "").replace(",", form.delimiter or ",")
                out[name] = _widget(name, rules[name], getattr(form, name), f"{name}_{key}", example)
    return out


def _wide(rule: FieldInfo) -> bool:
    """Whether its widget needs a row: a sentence to tick, or a line to type."""
    return rule.annotation is bool or bool(_extra(rule).get("example"))


def _widget(name: str, rule: FieldInfo, value: Any, key: str, example: str) -> Any:
    label = t(f"data.{name}") if f"data.{name}" in catalogue(language()) else name.replace("_", " ")
    helped = t(f"data.{name}_help") if f"data.{name}_help" in catalogue(language()) else rule.description
    kinds = [k for k in get_args(rule.annotation) if k is not type(None)] or [rule.annotation]
    offered = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else OFFERED.get(name)
    if offered is not None:
        options = list(dict.fromkeys([value, *offered] if name in OFFERED and value else [None, *offered]))
        words = {one: _shown(name, one) for one in options}.__getitem__
        return st.selectbox(label, options, options.index(value), key=key, help=helped, format_func=words)
    if kinds[0] is bool:
        return st.checkbox(label, value, key=key, help=helped)
    if kinds[0] is int:
        return int(st.number_input(label, 1, MOST, value, key=key, help=helped))
    return st.text_input(label, value or "", key=key, help=helped, placeholder=example) or None


def _shown(name: str, value: str | None) -> str:
    if value is None:
        return t("data.by_itself")
    return t(f"data.delimiter_{DELIMITERS[value]}") if name == "delimiter" and value in DELIMITERS else value


def _extra(rule: FieldInfo) -> dict[str, Any]:
    return rule.json_schema_extra if isinstance(rule.json_schema_extra, dict) else {}
