"""Figures read off one noisy table, with what its noise and the sampling of its records do to them. Blind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsyn_core.inference.combine import Truth, t_quantile
from dpsyn_core.inference.functional import Floats, centred, sampling
from dpsyn_core.inference.quantities import Quantity


@dataclass(frozen=True, kw_only=True, slots=True)
class Direct:
    """K figures of a noisy table. estimate, noise, sampling: float64 (K,), NaN where a group has no records.

    noise and sampling: variances of the estimate because of the noise, and because the records are a sample.
    """

    estimate: Floats
    noise: Floats
    sampling: Floats

    def half(self, truth: Truth = "table", *, confidence: float = 0.95) -> Floats:
        """Half-widths of intervals for the real table (noise alone), or for the population (noise and sampling)."""
        variance = self.noise if truth == "table" else self.noise + self.sampling
        half: Floats = t_quantile(confidence, np.inf) * np.sqrt(variance)
        return half

    def forgetful(self, *, confidence: float = 0.95) -> Floats:
        """Half-widths of an analyst who takes the noisy counts for exact ones: sampling alone. Too narrow."""
        half: Floats = t_quantile(confidence, np.inf) * np.sqrt(self.sampling)
        return half


def read_directly(quantity: Quantity, table: Floats, sigma: float) -> Direct:
    """Figures of a noisy table and their variances, by the delta method: sums exactly, others by first derivatives.

    Args:
        quantity: K figures.
        table: noisy counts over its attributes; independent noise of standard deviation `sigma` in every cell.
        sigma: in counts.
    """
    influence = quantity.influence(table)
    return Direct(
        estimate=quantity.values(table),
        noise=sigma**2 * np.square(influence).reshape(len(influence), -1).sum(axis=1),
        sampling=sampling(centred(influence, np.maximum(table, 0.0)), table),
    )
