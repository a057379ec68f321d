"""Proposal: what could be public about one column, for a person to agree with or to change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpsyn_core.schema.drafts.draft import absent


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


def present(texts: Any) -> Any:
    """The texts without the usual words for a value that is not there."""
    return texts.filter(not_(absent(texts)))


def not_(mask: Any) -> Any:
    """The negated mask as a pyarrow array."""
    import pyarrow as pa

    return pa.array(~mask)
