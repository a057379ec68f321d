"""Tables of three and more attributes, and pairs of few values, lose noise and keep what stands out of it."""

import numpy as np

from dpsyn_core.estimate.records.rls.denoise import shrink_pair
from dpsyn_core.estimate.records.rls.higher_orders import shrink_wide


def independent(shape, total, rng):
    parts = [rng.dirichlet(np.full(k, 3.0)) for k in shape]
    table = np.full(shape, float(total))
    for i, p in enumerate(parts):
        table = table * p.reshape([-1 if j == i else 1 for j in range(len(shape))])
    return table, [p * total for p in parts]


def test_a_noisy_table_of_three_attributes_comes_nearer_to_the_truth():
    rng = np.random.default_rng(0)
    table, _ = independent((6, 5, 8), 5_000, rng)
    pair = np.outer(np.linspace(-1, 1, 6), np.linspace(-1, 1, 5))
    table = table * (1 + 0.5 * pair[:, :, None])
    sums = [table.sum(axis=tuple(j for j in range(3) if j != i)) for i in range(3)]
    noisy = table + rng.normal(0, 20, table.shape)
    clean = shrink_wide(noisy, sums, 20.0)
    assert np.abs(clean - table).sum() < 0.4 * np.abs(noisy - table).sum()


def test_what_only_all_three_show_is_kept_where_it_stands_out():
    rng = np.random.default_rng(1)
    parity = np.indices((2, 2, 2)).sum(axis=0) % 2
    table = np.where(parity == 1, 900.0, 100.0)
    table = np.kron(table, np.ones((1, 1, 4))) / 4  # enough cells to fit a prior to
    alone = [np.full(2, 2000.0), np.full(2, 2000.0), np.full(8, 500.0)]
    clean = shrink_wide(table + rng.normal(0, 20, table.shape), alone, 20.0)
    assert np.abs(clean - table).mean() < 25


def test_four_attributes_are_served_and_noise_alone_leaves_what_one_ways_say():
    rng = np.random.default_rng(2)
    table, alone = independent((3, 4, 3, 4), 1_000, rng)
    clean = shrink_wide(table + rng.normal(0, 30, table.shape), alone, 30.0)
    assert clean.shape == table.shape
    assert np.abs(clean - table).sum() < 0.35 * np.abs(rng.normal(0, 30, table.shape)).sum()


def test_dependence_of_two_yes_no_attributes_is_not_cut_off_at_twice_its_noise():
    expected = np.full((2, 2), 1000.0)
    for strength in (15.0, 40.0, 200.0):  # noise of the interaction has a standard deviation of 5 a cell
        shown = expected + strength * np.array([[1, -1], [-1, 1]])
        kept = shrink_pair(shown, expected, 10.0)[0, 0] - 1000.0
        assert 0.75 * strength < kept <= strength
    nothing = shrink_pair(expected + 3.0 * np.array([[1, -1], [-1, 1]]), expected, 10.0)
    assert 0 <= nothing[0, 0] - 1000.0 < 0.5  # of an estimate of 3
