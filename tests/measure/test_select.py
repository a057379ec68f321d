"""Scores have the stated sensitivity; selection takes what pays."""

import itertools
import math

import numpy as np
import pytest

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.search import Margins, excesses, search_sets
from dpsyn_core.measure.select import (
    GRID,
    added_noise,
    choose_sets,
    choose_tables,
    noise_error,
    score_sets,
    shares,
)
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain


class NoNoise:
    def gaussian(self, sigma, size):
        return np.zeros(size, dtype=np.int64)

    geometric = gaussian


def scored(codes, domain, expected, unit):
    cost = Cost(rho=1.0)
    gate = Gate(account=Account(cost), noise=NoNoise(), unit=unit)
    sets = domain.subsets(2)
    recodes = {"a": Coarsening.of([0, 0, 1])}
    scores, sigma = score_sets(
        MemoryCounter(codes, domain), sets, expected, [recodes] * len(sets), cost=cost, gate=gate, name="scores"
    )
    return scores, sigma, gate.account.charges[0]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("theta", [1, 3])
def test_an_individual_moves_the_scores_by_no_more_than_declared_and_the_worst_one_by_as_much(neighbours, theta):
    rng = np.random.default_rng(0)
    domain = Domain.of({"a": 3, "b": 2, "c": 4})
    expected = [rng.uniform(0, 9, s) for s in ((2, 2), (2, 4), (2, 4))]
    base = np.stack([rng.integers(0, s, 20) for s in (3, 2, 4)]).astype(np.uint8)
    unit = Unit(neighbours=neighbours, max_records=theta)
    people = [np.array(v, dtype=np.uint8).reshape(3, 1) for v in itertools.product(range(3), range(2), range(4))]
    worst1 = worst2 = 0.0
    reference = base if neighbours == "add-remove" else np.hstack([base, np.repeat(people[0], theta, axis=1)])
    first, sigma, charge = scored(reference, domain, expected, unit)
    for person in people:
        change, _, _ = scored(np.hstack([base, np.repeat(person, theta, axis=1)]), domain, expected, unit)
        worst1 = max(worst1, GRID * np.abs(change - first).sum())
        worst2 = max(worst2, GRID * float(np.linalg.norm(change - first)))
    assert worst2 <= charge.sensitivity
    assert worst1 <= GRID * unit.l1() * 3
    assert worst2 > 0.45 * charge.sensitivity  # the bound is not loose by design
    assert sigma == pytest.approx(charge.scale / GRID)


def test_scores_are_the_distance_to_what_is_expected():
    domain = Domain.of({"a": 3, "b": 2})
    codes = np.array([[0, 1, 2, 2], [0, 0, 1, 1]], dtype=np.uint8)
    scores, _, _ = scored(codes, domain, [np.ones((2, 2))], Unit())
    assert scores.tolist() == [4.0]  # counts ((2, 0), (0, 2)) against ones


def searched(codes, domain, unit, *, least):
    """Every answer of a search over all sets of three of five columns, without noise, its sensitivity, and its find."""
    cost = Cost(rho=1.0)
    gate = Gate(account=Account(cost), noise=NoNoise(), unit=unit)
    answers, release = [], gate.release
    gate.release = lambda *given, **named: answers.append(release(*given, **named)) or answers[-1]
    margins = [Margins(domain, domain.subsets(3), {}), Margins(domain, domain.subsets(4), {"a": Coarsening.of([0, 0])})]
    expected = [[np.full(shape, 0.7) for shape in m.shapes] for m in margins]
    sets = [s for m in margins for s in m.sets]
    found, asked = search_sets(
        lambda: excesses(MemoryCounter(codes, domain), margins, expected, np.arange(len(sets)) / 9), len(sets),
        cost=cost.scaled(1 / 100), least=least, most=100, gate=gate, name="largest",
    )  # fmt: skip
    assert asked == sum(a.values.size for a in answers)
    return answers, {sets[i]: x for i, x in found.items()}


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("theta", [1, 3])
def test_an_individual_moves_the_answers_of_a_search_by_no_more_than_declared(neighbours, theta):
    """By exhaustion: everybody who may join, or come in the place of the first, and every group of the search."""
    rng = np.random.default_rng(1)
    domain = Domain.of(dict.fromkeys("abcde", 2))
    base = rng.integers(0, 2, (5, 20)).astype(np.uint8)
    unit = Unit(neighbours=neighbours, max_records=theta)
    people = [np.repeat(np.array(v, np.uint8)[:, None], theta, axis=1) for v in itertools.product(range(2), repeat=5)]
    reference = base if neighbours == "add-remove" else np.hstack([base, people[0]])
    first = searched(reference, domain, unit, least=-np.inf)[0]
    worst = 0.0
    for person in people:
        for a, b in zip(first, searched(np.hstack([base, person]), domain, unit, least=-np.inf)[0], strict=True):
            moved = float(np.linalg.norm(a.values - b.values))
            assert moved <= b.charge.sensitivity
            worst = max(worst, moved / b.charge.sensitivity)
    assert worst > 0.4  # the bound is not loose by design


def test_margins_of_larger_tables_are_the_tables_of_the_sets():
    rng = np.random.default_rng(3)
    domain = Domain.of({name: 2 + i % 3 for i, name in enumerate("abcdefghi")})
    codes = np.stack([rng.integers(0, a.size, 300) for a in domain.attributes]).astype(np.uint8)
    counter, maps = MemoryCounter(codes, domain), {"c": Coarsening.of([1, 0, 1, 1])}
    for order in (3, 4, 6):
        margins = Margins(domain, domain.subsets(order), maps)
        assert max(margins.cells) <= 1 << 14
        exact = [300 * np.ones(s) - t for s, t in zip(margins.shapes, margins.counts(counter), strict=True)]
        distances = margins.distances([e.astype(np.int64) for e in exact])
        for shape, table, held in zip(margins.shapes, margins.tables, margins.held, strict=True):
            for i in held[:: order + 3]:
                names = margins.sets[i]
                less = math.prod(size for n, size in zip(table, shape, strict=True) if n not in names)
                assert distances[i] == np.abs(300 * less - counter.marginal(names, maps)).sum()


def test_a_search_finds_the_set_that_is_not_as_expected_with_few_answers():
    domain = Domain.of(dict.fromkeys("abcdefgh", 2))
    codes = np.random.default_rng(2).integers(0, 2, (8, 4_000)).astype(np.uint8)
    sets = domain.subsets(4)

    def search(codes):
        cost = Cost(rho=1e-3)
        gate = Gate(account=Account(cost), noise=NoNoise(), unit=Unit())
        margins = Margins(domain, sets, {})
        expected = [np.full(shape, 4_000 / np.prod(shape)) for shape in margins.shapes]
        found, asked = search_sets(
            lambda: excesses(MemoryCounter(codes, domain), [margins], [expected], np.zeros(len(sets))), len(sets),
            cost=cost.scaled(0.01), least=1_500.0, most=100, gate=gate, name="largest",
        )  # fmt: skip
        return [sets[i] for i in found], asked

    assert search(codes) == ([], 1)
    codes[6] = codes[1] ^ codes[3] ^ codes[4]
    found, asked = search(codes)
    assert found == [("b", "d", "e", "g")]
    assert asked <= 1 + 4 * 4  # of 70 sets


def test_shares_minimise_the_expected_error():
    cells = np.array([4.0, 100.0, 900.0])
    for pure in (False, True):
        best = shares(cells, pure=pure) / shares(cells, pure=pure).sum()

        def error(s, pure=pure):
            return (cells / (s if pure else np.sqrt(s))).sum()

        for i, j in itertools.permutations(range(3), 2):
            other = best.copy()
            other[i] += 0.01
            other[j] -= 0.01
            assert error(best) < error(other)


def test_the_noise_error_is_that_of_the_split():
    cells = np.array([10.0, 300.0])
    gauss, laplace = Cost(rho=0.3), Cost(epsilon=0.3)
    sigmas = [c.sigma(2.0) for c in gauss.split(list(shares(cells, pure=False)))]
    direct = sum(c * s * np.sqrt(2 / np.pi) for c, s in zip(cells, sigmas, strict=True))
    assert noise_error(shares(cells, pure=False).sum(), gauss, 2.0) == pytest.approx(direct)
    scales = [c.scale(2.0) for c in laplace.split(list(shares(cells, pure=True)))]
    direct = sum(c * b for c, b in zip(cells, scales, strict=True))
    assert noise_error(shares(cells, pure=True).sum(), laplace, 2.0) == pytest.approx(direct)


def test_selection_takes_strong_small_tables_first_and_nothing_from_noise():
    gains, cells = np.array([5_000.0, 5_000.0, 10.0]), np.array([10.0, 1_000.0, 10.0])
    assert choose_sets(gains, cells, cost=Cost(rho=0.01), sensitivity=1.0)[0] == 0
    assert 2 not in choose_sets(gains, cells, cost=Cost(rho=0.01), sensitivity=1.0)
    assert choose_sets(gains, cells, cost=Cost(rho=1e-9), sensitivity=1.0) == []
    assert sorted(choose_sets(gains, cells, cost=Cost(rho=1e6), sensitivity=1.0)) == [0, 1, 2]


def left_over(errors, cells, options, cost):
    picked = np.arange(len(options)), options
    used = cells[picked][cells[picked] > 0]
    return errors[picked].sum() + noise_error(float(shares(used, pure=cost.pure).sum()), cost, 1.0)


@pytest.mark.parametrize("cost", [Cost(rho=0.002), Cost(epsilon=0.05)])
@pytest.mark.parametrize("seed", range(5))
def test_the_tables_that_are_chosen_leave_nearly_the_least_error_of_all_choices(seed, cost):
    rng = np.random.default_rng(seed)
    whole = rng.uniform(1_000, 9_000, 5)
    errors = np.column_stack([whole, np.zeros(5), whole * rng.uniform(0.3, 0.9, 5)])
    cells = np.column_stack([np.zeros(5), rng.integers(40, 900, 5), rng.integers(4, 40, 5)]).astype(float)
    chosen = choose_tables(errors, cells, cost=cost, sensitivity=1.0)
    every = [left_over(errors, cells, np.array(o), cost) for o in itertools.product(range(3), repeat=5)]
    assert left_over(errors, cells, chosen, cost) <= 1.03 * min(every)
    assert min(every) < 0.99 * errors[:, 0].sum()  # something pays


def test_a_coarser_table_is_taken_where_the_usual_one_is_too_dear_and_not_where_it_is_ruled_out():
    cost = Cost(rho=0.0005)
    errors = np.array([[3_000.0, 0.0, 1_500.0]])
    cells = np.array([[0.0, 900.0, 16.0]])
    assert choose_tables(errors, cells, cost=cost, sensitivity=1.0).tolist() == [2]
    assert choose_tables(np.array([[3_000.0, 0.0, np.inf]]), cells, cost=cost, sensitivity=1.0).tolist() == [0]
    assert choose_tables(errors, np.array([[0.0, 900.0, np.inf]]), cost=cost, sensitivity=1.0).tolist() == [0]
    assert choose_tables(errors, cells, cost=cost.scaled(1e4), sensitivity=1.0).tolist() == [1]
    assert choose_tables(np.zeros((0, 3)), np.zeros((0, 3)), cost=cost, sensitivity=1.0).tolist() == []


def test_added_noise_is_the_difference_of_two_splits():
    for cost in (Cost(rho=0.3), Cost(epsilon=0.3)):
        parts = shares(np.array([10.0, 300.0, 40.0]), pure=cost.pure)
        more = noise_error(parts.sum(), cost, 2.0) - noise_error(parts[:2].sum(), cost, 2.0)
        assert added_noise(np.array([40.0]), parts[:2].sum(), cost, 2.0)[0] == pytest.approx(more)
