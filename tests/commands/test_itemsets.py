"""`dpsyn itemsets` from files to files: transactions, 0/1 tables, the ledger, and refusals."""

import csv
import json

import numpy as np
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.privacy.ledger.ledger import Ledger
from tests.measure.counting.test_transactions import random_baskets

ITEMS = ["bread", "milk", "eggs", "tea", "salt"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    baskets = random_baskets(400, 5, 0)
    lines = [" ".join(ITEMS[i] for i in sorted(b)) for b in baskets]
    (tmp_path / "baskets.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "items.txt").write_text("\n".join(ITEMS))
    return tmp_path, baskets


def call(folder, *extra, table="baskets.txt"):
    return main(
        [
            "itemsets", str(folder / table), "--k", "6", "--epsilon", "20", "--quiet",
            "--out", str(folder / "out.csv"), "--manifest", str(folder / "m.json"), *extra,
        ]
    )  # fmt: skip


def test_transactions_give_the_frequent_itemsets_and_stand_on_the_ledger(files):
    folder, baskets = files
    assert call(folder, "--items", str(folder / "items.txt")) == 0
    rows = list(csv.DictReader((folder / "out.csv").open()))
    assert len(rows) == 6
    for row in rows:
        wanted = {ITEMS.index(n) for n in row["itemset"].split()}
        exact = sum(wanted <= b for b in baskets)
        assert abs(float(row["count"]) - exact) < 8 * float(row["deviation"])
        assert float(row["frequency"]) == pytest.approx(float(row["count"]) / 400, rel=0.1)
    manifest = json.loads((folder / "m.json").read_text())
    assert manifest["method"] == "privbasis"
    assert manifest["private"]
    (entry,) = Ledger().entries("baskets")
    assert entry.epsilon == 20
    assert entry.run_id == manifest["run_id"]


def test_unknown_items_repeats_and_empty_lines_are_read_as_sets_of_public_items(files):
    folder, _ = files
    (folder / "odd.txt").write_text("bread,bread , milk\n\nnobody knows,tea\r\n ,\n")
    from dpsyn_core.measure.counting.transactions import TransactionCounter
    from dpsyn_core.tables.transactions import read_transactions

    read = read_transactions(folder / "odd.txt", tuple(ITEMS), delimiter=",")
    counter = TransactionCounter(read.rows, read.items, n_records=read.n_records, n_items=5)
    assert read.n_records == 4
    assert counter.item_counts().tolist() == [1, 1, 0, 1, 0]
    assert counter.patterns([0, 1])[0] == 3


def test_transactions_are_the_lines_of_a_text_wherever_one_is_cut_out(files):
    from dpsyn_core.tables.transactions import read_transactions

    folder, _ = files
    path = folder / "lines.txt"
    for end in ("\n", "\r\n", "\r"):
        for last in (" ", "tea", "\t"):  # without a line end
            found = []
            for lines in (["bread", "", last], ["bread", "", last, "tea"], ["bread", last]):
                path.write_bytes(end.join(lines).encode())
                found.append(read_transactions(path, tuple(ITEMS)).n_records)
            assert found == [3, 4, 2]


def test_strictness_holds_for_tables_that_are_read_whole_too(files, capsys):
    folder, _ = files
    (folder / "table.csv").write_text("bread,milk\n1,0\n0,maybe\n")
    attributes = [{"name": n, "kind": "categorical", "values": ["0", "1"]} for n in ITEMS[:2]]
    (folder / "schema.json").write_text(json.dumps({"version": 1, "name": "market", "attributes": attributes}))
    for engine in ([], ["--engine", "memory"], ["--engine", "stored"]):
        extra = ["--schema", str(folder / "schema.json"), "--strict", "--k", "2", *engine]
        assert call(folder, *extra, table="table.csv") == 2
        error = capsys.readouterr().err
        assert "exact answer" in error and "maybe" not in error
    assert not Ledger().entries("market")


def test_a_binary_table_with_a_schema_is_a_table_of_items(files):
    folder, baskets = files
    with (folder / "table.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(ITEMS)
        out.writerows([[int(i in b) for i in range(5)] for b in baskets])
    attributes = [{"name": n, "kind": "categorical", "values": ["0", "1"], "source": "public"} for n in ITEMS]
    schema = {"version": 1, "name": "market", "attributes": attributes}
    (folder / "schema.json").write_text(json.dumps(schema))
    assert call(folder, "--schema", str(folder / "schema.json"), table="table.csv") == 0
    rows = list(csv.DictReader((folder / "out.csv").open()))
    best = rows[0]
    exact = np.mean([{ITEMS.index(n) for n in best["itemset"].split()} <= b for b in baskets])
    assert float(best["frequency"]) == pytest.approx(exact, abs=0.05)
    assert Ledger().entries("market")


def test_what_a_schema_bought_or_read_from_the_data_stands_in_the_manifest_of_its_itemsets(files):
    folder, baskets = files
    rows = [[int(i in b) for i in range(5)] + [0] for b in baskets]
    (folder / "table.csv").write_text("\n".join(",".join(map(str, r)) for r in [[*ITEMS, "shop"], *rows]))
    attributes = [{"name": n, "kind": "categorical", "values": ["0", "1"], "source": "bought"} for n in ITEMS]
    shop = {"name": "shop", "kind": "categorical", "values": ["0", "1", "2"]}  # three values: no item
    price = {
        "name": "categories of milk", "mechanism": "geometric", "sensitivity": 1.0, "scale": 2.0, "cells": 1,
        "rho": 0.125, "epsilon": 0.5, "delta": 0.0,
    }  # fmt: skip
    for source in ("public", "data"):
        document = {
            "version": 1, "name": "market", "attributes": [*attributes, shop | {"source": source}], "bought": [price],
        }  # fmt: skip
        (folder / "schema.json").write_text(json.dumps(document))
        assert call(folder, "--schema", str(folder / "schema.json"), table="table.csv") == 0
        manifest = json.loads((folder / "m.json").read_text())
        assert [b["name"] for b in manifest["bought"]] == ["categories of milk"]
        assert manifest["private"] == (source == "public")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--items", "items.txt", "--k", "40"], "31 itemsets"),
        (["--items", "missing.txt"], "cannot be read"),
        (["--items", "items.txt", "--strict"], "--strict goes with --schema"),
        (["--items", "items.txt", "--header", "a,b"], "--header goes with --schema"),
        (["--items", "items.txt", "--epsilon", "0"], "epsilon"),
        (["--items", "items.txt", "--set", "sizes=3"], "known are"),
        (["--items", "items.txt", "--out", "out.txt"], "must end with"),
        (["--items", "items.txt", "--out", "baskets.txt.csv", "--manifest", "baskets.txt"], "named twice"),
    ],
)
def test_mistakes_are_one_sentence_and_spend_nothing(files, capsys, monkeypatch, extra, words):
    folder, _ = files
    monkeypatch.chdir(folder)
    assert call(folder, *extra) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not Ledger().entries("baskets")
