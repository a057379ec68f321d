"""PriView: its views, any marginal from them, and its records."""

import itertools

import numpy as np
import pytest

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.others.priview import choose_views
from dpsyn_core.systems.registry import configure
from tests.systems.harness import PlainCounter, SeededNoise, random_codes, run, task_for
from tests.systems.test_dpsyn import pairs_distance

BINARY = {f"a{i}": 2 for i in range(12)}
MIXED = {"a": 3, "b": 2, "c": 4, "d": 30, "e": 20}


def released(sizes, codes, *, settings=None, noise=None, epsilon=2.0):
    task = task_for("priview", sizes, codes.shape[1], epsilon=epsilon)
    system = configure("priview", settings or {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=noise or SeededNoise(1), unit=task.unit)
    return system, system.measure(PlainCounter(codes, task.domain), gate=gate)


def test_twelve_binary_attributes_need_three_views_of_eight():
    system, measured = released(BINARY, random_codes(BINARY, 200))
    assert [len(v) for v in system.views] == [8, 8, 8]
    assert [m.values.shape for m in measured.measured] == [(2,) * 8] * 3


def test_marginals_inside_a_view_are_exact_without_noise_and_others_are_close():
    codes = random_codes(BINARY, 5000)
    system, measured = released(BINARY, codes, noise=SeededNoise(scale=0.0))
    names = system.domain.names
    for query in (names[:2], names[2:5], (names[0], names[11]), (names[0], names[5], names[11]), names[3:9]):
        truth = np.zeros((2,) * len(query))
        np.add.at(truth, tuple(codes[system.domain.index(n)] for n in query), 1)
        got = system.marginal(measured, query)
        assert got.values.sum() == pytest.approx(5000)
        # neighbours depend on neighbours only, so that maximum entropy loses little where no view holds the query
        assert np.abs(got.values - truth).sum() / 10_000 < (1e-9 if got.covered else 0.05)


def test_any_marginal_beats_the_product_of_one_ways():
    codes = random_codes(BINARY, 20_000)
    system, measured = released(BINARY, codes, epsilon=5.0)
    query = system.domain.names[2:6]
    truth = np.zeros((2,) * 4)
    np.add.at(truth, tuple(codes[2:6]), 1)
    share = truth / truth.sum()
    ones = [share.sum(axis=tuple(j for j in range(4) if j != i)) for i in range(4)]
    independent = np.einsum("a,b,c,d->abcd", *ones)
    got = system.marginal(measured, query).values
    assert np.abs(got / got.sum() - share).sum() < 0.5 * np.abs(independent - share).sum()


def test_the_axes_of_a_marginal_follow_the_domain():
    system, measured = released(MIXED, random_codes(MIXED, 300))
    got = system.marginal(measured, ("d", "a"))
    assert got.attributes == ("a", "d")
    assert got.values.shape == (3, 30)


@pytest.mark.parametrize("settings", [{}, {"cover": 3, "view_cells": 1000}, {"update.nonnegativity": "norm_sub"}])
def test_records_keep_dependences_that_independent_loses(settings):
    codes = random_codes(MIXED, 4000)
    task = task_for("priview", MIXED, 4000, epsilon=5.0)
    ours, _, _ = run("priview", task, codes, settings=settings)
    baseline, _, _ = run("independent", task, codes)
    sizes = list(MIXED.values())
    assert pairs_distance(codes, ours, sizes) < 0.6 * pairs_distance(codes, baseline, sizes)


def test_triples_are_covered_when_asked():
    system = configure("priview", {"cover": 3}).calibrate(task_for("priview", BINARY, 10))
    covered = {s for v in system.views for s in itertools.combinations(v, 3)}
    assert covered == set(system.domain.subsets(3))


def test_views_above_the_cap_are_refused_with_another_method_named():
    with pytest.raises(SizeError, match="'privsyn'"):
        configure("priview", {"max_cells": 100}).calibrate(task_for("priview", MIXED, 10))


def exact(codes, system, names):
    out = np.zeros((2,) * len(names))
    np.add.at(out, tuple(codes[system.domain.index(n)] for n in names), 1)
    return out


@pytest.mark.parametrize("strategy", ["cover", "random", "direct", "fourier"])
def test_every_strategy_gives_pairs_exactly_without_noise(strategy):
    codes = random_codes(BINARY, 4000)
    settings = {"strategy": strategy, "view_seed": 4, "view_count": 9}
    system, measured = released(BINARY, codes, settings=settings, noise=SeededNoise(scale=0.0))
    held = [q for q in itertools.combinations(system.domain.names, 2) if any(set(q) <= set(v) for v in system.views)]
    assert len(held) == 66 or strategy == "random"
    for query in held[::7]:
        assert system.marginal(measured, query).values == pytest.approx(exact(codes, system, query), abs=1e-6)
    assert set().union(*system.views) == set(BINARY)


def test_the_baselines_pay_for_what_they_measure():
    """Of 12 attributes: three views, 66 pairs, or 79 coefficients in one release of sensitivity sqrt 79."""
    codes = random_codes(BINARY, 500)
    scale = {}
    for strategy, count in (("cover", 3), ("direct", 66), ("fourier", 1)):
        system, measured = released(BINARY, codes, settings={"strategy": strategy})
        assert len(system.cost.split([1.0] * len(system.views))) == (66 if strategy == "fourier" else count)
        scale[strategy] = measured.measured[0].sigma
    fourier = configure("priview", {"strategy": "fourier"}).calibrate(task_for("priview", BINARY, 500))
    assert (len(fourier.sets), fourier.l1, fourier.l2) == (79, 79.0, pytest.approx(79**0.5))
    # a cell of a pair: coefficients sqrt 79 over 2, and 66 tables sqrt 66
    assert scale["fourier"] / scale["direct"] == pytest.approx((79 / 66) ** 0.5 / 2, rel=1e-6)


@pytest.mark.parametrize(
    ("neighbours", "theta"), [("add-remove", 1), ("add-remove", 3), ("replace", 1), ("replace", 2)]
)
def test_neighbours_move_the_coefficients_by_at_most_what_is_charged(neighbours, theta):
    sizes = {"a": 2, "b": 2, "c": 2}
    system = configure("priview", {"strategy": "fourier", "cover": 3}).calibrate(
        task_for("priview", sizes, 9, neighbours=neighbours, theta=theta)
    )

    def coefficients(cells):
        out = []
        for s in system.sets:
            signs = np.prod([[1 - 2 * ((c >> i) & 1) for c in cells] for i in range(3) if "abc"[i] in s], axis=0)
            out.append(np.sum(signs * np.ones(len(cells))))
        return np.array(out)

    worst1 = worst2 = 0.0
    for come in range(8):
        for gone in range(8) if neighbours == "replace" else [None]:
            moved = theta * (coefficients([come]) - (coefficients([gone]) if gone is not None else 0))
            worst1, worst2 = max(worst1, np.abs(moved).sum()), max(worst2, np.sqrt((moved**2).sum()))
    assert worst1 <= system.l1 and worst2 <= system.l2
    if neighbours == "add-remove":
        assert (worst1, worst2) == (system.l1, pytest.approx(system.l2))  # attained


def test_direct_measures_the_marginals_that_are_asked_for():
    settings = {"strategy": "direct", "queries": "a0+a1+a2+a3, a5"}
    system, measured = released(BINARY, random_codes(BINARY, 800), settings=settings, noise=SeededNoise(scale=0.0))
    assert system.views == [("a0", "a1", "a2", "a3"), ("a5",)]
    assert system.marginal(measured, ("a5",)).covered


def test_views_are_chosen_by_the_budget_and_the_number_of_records():
    """More records, or more epsilon, make triples bearable; without either known nothing is guessed."""
    domain = task_for("priview", BINARY, 1).domain

    def choice(epsilon, n):
        return choose_views(domain, Budget(epsilon=epsilon, delta=1e-9), Unit(), n)

    small, large = choice(1.0, 20_000), choice(1.0, 2_000_000)
    assert (small.cover, large.cover) == (2, 3)
    assert small.noise > 0 and large.noise <= 0.003
    assert choice(1.0, 40_000).noise == pytest.approx(small.noise / 2)
    assert choice(100.0, 20_000).cover == 3
    task = task_for("priview", BINARY, 1)
    with pytest.raises(SettingError, match="about"):
        configure("priview", {"choose": True}).calibrate(task)
    system = configure("priview", {"choose": True, "about": 2_000_000}).calibrate(task)
    assert system.config.cover == 3 and max(len(v) for v in system.views) <= system.config.view_size


def test_fourier_refuses_attributes_that_are_not_binary():
    with pytest.raises(SettingError, match="two values"):
        configure("priview", {"strategy": "fourier"}).calibrate(task_for("priview", MIXED, 10))


@pytest.mark.parametrize("rule", ["least-norm", "linear-program"])
def test_other_reconstructions_can_be_asked_for(rule):
    codes = random_codes(BINARY, 6000)
    system, measured = released(BINARY, codes, settings={"reconstruction": rule, "view_size": 4}, epsilon=20.0)
    query = system.domain.names[3:8]
    got = system.marginal(measured, query)
    assert not got.covered and got.values.min() >= 0
    assert np.abs(got.values - exact(codes, system, query)).sum() < 6000


def test_coefficients_are_charged_without_delta_where_the_budget_has_none():
    settings = {"strategy": "fourier"}
    pure = configure("priview", settings).calibrate(task_for("priview", BINARY, 500, pure=True)).cost
    assert pure.pure and pure.epsilon == pytest.approx(2.0)
    assert not configure("priview", settings).calibrate(task_for("priview", BINARY, 500, pure=False)).cost.pure
