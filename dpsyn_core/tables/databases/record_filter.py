"""Filter: which records of a table are read, each decided by the cells of that record alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import QuestionError, TableError
from dpsyn_core.tables.cells.canonical_text import to_text, uniques
from dpsyn_core.tables.cells.instants import to_instants
from dpsyn_core.tables.cells.numbers import to_numbers
from dpsyn_core.tables.clause import Clause, clauses, moment, unquoted
from dpsyn_core.tables.headers import composed, short

EXACT = 2**53  # whole numbers below it are floats of their own


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """A conjunction in the language of `tables.clauses`, on cells as they stand in the table.

    A cell equals a value that has its text, or is the same number. A cell that is a number lies between two numbers,
    one that is a date or a time between two dates, and any other one in no interval. Blank cells equal "" alone.
    """

    parts: tuple[Clause, ...]

    @classmethod
    def of(cls, text: str) -> RecordFilter:
        """Parses a condition. Raises QuestionError for other text, and for intervals without two ends in order."""
        out = cls(clauses(text))
        for clause in out.parts:
            if clause.interval:
                _ends(clause)
        return out

    @property
    def columns(self) -> list[str]:
        """The columns that it is about, each once."""
        return list(dict.fromkeys(clause.attribute for clause in self.parts))

    def kept(self, table: Any) -> Any:
        """The records of a pyarrow table that meet it. Raises TableError for a column that is not there."""
        met = np.ones(table.num_rows, dtype=bool)
        for clause in self.parts:
            column = table.column(places(table.column_names, [clause.attribute])[0])
            inside = _within(column, clause) if clause.interval else _among(column, clause.values)
            met &= ~inside if clause.negated else inside
        return table if met.all() else table.filter(met)


def places(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Position of each requested column. Raises TableError for one that the table lacks."""
    at = {composed(name): i for i, name in enumerate(names)}
    for name in wanted:
        if composed(name) not in at:
            msg = (
                f"the table has no column '{short(name)}'{unquoted(name, names)}; take names from the "
                "database (--sql-columns, --sql-where)"
            )
            raise TableError(msg)
    return [at[composed(name)] for name in wanted]


def _among(column: Any, values: tuple[str, ...]) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    entries, index = uniques(column)
    equal = pc.is_in(pc.fill_null(to_text(entries), ""), value_set=pa.array(values, pa.string()))
    out: NDArray[np.bool_] = np.append(equal.to_numpy(zero_copy_only=False), "" in values)[index]
    numbers, valid = to_numbers(column, whole=False)
    for number in filter(math.isfinite, map(_number, values)):
        out |= valid & (numbers == number) & (abs(number) < EXACT)
    return out


def _within(column: Any, clause: Clause) -> NDArray[np.bool_]:
    numbers, dates = _ends(clause)
    values, numeric = to_numbers(column, whole=False)
    out = numeric & _between(values, numbers, strict=clause.outside)
    if not all(map(math.isnan, dates)):
        seconds, dated = to_instants(column, ())
        out |= ~numeric & dated & _between(seconds, dates, strict=False)
    return out


def _between(values: NDArray[Any], ends: tuple[float, float], *, strict: bool) -> NDArray[np.bool_]:
    low, high = ends
    if strict:
        return np.asarray((values > low) & (values < high))
    return np.asarray((values >= low) & (values <= high))


def _ends(clause: Clause) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of an interval as numbers, and as seconds since 1970; NaN where a text is none.

    A day, a month or a year stands for all its seconds: `> 2020` begins in 2021. Raises QuestionError where the ends
    are neither two numbers nor two dates in order.
    """
    low, high = clause.values if len(clause.values) == 2 else ("", "")
    numbers = _number(low), _number(high)
    dates = (
        _second(low, last=clause.outside) + clause.outside,
        _second(high, last=not clause.outside) - clause.outside,
    )
    if not (numbers[0] <= numbers[1] or dates[0] <= dates[1]):
        msg = (
            f"the interval of '{clause.attribute}' needs two numbers, or two dates such as 2020-01-31, 2020-01 or "
            "2020, the lower one first"
        )
        raise QuestionError(msg)
    return numbers, dates


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _second(text: str, *, last: bool) -> float:
    return float(text) if text in ("inf", "-inf") else moment(text, 1, last=last)
