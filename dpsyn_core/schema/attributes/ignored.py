"""Ignored attributes: columns of the table that are left out."""

from __future__ import annotations

from typing import ClassVar, Literal

from dpsyn_core.schema.attributes.base import BaseAttribute


class IgnoredAttribute(BaseAttribute):
    """A column that is not synthesized and does not appear in the output."""

    coded: ClassVar[bool] = False
    released: ClassVar[bool] = False
    kind: Literal["ignored"] = "ignored"
