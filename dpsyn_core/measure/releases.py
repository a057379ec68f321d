"""What is asked of the gate, and what comes out of it: safe to show, store and post-process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Law
from dpsyn_core.privacy import Charge, Cost

_LEAST = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A table to be released: its public name, kind, cells and cost; l1, l2: see `Gate.release`."""

    name: str
    kind: str
    cells: int
    cost: Cost
    l1: float | None = None
    l2: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Released:
    """Noisy integers and the standard deviation of their noise; safe to show."""

    values: NDArray[np.int64]
    sigma: float
    charge: Charge


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedSparse:
    """The cells of a large table whose noisy value reached the threshold; safe to show."""

    indices: NDArray[np.int64]
    values: NDArray[np.int64]
    charge: Charge


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedKeys:
    """Keys that enough individuals share, in sorted order; safe to show."""

    keys: tuple[str, ...]
    charge: Charge


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedSum:
    """A noisy sum of clipped vectors, in the units of the vectors; safe to show.

    values: (cells,), or (maps, cells) where each value of an attribute has a separate sum. sigma: standard
    deviation of the noise of one number. charge: of all steps, where this is one of several.
    """

    values: NDArray[np.float64]
    sigma: float
    charge: Charge


def law_of(charge: Charge) -> Law | None:
    """The law of the noise on a released table; None for what is no table with noise on every cell."""
    return charge.mechanism if charge.mechanism in ("gaussian", "geometric") else None


def sigma_of(charge: Charge) -> float:
    """Standard deviation of one cell's noise; geometric: sqrt(2 a)/(1 - a) with a = exp(-1/b).

    At least 1e-6: below, every draw is 0 but for one in 10^12, and weights 1 / sigma^2 would pass all floats.
    """
    if charge.mechanism in {"gaussian", "sampled-gaussian"}:
        return charge.scale
    a = float(np.exp(-1 / charge.scale))
    return max(_LEAST, float(np.sqrt(2 * a) / -np.expm1(-1 / charge.scale)))
