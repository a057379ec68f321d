"""PriView: its views, any marginal from them, and its records."""

import itertools

import numpy as np
import pytest

from dpsyn_core.errors import SizeError
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.synthesizers.registry import configure
from tests.synthesizers.harness import PlainCounter, SeededNoise, random_codes, run, task_for
from tests.synthesizers.test_dpsyn import pairs_distance

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


@pytest.mark.parametrize("settings", [{}, {"cover": 3, "view_cells": 1000}, {"nonnegativity": "norm_sub"}])
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
