"""Grades and intervals against closed forms, and coverage on tables whose truth is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening, coarsen
from dpsyn_core.estimate.marginals.types import Measurement, Scores, redrawn
from dpsyn_core.questions.answers.calibration import INFERENCE, Probes, learn
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.fits import Fits
from dpsyn_core.questions.answers.functionals import count
from dpsyn_core.questions.answers.intervals import Inferrer, reaching
from dpsyn_core.questions.answers.quantities import Means, WeightedCounts
from dpsyn_core.schema.domain import Domain

DOMAIN = Domain.of({"a": 4, "b": 3, "c": 2})
MERGED = Coarsening.of([0, 0, 1, 1])


def table(names, values, sigma, **recodes):
    return Measurement(attributes=names, values=np.asarray(values, dtype=float), sigma=sigma, recodes=recodes)


def records(n=4000, seed=0):
    """a and b depend on each other; c is a coin."""
    rng = np.random.default_rng(seed)
    a = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    b = np.where(rng.random(n) < 0.5, a % 3, rng.integers(0, 3, n))
    return np.array([a, b, rng.integers(0, 2, n)], dtype=np.uint8)


def released(codes, rng, *, sigma=20.0, pairs=(("a", "b"),), recodes=None):
    maps = recodes or {}
    out = []
    for names in [("a",), ("b",), ("c",), *pairs]:
        exact = count(codes, DOMAIN, names)
        used = {n: r for n, r in maps.items() if n in names and len(names) > 1}
        if used:
            exact = coarsen(exact, names, used)
        out.append(table(names, exact + rng.normal(0, sigma, exact.shape), sigma, **used))
    return out


def noisy_copy(measured, rng):
    """A stand-in for record synthesis: records of the joint table of a and b, with c by its own one-way."""
    pair = next((m for m in measured if m.attributes == ("a", "b") and not m.recodes), None)
    ones = {m.attributes[0]: np.maximum(m.values, 0) for m in measured if len(m.attributes) == 1}
    cells = np.outer(ones["a"], ones["b"]) / ones["b"].sum() if pair is None else np.maximum(pair.values, 0)
    flat = np.repeat(np.arange(cells.size), np.round(cells).astype(int).ravel())
    a, b = np.unravel_index(flat, cells.shape)
    c = rng.permutation(np.arange(len(a)) < len(a) * ones["c"][1] / ones["c"].sum())
    return np.array([a, b, c], dtype=np.uint8)


def inferrer(measured, *, scores=None, refit=noisy_copy, pure=False):
    evidence = Evidence(DOMAIN, measured, n_public=None, scores=scores, pure=pure)
    codes = noisy_copy(measured, np.random.default_rng(5))
    return Inferrer(evidence, Fits(codes, measured, refit, pure=pure), rng=np.random.default_rng(6))


def cells(names, **chosen):
    weights = np.zeros((1, *DOMAIN.shape(names)))
    weights[(0, *(chosen.get(n, slice(None)) for n in names))] = 1
    return WeightedCounts(attributes=names, weights=weights, floor=0.0)


def test_a_count_of_one_column_is_that_of_its_noisy_cells_with_their_known_noise():
    measured = [table(("a",), [10, 20, 30, 40], 3.0), table(("b",), [50, 30, 20], 3.0), table(("c",), [60, 40], 3.0)]
    got = inferrer(measured).infer(cells(("a",), a=slice(0, 2)))
    half = 1.959964 * 3 * 2**0.5
    assert (got.estimate[0], got.low[0], got.high[0]) == pytest.approx((30, 30 - half, 30 + half), abs=1e-4)
    assert got.grades == ["exact"]
    assert (got.released[0], got.noise[0]) == pytest.approx((30, 3 * 2**0.5))


def test_a_column_also_learns_from_tables_of_two_by_inverse_variance():
    measured = [table(("a",), [10, 20, 30, 40], 3.0), table(("b",), [50, 30, 20], 3.0), table(("c",), [60, 40], 3.0)]
    measured.append(table(("a", "b"), np.full((4, 3), 8.0), 2.0))
    got = inferrer(measured).infer(cells(("a",), a=0))
    variance = 1 / (1 / 9 + 1 / 12)
    assert (got.released[0], got.noise[0]) == pytest.approx((variance * (10 / 9 + 24 / 12), variance**0.5))


def test_pure_noise_has_wider_tails_than_normal_noise_of_the_same_deviation():
    measured = [table(("a",), [10, 20, 30, 40], 3.0), table(("b",), [50, 30, 20], 3.0), table(("c",), [60, 40], 3.0)]
    one, four = cells(("a",), a=0), cells(("a",))
    got = inferrer(measured, pure=True)
    # two-sided Laplace with deviation 3: 95 % lies within 3 ln(20) / sqrt(2)
    wide = (got.infer(one).high - got.infer(one).low)[0] / 2
    assert wide >= 3 * np.log(20) / 2**0.5
    assert wide < 1.1 * 3 * np.log(20) / 2**0.5
    assert (got.infer(four).high - got.infer(four).estimate)[0] < 1.1 * 1.96 * 6


@pytest.mark.parametrize(
    ("names", "pairs", "scores", "recodes", "grade"),
    [
        (("a", "b"), [("a", "b")], {}, {}, "exact"),
        (("a", "b"), [("a", "b")], {}, {"a": MERGED}, "estimated"),
        (("a", "b", "c"), [("a", "b"), ("a", "c"), ("b", "c")], {}, {}, "estimated"),
        (("b", "c"), [("a", "b")], {("b", "c"): 50.0}, {}, "bounded"),
        (("b", "c"), [("a", "b")], {}, {}, "none"),
        (("a", "b", "c"), [("a", "b"), ("a", "c")], {}, {}, "none"),
    ],
)
def test_a_grade_says_what_an_interval_rests_on(names, pairs, scores, recodes, grade):
    measured = released(records(), np.random.default_rng(1), pairs=pairs, recodes=recodes)
    got = inferrer(measured, scores=scores).infer(cells(names, **dict.fromkeys(names, 0)))
    assert got.grades == [grade]
    assert np.isfinite(got.estimate[0]) and np.isfinite(got.low[0]) == (grade != "none")


def test_a_table_that_merges_all_values_of_a_column_does_not_hold_it():
    measured = released(records(), np.random.default_rng(1), pairs=[])
    measured.append(table(("a", "b"), [[3000.0, 500.0, 500.0]], 1.0, a=Coarsening.of([0] * 4)))
    assert inferrer(measured).infer(cells(("a", "b"), a=0, b=0)).grades == ["none"]


def test_a_coarse_table_is_exact_for_what_follows_its_coarse_values():
    measured = released(records(), np.random.default_rng(1), recodes={"a": MERGED})
    assert inferrer(measured).infer(cells(("a", "b"), a=slice(0, 2), b=0)).grades == ["exact"]


def test_without_refits_an_exact_answer_is_that_of_the_noisy_cells():
    measured = released(records(), np.random.default_rng(1))
    got = inferrer(measured, refit=None).infer(cells(("a", "b"), a=0, b=0))
    assert got.grades == ["exact"]
    assert (got.estimate[0], got.high[0]) == pytest.approx((got.released[0], got.released[0] + 1.959964 * 20))
    assert inferrer(measured, refit=None, scores={("b", "c"): 0.0}).infer(cells(("b", "c"), b=0)).grades == ["none"]


def test_where_a_fit_agrees_with_noisy_cells_its_interval_is_somewhat_narrower_than_theirs():
    alone, agreeing, apart = (
        inferrer(released(records(), np.random.default_rng(1)))._reaching(np.zeros(1), np.array([x]), np.ones(1))[0]
        for x in (0.0, 0.4, 2.0)
    )
    assert 0.5 <= alone == agreeing < 1.0 < apart


def test_the_population_is_known_less_well_than_the_table():
    got = inferrer(released(records(), np.random.default_rng(1)))
    table_, population = (got.infer(cells(("a",), a=0), truth=t) for t in ("table", "population"))
    extra = ((population.high - population.low) ** 2 - (table_.high - table_.low) ** 2) / 4
    share = (records()[0] == 0).mean()
    assert extra[0] == pytest.approx(1.96**2 * 4000 * share * (1 - share), rel=0.1)


def test_intervals_of_measured_cells_and_means_cover_the_real_ones():
    """About 240 answers of 20 releases; 95 % nominal, of which 90 % leaves more than four standard deviations."""
    codes = records()
    exact = count(codes, DOMAIN, ("a", "b"))
    numbers = np.array([0.0, 1.0, 2.0, 5.0])
    held = []
    for i in range(20):
        got = inferrer(released(codes, np.random.default_rng(100 + i)))
        for a in range(4):
            found = got.infer(cells(("a", "b"), a=a, b=1))
            held.append(found.low[0] <= exact[a, 1] <= found.high[0])
        means = Means(attributes=("a", "b"), axis=0, numbers=numbers)
        found = got.infer(means)
        held += ((found.low <= means.values(exact)) & (means.values(exact) <= found.high)).tolist()
    assert len(held) == 140
    assert np.mean(held) > 0.88


def test_an_interval_reaches_the_released_cells_that_a_smoothing_fit_leaves():
    codes = records()
    measured = released(codes, np.random.default_rng(1))
    evidence = Evidence(DOMAIN, measured, n_public=None)

    def without_pairs(tables, rng):
        return noisy_copy([m for m in tables if len(m.attributes) == 1], rng)

    fits = Fits(without_pairs(measured, np.random.default_rng(5)), measured, without_pairs, pure=False)
    got = Inferrer(evidence, fits, rng=np.random.default_rng(6)).infer(cells(("a", "b"), a=3, b=0))
    real = count(codes, DOMAIN, ("a", "b"))[3, 0]
    assert abs(got.estimate[0] - real) > 2 * 1.96 * 20  # the fit knows of no dependence
    assert got.low[0] <= real <= got.high[0]


def test_a_range_inside_a_run_of_values_that_were_counted_together_is_estimated():
    measured = released(records(), np.random.default_rng(1))
    runs = table(("a",), [2800, 1200], 20.0, a=MERGED)
    asked = inferrer([runs, *measured[1:3]])
    whole, part = asked.infer(cells(("a",), a=slice(0, 2))), asked.infer(cells(("a",), a=0))
    assert (whole.grades, part.grades) == (["exact"], ["estimated"])
    real = (records()[0] == 0).sum()
    assert part.low[0] <= real <= part.high[0]
    assert part.high[0] - part.low[0] > whole.high[0] - whole.low[0]


def test_a_mean_of_a_handful_of_records_gets_no_interval():
    measured = [table(("a",), [4000, 900, 50, 50], 1.0), table(("b",), [4900, 96, 4], 1.0)]
    measured += [
        table(("c",), [2500, 2500], 1.0),
        table(("a", "b"), [[3950, 46, 4], [870, 30, 0], [40, 10, 0], [40, 10, 0]], 1.0),
    ]
    means = Means(attributes=("a", "b"), axis=0, numbers=np.array([0.0, 1.0, 2.0, 5.0]))
    assert inferrer(measured).infer(means).grades == ["exact", "exact", "none"]


def test_a_pair_that_nothing_measured_is_covered_by_what_its_score_bounds():
    codes = records()
    exact = count(codes, DOMAIN, ("a", "b"))
    score = np.abs(exact - np.outer(exact.sum(axis=1), exact.sum(axis=0)) / exact.sum()).sum()
    held = []
    for i in range(10):
        got = inferrer(released(codes, np.random.default_rng(i), pairs=[("a", "c")]), scores={("a", "b"): score})
        for a in range(4):
            for b in range(3):
                found = got.infer(cells(("a", "b"), a=a, b=b))
                assert found.grades == ["bounded"]
                held.append(found.low[0] <= exact[a, b] <= found.high[0])
    assert np.mean(held) > 0.85


def test_noise_that_is_drawn_again_has_the_deviation_of_the_released_one():
    many = [table(("a",), np.zeros(4), 7.0)] * 2000
    for pure in (False, True):
        drawn = np.stack([m.values for m in redrawn(many, pure=pure, rng=np.random.default_rng(0))])
        assert drawn.std() == pytest.approx(7.0, rel=0.05)


def test_what_probes_vary_by_is_learnt_as_a_part_of_their_reach_times_dependence():
    rng = np.random.default_rng(0)
    sampling, reach, noise = rng.uniform(10, 100, 4000), rng.uniform(0, 60, 4000), np.full(4000, 5.0)
    a = INFERENCE.usual_sampling
    error = rng.normal(0, np.sqrt(a * sampling + 0.5 * reach**2 + noise)) ** 2
    found = learn(Probes(error=error, noise=noise, sampling=sampling, reach=reach))
    assert (found.sampling, found.learnt) == (a, 4000)
    assert found.dependence == pytest.approx(0.5, rel=0.15)
    assert found.factor == pytest.approx(1, abs=0.06)
    assert learn(Probes.joined([])).learnt == 0


def test_scores_bound_a_dependence_from_above():
    found = Scores(sets=(("a", "b"), ("a", "c")), values=np.array([-3.0, 10.0]), sigma=2.0)
    assert found.bounds() == {("a", "b"): 4.0, ("a", "c"): 14.0}
    assert found.bounds(0) == {("a", "b"): 0.0, ("a", "c"): 10.0}


@pytest.mark.parametrize("apart", [0.0, 1.0, 30.0])
def test_a_figure_inside_a_coarse_table_is_as_sure_as_its_cells_and_what_lies_inside_them(apart):
    """By hand: two cells that are asked together, whose noise has the variance 9, and a fit that is `apart` from it."""
    table, z, t = np.array([[4.0, 6.0], [1.0, 2.0]]), 2.0, 3.0
    weights = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    read = SimpleNamespace(
        cells=np.array([4.0]), variance=np.array([9.0]), values=np.array([5.0 + apart]), weights=weights
    )
    inferrer = SimpleNamespace(
        evidence=SimpleNamespace(read=lambda m, batch, margins: read), margins={}, _z=lambda z, cells: z * cells / 4,
        _reaching=lambda spread, off, exact: reaching(np.maximum(spread, 0.5 * exact), off, exact, agreeing=1.0),
        _inside=lambda m, batch, table: np.array([7.0]),
    )  # fmt: skip
    batch = SimpleNamespace(attributes=("a", "b"), weights=weights)
    m = SimpleNamespace(recodes={})
    for spread in (0.0, 2.0):
        found = Inferrer._within(inferrer, m, batch, table, np.array([spread]), z, t)
        exact = z * 3.0
        half = max(t * spread, 0.5 * exact)
        half += min(2 * max(apart - exact, 0.0), apart)
        assert found == pytest.approx([half**2 + z**2 * 7.0])
