"""Four million system draws fit their own scale, and fit no scale 1 % away.

False alarms: each statistic below is refused with probability 1e-7 under the right scale, and with less under a
scale 1 % away. One million would separate the Gaussian scales, but the chi-square of the geometric ones only by
3 standard deviations (its noncentrality is draws x 1e-4), so four are drawn.
"""

import inspect
import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import chi2

from dpsyn_core.privacy.noise.stream import SystemBits
from dpsyn_core.privacy.noise.system import SystemNoise

pytestmark = pytest.mark.chance("samplers")

DRAWS = 4_000_000
ALARM = 1e-7
NORMAL_ALARM = 5.33  # two-sided standard normal quantile at 1e-7


def gaussian_at_least(k, scale):
    return np.exp(log_ndtr(-(np.asarray(k) - 0.5) / scale))


def geometric_at_least(k, scale):
    """P(Z >= k), any integer k."""
    a = math.exp(-1 / scale)
    k = np.asarray(k, dtype=float)
    return np.where(k > 0, a ** np.maximum(k, 0) / (1 + a), 1 - a ** np.maximum(1 - k, 0) / (1 + a))


AT_LEAST = {"gaussian": gaussian_at_least, "geometric": geometric_at_least}


def variance_of(kind, scale):
    if kind == "gaussian":
        return scale**2 + 1 / 12  # exact to 1e-80 at scale 10: the rounding's aliasing term is exp(-2 pi^2 scale^2)
    a = math.exp(-1 / scale)
    return 2 * a / (1 - a) ** 2


def chi_square(draws, kind, scale):
    """P-value against the law at this scale over at most 18 cells, each expecting at least 4000 draws."""
    edges = np.unique(np.rint(np.linspace(-3, 3, 17) * scale).astype(np.int64))
    above = np.concatenate([[1.0], AT_LEAST[kind](edges, scale), [0.0]])
    expected = DRAWS * -np.diff(above)
    counts = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), len(edges))


def variance_score(draws, kind, scale):
    """Standard score of the mean of squares (the mean is known to be 0)."""
    squares = draws.astype(float) ** 2
    return (squares.mean() - variance_of(kind, scale)) / (squares.std() / math.sqrt(DRAWS))


@pytest.fixture(scope="module")
def drawn():
    noise = SystemNoise()
    return {
        (kind, scale): getattr(noise, kind)(scale, DRAWS)
        for kind, scales in {"gaussian": (1.3, 10.0, 1e5), "geometric": (1.3, 10.0, 1e5)}.items()
        for scale in scales
    }


CASES = [(k, s) for k in ("gaussian", "geometric") for s in (1.3, 10.0, 1e5)]


@pytest.mark.parametrize(("kind", "scale"), CASES)
def test_four_million_draws_fit_their_own_scale(drawn, kind, scale):
    z = drawn[kind, scale]
    assert z.dtype == np.int64
    assert chi_square(z, kind, scale) > ALARM
    assert abs(variance_score(z, kind, scale)) < NORMAL_ALARM
    assert abs(z.mean()) < NORMAL_ALARM * math.sqrt(variance_of(kind, scale) / DRAWS)


@pytest.mark.parametrize(("kind", "scale"), CASES)
@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_four_million_draws_fit_no_scale_one_percent_away(drawn, kind, scale, factor):
    z = drawn[kind, scale]
    assert abs(variance_score(z, kind, scale * factor)) > NORMAL_ALARM
    assert chi_square(z, kind, scale * factor) < ALARM


def test_tails_and_neighbouring_draws_are_as_independent_draws_are(drawn):
    z = drawn["gaussian", 10.0]
    beyond = int((np.abs(z) >= 40).sum())
    expected = 2 * DRAWS * float(gaussian_at_least(40, 10.0))
    assert abs(beyond - expected) < NORMAL_ALARM * math.sqrt(expected) + 10
    lagged = float((z[1:] * z[:-1]).mean()) / variance_of("gaussian", 10.0) * math.sqrt(DRAWS)
    assert abs(lagged) < NORMAL_ALARM


def test_two_sources_differ_and_none_takes_a_seed():
    assert not np.array_equal(SystemNoise().gaussian(10.0, 100), SystemNoise().gaussian(10.0, 100))
    assert list(inspect.signature(SystemNoise).parameters) == []
    assert list(inspect.signature(SystemBits).parameters) == []


def test_global_seeds_change_nothing():
    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        draws.append(SystemNoise().geometric(10.0, 100))
    assert not np.array_equal(*draws)
