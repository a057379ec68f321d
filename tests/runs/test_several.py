"""Several tables of one release: they cost nothing further, differ by redrawn noise, and belong to one manifest."""

import numpy as np
import pytest

from dpsyn_core import Ledger, synthesize
from dpsyn_core.commands.cli import main
from dpsyn_core.errors import MethodError, SettingError
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.schema.document import Schema

SCHEMA = {
    "version": 1,
    "name": "few",
    "attributes": [
        {"name": n, "kind": "categorical", "values": ["x", "y", "z"], "source": "public"} for n in ("a", "b", "c")
    ],
}


@pytest.fixture
def table():
    import pyarrow as pa

    rng = np.random.default_rng(0)
    a = rng.choice(["x", "y", "z"], 400)
    return pa.table({"a": a, "b": np.where(rng.random(400) < 0.8, a, "x"), "c": rng.choice(["x", "y", "z"], 400)})


def run(table, tmp_path, **words):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    return synthesize(table, Schema.of(SCHEMA), epsilon=1.0, delta=1e-9, rng=3, ledger=ledger, **words), ledger


@pytest.mark.parametrize("method", ["rls", "dpsyn", "independent"])
def test_several_tables_cost_what_one_costs_and_differ(table, tmp_path, method):
    release, ledger = run(table, tmp_path, tables=3, method=method)
    assert len(release.copies) == len(release.arrow_copies) == 3
    assert release.table is release.copies[0][release.schema.name]
    assert {t.num_rows for c in release.arrow_copies for t in c.values()} == {release.manifest.n_records}
    assert not release.arrow.equals(release.arrow_copies[1][release.schema.name])
    assert len(ledger.entries()) == 1


def test_every_table_of_a_release_is_proved_by_its_manifest_and_no_other(table, tmp_path):
    release, _ = run(table, tmp_path, tables=2)
    manifest = tmp_path / "m.json"
    release.write(tmp_path / "out.csv", manifest)
    assert sorted(p.name for p in tmp_path.glob("out*")) == ["out-1.csv", "out-2.csv"]
    assert len(Manifest.load(manifest).digests.tables) == 2
    for i in (1, 2):
        found = receipt(tmp_path / f"out-{i}.csv", manifest)
        assert found.holds and "one of the 2 tables" in found.sentence
    other, _ = run(table, tmp_path)
    other.write(tmp_path / "other.csv", tmp_path / "other.json")
    assert not receipt(tmp_path / "other.csv", manifest).holds


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ({"tables": 0}, SettingError, "between 1 and"),
        ({"tables": 10**9}, SettingError, "between 1 and"),
        ({"tables": 2, "method": "mst"}, MethodError, "ask for one table"),
    ],
)
def test_what_cannot_be_several_tables_is_refused_before_it_is_charged(table, tmp_path, words, error, said):
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    with pytest.raises(error, match=said):
        synthesize(table, Schema.of(SCHEMA), epsilon=1.0, delta=1e-9, rng=3, ledger=ledger, **words)
    assert not ledger.entries()


def test_the_command_writes_numbered_tables(table, tmp_path, monkeypatch, capsys):
    import pyarrow.csv

    monkeypatch.setenv("DPSYN_HOME", str(tmp_path / "home"))
    pyarrow.csv.write_csv(table, tmp_path / "in.csv")
    Schema.of(SCHEMA).dump(tmp_path / "s.json")
    words = ["synth", str(tmp_path / "in.csv"), "--schema", str(tmp_path / "s.json"), "--epsilon", "1", "--delta", "0"]
    words += ["--out", str(tmp_path / "o.parquet"), "--manifest", str(tmp_path / "m.json"), "--seed", "1"]
    assert main([*words, "--tables", "2"]) == 0
    assert "2 tables" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.glob("*.parquet")) == ["o-1.parquet", "o-2.parquet"]
    assert main([*words, "--tables", "0"]) == 2
    assert "between 1 and" in capsys.readouterr().err
