"""Orders, sums and products that are found in numbers alone, at the ends of what counts as holding."""

import itertools

import numpy as np
import pytest

from dpsyn_core.evaluate.findings.identities import (
    Numbers,
    _all_different,
    _close,
    _computed_columns,
    _holds,
    _kept_orders,
    _needed,
    _smallest_first,
    _Sum,
    _varies,
)


def numbers(dates=(), **columns):
    real = {n: np.asarray(v, dtype=float) for n, v in columns.items()}
    return Numbers(real=real, synthetic=real, dates=frozenset(dates))


def kept(given):
    return {(low, high): (share, n) for low, high, share, n in _kept_orders(given)}


def pair(n, wrong=0, blank=0):
    """Two columns of one scale of which the first is at most the second but for some records, and some are blank."""
    low = np.concatenate([np.tile([1.0, 9.0], n // 2 + 1)[:n], np.full(blank, np.nan)])
    high = low + 1
    high[:wrong] = 0.5
    return {"low": low, "high": high}


@pytest.mark.parametrize(("records", "found"), [(29, False), (30, True)])
def test_an_order_needs_thirty_records_that_have_both(records, found):
    assert (("low", "high") in kept(numbers(**pair(records, blank=50)))) == found


@pytest.mark.parametrize(("wrong", "found"), [(0, True), (10, True), (11, False)])
def test_an_order_holds_where_at_most_one_in_a_hundred_breaks_it(wrong, found):
    given = kept(numbers(**pair(1000, wrong=wrong, blank=1000)))
    assert (("low", "high") in given) == found and ("high", "low") not in given
    if found:
        assert given["low", "high"] == (pytest.approx(wrong / 2000), 1000), "of all records, those with both"


def test_two_numbers_that_never_overlap_are_no_order_and_two_dates_are():
    apart = {"a": np.arange(100.0), "b": np.arange(100.0) + 500}
    assert kept(numbers(**apart)) == {} and set(kept(numbers(dates="ab", **apart))) == {("a", "b")}
    assert kept(numbers(dates="a", **pair(100) | {"a": np.arange(100.0)})).keys() == {("low", "high")}


def test_an_order_that_shuffled_records_hardly_break_more_often_is_none():
    """Of 1,000 records 5 break it; shuffled ones must do so ten times as often."""
    for often, found in ((3, False), (40, True)):
        low, high = np.zeros(1000), np.ones(1000)
        low[: 10 * often], high[: 10 * often] = 2.0, 3.0  # shuffled, a 2 meets a 1
        high[:5] = 1.5
        assert (("a", "b") in kept(numbers(a=low, b=high))) == found


def test_numbers_on_one_scale_are_close_and_dates_always():
    rng = np.random.default_rng(3)
    low = rng.uniform(0, 100, 4000)
    for shift, near in ((0.0, True), (52.0, True), (59.0, False), (99.0, False)):  # (100 - shift)^2 / 20,000 break it
        high = rng.uniform(shift, shift + 100, 4000)
        assert _close(numbers(a=low, b=high), "a", "b") == near
        assert _close(numbers(dates="ab", a=low, b=high), "a", "b")


def computed(given):
    return {(column, parts, how) for column, parts, how, _ in _computed_columns(given)}


def columns(seed=0, n=400):
    rng = np.random.default_rng(seed)
    return {name: rng.integers(1, 90, n).astype(float) for name in "abc"}


def test_a_column_that_two_others_give_is_found_once_and_as_a_sum_where_it_is_one():
    x = columns()
    assert computed(numbers(**x)) == set()
    assert computed(numbers(**x, s=x["a"] + x["b"])) == {("s", ("a", "b"), "sum")}
    ((column, parts, how),) = computed(numbers(**x, s=x["a"] * x["b"]))
    assert (column, set(parts), how) == ("s", {"a", "b"}, "product")
    negative = x["a"] - x["b"] - 200.0
    assert computed(numbers(**x, s=negative)) == set(), "a constant is no column"
    half = {n: v + 0.25 for n, v in x.items()}
    assert computed(numbers(q=x["a"], p=half["b"], s=x["a"] * half["b"])) == {("s", ("p", "q"), "product")}
    assert computed(numbers(p=half["b"], q=x["a"], s=x["a"] * half["b"])) == {("s", ("p", "q"), "product")}


def test_sums_of_three_and_more_columns_are_learnt_whatever_their_order():
    for n, names in ((400, "abc"), (300, "abcd")):
        rng = np.random.default_rng(5)
        x = {name: rng.integers(1, 90, n).astype(float) for name in names}
        total = sum(x.values())
        for first in (True, False):
            given = {"s": total, **x} if first else {**x, "s": total}
            assert computed(numbers(**given)) == {("s", tuple(names), "sum")}
        off = total + (np.arange(n) % 50 == 0) * 5.0
        assert computed(numbers(**x, s=off)) == set(), "one record in fifty is not the sum"
        assert computed(numbers(**x, s=2 * total)) == set()


@pytest.mark.parametrize(("unit", "name"), [(86_400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds")])
def test_a_time_between_two_dates_is_found_in_its_unit(unit, name):
    rng = np.random.default_rng(6)
    early = rng.integers(0, 10**6, 300) * 86_400.0
    length = rng.integers(0, 40, 300).astype(float)
    given = numbers(dates=("from", "to"), **{"from": early, "to": early + length * unit, "los": length})
    ((column, parts, how, s),) = _computed_columns(given)
    assert (column, parts, how, s.unit, s.loose) == ("los", ("to", "from"), "between", unit, False), name
    if unit > 1:  # begun days count as well, or do not
        given = numbers(dates=("from", "to"), **{"from": early, "to": early + length * unit, "los": length + 1})
        ((*_, s),) = _computed_columns(given)
        assert s.loose and s.unit == unit


@pytest.mark.parametrize(("wrong", "holds"), [(0, True), (10, True), (11, False)])
def test_a_sum_holds_where_at_most_one_in_a_hundred_differs(wrong, holds):
    x = columns(n=1000)
    s = x["a"] + x["b"]
    s[:wrong] += 5
    x["c"][:] = np.nan
    given, compute = numbers(**x, s=s), _Sum({"a": 1, "b": 1})
    assert _holds(given, "s", compute) == holds
    assert not _holds(given, "c", compute), "no record has all values"
    for rows, fits in ((np.arange(wrong, wrong + 9), False), (np.arange(wrong, wrong + 10), True)):
        assert _holds(given, "s", compute, rows) == fits
    few = numbers(**{n: v[wrong : wrong + 29] for n, v in given.real.items()})
    assert not _holds(few, "s", compute)
    assert _holds(numbers(**{n: v[wrong : wrong + 30] for n, v in given.real.items()}), "s", compute)


def test_a_part_that_hardly_varies_computes_nothing():
    x = columns(n=1000)
    for often, needed in ((20, False), (200, True)):
        small = (np.arange(1000) < often).astype(float)
        given = numbers(a=x["a"], b=small * 7, s=x["a"] + small * 7)
        assert _needed(given, "s", _Sum({"a": 1, "b": 1})) == needed
    assert not _varies(np.append(np.full(50, 3.0), np.nan)) and _varies(np.append(np.full(50, 3.0), 4.0))
    assert not _varies(np.append(np.full(29, 3.0), 4.0)) and _varies(np.append(np.full(30, 3.0), 4.0))


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_of_columns_that_follow_from_others_the_largest_are_the_sums(order):
    rng = np.random.default_rng(7)
    a, b = rng.uniform(1, 2, 200), rng.uniform(1, 3, 200)
    x = np.stack([a, b, a + b, 2 * a + b], axis=1)[:, order]
    parts, sums = _smallest_first(x, np.abs(x).mean(axis=0))
    assert [order[k] for k in parts] == [0, 1] and [order[k] for k in sums] == [2, 3]


def test_keys_are_different_where_no_two_are_the_same():
    assert _all_different(np.array([1, 2, 3])) and not _all_different(np.array([1, 2, 1]))
    assert _all_different(np.array([], dtype=np.int64))
