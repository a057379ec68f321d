"""Labs 21 to 27: their numbers by other means, and the list of all labs in groups."""

import math

import numpy as np
import pytest

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.curves import noise_curves
from dpsyn_core.schema.sample import sample_table
from tests.app_driver import at_page, words
from ui.learn import GROUPS, HOUR, LABS
from ui.learn.numbers import accounting, asking, bounds
from ui.learn.numbers.choosing import above_mark
from ui.shared.text import catalogue


def test_groups_of_the_sample_are_those_that_pandas_counts():
    frame = sample_table().to_pandas()
    known = ["CITY", "SEX", "AGE"]
    size = frame.groupby(known)["EMPSTAT"].transform("size")
    kinds = frame.groupby(known)["EMPSTAT"].transform("nunique")
    found = asking.linked(tuple(known), 1)
    assert found.below(5) == pytest.approx((size < 5).mean())
    assert found.told(5) == pytest.approx((kinds[size >= 5] == 1).mean())
    assert asking.linked((), 1).below(20_000) == 0 and asking.linked((), 1).told(2) == 0
    coarse = asking.linked((*known, "RACE"), 20)
    assert coarse.below(5) < asking.linked((*known, "RACE"), 1).below(5)


@pytest.mark.parametrize(("days", "gap", "eps"), [(1, 5.0, 1.0), (20, 20.0, 1.0), (100, 50.0, 0.5)])
def test_chances_of_the_watch_are_those_that_are_counted(days, gap, eps):
    rng, turns = np.random.default_rng(0), 40_000
    scores = np.append(np.full(days - 1, -gap), gap)
    mark = rng.laplace(0, 2 / eps, (turns, 1))
    above = scores + rng.laplace(0, 4 / eps, (turns, days)) > mark
    sparse = (above[:, -1] & ~above[:, :-1].any(axis=1)).mean()
    above = scores + rng.laplace(0, days / eps, (turns, days)) > 0
    each = (above[:, -1] & ~above[:, :-1].any(axis=1)).mean()
    spread = 5 * 0.5 / math.sqrt(turns)
    assert bounds.found_by_sparse(days, gap, eps) == pytest.approx(sparse, abs=spread)
    assert bounds.found_by_each(days, gap, eps) == pytest.approx(each, abs=spread)
    assert above_mark(scores, 0.0, eps, 1.0).sum() == pytest.approx(1)


@pytest.mark.parametrize(("sigma", "times", "delta"), [(10.0, 20, 1e-6), (2.0, 1, 1e-9), (50.0, 500, 1e-4)])
def test_every_variant_is_about_the_same_noise(sigma, times, delta):
    v = accounting.variants(sigma, times, delta)
    assert v.exact <= v.tight <= v.standard
    assert v.exact <= v.each * (1 + 1e-9)
    assert Budget(epsilon=v.exact, delta=delta).gaussian().sigma(math.sqrt(times)) == pytest.approx(sigma, rel=1e-6)
    # the Renyi divergence of order a of two normals a distance m apart is a m^2 / 2 (Mironov 2017, proposition 7)
    assert accounting.renyi(v.mu, np.array([2.0]))[0] == pytest.approx(times / sigma**2)


def test_years_add_up_to_less_than_their_sum_and_a_yearly_budget_costs_the_whole():
    added, composed = accounting.yearly(1.0, 1e-9, 10)
    assert added[-1] == 10 and composed[0] == pytest.approx(1) and 3 < composed[-1] < 4
    each = accounting.yearly_budget(1.0, 1e-9, 10)
    assert accounting.yearly(each, 1e-9, 10)[1][-1] == pytest.approx(1, rel=1e-6)


def test_ten_times_the_records_need_about_a_tenth_of_the_budget():
    here, more = (accounting.epsilon_for(0.02, n, 100, 50, 1e-9) for n in (10_000, 100_000))
    assert accounting.noise_error([10_000], 100, 50, here, 1e-9)[0] == pytest.approx(0.02, rel=1e-6)
    assert 0.07 < more / here < 0.13
    counts = np.random.default_rng(0).multinomial(1000, np.full(30, 1 / 30), 2000) / 1000
    seen = np.abs(counts - 1 / 30).sum(axis=1).mean() / 2
    assert accounting.sample_error([1000], 30)[0] == pytest.approx(seen, rel=0.03)


@pytest.mark.parametrize("eps", [0.1, 1.0, 8.0])
def test_marginals_of_one_error_grow_as_the_records_without_delta_and_nearly_as_their_square_with_it(eps):
    """Section 6.1 of Li, Zhang, Wang 2021: every cell has noise of a standard deviation of 1e-5 of the records."""
    records = np.array([10**6, 10**7])
    pure, approximate = accounting.marginals_within(1e-5, records, eps)
    assert pure[1] / pure[0] == pytest.approx(10)
    assert 60 < approximate[1] / approximate[0] < 100
    for n, with_laplace, with_gauss in zip(records, pure, approximate, strict=True):
        k = 2000  # both are laws of one power of the number of marginals
        curves = noise_curves(eps, 1 / float(n) ** 2, [k])["curves"]
        assert curves["laplace_basic"][str(k)] * with_laplace / k == pytest.approx(1e-5 * n, rel=1e-3)
        assert curves["gaussian_exact"][str(k)] * math.sqrt(with_gauss / k) == pytest.approx(1e-5 * n, rel=1e-6)


def test_a_conclusion_hardly_depends_on_one_person():
    with_ann, without, spread = bounds.conclusion(500, 0.4, 1.0)
    assert with_ann == 0.4 and 0 < with_ann - without < 2 / 500 and without > 0.39
    assert spread == pytest.approx(math.sqrt(2 * math.exp(-1)) / ((1 - math.exp(-1)) * 500))


def test_stays_break_in_classes_and_a_rule_mends_them():
    assert not bounds.stays().backwards.any() and not bounds.stays().wrong_length.any()
    shares = {kept: bounds.synthetic(kept, 7) for kept in ("alone", "pairs", "rule")}
    assert shares["alone"].backwards.mean() > 0.4 > shares["pairs"].backwards.mean() > 0.05
    assert shares["pairs"].wrong_length.mean() > 0.5
    assert not shares["rule"].backwards.any() and not shares["rule"].wrong_length.any()
    assert not bounds.synthetic("pairs", 1).backwards.any()


def test_every_lab_stands_in_one_group_and_a_card_opens_it(app):
    assert sorted(lab for labs in GROUPS.values() for lab in labs) == sorted(LABS)
    at_page(app, "learn")
    assert set(HOUR) <= set(LABS) and all(b.key != "learn_next" for b in app.button)
    app.button(key="card_attacks_linkage_press").click().run()
    assert catalogue()["learn.linkage.question"] in words(app)
    assert app.query_params["lab"] == "linkage"
    app.button(key="learn_shelf").click().run()
    assert "lab" not in app.query_params and catalogue()["learn.title"] in words(app)


def test_the_labs_of_the_hour_lead_to_each_other_and_the_last_one_on(app):
    app.query_params["lab"] = HOUR[0]
    at_page(app, "learn")
    for lab in (*HOUR[1:], "dependence"):  # lab 28 comes after lab 27
        app.query_params["open"] = "1"
        app.run()
        app.button(key="learn_next").click().run()
        assert app.query_params["lab"] == lab and not app.exception
