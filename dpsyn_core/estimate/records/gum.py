"""The gradual update method: records adjusted to marginals one at a time.

The first records: every column from its one-way share in exact counts, shuffled.

Settings of record updates, kept apart from the compiled code so that forms load quickly.

GUM: records are changed gradually towards consistent marginals; and min-cost flow, which it improves on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.estimate.marginals.types import probabilities, whole_counts
from dpsyn_core.estimate.records.gum_kernel import update
from dpsyn_core.estimate.records.random import seed_state
from dpsyn_core.estimate.records.targets import TargetTable
from dpsyn_core.progress import Progress, silent


def one_way_shares(tables: Sequence[TargetTable], sizes: Sequence[int]) -> list[NDArray[np.float64]]:
    """The share of each value of each attribute: the weighted mean over the tables that hold it, else uniform."""
    totals = [np.zeros(s) for s in sizes]
    for table in tables:
        values = table.share.reshape(table.sizes)
        for axis, row in enumerate(table.rows):
            others = tuple(a for a in range(table.sizes.size) if a != axis)
            precision = table.weight * table.sizes[axis] / table.share.size
            totals[row] += precision * values.sum(axis=others)
    return [probabilities(t) for t in totals]


def independent_records(
    shares: Sequence[NDArray[np.float64]], n: int, *, rng: Generator
) -> NDArray[np.unsignedinteger]:
    """Codes (n_attributes, n): each column has the exact counts of its shares, independently shuffled."""
    dtype = np.min_scalar_type(max((s.size for s in shares), default=1) - 1)
    codes = np.empty((len(shares), n), dtype=dtype)
    for j, share in enumerate(shares):
        column = np.repeat(np.arange(share.size, dtype=dtype), whole_counts(share, n, rng=rng))
        codes[j] = rng.permutation(column)
    return codes


Fill = Literal["s5", "half", "duplicate", "replace", "close"]
Updater = Literal["gum", "mcf"]
Decay = Literal["step", "exponential", "linear", "square-root"]
Removal = Literal["proportional", "share"]

CLOSE = 0.1  # records count as close to the tables once a sweep lowered their distance by less than this part


class UpdateSettings(BaseModel):
    """Which updater moves the records, how, and how many polish proposals follow.

    The rate of sweep t is alpha times decay^(t // decay_every) (step), e^(-k t) (exponential), 1 / (1 + k t) (linear)
    or 1 / sqrt(1 + k t) (square-root), where k = -ln(decay) / decay_every, so that step and exponential meet at every
    step. Source: Li, Zhang, Wang, appendices A.2 and A.3.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    updater: Updater = Field(
        default="gum",
        title="Record updater",
        description="gum moves records gradually; mcf (min-cost flow) is the simpler method that it improves on.",
    )
    sweeps: int = Field(
        default=30,
        ge=0,
        le=1000,
        title="Sweeps",
        description="At most this many updates of every marginal; it stops early.",
    )
    alpha: float = Field(
        default=0.2,
        gt=0,
        le=10,
        title="Update rate",
        description=(
            "Share of its count by which a cell may grow in one update. The authors of GUM used 0.2 in 2018 and "
            "write that theirs is always below 1; their code of PrivSyn begins at 1, where 0.2 is as good."
        ),
    )
    decay: float = Field(
        default=0.84, gt=0, le=1, title="Rate decay", description="The update rate is multiplied by this at every step."
    )
    decay_every: int = Field(
        default=20, ge=1, le=1000, title="Sweeps per step", description="Sweeps between two steps of the decay."
    )
    decay_curve: Decay = Field(
        default="step",
        title="Decay curve",
        description=(
            "How the rate falls from sweep to sweep: in steps, or as e^(-kt), 1/(1+kt) or 1/sqrt(1+kt) with the k at "
            "which the second meets the steps."
        ),
    )
    removal: Removal = Field(
        default="proportional",
        title="Removal",
        description=(
            "Over-full cells give records in proportion to their excess, or the same share of their count, but no more "
            "than their excess, which is what the authors describe. Neither is better on most tables."
        ),
    )
    fill: Fill = Field(
        default="s5",
        title="Filling",
        description=(
            "How a cell gains records: duplicate copies whole records, replace rewrites records on the marginal only, "
            "half does half of each, s5 alternates half of each and copies only; close rewrites at first and copies "
            "once the records are close to the tables, as the authors of 2018 advise, and is no better on most tables."
        ),
    )
    polish: int = Field(
        default=50,
        ge=0,
        le=10_000,
        title="Polish proposals",
        description="Single-cell moves proposed for every record after the sweeps; 0 leaves the result of the sweeps.",
        json_schema_extra={"unit": "per record"},
    )

    def rate(self, sweep: int) -> float:
        """The update rate of a sweep, counted from 0."""
        if self.decay_curve == "step":
            return self.alpha * self.decay ** (sweep // self.decay_every)
        fallen = -math.log(self.decay) / self.decay_every * sweep
        if self.decay_curve == "exponential":
            return self.alpha * math.exp(-fallen)
        if self.decay_curve == "linear":
            return self.alpha / (1 + fallen)
        return self.alpha / math.sqrt(1 + fallen)

    def copies(self, sweep: int, history: Sequence[float]) -> float:
        """The share of additions that copy a whole record.

        S5 alternates half of them and all of them. Close copies none until the records are close to the tables, and
        then only copies.

        Args:
            sweep: counted from 0.
            history: mean total variation distance to the targets in each sweep before.
        """
        if self.fill == "close":
            return 1.0 if any(b > (1 - CLOSE) * a for a, b in pairwise(history)) else 0.0
        return {"s5": 0.5 if sweep % 2 == 0 else 1.0, "half": 0.5, "duplicate": 1.0, "replace": 0.0}[self.fill]


WINDOW, GAIN = 5, 0.01  # stop when the mean error fell by less than 1 % over 5 sweeps
COOLING, COOLED = 20, 0.84  # sweeps that follow then, and what each leaves of the update rate


def gum(
    codes: NDArray[np.unsignedinteger],
    tables: Sequence[TargetTable],
    settings: UpdateSettings,
    *,
    cooled: bool = False,
    rng: Generator,
    progress: Progress = silent,
) -> list[float]:
    """Changes the records in place until they match the tables or stop improving.

    Marginals are visited in the order of their last errors, the worst first.

    Args:
        codes: unsigned (n_attributes, n_records), C-contiguous, changed.
        tables: targets.
        settings: rates, fill and number of sweeps.
        cooled: more sweeps follow whose rate falls fast, so that records average over the noise of their tables.
        rng: post-processing randomness.
        progress: gets the mean total variation distance to the targets.

    Returns:
        The mean total variation distance to the targets at the start of each sweep.
    """
    by_share = settings.removal == "share"
    done = _sweep(codes, tables, settings.sweeps, settings.rate, settings.copies, by_share, rng, progress)
    if not cooled or not done:
        return done

    def rate(sweep: int) -> float:
        return settings.rate(len(done)) * COOLED**sweep

    return done + _sweep(codes, tables, COOLING, rate, lambda s, _: settings.copies(s, done), by_share, rng, progress)


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
