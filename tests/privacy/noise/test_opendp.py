"""The samplers beside OpenDP's: the same law where the laws are the same.

OpenDP draws 50,000 in about a second, too slow for a million in the suite.
Its discrete Gaussian is not our rounded one, but at sigma 30 their variances differ by one part in ten thousand,
which 100,000 draws cannot see. False alarms: 1e-7 each.
"""

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import chi2

from dpsyn_core.privacy.noise.system import SystemNoise

pytestmark = pytest.mark.chance("samplers")

DRAWS = 50_000
SCALE = 30.0


def theirs(kind):
    dp.enable_features("contrib")
    vector = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "gaussian":
        mechanism = dp.m.make_gaussian(vector, dp.l2_distance(T="f64"), scale=SCALE)
    else:
        mechanism = dp.m.make_laplace(vector, dp.l1_distance(T="i64"), scale=SCALE)
    return np.array(mechanism([0] * DRAWS))


@pytest.mark.parametrize("kind", ["gaussian", "geometric"])
def test_two_samples_have_the_same_law(kind):
    a, b = theirs(kind), getattr(SystemNoise(), kind)(SCALE, DRAWS)
    edges = np.unique(np.rint(np.linspace(-2.5, 2.5, 31) * SCALE).astype(int))

    def statistic(a, b):
        left, right = (np.bincount(np.searchsorted(edges, z, side="right"), minlength=edges.size + 1) for z in (a, b))
        return chi2.sf(((left - right) ** 2 / (left + right)).sum(), edges.size)

    assert statistic(a, b) > 1e-7
    assert statistic(a, np.rint(b * 1.1).astype(int)) < 1e-7
