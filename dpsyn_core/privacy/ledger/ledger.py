"""Ledger: every run's spend, per dataset, in one append-only SQLite file that survives crashes and races.

A run is debited whole, and the debit is on the disk, before its noise is drawn. Order is the order of insertion,
never the clock's. Each row carries a hash of itself and the rows before it, so that an edit from outside is seen: at
the next charge where it is the last row, a limit or a dataset under a limit, and otherwise when the ledger is read.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpsyn_core.errors import EngineError, LedgerError
from dpsyn_core.files import OWNER, home, put_private
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.ledger.chain import FIELDS, Limit, Rows, link_limit, link_spend, load, load_newest
from dpsyn_core.privacy.ledger.entry import (
    RECORDS,
    UNPROTECTED,
    Entry,
    Protected,
    Spend,
    composition,
    protected,
    unbounded,
)
from dpsyn_core.privacy.manifest.statement import Statement
from dpsyn_core.privacy.names import near
from dpsyn_core.privacy.unit import Unit

if TYPE_CHECKING:
    from dpsyn_core.privacy.ledger.sums import Sum, Summary

FILE = "ledger.sqlite3"
_APPLICATION = 0x44505359  # "DPSY"
_VERSION = 3  # 1 had no individuals, 2 no hashes of limits; old files are read, and get columns at their next row
_ADDED = {  # columns by the version that brought them
    2: ("ALTER TABLE spends ADD COLUMN individuals TEXT",),
    3: (
        "ALTER TABLE spends ADD COLUMN seen INTEGER",
        "ALTER TABLE limits ADD COLUMN seen INTEGER",
        "ALTER TABLE limits ADD COLUMN chain TEXT",
    ),
}
_TIMEOUT = 60.0  # seconds to wait for another process; its transaction takes milliseconds
_LONGEST_NAME = 200
_STATEMENTS = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
    """CREATE TABLE spends (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, run_id TEXT NOT NULL UNIQUE,
        method TEXT NOT NULL, purpose TEXT NOT NULL, neighbours TEXT NOT NULL, max_records INTEGER NOT NULL,
        kind TEXT NOT NULL, amount REAL NOT NULL CHECK (amount > 0), failure REAL NOT NULL, epsilon REAL NOT NULL,
        delta REAL NOT NULL, recorded TEXT NOT NULL, chain TEXT NOT NULL, individuals TEXT,
        seen INTEGER)""",
    """CREATE TABLE limits (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon REAL, delta REAL,
        recorded TEXT NOT NULL, seen INTEGER, chain TEXT)""",
    *(
        f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'append-only'); END"
        for table in ("spends", "limits")
        for verb in ("UPDATE", "DELETE")
    ),
)

_COLUMNS = ", ".join(FIELDS)


class Ledger:
    """The ledger in one file; every method opens and closes it, so that processes and threads may share it."""

    def __init__(self, path: str | Path | None = None) -> None:
        """Args: path: the SQLite file; default `ledger.sqlite3` in the folder that DPSYN_HOME names."""
        self.path = Path(path) if path is not None else home() / FILE

    def reserve(
        self,
        dataset: str,
        cap: Cost | Budget,
        *,
        budget: Budget,
        unit: Unit,
        method: str,
        run_id: str | None = None,
        delta: float = 0.0,
        purpose: str = "synthesis",
    ) -> Entry:
        """Debits the whole cost of a run; when it returns, the debit is on the disk and noise may be drawn.

        Args:
            dataset: name that the operator gave to the table.
            cap: of the run's account: its cost, or the budget when charges are composed exactly.
            budget: what the run promises, for display and for group bounds.
            unit: whom it protects.
            method: name of the system.
            run_id: of the run; a random one by default. The same run cannot be debited twice.
            delta: part of the budget's delta kept for failures.
            purpose: what the run is for ("synthesis", "schema").

        Raises:
            LedgerError: the dataset's limit would be passed, or the ledger cannot be written; nothing is debited.
            EngineError: the cost is above the budget: a fault of ours.
        """
        name = check_name(dataset)
        spend = Spend.of(cap, delta=delta)
        if not composition(spend).within(budget.epsilon, budget.delta):
            msg = f"the cost of this run of {method} is not covered by its own budget; nothing was counted"
            raise EngineError(msg)
        with self._writing() as db:
            rows = load_newest(db)
            limit = rows.limit(name)
            if limit:
                rows = load(db)  # what is added up against a limit is checked whole
            entry = Entry(
                seq=rows.next_seq,
                dataset=name,
                run_id=run_id or secrets.token_hex(8),
                method=method,
                purpose=purpose,
                neighbours=unit.neighbours,
                max_records=unit.max_records,
                kind=spend.kind,
                amount=float(spend.amount),  # as they come back from the file: the hash is over their text
                failure=float(spend.delta),
                epsilon=float(budget.epsilon),
                delta=float(budget.delta),
                recorded=datetime.now(UTC).isoformat(timespec="seconds"),
                individuals=RECORDS if unit.identifier is None else unit.identifier,
            )
            if db.execute("SELECT 1 FROM spends WHERE run_id = ?", [entry.run_id]).fetchone():
                msg = f"run '{entry.run_id}' is on the ledger already; start a new run to spend again"
                raise LedgerError(msg)
            if limit:
                before = _of(rows, name)
                from dpsyn_core.privacy.ledger.limits import fits_limit

                if not fits_limit(before, entry, limit):
                    raise LedgerError(_refusal(name, before, entry, limit))
            seen, (last, other) = len(rows.limits), rows.heads
            entry = replace(entry, chain=link_spend(last, entry, seen, other))
            values = [*(getattr(entry, f) for f in FIELDS), seen, entry.chain]
            marks = ", ".join("?" * len(values))
            db.execute(f"INSERT INTO spends ({_COLUMNS}, seen, chain) VALUES ({marks})", values)  # noqa: S608
        return entry

    def set_limit(self, dataset: str, limit: Budget | None) -> None:
        """Sets, changes or (None) lifts what all runs on a dataset may cost together."""
        name = check_name(dataset)
        pair = (float(limit.epsilon), float(limit.delta)) if limit else (None, None)
        with self._writing() as db:
            rows = load_newest(db)
            seen, (other, last) = rows.next_seq - 1, rows.heads
            recorded = datetime.now(UTC).isoformat(timespec="seconds")
            row = Limit(seq=len(rows.limits) + 1, dataset=name, epsilon=pair[0], delta=pair[1], recorded=recorded)
            db.execute(
                "INSERT INTO limits (seq, dataset, epsilon, delta, recorded, seen, chain) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [row.seq, name, *pair, recorded, seen, link_limit(last, row, seen, other)],
            )

    def limit(self, dataset: str) -> Budget | None:
        """The limit in force, if one is."""
        return self._rows().limit(check_name(dataset))

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """Debits in order, of one dataset or of all. Raises LedgerError when the file was edited from outside."""
        name = None if dataset is None else check_name(dataset)
        return [entry for entry in self._rows().spends if name in (None, entry.dataset)]

    def datasets(self) -> list[str]:
        """Names that stand on the ledger, each once, in order of their first debit."""
        return list(dict.fromkeys(entry.dataset for entry in self.entries()))

    def summary(self, dataset: str, *, delta: float | None = None) -> Summary:
        """What all runs on a dataset cost together, by exact composition.

        Args:
            dataset: name that the operator gave.
            delta: at which epsilon is reported; default the limit's, else the largest that a run used.
        """
        from dpsyn_core.privacy.ledger.sums import summarise

        name = check_name(dataset)
        rows = self._rows()
        return summarise(name, _of(rows, name), limit=rows.limit(name), delta=delta)

    def cost_for(self, dataset: str, unit: Unit, *, delta: float | None = None) -> Sum:
        """What all runs on a dataset cost those whom a run of this unit would protect, run or not.

        Args:
            dataset: name that the operator gave.
            unit: of the run that is thought of.
            delta: as in `summary`.
        """
        from dpsyn_core.privacy.ledger.sums import sum_for

        name = check_name(dataset)
        rows = self._rows()
        return sum_for(_of(rows, name), Protected.by(unit), limit=rows.limit(name), delta=delta)

    def similar(self, dataset: str) -> tuple[str, ...]:
        """Names on the ledger that differ from this one by case, ending, blanks or marks alone: perhaps one table.

        A hint for people: names are read without checking the rows that hold them.
        """
        with self._reading() as db:
            rows = () if db is None else db.execute("SELECT dataset FROM spends GROUP BY dataset ORDER BY min(seq)")
            return near(check_name(dataset), [name for (name,) in rows])

    def check_run(self, statement: Statement) -> Entry:
        """The entry that paid for the run of a manifest. Needs the ledger; `dpsyn verify` does without.

        Raises:
            LedgerError: the run is not on this ledger, or what stands there is another run: rows are missing, or the
                ledger is not the one that the run was debited on.
        """
        what = f"the run '{statement.run_id}' of dataset '{statement.dataset}'"
        entry = next((one for one in self.entries() if one.run_id == statement.run_id), None)
        if entry is None:
            msg = f"{what} is not on this ledger: its end was cut off, or it is another ledger; find the right file"
            raise LedgerError(msg)
        stated = (statement.dataset, statement.epsilon, statement.delta, statement.neighbours, statement.max_records)
        booked = (entry.dataset, entry.epsilon, entry.delta, entry.neighbours, entry.max_records)
        if stated != booked or statement.ledger_chain not in (None, entry.chain):
            msg = f"{what} stands on this ledger with other numbers or after other rows; restore it from a backup"
            raise LedgerError(msg)
        return entry

    def _rows(self) -> Rows:
        """All rows as they stood at one moment, checked."""
        with self._reading() as db:
            if db is None:
                return Rows()
            db.execute("BEGIN")  # both tables as of one moment
            try:
                return load(db)
            finally:
                db.execute("ROLLBACK")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its start and is on the disk at its end."""
        with self._reported():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = not self.path.exists()
            if fresh:
                self._make()
            with closing(self._connect("rwc")) as db:
                db.execute("BEGIN IMMEDIATE")
                try:
                    if fresh:  # also where SQLite made it
                        self.path.chmod(OWNER)
                    _prepare(db)
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise

    def _make(self) -> None:
        """An empty file that is its owner's alone from the moment at which it has its name; SQLite makes wider ones.

        It is linked into its place: closing a descriptor of the ledger itself would drop the locks of this process.
        """
        part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(6)}")
        put_private(part, b"")
        try:
            os.link(part, self.path)
        except FileExistsError:
            return  # another run has made it meanwhile
        except OSError:
            return  # a file system without links: SQLite makes the file, and it gets its mode before its first row
        finally:
            part.unlink(missing_ok=True)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for reading; None while no run has been debited yet."""
        with self._reported():
            if not self.path.exists():
                yield None
                return
            with closing(self._connect("rw" if os.access(self.path, os.W_OK) else "ro")) as db:
                if _empty(db):  # killed while it was made: SQLite has rolled it back
                    yield None
                    return
                _check_format(db)
                yield db

    def _connect(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        db = sqlite3.connect(uri, uri=True, timeout=_TIMEOUT, isolation_level=None)
        # EXTRA also syncs the folder, so that a debit outlives a power cut; REPLACE must not slip past the triggers
        db.execute("PRAGMA synchronous = EXTRA")
        db.execute("PRAGMA recursive_triggers = ON")
        return db

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turns faults of file and database into one typed sentence."""
        try:
            yield
        except sqlite3.Error as error:
            msg = f"the ledger '{self.path}' {_fault(error)}; nothing was counted"
            raise LedgerError(msg) from error
        except OSError as error:
            msg = (
                f"the ledger '{self.path}' cannot be opened ({error.strerror}); nothing was counted; "
                "let DPSYN_HOME name a folder that you may write to"
            )
            raise LedgerError(msg) from error


def check_name(dataset: str) -> str:
    """The dataset's name, trimmed and in one Unicode form. Raises LedgerError when it cannot be a name."""
    name = unicodedata.normalize("NFC", dataset).strip()
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        msg = f"a dataset's name needs 1 to {_LONGEST_NAME} printable characters, for example 'census-1940'"
        raise LedgerError(msg)
    return name


def _prepare(db: sqlite3.Connection) -> None:
    """Makes the tables in a new file, or the columns that an old one lacks, inside the caller's transaction."""
    if not _empty(db):
        found = _check_format(db)
        for version in range(found + 1, _VERSION + 1):
            for statement in _ADDED[version]:
                db.execute(statement)
        if found < _VERSION:
            db.execute(f"PRAGMA user_version = {_VERSION}")
        return
    for statement in _STATEMENTS:
        db.execute(statement)


def _empty(db: sqlite3.Connection) -> bool:
    return not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]


def _check_format(db: sqlite3.Connection) -> int:
    """The version of the file. Raises LedgerError for one that cannot be read."""
    mark, version = (db.execute(f"PRAGMA {p}").fetchone()[0] for p in ("application_id", "user_version"))
    if mark != _APPLICATION or not 1 <= version <= _VERSION:
        msg = f"the file is no ledger of version 1 to {_VERSION}; let DPSYN_HOME name another folder"
        raise LedgerError(msg)
    return int(version)


def _of(rows: Rows, name: str) -> list[Entry]:
    return [entry for entry in rows.spends if entry.dataset == name]


def _refusal(name: str, before: list[Entry], entry: Entry, limit: Budget) -> str:
    from dpsyn_core.privacy.ledger.limits import failing, lost
    from dpsyn_core.privacy.ledger.sums import summarise

    cap = f"the limit of dataset '{name}' (epsilon {limit.epsilon:g} at delta {limit.delta:g})"
    lift = f"let the owner lift it: dpsyn ledger --dataset '{name}' --no-limit"
    left = summarise(name, before, limit=limit).epsilon_left
    if entry.purpose == UNPROTECTED:
        return f"this run of {entry.method} adds no noise and promises nothing to anybody, while {cap} holds; {lift}"
    if failing(before, entry, limit):
        return (
            f"this run would pass {cap}: half of that delta is for failure probabilities, and this run's own does not "
            "fit; lower its delta, or let the owner raise the limit's delta"
        )
    gone = lost(before, entry)
    if gone is not None:
        mine = Protected(identifier=entry.individuals or None, records=entry.max_records).words
        return (
            f"this run protects {mine} ({entry.neighbours}) and promises nothing to {gone.words}, whom {cap} has "
            f"protected so far; let the schema's unit protect them, or {lift}"
        )
    if not any(not unbounded([*before, entry], who) for who in protected([*before, entry])):
        return f"the runs so far protect no one in common, so that {cap} cannot be checked; {lift}"
    room = f"about {left:.4g} is left" if left else "nothing is left"
    return f"this run would pass {cap}; {room}; lower epsilon, or let the owner raise the limit"


def _fault(error: sqlite3.Error) -> str:
    """What happened, and the remedy, by the error code of SQLite."""
    code = getattr(error, "sqlite_errorname", "")
    causes = {
        "SQLITE_FULL": "is full (no space on the disk); free some space",
        "SQLITE_READONLY": "cannot be written; make it writable or let DPSYN_HOME name another folder",
        "SQLITE_CANTOPEN": "cannot be opened; let DPSYN_HOME name a folder that you may write to",
        "SQLITE_NOTADB": "is no database; move it away or restore it from a backup",
        "SQLITE_CORRUPT": "is damaged; restore it from a backup",
        "SQLITE_BUSY": f"was in use by another process for {_TIMEOUT:.0f} seconds; try again",
        "SQLITE_IOERR": "could not be written (disk full or failing); free some space or check the disk",
        "SQLITE_CONSTRAINT": "is append-only and refused a change",
    }
    for start, text in causes.items():
        if code.startswith(start):
            return text
    return f"cannot be used ({code or type(error).__name__}); restore it from a backup"
