"""Edited rows of a ledger are found, debits and limits alike, and so is an end that was cut off."""

import sqlite3

import pytest

from dpsyn_core.errors import LedgerError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.ledger import chain
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import Booking
from dpsyn_core.privacy.unit import Unit
from tests.privacy.facts import facts

ONE = Budget(epsilon=1.0, delta=1e-9)


def reserve(ledger, run_id, budget=ONE):
    return ledger.reserve("census", budget.gaussian(), budget=budget, unit=Unit(), method="independent", run_id=run_id)


@pytest.fixture
def ledger(tmp_path):
    """limit 8, run a, limit 4, run b."""
    made = Ledger(tmp_path / "ledger.sqlite3")
    for limit, run in ((8.0, "a"), (4.0, "b")):
        made.set_limit("census", Budget(epsilon=limit, delta=1e-9))
        reserve(made, run)
    return made


def tamper(ledger, *statements):
    """Changes the file as somebody with an editor for databases would."""
    with sqlite3.connect(ledger.path) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize(
    "sql", ["epsilon = 400", "delta = 0.1", "dataset = 'other'", "epsilon = NULL, delta = NULL", "recorded = ''"]
)
@pytest.mark.parametrize("seq", [1, 2])
def test_an_edited_limit_is_found(ledger, sql, seq):
    tamper(ledger, f"UPDATE limits SET {sql} WHERE seq = {seq}")
    with pytest.raises(LedgerError, match=f"outside at limit {seq}"):
        ledger.limit("census")
    with pytest.raises(LedgerError, match=f"outside at limit {seq}"):
        reserve(ledger, "c")


def test_a_limit_without_its_hash_is_found(ledger):
    tamper(ledger, "UPDATE limits SET epsilon = 400, chain = NULL WHERE seq = 2")
    with pytest.raises(LedgerError, match="outside at limit 2"):
        ledger.entries()


def test_a_debit_that_forgets_which_limits_it_saw_is_found(ledger):
    tamper(ledger, "UPDATE spends SET seen = NULL WHERE seq = 2")
    with pytest.raises(LedgerError, match="outside at entry 2"):
        ledger.entries()


@pytest.mark.parametrize("table", ["spends", "limits"])
def test_an_end_that_was_cut_off_is_found_by_what_sqlite_itself_counts(ledger, table):
    tamper(ledger, f"DELETE FROM {table} WHERE seq = 2")
    with pytest.raises(LedgerError, match=r"removed from outside|missing"):
        ledger.entries()


@pytest.mark.parametrize("table", ["spends", "limits"])
def test_a_cut_end_is_found_by_a_later_row_of_the_other_table(ledger, table):
    if table == "spends":
        ledger.set_limit("census", None)
    tamper(ledger, f"DELETE FROM {table} WHERE seq = 2", f"UPDATE sqlite_sequence SET seq = 1 WHERE name = '{table}'")
    with pytest.raises(LedgerError, match="missing"):
        ledger.entries()


@pytest.fixture
def hashed(monkeypatch):
    """What was hashed, row by row."""
    rows, real = [], chain._hash
    monkeypatch.setattr(chain, "_hash", lambda before, row: rows.append(row) or real(before, row))
    return rows


def rows_hashed_by_a_charge(ledger, hashed):
    hashed.clear()
    reserve(ledger, None)
    return len(hashed)


def test_a_charge_hashes_no_more_rows_at_the_end_of_a_long_ledger(tmp_path, hashed):
    made = Ledger(tmp_path / "long.sqlite3")
    made.set_limit("another", ONE)
    counts = [rows_hashed_by_a_charge(made, hashed) for _ in range(30)]
    assert counts == [2, *[3] * 29]  # the limit, the last row where there is one, and the new row
    hashed.clear()
    assert len(made.entries()) == 30
    assert len(hashed) == 31  # whoever reads the whole checks the whole


@pytest.mark.parametrize("sql", ["amount = 0.1", "dataset = 'other'", "seen = NULL", "recorded = ''", "chain = 'a'"])
def test_an_edited_last_row_is_found_by_the_next_charge(ledger, sql):
    ledger.set_limit("census", None)
    tamper(ledger, f"UPDATE spends SET {sql} WHERE seq = 2")
    with pytest.raises(LedgerError, match=r"outside at (entry 2|limit 3)"):
        reserve(ledger, "c")


@pytest.mark.parametrize("sql", ["DELETE FROM spends WHERE seq = 1", "DELETE FROM limits WHERE seq = 1"])
def test_a_row_that_is_missing_where_the_last_ones_follow_it_is_found_by_the_next_charge(ledger, sql):
    ledger.set_limit("census", None)
    tamper(ledger, sql)
    with pytest.raises(LedgerError, match=r"missing|outside at"):
        reserve(ledger, "c")


def test_an_earlier_debit_counts_against_a_limit_only_after_the_whole_was_checked(ledger):
    tamper(ledger, "UPDATE spends SET amount = amount / 100 WHERE seq = 1")
    with pytest.raises(LedgerError, match="outside at entry 1"):
        reserve(ledger, "c")
    assert ledger.similar("Census") == ("census",)  # a hint for people goes unchecked


def manifest(entry):
    mu = entry.amount
    charge = Charge(name="total", mechanism="gaussian", sensitivity=1.0, scale=1 / mu, cells=1, rho=mu * mu / 2)
    return Manifest.build(
        budget=ONE, unit=Unit(), charges=[charge], method="independent", settings={}, n_records=1,
        booking=Booking("census", entry.run_id, entry.chain), facts=facts(), seed=1, seconds=0.0,
    )  # fmt: skip


def test_a_cut_end_that_left_no_trace_is_found_by_a_manifest(ledger):
    last = reserve(ledger, "c")
    said = manifest(last)
    assert ledger.check_run(said) == last
    tamper(ledger, "DELETE FROM spends WHERE seq = 3", "UPDATE sqlite_sequence SET seq = 2 WHERE name = 'spends'")
    assert len(ledger.entries()) == 2  # nothing in the file proves that there was more
    with pytest.raises(LedgerError, match="cut off"):
        ledger.check_run(said)


def test_a_ledger_that_was_written_anew_with_good_hashes_is_found_by_a_manifest(ledger, tmp_path):
    last = reserve(ledger, "c")
    other = Ledger(tmp_path / "other.sqlite3")
    reserve(other, "c")
    assert len(other.entries()) == 1
    with pytest.raises(LedgerError, match="other numbers or after other rows"):
        other.check_run(manifest(last))


V2 = """
CREATE TABLE spends (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, run_id TEXT NOT NULL UNIQUE,
    method TEXT NOT NULL, purpose TEXT NOT NULL, neighbours TEXT NOT NULL, max_records INTEGER NOT NULL,
    kind TEXT NOT NULL, amount REAL NOT NULL, failure REAL NOT NULL, epsilon REAL NOT NULL,
    delta REAL NOT NULL, recorded TEXT NOT NULL, chain TEXT NOT NULL, individuals TEXT);
CREATE TABLE limits (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon REAL, delta REAL, recorded TEXT NOT NULL);
INSERT INTO limits (dataset, epsilon, delta, recorded) VALUES ('census', 8.0, 1e-9, '2026-01-01T00:00:00+00:00');
INSERT INTO spends VALUES (1, 'census', 'old', 'rls', 'synthesis', 'add-remove', 1, 'pure', 0.5, 0.0, 0.5, 0.0,
    '2026-01-01T00:00:00+00:00', '%s', 'pid');
PRAGMA application_id = 1146114905;
PRAGMA user_version = 2;
"""


@pytest.fixture
def old(tmp_path):
    """A file as version 2 of the format wrote it: a limit without a hash."""
    import hashlib

    row = '[1, "census", "old", "rls", "synthesis", "add-remove", 1, "pure", 0.5, 0.0, 0.5, 0.0, '
    row += '"2026-01-01T00:00:00+00:00", "pid"]'
    with sqlite3.connect(tmp_path / "old.sqlite3") as db:
        db.executescript(V2 % hashlib.sha256(f"\n{row}".encode()).hexdigest())
    return Ledger(tmp_path / "old.sqlite3")


def test_a_ledger_of_version_2_reads_and_goes_on_and_its_old_limits_are_held_from_then_on(old):
    before = old.path.read_bytes()
    assert [e.run_id for e in old.entries()] == ["old"]
    assert old.limit("census") == Budget(epsilon=8, delta=1e-9)
    assert old.path.read_bytes() == before
    pid = Unit(identifier="pid")
    old.reserve("census", ONE.gaussian(), budget=ONE, unit=pid, method="rls", run_id="new")
    old.set_limit("census", Budget(epsilon=4, delta=1e-9))
    assert [e.run_id for e in old.entries()] == ["old", "new"]
    tamper(old, "UPDATE limits SET epsilon = 800 WHERE seq = 1")
    with pytest.raises(LedgerError, match="outside at entry 2"):
        old.entries()
