"""Turns a pydantic complaint about a schema document into one sentence that names the path of the field."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

# names that pydantic puts into a path for a member of a union; they are no fields
TAGS = {"categorical", "numeric", "datetime", "derived", "identifier", "ignored", "CountBins", "EdgeBins", "EveryBins"}
KINDS = "categorical, numeric, datetime, derived, identifier and ignored"
PLAIN = {
    "missing": "is required",
    "extra_forbidden": "is no known field; remove it, or check its spelling",
    "union_tag_invalid": f"has an unknown kind; known are {KINDS}",
    "union_tag_not_found": f"needs a kind; known are {KINDS}",
    "finite_number": "must be finite",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
}


def describe(error: ValidationError, document: object) -> str:
    """One sentence: the path of the first wrong field, what was got, what is allowed."""
    first = error.errors(include_url=False)[0]
    kind, got = first["type"], first.get("input")
    path, name = _path(first["loc"], document)
    text = _allowed(kind, path, first)
    shown = ""
    if kind not in ("missing", "value_error", "extra_forbidden") and not isinstance(got, dict | list | tuple):
        shown = f" is {repr(got)[:80]} and"
    return (
        f"{path or 'the schema'}{name}{shown} {text}" if kind != "value_error" else f"{path}{name}: {text}".lstrip(": ")
    )


def _path(location: tuple[int | str, ...], document: object) -> tuple[str, str]:
    """The path as attributes[3].bins.count, and the attribute's name in parentheses."""
    path, name, here = "", "", document
    for part in location:
        inside = isinstance(here, dict) and part in here
        if isinstance(part, int):
            path += f"[{part}]"
        elif inside or not (part in TAGS or part.startswith("constrained-") or part in ("int", "float", "str", "bool")):
            path += f".{part}"
        else:
            continue
        here = _step(here, part)
        if isinstance(here, dict) and isinstance(here.get("name"), str) and path.startswith(".attributes["):
            name = f" ('{here['name'][:80]}')"
    return path.removeprefix("."), name


def _step(here: Any, part: int | str) -> Any:
    try:
        return here[part]
    except (LookupError, TypeError):
        return None


def _allowed(kind: str, path: str, first: Any) -> str:
    if path.endswith("bins") and kind.startswith("union_tag"):
        return "must be an object such as {'count': 10}, {'edges': [0, 5, 20]} or, for dates, {'every': 'month'}"
    if kind in PLAIN:
        return PLAIN[kind]
    if kind in ("bool_type", "int_type", "float_type", "string_type"):
        if ".values[" in path:
            return "must be text, a number, true or false"
        if kind == "bool_type":
            return "must be true or false"
        whole = path.endswith(("max_records", "n_records", "count", "cells"))
        return "must be text" if kind == "string_type" else f"must be a {'whole ' * whole}number"
    text = str(first["msg"]).removeprefix("Value error, ")
    if text.startswith("Input should be"):
        return "must be" + text.removeprefix("Input should be")
    return text[0].lower() + text[1:]
