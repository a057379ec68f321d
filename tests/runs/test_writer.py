"""One writer of every release: the order of its files, their names, and what stays when one cannot be written."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core import synthesize
from dpsyn_core.errors import OutputError
from dpsyn_core.estimate.marginals.released_file import pack_measurements
from dpsyn_core.measure.sources.transactions import from_table
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs import writer as writing
from dpsyn_core.runs.further_marginals import release_marginals
from dpsyn_core.runs.itemsets import frequent_itemsets
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.verify.receipts import receipt
from dpsyn_core.runs.writer import Places, write_release
from dpsyn_core.schema.document import Schema

SCHEMA = Schema.of({"version": 1, "name": "t", "attributes": [
    {"name": "a", "kind": "categorical", "values": ["x", "y"]},
    {"name": "b", "kind": "categorical", "values": ["x", "y"]},
]})  # fmt: skip
TABLE = pa.table({n: np.array(["x", "y"])[np.random.default_rng(i).integers(0, 2, 300)] for i, n in enumerate("ab")})


def table(book):
    return synthesize(TABLE, SCHEMA, epsilon=1.0, delta=1e-6, rng=1, method="independent", ledger=book)


def several(book):
    return synthesize(TABLE, SCHEMA, epsilon=1.0, delta=1e-6, rng=1, method="independent", ledger=book, tables=2)


def marginals(book):
    spec = RunSpec(epsilon=1.0, delta=1e-6, method="priview")
    return release_marginals(
        TABLE,
        SCHEMA,
        [["a"], ["a", "b"]],
        spec,
        facts=spec.facts(SCHEMA, query_vouched=False),
        ledger=book,
    )


def itemsets(book):
    spec = RunSpec(epsilon=1.0, delta=0.0, method="privbasis", settings={"k": 2})
    return frequent_itemsets(from_table(TABLE, SCHEMA), spec, query_vouched=False, schema=SCHEMA, ledger=book)


RELEASES = {"one.csv": table, "two.csv": several, "some.json": marginals, "sets.parquet": itemsets}


@pytest.fixture(scope="module", params=RELEASES)
def made(request, tmp_path_factory):
    """A release of every kind, with the name of its output."""
    return request.param, RELEASES[request.param](Ledger(tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"))


def places_of(made, folder):
    name, _ = made
    return Places.of(
        folder / name, measurements=folder / "m.json.gz", tables=2 if name == "two.csv" else 1, private=True
    )


def measured_of(release):
    return pack_measurements(getattr(release, "released", []), schema=SCHEMA)


def test_tables_get_their_names_after_the_manifest_and_what_lies_beside_them(made, tmp_path, monkeypatch):
    places, seen = places_of(made, tmp_path), []

    def noted(path, data, **more):
        seen.append([p.name for p in (*places.outs, places.manifest) if p.exists()])
        path.write_bytes(data)

    monkeypatch.setattr(writing, "write_bytes", noted)
    stated = write_release(made[1], places, measurements=measured_of(made[1]))
    assert seen == [[places.manifest.name]]
    for out in places.outs:
        if out.suffix != ".json":
            assert receipt(out, places.manifest, measurements=places.measurements, schema=SCHEMA).holds
    assert stated.digests.measurements is not None


@pytest.mark.parametrize("failing", ["manifest", "measurements", "outs"])
def test_where_one_file_cannot_be_written_neither_table_nor_manifest_stays(made, tmp_path, monkeypatch, failing):
    places = places_of(made, tmp_path)
    wanted = places.outs[-1] if failing == "outs" else getattr(places, failing)
    take = Path.replace

    def full(self, target):
        if Path(target) == wanted:
            raise OSError(28, "No space left on device")
        return take(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left"):
        write_release(made[1], places, measurements=measured_of(made[1]))
    assert not places.manifest.exists()
    assert failing == "outs" or not any(out.exists() for out in places.outs)


def test_names_of_a_release_that_is_not_private_say_so_and_the_manifest_keeps_its_own(tmp_path):
    places = Places.of(
        tmp_path / "t.csv", tables=2, measurements=tmp_path / "m.json.gz", model=tmp_path / "w.safetensors",
        private=False,
    )  # fmt: skip
    assert [p.name for p in places.outs] == ["t-1.NOT-PRIVATE.csv", "t-2.NOT-PRIVATE.csv"]
    assert (places.measurements.name, places.model.name) == ("m.NOT-PRIVATE.json.gz", "w.NOT-PRIVATE.safetensors")
    assert places.manifest.name == "t.manifest.json"
    assert "each of 2 tables" in str(places)


def test_a_place_that_is_named_twice_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"'t\.csv' is named twice"):
        Places.of(tmp_path / "t.csv", private=True).check(tmp_path / "t.csv")
    with pytest.raises(OutputError, match="named twice"):
        Places.of(tmp_path / "t.csv", tmp_path / "t.csv", private=True).check()
    with pytest.raises(OutputError, match="files of their own"):
        Places.of(f"{tmp_path}/", tables=2, private=True)
