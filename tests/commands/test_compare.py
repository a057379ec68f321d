"""`dpsyn compare`: files in, JSON out; what is wrong is one sentence with exit status 2 and no file."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main

SCHEMA = {
    "version": 1,
    "name": "staff",
    "attributes": [
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 10}},
        {"name": "sex", "kind": "categorical", "values": ["female", "male"]},
        {"name": "city", "kind": "categorical", "values": ["A", "B", "C"], "other": True},
        {"name": "pay", "kind": "numeric", "dtype": "float", "min": 0, "max": 1000, "missing": True,
         "bins": {"count": 8}},
        {"name": "id", "kind": "identifier"},
    ],
    "unit": {"neighbours": "add-remove", "identifier": "id", "max_records": 2},
}  # fmt: skip


def table(n, seed):
    rng = np.random.default_rng(seed)
    pay = rng.exponential(200, n).round(2)
    return pd.DataFrame({
        "age": rng.integers(0, 100, n),
        "sex": rng.choice(["female", "male"], n),
        "city": rng.choice(["A", "B", "C"], n),
        "pay": np.where(rng.random(n) < 0.1, np.nan, np.minimum(pay, 1000)),
    })  # fmt: skip


@pytest.fixture
def files(tmp_path):
    table(400, 1).assign(id=np.arange(400) // 2).to_csv(tmp_path / "real.csv", index=False)
    table(300, 2).to_csv(tmp_path / "syn.csv", index=False)
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def compare(folder, *more, synthetic="syn.csv", out="out.json"):
    at = [str(folder / n) for n in ("real.csv", synthetic)]
    return main(["compare", *at, "--schema", str(folder / "schema.json"), "--json", str(folder / out), *more])


def test_compare_writes_labelled_scores_and_prints_a_line_each(files, capsys):
    assert compare(files) == 0
    document = json.loads((files / "out.json").read_text())
    assert document["label"] == "reads private data: for the owner only, not DP"
    assert (document["n_real"], document["n_records"], document["name"]) == (400, 300, "syn")
    assert 0 < document["mean_tvd"]["1"] < document["mean_tvd"]["2"] < document["mean_tvd"]["3"] < 1
    assert document["scores"]["tvd-2way"]["details"]["sets"] == 6
    assert document["scores"]["gini"]["value"] < 0.2
    assert document["metrics"]["tvd-2way"]["goal"] == "low"
    assert "Pairs of columns" in capsys.readouterr().out


def test_a_table_against_itself_scores_nought_and_the_same_from_csv_and_parquet(files):
    frame = pd.read_csv(files / "real.csv").drop(columns="id")
    frame.to_parquet(files / "same.parquet")
    assert compare(files, "--quiet", "--order", "4", synthetic="same.parquet") == 0
    document = json.loads((files / "out.json").read_text())
    assert document["mean_tvd"] == {"1": 0, "2": 0, "3": 0}
    assert document["scores"]["tvd-4way"]["value"] == 0
    assert document["scores"]["gini"]["value"] == 0
    assert document["scores"]["nist"]["value"] == pytest.approx(1e6)


def test_numbers_meet_on_common_bins_and_clamp_to_the_public_range(files):
    frame = pd.read_csv(files / "real.csv")
    frame["age"] = frame["age"] // 10 * 10 + 5  # another value of the same bin
    frame.loc[0, "age"] = 500
    frame.to_csv(files / "moved.csv", index=False)
    assert compare(files, "--quiet", synthetic="moved.csv") == 0
    document = json.loads((files / "out.json").read_text())
    assert document["scores"]["tvd-1way"]["details"]["by_attribute"]["age"] <= 1 / 400 + 1e-12


@pytest.mark.parametrize(
    ("change", "kind", "column"),
    [
        (lambda f: f.drop(columns="city"), "lacking", "city"),
        (lambda f: f.assign(sex="unknown"), "unreadable", "sex"),
        (lambda f: f.assign(age="old"), "unreadable", "age"),
    ],
)
def test_tables_that_fit_in_part_are_scored_and_what_does_not_fit_is_named(files, change, kind, column):
    change(table(300, 3)).to_csv(files / "part.csv", index=False)
    assert compare(files, "--quiet", synthetic="part.csv") == 0
    document = json.loads((files / "out.json").read_text())
    named = {f["key"]: f["columns"] for f in document["verdict"]["findings"]}
    assert named[kind] == [column]
    assert column not in document["scores"]["tvd-1way"]["details"]["by_attribute"]


def test_a_table_without_records_is_one_sentence_and_leaves_no_file(files, capsys):
    table(30, 3).head(0).to_csv(files / "bad.csv", index=False)
    assert compare(files, synthetic="bad.csv") == 2
    assert re.search("no records", capsys.readouterr().err)
    assert not (files / "out.json").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--income", "wage"), "'wage' is not in the schema"),
        (("--split", "sex:male"), "needs two values of 'sex'"),
        (("--order", "9"), "no 9-way marginal of 4 attributes"),
    ],
)
def test_wrong_options_are_one_sentence(files, capsys, more, words):
    assert compare(files, *more) == 2
    assert words in capsys.readouterr().err
    assert not (files / "out.json").exists()


def test_the_output_may_not_be_an_input(files, capsys):
    assert compare(files, out="real.csv") == 2
    assert "its own name" in capsys.readouterr().err


def test_the_pay_gap_takes_its_sides_from_labels_in_the_order_given(files):
    assert compare(files, "--quiet", "--split", "sex:female,male", "--groups", "city", "--income", "pay") == 0
    details = json.loads((files / "out.json").read_text())["scores"]["pay-gap"]["details"]
    assert details["sides"] == ["female", "male"]
    frame = pd.read_csv(files / "real.csv").groupby(["city", "sex"])["pay"].mean()
    for row in details["groups"]:
        assert row["gap_real"] == pytest.approx(frame[row["group"], "female"] - frame[row["group"], "male"])
