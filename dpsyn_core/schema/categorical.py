"""Categorical attributes: columns with a public list of values."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictBool
from pydantic import model_validator as validator

from dpsyn_core.schema.attribute import CodedBase, Value, common_type
from dpsyn_core.schema.binning import MAX_BINS
from dpsyn_core.tables.canonical import canonical


class CategoricalAttribute(CodedBase):
    """A column with a public list of values."""

    kind: Literal["categorical"] = "categorical"
    values: tuple[Value, ...] = Field(min_length=1, description="All public values; compared after casting")
    ordered: StrictBool = Field(False, description="Whether the values have an order")
    other: StrictBool = Field(False, description="Whether values outside the list have a cell of their own")

    @validator(mode="after")
    def _values_differ(self) -> CategoricalAttribute:
        if len(self.values) > MAX_BINS:
            msg = f"{len(self.values)} values are above the cap of {MAX_BINS}"
            raise ValueError(msg)
        keys = self.keys
        if len(set(keys)) != len(keys):
            seen: set[str] = set()
            repeated = next(k for k in keys if k in seen or seen.add(k))  # type: ignore[func-returns-value]
            msg = f"the value {repeated!r} stands twice in the domain (values are compared as text); remove one"
            raise ValueError(msg)
        if self.missing and "" in self.values:
            msg = "the value '' and a missing cell cannot both be declared: a blank cell could be either; drop one"
            raise ValueError(msg)
        return self

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Each value as canonical text: what cells are compared with."""
        return tuple(canonical(v) for v in self.values)

    @property
    def type(self) -> Literal["text", "integer", "float", "boolean"]:
        """Type of the decoded column: that of the values, text when they are mixed."""
        return common_type(self.values)

    @property
    def size(self) -> int:
        """Values, other, missing."""
        return len(self.values) + self.special

    @property
    def special(self) -> int:
        """Other, then missing."""
        return int(self.other) + int(self.missing)

    @property
    def is_number(self) -> bool:
        """Never: listed values have at most an order."""
        return False

    @property
    def in_order(self) -> bool:
        """As declared."""
        return self.ordered

    def labels(self) -> list[str]:
        """The values as text, or the words for them that a data dictionary gave (`notes.labels`)."""
        found = self.notes.get("labels")
        given = found if isinstance(found, dict) else {}
        words = [str(given.get(k, k)) for k in self.keys]
        if len(set(words)) < len(words):  # two codes of one word must still be told apart
            words = [w if w == k else f"{k}: {w}" for k, w in zip(self.keys, words, strict=True)]
        return [*words, *(["(other)"] if self.other else []), *self._tail()]

    def middles(self) -> NDArray[np.float64] | None:
        """The values themselves when they are numbers."""
        if self.type not in ("integer", "float"):
            return None
        return np.array([*map(float, self.values), *[np.nan] * self.special])
