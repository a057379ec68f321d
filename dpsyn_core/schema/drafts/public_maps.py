"""Public maps: listed columns of which one names the other, such as cities and countries, for a person to declare."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.attributes.base import Value
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import has_decimal_comma, locate

FEWEST = 12  # values of the column that names the other: fewer may agree by chance
TIMES = 2  # as many as the other column has, at least
FIRST = 2_000  # records that are tried before all: what fails there names nothing
OFTEN = 2  # records of a value, on average: what occurs once always names one value


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicMap:
    """A column, and the one that it names; values, named: how many of each occur. pairs: which names which."""

    of: str
    column: str
    values: int
    named: int
    pairs: tuple[tuple[Value, Value], ...]

    def as_rule(self) -> dict[str, Any]:
        """The document of the rule that declares it."""
        return {"kind": "follows", "column": self.column, "of": [self.of], "map": self.pairs}


def public_maps(schema: Schema, table: Any) -> list[PublicMap]:
    """For each listed column the one of fewest values that names it in every record of a pyarrow table.

    Reads the data: private, for the owner of the table. Columns of which a rule already speaks are left out.
    """
    comma, ruled = has_decimal_comma(table), {n for rule in schema.rules for n in rule.columns}
    codes, raw = {}, {}
    listed = [a for a in schema.coded if isinstance(a, CategoricalAttribute) and a.name not in ruled]
    for a, at in zip(listed, locate(table.column_names, [a.name for a in listed]), strict=True):
        raw[a.name] = np.asarray(a.encode(table.column(at), comma=comma))
        codes[a.name] = np.unique(raw[a.name], return_inverse=True)[1].astype(np.int64)
    sizes = {name: int(c.max(initial=-1)) + 1 for name, c in codes.items()}
    found: dict[str, PublicMap] = {}
    by_size = sorted(codes, key=lambda n: sizes[n])
    naming = [n for n in by_size if FEWEST <= sizes[n] <= table.num_rows / OFTEN]
    for of, column in product(naming, by_size):
        k, named = sizes[of], sizes[column]
        if column in found or named < 2 or k < TIMES * named:  # so that no column names itself
            continue
        if all(_names(codes[of][:n], codes[column][:n], named) for n in (FIRST, None)):
            pairs = _pairs((schema[of], raw[of]), (schema[column], raw[column]))
            found[column] = PublicMap(of=of, column=column, values=k, named=named, pairs=pairs)
    return list(found.values())


def _pairs(*columns: tuple[Any, NDArray[Any]]) -> tuple[tuple[Value, Value], ...]:
    """Listed values that stand together, each of the first column once; blank and unlisted cells name nothing."""
    together = np.unique(np.stack([codes for _, codes in columns]).astype(np.int64), axis=1).T.tolist()
    (one, other) = (a.values for a, _ in columns)
    return tuple((one[i], other[j]) for i, j in together if i < len(one) and j < len(other))


def _names(of: NDArray[np.int64], column: NDArray[np.int64], size: int) -> bool:
    """Whether each code of the one column stands with a single code, below size, of the other one."""
    return len(np.unique(of * size + column)) == len(np.unique(of))
