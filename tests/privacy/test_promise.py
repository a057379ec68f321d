"""For every registered system: the manifest's epsilon, composed again by other means, is what was promised."""

import itertools
import math
from fractions import Fraction

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.privacy.manifest.statement import Booking
from dpsyn_core.systems.registry import config_class, names
from tests.privacy.facts import facts
from tests.systems.harness import random_codes, run, task_for
from tests.systems.test_contract import MINI

SIZES = {"a": 3, "b": 2, "c": 4}
N = 40


def supported():
    for name in names():
        g = config_class(name).guarantee
        kinds = [pure for pure, offered in ((True, g.pure), (False, g.approximate)) if offered]
        yield from itertools.product([name], g.neighbours, kinds, (1,) if g.one_record else (1, 3))


def gaussian_epsilon(records, delta):
    """Exact trade-off of Gaussian noise at 60 digits, solved for epsilon."""
    with mpmath.workdps(60):
        mu = mpmath.sqrt(mpmath.fsum((mpmath.mpf(r.sensitivity) / mpmath.mpf(r.sigma)) ** 2 for r in records))

        def upper(z):
            return mpmath.erfc(z / mpmath.sqrt(2)) / 2

        low, high = mpmath.mpf(0), mpmath.mpf(100)
        for _ in range(120):
            e = (low + high) / 2
            got = upper(e / mu - mu / 2) - mpmath.exp(e) * upper(e / mu + mu / 2)
            low, high = (e, high) if got > delta else (low, e)
        return float(high)


def independent_epsilon(manifest):
    """Gaussian: exact; pure: a sum of fractions; samples: by dp_accounting; mixed: zCDP events composed by it."""
    records = manifest.charges
    kinds = {r.mechanism for r in records}
    if "sampled-gaussian" in kinds:
        return sampled_epsilon(records, manifest.delta)
    if kinds == {"gaussian"}:
        return gaussian_epsilon(records, manifest.delta)
    if manifest.delta == 0 or not kinds & {"gaussian", "sampled-gaussian"}:
        parts = [
            Fraction(r.sensitivity) / Fraction(r.scale) if r.mechanism == "geometric" else Fraction(r.epsilon)
            for r in records
        ]
        return float(sum(parts))
    left = manifest.delta - math.fsum(r.delta for r in records)
    _, order = composed(records, np.geomspace(1e-2, 1e3, 100) + 1).get_epsilon_and_optimal_order(left)
    return composed(records, np.geomspace(0.9, 1.11, 4000) * (order - 1) + 1).get_epsilon(left)


def sampled_epsilon(records, delta):
    """Whole steps by privacy-loss distributions; under replace, which dp_accounting lacks, all else as in a removal."""
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    for r in records:
        if r.mechanism == "gaussian":
            accountant.compose(dp_accounting.GaussianDpEvent(r.sigma / r.sensitivity))
            continue
        theta = r.records
        shares = [math.comb(theta, j) * r.sampling**j * (1 - r.sampling) ** (theta - j) for j in range(theta + 1)]
        step = dp_event.MixtureOfGaussiansDpEvent(r.sigma / r.sensitivity, list(range(theta + 1)), shares)
        accountant.compose(step, r.steps)
    return accountant.get_epsilon(delta)


def composed(records, orders):
    accountant = RdpAccountant(orders.tolist())
    for r in records:
        if r.mechanism == "gaussian":
            accountant.compose(dp_accounting.GaussianDpEvent(r.sigma / r.sensitivity))
        elif r.mechanism == "exponential":
            accountant.compose(dp_accounting.ZCDpEvent(r.epsilon**2 / 8))
        else:
            accountant.compose(dp_accounting.ZCDpEvent(r.epsilon**2 / 2))
    return accountant


QUICK = {"rls", "dpsyn", "mst", "privbayes", "independent"}  # both kinds of noise, selection, many charges, few


def cases():
    """Every system, unit and kind of privacy; those beyond a few systems in complete runs only."""
    for case in supported():
        yield pytest.param(*case, marks=() if case[0] in QUICK else pytest.mark.slow)


@pytest.mark.parametrize(("name", "neighbours", "pure", "theta"), list(cases()))
def test_the_manifests_epsilon_is_recomputed_independently(name, neighbours, pure, theta):
    task = task_for(name, SIZES, N, neighbours=neighbours, theta=theta, pure=pure)
    out, gate, _ = run(name, task, random_codes(SIZES, N), settings=MINI.get(name))
    manifest = Manifest.build(
        budget=task.budget,
        unit=task.unit,
        charges=gate.account.charges,
        method=name,
        settings={},
        n_records=out.shape[1],
        booking=Booking("toy", "r"),
        facts=facts(),
        seed=0,
        seconds=0.0,
    )
    truth = independent_epsilon(manifest)
    assert truth <= task.budget.epsilon * (1 + 1e-7)  # the grid of orders costs some 1e-8
    exchanged = any(r.exchanged for r in manifest.charges)
    assert truth >= (0.5 if exchanged else 0.9) * task.budget.epsilon, "budget is left unused"
    if any(r.mechanism == "sampled-gaussian" for r in manifest.charges):
        assert manifest.recomputed_epsilon() <= task.budget.epsilon * (1 + 1e-11)
        assert exchanged or manifest.recomputed_epsilon() == pytest.approx(
            truth, rel=0.1
        )  # three steps are no Gaussian yet
        return
    assert manifest.recomputed_epsilon() <= task.budget.epsilon * (1 + 1e-11)
    if all(r.mechanism == "gaussian" for r in manifest.charges):
        assert manifest.recomputed_epsilon() == pytest.approx(truth, rel=1e-9)
        assert manifest.mu == pytest.approx(math.sqrt(sum((r.sensitivity / r.sigma) ** 2 for r in manifest.charges)))
    elif manifest.delta == 0:
        assert manifest.recomputed_epsilon() == pytest.approx(truth, rel=1e-12)
    else:
        assert manifest.recomputed_epsilon() <= truth * (1 + 1e-3)
