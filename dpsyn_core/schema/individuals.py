"""Which column may name individuals, by its header; and, for the owner, how its values repeat, which is private."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.schema.codec import identifiers
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.individual_words import measures, named_by, names_another, speaks_of_persons
from dpsyn_core.schema.languages import ANSWERS
from dpsyn_core.tables import locate

# codes: P-00123, 12345678Z, GB29NWBK60161331926819, a UUID; names of accounts and devices in hexadecimal digits; e-mail
CODE = (
    r"^([A-Za-z]{1,6}[-_./ ]?\d{3,}[A-Za-z]?|\d{7,}-?[A-Za-z]|[A-Z]{2}\d{2}[ A-Z0-9]{11,30}"
    r"|[A-Z]{2} ?(\d\d ?){3}[A-Z]|[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]|[^@\s]+@[^@\s]+\.[^@\s]+"
    r"|[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}|[0-9a-fA-F]{16,64})$"
)
NUMBER = r"^\+?\d[\d -]{5,}$"  # a long number, also with marks: an account, a card, a telephone
DAY = (  # 202401, 20240131, 2024-01-31; FY2024; and postcodes: 12345-6789
    r"^(\d{5}-\d{4}|(1[89]|20)\d\d-?(0[1-9]|1[0-2])(-?([0-2]\d|3[01]))?(\d{4}|\d{6})?"
    r"|[A-Za-z]{1,6}[-_./ ]?(19|20)\d\d)$"
)
# goods by their check digit, and books; no cards (from 2, 98 and 99), nor Swiss social insurance or physicians (75, 76)
GOODS = r"^([013-68]\d{12}|7[0-47-9]\d{11}|9[0-6]\d{11}|97[78]\d{10}|979(0\d|8\d|1[0-2])\d{8})$"
ROUND = r"00$"  # of amounts; of numbers of things every hundredth ends so
CODED = 0.9  # share of the distinct values of a column that look like codes, from which on the column is one of codes
CAPITAL, PROPER = r"^\p{Lu}", r"^\p{Lu}|\d|@"  # how names are written, and numbers and addresses too
FEW_NAMES = 10  # distinct values up to which a column of persons may be one of their kinds, such as gold and silver
LADDER = (1, 2, 5, 10, 20, 50, 100)  # limits on the records of an individual that are proposed: the same for all tables


def named_like_one(name: str) -> bool:
    """Whether a header names a person or a thing of a person's: person_id, PatientNo, IBAN, Kontonummer, Vorname."""
    return bool(named_by(name))


def names_persons(header: str, texts: Any) -> bool:
    """Whether a list of these values would be one of persons: names by the header, or many names or numbers of persons.

    Args:
        header: of the column.
        texts: pyarrow string array of its distinct values; private.
    """
    what = named_by(header)
    if what == "name":
        return len(texts) > 2
    looks = PROPER if what else CAPITAL if speaks_of_persons(header) else ""
    return bool(looks) and len(texts) > FEW_NAMES and _share(texts, looks) >= CODED


def candidates(schema: Schema) -> list[str]:
    """As `naming`, of the columns of a schema; a list of no and yes, such as that of `member`, names nobody."""
    lists = {a.name: {str(v).lower() for v in a.single_values} for a in schema.coded if a.listed}
    answers = [set(known) for known in ANSWERS]
    return naming(a.name for a in schema.attributes if lists.get(a.name) not in answers)


def naming(headers: Iterable[str]) -> list[str]:
    """Headers which say that their columns may name individuals: first persons, then things of theirs, then names.

    From public knowledge alone.
    """
    named = {n: named_by(n) for n in headers}
    return sorted((n for n, what in named.items() if what), key=lambda n: ("person", "thing", "name").index(named[n]))


def looked_at(schema: Schema) -> list[str]:
    """Columns that may hold codes or numbers of things: no dates, no fractions, and no other thing by header."""
    fractions = {a.name for a in schema.coded if not a.whole and not a.listed}
    return [a.name for a in schema.attributes if not (a.dated or a.name in fractions or names_another(a.name))]


def coded(table: Any, names: Iterable[str]) -> str | None:
    """The first of these columns that holds codes or long numbers of one length, of which some repeat: private.

    A value that stands in more rows than the largest usual limit, on average, names a group and no person.
    """
    listed = list(names)
    for name, place in zip(listed, locate(table.column_names, listed), strict=True):
        entries = identifiers(table.column(place), name).drop_null()
        values, rows = entries.dictionary, len(entries)
        if 2 <= len(values) < rows <= LADDER[-1] * len(values) and coded_values(values, name):
            return name
    return None


def _share(values: Any, pattern: str) -> float:
    import pyarrow.compute as pc

    return float(pc.mean(pc.match_substring_regex(values, pattern).cast("int8")).as_py())


def coded_values(values: Any, name: str) -> bool:
    """Whether these are codes, or numbers of things: long, of one length, no days, no amounts by header or rounded."""
    if _share(values, DAY) > 0.5 or _goods(values):
        return False
    if _share(values, CODE) >= CODED:
        return True
    if measures(name) or _share(values, NUMBER) < CODED or _share(values, ROUND) > 0.1:
        return False
    import pyarrow.compute as pc

    lengths = pc.value_counts(pc.utf8_length(values)).field("counts")
    return float(pc.max(lengths).as_py()) >= CODED * len(values)


def _goods(values: Any) -> bool:
    """By check digits. An ISBN of ten is checked as an NHS number of a patient is: only an X of some tells it."""
    plain = [v.replace("-", "") for v in values.to_pylist()[:10_000]]
    shaped = [v for v in plain if re.fullmatch(GOODS, v)]
    good = sum(sum(int(c) * (1, 3)[i % 2] for i, c in enumerate(v)) % 10 == 0 for v in shaped)
    tens = [v for v in plain if re.fullmatch(r"\d{9}[\dXx]", v)]
    read = sum(sum((10 - i) * (10 if c in "Xx" else int(c)) for i, c in enumerate(v)) % 11 == 0 for v in tens)
    return good + read * any(v[-1] in "Xx" for v in tens) >= CODED * len(plain)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A column that may name persons. seen: its values suggest it, which is private; else its header does."""

    column: str
    seen: bool

    def __str__(self) -> str:
        """Why somebody has to say who is one individual."""
        what = "holds codes or long numbers of which some repeat" if self.seen else "is named like one of persons"
        return f"column '{self.column}' {what}, so that one individual may have several records"


def asked(schema: Schema, table: Any) -> Asked | None:
    """The column for which somebody has to say who is one individual; None where each record may well be one.

    A header tells without the data; only where none does are the values read.
    """
    named = candidates(schema)
    if named:
        return Asked(column=named[0], seen=False)
    column = coded(table, looked_at(schema))
    return None if column is None else Asked(column=column, seen=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What a limit keeps: of so many rows a person at most, rows kept, and persons of whom all rows are kept."""

    most: int
    rows: int
    whole: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeats:
    """How the values of a column repeat: private. records: rows with a value; persons: distinct values."""

    column: str
    records: int
    persons: int
    kept: tuple[Kept, ...]

    @property
    def several(self) -> bool:
        """Whether most values stand in several rows: the column may name persons."""
        return self.persons >= 2 and self.records >= 1.5 * self.persons


def repeats(table: Any, column: str) -> Repeats:
    """Counts the rows of each value of a column, and what each limit of the ladder keeps. Reads the data: private."""
    names = identifiers(table.column(locate(table.column_names, [column])[0]), column).drop_null()
    counts = np.bincount(names.indices.to_numpy(zero_copy_only=False).astype(np.int64), minlength=0)
    counts = counts[counts > 0]
    kept = tuple(Kept(most=m, rows=int(np.minimum(counts, m).sum()), whole=int((counts <= m).sum())) for m in LADDER)
    return Repeats(column=column, records=int(counts.sum()), persons=int(counts.size), kept=kept)


def repeating(table: Any, names: Iterable[str]) -> Repeats | None:
    """The first of these columns whose values mostly repeat; None where none does. Reads the data: private."""
    for name in names:
        repeated = repeats(table, name)
        if repeated.several:
            return repeated
    return None
