"""After a fit, numbers get the fine values that their one-ways tell, and no table of several attributes changes."""

import numpy as np

from dpsyn_core.records.rls.fit import Target
from dpsyn_core.records.rls.settle import settle_values

FINE, RECORDS = 400, 5_000
COARSE = np.minimum(np.arange(FINE + 1) // 50, 4)
COARSE[FINE] = 5  # missing
ONE = np.append(np.exp(-np.arange(FINE) / 40), 0.02)
ONE *= RECORDS / ONE.sum()
CATEGORY = np.arange(3)


def fitted(rng):
    """Records whose coarse values follow the one-way, with fine values that were left to chance; two are missing."""
    shares = np.bincount(COARSE, weights=ONE) / RECORDS
    cell = rng.choice(6, size=RECORDS, p=shares)
    first = np.array([0, 50, 100, 150, 200, FINE])[cell]
    width = np.array([50, 50, 50, 50, 200, 1])[cell]
    rows = np.stack([first + (rng.random(RECORDS) * width).astype(int), rng.integers(0, 3, RECORDS)], axis=1)
    return rows.astype(np.uint16)


def target():
    return Target(attributes=(0, 1), maps=(COARSE, CATEGORY), values=np.zeros((6, 3)), sigma=1.0)


def test_values_follow_the_one_way_inside_coarse_values_and_coarse_values_stay():
    rng = np.random.default_rng(1)
    rows = fitted(rng)
    before = rows.copy()
    settle_values(rows, [target()], [ONE, np.ones(3)], [(0, FINE)], rng=rng)
    assert (COARSE[rows[:, 0]] == COARSE[before[:, 0]]).all() and (rows[:, 1] == before[:, 1]).all()
    held, left = (np.bincount(r[:, 0], minlength=FINE + 1) for r in (rows, before))
    assert np.abs(held - ONE).sum() < 0.5 * np.abs(left - ONE).sum()
    assert held[300:FINE].sum() <= 4 < left[300:FINE].sum()  # the tail, of which half of the last box was


def test_records_keep_their_order_inside_a_coarse_value():
    rng = np.random.default_rng(2)
    rows = fitted(rng)
    before = rows[:, 0].astype(int)
    settle_values(rows, [target()], [ONE, np.ones(3)], [(0, FINE)], rng=rng)
    order = np.lexsort((rows[:, 0], before))
    assert (np.diff(rows[order, 0].astype(int)) >= 0).all()


def test_numbers_in_no_table_and_values_that_are_all_told_apart_stay():
    rng = np.random.default_rng(3)
    rows = fitted(rng)
    before = rows.copy()
    alone = Target(attributes=(0,), maps=(COARSE,), values=np.zeros(6), sigma=1.0)
    apart = Target(attributes=(0, 1), maps=(np.arange(FINE + 1), CATEGORY), values=np.zeros((401, 3)), sigma=1.0)
    settle_values(rows, [alone, apart], [ONE, np.ones(3)], [(0, FINE)], rng=rng)
    assert (rows == before).all()
    settle_values(rows, [target()], [np.zeros(401), np.ones(3)], [(0, FINE)], rng=rng)
    assert (rows == before).all()
