"""What a table cannot be read for by released values alone: each statement, and that the real table plays no part."""

import json

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.evaluate import compare_tables, released_findings
from dpsyn_core.privacy import Ledger
from dpsyn_core.report.verdict import released_entry, released_words
from dpsyn_core.report.wording import words
from dpsyn_core.runs import synthesize
from dpsyn_core.schema import Schema

N = 800
SCHEMA = {"version": 1, "name": "people", "unit": {"identifier": "person", "max_records": 2}, "attributes": [
    {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "source": "public"},
    {"name": "sex", "kind": "categorical", "values": ["f", "m"], "source": "public"},
    {"name": "town", "kind": "categorical", "values": ["a", "b", "c"], "source": "public"},
    {"name": "notes", "kind": "ignored", "source": "public"},
]}  # fmt: skip


def people(seed):
    rng = np.random.default_rng(seed)
    return pa.table({
        "person": [f"p{i // 2}" for i in range(N)], "age": rng.integers(0, 100, N),
        "sex": rng.choice(["f", "m"], N), "town": rng.choice(["a", "b", "c"], N), "notes": ["x"] * N,
    })  # fmt: skip


def counted(*sets, sigma=1.0, values=None):
    sizes = {"age": 100, "sex": 2, "town": 3}
    out = []
    for names in sets:
        shape = tuple(sizes[n] for n in names)
        counts = np.full(shape, N / np.prod(shape)) if values is None else values
        out.append(Measurement(attributes=names, values=counts, sigma=sigma))
    return out


def said(measured, *, made=None, real=None, manifest=None):
    made = people(1).drop_columns(["person", "notes"]) if made is None else made
    c = compare_tables(Schema.of(SCHEMA), made, real, measurements=measured)
    return {f.key.removeprefix("released_"): f for f in released_findings(c, manifest)}


ONES = (("age",), ("sex",), ("town",))


def test_columns_and_pairs_that_no_released_table_counts_are_named():
    assert said(counted(*ONES))["alone"].columns == ("age", "sex", "town")
    found = said(counted(("age",), ("sex", "town")))
    assert found["alone"].columns == ("age",) and dict(found["pairs"].what) == {"pairs": 1, "all": 3}
    assert said(counted(("age",), ("sex",)))["unmeasured"].columns == ("town",)
    every = said(counted(*ONES, ("age", "sex"), ("age", "town"), ("sex", "town")))
    assert not {"alone", "pairs", "unmeasured"} & set(every)


def test_noise_that_puts_a_column_far_off_is_named_with_the_least_of_its_errors():
    assert "noise" not in said(counted(*ONES, sigma=0.5))
    found = said([*counted(*ONES, sigma=2.0), *counted(("age", "sex"), sigma=2.0)])
    error = 100 * 2.0 * np.sqrt(2 / np.pi) / (2 * N)
    assert found["noise"].columns == ("age",) and found["noise"].synthetic == pytest.approx(error, rel=0.01)
    assert found["noise_tables"].columns == ("age", "sex")


def test_coarse_groups_and_bins_that_hold_nearly_all_are_named():
    coarse = Measurement(
        attributes=("age",),
        values=np.full(10, N / 10),
        sigma=1.0,
        recodes={"age": Coarsening.of([i // 10 for i in range(100)])},
    )
    found = said([coarse, *counted(("sex",), ("town",))])["coarse_one"]
    assert found.columns == ("age",) and (found.what["groups"], found.what["size"]) == (10, 100)
    heap = np.zeros(100)
    heap[3] = N
    assert said([*counted(("age",), values=heap), *counted(("sex",), ("town",))])["one_bin"].synthetic == 1.0
    assert "one_bin" not in said(counted(*ONES))


def test_records_of_one_value_fewer_records_and_a_poor_fit_are_named():
    made = people(1).drop_columns(["person", "notes"]).set_column(1, "sex", pa.array(["f"] * N))
    found = said(counted(*ONES), made=made)
    assert found["constant"].columns == ("sex",) and found["fit"].what["deviations"] > 2
    assert said(counted(*ONES), made=made.slice(0, 100))["few"].what["made"] == 100


def test_the_limit_and_columns_that_are_left_out_follow_from_schema_and_manifest(tmp_path):
    book = Ledger(tmp_path / "ledger.db")
    release = synthesize(people(0), Schema.of(SCHEMA), epsilon=1, delta=1e-9, rng=0, ledger=book, method="independent")
    found = said(list(release.measurements), made=release.arrow, manifest=release.manifest)
    assert found["limit"].columns == ("person",) and found["limit"].what["most"] == 2
    assert found["left_out"].columns == ("notes",)
    for code in ("en", "de"):
        c = compare_tables(Schema.of(SCHEMA), release.arrow, measurements=release.measurements)
        sentence = released_words(c, release.manifest, words(code))
        assert "person" in sentence and "notes" in sentence and "{" not in sentence


def test_two_private_tables_with_equal_releases_have_equal_findings():
    measured = counted(("age",), ("sex", "town"), sigma=3.0)
    made = people(5).drop_columns(["person", "notes"])
    # another table, with more rows of each individual, blank-free and shorter, with a further column
    other = people(9).slice(0, 300).append_column("income", pa.array(range(300)))
    entries = []
    for real in (None, people(2), other):
        c = compare_tables(Schema.of(SCHEMA), made, real, measurements=measured)
        entries.append(json.dumps(released_entry(c, None), sort_keys=True))
    assert entries[0] == entries[1] == entries[2] and len(json.loads(entries[0])["released_findings"]) >= 3


def test_the_part_reads_no_real_table():
    """A comparison whose private parts all fail when they are read."""

    class Closed(dict):
        def __getitem__(self, name):
            raise AssertionError(name)

    c = compare_tables(Schema.of(SCHEMA), people(5).drop_columns(["person", "notes"]), measurements=counted(*ONES))
    for name in ("real_values", "real_dates", "held_out_values"):
        object.__setattr__(c, name, Closed())
    object.__setattr__(c, "intake", None)
    assert released_findings(c)
