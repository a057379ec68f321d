"""Polish lowers residuals, keeps its books, and leaves exact tables alone."""

import itertools

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.estimate.records.gum import UpdateSettings, independent_records, one_way_shares
from dpsyn_core.estimate.records.polish import fit_to_marginals, polish
from dpsyn_core.schema.domain import Domain
from tests.estimate.records.test_gum import counted, random_table, table

SIZES = (3, 4, 5, 2)
PAIRS = [(list(p), tuple(SIZES[i] for i in p)) for p in itertools.combinations(range(4), 2)]


def distance(codes, tables):
    n = codes.shape[1]
    return sum(
        np.abs(counted(codes, t.rows, t.sizes).ravel() - t.share * n).sum() for t in tables
    )  # fmt: skip


@pytest.mark.parametrize("width", [2, 3])
def test_residuals_fall_close_to_nothing_on_consistent_targets(width):
    truth = random_table(1)
    tables = [
        table(list(p), counted(truth, p, tuple(SIZES[i] for i in p))) for p in itertools.combinations(range(4), width)
    ]
    codes = random_table(2)
    after = polish(codes, tables, passes=200, rng=np.random.default_rng(0))
    assert after.shape == codes.shape
    assert distance(after, tables) < 0.12 * distance(codes, tables)


def test_the_progress_value_is_the_distance_of_the_records_that_come_back():
    tables = [table(p, counted(random_table(3), p, s)) for p, s in PAIRS]
    seen = []
    after = polish(
        random_table(4), tables, passes=20, rng=np.random.default_rng(0), progress=lambda *a: seen.append(a[3])
    )
    assert seen[-1] == pytest.approx(distance(after, tables) / (2 * 500 * len(tables)), rel=1e-4)
    assert all(a >= b for a, b in itertools.pairwise(seen))


def test_weights_decide_between_tables_that_disagree():
    one, two = np.array([[40, 10], [10, 40]]), np.array([[10, 40], [40, 10]])
    codes = np.random.default_rng(0).integers(0, 2, (2, 100)).astype(np.uint8)
    tables = [table([0, 1], one, 5.0), table([0, 1], two, 1.0)]
    after = polish(codes, tables, passes=200, rng=np.random.default_rng(1))
    # one-way counts are free to move by copies, so the heavier table is met almost exactly
    assert np.abs(counted(after, [0, 1], (2, 2)) - one).sum() <= 4


def test_an_exact_table_and_a_lone_attribute_are_left_alone():
    codes = random_table(5)
    tables = [table([0, 1], counted(codes, [0, 1], (3, 4))), table([3], [1, 1])]
    after = polish(codes, tables, passes=5, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(counted(after, [0, 1], (3, 4)), counted(codes, [0, 1], (3, 4)))
    np.testing.assert_array_equal(after[2:], codes[2:])


def test_the_first_records_hold_their_one_way_shares_in_exact_counts():
    tables = [table([0, 1], [[1, 2], [3, 4]]), table([1], [2, 3])]
    shares = one_way_shares(tables, (2, 2, 3))
    np.testing.assert_allclose(shares[0], [0.3, 0.7])
    np.testing.assert_allclose(shares[2], np.full(3, 1 / 3))
    codes = independent_records(shares, 60, rng=np.random.default_rng(0))
    assert np.bincount(codes[0]).tolist() == [18, 42]
    assert np.bincount(codes[2]).tolist() == [20, 20, 20]


@pytest.mark.parametrize("updater", ["gum", "mcf"])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_fit_records_serves_any_number_of_records(updater, n):
    domain = Domain.of({"a": 3, "b": 4, "c": 300})
    values = np.random.default_rng(0).random((4, 300))
    measured = [
        Measurement(attributes=("b", "c"), values=values, sigma=1.0),
        Measurement(attributes=("a",), values=np.zeros(3), sigma=2.0),
        Measurement(attributes=(), values=np.array(5.0), sigma=1.0),
    ]
    settings = UpdateSettings(updater=updater, alpha=1.0, sweeps=3, polish=2)
    codes = fit_to_marginals(measured, domain, n, settings, rng=np.random.default_rng(0))
    assert codes.shape == (3, n)
    assert codes.dtype == np.uint16
    assert (codes < np.array([[3], [4], [300]])).all()


def test_a_table_of_more_cells_than_records_keeps_the_totals_of_its_columns():
    """Few cells of such a table expect half a record; a hair more in one half of them is no reason to give it all."""
    values = np.full((2, 10, 50), 0.4)
    values[1] *= 1.07
    domain = Domain.of({"sex": 2, "age": 10, "born": 50})
    measured = [Measurement(attributes=("sex", "age", "born"), values=values, sigma=1.0)]
    codes = fit_to_marginals(measured, domain, 400, UpdateSettings(), rng=np.random.default_rng(0))
    assert abs((codes[0] == 0).mean() - 1 / 2.07) < 0.03
