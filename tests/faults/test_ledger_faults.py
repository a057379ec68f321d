"""The ledger under full disks, read-only folders, damaged files, kills and races: never under-counted."""

import contextlib
import multiprocessing
import sqlite3
import time

import pytest

from dpsyn_core.errors import LedgerError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.unit import Unit
from tests.faults.places import file_limit, open_folder, unprivileged

ONE = Budget(epsilon=1.0, delta=1e-9)


def reserve(ledger, dataset="census", **more):
    return ledger.reserve(dataset, ONE.gaussian(), budget=ONE, unit=Unit(), method="independent", **more)


def test_a_full_disk_refuses_the_run_and_keeps_earlier_spends(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    reserve(ledger, run_id="kept")
    size = ledger.path.stat().st_size
    with file_limit(size), pytest.raises(LedgerError, match=r"could not be written|is full"):
        for _ in range(200):  # the last page has room for some
            reserve(ledger)
    entries = ledger.entries()
    assert entries[0].run_id == "kept"
    reserve(ledger)
    assert len(ledger.entries()) == len(entries) + 1


def test_a_disk_that_is_full_from_the_start_leaves_no_ledger_that_claims_a_spend(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    with file_limit(100), pytest.raises(LedgerError):
        reserve(ledger)
    assert ledger.entries() == []
    reserve(ledger)
    assert len(ledger.entries()) == 1


def test_sqlite_reports_a_full_database_as_a_full_disk(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    reserve(ledger)
    connect = Ledger._connect

    def small(self, mode):
        db = connect(self, mode)
        db.execute("PRAGMA max_page_count = 1")  # clamped to what the file has now
        return db

    monkeypatch.setattr(Ledger, "_connect", small)
    with pytest.raises(LedgerError, match="is full"):
        for _ in range(200):
            reserve(ledger)


def test_a_read_only_folder_is_refused_with_the_remedy():
    with open_folder() as folder:
        folder.chmod(0o555)
        with unprivileged(), pytest.raises(LedgerError, match="DPSYN_HOME"):
            reserve(Ledger(folder / "home" / "ledger.sqlite3"))
        with unprivileged(), pytest.raises(LedgerError, match="DPSYN_HOME"):
            reserve(Ledger(folder / "ledger.sqlite3"))
        folder.chmod(0o755)
        assert list(folder.iterdir()) == []


def test_a_ledger_that_cannot_be_written_can_still_be_read():
    with open_folder() as folder:
        ledger = Ledger(folder / "ledger.sqlite3")
        reserve(ledger, run_id="mine")
        ledger.path.chmod(0o444)
        folder.chmod(0o555)
        with unprivileged():
            assert [e.run_id for e in ledger.entries()] == ["mine"]
            with pytest.raises(LedgerError, match="DPSYN_HOME"):
                reserve(ledger)


def test_a_home_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "home").write_text("x")
    with pytest.raises(LedgerError, match="DPSYN_HOME"):
        reserve(Ledger(tmp_path / "home" / "ledger.sqlite3"))


def test_a_folder_in_the_place_of_the_ledger_is_refused(tmp_path):
    (tmp_path / "ledger.sqlite3").mkdir()
    with pytest.raises(LedgerError, match="cannot be"):
        reserve(Ledger(tmp_path / "ledger.sqlite3"))


@pytest.mark.parametrize(
    "content", [b"not a database at all, just text" * 100, b"SQLite format 3\x00" + b"\xff" * 4000]
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="backup"):
        reserve(Ledger(path))
    with pytest.raises(LedgerError, match="backup"):
        Ledger(path).entries()
    assert path.read_bytes() == content


def test_a_ledger_whose_making_was_rolled_back_is_empty_and_can_be_used(tmp_path):
    path = tmp_path / "ledger.sqlite3"
    with sqlite3.connect(path) as db:  # a database of one page without tables, as a rollback leaves it
        db.execute("CREATE TABLE t (x)")
        db.execute("DROP TABLE t")
    assert path.stat().st_size > 0
    assert Ledger(path).entries() == []
    assert Ledger(path).limit("census") is None
    reserve(Ledger(path))
    assert len(Ledger(path).entries()) == 1


def test_damage_inside_the_pages_is_found(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    for _ in range(30):
        reserve(ledger)
    raw = bytearray(ledger.path.read_bytes())
    with sqlite3.connect(ledger.path) as db:
        first = db.execute("SELECT chain FROM spends WHERE seq = 3").fetchone()[0].encode()
    raw[raw.index(first)] ^= 1
    ledger.path.write_bytes(raw)
    with pytest.raises(LedgerError, match="outside at entry 3"):
        ledger.entries()


def race(path, barrier, results):
    ledger = Ledger(path)
    barrier.wait()
    try:
        results.put(reserve(ledger).run_id)
    except LedgerError as error:
        results.put("refused" if "limit" in str(error) else str(error))


@pytest.mark.parametrize("turn", range(5))
def test_of_eight_processes_that_race_for_the_last_of_a_budget_one_wins(tmp_path, turn):
    path = tmp_path / "ledger.sqlite3"
    Ledger(path).set_limit("census", ONE)
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(8), context.SimpleQueue()
    runners = [context.Process(target=race, args=(path, barrier, results)) for _ in range(8)]
    for runner in runners:
        runner.start()
    got = [results.get() for _ in runners]
    for runner in runners:
        runner.join()
    assert got.count("refused") == 7, got
    assert [e.run_id for e in Ledger(path).entries()] == [one for one in got if one != "refused"]


def test_processes_that_race_to_make_the_ledger_all_stand_on_it(tmp_path):
    path = tmp_path / "new" / "ledger.sqlite3"
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(8), context.SimpleQueue()
    runners = [context.Process(target=race, args=(path, barrier, results)) for _ in range(8)]
    for runner in runners:
        runner.start()
    got = [results.get() for _ in runners]
    for runner in runners:
        runner.join()
    assert sorted(e.run_id for e in Ledger(path).entries()) == sorted(got)


def spend_forever(path, turn, pipe):
    ledger = Ledger(path)
    pipe.send("ready")
    for i in range(10**6):
        reserve(ledger, run_id=f"{turn}-{i}")
        pipe.send(i)  # here a run would draw its noise


@pytest.mark.slow
def test_a_killed_process_never_drew_noise_that_is_not_on_the_ledger(tmp_path):
    """SIGKILL at forty moments in a stream of debits: all that was answered is on the ledger, and it opens again."""
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    context = multiprocessing.get_context("fork")
    answered = 0
    for turn in range(40):
        mine, theirs = context.Pipe(duplex=False)
        child = context.Process(target=spend_forever, args=(ledger.path, turn, theirs))
        child.start()
        theirs.close()
        assert mine.recv() == "ready"
        for _ in range(turn % 4):  # so that some kills fall between debits, however slow the machine is
            mine.recv()
            answered += 1
        time.sleep(0.0007 * turn)
        child.kill()
        with contextlib.suppress(EOFError):
            while True:
                mine.recv()
                answered += 1
        child.join()
        entries = ledger.entries()
        assert len(entries) >= answered
        assert len(entries) <= answered + turn + 1  # a kill may fall between the commit and the answer
    assert answered >= 60
    reserve(ledger)
