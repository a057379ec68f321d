"""The ledger adds up runs for those whom they protect, and promises nobody what a run did not promise them."""

import dataclasses
import itertools
import math
import sqlite3

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import LedgerError, UnitError
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.conversions import gdp_mu
from dpsyn_core.privacy.ledger.entry import Protected
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.ledger.limits import GAUSSIAN
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Encoded
from dpsyn_core.schema.document import SchemaUnit

ONE = Budget(epsilon=1.0, delta=1e-9)
MU = gdp_mu(1.0, 1e-9)
RECORD = Unit()
PERSON = Unit(identifier="pid", max_records=3)
OLD = """BEGIN TRANSACTION;
PRAGMA application_id = 1146114905;
PRAGMA user_version = 1;
CREATE TABLE limits (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon REAL, delta REAL,
        recorded TEXT NOT NULL);
INSERT INTO "limits" VALUES(1,'census',8.0,1.0e-09,'2026-11-20T13:28:11+00:00');
CREATE TABLE spends (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, run_id TEXT NOT NULL UNIQUE,
        method TEXT NOT NULL, purpose TEXT NOT NULL, neighbours TEXT NOT NULL, max_records INTEGER NOT NULL,
        kind TEXT NOT NULL, amount REAL NOT NULL CHECK (amount > 0), failure REAL NOT NULL, epsilon REAL NOT NULL,
        delta REAL NOT NULL, recorded TEXT NOT NULL, chain TEXT NOT NULL);
INSERT INTO "spends" VALUES(1,'census','a1','rls','synthesis','add-remove',1,'gaussian',1.81974807294968315973e-01,0.0,
1.0,1.0e-09,'2026-11-20T13:28:11+00:00','522953e24970a7dd953832706bcc4e4f8c19eb041653b52d01447cdb61ac6c7e');
INSERT INTO "spends" VALUES(2,'census','a2','dpsyn','synthesis','add-remove',3,'gaussian',1.81974807294968315973e-01,
0.0,1.0,1.0e-09,'2026-11-20T13:28:11+00:00','767538bc00c17f6c400140566a194ae7b898b8c2f0007d87c5c3c20cf38e11c6');
INSERT INTO "spends" VALUES(3,'clinic','b1','dirichlet','synthesis','replace',1,'pure',0.4999999999999,0.0,0.5,0.0,
'2026-11-20T13:28:11+00:00','6aef454e67c784d6ebf7fd0132b02ede1521bec2f00652231233bb9fba1101c9');
CREATE TRIGGER spends_UPDATE BEFORE UPDATE ON spends BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER spends_DELETE BEFORE DELETE ON spends BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER limits_UPDATE BEFORE UPDATE ON limits BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER limits_DELETE BEFORE DELETE ON limits BEGIN SELECT RAISE(ABORT, 'append-only'); END;
COMMIT;"""  # what version 1 of the ledger wrote


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite3")


@pytest.fixture
def old(ledger):
    with sqlite3.connect(ledger.path) as db:
        db.executescript(OLD)
    return ledger


def reserve(ledger, unit, dataset="census", budget=ONE, **more):
    cap = budget.gaussian() if budget.delta else budget.pure()
    return ledger.reserve(dataset, cap, budget=budget, unit=unit, method="m", **more)


def sums(ledger, dataset="census"):
    return {(s.identifier, s.records): s for s in ledger.summary(dataset).sums}


def test_a_unit_read_off_a_schema_or_a_manifest_forgets_nothing():
    declared = SchemaUnit(neighbours="replace", identifier="pid", max_records=3)
    assert Unit.of(declared) == Unit(**declared.model_dump(exclude={"source"}))
    assert {f.name for f in dataclasses.fields(Unit)} == set(SchemaUnit.model_fields) - {"source"}  # who said so
    assert Unit.of(PERSON) == PERSON


def test_runs_of_one_identifier_add_up_whatever_theta_is(ledger):
    reserve(ledger, PERSON)
    reserve(ledger, Unit(identifier="pid", max_records=5))
    got = sums(ledger)
    assert list(got) == [("pid", 1)]
    assert got["pid", 1].mu == pytest.approx(math.sqrt(2) * MU)
    assert ledger.summary("census").epsilon == got["pid", 1].epsilon


def test_a_run_that_protects_records_promises_an_individual_of_several_nothing(ledger):
    reserve(ledger, PERSON)
    reserve(ledger, RECORD)
    got = sums(ledger)
    assert got["pid", 1].epsilon is None and got["pid", 1].unbounded == (2,)
    # a record more or less takes its individual out, and in again with the rest
    assert got[None, 1].mu == pytest.approx(MU * math.sqrt(2**2 + 1))
    assert ledger.summary("census").epsilon is None


def test_individuals_under_two_names_have_no_bound_in_common(ledger):
    reserve(ledger, PERSON)
    reserve(ledger, Unit(identifier="household"))
    assert [s.unbounded for s in sums(ledger).values()] == [(2,), (1,)]


def test_a_promise_for_three_records_together_counts_ones_for_single_records_three_times(ledger):
    reserve(ledger, RECORD)
    reserve(ledger, Unit(max_records=3))
    got = sums(ledger)
    assert got[None, 1].mu == pytest.approx(math.sqrt(2) * MU)
    assert got[None, 3].mu == pytest.approx(math.sqrt(3**2 + 1) * MU)


def test_a_run_under_replace_has_no_bound_for_single_records_of_named_individuals(ledger):
    reserve(ledger, Unit(identifier="pid", neighbours="replace"))
    reserve(ledger, RECORD)
    got = sums(ledger)
    assert got["pid", 1].unbounded == (2,)
    assert got[None, 1].unbounded == (1,)


@pytest.mark.parametrize("theta", [1, 2, 3])
def test_no_single_record_moves_more_than_the_steps_say(theta):
    """Every table of up to four records of two people, every record taken out: theta records a step, two steps."""
    who = Protected()
    steps = 2
    worst = 0
    for n in (1, 2, 3, 4):
        for cells in itertools.product(range(3), repeat=n):
            for split in range(n + 1):
                owners = ["a"] * split + ["b"] * (n - split)
                full = counts(cells, owners, theta)
                for gone in range(n):
                    less = counts(cells[:gone] + cells[gone + 1 :], owners[:gone] + owners[gone + 1 :], theta)
                    worst = max(worst, np.abs(full - less).sum())
    assert worst <= steps * theta
    assert (worst > theta) == (theta == 1)  # one step would not do: another of the individual's records moves up
    assert who.words == "single records"


def counts(cells, owners, theta):
    names = pa.array(owners, pa.large_string()).dictionary_encode()
    encoded = Encoded(codes=np.array([cells], dtype=np.uint8).reshape(1, -1), identifiers=names)
    return np.bincount(bound(encoded, theta, key=bytes(range(32)))[0], minlength=3)


def test_what_all_runs_cost_a_unit_can_be_asked_before_a_run(ledger):
    assert ledger.cost_for("census", PERSON).epsilon == 0
    reserve(ledger, PERSON)
    assert ledger.cost_for("census", PERSON).epsilon == pytest.approx(1.0)
    assert ledger.cost_for("census", RECORD).mu == pytest.approx(2 * MU)
    assert ledger.cost_for("census", Unit(max_records=2)).mu == pytest.approx(4 * MU)
    assert ledger.cost_for("census", Unit(identifier="pid", neighbours="replace")).mu == pytest.approx(2 * MU)
    assert ledger.cost_for("census", Unit(identifier="other")).unbounded == (1,)


# ---- limits


def test_a_limit_refuses_the_run_that_would_take_a_bound_from_somebody(ledger):
    ledger.set_limit("census", Budget(epsilon=9, delta=1e-9))
    reserve(ledger, PERSON)
    for unit in (RECORD, Unit(identifier="household"), Unit(max_records=3)):
        with pytest.raises(LedgerError, match=r"promises nothing to individuals named by 'pid'.*--no-limit"):
            reserve(ledger, unit)
        assert ledger.cost_for("census", unit).epsilon_left in (0.0, None)
    reserve(ledger, Unit(identifier="pid", max_records=9))
    ledger.set_limit("census", None)
    reserve(ledger, RECORD)
    assert ledger.summary("census").runs == 3


def test_a_limit_that_held_for_records_goes_on_to_hold_for_them_when_runs_begin_to_name_individuals(ledger):
    ledger.set_limit("census", Budget(epsilon=4, delta=1e-9))
    reserve(ledger, RECORD)
    reserve(ledger, PERSON)
    got = sums(ledger)
    assert got[None, 1].mu == pytest.approx(MU * math.sqrt(1 + 2**2))
    assert got["pid", 1].unbounded == (1,)
    ran = 0
    with pytest.raises(LedgerError, match="pass the limit"):
        for _ in range(100):
            reserve(ledger, PERSON)
            ran += 1
    most = gdp_mu(4, GAUSSIAN * 1e-9) ** 2 / MU**2
    assert 5 + 4 * ran <= most < 5 + 4 * (ran + 1)


@pytest.mark.parametrize("budget", [ONE, Budget(epsilon=1.0, delta=0.0)])
def test_what_is_left_for_a_unit_fits_and_a_little_more_does_not(ledger, budget):
    ledger.set_limit("census", Budget(epsilon=9, delta=budget.delta))
    reserve(ledger, RECORD, budget=budget)
    left = ledger.cost_for("census", PERSON).epsilon_left  # no bound for them: the limit is that of the records
    assert left is None
    reserve(ledger, PERSON, budget=budget)
    left = ledger.summary("census").epsilon_left
    with pytest.raises(LedgerError, match="pass the limit"):
        reserve(ledger, PERSON, budget=Budget(epsilon=left * 1.00001, delta=budget.delta))
    reserve(ledger, PERSON, budget=Budget(epsilon=left, delta=budget.delta))


# ---- ledgers of version 1


def test_an_old_ledger_is_read_as_it_is_and_for_single_records(old):
    before = old.path.read_bytes()
    entries = old.entries()
    assert [(e.run_id, e.individuals, e.max_records) for e in entries] == [
        ("a1", None, 1),
        ("a2", None, 3),
        ("b1", None, 1),
    ]
    got = sums(old)
    assert list(got) == [(None, 1)]
    # they may have protected individuals, which is two steps away from single records
    assert got[None, 1].mu == pytest.approx(2 * math.sqrt(2) * MU)
    assert old.cost_for("census", PERSON).unbounded == (1, 2)
    assert sums(old, "clinic")[None, 1].unbounded == (3,)
    assert old.path.read_bytes() == before


def test_an_old_ledger_goes_on_in_one_chain_and_forgets_nothing(old):
    entries = old.entries()
    reserve(old, PERSON, "other")
    reserve(old, RECORD)
    assert old.entries()[:3] == entries
    assert [e.individuals for e in old.entries()[3:]] == ["pid", ""]
    assert old.limit("census") == Budget(epsilon=8, delta=1e-9)
    assert sums(old)[None, 1].mu == pytest.approx(math.sqrt(4 + 4 + 1) * MU)
    with sqlite3.connect(old.path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
        assert len(db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()) == 4


def test_an_old_ledger_whose_runs_have_no_bound_refuses_runs_under_a_limit(old):
    old.set_limit("clinic", Budget(epsilon=8, delta=1e-9))
    with pytest.raises(LedgerError, match=r"no one in common.*--no-limit"):
        reserve(old, PERSON, "clinic")


@pytest.mark.parametrize("sql", ["individuals = 'pid' WHERE seq = 1", "individuals = NULL WHERE seq = 4"])
def test_a_unit_that_was_changed_behind_the_triggers_is_seen(old, sql):
    reserve(old, RECORD)
    with sqlite3.connect(old.path) as db:
        db.execute("DROP TRIGGER spends_UPDATE")
        db.execute(f"UPDATE spends SET {sql}")
    with pytest.raises(LedgerError, match=f"outside at entry {sql[-1]}"):
        old.entries()


def test_a_ledger_of_a_version_to_come_is_left_alone(old):
    with sqlite3.connect(old.path) as db:
        db.execute("PRAGMA user_version = 4")
    with pytest.raises(LedgerError, match="no ledger of version"):
        old.entries()


def test_an_identifier_without_a_name_is_refused():
    with pytest.raises(UnitError, match="empty"):
        Unit(identifier="")
