"""Conditions of refits on cells that hold no plain value: blank, "other" and special ones."""

import json
from pathlib import Path

import pytest

from dpsyn_core import refit
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import SchemaError

SCHEMA = {
    "version": 1,
    "name": "clinic",
    "attributes": [
        {"name": "pregnant", "kind": "categorical", "values": ["no", "yes"]},
        {"name": "due", "kind": "datetime", "min": "2026-01-01", "max": "2026-12-31", "bins": {"every": "month"},
         "missing": True},
        {"name": "cost", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 5},
         "special_values": [999], "missing": True},
        {"name": "town", "kind": "categorical", "values": ["A", "B"], "other": True, "missing": True},
    ],
    "rules": [{"kind": "blank", "column": "due", "where": "pregnant = no", "only": True}],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("blanks")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found)
        patch.setenv("DPSYN_HOME", str(found / "home"))
        lines = ["pregnant,due,cost,town"]
        for i in range(1200):
            yes = i % 3 == 0
            due = f"2026-{1 + i % 12:02d}-15" if yes else ""
            cost = ["", "999", str(i % 100), str(i * 7 % 100)][i % 4]
            lines.append(f"{'yes' if yes else 'no'},{due},{cost},{['A', 'B', 'Z', ''][i // 4 % 4]}")
        Path("t.csv").write_text("\n".join(lines) + "\n")
        Path("s.json").write_text(json.dumps(SCHEMA))
        words = "synth t.csv --schema s.json --epsilon 4 --delta 1e-6 --seed 1 -o o.csv --save-release R.dpsyn --quiet"
        assert main(words.split()) == 0
        yield found


def made(where, **more):
    return refit("R.dpsyn", rng=1, where=where, **more).arrow.to_pandas()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", ["rls", "independent", "dpsyn", "mst"])
def test_blank_is_a_value_of_a_condition_and_the_rules_hold_among_these_records(method):
    found = made("due = (missing)", method=method)
    assert found.due.isna().all() and set(found.columns) == {"pregnant", "due", "cost", "town"}
    assert set(found.pregnant) == {"no"}, "due is blank for these alone, by the rule"
    assert 700 < len(found) < 900


@pytest.mark.usefixtures("folder")
def test_every_kind_of_column_and_of_special_cell_is_taken():
    assert made("cost = (missing)").cost.isna().all()
    assert set(made("cost = 999").cost) == {999}
    both = made("cost in {999, (missing)} and pregnant = yes")
    assert set(both.cost.dropna()) == {999} and both.cost.isna().any() and set(both.pregnant) == {"yes"}
    assert made("town = (missing)").town.isna().all()
    assert set(made("town in {(missing), B}").town.dropna()) == {"B"}
    assert made("due != (missing)").due.notna().all()


@pytest.mark.usefixtures("folder")
def test_a_blank_can_be_asked_for_with_fewer_columns_and_by_the_command():
    few = made("due = (missing)", columns=["cost", "town"], n_records=50)
    assert few.shape == (50, 2)
    assert main(["refit", "R.dpsyn", "--where", "due = (missing)", "-o", "no.csv", "--seed", "3", "--quiet"]) == 0
    assert main(["verify", "no.csv", "--schema", "s.json", "--publishable"]) == 0
    rows = Path("no.csv").read_text().splitlines()
    assert all(r.startswith("no,,") for r in rows[1:])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("cost != 5", "write one interval"),
        ("cost in {5, 7}", "write one interval"),
        ("cost in {5, (missing)}", "write one interval"),
        ("cost = 999 and cost in [0, 10]", "no cell of 'cost' meets"),
        ("cost in [200, 300]", "no cell of 'cost' meets"),
        ("town = A and town = B", "no cell of 'town' meets"),
        ("pregnant = (missing)", "is no value of 'pregnant'"),
    ],
)
def test_a_condition_that_cannot_be_taken_and_one_that_nothing_meets_are_told_apart(where, said):
    with pytest.raises(SchemaError, match=said):
        made(where)
