"""GUM: records are changed gradually towards consistent marginals; and min-cost flow, which it improves on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.gum_kernel import update
from dpsyn_core.records.random import seed_state
from dpsyn_core.records.settings import UpdateSettings
from dpsyn_core.records.tables import TargetTable

WINDOW, GAIN = 5, 0.01  # stop when the mean error fell by less than 1 % over 5 sweeps


def gum(
    codes: NDArray[np.unsignedinteger],
    tables: Sequence[TargetTable],
    settings: UpdateSettings,
    *,
    rng: Generator,
    progress: Progress = silent,
) -> list[float]:
    """Changes the records in place until they match the tables or stop improving.

    Marginals are visited in the order of their last errors, the worst first.

    Args:
        codes: unsigned (n_attributes, n_records), C-contiguous, changed.
        tables: targets.
        settings: rates, fill and number of sweeps.
        rng: post-processing randomness.
        progress: gets the mean total variation distance to the targets.

    Returns:
        The mean total variation distance to the targets at the start of each sweep.
    """
    return _sweep(
        codes, tables, settings.sweeps, settings.rate, settings.copies, settings.removal == "share", rng, progress
    )


def mcf(
    codes: NDArray[np.unsignedinteger],
    tables: Sequence[TargetTable],
    *,
    sweeps: int,
    rng: Generator,
    progress: Progress = silent,
) -> list[float]:
    """Min-cost flow, which GUM improves on: every update fills its marginal at once and rewrites its attributes only.

    With unit cost for every move, any matching of over-full to under-full cells is a cheapest flow, so it is
    GUM without a rate and without copies: each marginal becomes exact and undoes what the last one did to the
    other attributes. Source: Zhang et al. 2021 (PrivSyn), section 5.1.
    """
    return _sweep(codes, tables, sweeps, lambda _sweep: math.inf, lambda _sweep, _history: 0.0, False, rng, progress)


def _sweep(
    codes: NDArray[np.unsignedinteger],
    tables: Sequence[TargetTable],
    sweeps: int,
    rate: Callable[[int], float],
    copies: Callable[[int, Sequence[float]], float],
    by_share: bool,
    rng: Generator,
    progress: Progress,
) -> list[float]:
    """Updates every table once a sweep; see `gum` and `UpdateSettings`."""
    n = codes.shape[1]
    if n == 0 or not tables:
        return []
    targets = [t.counts(n, rng) for t in tables]
    cell = np.empty(n, dtype=np.int32)
    state = seed_state(rng)
    errors = np.full(len(tables), np.inf)
    history: list[float] = []
    for sweep in range(sweeps):
        now, copied = rate(sweep), copies(sweep, history)
        for i in np.argsort(-errors, kind="stable"):
            t = tables[i]
            errors[i] = update(codes, t.rows, t.sizes, targets[i], now, copied, cell, state, by_share)
        history.append(float(errors.mean()) / (2 * n))
        progress("records", sweep + 1, sweeps, history[-1])
        if history[-1] == 0 or _stalled(history):
            break
    return history


def flow(source: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """A cheapest flow at unit cost: entry (i, j) moves from over-full cell i to under-full cell j.

    Args:
        source: (cells,), counts or shares.
        target: (cells,), of the same total.

    Returns:
        (cells, cells); its sum is the cost.
    """
    over = np.clip(source - target, 0, None)
    under = np.clip(target - source, 0, None)
    # overlap of the intervals that the surplus and the deficit cells cover on one line
    a, b = np.cumsum(over), np.cumsum(under)
    low = np.maximum((a - over)[:, None], (b - under)[None, :])
    high = np.minimum(a[:, None], b[None, :])
    return np.asarray(np.clip(high - low, 0, None))


def _stalled(history: list[float]) -> bool:
    return len(history) > WINDOW and history[-1] > (1 - GAIN) * history[-1 - WINDOW]
