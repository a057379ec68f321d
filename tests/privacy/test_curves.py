"""The eight noise curves and their crossings against reference numbers."""

import json
import math
import warnings

import numpy as np
import pytest

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy.curves import CURVES, crossings, noise_curves
from dpsyn_core.privacy.unit import Unit
from tests.privacy.noise_table import ROWS

NAMES = (
    "laplace_basic",
    "laplace_advanced",
    "laplace_zcdp",
    "gaussian_naive",
    "gaussian_advanced",
    "gaussian_zcdp",
    "gaussian_zcdp_tight",
    "gaussian_exact",
)
TABLED = tuple(n for n in NAMES if n != "gaussian_advanced")  # the reference rows have the other seven


def test_the_table_has_48_rows():
    assert len(ROWS) == 48
    assert tuple(CURVES) == NAMES


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r[0]}-{r[1]}-{r[2]}")
def test_every_curve_matches_the_reference_to_1e9_relative(row):
    epsilon, delta, k, *values = row
    got = noise_curves(epsilon, delta, [k], Unit())["curves"]
    for name, value in zip(TABLED, values[:7], strict=True):
        assert got[name][str(k)] == pytest.approx(value, rel=1e-9), name


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [(0.01, 1e-8, 18.4257), (0.01, 1e-12, 27.6360), (1, 1e-8, 18.9174), (1, 1e-12, 28.1288)]
)
def test_laplace_basic_crosses_gaussian_zcdp_where_figure_2_says(epsilon, delta, k):
    got = crossings(epsilon, delta, Unit())["laplace_basic:gaussian_zcdp"]
    assert got == pytest.approx(k, abs=5e-5)
    big = math.log(1 / delta)
    assert got == pytest.approx(((math.sqrt(big) + math.sqrt(big + epsilon)) / 2) ** 2, rel=1e-12)
    assert crossings(epsilon, delta, Unit(neighbours="replace"))["laplace_basic:gaussian_zcdp"] == pytest.approx(
        got / 2, rel=1e-12
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-8), (1, 1e-9), (8, 1e-6), (300, 1e-12)])
@pytest.mark.parametrize("unit", [Unit(), Unit(neighbours="replace", max_records=3)])
def test_the_second_curve_wins_above_a_crossing_and_loses_below(epsilon, delta, unit):
    for pair, k in crossings(epsilon, delta, unit).items():
        first, second = pair.split(":")
        below, above = math.floor(k), math.floor(k) + 1
        got = noise_curves(epsilon, delta, [max(below, 1), above], unit)["curves"]
        assert got[second][str(above)] < got[first][str(above)], pair
        if below >= 1:
            assert got[second][str(below)] >= got[first][str(below)], pair


@pytest.mark.parametrize(
    ("epsilon", "delta", "k", "sigma"),
    [
        (1, 1e-6, 1, 5.349980062),
        (1, 1e-6, 10, 16.918122432),
        (1, 1e-6, 100, 53.499800620),
        (0.1, 1e-6, 10, 166.526066920),
        (2, 1e-9, 91, 31.430632920),
        (1, 1e-9, 10, 20.601126448),
        (10, 3.4498908254380166e-11, 465, 16.386725928),
    ],
)
def test_gaussian_zcdp_gives_the_values_of_theorem_4(epsilon, delta, k, sigma):
    got = noise_curves(epsilon, delta, [k])["curves"]["gaussian_zcdp"][str(k)]
    assert got == pytest.approx(sigma, abs=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "k", "share", "sigma"),
    [
        (1.0, 1e-9, 100, 0.01493616, 485.06183),
        (0.01, 1e-8, 10, 0.0005113256, 12865.942),
        (8.0, 1e-6, 3, 0.6594489, 8.5325727),
    ],
)
def test_gaussian_parts_under_advanced_composition_are_the_missing_curve_of_figure_2(epsilon, delta, k, share, sigma):
    """k parts (e, delta / 2k) compose to sqrt(2 k ln(2 / delta)) e + k e (exp(e) - 1) with another delta / 2."""
    low, high = 0.0, epsilon
    for _ in range(200):
        e = (low + high) / 2
        spent = math.sqrt(2 * k * math.log(2 / delta)) * e + k * e * math.expm1(e)
        low, high = (low, e) if spent > epsilon else (e, high)
    expected = math.sqrt(2 * math.log(1.25 * 2 * k / delta)) / low
    got = noise_curves(epsilon, delta, [k])
    assert got["curves"]["gaussian_advanced"][str(k)] == pytest.approx(expected, rel=1e-9)
    assert low == pytest.approx(share, rel=1e-5) and expected == pytest.approx(sigma, rel=1e-4)
    assert expected > got["curves"]["gaussian_zcdp"][str(k)]


def test_the_advanced_curves_points_with_parts_of_epsilon_one_or_more_are_named():
    invalid = noise_curves(30.0, 1e-6, [1, 2, 50, 10_000])["invalid"]
    assert invalid["gaussian_advanced"] == ["1", "2"] and "10000" not in invalid["gaussian_naive"]


@pytest.mark.parametrize("k", [1, 2, 50])
@pytest.mark.parametrize("delta", [1e-9, 0.3])
def test_a_part_is_named_from_the_budget_on_at_which_it_has_epsilon_one(k, delta):
    whole = math.sqrt(2 * k * math.log(2 / delta)) + k * math.expm1(1)
    for near, named in ((1 + 1e-9, True), (1 - 1e-9, False)):
        assert (str(k) in noise_curves(whole * near, delta, [k])["invalid"].get("gaussian_advanced", [])) == named
        naive = noise_curves(k * near, delta, [k])["invalid"].get("gaussian_naive", [])
        assert (str(k) in naive) == named


@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 5.0, 900.0])
@pytest.mark.parametrize("delta", [1e-12, 0.5])
def test_parts_under_advanced_composition_spend_the_whole_budget(epsilon, delta):
    ks = [1, 7, 4000, 2**53]
    curves = noise_curves(epsilon, delta, ks, Unit())["curves"]
    for k in ks:
        e = math.sqrt(2) / curves["laplace_advanced"][str(k)]
        spent = math.sqrt(2 * k * math.log(1 / delta)) * e + k * e * math.expm1(e)
        assert spent == pytest.approx(epsilon, rel=1e-12)


def test_a_curve_that_is_below_laplace_at_one_marginal_already_crosses_it_at_zero():
    unit, pair = Unit(neighbours="replace"), "laplace_basic:gaussian_advanced"
    assert crossings(0.01, 0.9, unit)[pair] == 0.0
    for epsilon in (1e-5, 0.2, 3.0):
        for delta in (1e-9, 0.3, 0.6, 0.8):
            k = crossings(epsilon, delta, unit)[pair]
            one = noise_curves(epsilon, delta, [1], unit)["curves"]
            assert (k == 0.0) == (one["gaussian_advanced"]["1"] < one["laplace_basic"]["1"])


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-30, 1e-6, 0.5, 0.99])
def test_laplace_parts_meet_the_basic_curve_where_their_equation_says(epsilon, delta):
    k = crossings(epsilon, delta, Unit())["laplace_basic:laplace_advanced"]
    assert math.sqrt(2 * -math.log(delta) / k) + math.expm1(epsilon / k) == pytest.approx(1, rel=1e-9)


def test_theta_seven_multiplies_the_public_log_value():
    got = noise_curves(10, 3.4498908254380166e-11, [465], Unit(max_records=7))["curves"]["gaussian_zcdp"]["465"]
    assert got == pytest.approx(114.707081498, abs=1e-8)


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.3, 346.1261), (1, 104.5058), (8, 13.8464)])
def test_two_hundred_marginals_at_the_budgets_of_the_last_round_of_2018(epsilon, sigma):
    got = noise_curves(epsilon, 2.2820544e-12, [200])["curves"]["gaussian_zcdp"]["200"]
    assert got == pytest.approx(sigma, abs=5e-5)


def test_replace_multiplies_laplace_by_two_and_gaussian_by_root_two():
    one = noise_curves(1, 1e-9, [1, 7])["curves"]
    other = noise_curves(1, 1e-9, [1, 7], Unit(neighbours="replace", max_records=3))["curves"]
    for name in NAMES:
        factor = 3 * (2 if name.startswith("laplace") else math.sqrt(2))
        assert other[name]["7"] == pytest.approx(one[name]["7"] * factor, rel=1e-12)


def test_points_where_the_naive_formula_proves_nothing_are_named():
    invalid = noise_curves(8, 1e-6, [1, 8, 9, 10])["invalid"]
    assert invalid == {"gaussian_naive": ["1", "8"], "gaussian_advanced": ["1"]}
    assert noise_curves(0.5, 1e-6, [1])["invalid"] == {}


def test_delta_zero_offers_the_pure_curve_alone():
    got = noise_curves(1, 0, [1, 10])
    assert got["curves"] == {
        "laplace_basic": {"1": pytest.approx(math.sqrt(2)), "10": pytest.approx(10 * math.sqrt(2))}
    }
    assert got["crossings"] == {}
    assert got["invalid"] == {}


def test_extreme_budgets_give_finite_numbers_and_no_warning():
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        for epsilon in (1e-4, 1e-2, 1, 30, 1000):
            for delta in (1e-300, 1e-30, 1e-9, 0.01, 0.5):
                got = noise_curves(epsilon, delta, [1, 1000, 10**9])
                values = [v for curve in got["curves"].values() for v in curve.values()]
                assert all(math.isfinite(v) and v > 0 for v in values)
                assert all(math.isfinite(v) and v > 0 for v in got["crossings"].values())
                c = got["curves"]
                for k in ("1", "1000"):
                    assert c["gaussian_exact"][k] <= c["gaussian_zcdp_tight"][k] * (1 + 1e-9)
                    assert c["gaussian_zcdp_tight"][k] <= c["gaussian_zcdp"][k] * (1 + 1e-9)


def test_the_document_is_json():
    assert json.loads(json.dumps(noise_curves(1, 1e-9, [1, 10]))) == noise_curves(1, 1e-9, [1, 10])


@pytest.mark.parametrize("k", [0, -1, 1.5, True, 2**53 + 1])
def test_a_k_that_counts_nothing_is_refused(k):
    with pytest.raises(BudgetError, match="whole number"):
        noise_curves(1, 1e-9, [k])


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-9), (-1, 1e-9), (math.nan, 0), (math.inf, 0), (1, -1), (1, 1)])
def test_budgets_that_promise_nothing_are_refused(epsilon, delta):
    with pytest.raises(BudgetError):
        noise_curves(epsilon, delta, [1])
