"""Which column may name individuals, by its header; and, for the owner, how its values repeat, which is private."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.schema.codec import identifiers
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables.headers import locate

# fmt: off
WORDS = frozenset({
    "id", "ids", "nr", "no", "num", "number", "pid", "person", "personid", "persnr", "subject", "subjectid", "patient",
    "patientid", "respondent", "resp", "customer", "customerid", "client", "clientid", "user", "userid", "username",
    "member", "employee", "student", "pupil", "case", "caseid", "idnr", "idno", "name", "email", "mail", "ssn", "uuid",
    "guid", "key", "serial", "household", "householdid", "hhid", "individual", "worker", "panelid", "firm", "firmid",
})
PERSONS = frozenset({
    "person", "persnr", "subject", "patient", "respondent", "customer", "client", "user", "username", "member",
    "employee", "student", "pupil", "household", "individual", "worker", "ssn", "email", "mail",
})
# fmt: on
CODE = r"^([A-Za-z]{0,6}[-_. ]?\d{3,}|[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}|[0-9a-fA-F]{16,64})$"
CODED = 0.9  # share of the distinct values of a column that look like codes, from which on the column is one of codes
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
LADDER = (1, 2, 5, 10, 20, 50, 100)  # limits on the records of an individual that are proposed: the same for all tables


def named_like_one(name: str) -> bool:
    """Whether a header is a usual one for a column that names individuals: id, person_id, PatientID, nr."""
    parts = [p.lower() for p in PARTS.findall(name)]
    joined = "".join(parts)
    return joined in WORDS or (bool(parts) and parts[-1] in ("id", "ids", "nr", "uuid", "guid"))


def candidates(schema: Schema) -> list[str]:
    """Columns whose headers say that they may name individuals; those that name a kind of person come first.

    From public knowledge alone.
    """
    named = [a.name for a in schema.attributes if named_like_one(a.name)]
    return sorted(named, key=lambda name: not any(word in name.lower() for word in PERSONS))


def shaped(table: Any, names: Iterable[str]) -> str | None:
    """The first of these columns that holds codes, such as P-00123 or a UUID, of which some repeat: private."""
    import pyarrow.compute as pc

    for name in names:
        entries = identifiers(table.column(locate(table.column_names, [name])[0]), name).drop_null()
        if 2 <= len(entries.dictionary) < len(entries):
            like = pc.mean(pc.match_substring_regex(entries.dictionary, CODE).cast("int8")).as_py()
            if like >= CODED:
                return name
    return None


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
        found = repeats(table, name)
        if found.several:
            return found
    return None
