"""Chooses the source for what a caller hands in."""

from __future__ import annotations

from typing import Any

from dpsyn_core.sources.base import Source
from dpsyn_core.sources.memory import MemorySource


def source_of(given: Any, *, strict: bool = False) -> Source:
    """A source as it is; a table of pandas, polars or pyarrow as one in memory.

    A table of another kind is refused when the source is opened. strict: see `MemorySource`.
    """
    return given if isinstance(given, Source) else MemorySource(given, strict=strict)
