import json
import sqlite3

import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.schema.document import Schema


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))


def write_schema(path, *attributes):
    path.write_text(json.dumps({"version": 1, "name": "t", "attributes": list(attributes)}), encoding="utf-8")
    return path


CITY = {"name": "city", "kind": "categorical", "values": ["Málaga", "Cádiz"], "missing": True}
AGE = {"name": "age", "kind": "numeric", "dtype": "float", "min": 0, "max": 99, "bins": {"count": 10}}


def test_a_table_with_too_many_pairs_is_refused_before_it_is_read(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dpsyn_core.systems.rls.system.MOST_ATTRIBUTES", 1)
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    (tmp_path / "t.csv").write_text("neither,of,these\n", encoding="utf-8")
    assert synth(tmp_path / "t.csv", schema, tmp_path, "--method", "rls") == 2
    assert "1 columns fit" in capsys.readouterr().err
    assert not (tmp_path / "home" / "ledger.sqlite3").exists()


def synth(table, schema, folder, *more):
    return main(
        ["synth", str(table), "--schema", str(schema), "--epsilon", "1", "--delta", "1e-9", "--method", "independent",
         "--out", str(folder / "o.csv"), "--manifest", str(folder / "m.json"), "--quiet", "--n-records", "20", *more]
    )  # fmt: skip


def test_what_is_detected_is_said_and_can_be_corrected(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_bytes("city;age\nMálaga;33,5\nCádiz;45,0\n".encode("latin-1"))
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    assert synth(table, schema, tmp_path) == 0
    said = capsys.readouterr().err
    assert "Latin-1" in said and "semicolon" in said and "decimal comma" in said
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()[0] == "city,age"
    assert "reads private data" in said
    assert main(["schema", "check", str(schema), str(table), "--encoding", "latin-1"]) == 0
    assert synth(table, schema, tmp_path, "--encoding", "utf-8", "--strict") == 2
    assert "byte" in capsys.readouterr().err
    assert synth(table, schema, tmp_path, "--encoding", "cp1252", "--decimal", ".", "--strict") == 2
    said = capsys.readouterr().err
    assert "'age'" in said and "exact answer about it, for the owner only" in said
    assert synth(table, schema, tmp_path, "--decimal", ".") == 0


def test_headers_below_a_title_are_hinted_at_declared_and_amounts_come_back_as_they_are_written(tmp_path, capsys):
    table = tmp_path / "t.csv"
    lines = "".join(f'Cádiz,"{1000 + i} €"\n' for i in range(30))
    table.write_text(f"Sales of the year\n\ncity,age\n{lines}", encoding="utf-8")
    pay = {**AGE, "max": 2000, "written": "1.234 €", "missing": True}
    schema = write_schema(tmp_path / "s.json", CITY, pay)
    assert synth(table, schema, tmp_path) == 2
    assert "--header-row 2" in capsys.readouterr().err
    assert synth(table, schema, tmp_path, "--header-row", "2") == 0
    rows = (tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "city;age" and any(row.endswith(" €") for row in rows)
    assert synth(table, schema, tmp_path, "--header-row", "2", "--engine", "stored") == 0
    assert "engine stored" in capsys.readouterr().err
    (tmp_path / "years").mkdir()
    for year in ("2020", "2021"):
        (tmp_path / "years" / f"{year}.csv").write_bytes(table.read_bytes())
    assert synth(tmp_path / "years", schema, tmp_path, "--header-row", "2") == 0
    assert "one table of 2 files" in capsys.readouterr().err


def test_headers_that_a_file_lacks_are_hinted_at_and_given_for_every_engine_and_for_the_report(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("".join(f"Cádiz,{20 + i}\n" for i in range(30)), encoding="utf-8")
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    assert synth(table, schema, tmp_path) == 2
    said = capsys.readouterr().err
    assert "--header 'age,sex,income'" in said and "reads private data" in said
    for engine in ([], ["--engine", "stored"]):
        assert synth(table, schema, tmp_path, "--header", "city,age", *engine) == 0
        assert "the headers are those that were given" in capsys.readouterr().err
    out = ["--json", str(tmp_path / "r.json"), "--schema", str(schema)]
    assert main(["report", str(table), str(tmp_path / "o.csv"), *out, "--header", "city,age", "--quiet"]) == 0


def test_headers_that_stand_twice_are_said_and_strictly_refused(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("city,age,age\n" + "Cádiz,33,1\n" * 9, encoding="utf-8")
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    assert synth(table, schema, tmp_path) == 0
    assert "2 columns have the header 'age'; those after the first are called 'age (2)'" in capsys.readouterr().err
    assert synth(table, schema, tmp_path, "--strict") == 2


def test_a_table_of_a_database_runs_like_a_file(tmp_path, capsys):
    base = tmp_path / "b.sqlite"
    with sqlite3.connect(base) as connection:
        connection.execute("CREATE TABLE people (city TEXT, age REAL)")
        connection.execute("INSERT INTO people VALUES ('Cádiz', 30.5), ('Málaga', 20)")
    connection.close()
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    assert synth(base, schema, tmp_path, "--sql-table", "people") == 0
    assert (
        synth(base, schema, tmp_path, "--sql-table", "people", "--sql-columns", "city,age", "--sql-where", "age > 25")
        == 0
    )
    assert main(["schema", "draft", str(base), "--sql-table", "people", "-o", str(tmp_path / "d.json")]) == 0
    assert not Schema.load(tmp_path / "d.json").private
    capsys.readouterr()
    assert synth(base, schema, tmp_path, "--sql-table", "nobody") == 2
    assert "refused" in capsys.readouterr().err
    assert synth(base, schema, tmp_path) == 2
    assert "SQLite" in capsys.readouterr().err


AVERAGE = "SELECT * FROM people WHERE age >= (SELECT avg(age) FROM people)"


def test_a_query_or_a_view_is_refused_unpaid_or_the_manifest_states_the_owners_word(tmp_path, capsys):
    base = tmp_path / "b.sqlite"
    with sqlite3.connect(base) as connection:
        connection.execute("CREATE TABLE people (city TEXT, age REAL)")
        connection.execute("INSERT INTO people VALUES ('Cádiz', 30.5), ('Málaga', 20)")
        connection.execute(f"CREATE VIEW rich AS {AVERAGE}")
    connection.close()
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    harmless = "SELECT * FROM people WHERE age > 25"
    wanted = (["--sql-query", AVERAGE], ["--sql-table", "rich"], ["--sql-query", harmless])
    for asked in wanted:
        for engine in ([], ["--engine", "stored"]):
            assert synth(base, schema, tmp_path, *asked, *engine) == 2
            said = capsys.readouterr().err
            assert "not checked; name a table" in said and "--query-vouched" in said
    assert Ledger().entries() == []
    for asked in wanted:
        assert synth(base, schema, tmp_path, *asked, "--query-vouched") == 0
        manifest = Manifest.load(tmp_path / "m.json")
        assert manifest.private and manifest.query == "owner's word"
        assert "owner's word: that it reads each record by itself is not checked" in manifest.certificate()
    assert synth(base, schema, tmp_path, "--sql-table", "people", "--sql-where", "age > 25") == 0
    manifest = Manifest.load(tmp_path / "m.json")
    assert manifest.query is None and "owner's word" not in manifest.certificate()
    answer = ["--out", str(tmp_path / "a.csv"), "--attributes", "city", "--manifest", str(tmp_path / "a.json")]
    budget = ["--schema", str(schema), "--epsilon", "1", "--delta", "1e-9", *wanted[0], "--query-vouched"]
    assert main(["marginal", str(base), *budget, *answer]) == 0
    assert Manifest.load(tmp_path / "a.json").query == "owner's word"


def test_a_word_for_a_query_is_refused_where_there_is_no_query_or_no_manifest(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("city,age\nCádiz,3\n", encoding="utf-8")
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    for engine in ([], ["--engine", "stored"]):
        assert synth(table, schema, tmp_path, "--query-vouched", *engine) == 2
        assert "--query-vouched is for a query or a view" in capsys.readouterr().err
    base = tmp_path / "b.sqlite"
    with sqlite3.connect(base) as connection:
        connection.execute("CREATE TABLE people (city TEXT, age REAL)")
    connection.close()
    bought = ["--buy", "age=integer", "--epsilon", "1", "--delta", "1e-9", "-o", str(tmp_path / "d.json")]
    assert main(["schema", "draft", str(base), "--sql-query", AVERAGE, "--query-vouched", *bought]) == 2
    assert "no manifest that could state your word" in capsys.readouterr().err


def test_a_check_shows_the_owner_what_does_not_fit_in_both_orders_of_its_arguments(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("city,age\nRome,3\nRome,300\n,x\n1,2,3\n", encoding="utf-8")
    schema = str(write_schema(tmp_path / "s.json", CITY, AGE))
    for arguments in ([schema, str(table)], [str(table), "--schema", schema]):
        assert main(["schema", "check", *arguments]) == 0
        said = capsys.readouterr()
        assert said.out.startswith("what follows reads private data: for the owner only")
        assert "'city' holds cells that are not in its list of values (3, such as 'Rome'" in said.out
        assert "they count as (missing)" in said.out and "their records are left out" in said.out
        assert "cells outside its range (1, such as '300')" in said.out and "could not be read (1)" in said.out
        assert "line 5 has 3 cells" in said.err
    assert main(["schema", "check", schema, str(table), "--schema", schema]) == 2


def test_errors_of_a_strict_check_name_the_column_once(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("city,age\nRome,3\n", encoding="utf-8")
    schema = write_schema(tmp_path / "s.json", CITY, AGE)
    assert main(["schema", "check", str(schema), str(table)]) == 0
    assert main(["schema", "check", str(schema), str(table), "--strict"]) == 2
    text = capsys.readouterr().err
    assert text.count("'city'") == 1
    lacking = {**AGE, "name": "height"}
    assert main(["schema", "check", str(write_schema(tmp_path / "s.json", lacking)), str(table)]) == 2
    assert "'height' is declared, and the table lacks it" in capsys.readouterr().err


def test_a_run_without_records_gives_a_table_and_a_strict_one_a_refusal(tmp_path, capsys):
    table, schema = tmp_path / "t.csv", write_schema(tmp_path / "s.json", CITY, AGE)
    table.write_text("city,age\n", encoding="utf-8")
    assert synth(table, schema, tmp_path) == 0
    assert len((tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()) == 21
    assert synth(table, schema, tmp_path, "--strict") == 2
    assert "no records" in capsys.readouterr().err


def test_every_command_that_reads_a_table_can_be_told_how(tmp_path, capsys):
    table, schema = tmp_path / "t.csv", write_schema(tmp_path / "s.json", CITY, AGE)
    table.write_bytes("city|age\nM\xe1laga|33,5\nC\xe1diz|45,0\n".encode("latin-1"))
    common = ["--schema", str(schema), "--delimiter", "|", "--encoding", "latin-1", "--decimal", ",", "--quiet"]
    out = ["--out", str(tmp_path / "o.csv"), "--manifest", str(tmp_path / "m.json"), "--epsilon", "1"]
    assert main(["marginal", str(table), *common, "--attributes", "city,age", "--delta", "1e-9", *out]) == 0
    sexes = {"name": "city", "kind": "categorical", "values": ["M\xe1laga", "C\xe1diz"]}
    two = write_schema(tmp_path / "two.json", sexes)
    assert main(["itemsets", str(table), *[str(two) if a == str(schema) else a for a in common], "--k", "1", *out]) == 0
    assert synth(table, schema, tmp_path, "--delimiter", "|", "--encoding", "latin-1", "--decimal", ",") == 0
    scores = ["--json", str(tmp_path / "r.json")]
    assert main(["compare", str(table), str(tmp_path / "o.csv"), *common, *scores]) == 0
    assert main(["report", str(table), str(tmp_path / "o.csv"), *common, *scores, "--metrics", "tvd-1way"]) == 0
    capsys.readouterr()
    wrong = ["--schema", str(schema), "--quiet", "--encoding", "utf-8", "--strict", *scores]
    assert main(["compare", str(table), str(tmp_path / "o.csv"), *wrong]) == 2
    assert "byte" in capsys.readouterr().err
    items = tmp_path / "items.txt"
    items.write_text("a\nb\n")
    assert main(["itemsets", str(table), "--items", str(items), "--encoding", "latin-1", "--k", "1", *out]) == 2
    assert "--schema" in capsys.readouterr().err
