"""What probes teach about errors: least squares and a quantile, against plain loops."""

import math

import numpy as np
import pytest

from dpsyn_core.questions.answers.calibration import INFERENCE, Probes, learn


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
