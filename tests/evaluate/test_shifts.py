"""Means of groups in both tables, against pandas, and what is kept of their differences."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.loader import compare_tables
from tests.schema.helpers import cat, num, schema

SHAPE = schema(num("pay", 0, 1000, 100), cat("g", ["a", "b", "c"]))


def table(n, seed, apart):
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 3, n)
    pay = np.clip(np.rint(500 + apart * (g - 1) + rng.normal(0, 20, n)), 0, 1000).astype(int)
    return pd.DataFrame({"pay": pay, "g": np.array(["a", "b", "c"])[g]})


def gaps(real, synthetic) -> list[shifts.GroupMeans]:
    return shifts.gaps(compare_tables(SHAPE, pa.Table.from_pandas(synthetic), pa.Table.from_pandas(real)))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0, -1.0])
def test_what_is_kept_of_differences_between_groups_is_the_slope_of_their_means(share):
    real, synthetic = table(3000, 1, 100), table(2000, 2, 100 * share)
    (found,) = gaps(real, synthetic)
    mine, theirs = (f.groupby("g").pay.mean().to_numpy() for f in (real, synthetic))
    assert found.real == pytest.approx(mine) and found.synthetic == pytest.approx(theirs)
    assert found.sizes.tolist() == [f.groupby("g").size().tolist() for f in (real, synthetic)]
    left, right = mine - real.pay.mean(), theirs - synthetic.pay.mean()
    n = real.groupby("g").size().to_numpy()
    assert found.kept == pytest.approx((n * left * right).sum() / (n * left**2).sum())
    assert found.kept == pytest.approx(share, abs=0.05)


def test_a_group_that_is_lost_or_of_few_records_counts_in_the_means_of_all_and_not_in_the_slope():
    real, synthetic = table(3000, 1, 100), table(2000, 2, 60)
    few = pd.DataFrame({"pay": [900, 950, 1000, 1000], "g": ["b"] * 4})
    real = pd.concat([real[real.g != "b"], few])
    synthetic = synthetic[synthetic.g != "c"]
    (found,) = gaps(real, synthetic)
    assert found.kept is None  # of one group nothing is said
    synthetic = pd.concat([synthetic, pd.DataFrame({"pay": [560], "g": ["c"]})])
    (found,) = gaps(real, synthetic)
    left, right, n = [], [], []
    for g in "ac":
        mine, theirs = real.pay[real.g == g], synthetic.pay[synthetic.g == g]
        left.append(mine.mean() - real.pay.mean())
        right.append(theirs.mean() - synthetic.pay.mean())
        n.append(len(mine))
    n, left, right = map(np.array, (n, left, right))
    assert found.kept == pytest.approx((n * left * right).sum() / (n * left**2).sum())


def test_nothing_is_said_of_what_is_kept_where_groups_differ_by_chance():
    (found,) = gaps(table(3000, 3, 0), table(3000, 4, 0))
    assert found.kept is None


@pytest.mark.parametrize(("n", "m", "both"), [(10, 10, 5.0), (1, 0, 0.5), (100, 300, 75.0)])
def test_two_samples_err_as_much_as_one_of_fewer_records(n, m, both):
    assert shifts.together(n, m) == pytest.approx(both)


@pytest.mark.parametrize("apart", [0.0, 30.0])
def test_means_of_groups_moved_where_bernsteins_inequality_says_so(apart):
    """Of groups of few records the deviation of all counts where it is larger; one group has a record far out."""
    rng = np.random.default_rng(6)
    sizes = {"a": (400, 300), "b": (20, 40), "c": (900, 5)}
    frames = []
    for side in range(2):
        g = np.repeat(list(sizes), [s[side] for s in sizes.values()])
        pay = np.rint(500 + rng.normal(0, 20, len(g)) + side * apart)
        pay[0] = 990
        frames.append(pd.DataFrame({"pay": pay.astype(int), "g": g}))
    real, synthetic = frames
    (found,) = gaps(real, synthetic)
    sure = shifts.sure_of(3)
    everybody = real.pay.std(ddof=0)
    assert found.deviation == pytest.approx(everybody)
    for k, g in enumerate(sizes):
        mine, theirs = real.pay[real.g == g], synthetic.pay[synthetic.g == g]
        n, fresh = len(mine), min(len(mine) * len(synthetic) / len(real), len(theirs))
        records = max(1 / (1 / n + 1 / fresh), 1)
        within = mine.std(ddof=0)
        spread = max(within, everybody) if n < 30 else within
        way = np.sign(theirs.mean() - mine.mean())
        farthest = max(0.0, (way * (mine - mine.mean())).max())
        far = sure * spread / np.sqrt(records) + sure**2 * farthest / (6 * records)
        assert found.far[k] == pytest.approx(far)
        gap = abs(theirs.mean() - mine.mean())
        assert found.moved[k] == (gap > far and gap > 2 * 0.05 * everybody)
