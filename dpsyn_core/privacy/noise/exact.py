"""Tail probabilities enclosed in integer arithmetic, at any precision; they decide what floating point cannot.

Every function returns integers (low, high) with low <= value * 2^bits <= high; nothing here is a float.
The error analysis is in docs/proofs/noise.md, section 2.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt


def exp_bounds(n: int, d: int, bits: int) -> tuple[int, int]:
    """Encloses exp(-n/d) for n >= 0, d > 0, in units of 2^-bits."""
    if n * 14426 >= 10000 * d * bits:  # log2(e) > 1.4426, so the value is below one unit
        return 0, 1
    extra = n * 14427 // (10000 * d) + 33  # log2(e) < 1.4427: bits lost to cancellation, and guard bits
    work = bits + extra
    total, error = _series((n << work) // d, work, extra - 32, odd=False)
    spread = ((error + 1) >> extra) + 2
    return max((total >> extra) - spread, 0), (total >> extra) + spread


def normal_tail_bounds(n: int, d: int, bits: int) -> tuple[int, int]:
    """Encloses Q(n/d), the upper tail of the standard normal, for n >= 0, d > 0, in units of 2^-bits."""
    n2, d2 = n * n, d * d
    if n2 * 7213 >= 10000 * d2 * bits:  # Q(x) <= exp(-x^2/2) / 2
        return 0, 1
    extra = n2 * 7214 // (10000 * d2) + 33
    work = bits + extra
    total, error = _series((n2 << (work - 1)) // d2, work, extra - 32, odd=True)
    x = (n << work) // d
    inner = (x * total >> work) * inverse_sqrt_2pi(work) >> work
    spread = ((error + 8) * (n // d + 2) >> extra) + 2
    value = ((1 << (work - 1)) - inner) >> extra
    return max(value - spread, 0), value + spread


def _series(h: int, bits: int, growth: int, *, odd: bool) -> tuple[int, int]:
    """Sum over k of (-h)^k / k!, divided by 2k+1 when odd; h in units of 2^-bits.

    Returns the sum and a bound on its error, both in units of 2^-bits. growth: integer above h log2(e); a term
    then carries at most 2 e^h units of error, since each step multiplies it by h/k and adds at most 2.
    """
    term = total = 1 << bits
    k = 0
    while term:
        k += 1
        term = (term * h >> bits) // k
        part = term // (2 * k + 1) if odd else term
        total += part if k % 2 == 0 else -part
    return total, (k + 2) * ((2 << growth) + 2)


@lru_cache(maxsize=64)
def inverse_sqrt_2pi(bits: int) -> int:
    """1/sqrt(2 pi) in units of 2^-bits, within 2 units. Source of pi: Machin 1706."""
    work = bits + 32
    pi = 4 * (4 * _arctan_inverse(5, work) - _arctan_inverse(239, work))
    return isqrt((1 << (2 * bits + work)) // (2 * pi))


def _arctan_inverse(m: int, bits: int) -> int:
    power = (1 << bits) // m
    total, k = power, 1
    while power:
        power //= m * m
        k += 2
        total += power // k if k % 4 == 1 else -(power // k)
    return total
