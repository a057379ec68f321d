"""Hazards of budgets, runs, systems and reports, one test each: the behaviour that docs/guarantee.md promises."""

import ast
import csv
import inspect
import json
import math
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import BudgetError, LedgerError, MethodError, UnitError
from dpsyn_core.evaluate.base import PRIVATE_LABEL, SAFE_LABEL, UNKNOWN_LABEL, UNSAFE_LABEL
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.files import write_text
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget, Cost
from dpsyn_core.privacy.curves import noise_curves
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.report.document import ScoredTable, label_of
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import config_class, configure, names
from tests.audit.mutants import MUTANTS
from tests.audit.whole import crowd, rows, schema

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite3")


def run(table, declared, book, **kwargs):
    settings = {"epsilon": 1.0, "delta": 1e-6, "rng": 0, "method": "independent", "ledger": book} | kwargs
    return synthesize(table, declared, **settings)


# ---- repeated runs, and picking the best of them


def test_repeated_runs_add_up_on_the_ledger_under_the_name_the_operator_gave(book):
    table, edited = rows(*crowd(30, 0)), rows(*crowd(31, 5))
    run(table, schema(), book, dataset="census")
    once = book.summary("census", delta=1e-6).epsilon
    run(edited, schema(), book, dataset="census")  # an edited table is the same dataset
    twice = book.summary("census", delta=1e-6).epsilon
    assert once <= 1.0 + 1e-9
    assert once < twice < 2 * once  # exact composition, not a sum of epsilons
    book.set_limit("census", Budget(epsilon=twice * 1.01, delta=1e-6))
    with pytest.raises(LedgerError):
        run(table, schema(), book, dataset="census")


def test_the_ledger_is_debited_before_noise_and_a_crash_keeps_the_spend(book, monkeypatch):
    seen = []

    def dies(self, sigma, size):
        seen.append(len(book.entries("people")))
        raise MemoryError

    monkeypatch.setattr(SystemNoise, "gaussian", dies)
    with pytest.raises(MemoryError):
        run(rows(*crowd(30, 0)), schema(), book)
    assert seen == [1]
    assert len(book.entries("people")) == 1


def test_each_of_several_runs_is_charged_and_the_app_says_that_picking_the_best_costs_all(book):
    for _ in range(3):
        run(rows(*crowd(30, 0)), schema(), book)
    assert len(book.entries("people")) == 3
    assert "picking the best of several costs all of them" in (ROOT / "assets/text/en.toml").read_text(encoding="utf-8")


# ---- a report that reads real data


def test_reports_say_whether_they_read_private_data(tmp_path, book, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    table = rows(*crowd(60, 0))
    made = run(table, schema(), book, n_records=60)
    schema().dump(tmp_path / "schema.json")
    made.write(tmp_path / "fake.csv", tmp_path / "m.json")
    with (tmp_path / "real.csv").open("w", newline="") as file:
        csv.writer(file).writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])
    pages = {}
    for real, label, metric in ((str(tmp_path / "real.csv"), PRIVATE_LABEL, "tvd-1way"), ("-", SAFE_LABEL, "gini")):
        out = ["--json", str(tmp_path / "r.json"), "--html", str(tmp_path / "r.html"), "--quiet"]
        arguments = ["report", real, str(tmp_path / "fake.csv"), "--schema", str(tmp_path / "schema.json"), *out]
        assert main([*arguments, "--metrics", metric, "--manifest", str(tmp_path / "m.json")]) == 0
        pages[label] = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert label in pages[label]
        assert json.loads((tmp_path / "r.json").read_text())["label"] == label
    assert PRIVATE_LABEL not in pages[SAFE_LABEL]


# ---- Dirichlet-multinomial and field groups


def test_the_dirichlet_multinomial_protects_replace_neighbours_with_a_public_size_and_no_others():
    g = config_class("dirichlet-multinomial").guarantee
    assert list(g.neighbours) == ["replace"]
    assert g.needs_public_n
    assert not g.approximate
    gate = Gate(account=Account(Cost(epsilon=1.0)), noise=SystemNoise(), unit=Unit())
    with pytest.raises(UnitError, match="replace neighbours only"):
        gate.dirichlet("t", lambda: pytest.fail("counted"), cells=3, draws=3, cost=Cost(epsilon=1.0))


def test_the_dirichlet_multinomial_gives_every_cell_its_prior_and_never_releases_proportions():
    gate = Gate(account=Account(Cost(epsilon=5.0)), noise=SystemNoise(), unit=Unit(neighbours="replace"))
    got = gate.dirichlet("t", lambda: np.array([994, 0, 0]), cells=3, draws=994, cost=Cost(epsilon=5.0))
    assert got.charge.scale >= 994 / math.expm1(5.0) > 0.999 * got.charge.scale  # 6.742953 at epsilon 5
    assert got.charge.scale == pytest.approx(6.742953, rel=1e-6)
    assert got.values.dtype == np.int64
    assert got.values.sum() == 994
    empty = sum(
        Gate(account=Account(Cost(epsilon=5.0)), noise=SystemNoise(), unit=Unit(neighbours="replace"))
        .dirichlet("t", lambda: np.array([994, 0, 0]), cells=3, draws=994, cost=Cost(epsilon=5.0))
        .values[1:]
        .sum()
        for _ in range(20)
    )
    assert empty > 0  # 265 expected


def test_field_groups_take_their_groups_from_settings_or_the_schema_and_never_from_the_table():
    config = configure("field-groups", {})
    text = Path(inspect.getfile(type(config))).read_text(encoding="utf-8")
    tree = ast.parse(text)
    (builder,) = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "build"]
    assert [a.arg for a in builder.args.args] == ["self", "task"]
    assert "counter" not in {n.id for n in ast.walk(builder) if isinstance(n, ast.Name)}


# ---- systems whose hazards nobody has closed here


@pytest.mark.parametrize("name", ["dp-pca", "dp-em", "dp-sgd", "dp-gan"])
def test_systems_that_are_not_built_are_refused_and_none_is_registered_in_disguise(name, book):
    with pytest.raises(MethodError, match="unknown method"):
        run(rows(*crowd(5, 0)), schema(), book, method=name)
    assert not [n for n in names() if name.replace("-", "") in n.replace("-", "")]
    assert book.entries("people") == []


# ---- seeds


def test_noise_has_no_seed_and_the_seed_of_post_processing_is_recorded(book):
    assert "seed" not in inspect.signature(SystemNoise).parameters
    table = rows(*crowd(60, 0))
    first, second = run(table, schema(), book, rng=42), run(table, schema(), book, rng=42)
    assert first.manifest.seed == 42
    assert any((a.values != b.values).any() for a, b in zip(first.measurements, second.measurements, strict=True))
    drawn = run(table, schema(), book, rng=None)
    assert drawn.manifest.seed is not None


# ---- delta and epsilon


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2.0, math.nan, math.inf])
def test_a_delta_outside_nought_to_one_is_refused(delta, book):
    with pytest.raises(BudgetError, match="delta"):
        run(rows(*crowd(5, 0)), schema(), book, delta=delta)
    assert book.entries("people") == []


def test_delta_nought_offers_pure_curves_and_pure_noise_only(book):
    assert list(noise_curves(1.0, 0.0, [1, 10])["curves"]) == ["laplace_basic"]
    with pytest.raises(BudgetError, match="delta is 0"):
        Budget(epsilon=1.0, delta=0.0).gaussian()
    made = run(rows(*crowd(60, 0)), schema(), book, delta=0.0)
    assert {c.mechanism for c in made.manifest.charges} == {"geometric"}
    assert made.manifest.recomputed_epsilon() <= 1.0


def test_a_delta_above_one_over_n_is_told_to_the_owner_on_the_page_and_never_by_the_engine(book, capsys):
    table = rows(*crowd(60, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = run(table, schema(), book, delta=0.009)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert "60" not in made.manifest.guarantee
    assert "def delta_against_n" in (ROOT / "ui/privacy/guarantee.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, 1e9, 1e-12])
def test_an_epsilon_that_promises_nothing_is_refused(epsilon, book):
    with pytest.raises(BudgetError, match="epsilon"):
        run(rows(*crowd(5, 0)), schema(), book, epsilon=epsilon)
    assert book.entries("people") == []


# ---- bugs of peers, replayed as mutants


def test_bugs_found_in_other_tools_are_among_the_seeded_ones():
    stories = " ".join(m.name for m in MUTANTS)
    for bug in ("NumPy", "theta that the selection knew", "domain", "one-sided", "exactly as many records", "kept"):
        assert bug in stories


def test_the_account_refuses_what_the_budget_does_not_cover_even_when_a_system_asks():
    system = configure("independent", {}).calibrate(Task.of(schema(), Budget(epsilon=1.0, delta=1e-6)))
    codes = np.zeros((3, 5), dtype=np.uint8)
    gate = Gate(account=Account(system.cost), noise=SystemNoise(), unit=Unit.of(schema().unit))
    counter = MemoryCounter(codes, schema().domain())
    system.measure(counter, gate=gate)
    with pytest.raises(BudgetError, match="nothing was counted"):
        system.measure(counter, gate=gate)


def test_a_report_is_called_safe_to_publish_only_where_manifests_promise_it(tmp_path, book):
    table = rows(*crowd(60, 0))
    private = run(table, schema(), book, n_records=9)
    drafted = run(table, draft(table, "people", identifier="who"), book, n_records=9)

    def label(*releases):
        made = compare_tables(schema(), private.arrow, None)
        tables = []
        for release in releases:
            found = None
            if release is not None:
                release.write(tmp_path / "t.csv", tmp_path / "m.json")
                found = receipt(tmp_path / "t.csv", tmp_path / "m.json")
            manifest = None if found is None else found.manifest
            tables.append(ScoredTable(name="t", comparison=made, scores={}, manifest=manifest, receipt=found))
        return label_of(tables)

    assert label(private) == SAFE_LABEL
    assert label(private, drafted) == UNSAFE_LABEL
    assert label(private, None) == UNKNOWN_LABEL


def test_files_are_as_hidden_as_the_person_wants_theirs_to_be(tmp_path):
    before = os.umask(0o077)
    try:
        write_text(tmp_path / "scores.json", "{}")
        assert os.umask(0o022) == 0o077
        write_text(tmp_path / "table.csv", "a\n")
    finally:
        os.umask(before)
    assert (tmp_path / "scores.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "table.csv").stat().st_mode & 0o777 == 0o644


def test_a_certificate_says_who_an_individual_is(book):
    table = rows(*crowd(30, 0))
    units = {"whom 'who' names": {"identifier": "who"}, "each record": {}, "none are enforced": {"max_records": 3}}
    for words, unit in units.items():
        assert words in run(table, schema(unit=unit), book).manifest.certificate()
