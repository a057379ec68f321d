"""Finite planes over small fields: designs in which every two points share exactly one line."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
ORDERS = (2, 3, 4, 5, 7, 8, 9, 11, 13, 16)


def field_tables(q: int) -> tuple[Ints, Ints]:
    """Addition and multiplication tables of GF(q), int64 (q, q) each, for a prime power q.

    An element is the number whose base-p digits are the coefficients of its polynomial.
    """
    p = next(f for f in range(2, q + 1) if q % f == 0)
    k = round(np.log(q) / np.log(p))
    digits = np.array([[a // p**i % p for i in range(k)] for a in range(q)])
    powers = p ** np.arange(k)
    add = ((digits[:, None] + digits[None, :]) % p) @ powers
    for low in itertools.product(range(p), repeat=k):
        multiply = _multiplication(digits, np.array(low), p) @ powers
        if k == 1 or (np.sort(multiply[1:, 1:], axis=1) == np.arange(1, q)).all():
            return add, multiply
    raise AssertionError  # pragma: no cover  (every prime power has an irreducible polynomial)


def _multiplication(digits: Ints, low: Ints, p: int) -> Ints:
    """Products modulo x^k + low, as digits (q, q, k); a field only when that polynomial is irreducible."""
    q, k = digits.shape
    product = np.zeros((q, q, 2 * k - 1), dtype=np.int64)
    for i, j in itertools.product(range(k), repeat=2):
        product[:, :, i + j] += digits[:, None, i] * digits[None, :, j]
    for degree in range(2 * k - 2, k - 1, -1):
        product[:, :, degree - k : degree] -= product[:, :, degree, None] * low
        product[:, :, degree] = 0
    return product[:, :, :k] % p


def affine_plane(q: int) -> list[tuple[int, ...]]:
    """The q^2 + q lines of AG(2, q), q points each of q^2; every two points share exactly one line."""
    add, multiply = field_tables(q)
    x = np.arange(q)
    lines = [x + q * add[multiply[slope], shift] for slope in range(q) for shift in range(q)]
    lines += [shift + q * x for shift in range(q)]
    return [tuple(int(v) for v in np.sort(line)) for line in lines]


def projective_plane(q: int) -> list[tuple[int, ...]]:
    """The q^2 + q + 1 lines of PG(2, q), q + 1 points each; order 1 is the triangle."""
    if q == 1:
        return [(0, 1), (0, 2), (1, 2)]
    lines = affine_plane(q)
    # parallel lines meet in one new point, and the new points lie on one new line
    directions = [*range(q * q + q + 1)][q * q :]
    extended = [(*line, directions[i // q]) for i, line in enumerate(lines)]
    return [*extended, tuple(directions)]
