"""Chain: the rows of a ledger file, each hashed with the hashes of all rows before it, debits and limits alike.

A row's hash covers the row, the row before it in its table, and the last row of the other table when it was written.
So an edited row is detected, and a row that was cut off is detected by any later row of either table. Rows of files of
versions 1 and 2 are hashed as they were; what they lack (limits had no hash) is covered by the next row.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dpsyn_core.errors import LedgerError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.entry import Entry

FIELDS = tuple(f.name for f in fields(Entry) if f.name != "chain")
_RESTORE = "restore the file from a backup"
_MISSING = f"rows of the ledger are missing that later ones were written after; {_RESTORE}"


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
    """Rows of a file, checked, in order: all of them, or the last debit alone with all limits."""

    spends: tuple[Entry, ...] = ()
    limits: tuple[Limit, ...] = ()

    def limit(self, dataset: str) -> Budget | None:
        """The limit in force, if one is."""
        mine = [row for row in self.limits if row.dataset == dataset]
        return mine[-1].budget if mine else None

    @property
    def next_seq(self) -> int:
        """Number of the next debit."""
        return self.spends[-1].seq + 1 if self.spends else 1

    @property
    def heads(self) -> tuple[str, str]:
        """Hashes of the last debit and of the last limit."""
        return (self.spends[-1].chain if self.spends else "", self.limits[-1].chain if self.limits else "")


def link_spend(before: str, entry: Entry, seen: int | None, other: str) -> str:
    """Hash of a debit. seen: number of the last limit when it was written, None in old files; other: its hash."""
    hashed = FIELDS if entry.individuals is not None else FIELDS[:-1]  # what a row of version 1 was hashed over
    row: list[Any] = [getattr(entry, f) for f in hashed]
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
            seen = spends[i].get("seen")
            if seen_once and seen is None:
                raise LedgerError(_changed_at(f"entry {i + 1}"))
            seen_once = seen is not None
            before = done_spends[-1].chain if i else ""
            done_spends.append(_checked_spend(spends[i], i + 1, before, limits_chain(done_limits, seen)))
        elif j < len(limits) and (limits[j].get("seen") or 0) <= i:
            seen, kept = limits[j].get("seen"), limits[j].get("chain")
            before, other = done_limits[-1].chain if j else "", done_spends[seen - 1].chain if seen else ""
            done_limits.append(_checked_limit(limits[j], j + 1, before, other, chained=chained))
            chained = kept is not None
        else:
            raise LedgerError(_MISSING)
    _check_end(db, len(spends), len(limits))
    return Rows(spends=tuple(done_spends), limits=tuple(done_limits))


def load_newest(db: sqlite3.Connection) -> Rows:
    """The last debit alone and all limits, each checked: what a charge without a limit follows, at any length.

    Earlier debits are read where a row names their hash; whether they were edited is what `load` finds. Raises
    LedgerError as `load` does.
    """
    rows = _table(db, "spends", last=True)
    limits: list[Limit] = []
    chained = False
    for row in _table(db, "limits"):
        other = _spend_chain(db, row.get("seen") or 0)
        before = limits[-1].chain if limits else ""
        limits.append(_checked_limit(row, len(limits) + 1, before, other, chained=chained))
        chained = row.get("chain") is not None
    spends: list[Entry] = []
    for row in rows:
        seen = row.get("seen") or 0
        if seen > len(limits):
            raise LedgerError(_MISSING)
        before = _spend_chain(db, row["seq"] - 1)
        spends.append(_checked_spend(row, row["seq"], before, limits_chain(limits, seen)))
    _check_end(db, spends[-1].seq if spends else 0, len(limits))
    return Rows(spends=tuple(spends), limits=tuple(limits))


def _checked_spend(row: Mapping[str, Any], seq: int, before: str, other: str) -> Entry:
    """The debit, whose hash follows from that of the row before it and from that of the last limit."""
    entry = Entry(**{name: value for name, value in row.items() if name not in ("seen", "chain")})
    chain = link_spend(before, entry, row.get("seen"), other)
    if chain != row["chain"] or entry.seq != seq:
        raise LedgerError(_changed_at(f"entry {seq}"))
    return replace(entry, chain=chain)


def _checked_limit(row: Mapping[str, Any], seq: int, before: str, other: str, *, chained: bool) -> Limit:
    """The limit, likewise; one of an old file has no hash, unless a limit before it has one (`chained`)."""
    limit = Limit(**{name: value for name, value in row.items() if name not in ("seen", "chain")})
    chain, kept = link_limit(before, limit, row.get("seen"), other), row.get("chain")
    if (kept is None and chained) or kept not in (None, chain) or limit.seq != seq:
        raise LedgerError(_changed_at(f"limit {seq}"))
    return replace(limit, chain=chain)


def _spend_chain(db: sqlite3.Connection, seq: int) -> str:
    """The hash that the file holds for this debit; empty for number 0. Raises LedgerError where there is none."""
    if seq == 0:
        return ""
    row = db.execute("SELECT chain FROM spends WHERE seq = ?", [seq]).fetchone()
    if row is None:
        raise LedgerError(_MISSING)
    return str(row[0])


def _changed_at(place: str) -> str:
    return f"the ledger was changed from outside at {place}; {_RESTORE}"


def limits_chain(limits: list[Limit], seen: int | None) -> str:
    """Hash of the limit of this number; empty where there was none."""
    return limits[seen - 1].chain if seen else ""


def _table(db: sqlite3.Connection, name: str, *, last: bool = False) -> list[dict[str, Any]]:
    order = "DESC LIMIT 1" if last else ""
    cursor = db.execute(f"SELECT * FROM {name} ORDER BY seq {order}")  # noqa: S608 one of two names of ours
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, values, strict=True)) for values in cursor]


def _check_end(db: sqlite3.Connection, spends: int, limits: int) -> None:
    """SQLite itself keeps the largest number that a table ever gave out."""
    given = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    if given.get("spends", 0) > spends or given.get("limits", 0) > limits:
        msg = f"rows at the end of the ledger were removed from outside; {_RESTORE}"
        raise LedgerError(msg)


def _hash(before: str, row: str) -> str:
    return hashlib.sha256(f"{before}\n{row}".encode()).hexdigest()
