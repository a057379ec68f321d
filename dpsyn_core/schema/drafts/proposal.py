"""Proposal: what could be public about one column, for a person to agree with or to change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpsyn_core.schema.drafts.column import absent
from dpsyn_core.schema.drafts.usual_values import RANGES
from dpsyn_core.schema.years import is_year


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """What is proposed for one column. `document`: the attribute as public knowledge, or None where nothing is.

    seen: what the draft saw, in words; private. why: how the proposal came about, one of the words of the page's
    catalogue (`rounded`, `scale`, `usual`, `steps`, `common`, `few`, `calendar`, `months`, `days`, `written`, `number`,
    `many`, `list`, `unique`, `person`, `names`, `blank`).
    rare: values that few records have and that go to the others; private.
    """

    name: str
    seen: Mapping[str, Any]
    why: str
    document: dict[str, Any] | None
    rare: int = 0


def asks_ends(p: Proposal) -> str:
    """`age` or `year` where a proposal of these is wider than what was seen, so that a person may know nearer ends.

    Whether a table is of adults alone, or begins in a certain year, is public and does not stand in its headers.
    """
    d = p.document
    if d is None or p.seen["what"] not in ("range", "values"):
        return ""
    ends: tuple[Any, Any] = _ends(d["values"]) if d["kind"] == "categorical" else (d.get("min"), d.get("max"))
    seen = (p.seen["low"], p.seen["high"]) if p.seen["what"] == "range" else _ends(p.seen["values"])
    if not all(isinstance(x, int | float) for x in (*ends, *seen)) or (ends[0] >= seen[0] and ends[1] <= seen[1]):
        return ""
    words = {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", p.name)}
    return "age" if words & RANGES[0][0] else "year" if is_year(p.name, float(ends[0])) else ""


def _ends(values: Any) -> tuple[Any, Any]:
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
    return (min(values), max(values)) if whole and values else (None, None)


def present(texts: Any) -> Any:
    """The texts without the usual words for a value that is not there."""
    return texts.filter(not_(absent(texts)))


def not_(mask: Any) -> Any:
    """The negated mask as a pyarrow array."""
    import pyarrow as pa

    return pa.array(~mask)
