"""Principal components and the mixture of Gaussians in their space.

Principal components of a noisy second moment: symmetric eigenvectors, in falling order, above the noise.

A mixture of Gaussians with diagonal variances, and expectation-maximisation by noisy sums of one vector a record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.systems.deep.features import Space

Floats = NDArray[np.float64]
LEAST_LATENT = 1e-3  # of a feature's variance: a rarer value is not magnified further


@dataclass(frozen=True, kw_only=True, slots=True)
class Components:
    """vectors: (features, k), orthonormal. deviations: of the projections, in units of the features' radius (k,)."""

    vectors: Floats
    deviations: Floats

    @classmethod
    def of_features(cls, space: Space) -> Components:
        """The features themselves, at unit variance under the released shares: nothing is reduced or measured."""
        squares = np.concatenate([b.shares @ b.features**2 for b in space.blocks])
        return cls(vectors=np.eye(space.width), deviations=np.sqrt(np.maximum(squares, LEAST_LATENT)) / space.radius)

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
        second: (features, features); symmetrised here, which halves the variance off the diagonal.
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


LEAST_WEIGHT = 0.01
LEAST_VARIANCE = 0.05  # latent values have a variance of about 1
MOST_VARIANCE = 4.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixture:
    """weights (parts,), means and variances (parts, k)."""

    weights: Floats
    means: Floats
    variances: Floats

    @classmethod
    def first(cls, parts: int, k: int) -> Mixture:
        """Where expectation-maximisation begins: public, spread along a fixed random direction a part."""
        means = np.random.default_rng(20).normal(size=(parts, k))
        means *= 1.0 / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        return cls(weights=np.full(parts, 1 / parts), means=means * (parts > 1), variances=np.ones((parts, k)))

    @classmethod
    def standard(cls, k: int) -> Mixture:
        """One part: the standard normal."""
        return cls(weights=np.ones(1), means=np.zeros((1, k)), variances=np.ones((1, k)))

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.weights)

    def scores(self, z: NDArray[np.floating]) -> Floats:
        """Logarithm of weight times density of each part, (records, parts)."""
        v = self.variances
        inverse = 1 / v
        square = (z * z) @ inverse.T - 2 * z @ (self.means * inverse).T + (self.means**2 * inverse).sum(axis=1)
        out: Floats = np.log(self.weights) - 0.5 * (square + np.log(2 * np.pi * v).sum(axis=1))
        return out

    def responsibilities(self, z: NDArray[np.floating]) -> Floats:
        """How likely each part is for each record, (records, parts); rows sum to 1."""
        s = self.scores(z)
        e = np.exp(s - s.max(axis=1, keepdims=True))
        out: Floats = e / e.sum(axis=1, keepdims=True)
        return out

    def draw(self, n: int, rng: Generator) -> Floats:
        """Latent values (n, k)."""
        part = rng.choice(self.parts, n, p=self.weights / self.weights.sum())
        out: Floats = self.means[part] + np.sqrt(self.variances[part]) * rng.standard_normal((n, self.means.shape[1]))
        return out


def cells(parts: int, k: int, *, tied: bool) -> int:
    """Length of the vector of `statistics`."""
    return parts * (1 + k if tied else 1 + 2 * k)


def statistics(mixture: Mixture, z: NDArray[np.floating], reach: float, *, tied: bool) -> Floats:
    """One vector a record, (records, cells), at most 1 long: shares of parts, sums, and sums of squares unless tied.

    z is shortened to `reach` first. With r the responsibilities, the vector is (r, r z / reach, r z^2 / reach^2) /
    sqrt(3): the parts' responsibilities have a sum of squares of at most 1, |z / reach| <= 1, and the same holds for
    squares, so the squared length is at most (1 + 1 + 1) / 3. Without squares it is divided by sqrt(2).
    """
    z = shortened(z, reach)
    r = mixture.responsibilities(z)
    scaled = z / reach
    columns = [np.ones((len(z), 1)), scaled] + ([] if tied else [scaled**2])
    joint = np.concatenate(columns, axis=1)
    out: Floats = (r[:, :, None] * joint[:, None, :]).reshape(len(z), -1) / np.sqrt(len(columns))
    return out


def maximised(summed: Floats, mixture: Mixture, reach: float, *, tied: bool) -> Mixture:
    """The M step from a (noisy) sum of `statistics`. Post-processing; weights and variances have floors.

    tied: all parts share one variance a coordinate, and need no squares for it: latent values have unit variance by
    the components, of which the means of the parts take up what they spread.
    """
    parts, k = mixture.means.shape
    joint = summed.reshape(parts, -1) * np.sqrt(2 if tied else 3)
    mass = np.maximum(joint[:, 0], LEAST_WEIGHT * max(float(joint[:, 0].sum()), 1.0))
    if not np.isfinite(mass).all() or mass.sum() <= 0:
        return mixture
    bound = min(reach, 3.0)
    means = np.clip(joint[:, 1 : 1 + k] * reach / mass[:, None], -bound, bound)
    if tied:
        variances = np.tile(1 - mass @ means**2 / mass.sum(), (parts, 1))
    else:
        variances = joint[:, 1 + k :] * reach**2 / mass[:, None] - means**2
    return Mixture(weights=mass / mass.sum(), means=means, variances=np.clip(variances, LEAST_VARIANCE, MOST_VARIANCE))


def shortened(z: NDArray[np.floating], reach: float) -> Floats:
    """Rows at most `reach` long."""
    lengths = np.sqrt(np.einsum("ij,ij->i", z, z))
    out: Floats = z / np.maximum(lengths / reach, 1)[:, None]
    return out
