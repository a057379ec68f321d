"""What probes teach about errors: least squares and a quantile, against plain loops."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.questions.answers.calibration import (
    INFERENCE,
    Z95,
    ErrorModel,
    Probes,
    coarse_count,
    dependence,
    folds,
    learn,
    left_out_probes,
    margins_of,
    merged_probes,
    without,
)
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.schema.domain import Domain


def probes(count, seed=0):
    rng = np.random.default_rng(seed)
    noise, sampling, reach = rng.uniform(1, 9, count), rng.uniform(0, 4, count), rng.uniform(0, 5, count)
    error = (noise + 1.3 * sampling + 0.7 * reach**2) * rng.chisquare(1, count)
    return Probes(error=error, noise=noise, sampling=sampling, reach=reach)


@pytest.mark.parametrize("count", [59, 60, 400])
def test_from_sixty_probes_on_the_part_of_dependence_and_the_factor_are_learnt(count):
    given = probes(count)
    model = learn(given, usual=2.5)
    if count < 60:
        assert (model.sampling, model.dependence, model.factor, model.learnt) == (1.3, 2.5, 1.25, 0)
        return
    middle = sorted(given.error)
    middle = (middle[count // 2 - 1] + middle[count // 2]) / 2
    top = bottom = 0.0
    for e, n, s, r in zip(given.error, given.noise, given.sampling, given.reach, strict=True):
        known = n + 1.3 * s
        weight = 1 / (known + middle + 1e-9) ** 2
        top += weight * r**2 * (e - known)
        bottom += weight * r**4
    assert model.dependence == pytest.approx(max(top / bottom, 0.0))
    wide = given.noise + 1.3 * given.sampling + model.dependence * given.reach**2
    ratio = np.sqrt(given.error / wide) / 1.959964
    assert model.factor == pytest.approx(max(np.quantile(ratio, 0.95), 1.0))
    assert (model.sampling, model.learnt) == (1.3, count)


def test_the_part_of_dependence_is_no_less_than_is_said_and_the_factor_no_less_than_one():
    small = probes(100)
    small = Probes(error=small.error * 1e-6, noise=small.noise, sampling=small.sampling, reach=small.reach)
    model = learn(small, least=0.4)
    assert (model.dependence, model.factor) == (0.4, 1.0)
    assert learn(small).dependence == 0.0
    nothing = Probes(error=np.ones(80), noise=np.zeros(80), sampling=np.zeros(80), reach=np.zeros(80))
    assert math.isfinite(learn(nothing).factor)


def test_probes_of_several_tables_are_one_list_and_none_are_none():
    joined = Probes.joined([probes(3), probes(4, seed=1)])
    assert joined.error.tolist() == [*probes(3).error, *probes(4, seed=1).error]
    assert joined.reach.tolist() == [*probes(3).reach, *probes(4, seed=1).reach]
    assert len(Probes.joined([]).noise) == 0
    assert INFERENCE.fewest_probes == 60


DOMAIN = Domain.of({"a": 4, "b": 6, "c": 1})


def drawn(seed, n=200):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, a.size, n) for a in DOMAIN.attributes]).astype(np.uint8)


def table(names, values, sigma=3.0, **recodes):
    maps = {n: Coarsening.of(m) for n, m in recodes.items()}
    return Measurement(attributes=names, values=np.asarray(values, dtype=float), sigma=sigma, recodes=maps)


def evidence(*tables, n=100):
    return Evidence(DOMAIN, list(tables), n_public=n)


class Counting:
    """A generator that keeps what it gave out."""

    def __init__(self, seed):
        self.rng, self.given = np.random.default_rng(seed), []

    def integers(self, low, high, size=None):
        self.given.append(self.rng.integers(low, high, size))
        return self.given[-1]

    def choice(self, axes):
        self.given.append(self.rng.choice(axes))
        return self.given[-1]


def runs(size, first, width):
    """Values of an axis in a run that may go on at the beginning."""
    return np.array([1.0 if (i - first) % size < width else 0.0 for i in range(size)])


def test_a_left_out_table_is_probed_by_interactions_of_runs_of_its_values():
    codes, rng = drawn(1), Counting(2)
    values = np.random.default_rng(3).poisson(5, (4, 6))
    held = evidence()
    found = left_out_probes(held, table(("a", "b"), values), codes, 0.25, rng=rng, probes=50)
    expected = np.zeros((4, 6))
    for a, b in zip(*codes[:2], strict=True):
        expected[a, b] += 100 / 200
    assert coarse_count(codes, held, table(("a", "b"), values)) == pytest.approx(expected)
    p, q = expected.sum(axis=1) / 100, expected.sum(axis=0) / 100
    (first, wide, second, tall) = rng.given
    assert [w.max() for w in (wide, tall)] == [1, 2] and wide.min() == tall.min() == 0
    for k in range(50):
        one, other = runs(4, first[k], 1 + wide[k]), runs(6, second[k], 1 + tall[k])
        w = np.outer(one - one @ p, other - other @ q)
        assert found.error[k] == pytest.approx(float((w * (values - expected)).sum()) ** 2)
        assert found.noise[k] == pytest.approx(9 * (w**2).sum())
        assert found.sampling[k] == pytest.approx((w**2 * expected).sum())
        assert found.reach[k] == pytest.approx(0.25 * (abs(w) * expected).sum() / 2)


def test_a_coarse_table_is_probed_by_how_neighbouring_values_split():
    codes, rng = drawn(4), Counting(5)
    halves = [0, 0, 1, 2, 2, 3]
    values = np.random.default_rng(6).poisson(9, (4, 4))
    measured = table(("a", "b"), values, b=halves)
    held = Evidence(DOMAIN, [], n_public=100, scores={("a", "b"): 60.0})
    found = merged_probes(held, measured, codes, rng=rng, probes=30)
    expected = np.zeros((4, 4))
    for a, b in zip(*codes[:2], strict=True):
        expected[a, halves[b]] += 0.5
    p, given = expected.sum(axis=0) / 100, iter(rng.given)
    for k in range(30):
        assert next(given) == 1, "b alone is coarse"
        at = int(next(given))
        split = np.zeros(4)
        split[at], split[at + 1] = p[at + 1] / (p[at] + p[at + 1]), -p[at] / (p[at] + p[at + 1])
        first, width = (int(x[0]) for x in (next(given), next(given)))
        w = np.outer(runs(4, first, 1 + width), split)
        assert found.error[k] == pytest.approx(float((w * values).sum()) ** 2)
        assert found.noise[k] == pytest.approx(9 * (w**2).sum())
        assert found.reach[k] == pytest.approx(max(dependence(expected), 0.6) * (abs(w) * expected).sum() / 2)
    for few in ([0, 0, 1, 1, 2, 2], [0] * 6):  # three coarse values are too few to merge two of them
        size = max(few) + 1
        none = merged_probes(held, table(("a", "b"), np.ones((4, size)), b=few), codes, rng=rng, probes=9)
        assert len(none.error) == 0


def test_dependence_is_how_far_a_table_is_from_its_independent_one():
    rng = np.random.default_rng(7)
    for shape in ((3, 4), (2, 3, 2), (5,)):
        counts = rng.poisson(3, shape).astype(float)
        total, far = counts.sum(), 0.0
        for cell in np.ndindex(shape):
            alone = np.prod([np.take(counts, cell[i], axis=i).sum() / total for i in range(len(shape))])
            far += abs(counts[cell] / total - alone)
        assert dependence(counts) == pytest.approx(far)
    assert dependence(np.zeros((2, 2))) == 0.0 == dependence(-np.ones((2, 2)))
    assert dependence(np.eye(2) * 0.2) == pytest.approx(1.0)
    first, second = margins_of(np.array([[4.0, -9.0], [3.0, 1.0]]))
    assert (first.tolist(), second.tolist()) == ([0.0, 1.0], [1.0, 0.0])
    assert [m.tolist() for m in margins_of(-np.ones((2, 4)))] == [[0.5] * 2, [0.25] * 4]


@pytest.mark.parametrize(("count", "parts"), [(0, 0), (1, 0), (2, 2), (4, 4), (9, 4)])
def test_measured_pairs_are_left_out_in_turn_each_once(count, parts):
    pairs = [("a", str(i)) for i in range(count)]
    found = folds(pairs, 4, rng=np.random.default_rng(8))
    assert len(found) == parts and sorted(p for some in found for p in some) == (sorted(pairs) if parts else [])
    assert not found or max(map(len, found)) - min(map(len, found)) <= 1
    tables = [table(names, np.ones((1,) * len(names))) for names in (("a",), ("a", "b"), ("a", "b", "c"), ("b", "c"))]
    assert [t.attributes for t in without(tables, [("a", "b")])] == [("a",), ("b", "c")]
    assert without(tables, []) == tables


def test_a_model_of_errors_widens_the_root_of_what_it_learnt():
    model = ErrorModel(sampling=1.5, dependence=0.5, factor=2.0)
    assert model.learnt == 0
    assert model.variance(np.array([2.0]), np.array([3.0])).tolist() == [4 * (1.5 * 2 + 0.5 * 9)]


def test_constants_are_those_that_coverage_was_measured_with():
    """Who changes one runs `python -m benchmarks.coverage` and `benchmarks.models` again."""
    measured = {
        "refits": 10, "folds": 4, "effort": 0.1, "exact_part": 0.8, "agreeing": 0.5, "probes": 24, "fewest_probes": 60,
        "usual_sampling": 1.3, "usual_dependence": 1.0, "usual_factor": 1.25, "least_dependence": 0.3,
        "usual_of_triples": 1.0, "bounded_wider": 1.3, "fewest_records": 10.0, "clear": 4.0, "fewest_refits": 5,
        "fewest_events": 3.0, "summed_wider": 1.2, "separated": 0.1,
    }  # fmt: skip
    assert asdict(INFERENCE) == measured
    assert INFERENCE.refits > INFERENCE.fewest_refits and INFERENCE.fewest_probes > 2 * INFERENCE.probes
    assert 1 / math.sqrt(2 * (INFERENCE.refits - 1)) < 0.25, "the spread of ten refits is known to a quarter"
    assert abs(math.erf(Z95 / math.sqrt(2)) - 0.95) < 1e-6
