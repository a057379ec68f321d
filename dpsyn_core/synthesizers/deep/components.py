"""Principal components of a noisy second moment: symmetric eigenvectors, in falling order, above the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Components:
    """vectors: (features, k), orthonormal. deviations: of the projections, in units of the features' radius (k,)."""

    vectors: Floats
    deviations: Floats

    def __call__(self, clipped: Floats) -> Floats:
        """Latent values (records, k), of about unit variance, of features that are at most 1 long."""
        return clipped @ (self.vectors / self.deviations)

    @property
    def longest(self) -> float:
        """No record's latent value is longer."""
        return float(1 / self.deviations.min())


def components(second: Floats, total: float, noise: float, most: int) -> Components:
    """The top components of a sum of x x' with noise.

    Eigenvalues below the edge of the noise, 2 s sqrt(features) for a symmetric matrix whose entries off the diagonal
    have the standard deviation s, say nothing; one component is kept in any case. Those above are shrunk to what they
    were before the noise. Source: Benaych-Georges, Nadakuditi 2011, section 3.1.

    Args:
        second: (features, features); made symmetric here, which halves the variance off the diagonal.
        total: records, at least 1.
        noise: standard deviation of each entry before that.
        most: components.
    """
    width = len(second)
    even = (second + second.T) / 2
    values, vectors = np.linalg.eigh(even)
    order = np.argsort(-values, kind="stable")[: min(most, width)]
    values, vectors = values[order], vectors[:, order]
    edge = 2 * noise / np.sqrt(2) * np.sqrt(width)
    keep = max(1, int((values > edge).sum()))
    values, vectors = values[:keep], vectors[:, :keep]
    true = (values + np.sqrt(np.maximum(values**2 - edge**2, 0))) / 2
    return Components(
        vectors=vectors * _signs(vectors),
        deviations=np.sqrt(np.maximum(true, 1e-4 * max(total, 1.0)) / max(total, 1.0)),
    )


def _signs(vectors: Floats) -> Floats:
    """Makes the entry of largest absolute value of each component positive, as scikit-learn does."""
    largest = np.abs(vectors).argmax(axis=0)
    signs: Floats = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
    return signs
