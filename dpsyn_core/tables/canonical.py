"""Canonical text: the one spelling in which a value of any type is compared with the values of a schema."""

from __future__ import annotations


def canonical(value: bool | int | float | str) -> str:
    """A value as the text that cells are compared with: true, 3, 0.5, as written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
