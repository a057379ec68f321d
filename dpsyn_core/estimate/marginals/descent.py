"""Steepest descent over tables: one set at a time takes the option that lowers the sum of all errors most."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COMPILED_FROM = 100  # sets: fewer take less time than loading the compiler


def descend(errors: Floats, share: Floats, *, unit: float, power: float, least: float) -> NDArray[np.intp]:
    """The option of every set, shape (sets,).

    The sum that falls is that of the errors left, plus unit times the power of the sum of the shares taken.

    Args:
        errors: (sets, options), infinity where an option is ruled out; every set starts at option 0.
        share: (sets, options), what each option adds to the sum of shares; 0 in option 0, infinity rules out as well.
        unit: of the noise.
        power: of the sum of shares.
        least: a gain up to which nothing is moved any more.
    """
    n, options = errors.shape
    kinds, of = np.unique(share, axis=0, return_inverse=True)
    kind = np.asarray(of).reshape(-1)
    moves = [(a, b) for a in range(options) for b in range(options) if a != b]
    order, drop = np.empty((len(moves), n), dtype=np.int64), np.empty((len(moves), n))
    for m, (source, to) in enumerate(moves):
        with np.errstate(invalid="ignore"):
            down = errors[:, source] - errors[:, to]
        down = np.where(np.isfinite(errors[:, source]) & np.isfinite(errors[:, to]), down, -np.inf)
        order[m] = np.lexsort((np.arange(n), -down, kind))  # of each kind: the largest drop of error first
        drop[m] = down
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(n), order.shape), axis=1)
    begins = np.searchsorted(kind[order[0]], np.arange(len(kinds) + 1)).astype(np.int64)
    chosen = np.zeros(n, dtype=np.int64)
    steps = _compiled() if n >= COMPILED_FROM else _steps
    steps(
        kinds,
        kind.astype(np.int64),
        np.array(moves, dtype=np.int64),
        order,
        rank,
        drop,
        begins,
        chosen,
        unit,
        power,
        least,
    )
    return chosen.astype(np.intp)


@cache
def _compiled() -> Callable[..., None]:
    from dpsyn_core.loading import compiled

    return compiled(nogil=True)(_steps)


def _steps(
    kinds: Floats,
    kind: NDArray[np.int64],
    moves: NDArray[np.int64],
    order: NDArray[np.int64],
    rank: NDArray[np.int64],
    drop: Floats,
    begins: NDArray[np.int64],
    chosen: NDArray[np.int64],
    unit: float,
    power: float,
    least: float,
) -> None:
    """Moves sets until nothing gains; `chosen` is changed in place.

    What a move adds to the noise depends on the shares alone, so that of the sets with the same shares only the one
    whose error falls most can come next: the first in its order that stands where the move starts. A place in that
    order goes on while sets have left, and back where one returns.

    Args:
        kinds: (kinds, options) shares.
        kind: (sets,) of each set.
        moves: (moves, 2) options from which and to which.
        order: (moves, sets) sets, kind by kind, the largest drop first.
        rank: (moves, sets) place of each set in it.
        drop: (moves, sets) fall of the error of each set.
        begins: (kinds + 1,) where a kind starts in an order.
        chosen: (sets,) option of each set.
        unit: as in `descend`.
        power: as in `descend`.
        least: as in `descend`.
    """
    at = np.empty((moves.shape[0], kinds.shape[0]), dtype=np.int64)
    for m in range(moves.shape[0]):
        at[m] = begins[:-1]
    weight = 0.0
    while True:
        now = weight**power
        gain, best, best_to, best_move = -np.inf, -1, -1, -1
        for m in range(moves.shape[0]):
            source, to = moves[m, 0], moves[m, 1]
            for k in range(kinds.shape[0]):
                first = at[m, k]
                while first < begins[k + 1] and chosen[order[m, first]] != source:
                    first += 1
                at[m, k] = first
                if first == begins[k + 1]:
                    continue
                place = order[m, first]
                change = kinds[k, to] - kinds[k, source]
                if not np.isfinite(drop[m, place]) or not np.isfinite(change):
                    continue
                found = drop[m, place] - unit * (max(weight + change, 0.0) ** power - now)
                if found > gain or (found == gain and (place < best or (place == best and to < best_to))):
                    gain, best, best_to, best_move = found, place, to, m
        if best < 0 or gain <= least:
            return
        source, k = moves[best_move, 0], kind[best]
        weight = max(weight - kinds[k, source] + kinds[k, best_to], 0.0)
        chosen[best] = best_to
        for m in range(moves.shape[0]):  # the set may be the first again where its new option is the start
            if moves[m, 0] == best_to:
                at[m, k] = min(at[m, k], rank[m, best])
