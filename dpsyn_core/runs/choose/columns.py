"""A plan without a table: names of columns become a schema to plan with, whose values are placeholders. Public.

What a name does not say is guessed from its words: how many values, and whether they are categories, numbers or dates.
A guess decides nothing but the plan; a run needs a schema with the real public values.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema import Schema, named_like_one, words_of

Kind = Literal["category", "number", "date", "skip"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST = 2_000  # columns of one plan
MOST_VALUES = 100_000  # of one column
USUAL = {"category": 10, "number": 20, "date": 60, "skip": 1}  # values or bins, where the name says nothing

# words of names, in English and German -> kind and number of values or bins; the first line that meets a name counts
GUESSES: tuple[tuple[str, Kind, int], ...] = (
    ("note notes comment comments text description address street anmerkung notiz bemerkung", "skip", 1),
    ("date datum day birth birthday dob born timestamp time zeit tag geburt begin end start", "date", 60),
    ("month monat", "category", 12),
    ("weekday wochentag dow", "category", 7),
    ("quarter quartal", "category", 4),
    ("year jahr age alter", "number", 20),
    ("sex gender geschlecht", "category", 3),
    ("is has flag yes no ja nein smoker married insured employed active died dead", "category", 2),
    ("race ethnicity marital education bildung degree religion nationality", "category", 8),
    ("country land nation", "category", 200),
    ("state region province county kanton bundesland", "category", 20),
    ("city town stadt ort municipality zip plz postcode postal", "category", 100),
    ("occupation job industry beruf branche diagnosis diagnose icd product", "category", 40),
    (
        "income wage wages salary pay earnings price cost costs amount sum total revenue profit sales budget",
        "number",
        20,
    ),
    ("einkommen lohn gehalt preis kosten betrag umsatz gewinn", "number", 20),
    ("hours weight height bmi score rate count number days years length duration distance", "number", 20),
    ("stunden gewicht tage jahre temperature size value points percent share", "number", 20),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedColumn:
    """One column of a plan.

    values: how many categories a column has, or into how many bins its numbers or dates go. guessed: from the name.
    """

    name: str
    kind: Kind
    values: int
    guessed: bool = False


def columns_of(text: str) -> tuple[PlannedColumn, ...]:
    """Columns from a line of headers, or from one column a line; what follows a name after `=` says what it is.

    `sex=2` has two values, `age=number:20` goes into 20 bins, `born=date:60` too, `notes=skip` is left out. Entries are
    separated by commas, semicolons, tabs or line ends; quotation marks hold a name together.

    Raises:
        SchemaError: no name, a name twice, or what follows `=` is none of these.
    """
    columns = [_column(entry.strip()) for line in text.splitlines() for entry in _entries(line) if entry.strip()]
    return checked(columns)


def checked(columns: Iterable[PlannedColumn]) -> tuple[PlannedColumn, ...]:
    """The same columns. Raises SchemaError where a plan cannot have them."""
    listed = tuple(columns)
    names = [c.name for c in listed]
    if not names:
        msg = "there is no column; write the names of the columns, for example age, sex=2, income=number:20"
        raise SchemaError(msg)
    if len(names) > MOST:
        msg = f"there are {len(names)} columns; a plan from names takes at most {MOST}: use a schema file"
        raise SchemaError(msg)
    for column in listed:
        if names.count(column.name) > 1:
            msg = f"the column '{column.name[:80]}' stands twice; give every column its own name"
            raise SchemaError(msg)
        least = 2 if column.kind != "skip" else 1
        if not least <= column.values <= MOST_VALUES:
            msg = f"the column '{column.name[:80]}' has {column.values} values; it needs {least} to {MOST_VALUES}"
            raise SchemaError(msg)
    if all(c.kind == "skip" for c in listed):
        msg = "every column is left out; a plan needs one with values, for example sex=2"
        raise SchemaError(msg)
    return listed


def _entries(line: str) -> Sequence[str]:
    """The entries of a line, by the separator that it has most of; a name in quotation marks may hold others."""
    mark = max(",;\t|", key=re.sub(r'"[^"]*"', "", line).count)
    return next(csv.reader(io.StringIO(line), delimiter=mark, skipinitialspace=True), [])


def _column(entry: str) -> PlannedColumn:
    name, sign, text = (part.strip() for part in entry.rpartition("="))
    if not sign:
        return guess(text)
    word, _, size = text.partition(":")
    kind: Any = "category" if word.isdigit() else word
    count = word if word.isdigit() else size
    if not name or kind not in KINDS or (count and not count.isdigit()) or (word.isdigit() and size):
        msg = (
            f"'{entry[:80]}' is no column of a plan; write a name alone, or what it is: sex=2, age=number:20, "
            "born=date:60, notes=skip"
        )
        raise SchemaError(msg)
    return PlannedColumn(name=name, kind=kind, values=int(count) if count else USUAL[kind])


def guess(name: str) -> PlannedColumn:
    """The kind and size of a column guessed from its name."""
    words = set(words_of(name))
    if named_like_one(name):
        return PlannedColumn(name=name, kind="skip", values=1, guessed=True)
    for pattern, kind, values in GUESSES:
        if words & set(pattern.split()):
            return PlannedColumn(name=name, kind=kind, values=values, guessed=True)
    return PlannedColumn(name=name, kind="category", values=USUAL["category"], guessed=True)


def schema_of(columns: Sequence[PlannedColumn]) -> Schema:
    """A schema of the right sizes for `plan` and `forecast`; its values are placeholders, no run should use it."""
    return Schema.of(
        {"version": 1, "name": "plan", "attributes": [_attribute(c) for c in columns], "notes": {"placeholder": True}}
    )


def _attribute(column: PlannedColumn) -> dict[str, Any]:
    base: dict[str, Any] = {"name": column.name}
    if column.kind == "skip":
        return {**base, "kind": "ignored"}
    if column.kind == "category":
        return {**base, "kind": "categorical", "values": list(range(column.values))}
    bins = {"count": column.values}
    if column.kind == "date":
        return {**base, "kind": "datetime", "min": "1900-01-01", "max": "2099-12-31", "bins": bins}
    return {**base, "kind": "numeric", "dtype": "float", "min": 0, "max": 1, "bins": bins}


def changed(column: PlannedColumn, *, kind: Kind, values: int) -> PlannedColumn:
    """The column as a person corrected it; another kind gets its usual number of values where none was given."""
    if (kind, values) == (column.kind, column.values):
        return column
    size = USUAL[kind] if kind != column.kind and values == column.values else values
    return replace(column, kind=kind, values=size, guessed=False)
