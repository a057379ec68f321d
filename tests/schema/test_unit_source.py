"""Where the unit of privacy comes from: what was read from the data stamps a run until a person confirms it."""

import json

import pyarrow as pa
import pytest

from dpsyn_core import synthesize
from dpsyn_core.commands.cli import main
from dpsyn_core.schema.checks import check
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.individuals import LADDER, repeats

SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}
UNIT = {"neighbours": "add-remove", "identifier": "pid", "max_records": 50}
WHY = "the unit of privacy (identifier, max_records) was read from the data"
TABLE = pa.table({"pid": [f"p{i // 2}" for i in range(200)], "sex": ["F", "M"] * 100})


def document(unit, *, source="public", **more):
    attributes = [{"name": "pid", "kind": "identifier"}, SEX | {"source": source}]
    return {"version": 1, "name": "visits", "unit": unit, "attributes": attributes} | more


def written(folder, unit, **more):
    path = folder / "s.json"
    path.write_text(json.dumps(document(unit, **more)))
    return path


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))


def test_a_unit_that_was_read_from_the_data_makes_a_release_not_private_until_it_is_confirmed():
    schema = Schema.of(document(UNIT | {"source": "data"}))
    assert schema.from_data == () and schema.reasons == (WHY,)
    release = synthesize(TABLE, schema, epsilon=1.0, delta=1e-9, rng=1, method="independent")
    assert not release.manifest.private and release.manifest.not_private_because == (WHY,)
    assert WHY in release.manifest.certificate()
    known = confirm(schema, everything=True)
    assert known.private and known.unit.source == "public"
    assert synthesize(TABLE, known, epsilon=1.0, delta=1e-9, rng=1, method="independent").manifest.private


def test_the_unit_is_confirmed_with_all_entries_or_by_itself_and_not_with_single_columns():
    schema = Schema.of(document(UNIT | {"source": "data"}, source="data"))
    assert confirm(schema, everything=True).private
    assert confirm(schema, ["sex"]).reasons == (WHY,)
    alone = confirm(schema, [], unit=True)
    assert not alone.unit_from_data and alone.from_data == ("sex",)
    assert confirm(schema, everything=True, unit=False).reasons == (WHY,)


def test_a_document_keeps_where_its_unit_comes_from_and_an_old_one_keeps_its_text():
    for unit in (UNIT, UNIT | {"source": "public"}, UNIT | {"source": "data"}):
        schema = Schema.of(document(unit))
        assert schema.document()["unit"] == unit
        assert Schema.loads(schema.dumps()) == schema


@pytest.mark.parametrize(
    ("unit", "source", "stamped"),
    [
        (UNIT, "public", False),  # who wrote or confirmed all columns declares the unit with them
        (UNIT, "data", True),  # a draft that nobody has finished confirming
        (UNIT | {"max_records": 1}, "data", True),
        ({"neighbours": "replace", "identifier": None, "max_records": 1}, "data", False),  # nothing was looked for
        ({"neighbours": "add-remove", "identifier": None, "max_records": 4}, "data", True),
        (UNIT | {"source": "public"}, "data", False),  # a person typed it
    ],
)
def test_a_document_that_does_not_say_is_read_by_its_columns(unit, source, stamped):
    assert Schema.of(document(unit, source=source)).unit_from_data == stamped


def test_a_unit_of_an_old_draft_stays_marked_when_its_last_column_is_confirmed():
    old = Schema.of(document(UNIT, source="data"))
    assert confirm(old, ["sex"]).reasons == (WHY,)


def test_what_was_bought_for_a_unit_that_was_read_from_the_data_stays_marked_until_that_unit_is_confirmed():
    price = {"name": "sex", "mechanism": "gaussian", "sensitivity": 50, "scale": 9, "cells": 2, "rho": 0.1}
    looked = UNIT | {"source": "data"}
    schema = Schema.of(document(looked, source="bought", bought=[price | {"unit": looked}]))
    assert confirm(schema, everything=True).private
    typed = schema.model_copy(update={"unit": schema.unit.model_copy(update={"max_records": 5, "source": "public"})})
    assert typed.reasons == ("parts of the schema were bought for a unit of privacy that was read from the data",)
    assert (
        confirm(typed, everything=True).reasons == typed.reasons
    )  # its price tells of the fifty, which nobody has confirmed


def test_a_check_says_what_is_unconfirmed_and_what_an_old_file_does_not_say():
    said = [f.text for f in check(Schema.of(document(UNIT | {"source": "data"}))) if f.level == "warning"]
    assert any("unit of privacy" in s and "NOT PRIVATE until a person confirms it" in s for s in said)
    assert any("does not say where its unit" in f.text for f in check(Schema.of(document(UNIT))))
    assert not any("unit of privacy" in f.text for f in check(Schema.of(document(UNIT | {"source": "public"}))))
    assert not any("unit of privacy" in f.text for f in check(draft(TABLE, "t", identifier="pid")))


def test_the_shell_stamps_the_file_the_manifest_the_plan_and_the_report_until_the_unit_is_confirmed(tmp_path, capsys):
    import pyarrow.csv as pacsv

    pacsv.write_csv(TABLE, tmp_path / "t.csv")
    unit = UNIT | {"max_records": 2}  # little noise, so that the table has records
    schema = written(tmp_path, unit | {"source": "data"})
    price = ["--epsilon", "1", "--delta", "1e-9", "--method", "independent"]
    assert main(["plan", "--schema", str(schema), *price]) == 0
    assert WHY in capsys.readouterr().out
    run = ["synth", str(tmp_path / "t.csv"), "--schema", str(schema), *price, "--out", str(tmp_path / "o.csv")]
    assert main([*run, "--measurements", str(tmp_path / "m.dpsyn")]) == 0
    assert WHY in capsys.readouterr().err
    made = sorted(p.name for p in tmp_path.iterdir())
    assert "o.csv" not in made and any("NOT-PRIVATE" in name for name in made)
    manifest = json.loads((tmp_path / "o.manifest.json").read_text())
    assert manifest["private"] is False and manifest["not_private_because"] == [WHY]
    stamped = next(p for p in tmp_path.iterdir() if p.suffix == ".csv" and "NOT-PRIVATE" in p.name)
    html = tmp_path / "r.html"
    report = ["report", str(tmp_path / "t.csv"), str(stamped), "--schema", str(schema), "--html", str(html)]
    assert main([*report, "--manifest", str(tmp_path / "o.manifest.json")]) == 0
    assert WHY in html.read_text()
    written(tmp_path, unit | {"source": "public"})
    assert main(run) == 0
    assert (tmp_path / "o.csv").exists()
    assert json.loads((tmp_path / "o.manifest.json").read_text())["private"] is True


def test_the_ladder_is_the_same_for_every_table():
    assert LADDER == (1, 2, 5, 10, 20, 50, 100)
    many = pa.table({"pid": ["a"] * 3000 + ["b"]})
    assert [k.most for k in repeats(TABLE, "pid").kept] == [k.most for k in repeats(many, "pid").kept] == list(LADDER)
