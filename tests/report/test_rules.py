"""Rules in comparisons and reports: the share of records that break each, real and synthetic."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import write_sample
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.write import write_table
from tests.schema.helpers import cat, num


def made(rules):
    return Schema.of({
        "version": 1, "name": "t", "unit": {"neighbours": "add-remove"},
        "attributes": [num("low", 0, 9, list(range(10))), num("high", 0, 9, list(range(10))), cat("c", ["x", "y"])],
        "rules": rules,
    })  # fmt: skip


def test_a_comparison_holds_the_share_of_records_that_break_each_rule():
    schema = made([{"kind": "order", "lower": "low", "upper": "high"}, {"kind": "impossible", "where": "c = y"}])
    real = pa.table({"low": ["1", "2"], "high": ["3", "2"], "c": ["x", "x"]})
    bad = pa.table({"low": ["5", "2", "9", "0"], "high": ["3", "2", "1", "0"], "c": ["x", "y", "x", "x"]})
    found = compare_tables(schema, bad, real).rules
    assert [(r.real, r.synthetic) for r in found] == [(0.0, 0.5), (0.0, 0.25)]
    assert [r.real for r in compare_tables(schema, bad).rules] == [None, None]
    assert compare_tables(made([]), bad, real).rules == ()


@pytest.fixture
def hospital(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    table, schema = write_sample(tmp_path, "hospital")
    return tmp_path, table, schema


def test_a_report_lists_the_rules_with_the_real_and_the_synthetic_share(hospital, capsys):
    folder, table, schema = hospital
    told = ["--epsilon", "1", "--delta", "1e-9", "--out", str(folder / "s.csv")]
    assert main(["synth", str(table), "--schema", str(schema), *told, "--n-records", "800"]) == 0
    out = [str(folder / "r.json"), str(folder / "r.html")]
    capsys.readouterr()
    said = ["report", str(table), str(folder / "s.csv"), "--schema", str(schema), "--json", out[0], "--html", out[1]]
    assert main([*said, "--metrics", "tvd-1way"]) == 0
    rules = json.loads((folder / "r.json").read_text("utf-8"))["tables"][0]["rules"]
    assert len(rules) == 6 and all(r["real"] == r["synthetic"] == r["synthetic_records"] == 0 for r in rules)
    assert "los_days = discharged - admitted" in (folder / "r.html").read_text("utf-8")
    assert "rule los_days = discharged - admitted: broken by 0 synthetic records (0.00%)" in capsys.readouterr().out


def test_the_json_of_a_report_counts_the_records_of_a_table_made_elsewhere_that_break_each_rule(hospital, capsys):
    folder, table, schema = hospital
    foreign = read_table(table)
    days = pc.add(pc.cast(foreign["los_days"], pa.int64()), pa.array(np.arange(foreign.num_rows) < 3, pa.int64()))
    at = foreign.column_names.index("los_days")
    write_table(foreign.set_column(at, "los_days", days), folder / "foreign.csv")
    said = [str(table), str(folder / "foreign.csv"), "--schema", str(schema), "--metrics", "tvd-1way"]
    assert main(["report", *said, "--json", str(folder / "r.json"), "--html", str(folder / "r.html")]) == 0
    rules = json.loads((folder / "r.json").read_text("utf-8"))["tables"][0]["rules"]
    counted = {r["rule"]: (r["real_records"], r["synthetic_records"]) for r in rules}
    assert counted.pop("los_days = discharged - admitted") == (0, 3) and set(counted.values()) == {(0, 0)}
    assert "broken by 3 synthetic records (0.06%)" in capsys.readouterr().out
    assert "0.06% (3)" in (folder / "r.html").read_text("utf-8")


def test_a_derived_column_is_a_rule_that_follows_by_its_map():
    schema = Schema.of({
        "version": 1, "name": "t",
        "attributes": [
            cat("county", ["a", "b"], missing=True),
            {"name": "state", "kind": "derived", "from": "county", "map": [["a", 1], ["b", 2]]},
        ],
    })  # fmt: skip
    real = pa.table({"county": ["a", "b", "b", None, "a"], "state": ["1", "1", "9", "1", None]})
    made = pa.table({"county": ["a", "b"], "state": [1, 2]})
    (found,) = compare_tables(schema, made, real).rules
    assert (found.rule, found.real, found.synthetic) == ("state follows from county by a map of 2 values", 0.4, 0.0)
    assert compare_tables(schema, made.select(["county"]), real).rules == ()


def test_the_command_says_of_each_marginal_score_how_large_a_sample_is_as_good(tmp_path, capsys):
    real, schema = write_sample(tmp_path, "hospital")[:2]
    files = [str(real), str(real), "--schema", str(schema), "--metrics", "tvd-1way,tvd-2way,k-marginal,tails"]
    assert main(["report", *files, "--json", str(tmp_path / "r.json")]) == 0
    said = "".join(capsys.readouterr()).splitlines()
    for title in ("Single columns", "Pairs of columns", "k-marginal (SDNist)"):
        line = next(row for row in said if row.strip().startswith(title + " "))
        assert "as good as a 100% sample of the real records" in line
    assert "as good as" not in next(row for row in said if "Mass in the tails" in row)
