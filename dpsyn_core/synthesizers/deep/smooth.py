"""Smooth counts of ordered bins: few noisy cosine coefficients say what many noisy bins do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEWEST = 8  # bins; with fewer there is nothing to smooth
STEEP = 4  # how fast weights fall beyond the bandwidth
BANDWIDTHS = 24  # that are tried
WORTH = 0.5  # of the noise's own squared error: counts that cannot be made this smooth are left as they are


def smoothed(counts: Floats, sigma: float) -> Floats | None:
    """Counts of neighbouring bins with less noise; None where they are not smooth, or noise is no matter.

    The coefficient k of the cosine transform is multiplied by 1 / (1 + (k / b)^4). The bandwidth b is that of the least
    expected squared error, which follows from the counts and their noise alone: with weights w_k it is the sum of
    (1 - w_k)^2 (c_k^2 - sigma^2) + w_k^2 sigma^2 (Stein 1981; for ordered weights, Efromovich and Pinsker 1984). Heaped
    counts have large coefficients everywhere, so that no bandwidth is worth it.

    Args:
        counts: (bins,), noisy.
        sigma: standard deviation of the noise of each.
    """
    from scipy.fft import dct, idct  # heavy

    if len(counts) < FEWEST or sigma <= 0:
        return None
    found = dct(counts, norm="ortho")
    at = np.arange(len(counts))
    widths = np.geomspace(1.0, len(counts), BANDWIDTHS)
    weights = 1 / (1 + (at / widths[:, None]) ** STEEP)
    errors = ((1 - weights) ** 2 * (found**2 - sigma**2) + weights**2 * sigma**2).sum(axis=1)
    best = int(errors.argmin())
    if errors[best] > WORTH * len(counts) * sigma**2:
        return None
    return np.asarray(idct(weights[best] * found, norm="ortho"))
