"""Cells that cannot hold records stay empty, and cells that hold a few are not called empty."""

import numpy as np

from dpsyn_core.estimate.records.rls.empty_cells import empty_cells
from dpsyn_core.estimate.records.rls.fit import Pace, Target, fit_records

SIGMA = 25.0


def tables(rng, rare, count=30):
    """Real tables of 6 x 4 in which `rare` of the cells hold no records, and what independence expects of them."""
    real = []
    for _ in range(count):
        t = rng.gamma(2.0, 200.0, (6, 4)) + 120
        t[rng.random(t.shape) < rare] = 0
        real.append(t)
    return real, [np.outer(t.sum(axis=1), t.sum(axis=0)) / t.sum() for t in real]


def found(real, expected, rng):
    noisy = [(t + rng.normal(0, SIGMA, t.shape)) / SIGMA for t in real]
    return empty_cells(noisy, [e / SIGMA for e in expected])


def test_nearly_all_empty_cells_are_found_and_hardly_any_others():
    rng = np.random.default_rng(1)
    real, expected = tables(rng, 0.2)
    empty = np.concatenate([t.ravel() for t in real]) == 0
    asked = np.concatenate([e.ravel() for e in expected]) > 3 * SIGMA
    called = np.concatenate([c.ravel() for c in found(real, expected, rng)])
    assert called[empty & asked].mean() > 0.9
    assert called[~empty].mean() < 0.01


def test_tables_without_empty_cells_keep_all_of_them():
    rng = np.random.default_rng(2)
    assert not any(c.any() for c in found(*tables(rng, 0.0), rng))


def test_rare_combinations_are_not_called_empty():
    """A third of the cells hold as many records as one deviation of the noise: some have negative counts."""
    rng = np.random.default_rng(3)
    real, _ = tables(rng, 0.3)
    real = [np.where(t == 0, 2 * SIGMA, t) for t in real]
    expected = [np.outer(t.sum(axis=1), t.sum(axis=0)) / t.sum() for t in real]
    called = np.concatenate([c.ravel() for c in found(real, expected, rng)])
    rare = np.concatenate([t.ravel() for t in real]) == 2 * SIGMA
    assert called[rare].mean() < 0.1


def test_no_tables_have_no_empty_cells():
    assert empty_cells([], []) == []


def test_a_fit_keeps_records_out_of_empty_cells():
    """One-ways ask for more records in the rows than the other cells may have: without a mark, some go there."""
    maps = (np.arange(2), np.arange(2))
    values = np.array([[500.0, 0.0], [300.0, 200.0]])

    def made(empty):
        rng = np.random.default_rng(4)
        rows = np.stack([rng.integers(0, 2, 1000), rng.integers(0, 2, 1000)], axis=1).astype(np.uint16)
        ones = [np.array([500.0, 500.0]), np.array([760.0, 240.0])]
        targets = [
            *(Target(attributes=(j,), maps=(np.arange(2),), values=v, sigma=10.0) for j, v in enumerate(ones)),
            Target(attributes=(0, 1), maps=maps, values=values, sigma=20.0, empty=empty),
        ]
        fit_records(rows, targets, ones, pace=Pace(temperatures=(1.0, 0.1, 0.0, 0.0), repeats=4), rng=rng)
        return int(((rows[:, 0] == 0) & (rows[:, 1] == 1)).sum())

    assert made(np.array([[False, True], [False, False]])) < 0.5 * made(None)
