"""The distribution of the privacy loss of T equal steps: a T-fold convolution by Fourier transforms.

As dp_accounting's `DensePLDPmf.self_compose` does it, which the tests compare it with; without that library, whose
import takes longer than all convolutions of a run (docs/decisions/privacy.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TAIL = 1e-15  # mass that is cut off at both ends together, and added to that of infinite loss
_ORDERS = np.concatenate([np.arange(-20, 0), np.arange(1, 21)])  # of Chernoff's bound, over the length of the list


def self_convolved(masses: Floats, endless: float, steps: int) -> tuple[int, Floats, float]:
    """(first place, masses, mass of infinite loss) of the sum of independent losses.

    Args:
        masses: non-negative, of the losses 0, 1, 2 ... in steps of a grid; with `endless` they sum to 1.
        endless: mass of infinite loss of one step.
        steps: how many, at least 1.
    """
    from scipy import fft

    if steps == 1:
        return 0, masses, endless
    low, high = _reach(masses, steps)
    length = fft.next_fast_len(max(high - low + 1, masses.size), real=True)
    whole = fft.irfft(fft.rfft(masses, length) ** steps, length)  # places beyond the length wrap around
    kept = np.roll(whole, -low)[: high - low + 1]
    return low, kept, TAIL - math.expm1(steps * math.log1p(-endless))


def _reach(masses: Floats, steps: int) -> tuple[int, int]:
    """First and last place outside of which the sum has a mass of at most TAIL: half of it on each side.

    E exp(s X)^T e^(-s b) bounds the mass from b on for s > 0, and that up to b for s < 0 (Chernoff).
    """
    positive = np.flatnonzero(masses > 0)
    if not positive.size:
        return 0, masses.size - 1
    logs, low, high = np.log(masses[positive]), 0, (masses.size - 1) * steps
    for order in _ORDERS / masses.size:
        terms = positive * order + logs
        most = float(terms.max())
        log_moment = most + math.log(float(np.exp(terms - most).sum()))
        bound = (steps * log_moment + math.log(2 / TAIL)) / order
        if order > 0:
            high = min(high, math.ceil(bound))
        else:
            low = max(low, math.floor(bound))
    return low, max(low, high)
