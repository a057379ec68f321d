"""Rules that no record of a table breaks, proposed to its owner and marked as read from the data."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.rule_proposals import kept_rules, offered_rules
from dpsyn_core.schema import Schema, draft

N = 800


@pytest.fixture(scope="module")
def loans():
    """Loans with headers that no list of words has: what is computed is seen in the records alone."""
    rng = np.random.default_rng(4)
    taken = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 300, N), "D")
    kept = rng.integers(0, 40, N)
    one, two, three = rng.integers(0, 50, (3, N))
    pieces, each = rng.integers(1, 9, N), np.round(rng.uniform(1, 20, N), 2)
    return pd.DataFrame(
        {
            "zlotnik": taken.strftime("%Y-%m-%d"),
            "marnok": (taken + pd.to_timedelta(kept, "D")).strftime("%Y-%m-%d"),
            "wexel": kept,
            "ada": one,
            "bela": two,
            "cora": one + two,
            "dova": three,
            "pelt": pieces,
            "quo": each,
            "rix": np.round(pieces * each, 2),
            "lower": np.minimum(one, three),
        }
    )


@pytest.fixture(scope="module")
def schema(loans):
    return draft(pa.Table.from_pandas(loans), name="loans")


def test_computed_numbers_and_orders_are_seen_in_the_records(loans, schema):
    rules = kept_rules(schema, pa.Table.from_pandas(loans))
    assert {str(r) for r in rules} >= {
        "wexel = marnok - zlotnik in days",
        "cora = ada + bela",
        "quo = rix / pelt",
        "lower <= ada",
        "lower <= dova",
    }
    assert "zlotnik <= marnok" not in {str(r) for r in rules}, "follows from the time between"
    assert {r.source for r in rules} == {"data"}


def test_what_a_value_names_is_proposed_with_its_map():
    rows = [(f"t{i % 60}", f"l{i % 60 % 5}", i * 7 % 11) for i in range(240)]
    table = pa.table({n: [r[k] for r in rows] for k, n in enumerate(("town", "land", "other"))})
    (rule,) = (r for r in kept_rules(draft(table, "towns"), table) if r.kind == "follows")
    assert rule.column == "land" and rule.of == ("town",) and len(rule.map) == 60 and ("t7", "l2") in rule.map


def test_a_list_with_gaps_does_not_become_a_range(loans):
    gaps = loans.assign(pelt=loans["pelt"].replace({4: 5}), rix=lambda f: (f["pelt"] * f["quo"]).round(2))
    table = pa.Table.from_pandas(gaps)
    found = draft(table, name="gaps")
    assert not any("pelt" in rule.columns for rule in kept_rules(found, table)), "4 would come out, and is not listed"


def test_a_rule_that_one_record_breaks_is_not_proposed(loans, schema):
    changed = loans.assign(
        cora=loans["cora"].where(loans.index > 0, 7), lower=loans["lower"].where(loans.index > 0, 49)
    )
    changed.loc[0, ["ada", "bela"]] = 1
    rules = {str(r) for r in kept_rules(schema, pa.Table.from_pandas(changed))}
    assert "wexel = marnok - zlotnik in days" in rules
    assert not rules & {"cora = ada + bela", "lower <= ada"}


def test_what_the_schema_or_its_headers_have_is_not_proposed_again(loans, schema, tmp_path):
    schema.dump(tmp_path / "s.json")
    table = pa.Table.from_pandas(loans)
    proposed, with_rules = offered_rules(tmp_path / "s.json", table)
    extended, count = with_rules([r for r in proposed if str(r) == "cora = ada + bela"])
    assert count == 1
    assert "cora = ada + bela" not in {str(r) for r in kept_rules(extended, table)}


def test_the_shell_marks_them_until_a_person_confirms(loans, schema, tmp_path, capsys):
    loans.to_csv(tmp_path / "loans.csv", index=False)
    path, out = str(tmp_path / "s.json"), str(tmp_path / "ruled.json")
    schema.dump(path)
    assert main(["schema", "propose-rules", path, str(tmp_path / "loans.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    (number,) = (line.split(":")[0] for line in lines if "wexel = " in line)
    assert all("for the owner only" in line for line in lines)
    assert main(["schema", "propose-rules", path, str(tmp_path / "loans.csv"), "--add", number, "-o", out]) == 0
    assert "NOT PRIVATE until you confirm them" in capsys.readouterr().out
    assert "was chosen after rules were tried on the data" in " ".join(Schema.load(out).reasons)
    assert main(["schema", "confirm", out, "--rules"]) == 0
    (rule,) = json.loads((tmp_path / "ruled.json").read_text(encoding="utf-8"))["rules"]
    assert rule["source"] == "public"


def test_linked_tables_have_rules_by_their_headers_alone(loans, schema, tmp_path):
    part = schema.document()
    document = {
        "version": 2,
        "name": "two",
        "tables": [{"name": "a", "key": "id"}, {"name": "b", "schema": part}],
        "links": [{"child": "b", "parent": "a", "key": "a", "max_children": 2}],
    }
    Schema.of(document).dump(tmp_path / "s.json")
    with pytest.raises(SchemaError, match="headers propose"):
        offered_rules(tmp_path / "s.json", pa.Table.from_pandas(loans))
