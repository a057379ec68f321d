"""Forms grown from a system's config: a new setting needs no page code."""

import hashlib
import json
import types
from typing import Any, Literal, Union, get_args, get_origin

import streamlit as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from dpsyn_core.report import setting
from dpsyn_core.systems import fields_of, written
from ui.shared.text import language, t


def settings_form(config: type[BaseModel], values: dict[str, Any], *, key: str) -> dict[str, Any]:
    """One widget a setting, two columns; returns only what differs from the defaults, by setting.

    Args:
        config: pydantic model; title, description, ge, le, gt, lt and json_schema_extra["unit"] shape the widget.
        values: what was chosen before, from this form or from a project of any age.
        key: prefix of the widgets' keys.
    """
    columns = st.columns(2, gap="medium")
    values = dict(written(values, config))
    out: dict[str, Any] = {}
    for i, (name, field) in enumerate(fields_of(config).items()):
        default = None if field.default is PydanticUndefined else field.get_default(call_default_factory=True)
        with columns[i % 2]:
            got = _widget(name, field, values.get(name, default), f"{key}.{name}")
        if got != default:
            out[name] = got
    return out


def _label(name: str, field: FieldInfo) -> str:
    words = setting(field.title or name.replace("_", " ").capitalize(), language())
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    return f"{words} ({setting(str(extra['unit']), language())})" if extra.get("unit") else words


def _bounds(field: FieldInfo) -> tuple[float | None, float | None]:
    """The least and the largest number; None where there is none."""
    found = {
        end: getattr(rule, end) for rule in field.metadata for end in ("ge", "gt", "le", "lt") if hasattr(rule, end)
    }
    return found.get("gt", found.get("ge")), found.get("lt", found.get("le"))


def _kind(annotation: Any) -> tuple[Any, bool]:
    """The type behind an annotation, and whether None is allowed."""
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [a for a in get_args(annotation) if a is not type(None)]
        return (inner[0] if len(inner) == 1 else inner), type(None) in get_args(annotation)
    return annotation, False


def _widget(name: str, field: FieldInfo, value: Any, key: str) -> Any:
    told: dict[str, Any] = {"label": _label(name, field), "help": setting(field.description or "", language()) or None}
    told |= {"key": key, "persist_state": "session"}
    kind, optional = _kind(field.annotation)
    if get_origin(kind) is Literal:
        options = list(get_args(kind)) + ([None] if optional else [])
        named = {one: t("form.automatic") if one is None else str(one) for one in options}
        return st.selectbox(options=options, index=options.index(value), format_func=named.__getitem__, **told)
    if kind is bool and not optional:
        return st.toggle(value=bool(value), **told)
    if kind in (int, float):
        return _number(kind, optional, field, value, told)
    if isinstance(value, BaseModel) or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return _document(value, told)
    typed = st.text_input(value=_as_text(value), placeholder=t("form.automatic") if optional else None, **told)
    return _from_text(typed or "", kind, optional, value)


def _document(value: Any, told: dict[str, Any]) -> Any:
    """A setting that is a document of its own, typed as JSON; text that is no JSON is left to the config to refuse."""
    shown = value.model_dump_json(exclude_defaults=True) if isinstance(value, BaseModel) else json.dumps(value or {})
    # a document that was changed elsewhere, by a form or on another page, gets a new field that shows it
    mark = hashlib.sha256(shown.encode()).hexdigest()[:8]
    typed = st.text_area(value=shown, height=90, **told | {"key": f"{told['key']}.{mark}"})
    if (typed or "").strip() == shown:
        return value
    try:
        return json.loads(typed or "{}")
    except ValueError:
        return typed


def _number(kind: type, optional: bool, field: FieldInfo, value: Any, told: dict[str, Any]) -> Any:
    least, most, now = (None if x is None else kind(x) for x in (*_bounds(field), value))
    told |= {"step": 1 if kind is int else (abs(value) / 10 if value else 0.05), "placeholder": t("form.automatic")}
    told["format"] = "%d" if kind is int else "%g"
    got = st.number_input(min_value=least, max_value=most, value=now, **told)
    return got if got is not None or optional else value


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(str(v) for v in value)
    return str(value)


def _from_text(text: str, kind: Any, optional: bool, value: Any) -> Any:
    """What a text field stands for; lists are typed with commas, and the config refuses what does not fit."""
    if not text.strip():
        return None if optional else type(value)() if isinstance(value, list | tuple | str) else value
    if get_origin(kind) in (list, tuple) or isinstance(value, list | tuple):
        parts = [p.strip() for p in text.split(",") if p.strip()]
        inner = (get_args(kind) or (str,))[0]
        cast = inner if inner in (int, float) else str
        try:
            made = [cast(p) for p in parts]
        except ValueError:
            made = parts
        return tuple(made) if isinstance(value, tuple) or get_origin(kind) is tuple else made
    return text.strip()
