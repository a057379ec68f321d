"""Records that are met again: against the formulas, and at the ends of their limits."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.evaluate.findings import nearness
from dpsyn_core.evaluate.findings.finding import ALARM
from dpsyn_core.evaluate.findings.nearness import (
    _between,
    _met_again,
    _nearest,
    _same_numbers,
    _same_places,
    record_keys,
)

RNG = np.random.default_rng(0)


def sizes(real, made):
    return SimpleNamespace(n=len(real), m=len(made))


def met_again(once, twice, met, m, thrice=0):
    """Real records with so many that occur once, twice and three times; `met` of the first are among m made ones."""
    more = np.repeat(10_000 + np.arange(twice), 2), np.repeat(20_000 + np.arange(thrice), 3)
    real = np.concatenate([np.arange(once), *more])
    made = np.concatenate([np.arange(met), 90_000 + np.arange(m - met)])
    order = RNG.permutation(len(real))
    return _met_again(sizes(real, made), real[order].astype(np.uint64), made.astype(np.uint64)), real[order], made


def allowed(once, twice, met, n, m):
    """Whether a fresh sample meets that many: 1 - exp(-2 m N2 / (n N1)) of the N1 records that occur once."""
    fresh = 1 - math.exp(-2 * m * twice / (n * once))
    # of the count, and of the estimate of N2, each of whose values moves what is expected by 2 m / n
    error = math.sqrt(met + 4 * twice * (m / n) ** 2 + 1)
    share = met / once
    least = 0.001 if fresh * once < 0.5 and met >= 10 else 0.01
    return met - fresh * once <= 5 * error or share - fresh < least


@pytest.mark.parametrize(
    ("once", "twice", "m", "thrice"),
    [
        (1000, 0, 1000, 0),
        (1000, 40, 900, 0),
        (900, 100, 700, 20),
        (4000, 0, 500, 0),
        (2000, 3, 4000, 5),
        (50, 0, 60, 0),
    ],
)
def test_the_fewest_records_that_are_no_chance_are_those_of_the_formula(once, twice, m, thrice):
    n = once + 2 * twice + 3 * thrice
    fewest = next(met for met in range(once) if not allowed(once, twice, met, n, m))
    assert 5 < fewest < min(once, m) - 3
    for met in range(fewest - 3, fewest + 3):
        finding, real, made = met_again(once, twice, met, m, thrice)
        assert (finding is None) == (met < fewest)
        if finding is not None:
            fresh = 1 - math.exp(-2 * m * twice / (n * once))
            assert finding.weight == pytest.approx(ALARM + met / once - fresh)
            assert (finding.synthetic, finding.fresh) == (met / once, pytest.approx(fresh))
            assert (finding.what["met"], finding.what["once"]) == (met, once)
            assert finding.what["of"] == pytest.approx(np.isin(made, real).mean())
            assert real[finding.what["record"]] < met


def test_of_fewer_than_ten_records_that_occur_once_nothing_is_said():
    assert met_again(9, 0, 9, 9)[0] is None
    assert met_again(40, 0, 40, 40)[0] is not None


def test_equal_numbers_of_each_combination_of_values_are_no_chance_from_ten_combinations_on():
    for kinds in (9, 10):
        real = np.repeat(np.arange(kinds), np.arange(1, kinds + 1)).astype(np.uint64)
        made = RNG.permutation(real)
        assert (_same_numbers(sizes(real, made), real, made) is not None) == (kinds == 10)
    other = made.copy()
    other[other == 3] = 99  # as many combinations, another one among them
    assert _same_numbers(sizes(real, other), real, other) is None
    moved = made.copy()
    moved[np.flatnonzero(moved == 9)[0]] = 8  # the same combinations, not as often
    assert _same_numbers(sizes(real, moved), real, moved) is None
    assert _same_numbers(sizes(real, made[1:]), real, made[1:]) is None


@pytest.mark.parametrize("size", [49, 50, 400])
def test_records_at_the_same_place_count_against_those_up_to_three_places_on(size):
    real = np.arange(size + 3).astype(np.uint64)
    found = _same_places(real, real.copy())
    assert (found is not None) == (size >= 50)
    if found:
        assert (found.synthetic, found.fresh, found.weight) == (1.0, 0.0, ALARM + 1.0)
    for k in (1, 2, 3):
        assert _same_places(np.roll(real, k), real) is None
    assert _same_places(np.zeros_like(real), np.zeros_like(real)) is None, "sorted files have equal neighbours"


def test_records_at_the_same_place_are_an_alarm_from_one_in_twenty_on():
    real = np.arange(100_003).astype(np.uint64)
    for same, alarm in ((4_999, False), (5_000, True)):
        made = real + np.uint64(10**6)
        made[:same] = real[:same]
        assert (_same_places(real, made) is not None) == alarm


def test_keys_of_records_are_equal_for_equal_records_alone():
    cells = RNG.integers(-1, 3, (5, 600)).astype(np.int32)
    keys = record_keys(cells)
    _, as_rows = np.unique(cells.T, axis=0, return_inverse=True)
    _, as_keys = np.unique(keys, return_inverse=True)
    pairs = set(zip(as_rows.ravel().tolist(), as_keys.tolist(), strict=True))
    assert len(pairs) == len(set(as_rows.ravel().tolist())) == len(set(as_keys.tolist()))
    assert not np.array_equal(record_keys(cells[::-1]), keys), "the order of columns counts"


@pytest.mark.parametrize("same", [False, True])
def test_the_nearest_records_are_those_of_all_distances(same):
    numbers = [RNG.uniform(-1, 3, (n, 3)).astype(np.float32) for n in (230, 60)]
    others = [RNG.integers(0, 3, (n, 2)).astype(np.float32) for n in (230, 60)]
    numbers[0][:9], others[0][:9] = numbers[1][:9], others[1][:9]
    far = np.array([
        [np.minimum(np.abs(a - b), 1).sum() + (x != y).sum() for b, y in zip(numbers[1], others[1], strict=True)]
        for a, x in zip(numbers[0], others[0], strict=True)
    ])  # fmt: skip
    best, which, second = _nearest([numbers[0], others[0]], [numbers[1], others[1]], same=same)
    passed = np.where(far == 0, np.inf, far) if same else far
    ranked = np.sort(passed, axis=1)
    np.testing.assert_allclose(best, ranked[:, 0], atol=1e-5)
    np.testing.assert_allclose(second, ranked[:, 1], atol=1e-5)
    np.testing.assert_allclose(passed[np.arange(230), which], ranked[:, 0], atol=1e-5)
    points = [numbers[1][:1], others[1][:1]]
    assert _nearest(points, points, same=True)[0].tolist() == [0.0], "where all are equal, none is near"


def test_a_difference_counts_one_at_most():
    assert _between(np.array([[0.0, 5.0], [1.0, 1.0]]), np.array([[0.25, 0.0], [1.5, 1.0]])).tolist() == [0.75, 1.0]


@pytest.mark.parametrize(("n", "m", "looked"), [(49, 100, False), (50, 10, True), (50, 9, False)])
def test_small_tables_are_too_small_to_tell(monkeypatch, n, m, looked):
    def reached(c):
        raise LookupError

    monkeypatch.setattr(nearness.ExactCells, "of", reached)
    c = SimpleNamespace(n=n, m=m)
    if looked:
        with pytest.raises(LookupError):
            nearness.nearness(c)
    else:
        assert nearness.nearness(c) == []


@pytest.mark.parametrize(
    ("lines", "columns", "gone", "found"),
    [(5, 10, 0, True), (4, 30, 0, False), (10, 10, 10, True), (10, 10, 11, False), (30, 5, 0, True)],
)
def test_a_grid_has_one_record_at_nine_in_ten_of_its_places(lines, columns, gone, found):
    x, y = (t.ravel() for t in np.meshgrid(np.arange(lines), np.arange(columns), indexing="ij"))
    # whole lines and columns stay: only single places are empty
    keep = np.setdiff1d(np.arange(lines * columns), np.arange(gone) * (columns + 1) % (lines * columns))
    cells = {"x": x[keep], "y": y[keep], "z": np.arange(len(keep)) % 7}
    sides = {n: (v.astype(np.int32), v.astype(np.int32), int(v.max()) + 1) for n, v in cells.items()}
    c = SimpleNamespace(n=len(keep), domain=SimpleNamespace(names=("z", "x", "y")))
    assert nearness.grid(c, SimpleNamespace(column=sides.get)) == (("x", "y") if found else None)
