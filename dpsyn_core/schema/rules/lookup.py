"""What follows from what: a map from codes of some columns to the value of another, public or taken from a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.rules.condition import codes_of_map
from dpsyn_core.schema.rules.date_parts import values_of
from dpsyn_core.schema.rules.registry import FollowsRule

Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookup:
    """A rule on what follows, with its map.

    keys: (m,), rising, codes of the columns that it follows from, as one number, or parts of the date. targets: (m,),
    the value of each. closed: whether any other key breaks the rule; else the rule says nothing of it.
    """

    rule: FollowsRule
    keys: Codes
    targets: NDArray[Any]
    closed: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The one that follows first."""
        return self.rule.columns

    def __str__(self) -> str:
        """For people."""
        return str(self.rule)

    @classmethod
    def public(cls, rule: FollowsRule, of: Any, column: Any) -> Lookup:
        """By the map of the rule, or as the part of a date, of which another one is impossible."""
        if rule.part is not None:
            parts, values = values_of(rule.part, column)
            return cls(rule=rule, keys=parts, targets=values, closed=True)
        keys, targets = codes_of_map(rule.map or (), of, column)
        order = np.argsort(keys)
        return cls(rule=rule, keys=keys[order], targets=targets[order], closed=False)

    @classmethod
    def commonest(cls, rule: FollowsRule, keys: Codes, values: Codes) -> Lookup:
        """By the records of a table: of each key the value that most of them have, the smallest of equally many."""
        pairs, counts = np.unique(np.stack([keys, values]), axis=1, return_counts=True)
        order = np.lexsort((pairs[1], -counts, pairs[0]))
        known, first = np.unique(pairs[0][order], return_index=True)
        return cls(rule=rule, keys=known, targets=pairs[1][order][first], closed=True)

    def find(self, keys: Codes) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The value that follows for each key, and whether there is one."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=self.targets.dtype), np.zeros(len(keys), dtype=bool)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.targets[at], self.keys[at] == keys


def joined(codes: Sequence[Codes], sizes: Sequence[int]) -> Codes:
    """The codes of several columns as one number a record, in int64. Raises SchemaError where they are too many."""
    if float(np.prod([float(s) for s in sizes])) > 2.0**62:
        msg = "the columns that it follows from have more combinations than 64 bits can number; name fewer"
        raise SchemaError(msg)
    out = np.zeros(len(codes[0]), dtype=np.int64)
    for code, size in zip(codes, sizes, strict=True):
        out = out * size + code
    return out
