"""Blank cells side by side, and two numbers record by record: what is drawn is what the tables hold."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.report.profile import missing_figure
from dpsyn_core.report.scatter import DOTS, numbers_of, scatter_figure
from dpsyn_core.schema.document import Schema

SCHEMA = Schema.of(
    {
        "version": 1,
        "name": "people",
        "attributes": [
            {"name": "sex", "kind": "categorical", "values": ["F", "M"], "missing": True},
            {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99},
            {"name": "pay", "kind": "numeric", "dtype": "float", "min": 0, "max": 100, "missing": True},
        ],
    }
)


def table(n, blank, slope, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    pay = np.clip(50 + slope * (age - 50) / 2 + rng.normal(0, 3, n), 0, 100).round(1)
    cells = [None if k < blank * n else str(p) for k, p in enumerate(pay)]
    sex = ["F" if s else "M" for s in rng.integers(0, 2, n)]
    return pa.table({"sex": sex, "age": [str(a) for a in age], "pay": cells})


@pytest.fixture(scope="module")
def compared():
    return compare_tables(SCHEMA, table(3000, 0.05, -1, 1), table(4000, 0.2, 1, 0))


def test_blank_cells_stand_beside_each_other_for_columns_that_have_any(compared):
    drawn = missing_figure({"run": compared})
    real, synthetic = drawn.data
    assert real["y"] == synthetic["y"] == ["pay"]
    assert real["x"] == [pytest.approx(0.2)] and synthetic["x"] == [pytest.approx(0.05)]
    assert "pay, real 20.0%, synthetic 5.0%" in drawn.caption
    assert 100 < drawn.layout["height"] < missing_figure({"run": compared, "again": compared}).layout["height"]


def test_tables_without_blank_cells_have_no_figure():
    whole = compare_tables(SCHEMA, table(300, 0, 1, 1), table(400, 0, 1, 0))
    assert missing_figure({"run": whole}) is None


def test_both_clouds_lie_on_the_same_axes_and_say_their_correlation(compared):
    assert numbers_of(compared) == ["age", "pay"]
    drawn = scatter_figure(compared, "age", "pay")
    real, synthetic = drawn.data
    assert len(real["x"]) == len(synthetic["x"]) == DOTS
    assert not np.isnan(real["y"]).any()
    assert drawn.layout["xaxis"]["range"] == drawn.layout["xaxis2"]["range"]
    assert drawn.layout["yaxis"]["range"] == drawn.layout["yaxis2"]["range"]
    assert (drawn.layout["xaxis"]["domain"], drawn.layout["xaxis2"]["domain"]) == ([0, 0.48], [0.52, 1])
    assert [(a["x"], a["text"], a["showarrow"]) for a in drawn.layout["annotations"]] == [
        (0, "real", False), (0.52, "synthetic", False),
    ]  # fmt: skip
    assert not real["showlegend"] and not synthetic["showlegend"], "the words above say which is which"
    assert not drawn.layout["yaxis2"]["showticklabels"] and drawn.layout["height"] == 380
    assert {(d["marker"]["size"], d["marker"]["opacity"]) for d in drawn.data} == {(4, 0.45)}
    assert np.corrcoef(real["x"], real["y"])[0, 1] > 0.9 > -0.9 > np.corrcoef(synthetic["x"], synthetic["y"])[0, 1]
    assert "real 0.9" in drawn.caption and "synthetic \N{MINUS SIGN}0.9" in drawn.caption
    pairs = {(float(a), float(b)) for a, b in zip(*(compared.real_values[n] for n in ("age", "pay")), strict=True)}
    assert {(float(a), float(b)) for a, b in zip(real["x"], real["y"], strict=True)} <= pairs


def test_a_column_that_is_blank_everywhere_has_no_scatter(compared):
    empty = compare_tables(SCHEMA, table(300, 1, 1, 1), table(400, 0, 1, 0))
    assert scatter_figure(empty, "age", "pay") is None
