"""Fine public grids: where bins begin when nobody declares them, from a range, a step and a scale alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from dpsyn_core.errors import SchemaError

Scale = Literal["linear", "log"]
# the only days, or times of day, that a column of dates can hold by public knowledge
Rhythm = Literal[
    "weekdays", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays", "month-start",
    "month-end", "quarter-start", "quarter-end", "year-start", "year-end", "no-sundays",
    "minutes", "five-minutes", "ten-minutes", "quarter-hours", "half-hours", "hours",
]  # fmt: skip
OF_TIMES: dict[Rhythm, int] = {  # seconds from one to the next, counted in UTC where a column names its zone
    "minutes": 60,
    "five-minutes": 300,
    "ten-minutes": 600,
    "quarter-hours": 900,
    "half-hours": 1800,
    "hours": 3600,
}
FINE = 1024  # bins of a number or a date, at most about, where none are declared
UNSEEN = 1_000_000  # parts of the largest value, below which a number without a step is not told from 0
SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400)
ROUND: tuple[Sequence[int], ...] = (  # first three digits of the boundaries in a decade, finest first
    *(range(100, 1000, stride) for stride in (1, 2, 5, 10, 20, 50, 100)),
    (100, 200, 500),
    (100,),
)


def exact(value: float | Fraction) -> Fraction:
    """A number as people write it: 0.1 is a tenth."""
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


@lru_cache(maxsize=4096)
def fine_starts(
    low: float, high: float, step: Fraction | None, scale: Scale | None, most: int = FINE
) -> tuple[Fraction, ...]:
    """Where bins begin: the first at `low`, the others at round multiples of the step; the last bin ends at `high`.

    Every value has a separate bin where the range holds fewer than `most` steps. Otherwise linear bins have equal
    widths of 1, 2 or 5 times a power of ten steps, and logarithmic ones begin at round numbers, as many in every
    decade. Without a scale, both sets of boundaries hold, half of the bins each: a range does not say where in it
    the records lie, and a bin without records costs next to nothing. 0 has a separate bin where there is a step.

    Args:
        low: smallest public value.
        high: largest public value, at least `low`.
        step: public distance of neighbouring values, which are its multiples; None where unknown.
        scale: how bins grow; None: both.
        most: bins at most, but for a few.

    Returns:
        Rising, `low` first.
    """
    first, last = exact(low), exact(high)
    unit = _unit(first, last) if step is None else step
    at, end = -(-first // unit), last // unit  # first and last boundary, in units
    if step is not None and end - at < most:
        places: Iterable[int] = range(at, end + 1)
    else:
        share = most if scale is not None else most // 2
        starts: set[int] = set()
        if scale != "log":
            width = _width(-(-(last - first) // unit), share)
            starts |= set(range(-(-at // width) * width, end + 1, width))
        if scale != "linear":
            seen = 1 if step is not None or at > 0 or end < 0 else -(-max(end, -at) // UNSEEN)
            starts |= set(_logarithmic(at, end, seen, unit, share, closed=step is not None))
        if step is not None:
            starts |= {0, 1}
        places = sorted(p for p in starts if at <= p <= end)
    below = first // unit
    return (first, *(p * unit for p in places if p > below))


def calendar_width(units: int, *, seconds: bool, most: int = FINE) -> int:
    """Days, or seconds, in a bin of a range of so many, for at most about `most` bins."""
    least = -(-units // most)
    if not seconds:
        return least
    return next((s for s in SECONDS if s >= least), -(-least // 86_400) * 86_400)


def declared_step(low: float, high: float, step: float, *, whole: bool) -> None:
    """Raises SchemaError for a step of which no multiple lies in the range, or too many."""
    grid, first, last = exact(step), exact(low), exact(high)
    if grid <= 0:
        msg = f"step is {step}; it must be above 0"
        raise SchemaError(msg)
    if whole and grid.denominator != 1:
        msg = f"step is {step}; that of an integer column must be a whole number"
        raise SchemaError(msg)
    if last // grid < -(-first // grid):
        msg = f"no multiple of the step {step} lies between min {low} and max {high}; choose a smaller step"
        raise SchemaError(msg)
    if max(abs(first), abs(last)) / grid > 2**53:
        msg = f"step {step} is too small for the range {low} to {high}; choose a larger one, or leave it out"
        raise SchemaError(msg)


def _unit(first: Fraction, last: Fraction) -> Fraction:
    """A power of ten small against the range, and against its end that is nearer to 0."""
    near = first if first > 0 else -last
    sizes = [last - first, near * 1000] if near > 0 else [last - first]
    return min((Fraction(10) ** (_power(s) - 6) for s in sizes if s > 0), default=Fraction(1))


def _power(value: Fraction) -> int:
    """Largest power of ten that is not above a positive value, but for rounding."""
    return math.floor(math.log10(value.numerator) - math.log10(value.denominator))


def _width(units: int, most: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... units of which at most `most` are needed for so many."""
    power = 1
    while True:
        for width in (power, 2 * power, 5 * power):
            if units <= most * width:
                return width
        power *= 10


def _logarithmic(at: int, end: int, seen: int, unit: Fraction, most: int, *, closed: bool) -> list[int]:
    """Round numbers between two places, in units, as many in every decade; the negative ones mirror the others.

    seen: the place nearest to 0 that is distinguished from it. closed: bins hold single places, and begin at that which
    is nearest to minus infinity, so that the mirror image of a boundary is one place higher.
    """
    near = max(at, -end, seen)
    decades = sum(math.log10(max(side, near)) - math.log10(near) for side in (end, -at))
    digits = next((d for d in ROUND if len(d) * decades <= most), ROUND[-1])
    negative = (int(closed) - p for p in _decades(near, -at + 1, unit, digits))
    return [*_decades(near, end, unit, digits), *negative]


def _decades(near: int, far: int, unit: Fraction, digits: Sequence[int]) -> Iterable[int]:
    """Places of round numbers from `near` to `far`, both positive and in units."""
    power = _power(near * unit) - 3
    place = 0
    while place <= far:
        factor = Fraction(10) ** power / unit
        p, q = factor.numerator, factor.denominator
        for d in digits:
            place = -(-d * p // q)  # upwards to a multiple of the unit
            if near <= place <= far:
                yield place
        power += 1
