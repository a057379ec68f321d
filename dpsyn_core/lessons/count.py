"""Lab 1: the law of one noisy count, with and without one person.

Source: Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy.budget import Budget

Floats = NDArray[np.float64]


DELTA = 1e-6


def law(mechanism: str, eps: float, reach: int | None = None) -> tuple[NDArray[np.int64], Floats]:
    """Noise values z and their probabilities: two-sided geometric, or a Gaussian rounded to whole numbers."""
    if mechanism == "laplace":
        scale = Budget(epsilon=eps, delta=0.0).pure().scale(1.0)
        far = reach or int(12 * scale) + 5
        z = np.arange(-far, far + 1)
        a = np.exp(-1 / scale)
        return z, (1 - a) / (1 + a) * np.exp(-np.abs(z) / scale)
    from scipy.special import ndtr

    sigma = Budget(epsilon=eps, delta=DELTA).gaussian().sigma(1.0)
    far = reach or int(6 * sigma) + 5
    z = np.arange(-far, far + 1)
    return z, ndtr((z + 0.5) / sigma) - ndtr((z - 0.5) / sigma)


def log_ratio(mechanism: str, eps: float) -> tuple[NDArray[np.int64], Floats]:
    """Ln of P(answer with you) / P(answer without you), by answer minus the count with you."""
    z, with_you = law(mechanism, eps)
    _, wide = law(mechanism, eps, reach=int(z[-1]) + 1)
    without = wide[2:]  # the count without you is one less: the same noise, shifted by one
    return z, np.log(with_you) - np.log(without)
