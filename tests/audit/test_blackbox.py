"""The black-box attacker proves no more than is true, and catches gross leaks; the long run is `make audit`."""

import math

import numpy as np
import pytest

from tests.audit import mutants
from tests.audit.blackbox import lower_bound, t4
from tests.audit.gates import Alarm

pytestmark = pytest.mark.chance("T4")


def test_the_bound_stays_below_the_true_epsilon_of_randomised_response_and_comes_close():
    rng = np.random.default_rng(0)
    for epsilon in (0.5, 2.0):
        p = 1 / (1 + math.exp(-epsilon))
        left, right = (rng.random((40_000, 1)) > p).astype(float), (rng.random((40_000, 1)) < p).astype(float)
        assert 0.85 * epsilon < lower_bound(left, right, 0.0, 1e-4) <= epsilon


def test_equal_sides_prove_nothing_and_disjoint_sides_prove_much():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(4000, 5))
    assert lower_bound(noise[:2000], noise[2000:], 0.0, 1e-4) == 0
    assert lower_bound(noise[:2000], noise[2000:] + 50, 0.0, 1e-4) > 4


@pytest.mark.slow
def test_t4_proves_no_leak_in_a_short_run():
    assert max(b.lower for b in t4("independent", runs=2400)) <= 1.0


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("the output has exactly as many records as the table", "independent"),
        pytest.param("empty cells get no noise", "independent", marks=pytest.mark.slow),
    ],
)
def test_t4_catches_gross_leaks_from_the_records_alone(name, system):
    (mutant,) = [m for m in mutants.MUTANTS if m.name == name]
    with mutant.plant(), pytest.raises(Alarm):
        t4(system, runs=3600)
