"""Hazards of tables and schemas, one test each: the behaviour that docs/guarantee.md promises."""

import ast
import csv
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError, TableError, UnitError
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.discovery import Wanted
from dpsyn_core.measure.sources import bounding, memory
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.runs import measurement as measured
from dpsyn_core.runs.purchase import buy_schema
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema, SchemaUnit
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.systems.registry import MODULES, config_class, names
from dpsyn_core.tables.notices import Notice
from tests.audit.whole import crowd, rows, schema

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite3")


def run(table, declared, book, **kwargs):
    settings = {"epsilon": 1.0, "delta": 1e-6, "rng": 0, "method": "independent", "ledger": book} | kwargs
    return synthesize(table, declared, **settings)


# ---- domain, categories and bin edges taken from the data


def test_knowledge_read_from_the_data_is_stamped_on_manifest_certificate_and_file_name(book, tmp_path, monkeypatch):
    table = rows(*crowd(50, 0))
    drafted = draft(table, "people", identifier="who")
    assert not drafted.private
    made = run(table, drafted, book)
    assert not made.manifest.private
    assert "NOT PRIVATE" in made.manifest.guarantee
    assert made.manifest.certificate().startswith("NOT PRIVATE")
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    drafted.dump(tmp_path / "schema.json")
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])
    arguments = ["synth", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "schema.json"), "--epsilon", "1"]
    arguments += ["--delta", "1e-6", "--method", "independent", "--quiet", "--out", str(tmp_path / "out.csv")]
    assert main([*arguments, "--manifest", str(tmp_path / "m.json")]) == 0
    assert not (tmp_path / "out.csv").exists()
    assert (tmp_path / "out.NOT-PRIVATE.csv").exists()
    assert json.loads((tmp_path / "m.json").read_text())["private"] is False


def test_knowledge_that_was_bought_is_on_the_ledger_and_in_the_manifest_and_not_stamped(book):
    table = rows(*crowd(4000, 0))
    wanted = [Wanted(name="age", kind="integer", bins=5), Wanted(name="city", kind="categorical")]
    unit = SchemaUnit(identifier="who", max_records=1)
    found = buy_schema(table, wanted, name="people", epsilon=1.0, delta=1e-6, unit=unit, ledger=book)
    made = run(table, found.schema, book)
    assert made.manifest.private
    assert [c.name for c in made.manifest.bought] == [c.name for c in found.charges]
    assert [e.purpose for e in book.entries("people")] == ["schema", "synthesis"]
    alone, together = made.manifest.recomputed_epsilon(), made.manifest.recomputed_epsilon(with_bought=True)
    assert alone <= 1.0 < together


# ---- several records an individual


def test_an_individual_keeps_theta_records_and_the_identifier_never_leaves(book):
    records = [("spam", "oslo", str(i), "yes") for i in range(50)] + crowd(30, 0)
    encoded = Codec(schema()).encode(rows(*records))
    assert bound(encoded, 2).shape[1] == 32
    made = run(rows(*records), schema(), book)
    assert "who" not in made.arrow.column_names
    assert "spam" not in made.manifest.to_json()
    for charge in made.manifest.charges:
        assert charge.sensitivity == 2


def test_l1_and_l2_sensitivity_are_theta_since_all_records_may_share_a_cell():
    assert Unit(max_records=7).l1() == Unit(max_records=7).l2() == 7
    assert Unit(max_records=7, neighbours="replace").l2() == pytest.approx(7 * math.sqrt(2))


# ---- neighbour definition


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_neighbour_definition_is_explicit_and_printed_on_the_certificate(neighbours, book):
    declared = schema(unit={"neighbours": neighbours, "identifier": "who", "max_records": 2})
    text = run(rows(*crowd(30, 0)), declared, book).manifest.certificate()
    assert ("add/remove: a neighbour" if neighbours == "add-remove" else "replace: a neighbour") in text


@pytest.mark.parametrize("name", names())
def test_a_system_refuses_neighbours_that_it_does_not_support_before_anything_is_charged(name, book):
    for neighbours in {"add-remove", "replace"} - set(config_class(name).guarantee.neighbours):
        declared = schema(unit={"neighbours": neighbours, "identifier": "who", "max_records": 1}, n_records=30)
        delta = 1e-6 if config_class(name).guarantee.approximate else 0.0
        with pytest.raises(UnitError):
            run(rows(*crowd(30, 0)), declared, book, method=name, delta=delta)
    assert book.entries("people") == []


# ---- number of records


def test_the_manifest_does_not_time_what_reads_the_table(book, monkeypatch):
    clock = [0.0]

    def slow(*arguments, **named):
        clock[0] += 100.0
        return bound(*arguments, **named)

    class SlowCounter(MemoryCounter):
        def marginals(self, *arguments, **named):
            clock[0] += 100.0
            return super().marginals(*arguments, **named)

    monkeypatch.setattr(measured.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(bounding, "bound", slow)
    monkeypatch.setattr(memory, "MemoryCounter", SlowCounter)
    assert run(rows(*crowd(30, 0)), schema(), book).manifest.seconds == 0
    assert clock[0] > 100


def test_the_size_of_the_output_is_noisy_or_declared(book):
    table = rows(*crowd(400, 0))
    sizes = {run(table, schema(), book, epsilon=0.1).arrow.num_rows for _ in range(6)}
    assert len(sizes) > 1
    assert run(table, schema(n_records=123), book).arrow.num_rows == 123
    assert run(table, schema(), book, n_records=77).arrow.num_rows == 77


@pytest.mark.parametrize("name", ["privbayes", "dirichlet-multinomial"])
def test_a_system_that_calibrates_with_the_number_of_records_refuses_a_declared_one_that_is_too_small(name, book):
    unit = {"neighbours": "replace", "identifier": "who", "max_records": 1}
    with pytest.raises(SchemaError, match="more records than the schema's n_records") as refusal:
        run(rows(*crowd(41, 0)), schema(unit=unit, n_records=40), book, method=name, delta=0.0)
    assert "41" not in str(refusal.value)
    assert book.entries("people") == []
    run(rows(*crowd(41, 0)), schema(unit=unit, n_records=41), book, method=name, delta=0.0)


def test_a_private_number_of_records_refuses_no_run_where_an_individual_may_hold_several(book):
    declared = schema(unit={"neighbours": "replace", "identifier": "who", "max_records": 2}, n_records=40)
    for n in (40, 41):
        run(rows(*crowd(n, 0)), declared, book, method="dirichlet-multinomial", delta=0.0)
        with pytest.raises(UnitError, match="max_records to 1"):
            run(rows(*crowd(n, 0)), declared, book, method="privbayes", delta=0.0)
    assert len(book.entries("people")) == 2


# ---- missing or out-of-range values


def test_strange_values_meet_schema_cells_and_no_row_is_dropped_and_nothing_is_said():
    strange = [
        ("p1", "atlantis", "1e9", "maybe"),
        ("p2", "", "", ""),
        ("p3", "rome", "-inf", "no"),
        ("p4", "x", "?", "y"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes = Codec(schema()).encode(rows(*strange)).codes
    assert codes.shape == (3, 4)
    domain = schema().domain()
    labels = {a.name: a.labels() for a in schema().coded}
    assert labels["city"][codes[0, 0]] == "(other)"
    assert labels["city"][codes[0, 1]] == "(missing)"
    assert codes[1].tolist() == [4, 5, 0, 5]  # clamped, blank, clamped, not a number
    assert (codes.max(axis=1) < np.array(domain.sizes)).all()


# ---- start and stop of record synthesis


@pytest.mark.parametrize("name", names())
def test_record_synthesis_is_handed_released_values_and_public_seeds_only(name):
    cls = config_class(name)
    own = Path(ROOT / (MODULES[name].replace(".", "/") + ".py"))
    # a family of systems shares what is in system.py beside them
    modules = [ast.parse(p.read_text(encoding="utf-8")) for p in (own, own.with_name("system.py")) if p.exists()]
    found = [n for m in modules for n in ast.walk(m) if isinstance(n, ast.FunctionDef) and n.name == "synthesize"]
    assert found, f"{cls.__name__} has no synthesize"
    for function in found:
        arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
        assert arguments == ["self", "measured", "n_records", "rng", "progress"]
        used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        assert not {"counter", "gate", "MemoryCounter", "Gate"} & used


def test_a_schema_of_version_one_never_forgets_where_its_knowledge_came_from(tmp_path):
    drafted = draft(rows(*crowd(50, 0)), "people", identifier="who")
    drafted.dump(tmp_path / "s.json")
    assert Schema.load(tmp_path / "s.json").from_data == drafted.from_data != ()


# ---- found by later reviews


def test_marginals_under_a_drafted_schema_say_so_in_their_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    (tmp_path / "t.csv").write_text("a,b\n" + "1,x\n2,y\n" * 40)
    assert main(["schema", "draft", str(tmp_path / "t.csv"), "-o", str(tmp_path / "s.json")]) == 0
    out = ["--out", str(tmp_path / "m.csv"), "--manifest", str(tmp_path / "m.json"), "--quiet"]
    asked = ["marginal", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.json"), "--attributes", "a,b"]
    assert main([*asked, "--epsilon", "1", "--delta", "1e-6", *out]) == 0
    assert "NOT PRIVATE" in capsys.readouterr().err
    assert (tmp_path / "m.NOT-PRIVATE.csv").exists() and not (tmp_path / "m.csv").exists()


def test_records_without_a_name_are_no_part_of_what_is_bought(book):
    names, ages = [f"p{i}" for i in range(3000)], [i % 50 for i in range(3000)]
    table = pa.table({"who": [*names, *[None, "", "  "] * 1000], "age": [*ages, *[10**6] * 3000]})
    unit = SchemaUnit(identifier="who")
    wanted = [Wanted(name="age", kind="integer")]
    found = buy_schema(table, wanted, name="people", epsilon=10.0, delta=1e-6, ledger=book, unit=unit)
    assert found.schema["age"].max < 1000 and 2900 < found.total < 3100
    with pytest.raises(SchemaError, match="nobody"):
        buy_schema(table, [Wanted(name="nobody", kind="integer")], name="people", epsilon=1.0, delta=1e-6, ledger=book)
    assert len(book.entries("people")) == 1


def test_what_was_bought_for_records_does_not_protect_individuals(book):
    table = rows(*crowd(4000, 0))
    wanted = [Wanted(name="age", kind="integer", bins=5)]
    found = buy_schema(table, wanted, name="people", epsilon=1.0, delta=1e-6, ledger=book)
    assert run(table, found.schema, book).manifest.private
    document = found.schema.document()
    document["unit"]["identifier"] = "who"
    document["attributes"].append({"name": "who", "kind": "identifier"})
    made = run(table, Schema.of(document), book)
    assert not made.manifest.private
    assert "another unit" in made.manifest.not_private_because[0]


def test_no_name_in_a_message_moves_a_cursor_or_turns_letters_round():
    said = str(TableError("the column '\x1b[2K\u202e\x9b1A\u2066x' is\tlong"))
    assert said == "the column '\ufffd[2K\ufffd\ufffd1A\ufffdx' is\tlong"
    notice = Notice("sheet", sheet="\x1b[2J", sheets=2, others="\u202e")
    assert notice == "read the sheet '\ufffd[2J', one of 2; the others are \ufffd"
