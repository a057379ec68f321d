"""Identifiers: columns that name individuals."""

from __future__ import annotations

from typing import ClassVar, Literal

from dpsyn_core.schema.attributes.base import BaseAttribute


class IdentifierAttribute(BaseAttribute):
    """A column that names individuals; it never leaves."""

    coded: ClassVar[bool] = False
    released: ClassVar[bool] = False
    names_individuals: ClassVar[bool] = True
    kind: Literal["identifier"] = "identifier"
