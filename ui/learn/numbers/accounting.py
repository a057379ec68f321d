"""One noise in the words of every variant of the promise, the same promise over years, and noise against records.

Lab 23: pure, approximate, zero-concentrated, Renyi and Gaussian differential privacy of one Gaussian noise.

Source: Bun, Steinke 2016; Mironov 2017; Canonne, Kamath, Steinke 2020; Dong, Roth, Su 2022.

Lab 24: a release every year. Lab 27: error of a table against the number of records.

Source: Dwork, Rothblum, Vadhan 2010; expected error as in evaluate/noise_error; Li, Zhang, Wang 2021, section 6.1, for
the number of marginals at a constant error.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy import Budget

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Variants:
    """One Gaussian noise on `times` counts. mu: of Gaussian DP. rho: of zCDP.

    exact, tight, standard, each: epsilon at delta, by the exact curve, by the best conversion of zCDP, by its textbook
    conversion rho + 2 sqrt(rho ln(1/delta)), and by adding up each count's exact epsilon at delta / times.
    """

    mu: float
    rho: float
    exact: float
    tight: float
    standard: float
    each: float


def variants(sigma: float, times: int, delta: float) -> Variants:
    """What the noise promises. sigma: standard deviation, in people; each person is in every count once."""
    from dpsyn_core.privacy import gdp_epsilon, zcdp_epsilon  # scipy is heavy

    mu = math.sqrt(times) / sigma
    rho = mu**2 / 2
    exact, each = gdp_epsilon(mu, delta), times * gdp_epsilon(1 / sigma, delta / times)
    tight, standard = zcdp_epsilon(rho, delta), rho + 2 * math.sqrt(rho * math.log(1 / delta))
    return Variants(mu=mu, rho=rho, exact=exact, tight=tight, standard=standard, each=each)


def renyi(mu: float, orders: Floats) -> Floats:
    """Renyi divergence of each order: order mu^2 / 2, a straight line of slope rho."""
    return orders * mu**2 / 2


def yearly(epsilon: float, delta: float, years: int) -> tuple[Floats, Floats]:
    """Epsilon after 1 to `years` releases of this epsilon: added up, and by exact composition of Gaussian noise.

    Both at the same delta; adding up also adds the deltas, which is left out in its favour.
    """
    from dpsyn_core.privacy import gdp_epsilon, gdp_mu  # scipy is heavy

    t = np.arange(1, years + 1, dtype=np.float64)
    mu = gdp_mu(epsilon, delta)
    return epsilon * t, np.array([gdp_epsilon(mu * math.sqrt(x), delta) for x in t])


def yearly_budget(whole: float, delta: float, years: int) -> float:
    """Epsilon a year that costs `whole` after so many years, by exact composition."""
    from dpsyn_core.privacy import gdp_epsilon, gdp_mu  # scipy is heavy

    return gdp_epsilon(gdp_mu(whole, delta) / math.sqrt(years), delta)


def noise_error(records: Sequence[float] | Floats, cells: int, tables: int, epsilon: float, delta: float) -> Floats:
    """Expected TVD that noise gives each of some tables, by the number of records; at most 1."""
    from dpsyn_core.evaluate import expected_tvd  # scipy is heavy

    sigma = Budget(epsilon=epsilon, delta=delta).gaussian().sigma(math.sqrt(tables))
    return np.array([expected_tvd(cells, sigma, n) for n in records])


def sample_error(records: Sequence[float] | Floats, cells: int) -> Floats:
    """Expected TVD of a fresh sample whose cells are equally likely: half the sum of E|count / n - 1 / cells|."""
    p = 1 / cells
    n = np.asarray(records, dtype=np.float64)
    return np.minimum(1.0, cells * np.sqrt(2 / np.pi * p * (1 - p) / n) / 2)


def records_where_noise_is_chance(cells: int, tables: int, epsilon: float, delta: float) -> float:
    """Number of records at which noise and a fresh sample give a table the same error; above it noise gives less.

    Noise falls with 1 / records and chance with its square root, so that one number of records far out gives the place
    where the two lines meet.
    """
    far = 1e12
    ratio = noise_error([far], cells, tables, epsilon, delta)[0] / sample_error([far], cells)[0]
    return float(far * ratio**2)


def marginals_within(error: float, records: Sequence[float] | Floats, epsilon: float) -> tuple[Floats, Floats]:
    """How many marginals can have noise of this standard deviation in every cell, by the number of records.

    The first number is under epsilon alone: m marginals have Laplace noise of root 2 times m / epsilon. The second is
    with a delta of 1 / records^2: Gaussian noise, which grows with the root of m, by exact accounting.

    Args:
        error: of a cell, as a share of the records.
        records: in the table.
        epsilon: of all marginals together.
    """
    n = np.asarray(records, dtype=np.float64)
    one = [Budget(epsilon=epsilon, delta=1 / r**2).gaussian().sigma(1.0) for r in n]
    return error * n * epsilon / math.sqrt(2), np.square(error * n / np.array(one))


def epsilon_for(error: float, records: float, cells: int, tables: int, delta: float) -> float:
    """The epsilon at which noise alone gives a table this error; bisection to a part in a billion."""
    low, high = 1e-6, 1e3
    for _ in range(80):
        middle = math.sqrt(low * high)
        found = float(noise_error([records], cells, tables, middle, delta)[0])
        low, high = (middle, high) if found > error else (low, middle)
    return high
