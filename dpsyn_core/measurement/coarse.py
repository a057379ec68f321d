"""Coarse codes from released one-ways: neighbouring bins and rare values are measured together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema.domain import CodedAttribute


def coarse_map(counts: NDArray[np.float64], attribute: CodedAttribute, *, least: float) -> NDArray[np.intp]:
    """Merges values until each coarse value holds at least `least` records, as far as there are that many.

    Neighbours merge in an ordered attribute, the rarest values merge in an unordered one; values without order
    ("missing", "other") merge with each other. Reads released counts only.

    Args:
        counts: float64 (size,), non-negative estimates.
        attribute: its order and its special values.
        least: records that a coarse value should hold.

    Returns:
        Coarse code of every value, 0, 1, 2, ... without gaps, shape (size,).
    """
    ranked = attribute.size - attribute.special if attribute.ordered else 0
    rest = ranked + np.argsort(-counts[ranked:], kind="stable")
    recode = np.zeros(attribute.size, dtype=np.intp)
    _merge(counts, np.arange(ranked), least, recode, 0)
    _merge(counts, rest, least, recode, int(recode.max(initial=-1)) + 1 if ranked else 0)
    return recode


def _merge(
    counts: NDArray[np.float64], values: NDArray[np.intp], least: float, recode: NDArray[np.intp], first: int
) -> None:
    """Numbers runs of values from `first` on; a last run that is too small joins the one before it."""
    code, held = first, 0.0
    for position, value in enumerate(values):
        if position and held >= least:
            code, held = code + 1, 0.0
        recode[value] = code
        held += counts[value]
    if held < least and code > 0 and len(values):
        mask = recode[values] == code
        recode[values[mask]] = code - 1
