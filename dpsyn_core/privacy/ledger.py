"""Ledger: every run's spend, per dataset, in one append-only SQLite file that survives crashes and races.

A run is debited whole, and the debit is on the disk, before its noise is drawn. Order is the order of insertion,
never the clock's. Each row carries a hash of itself and the row before it, so that an edit from outside is seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from dpsyn_core.errors import EngineError, LedgerError
from dpsyn_core.files import home
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.privacy.entry import Entry
from dpsyn_core.privacy.protected import RECORDS, Protected, protected, unbounded
from dpsyn_core.privacy.spend import Spend
from dpsyn_core.privacy.sums import Sum, Summary, composition, fits_limit, lost, sum_for, summarise
from dpsyn_core.privacy.unit import Unit

FILE = "ledger.sqlite3"
_APPLICATION = 0x44505359  # "DPSY"
_VERSION = 2  # 1 had no individuals; such files are read as they are, and get the column at their next debit
_TIMEOUT = 60.0  # seconds to wait for another process; its transaction takes milliseconds
_LONGEST_NAME = 200
_STATEMENTS = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
    """CREATE TABLE spends (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, run_id TEXT NOT NULL UNIQUE,
        method TEXT NOT NULL, purpose TEXT NOT NULL, neighbours TEXT NOT NULL, max_records INTEGER NOT NULL,
        kind TEXT NOT NULL, amount REAL NOT NULL CHECK (amount > 0), failure REAL NOT NULL, epsilon REAL NOT NULL,
        delta REAL NOT NULL, recorded TEXT NOT NULL, chain TEXT NOT NULL, individuals TEXT)""",
    """CREATE TABLE limits (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon REAL, delta REAL,
        recorded TEXT NOT NULL)""",
    *(
        f"CREATE TRIGGER {table}_{verb} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, 'append-only'); END"
        for table in ("spends", "limits")
        for verb in ("UPDATE", "DELETE")
    ),
)


_FIELDS = tuple(f.name for f in fields(Entry))
_COLUMNS = ", ".join(_FIELDS)


class Ledger:
    """The ledger in one file; every method opens and closes it, so that processes and threads may share it."""

    def __init__(self, path: Path | None = None) -> None:
        """Args: path: the SQLite file; default `ledger.sqlite3` in the folder that DPSYN_HOME names."""
        self.path = path or home() / FILE

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
            rows = _load(db)
            entry = Entry(
                seq=rows[-1][0].seq + 1 if rows else 1,
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
            if any(one.run_id == entry.run_id for one, _ in rows):
                msg = f"run '{entry.run_id}' is on the ledger already; start a new run to spend again"
                raise LedgerError(msg)
            limit = _limit(db, name)
            before = [one for one, _ in rows if one.dataset == name]
            if limit and not fits_limit(before, entry, limit):
                raise LedgerError(_refusal(name, before, entry, limit))
            values = [getattr(entry, f) for f in _FIELDS]
            marks = ", ".join("?" * (len(values) + 1))
            chain = _link(rows[-1][1] if rows else "", entry)
            db.execute(f"INSERT INTO spends ({_COLUMNS}, chain) VALUES ({marks})", [*values, chain])  # noqa: S608
        return entry

    def set_limit(self, dataset: str, limit: Budget | None) -> None:
        """Sets, changes or (None) lifts what all runs on a dataset may cost together."""
        name = check_name(dataset)
        pair = (limit.epsilon, limit.delta) if limit else (None, None)
        with self._writing() as db:
            db.execute(
                "INSERT INTO limits (dataset, epsilon, delta, recorded) VALUES (?, ?, ?, ?)",
                [name, *pair, datetime.now(UTC).isoformat(timespec="seconds")],
            )

    def limit(self, dataset: str) -> Budget | None:
        """The limit in force, if one is."""
        with self._reading() as db:
            return _limit(db, check_name(dataset)) if db else None

    def entries(self, dataset: str | None = None) -> list[Entry]:
        """Debits in order, of one dataset or of all. Raises LedgerError when the file was edited from outside."""
        name = None if dataset is None else check_name(dataset)
        with self._reading() as db:
            rows = _load(db) if db else []
        return [entry for entry, _ in rows if name in (None, entry.dataset)]

    def datasets(self) -> list[str]:
        """Names that stand on the ledger, each once, in order of their first debit."""
        return list(dict.fromkeys(entry.dataset for entry in self.entries()))

    def summary(self, dataset: str, *, delta: float | None = None) -> Summary:
        """What all runs on a dataset cost together, by exact composition.

        Args:
            dataset: name that the operator gave.
            delta: at which epsilon is reported; default the limit's, else the largest that a run used.
        """
        name = check_name(dataset)
        return summarise(name, self.entries(name), limit=self.limit(name), delta=delta)

    def cost_for(self, dataset: str, unit: Unit, *, delta: float | None = None) -> Sum:
        """What all runs on a dataset cost those whom a run of this unit would protect, run or not.

        Args:
            dataset: name that the operator gave.
            unit: of the run that is thought of.
            delta: as in `summary`.
        """
        name = check_name(dataset)
        return sum_for(self.entries(name), Protected.by(unit), limit=self.limit(name), delta=delta)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its start and is on the disk at its end."""
        with self._reported():
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = not self.path.exists()
            with closing(self._connect("rwc")) as db:
                db.execute("BEGIN IMMEDIATE")
                try:
                    if fresh:  # by name: closing another descriptor of the file would drop the locks of this process
                        self.path.chmod(0o600)
                    _prepare(db)
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection for reading; None while no run has been debited yet."""
        with self._reported():
            if not self.path.exists() or self.path.stat().st_size == 0:
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
    """Makes the tables in a new file, or the column that an old one lacks, inside the caller's transaction."""
    if not _empty(db):
        if _check_format(db) == 1:
            db.execute("ALTER TABLE spends ADD COLUMN individuals TEXT")
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


def _link(before: str, entry: Entry) -> str:
    """Hash of a row and of the one before it."""
    known = _FIELDS if entry.individuals is not None else _FIELDS[:-1]  # what a row of version 1 was hashed over
    row = json.dumps([getattr(entry, f) for f in known])
    return hashlib.sha256(f"{before}\n{row}".encode()).hexdigest()


def _load(db: sqlite3.Connection) -> list[tuple[Entry, str]]:
    """All rows with their hashes, in order; raises LedgerError where a hash does not follow from the one before."""
    rows: list[tuple[Entry, str]] = []
    chain = ""
    found = db.execute("SELECT * FROM spends ORDER BY seq")  # one statement: another process may add the column
    names = [column[0] for column in found.description]
    for values in found:
        row = dict(zip(names, values, strict=True))
        kept = row.pop("chain")
        entry = Entry(**row)
        chain = _link(chain, entry)
        if chain != kept:
            msg = f"the ledger was changed from outside at entry {entry.seq}; restore the file from a backup"
            raise LedgerError(msg)
        rows.append((entry, chain))
    return rows


def _limit(db: sqlite3.Connection, name: str) -> Budget | None:
    query = "SELECT epsilon, delta FROM limits WHERE dataset = ? ORDER BY seq DESC LIMIT 1"
    row = db.execute(query, [name]).fetchone()
    return Budget(epsilon=row[0], delta=row[1]) if row and row[0] is not None else None


def _refusal(name: str, before: list[Entry], entry: Entry, limit: Budget) -> str:
    held = f"the limit of dataset '{name}' (epsilon {limit.epsilon:g} at delta {limit.delta:g})"
    lift = f"let the owner lift it: dpsyn ledger --dataset '{name}' --no-limit"
    left = summarise(name, before, limit=limit).epsilon_left
    gone = lost(before, entry)
    if gone is not None:
        mine = Protected(identifier=entry.individuals or None, records=entry.max_records).words
        return (
            f"this run protects {mine} ({entry.neighbours}) and promises nothing to {gone.words}, for whom {held} has "
            f"held so far; let the schema's unit protect them, or {lift}"
        )
    if not any(not unbounded([*before, entry], who) for who in protected([*before, entry])):
        return f"the runs so far protect no one in common, so that {held} cannot be checked; {lift}"
    room = f"about {left:.4g} is left" if left else "nothing is left"
    return f"this run would pass {held}; {room}; lower epsilon, or let the owner raise the limit"


def _fault(error: sqlite3.Error) -> str:
    """What happened, and the remedy, from SQLite's own code."""
    code = getattr(error, "sqlite_errorname", "")
    known = {
        "SQLITE_FULL": "is full (no space on the disk); free some space",
        "SQLITE_READONLY": "cannot be written; make it writable or let DPSYN_HOME name another folder",
        "SQLITE_CANTOPEN": "cannot be opened; let DPSYN_HOME name a folder that you may write to",
        "SQLITE_NOTADB": "is no database; move it away or restore it from a backup",
        "SQLITE_CORRUPT": "is damaged; restore it from a backup",
        "SQLITE_BUSY": f"was in use by another process for {_TIMEOUT:.0f} seconds; try again",
        "SQLITE_IOERR": "could not be written (disk full or failing); free some space or check the disk",
        "SQLITE_CONSTRAINT": "is append-only and refused a change",
    }
    for start, text in known.items():
        if code.startswith(start):
            return text
    return f"cannot be used ({code or type(error).__name__}); restore it from a backup"
