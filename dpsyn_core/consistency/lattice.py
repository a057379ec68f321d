"""The intersection lattice of attribute sets: where measurements overlap."""

from __future__ import annotations

from collections.abc import Sequence

from dpsyn_core.errors import SizeError
from dpsyn_core.schema.domain import AttributeSet

MAX_OVERLAPS = 50_000


def overlaps(sets: Sequence[AttributeSet]) -> list[tuple[AttributeSet, list[int]]]:
    """All intersections of two or more sets, smallest first, each with the positions of the sets that contain it.

    The list is closed under intersection and starts with the empty set, which every set contains. Visiting in this
    order lets a correction on a larger overlap leave the smaller ones untouched.

    Raises:
        SizeError: more than 50,000 overlaps.
    """
    names = [n for names in sets for n in names]
    position = {n: i for i, n in enumerate(dict.fromkeys(names))}
    masks = [sum(1 << position[n] for n in names) for names in sets]
    closed = _closure(masks, max((len(s) for s in sets), default=0))
    holders = _holders(closed, masks)
    out = []
    for mask in sorted(closed, key=lambda m: (m.bit_count(), m)):
        if len(holders[mask]) > 1 or (mask == 0 and sets):
            first = holders[mask][0]
            out.append((tuple(n for n in sets[first] if mask >> position[n] & 1), holders[mask]))
    return out


def _closure(masks: list[int], largest: int) -> set[int]:
    """Closure under intersection, with the empty set; pairs need no search."""
    if largest <= 2:
        singles = {1 << b for m in masks for b in range(m.bit_length()) if m >> b & 1}
        return {0} | singles | set(masks)
    closed: set[int] = {0}
    for mask in dict.fromkeys(masks):
        closed |= {mask & other for other in closed} | {mask}
        if len(closed) > MAX_OVERLAPS:
            msg = f"the attribute sets overlap in more than {MAX_OVERLAPS} ways; measure fewer or smaller sets"
            raise SizeError(msg)
    return closed


def _holders(closed: set[int], masks: list[int]) -> dict[int, list[int]]:
    """Overlap -> positions of the sets that contain it; only sets with its rarest attribute are looked at."""
    by_bit: dict[int, list[int]] = {}
    for i, mask in enumerate(masks):
        for b in range(mask.bit_length()):
            if mask >> b & 1:
                by_bit.setdefault(b, []).append(i)
    out: dict[int, list[int]] = {}
    for overlap in closed:
        bits = [b for b in range(overlap.bit_length()) if overlap >> b & 1]
        pool = min((by_bit[b] for b in bits), key=len) if bits else range(len(masks))
        out[overlap] = [i for i in pool if masks[i] & overlap == overlap]
    return out
