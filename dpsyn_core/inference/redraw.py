"""Draws the noise of released tables again: what else could have been released, as far as anybody can tell. Blind.

Nothing here protects anybody: the released values are noisy already, and more noise is post-processing. It therefore
takes a seeded generator, unlike the noise of `dpsyn_core.noise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.marginals.types import Measurement


def redrawn(measured: Sequence[Measurement], *, pure: bool, rng: Generator) -> list[Measurement]:
    """The released tables with fresh noise of the same size on top.

    A refit to them differs from a fit to the released ones by what noise does to it, which is about how the latter
    differs from a fit to exact counts (Raisa, Jalko, Kaski and Honkela 2023 draw the exact counts in the same spirit).

    Args:
        measured: what was released.
        pure: whether the noise was two-sided geometric (delta 0), else Gaussian, where a table does not say.
        rng: of the post-processing.
    """
    return [replace(m, values=m.values + noise(m, pure=pure, rng=rng)) for m in measured]


def noise(m: Measurement, *, pure: bool, rng: Generator) -> NDArray[np.float64]:
    """Noise of a measurement's shape and standard deviation; Laplace stands for two-sided geometric."""
    laplace = pure if m.law is None else m.law == "geometric"
    return rng.laplace(0.0, m.sigma / 2**0.5, m.values.shape) if laplace else rng.normal(0.0, m.sigma, m.values.shape)
