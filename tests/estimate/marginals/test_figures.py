"""Figures against their definitions, and their influences against small changes of a weight."""

from dataclasses import replace

import numpy as np
import pytest

from dpsyn_core.estimate.marginals import figures
from dpsyn_core.estimate.marginals.figures import Groups

RNG = np.random.default_rng(0)
SOME = Groups(
    group=RNG.integers(0, 3, 60), numbers=RNG.integers(0, 9, 60).astype(float), weights=RNG.uniform(0.5, 2, 60), size=4
)
SIDE = RNG.integers(-1, 2, 60)


def of_group(g, k):
    return g.numbers[g.group == k], g.weights[g.group == k]


def test_figures_are_those_of_their_definitions_and_nan_for_a_group_without_records():
    found = {name: getattr(figures, name)(SOME) for name in ("sums", "means", "ginis")}
    gap = figures.gaps(SOME, SIDE)
    for k in range(3):
        x, w = of_group(SOME, k)
        mean, apart = np.average(x, weights=w), np.abs(x[:, None] - x) * np.outer(w, w)
        assert found["sums"][k] == pytest.approx((x * w).sum()) and found["means"][k] == pytest.approx(mean)
        assert found["ginis"][k] == pytest.approx(apart.sum() / w.sum() ** 2 / (2 * mean))
        sides = [SIDE[SOME.group == k] == s for s in (0, 1)]
        first, second = (np.average(x[s], weights=w[s]) for s in sides)
        assert gap[k] == pytest.approx(first - second)
    assert found["sums"][3] == 0 and np.isnan([found["means"][3], found["ginis"][3], gap[3]]).all()
    assert figures.ginis(replace(SOME, numbers=-SOME.numbers))[:3].tolist() == [0, 0, 0]


def test_a_quantile_of_records_is_that_of_numpy_and_one_of_bins_lies_inside_its_bin():
    even = replace(SOME, weights=np.ones(60))
    assert figures.quantiles(even, 0.5)[:3] == pytest.approx([np.median(of_group(even, k)[0]) for k in range(3)])
    ends = (SOME.numbers, SOME.numbers + 1)
    found = figures.quantiles(SOME, np.array([0.0, 0.5, 1.0, 0.5]), ends=ends)
    assert found[0] == of_group(SOME, 0)[0].min() and found[2] == of_group(SOME, 2)[0].max() + 1
    x, w = of_group(SOME, 1)
    assert (w * np.clip(found[1] - x, 0, 1)).sum() == pytest.approx(w.sum() / 2)
    assert np.isnan(found[3]) and np.isnan(figures.quantiles(replace(SOME, least=1e3), 0.5)).all()


@pytest.mark.parametrize(
    ("figure", "influence"),
    [
        (figures.means, figures.mean_influence),
        (figures.ginis, figures.gini_influence),
        (lambda g: figures.gaps(g, SIDE), lambda g: figures.gap_influence(g, SIDE)),
    ],
    ids=["mean", "gini", "gap"],
)
def test_an_influence_is_what_a_little_more_weight_changes(figure, influence):
    change, before = influence(SOME), figure(SOME)
    for record in range(0, 60, 7):
        more = replace(SOME, weights=SOME.weights + 1e-6 * (np.arange(60) == record))
        slope = (figure(more) - before)[SOME.group[record]] / 1e-6
        assert change[record] == pytest.approx(slope, rel=1e-4, abs=1e-8)


def test_a_table_of_counts_is_its_cells_with_the_counts_as_weights():
    counts = np.array([[2.0, 1, 5, -3], [0, 0.2, 0, 9]])
    g = Groups.of_table(counts, np.array([1.0, 4, np.nan, 7]), least=0.5)
    assert g.totals.tolist() == [3, 9.2] and figures.means(g) == pytest.approx([2, (0.8 + 63) / 9.2])
    few = Groups.of_table(counts[:, :3], np.array([1.0, 4, np.nan]), least=0.5)
    assert np.isnan(figures.means(few)).tolist() == [False, True]


def test_what_rows_explain_of_columns_lies_between_nothing_and_all():
    independent, certain = np.outer([2.0, 3], [1, 4]), np.diag([3.0, 5, 1])
    assert figures.explained(independent) == pytest.approx(0) and figures.explained(certain) == pytest.approx(1)
    assert np.isnan(figures.explained(np.zeros((2, 2)))) and np.isnan(figures.explained(np.array([[3.0, 0], [1, 0]])))
    table = RNG.uniform(1, 9, (3, 4))
    change = figures.explained_influence(table)
    for cell in np.ndindex(3, 4):
        more = table.copy()
        more[cell] += 1e-6
        slope = (figures.explained(more) - figures.explained(table)) / 1e-6
        assert change[cell] == pytest.approx(slope, rel=1e-4, abs=1e-7)
    assert not figures.explained_influence(np.zeros((2, 2))).any()
