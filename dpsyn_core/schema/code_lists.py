"""Code lists that are public: of countries, currencies, chapters and groups of codes, first digits, or from a file."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpsyn_core.data import FOLDER
from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema

DIGITS = "digits:"  # and how many: the first digits of a postal code
MOST_DIGITS = 3
POSTAL = "zip zipcode postcode postal plz postleitzahl postnummer pincode cp cap codepostal codigopostal postcodes"
POSTAL_DIGITS = (4, 7)
MATCHED = 0.95  # share of the distinct values of a column that a list must have to be proposed
FEW = 10  # distinct values from which a list is proposed
HEADS = ("code", "codes", "value", "values", "id", "name")  # first lines of files that are no value


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeList:
    """Values that anybody can know. by_prefix: they are beginnings, each of which stands for all codes below it."""

    name: str
    values: tuple[str, ...]
    by_prefix: bool = False
    headers: str = ""

    def attribute(self, column: str) -> dict[str, Any]:
        """The public entry of a column in a schema."""
        made: dict[str, Any] = {"name": column, "kind": "categorical", "source": "public"}
        made |= {"values": list(self.values), "other": True, "missing": True}
        return made | ({"by_prefix": True} if self.by_prefix else {})

    def matched(self, texts: list[str]) -> float:
        """Share of these values that the list has."""
        known, sizes = set(self.values), {len(v) for v in self.values}
        hits = (t in known or (self.by_prefix and any(t[:n] in known for n in sizes)) for t in texts)
        return sum(hits) / max(len(texts), 1)


@cache
def built_in() -> dict[str, CodeList]:
    """The lists that ship with the package, by name."""
    found = json.loads((FOLDER / "code_lists.json").read_bytes())
    made = {k: CodeList(name=k, **{**v, "values": tuple(v["values"].split())}) for k, v in found.items()}
    for size in range(1, MOST_DIGITS + 1):
        values = tuple(f"{i:0{size}d}" for i in range(10**size))
        made[f"{DIGITS}{size}"] = CodeList(name=f"{DIGITS}{size}", values=values, by_prefix=True, headers=POSTAL)
    return made


def code_list(name: str) -> CodeList:
    """A list that ships with the package, by its name, or that of a file with one value a line.

    Raises:
        SchemaError: there is no list and no file of that name, or the file has no values.
    """
    known = built_in()
    if name in known:
        return known[name]
    try:
        return list_of(Path(name).read_bytes(), Path(name).name)
    except OSError as error:
        msg = f"'{name}' is neither a file that can be read nor one of the lists {', '.join(known)}; name one of them"
        raise SchemaError(msg) from error


def list_of(raw: bytes, name: str) -> CodeList:
    """The values in the first column of a file in text. Raises SchemaError where it has none, or a cell never ends."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    first = text.partition("\n")[0]
    mark = next((m for m in "\t;," if m in first), ",")
    try:
        values = [row[0].strip() for row in csv.reader(text.splitlines(), delimiter=mark) if row and row[0].strip()]
    except csv.Error as error:
        msg = f"'{name}' is no list of values ({error}); give a text file with one value a line, such as 10115"
        raise SchemaError(msg) from error
    values = values[1:] if values and values[0].lower() in HEADS else values
    if not values:
        msg = f"'{name}' has no values; give a text file with one value a line, such as 10115"
        raise SchemaError(msg)
    return CodeList(name=name, values=tuple(dict.fromkeys(values)))


def proposed(header: str, texts: list[str]) -> CodeList | None:
    """The list that ships with the package of which a column's distinct values are. Reads values: private.

    Beginnings are proposed where the header speaks of them; of postal codes the first two digits.
    """
    if len(texts) < FEW:
        return None
    words = {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", header)}
    joined = re.sub(r"[^a-z0-9]", "", header.lower())
    for one in built_in().values():
        said = {*one.headers.split()}
        if one.name.startswith(DIGITS) and (one.name != f"{DIGITS}2" or not _of_one_length(texts)):
            continue
        if (not said or said & {*words, joined}) and one.matched(texts) >= MATCHED:
            return one
    return None


def _of_one_length(texts: list[str]) -> bool:
    """Whether codes begin with as many digits each: no number has lost a zero in front."""
    lengths = {len(re.match(r"\d*", t)[0]) for t in texts}  # type: ignore[index]
    return len(lengths) == 1 and POSTAL_DIGITS[0] <= min(lengths) <= POSTAL_DIGITS[1]


def with_list(schema: Schema, column: str, known: CodeList | str) -> Schema:
    """The schema with a public list in place of a column's entry.

    known: a list, or what `code_list` takes: a name such as iso3166 or digits:2, or a file of one value a line.

    Raises:
        SchemaError: the schema has no such column, or there is no such list.
    """
    if column not in {a.name for a in schema.attributes}:
        msg = f"the schema has no column '{column}'; name one of its own"
        raise SchemaError(msg)
    made = (code_list(known) if isinstance(known, str) else known).attribute(column)
    whole = schema.document()
    whole["attributes"] = [made if a["name"] == column else a for a in whole["attributes"]]
    return Schema.of(whole)
