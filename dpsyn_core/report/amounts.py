"""Figures as people write them: shares, correlations, amounts with the digits that tell two apart, mean dates."""

from __future__ import annotations

from dpsyn_core.schema import is_year

LARGE = 1e17  # from which on an amount is written with an exponent


def instant(seconds: float, *, precise: bool) -> str:
    """A mean date, or a mean time to the minute, as ISO 8601 writes it."""
    import numpy as np

    return str(np.datetime64(round(seconds), "s").astype("datetime64[m]" if precise else "datetime64[D]"))


def percent(x: float, digits: int | None = None) -> str:
    """A share in percent, with two digits where it is small."""
    places = (1 if x >= 0.01 or x == 0 else 2) if digits is None else digits
    return f"{100 * x:.{places}f}%"


def fine(x: float) -> str:
    """A correlation: two digits, a minus sign, no negative zero."""
    return f"{x + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")


def told_apart(real: float, synthetic: float, of: str = "", most: int = 16) -> tuple[str, str]:
    """Two amounts of a column with the digits that tell them apart, three at least, `most` at most."""
    for digits in range(3, most + 1):
        pair = tuple(amount(x, digits, of) for x in (real, synthetic))
        if pair[0] != pair[1]:
            break
    return pair[0], pair[1]


def amount(x: float, digits: int = 3, of: str = "") -> str:
    """An amount as people write it; of: the column that it is from, which may hold years."""
    if x == 0:
        return "0"
    if abs(x) >= 10 ** (digits - 1) and abs(x) < LARGE:
        return f"{x:.0f}" if is_year(of, x) else f"{x:,.0f}".replace("-", "\N{MINUS SIGN}")
    return f"{x:.{digits}g}".replace("-", "\N{MINUS SIGN}")
