"""What findings are decided by, at the ends of their limits and against pandas."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from dpsyn_core.evaluate.dependent_rows import TimeOrder, even_steps
from dpsyn_core.evaluate.findings import dependences as d
from dpsyn_core.evaluate.findings import series as s
from dpsyn_core.evaluate.findings.cells import alike
from dpsyn_core.evaluate.findings.finding import ALARM, Finding, beyond_chance
from dpsyn_core.evaluate.findings.identities import _allowed, _computed, _countable, _Sum, _varies, as_rule


def test_the_map_of_one_column_to_another_is_the_mode_of_each_value():
    rng = np.random.default_rng(0)
    x, y = rng.integers(-1, 8, 400).astype(np.int32), rng.integers(-1, 5, 400).astype(np.int32)
    f = pd.DataFrame({"x": x, "y": y})
    modes = f[(f.x >= 0) & (f.y >= 0)].groupby("x").y.agg(lambda v: v.value_counts().max())
    got = d._map(x, y, 10)
    assert got[8:].tolist() == [-1, -1] and (got[:8] >= 0).all()
    assert [int(((x == k) & (y == got[k])).sum()) for k in range(8)] == modes.tolist()
    one, other, counts = d._pair_counts(x, y, 5)
    table = pd.crosstab(f.x[(x >= 0) & (y >= 0)], f.y)
    assert [table.loc[a, b] for a, b in zip(one, other, strict=True)] == counts.tolist()
    assert counts.sum() == ((x >= 0) & (y >= 0)).sum()


@pytest.mark.parametrize(("wrong", "pure"), [(0, True), (10, True), (11, False)])
def test_a_column_decides_another_one_if_at_most_one_in_a_hundred_differs(wrong, pure):
    x = np.repeat([0, 1], 500)
    y = x.copy()
    y[:wrong] = 1
    for names, source in (((x, y), 0), ((y, x), 1)):
        assert d._pure(*d._pair_counts(*names, 2), source) is pure


@pytest.mark.parametrize(("rare", "pure"), [(0, False), (4, True), (100, True)])
def test_a_column_that_is_nearly_constant_is_decided_by_none_that_does_no_better(rare, pure):
    """One record in 1,000 is wrong; saying the commonest value is wrong `rare` times more often."""
    y = np.zeros(1000, dtype=int)
    x = np.zeros(1000, dtype=int)
    y[: 1 + 3 * rare] = 1
    x[1 : 1 + 3 * rare] = 1
    assert d._pure(*d._pair_counts(x, y, 2), 0) is pure


@pytest.mark.parametrize(("twice", "pure"), [(50, True), (49, False)])
def test_values_that_occur_once_decide_nothing(twice, pure):
    """Half of the records at least must have a value of two records or more."""
    x = np.concatenate([np.repeat(np.arange(twice // 2), 2), np.arange(1000, 1000 + 100 - twice // 2 * 2)])
    assert d._pure(*d._pair_counts(x, x % 2, 2), 0) is pure
    assert d._pure(*(np.zeros(0, dtype=int),) * 3, 0) is False


@pytest.mark.parametrize(
    ("row", "side"),
    [([0, 20], 1), ([20, 0], 0), ([0, 19], -1), ([1, 99], 1), ([2, 98], -1), ([99, 1], 0), ([0, 0], -1)],
)
def test_a_value_decides_from_twenty_records_and_ninety_nine_in_a_hundred(row, side):
    assert d._sure(np.array([row, row])).tolist() == [side, side]


def test_records_against_what_their_value_decides_are_counted():
    table = np.array([[30, 1], [2, 40], [5, 5], [0, 60]])
    assert d._wrong(table, np.array([0, 1, -1, 1])) == 1 + 2 + 0
    assert d._wrong(table, np.full(4, -1)) == 0
    x, y = np.array([0, 0, 1, -1, -1, 2]), np.array([0, 1, 1, 0, -1, 1])
    assert d._table(x, y, 3).tolist() == [[1, 1], [0, 1], [0, 1], [1, 0]]
    follows = np.array([1, -1, 0])
    x, y = np.array([0, 0, 0, 1, 2, 2, -1]), np.array([1, 0, -1, 0, 1, 0, 1])
    assert d._otherwise(follows, x, y).tolist() == [False, True, False, False, True, False, False]


def test_parts_of_times_are_those_of_the_calendar():
    times = ["1969-12-31 23:59:59", "1970-01-01", "2000-02-29 12:00", "2023-12-31 00:59:59", "1900-03-01"]
    days = pd.DatetimeIndex([pd.Timestamp(t) for t in times])
    seconds = np.append((days - pd.Timestamp("1970-01-01")).total_seconds(), np.nan)
    got = s.parts_of(seconds, precise=True)
    assert got["hour"].tolist() == [*days.hour, s.NONE]
    assert got["weekday"].tolist() == [*days.weekday, s.NONE]
    assert got["month"].tolist() == [*(days.month - 1), s.NONE]
    assert "hour" not in s.parts_of(seconds, precise=False)


def test_autocorrelations_are_those_of_pandas_within_each_key():
    rng = np.random.default_rng(1)
    f = pd.DataFrame({"who": rng.integers(0, 5, 600), "when": rng.permutation(600), "x": rng.normal(size=600).cumsum()})
    f.loc[rng.random(600) < 0.1, "x"] = np.nan
    order = np.lexsort((f.when, f.who))
    who = f.who.to_numpy()[order]
    course = TimeOrder(order=order, next=who[1:] == who[:-1], keys=who)
    ordered = f.assign(x=f.x - f.groupby("who").x.transform("mean")).sort_values(["who", "when"])
    expected = ordered.x.corr(ordered.groupby("who").x.shift())
    assert course.autocorrelation(f.x.to_numpy()) == pytest.approx(expected)
    assert course.autocorrelation(np.ones(600)) is None


@pytest.mark.parametrize(("pairs", "found"), [(99, False), (100, True)])
def test_an_autocorrelation_needs_a_hundred_pairs(pairs, found):
    course = TimeOrder(order=np.arange(pairs + 1), next=np.ones(pairs, bool), keys=np.zeros(pairs + 1, int))
    assert (course.autocorrelation(np.arange(pairs + 1.0)) is not None) is found


def test_courses_are_opposite_where_one_falls_as_the_other_rises():
    up = np.array([1.0, 2, 3, np.nan, 5, 4])
    few = partial(s._other_course, first=0, many=False)
    assert few(up, up) is None
    assert few(up, -up) == ("course", {"at": 4, "here_at": 0})
    assert s._other_course(up, -up, first=1, many=False) == ("course", {"at": 5, "here_at": 1})
    assert few(np.where(np.arange(6) < 4, up, np.nan), -up) is None, "three parts make no course"
    assert few(up[:5], -up[:5]) is not None, "four do"
    assert few(np.ones(6), -up) is None and few(up, np.ones(6)) is None
    weak = np.array([1.0, -1, 1, -1]), np.array([1.0, 1, -1, -1])
    assert few(*weak) is None, "which few records make by chance"
    assert s._other_course(*weak, first=0, many=True) == ("moved", {"at": 0, "here_at": 0})


@pytest.mark.parametrize(
    ("times", "even"), [([0, 1, 2, 4], True), ([0, 1, 2, 5, 9], True), ([0, 1, 3, 6], False), ([0, 1], False)]
)
def test_times_are_even_where_half_of_their_steps_are_equal(times, even):
    assert even_steps(np.array([*times, np.nan])) is even


def test_a_rounded_cell_may_be_off_by_half_a_unit_of_its_last_digit():
    plain, loose = _Sum({}), _Sum({}, loose=True)
    for values, compute, expected in (
        ([1, 2, np.nan, 3], plain, 0.501), ([1, 2, 3], loose, 1.0), ([1.25, 2.5], plain, 0.0101),
        ([0.125, 2.5], plain, 2.5e-6), ([np.nan], plain, 1e-15), ([-0.125, 0.001], plain, 0.125e-6),
    ):  # fmt: skip
        assert _allowed(np.array(values, float), compute) == pytest.approx(expected, rel=1e-9)
    values = {"a": np.array([6.0, 8.0]), "b": np.array([2.0, 3.0])}
    assert _Sum({"a": 1, "b": -1}, 2).of(values).tolist() == [2, 2.5]
    assert _Sum({"a": 1, "b": 1}, product=True).of(values).tolist() == [12, 24]


def test_columns_that_are_sums_of_others_are_told_from_those_with_noise():
    x = np.random.default_rng(0).normal(size=(500, 3))
    assert _computed(np.column_stack([x, x.sum(axis=1)])) == [0, 1, 2, 3]
    assert _computed(np.column_stack([x, x[:, 0] + x[:, 1]])) == [0, 1, 3]
    assert _computed(np.column_stack([x, x.sum(axis=1) + 0.01 * np.random.default_rng(1).normal(size=500)])) == []
    assert not _varies(np.append(np.ones(31), np.nan)) and not _varies(np.arange(30.0)) and _varies(np.arange(31.0))


def test_each_kind_of_finding_is_declared_as_the_rule_that_it_breaks():
    assert as_rule("order", ("a", "b")) == {"kind": "order", "lower": "a", "upper": "b"}
    assert as_rule("sum", ("t", "a", "b", "c")) == {"kind": "sum", "column": "t", "parts": ["a", "b", "c"]}
    assert as_rule("product", ("p", "a", "b")) == {"kind": "ratio", "column": "a", "of": "p", "by": ["b"]}
    rule = {"kind": "difference", "column": "n", "of": "late", "minus": "early"}
    for unit, word in ((86_400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds")):
        assert as_rule("between", ("n", "late", "early"), unit) == rule | {"unit": word}
    assert as_rule("less", ("n", "late", "early")) == rule | {"unit": None}


@pytest.mark.parametrize(("n", "m", "fresh"), [(1000, 1000, 0.0), (1000, 200, 0.1), (50, 5000, 0.5)])
def test_a_share_is_beyond_chance_from_the_odds_of_its_standard_errors(n, m, fresh):
    smooth = (fresh * n + 2) / (n + 4)
    limit = fresh + 4.5 * np.sqrt(smooth * (1 - smooth) * (1 / n + 1 / m))
    assert beyond_chance(limit + 1e-9, fresh, n, m) and not beyond_chance(limit - 1e-9, fresh, n, m)
    assert norm.sf(4.5) < 4e-6
    assert Finding(key="copy", weight=ALARM).alarm and not Finding(key="copy", weight=ALARM - 1e-9).alarm
    assert Finding(key="key", weight=0).impossible and not Finding(key="mean", weight=0).impossible


def test_pairs_of_equal_cells_are_counted_without_a_record_and_itself():
    x = np.array([-1, -1, 0, 2, 2, 2])
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    assert alike(x) == pytest.approx(np.mean([x[i] == x[j] for i, j in pairs]))


@pytest.mark.parametrize("whole", [True, False])
def test_a_number_may_be_part_of_a_key_if_the_real_table_has_whole_numbers(whole):
    tables = np.arange(9.0), np.arange(9.0) + 0.5
    cells = SimpleNamespace(measured=lambda name: True, floats=lambda name: tables if whole else tables[::-1])
    assert _countable(SimpleNamespace(real_dates={}), cells, "n") is whole
