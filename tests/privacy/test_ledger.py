"""The ledger keeps every spend, adds them exactly, holds limits, and refuses to forget."""

import math
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpsyn_core.errors import EngineError, LedgerError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.conversions import gdp_delta, gdp_epsilon, gdp_mu, zcdp_rho
from dpsyn_core.privacy.ledger import ledger as module
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.ledger.limits import GAUSSIAN, MIXED
from dpsyn_core.privacy.unit import Unit

ONE = Budget(epsilon=1.0, delta=1e-9)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "deep" / "ledger.sqlite3")


def reserve(ledger, dataset="census", budget=ONE, cap=None, unit=None, **more):
    return ledger.reserve(
        dataset, cap or budget.gaussian(), budget=budget, unit=unit or Unit(), method="independent", **more
    )


def test_a_new_ledger_is_empty_and_reading_it_makes_no_file(ledger):
    assert ledger.entries() == []
    assert ledger.datasets() == []
    assert ledger.limit("census") is None
    assert ledger.summary("census").epsilon == 0.0
    assert not ledger.path.exists()


def test_the_folder_is_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    reserve(Ledger())
    assert (tmp_path / "home" / "ledger.sqlite3").is_file()
    assert (tmp_path / "home" / "ledger.sqlite3").stat().st_mode & 0o077 == 0


def test_a_ledger_may_be_named_by_text(tmp_path):
    book = Ledger(str(tmp_path / "l.sqlite3"))
    reserve(book)
    assert len(Ledger(tmp_path / "l.sqlite3").entries()) == 1


def test_a_folder_with_an_awkward_name_is_used_as_it_is(tmp_path):
    ledger = Ledger(tmp_path / "a?b#c%20 d" / "ledger.sqlite3")
    reserve(ledger)
    assert [p.name for p in tmp_path.iterdir()] == ["a?b#c%20 d"]
    assert len(ledger.entries()) == 1


def test_threads_of_one_process_share_the_ledger(ledger):
    ledger.set_limit("census", Budget(epsilon=3, delta=1e-9))

    def attempt(_):
        try:
            return reserve(ledger).seq
        except LedgerError:
            return None

    with ThreadPoolExecutor(8) as pool:
        got = [seq for seq in pool.map(attempt, range(24)) if seq]
    assert sorted(got) == [e.seq for e in ledger.entries()]
    assert ledger.summary("census").epsilon <= 3
    assert len(got) == math.floor(gdp_mu(3, GAUSSIAN * 1e-9) ** 2 / gdp_mu(1, 1e-9) ** 2)


def test_gaussian_runs_add_up_exactly(ledger):
    for _ in range(4):
        reserve(ledger)
    got = ledger.summary("census")
    assert got.runs == 4
    assert got.mu == pytest.approx(2 * gdp_mu(1.0, 1e-9), rel=1e-12)
    assert got.rho == pytest.approx(got.mu**2 / 2, rel=1e-12)
    assert gdp_delta(got.epsilon, got.mu) == pytest.approx(1e-9, rel=1e-6)
    assert 2 < got.epsilon < 4


def test_pure_runs_add_up_at_delta_zero(ledger):
    budget = Budget(epsilon=0.25, delta=0)
    for _ in range(3):
        reserve(ledger, budget=budget, cap=budget.pure())
    assert ledger.summary("census").epsilon == pytest.approx(0.75, rel=1e-12)
    assert ledger.summary("census").mu is None


def test_mixed_runs_are_composed_and_cost_no_more_than_zcdp(ledger):
    pure = Budget(epsilon=0.25, delta=0)
    reserve(ledger)
    reserve(ledger, cap=ONE.zcdp())
    reserve(ledger, budget=pure, cap=pure.pure())
    got = ledger.summary("census")
    rho = gdp_mu(1, 1e-9) ** 2 / 2 + zcdp_rho(1, 1e-9) + 0.25**2 / 2
    assert got.mu is None
    assert got.rho == pytest.approx(rho, rel=1e-9)
    assert got.epsilon < 2.25


def test_a_run_that_is_composed_exactly_stands_as_its_epsilon_and_delta(ledger):
    reserve(ledger, cap=Budget(epsilon=0.5, delta=1e-10), budget=Budget(epsilon=0.5, delta=1e-10))
    reserve(ledger)
    assert ledger.summary("census", delta=1e-9).rho is None
    assert 1 < ledger.summary("census", delta=1e-9).epsilon < 1.6


def test_datasets_are_kept_apart_and_names_are_trimmed(ledger):
    reserve(ledger, " census ")
    reserve(ledger, "other")
    assert ledger.datasets() == ["census", "other"]
    assert ledger.summary("census").runs == 1
    assert len(ledger.entries()) == 2
    assert ledger.entries("other")[0].dataset == "other"


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, "a\x00b"])
def test_what_cannot_be_a_name_is_refused(ledger, name):
    with pytest.raises(LedgerError, match="name"):
        reserve(ledger, name)
    assert not ledger.path.exists()


def test_the_same_run_is_never_debited_twice(ledger):
    reserve(ledger, run_id="job-1")
    with pytest.raises(LedgerError, match="already"):
        reserve(ledger, run_id="job-1")
    assert ledger.summary("census").runs == 1


def test_a_limit_of_one_run_lets_exactly_one_run_through(ledger):
    ledger.set_limit("census", ONE)
    assert ledger.summary("census").epsilon_left == pytest.approx(1.0)
    reserve(ledger)
    assert ledger.summary("census").epsilon_left == pytest.approx(0.0, abs=1e-4)
    with pytest.raises(LedgerError, match="pass the limit"):
        reserve(ledger)
    with pytest.raises(LedgerError):
        small = Budget(epsilon=0.001, delta=1e-9)
        reserve(ledger, budget=small)
    assert len(ledger.entries()) == 1
    reserve(ledger, "other")


def test_what_is_left_fits_and_a_little_more_does_not(ledger):
    for first in (ONE.gaussian(), ONE.zcdp(), ONE.pure()):
        name = f"set-{first.rho}-{first.mixed}"
        ledger.set_limit(name, Budget(epsilon=3, delta=1e-9))
        reserve(ledger, name, cap=first)
        left = ledger.summary(name).epsilon_left
        assert 1.5 < left < 3, name
        if not first.mixed and not first.pure:
            with pytest.raises(LedgerError):
                reserve(ledger, name, budget=Budget(epsilon=left * 1.000001, delta=1e-9))
        more = Budget(epsilon=left, delta=1e-9)
        reserve(ledger, name, budget=more)


def test_a_limit_counts_sums_that_hold_for_budgets_chosen_on_the_way(ledger):
    """Many small pure runs: their best composition is far below their sum, but only the sums are a filter."""
    small = Budget(epsilon=0.01, delta=0)
    ledger.set_limit("census", Budget(epsilon=0.25, delta=1e-6))
    ran = 0
    with pytest.raises(LedgerError, match="limit"):
        for _ in range(100):
            reserve(ledger, budget=small, cap=small.pure())
            ran += 1
    assert ran == max(25, math.floor(zcdp_rho(0.25, MIXED * 1e-6) / (0.01**2 / 2)))
    assert ran > 25  # as a mixture they cost less than their sum


def test_gaussian_runs_beside_pure_ones_share_epsilon_by_eighths(ledger):
    pure = Budget(epsilon=2, delta=0)
    ledger.set_limit("census", Budget(epsilon=4, delta=1e-9))
    reserve(ledger, budget=pure, cap=pure.pure())
    reserve(ledger)  # half of the limit for each kind
    with pytest.raises(LedgerError, match="pass the limit"):
        reserve(ledger, budget=Budget(epsilon=0.51, delta=0), cap=Budget(epsilon=0.51, delta=0).pure())
    # the Gaussian run fits three eighths as well: five are for pure ones
    reserve(ledger, budget=Budget(epsilon=0.49, delta=0), cap=Budget(epsilon=0.49, delta=0).pure())


def test_a_cost_above_its_own_budget_is_a_fault_and_is_not_debited(ledger):
    with pytest.raises(EngineError, match="own budget"):
        reserve(ledger, cap=Budget(epsilon=1.01, delta=1e-9).gaussian())
    assert ledger.entries() == []


def test_a_pure_limit_refuses_gaussian_runs(ledger):
    ledger.set_limit("census", Budget(epsilon=5, delta=0))
    with pytest.raises(LedgerError, match="limit"):
        reserve(ledger)
    pure = Budget(epsilon=5, delta=0)
    reserve(ledger, budget=pure, cap=pure.pure())


def test_a_limit_can_be_raised_and_lifted_and_its_history_stays(ledger):
    ledger.set_limit("census", Budget(epsilon=0.5, delta=1e-9))
    with pytest.raises(LedgerError, match="limit"):
        reserve(ledger)
    ledger.set_limit("census", ONE)
    assert ledger.limit("census") == ONE
    ledger.set_limit("census", None)
    assert ledger.limit("census") is None
    for _ in range(3):
        reserve(ledger)
    with sqlite3.connect(ledger.path) as db:
        assert db.execute("SELECT count(*) FROM limits").fetchone() == (3,)


@pytest.mark.parametrize("sql", ["UPDATE spends SET amount = 0.001", "DELETE FROM spends", "DELETE FROM limits"])
def test_spends_can_neither_be_changed_nor_deleted(ledger, sql):
    reserve(ledger)
    ledger.set_limit("census", ONE)
    with sqlite3.connect(ledger.path) as db, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        db.execute(sql)


def test_a_change_behind_the_triggers_is_seen(ledger):
    reserve(ledger)
    reserve(ledger)
    with sqlite3.connect(ledger.path) as db:
        db.execute("DROP TRIGGER spends_UPDATE")
        db.execute("UPDATE spends SET amount = amount / 10 WHERE seq = 1")
    with pytest.raises(LedgerError, match="outside at entry 1"):
        ledger.entries()
    reserve(ledger)  # the rows that it follows are sound
    ledger.set_limit("census", Budget(epsilon=100.0, delta=1e-9))
    with pytest.raises(LedgerError, match="outside at entry 1"):
        reserve(ledger)


def test_order_is_that_of_insertion_when_the_clock_jumps_back(ledger, monkeypatch):
    import datetime as dt

    class Clock(dt.datetime):
        year_now = 2030

        @classmethod
        def now(cls, tz=None):
            return dt.datetime(cls.year_now, 1, 1, tzinfo=tz)

    monkeypatch.setattr(module, "datetime", Clock)
    reserve(ledger, run_id="first")
    Clock.year_now = 1970
    reserve(ledger, run_id="second")
    assert [(e.seq, e.run_id, e.recorded[:4]) for e in ledger.entries()] == [
        (1, "first", "2030"),
        (2, "second", "1970"),
    ]
    assert ledger.summary("census").mu == pytest.approx(math.sqrt(2) * gdp_mu(1, 1e-9))


def test_runs_under_different_neighbours_are_added_for_replace(ledger):
    reserve(ledger, unit=Unit(identifier="who"))
    assert ledger.summary("census").neighbours == "add-remove"
    reserve(ledger, unit=Unit(neighbours="replace", max_records=4, identifier="who"))
    got = ledger.summary("census")
    assert got.neighbours == "replace"
    assert got.max_records == 4
    assert got.mu == pytest.approx(math.sqrt(5) * gdp_mu(1, 1e-9))


def test_a_run_with_failures_beside_replace_runs_counts_as_a_pair(ledger):
    reserve(ledger, cap=ONE.gaussian(spare_delta=1e-10), delta=1e-10)
    reserve(ledger, unit=Unit(neighbours="replace"))
    # two steps of (1, 1e-9) are (2, (1 + e) 1e-9), beside the other run's exact cost at what is left of delta
    beside = gdp_epsilon(gdp_mu(1, 1e-9), 1e-6 - (1 + math.e) * 1e-9)
    assert 2 + beside * 0.98 < ledger.summary("census", delta=1e-6).epsilon <= 2 + beside * (1 + 1e-9)


def test_the_summary_is_json_ready(ledger):
    import json

    reserve(ledger)
    assert json.loads(json.dumps(ledger.summary("census").document()))["runs"] == 1


def test_a_file_that_is_no_ledger_is_left_alone(tmp_path):
    other = tmp_path / "other.sqlite3"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    before = other.read_bytes()
    with pytest.raises(LedgerError, match="no ledger"):
        reserve(Ledger(other))
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(other).entries()
    assert other.read_bytes() == before


def test_the_reservation_is_synced_to_the_disk(ledger, monkeypatch):
    """SQLite is told to sync file and folder at every commit; the journal is the rollback journal."""
    seen = []
    connect = Ledger._connect

    def spy(self, mode):
        db = connect(self, mode)
        seen.append((db.execute("PRAGMA synchronous").fetchone()[0], db.execute("PRAGMA journal_mode").fetchone()[0]))
        return db

    monkeypatch.setattr(Ledger, "_connect", spy)
    reserve(ledger)
    assert seen == [(3, "delete")]


def test_names_of_data_sets_have_at_most_two_hundred_printable_characters():
    assert module.check_name(" " + "x" * 200 + " ") == "x" * 200
    for name in ("", "   ", "x" * 201, "a\nb"):
        with pytest.raises(LedgerError, match="1 to 200 printable"):
            module.check_name(name)


def test_a_file_without_a_byte_is_a_ledger_without_runs(tmp_path):
    (tmp_path / "l.sqlite3").touch()
    assert Ledger(tmp_path / "l.sqlite3").entries("people") == []
    assert (tmp_path / "l.sqlite3").stat().st_size == 0
