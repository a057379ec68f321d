"""Shapes of single columns against every stretch of values, and at the ends of their limits."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.evaluate.findings import shapes
from dpsyn_core.evaluate.findings.finding import ALARM, Finding, beyond_chance
from dpsyn_core.evaluate.findings.shapes import Stretch, _brought_back, _far, _heaps, stretch

RNG = np.random.default_rng(0)


def share(x, low, high):
    return float(((x >= low) & (x <= high)).mean())


@pytest.mark.parametrize("seed", range(25))
def test_the_stretch_is_the_one_of_all_whose_share_differs_most_or_a_plainer_end(seed):
    rng = np.random.default_rng(seed)
    real, made = rng.integers(0, 9, 30).astype(float), rng.integers(0, 9, 20).astype(float)
    made = np.concatenate([made, np.full(seed, rng.integers(0, 9))])
    at = np.unique(np.concatenate([real, made]))
    every = [(a, b) for a, b in itertools.product(at, at) if a <= b]
    widest = max(abs(share(real, *s) - share(made, *s)) for s in every)
    found = stretch(real, made)
    assert found.gap == pytest.approx(abs(found.real - found.synthetic))
    if found.kind == "stretch":
        assert (found.real, found.synthetic) == pytest.approx([share(x, found.low, found.high) for x in (real, made)])
        assert found.gap == pytest.approx(widest)
    ends = max(abs(share(real, at[0], b) - share(made, at[0], b)) for b in at)
    assert (found.kind != "stretch") == (ends >= 0.8 * widest - 1e-12)
    if found.kind == "below":
        assert (found.real, found.synthetic) == pytest.approx([share(x, at[0], found.high) for x in (real, made)])
        assert found.low == at[0]
    if found.kind == "above":
        above = [float((x > found.low).mean()) for x in (real, made)]
        assert (found.real, found.synthetic) == pytest.approx(above) and found.high == at[-1]
    if found.kind != "stretch":
        assert found.gap == pytest.approx(ends) and min(found.real, found.synthetic) <= 0.5


def test_equal_tables_have_no_stretch():
    assert stretch(np.arange(5.0), np.repeat(np.arange(5.0), 3)) is None


@pytest.mark.parametrize(
    ("gap", "records", "far"), [(0.051, 10**6, True), (0.05, 10**6, False), (0.3, 100, False), (0.301, 100, True)]
)
def test_a_stretch_is_far_beyond_a_twentieth_and_three_times_what_chance_makes(gap, records, far):
    one = Stretch(kind="stretch", low=0.0, high=1.0, real=0.5, synthetic=0.5 - gap)
    assert (_far(one, records) is one) == far
    assert _far(None, records) is None


@pytest.mark.parametrize(("real", "made", "another"), [(0.2, 0.1, True), (0.2, 0.101, False), (0.1, 0.3, True)])
def test_values_are_others_where_one_table_has_twice_as_many_there(real, made, another):
    assert Stretch(kind="stretch", low=0.0, high=1.0, real=real, synthetic=made).another == another


def test_synthetic_values_are_moved_and_scaled_to_the_real_mean_and_median():
    real, made = np.array([0.0, 2.5, 11.0]), np.array([1.0, 3.0, 4.0, 4.0])
    found = list(_brought_back(real, made))
    assert [f.tolist() for f in found] == [
        (made + 1.5).tolist(), (made * 4.5 / 3).tolist(), (made - 1).tolist(), (made * 2.5 / 3.5).tolist(),
    ]  # fmt: skip
    assert len(list(_brought_back(real - 1, made))) == 2, "numbers below zero are moved alone"
    whole = list(_brought_back(np.array([0.0, 2.0, 11.0]), made))
    assert all((f == np.round(f)).all() for f in whole)


def heaps(real, made):
    return list(_heaps("a", np.asarray(real, float), np.asarray(made, float)))


def test_numbers_that_are_rounded_in_one_table_alone_are_found_with_their_step():
    anything = RNG.integers(1, 400, 3000)
    for step in (5, 10, 50):
        [found] = heaps(anything // step * step, anything)
        assert found.what == {"step": step}
        shares = [float((v[v != 0] % step == 0).mean()) for v in (anything // step * step, anything)]
        assert (found.real, found.synthetic) == pytest.approx(shares)
        assert found.weight == pytest.approx(0.3 * abs(shares[0] - shares[1]))
    assert heaps(anything, anything + 1) == []
    [found] = heaps(anything, anything // 10 * 10 + (anything % 7 == 0))
    assert found.synthetic > found.real
    assert heaps(anything[:1] * 0 + np.arange(40) % 4 * 10, np.arange(40) % 40) != []
    assert heaps(np.arange(100) % 24, np.arange(100) % 24 // 5 * 5) == [], "five steps of 5 are not spanned"


def test_an_end_that_is_cut_at_a_multiple_makes_no_heaps():
    real = RNG.integers(1, 400, 3000)
    assert heaps(real, np.minimum(real, 300)) == []


@pytest.mark.parametrize(("fresh", "n", "m"), [(0.0, 1000, 1000), (0.2, 500, 2000), (0.5, 100, 100)])
def test_a_share_is_beyond_chance_from_four_and_a_half_standard_errors_on(fresh, n, m):
    smooth = (fresh * n + 2) / (n + 4)
    least = 4.5 * (smooth * (1 - smooth) * (1 / n + 1 / m)) ** 0.5
    assert beyond_chance(fresh + least * 1.001, fresh, n, m) and not beyond_chance(fresh + least * 0.999, fresh, n, m)
    assert beyond_chance(fresh + least * 0.5, fresh, n, m, sure=2.0)
    assert not beyond_chance(1.0, 0.0, 0, 0)


def test_an_alarm_weighs_two_and_rules_are_of_what_cannot_be():
    assert Finding(key="copies", weight=ALARM).alarm and not Finding(key="copies", weight=1.99).alarm
    assert Finding(key="order", weight=0.1).impossible and not Finding(key="heaps", weight=0.1).impossible


@pytest.mark.parametrize(("n", "found"), [(4, False), (5, True)])
def test_a_number_has_five_different_values_at_least(monkeypatch, n, found):
    seen = []
    values = np.tile(np.arange(n, dtype=float), 400), np.tile(np.arange(n, dtype=float), 30)
    monkeypatch.setattr(shapes.ExactCells, "of", lambda c: SimpleNamespace(floats=lambda name: values))
    monkeypatch.setattr(shapes.shifts, "numbers", lambda c: ["x"])
    monkeypatch.setattr(shapes, "dated", lambda c: [])
    monkeypatch.setattr(shapes, "_heaps", lambda name, real, synth: seen.append(name) or [])
    monkeypatch.setattr(shapes, "rows_as_one", lambda c, name: 1.0)
    c = SimpleNamespace(n=400 * n, synthetic=np.zeros((1, 30 * n)), domain={"x": SimpleNamespace(number=True)})
    assert list(shapes.shapes(c)) == [] and bool(seen) == found


@pytest.mark.parametrize(("hours", "asked"), [((7, 9), False), ((7, 9, 12), True)])
def test_hours_are_looked_at_where_a_time_has_three_of_them(monkeypatch, hours, asked):
    monkeypatch.setattr(shapes, "_records", lambda c, name, real, synth: 1e6)
    real = np.repeat(np.array(hours) * 3600.0, 200) + np.arange(200 * len(hours)) % 60
    made = np.full(300, 20 * 3600.0)
    c = SimpleNamespace(n=len(real) * 2, synthetic=np.zeros((1, 300)))
    found = list(shapes._of_clocks(c, "at", (real, made), precise=True))
    assert bool(found) == asked
    if asked:
        assert found[0].key == "times_hour" and found[0].what["high"] == 20
        assert found[0].weight == pytest.approx(0.5 * abs(found[0].real * 2 - found[0].synthetic))
    assert list(shapes._of_clocks(c, "at", (real, made), precise=False)) == []


@pytest.mark.parametrize(("days", "asked"), [(730, False), (731, True)])
def test_months_are_looked_at_where_dates_span_two_years(monkeypatch, days, asked):
    monkeypatch.setattr(shapes, "_records", lambda c, name, real, synth: 1e6)
    real = np.linspace(0, days * 86_400.0, 2000)
    made = np.full(300, 340 * 86_400.0)  # December
    c = SimpleNamespace(n=2000, synthetic=np.zeros((1, 300)))
    found = list(shapes._of_clocks(c, "on", (real, made), precise=False))
    assert [f.key for f in found] == (["times_month"] if asked else [])
    if asked:
        assert (found[0].what["low"], found[0].what["high"]) == (1, 11), "the real ones that are missing"
