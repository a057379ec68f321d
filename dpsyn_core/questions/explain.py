"""Turns a pydantic complaint about a document of questions into one sentence that names the question and the field."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from dpsyn_core.questions.forms import KINDS

TAGS = {*KINDS, "WidthBins", "CountBins", "EdgeBins", "GroupBins"}  # pydantic's names for members of a union
PLAIN = {
    "missing": "is required",
    "extra_forbidden": "is no field of this kind of question; remove it, or check its spelling (docs/questions.md)",
    "union_tag_invalid": f"has an unknown kind; known are {', '.join(KINDS)}",
    "union_tag_not_found": f"needs a kind; known are {', '.join(KINDS)}",
    "finite_number": "must be finite",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "recursion_loop": "refers to itself",
}


def describe(error: ValidationError, document: object) -> str:
    """One sentence: the question, the path of its first wrong field, what was got, what is allowed."""
    first = error.errors(include_url=False)[0]
    kind, got, location = first["type"], first.get("input"), first["loc"]
    path, name = _path(location, document)
    if kind == "value_error":
        return f"{name}{path}: {str(first['msg']).removeprefix('Value error, ')}".lstrip(": ")
    text = PLAIN.get(kind, "")
    if path.startswith("bins") and kind.startswith(("union_tag", "model")):
        text = "must be an object: {'width': 10}, {'count': 8}, {'edges': [0, 18, 65]} or {'groups': [['a', 'b']]}"
    if not text:
        said = str(first["msg"])
        text = "must be" + said.removeprefix("Input should be") if said.startswith("Input should be") else said
    shown = (
        ""
        if kind in ("missing", "extra_forbidden") or isinstance(got, dict | list | tuple)
        else f" is {_short(got)} and"
    )
    return f"{name}{path or 'the document of questions'}{shown} {text}"


def _path(location: tuple[int | str, ...], document: object) -> tuple[str, str]:
    """The path inside the question as bins.AGE.width, and the question's own name or number."""
    parts = [p for p in location if p not in TAGS and not str(p).startswith(("constrained-", "function-"))]
    parts = [p for p in parts if p not in ("int", "float", "str", "bool")]
    if len(parts) >= 2 and parts[0] == "questions" and isinstance(parts[1], int):
        number = parts[1]
        title: Any = None
        try:
            title = document["questions"][number]["name"]  # type: ignore[index]
        except (LookupError, TypeError):
            title = None
        name = f"question '{title[:80]}': " if isinstance(title, str) and title else f"question {number + 1}: "
        rest = ".".join(str(p)[:80] for p in parts[2:])
        return rest or "it", name
    return ".".join(str(p)[:80] for p in parts), ""


def _short(got: object) -> str:
    try:
        return repr(got)[:80]
    except ValueError:  # an integer of more digits than Python writes
        return "a number"
