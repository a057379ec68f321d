"""Inverse tails as piecewise polynomials with a proven bound on their error, built from exact arithmetic.

A piece is a quarter of an octave of p; octave o holds 2^-(o+2) <= p < 2^-(o+1). The argument for the bound
is in docs/proofs/noise.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.noise.exact import exp_bounds, normal_tail_bounds

OCTAVES = 21  # smaller p are settled in exact arithmetic: less than one draw in a million
PARTS = 4
DEGREE = 12
NODE_BITS = 40
VALUE_BITS = 90
U = 2.0**-53  # unit roundoff


@dataclass(frozen=True, slots=True)
class Tail:
    """A decreasing tail T on x >= 0 with T(0) >= 1/2, and what is needed to invert it.

    bounds: encloses T(n/d) in units of 2^-bits. inverse: float starting point. slope: |T'(x)|, within 1 %.
    derivative: (order, x) -> at least |d^order/dp^order T^-1| at T(x), increasing in x, within 1 %.
    """

    bounds: Callable[[int, int, int], tuple[int, int]]
    inverse: Callable[[float], float]
    slope: Callable[[float], float]
    derivative: Callable[[int, float], float]


@dataclass(frozen=True, slots=True)
class Table:
    """coefficients (OCTAVES * PARTS, DEGREE + 1), ascending powers of t in [-1, 1); errors (OCTAVES * PARTS,).

    errors bounds |T^-1(p) - computed value| for every p that the first 64 bits allow.
    """

    coefficients: NDArray[np.float64]
    errors: NDArray[np.float64]


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@lru_cache(maxsize=32)
def _quantile_polynomial(order: int) -> tuple[int, ...]:
    """P_n with |d^n x / dp^n| = P_n(x) / density(x)^n: P_1 = 1, P_{n+1} = P_n' + n x P_n; all terms positive."""
    if order == 1:
        return (1,)
    low = _quantile_polynomial(order - 1)
    out = [0] * (len(low) + 1)
    for i, c in enumerate(low):
        if i:
            out[i - 1] += i * c
        out[i + 1] += (order - 1) * c
    return tuple(out)


def _normal_derivative(order: int, x: float) -> float:
    return math.fsum(c * x**i for i, c in enumerate(_quantile_polynomial(order))) / _density(x) ** order


NORMAL = Tail(
    bounds=normal_tail_bounds, inverse=lambda p: -NormalDist().inv_cdf(p), slope=_density, derivative=_normal_derivative
)
EXPONENTIAL = Tail(
    bounds=exp_bounds,
    inverse=lambda p: -math.log(p),
    slope=lambda x: math.exp(-x),
    derivative=lambda order, x: math.factorial(order - 1) * math.exp(order * x),
)


@lru_cache(maxsize=4)
def table_of(tail: Tail) -> Table:
    """Builds the table of a tail: about a tenth of a second, once a process."""
    nodes, basis = _interpolation()
    rows, errors = [], []
    for octave in range(OCTAVES):
        for part in range(PARTS):
            left = Fraction(PARTS + part, PARTS << (octave + 2))
            half = Fraction(1, PARTS << (octave + 3))
            values = [invert(tail, left + half * (1 + Fraction(t, 1 << NODE_BITS))) for t in nodes]
            row = [float(Fraction(sum(b * v for b, v in zip(bs, values, strict=True)), 1 << 190)) for bs in basis]
            rows.append(row)
            errors.append(_error(tail, row, values, nodes, left, half, octave))
    return Table(np.array(rows), np.array(errors))


def invert(tail: Tail, p: Fraction) -> int:
    """T^-1(p) in units of 2^-VALUE_BITS, within 2^-80: one Newton step from a float, its size checked."""
    start = tail.inverse(float(p))
    n, d = start.as_integer_ratio()
    if n < 0:
        n, start = 0, 0.0
    low, high = tail.bounds(n, d, 140)
    step = float(Fraction(low + high, 2 << 140) - p) / tail.slope(start)
    if not abs(step) < 2.0**-44:
        msg = "the floating-point library of this machine inverts a tail wrongly; noise cannot be drawn safely"
        raise EngineError(msg)
    return round((Fraction(start) + Fraction(step)) * (1 << VALUE_BITS))


def _error(
    tail: Tail, row: list[float], values: list[int], nodes: list[int], left: Fraction, half: Fraction, octave: int
) -> float:
    """Bound of docs/proofs/noise.md, section 3, on one piece."""
    order = DEGREE + 1
    x_left = tail.inverse(float(left))  # the largest x of the piece, where every derivative is largest
    remainder = tail.derivative(order, x_left) * float(half) ** order / math.factorial(order) * 2.0 ** (1 - order)
    residual = max(abs(_evaluate(row, t) - v) for t, v in zip(nodes, values, strict=True)) / (1 << VALUE_BITS)
    upper = math.fsum(abs(c) for c in row[1:])
    rounding = 28 * U * upper + 2 * U * abs(row[0])
    open_bits = tail.derivative(1, x_left) * float(half) * (2.0 ** (octave - 59) + 4 * U)
    return 1.05 * (remainder + 3 * (residual + 2.0**-80) + rounding + open_bits)


def _evaluate(row: list[float], t: int) -> int:
    """The polynomial with these float coefficients at t * 2^-NODE_BITS, in units of 2^-VALUE_BITS, within 2 units."""
    total = 0
    for c in reversed(row):
        n, d = c.as_integer_ratio()
        total = (total * t >> NODE_BITS) + (n << (VALUE_BITS + 40)) // d
    return total >> 40


@lru_cache(maxsize=1)
def _interpolation() -> tuple[list[int], list[list[int]]]:
    """Chebyshev nodes in units of 2^-NODE_BITS, and the Lagrange basis in powers of t in units of 2^-100."""
    m = DEGREE + 1
    nodes = [round(math.cos((2 * j + 1) * math.pi / (2 * m)) * (1 << NODE_BITS)) for j in range(m)]
    ts = [Fraction(t, 1 << NODE_BITS) for t in nodes]
    basis = [[0] * m for _ in range(m)]
    for j, tj in enumerate(ts):
        poly = [Fraction(1)]
        for i, ti in enumerate(ts):
            if i != j:
                shifted = [Fraction(0), *poly]
                lower = [c * ti for c in poly] + [Fraction(0)]
                poly = [(s - low) / (tj - ti) for s, low in zip(shifted, lower, strict=True)]
        for power, c in enumerate(poly):
            basis[power][j] = round(c * (1 << 100))
    return nodes, basis
