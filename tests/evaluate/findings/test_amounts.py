"""Amounts and rows: zeros, ends beyond the highest hundredth, rows that were left out, and repeated records."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from dpsyn_core.evaluate.findings.amounts import _by_chance, _ends, often_zero
from dpsyn_core.evaluate.findings.tables import _different, _mostly_one, foreign, rows


@pytest.mark.parametrize(
    ("zeros", "negative", "often"),
    [(50, False, True), (49, False, False), (950, False, True), (951, False, False), (500, True, False)],
)
def test_an_amount_is_often_zero_from_five_to_ninety_five_in_a_hundred(zeros, negative, often):
    values = np.concatenate([np.zeros(zeros), np.arange(1.0, 1001 - zeros)])
    if negative:
        values[-1] = -1.0
    assert often_zero(values) == often


@pytest.mark.parametrize(("counts", "n", "m"), [((10, 30), 1000, 1000), ((10, 30), 1000, 3000), ((0, 9), 500, 100)])
def test_the_odds_of_an_uneven_share_are_those_of_a_binomial_law(counts, n, m):
    whole, p = sum(counts), m / (n + m)
    of = binom.pmf(np.arange(whole + 1), whole, p)
    expected = of[of <= of[counts[1]] * (1 + 1e-7)].sum()
    assert _by_chance(counts, n, m, 1.0) == pytest.approx(min(1.0, expected))
    doubled = tuple(2 * k for k in counts)
    assert _by_chance(doubled, n, m, 2.0) == pytest.approx(min(1.0, expected)), "of which two count as one"
    assert _by_chance((0, 0), n, m, 1.0) == 1.0


def ends(real, synth, part=1.0, keys=("top", "bottom")):
    return {f.key: f for f in _ends("x", real, synth, (part, 1.0), keys)}


def test_an_end_is_found_where_twice_or_half_as_many_values_lie_beyond_it():
    real = np.arange(20_000.0)  # 200 lie beyond 19,799.01
    for beyond, found in ((200, False), (390, False), (410, True), (105, False), (95, True), (0, True)):
        synth = np.full(20_000, 10_000.0)
        synth[:beyond] = 19_900.0
        synth[-200:] = 100.0
        got = ends(real, synth)
        assert ("top" in got) == found and "bottom" not in got
        if found:
            f = got["top"]
            assert f.real == f.fresh == pytest.approx(np.quantile(real, 0.99)) and f.columns == ("x",)
            assert f.synthetic == pytest.approx(np.quantile(synth, 0.99))
            assert f.weight == pytest.approx(0.5 * abs(beyond / 20_000 - 0.01) + 0.02)
            assert ends(real, synth, 0.5)["top"].weight == pytest.approx(0.25 * abs(beyond / 20_000 - 0.01) + 0.02)
    low = np.full(20_000, 10_000.0)
    low[:200], low[200:800] = 19_900.0, 100.0
    assert set(ends(real, low)) == {"bottom"} and ends(real, low, keys=("high",)) == {}
    assert ends(real, low)["bottom"].real == pytest.approx(np.quantile(real, 0.01))
    few = np.arange(49.0)  # less than half of a record lies beyond a hundredth of so few
    assert ends(np.minimum(np.arange(20_000.0), 19_700.0), low, keys=("top",)) == {} and ends(few, few[::-1]) == {}


def intake(**more):
    given = {"limited": 0, "misfits": 0, "rows": 1000, "ignored": (), "lacking": (), "unreadable": (), "renamed": (),
             "reformed": (), "reworded": (), "further": (), "blanked": {}}  # fmt: skip
    return SimpleNamespace(**given | more)


def compared(n=1000, m=1000, **more):
    return SimpleNamespace(intake=intake(**more), domain=range(4), whole_n=n, whole_m=m, n=n, m=m)


@pytest.mark.parametrize(
    ("limited", "misfits", "weight", "remedy"),
    [(10, 0, None, ""), (11, 0, 0.011, "limit"), (6, 6, 0.012, "misfits"), (500, 0, 0.5, "limit"),
     (1, 500, 1.501, "misfits")],
)  # fmt: skip
def test_rows_that_the_run_left_out_are_found_from_one_in_a_hundred_on(limited, misfits, weight, remedy):
    found = list(rows(compared(limited=limited, misfits=misfits)))
    assert [round(f.weight, 9) for f in found] == ([] if weight is None else [weight])
    for f in found:
        assert f.what == {"used": 1000 - limited - misfits, "rows": 1000, "limited": limited, "misfits": misfits,
                          "columns": 0} and f.remedy == remedy  # fmt: skip


def test_columns_that_were_ignored_and_far_fewer_records_are_found():
    (ignored,) = rows(compared(ignored=("a",)))
    assert (ignored.key, ignored.columns, ignored.real, ignored.weight) == ("ignored", ("a",), 0.2, 0.0075)
    for n, m, found in ((1000, 499, True), (1000, 500, False), (9000, 999, True), (9000, 1000, False)):
        got = [f for f in rows(compared(n, m)) if f.key == "few_records"]
        assert bool(got) == found
        if found:
            (f,) = got
            assert f.weight == pytest.approx(0.3 * (1 - m / n)) and f.what["of_a_share"] == pytest.approx(m**-0.5)
            assert (f.real, f.synthetic, f.fresh, f.remedy) == (n, m, n, "records")


def test_columns_of_another_table_are_named_by_what_is_wrong_with_them():
    c = compared(lacking=("a", "b"), unreadable=("c",), renamed=("d",), further=("e", "f"), blanked={"g": 0.25})
    found = {f.key: f for f in foreign(c)}
    assert set(found) == {"lacking", "unreadable", "renamed", "further", "blanked"}
    whole = 4 + 3
    assert found["lacking"].weight == pytest.approx(0.3 + 2 / whole / 2) and found["lacking"].synthetic == 2
    assert found["unreadable"].weight == pytest.approx(0.3 + 1 / whole / 2)
    assert found["renamed"].weight == found["further"].weight == 0.01
    assert (found["blanked"].weight, found["blanked"].columns, found["blanked"].real) == (0.25, ("g",), 0.0)


def test_values_are_counted_once_and_blank_ones_never():
    assert _different(np.array([-1, 3, 3, 0, -1])) == 2 and _different(np.array([-1], dtype=np.int32)) == 0
    assert _mostly_one(np.array([0.0, 0, 0, 1, 2])) and not _mostly_one(np.array([0.0, 0, 1, 2]))
