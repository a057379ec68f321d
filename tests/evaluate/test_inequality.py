"""Gini difference and pay gap: against pandas and scipy, and at the edges."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison, Roles
from dpsyn_core.evaluate.income import lorenz
from dpsyn_core.evaluate.inequality import GiniDifference, PayGap, rank_correlation
from dpsyn_core.schema.domain import Domain
from tests.evaluate.tables import SIZES, small

ROLES = Roles(income="pay", group="city", split="sex")


def frames(c):
    return [pd.DataFrame(codes.T.astype(float), columns=list(SIZES)) for codes in (c.real, c.synthetic)]


def gini_by_pairs(x):
    return abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())


def test_gini_differences_equal_the_mean_over_groups_of_all_pairs_of_records():
    c = small(roles=ROLES)
    score = GiniDifference().compute(c)
    real, synthetic = ({g: gini_by_pairs(p.to_numpy()) for g, p in f.groupby("city")["pay"]} for f in frames(c))
    assert score.value == pytest.approx(np.mean([abs(real[g] - synthetic[g]) for g in real]))
    for row in score.details["groups"]:
        assert row["gini_real"] == pytest.approx(real[float(row["group"])])
    assert score.details["overall"]["real"] == pytest.approx(gini_by_pairs(frames(c)[0]["pay"].to_numpy()))


def test_pay_gaps_equal_pandas_and_ranks_equal_scipy():
    c = small(roles=ROLES)
    score = PayGap().compute(c)
    gaps = []
    for f in frames(c):
        by = f.groupby(["city", "sex"])["pay"]
        gaps.append([(by.mean()[g, 0] - by.mean()[g, 1], by.median()[g, 0] - by.median()[g, 1]) for g in range(5)])
    real, synthetic = np.array(gaps)
    for row, want, other in zip(score.details["groups"], real, synthetic, strict=True):
        assert [row["gap_real"], row["gap_median_real"]] == pytest.approx(want.tolist())
        assert [row["gap_synthetic"], row["gap_median_synthetic"]] == pytest.approx(other.tolist())
    assert score.value == pytest.approx(scipy.stats.spearmanr(real[:, 0], synthetic[:, 0]).statistic)
    assert score.details["mean_absolute_error"] == pytest.approx(abs(real - synthetic)[:, 0].mean())


def test_groups_are_found_by_name_and_without_any_all_records_are_one():
    score = GiniDifference().compute(small(roles=Roles(income="pay")))
    assert score.details["group"] == "city"
    c = small()
    domain = Domain(tuple(dataclasses.replace(a, name=f"{a.name}_") for a in c.domain.attributes if a.ordered))
    keep = [0, 4]
    bare = Comparison(domain=domain, real=c.real[keep], synthetic=c.synthetic[keep], roles=Roles(income="pay_"))
    [row] = GiniDifference().compute(bare).details["groups"]
    assert (row["group"], row["size_real"]) == ("all records", c.n)
    with pytest.raises(MetricError, match="--split"):
        PayGap().compute(bare)


def test_a_lost_group_differs_by_one_and_shows_blanks():
    c = small(roles=ROLES)
    kept = dataclasses.replace(c, synthetic=c.synthetic[:, c.synthetic[2] != 4])
    score = GiniDifference().compute(kept)
    row = score.details["groups"][4]
    others = [abs(r["gini_real"] - r["gini_synthetic"]) for r in score.details["groups"][:4]]
    assert score.value == pytest.approx((sum(others) + 1) / 5)
    assert row["size_synthetic"] is None
    assert row["gini_synthetic"] is None
    assert PayGap().compute(kept).details["groups"][4]["gap_synthetic"] is None


def test_a_group_with_one_member_and_a_group_without_a_side_are_numbers_or_blanks_never_nan():
    c = small(roles=ROLES)
    lonely = c.real[2] != 4
    lonely[np.flatnonzero(c.real[2] == 4)[0]] = True
    score = PayGap().compute(dataclasses.replace(c, real=c.real[:, lonely]))
    row = score.details["groups"][4]
    assert (row["size_real"], row["gini_real"], row["gap_real"]) == (1, 0, None)
    json.dumps(score.to_json(), allow_nan=False)


def test_a_pay_gap_that_ranks_nothing_is_refused_with_a_remedy():
    c = small(roles=ROLES)
    one = dataclasses.replace(c, real=c.real[:, c.real[2] == 0])
    with pytest.raises(MetricError, match="ranks nothing"):
        PayGap().compute(one)
    with pytest.raises(MetricError, match="ranks nothing"):
        PayGap().compute(dataclasses.replace(c, real=c.real[:, c.real[1] == 0]))


def test_rank_correlation_ignores_blanks_and_refuses_constants():
    nan = float("nan")
    assert rank_correlation(np.array([1.0, 2, 3, nan]), np.array([2.0, 4, 8, 1])) == pytest.approx(1)
    assert rank_correlation(np.array([1.0, 2]), np.array([5.0, 5])) is None
    assert rank_correlation(np.array([1.0, nan]), np.array([5.0, 6])) is None


def test_lorenz_of_two_is_the_hand_value():
    assert lorenz(np.array([3.0, 1.0]), points=3).tolist() == [0, 0.25, 1]


def test_ranks_by_pay_gap_come_with_the_ranks_of_fresh_samples():
    from dpsyn_core.evaluate.income import Incomes, rank_intervals

    rng = np.random.default_rng(1)
    sizes, gaps = np.array([2000, 2000, 2000, 20]), np.array([300.0, 200.0, 100.0, 250.0])
    group, side = np.repeat(np.arange(4), sizes), np.concatenate([np.arange(n) % 2 for n in sizes])
    income = 2000 + rng.normal(0, 400, len(group)) + np.where(side == 0, gaps[group], 0)
    found = rank_intervals(Incomes(group=group, side=side, income=income), np.arange(4))
    assert found.records.tolist() == sizes.tolist()
    assert all(found.low <= found.rank) and all(found.rank <= found.high)
    width = found.high - found.low
    assert width[3] >= 2 and width[3] == width.max(), "a group of twenty may stand at nearly any place"
    frame = pd.DataFrame({"group": group, "side": side, "income": income})
    means = frame.groupby(["group", "side"])["income"].mean().unstack()
    assert found.rank.tolist() == (means[0] - means[1]).rank(ascending=False).astype(int).tolist()
    assert found.agreement[0] < found.agreement[1] <= 1
    alone = Incomes(group=group * 0, side=side, income=income)
    assert rank_intervals(alone, np.arange(1)) is None


def test_the_pay_gap_names_its_two_sides():
    c = small(roles=Roles(income="pay", group="city", split="sex", split_values=(1, 0)))
    details = PayGap().compute(c).details
    assert details["sides"] == [c.words("sex")[1], c.words("sex")[0]]
    assert (details["income"], details["group"], details["split"]) == ("pay", "city", "sex")
