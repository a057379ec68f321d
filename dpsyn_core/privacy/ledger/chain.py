"""Chain: the rows of a ledger file, each held to the hashes of all rows before it, debits and limits alike.

A row's hash covers the row, the row before it in its table, and the last row of the other table when it was written.
So an edited row is found, and a row that was cut off is found by any later row of either table. Rows of files of
versions 1 and 2 are hashed as they were; what they lack (limits had no hash) is covered by the next row.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass, fields, replace
from typing import Any

from dpsyn_core.errors import LedgerError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.entry import Entry

FIELDS = tuple(f.name for f in fields(Entry) if f.name != "chain")
_RESTORE = "restore the file from a backup"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """What all runs on a dataset may cost together from this row on; epsilon and delta None: a limit was lifted."""

    seq: int
    dataset: str
    epsilon: float | None
    delta: float | None
    recorded: str
    chain: str = ""

    @property
    def budget(self) -> Budget | None:
        """The limit as a budget; None where it was lifted."""
        if self.epsilon is None or self.delta is None:
            return None
        return Budget(epsilon=self.epsilon, delta=self.delta)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """All rows of a file, checked, in order."""

    spends: tuple[Entry, ...] = ()
    limits: tuple[Limit, ...] = ()

    def limit(self, dataset: str) -> Budget | None:
        """The limit in force, if one is."""
        mine = [row for row in self.limits if row.dataset == dataset]
        return mine[-1].budget if mine else None

    @property
    def heads(self) -> tuple[str, str]:
        """Hashes of the last debit and of the last limit."""
        return (self.spends[-1].chain if self.spends else "", self.limits[-1].chain if self.limits else "")


def link_spend(before: str, entry: Entry, seen: int | None, other: str) -> str:
    """Hash of a debit. seen: number of the last limit when it was written, None in old files; other: its hash."""
    known = FIELDS if entry.individuals is not None else FIELDS[:-1]  # what a row of version 1 was hashed over
    row: list[Any] = [getattr(entry, f) for f in known]
    return _hash(before, json.dumps(row) if seen is None else json.dumps([*row, seen, other]))


def link_limit(before: str, limit: Limit, seen: int | None, other: str) -> str:
    """Hash of a limit. seen: number of the last debit when it was written, None in old files; other: its hash."""
    return _hash(
        before, json.dumps([limit.seq, limit.dataset, limit.epsilon, limit.delta, limit.recorded, seen, other])
    )


def load(db: sqlite3.Connection) -> Rows:
    """All rows. Raises LedgerError where a hash does not follow from the rows before, or rows are missing."""
    spends, limits = _table(db, "spends"), _table(db, "limits")
    done_spends: list[Entry] = []
    done_limits: list[Limit] = []
    chained = False  # once limits have hashes, all later ones have
    seen_once = False
    while len(done_spends) < len(spends) or len(done_limits) < len(limits):
        i, j = len(done_spends), len(done_limits)
        if i < len(spends) and (spends[i].get("seen") or 0) <= j:
            row = spends[i]
            seen, kept = row.pop("seen", None), row.pop("chain")
            entry = Entry(**row)
            other = limits_chain(done_limits, seen)
            chain = link_spend(done_spends[-1].chain if i else "", entry, seen, other)
            if chain != kept or (seen_once and seen is None) or entry.seq != i + 1:
                msg = f"the ledger was changed from outside at entry {i + 1}; {_RESTORE}"
                raise LedgerError(msg)
            seen_once = seen is not None
            done_spends.append(replace(entry, chain=chain))
        elif j < len(limits) and (limits[j].get("seen") or 0) <= i:
            row = limits[j]
            seen, kept = row.pop("seen", None), row.pop("chain", None)
            limit = Limit(**row)
            other = done_spends[seen - 1].chain if seen else ""
            chain = link_limit(done_limits[-1].chain if j else "", limit, seen, other)
            if (kept is None and chained) or (kept is not None and kept != chain) or limit.seq != j + 1:
                msg = f"the ledger was changed from outside at limit {j + 1}; {_RESTORE}"
                raise LedgerError(msg)
            chained = kept is not None
            done_limits.append(replace(limit, chain=chain))
        else:
            msg = f"rows of the ledger are missing that later ones were written after; {_RESTORE}"
            raise LedgerError(msg)
    _check_end(db, len(spends), len(limits))
    return Rows(spends=tuple(done_spends), limits=tuple(done_limits))


def limits_chain(limits: list[Limit], seen: int | None) -> str:
    """Hash of the limit of this number; empty where there was none."""
    return limits[seen - 1].chain if seen else ""


def _table(db: sqlite3.Connection, name: str) -> list[dict[str, Any]]:
    found = db.execute(f"SELECT * FROM {name} ORDER BY seq")  # noqa: S608 one of two names of ours
    names = [column[0] for column in found.description]
    return [dict(zip(names, values, strict=True)) for values in found]


def _check_end(db: sqlite3.Connection, spends: int, limits: int) -> None:
    """SQLite itself keeps the largest number that a table ever gave out."""
    given = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    if given.get("spends", 0) > spends or given.get("limits", 0) > limits:
        msg = f"rows at the end of the ledger were removed from outside; {_RESTORE}"
        raise LedgerError(msg)


def _hash(before: str, row: str) -> str:
    return hashlib.sha256(f"{before}\n{row}".encode()).hexdigest()
