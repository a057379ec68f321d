"""Fourier coefficients of a table of binary attributes, and marginals from them. Pure arithmetic, blind."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.domain import AttributeSet


def coefficient_sets(names: Sequence[str], k: int) -> list[AttributeSet]:
    """All sets of at most k attributes, the empty one first: the coefficients that every k-way marginal needs."""
    return [s for size in range(min(k, len(names)) + 1) for s in itertools.combinations(names, size)]


def signed_sum(marginal: NDArray[np.int64]) -> int:
    """The coefficient of a set from its marginal, shape (2, ..., 2): the sum of cells, minus where codes add up odd."""
    out = marginal
    while out.ndim:
        out = out[0] - out[1]
    return int(out)


def marginal_from(coefficients: Mapping[AttributeSet, float], names: AttributeSet) -> NDArray[np.float64]:
    """The marginal of binary attributes: T(x) = 2^-k times the sum over subsets S of (-1)^(x on S) f(S).

    Args:
        coefficients: by attribute set in the order of `names`; a missing one counts as 0.
        names: k attributes.

    Returns:
        float64 (2, ..., 2).

    Source: Barak, Chaudhuri, Dwork, Kale, McSherry, Talwar 2007.
    """
    k = len(names)
    out = np.array([coefficients.get(s, 0.0) for s in _subsets(names)]).reshape((2,) * k)
    for axis in range(k):
        kept, turned = np.take(out, 0, axis), np.take(out, 1, axis)
        out = np.stack([kept + turned, kept - turned], axis=axis)
    return np.asarray(out / 2**k)


def _subsets(names: AttributeSet) -> list[AttributeSet]:
    """Subsets in the order of a table's cells: code 1 on an axis means that its attribute is in the set."""
    return [
        tuple(n for n, b in zip(names, bits, strict=True) if b) for bits in itertools.product((0, 1), repeat=len(names))
    ]
