"""Tables that are made to agree: their totals and margins, also where few records are expected to meet a condition."""

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.runs.refits.conditional_tables import _agreed, _scaled


def measured(names, values):
    return Measurement(attributes=names, values=np.asarray(values, dtype=np.float64), sigma=1.0)


@pytest.mark.parametrize("total", [1e-6, 0.4, 3.0, 1e5])
def test_tables_are_scaled_to_the_total_of_the_column_alone(total):
    alone = measured(("a",), [0.25 * total, 0.75 * total])
    joint, empty = measured(("a", "b"), [[4.0, 1.0], [2.0, 3.0]]), measured(("a", "c"), np.zeros((2, 4)))
    first, second, third = _agreed([joint, alone, empty], "a")
    assert first.values == pytest.approx(joint.values * total / 10)
    assert second.values == pytest.approx(alone.values)
    assert third.values == pytest.approx(np.full((2, 4), total / 8))


@pytest.mark.parametrize("total", [0.01, 0.9, 500.0])
def test_a_table_is_scaled_to_the_counts_of_each_of_its_columns(total):
    rng = np.random.default_rng(3)
    table = measured(("a", "b", "c"), rng.random((3, 4, 2)))
    ones = {n: rng.dirichlet(np.ones(s)) * total for n, s in zip("abc", (3, 4, 2), strict=True)}
    got = _scaled(table, ones).values
    for axis, name in enumerate("abc"):
        margin = got.sum(axis=tuple(i for i in range(3) if i != axis))
        assert margin == pytest.approx(ones[name], abs=2e-6 * total)
    assert (got >= 0).all()


def test_a_table_without_a_positive_cell_becomes_the_product_of_the_counts():
    ones = {"a": np.array([2.0, 6.0]), "b": np.array([1.0, 3.0, 4.0])}
    got = _scaled(measured(("a", "b"), [[-1.0, 0.0, -2.0], [0.0, -3.0, 0.0]]), ones).values
    assert got == pytest.approx(np.outer(ones["a"], ones["b"]) / 8)
