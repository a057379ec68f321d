"""Comparing a run with the real table: built once for the visitor who owns both, by the engine's metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import compute
from dpsyn_core.evaluate.comparison import Comparison, Roles
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.shuffled_floor import between
from dpsyn_core.report import build
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace

if TYPE_CHECKING:
    from dpsyn_core.evaluate.base import Score


@dataclass(frozen=True)
class Pairs:
    """TVD of all pairs as a symmetric matrix (NaN on its diagonal), with the mean and what a fresh sample scores.

    floors: what a fresh sample scores in each pair. unrelated: what shuffled columns score, where that is known.
    """

    names: tuple[str, ...]
    tvd: NDArray[np.float64]
    floors: NDArray[np.float64]
    mean: float
    floor: float
    unrelated: float | None = None

    def worst(self) -> tuple[str, str, float]:
        """The pair that differs most."""
        filled = np.nan_to_num(self.tvd, nan=-1)
        i, j = np.unravel_index(int(np.argmax(filled)), filled.shape)
        return self.names[min(i, j)], self.names[max(i, j)], float(max(0.0, filled[i, j]))


def of(space: Workspace, job: Job, roles: Roles | None = None) -> Comparison | None:
    """The comparison of a run with the loaded table; None when another table is loaded, or it is empty."""
    if not results.same_table(space, job):
        return None
    chosen = roles or Roles()
    return results.kept(space, ("comparison", job.id, repr(chosen)), lambda: _build(space, job, chosen))


def _build(space: Workspace, job: Job, roles: Roles) -> Comparison | None:
    schema = results.schema(space, job)
    real = space.dataset.table if space.dataset else None
    synthetic = results.synthetic(space, job)
    if real is None or real.num_rows == 0 or synthetic.num_rows == 0:
        return None
    return compare_tables(
        schema, synthetic, real, roles=roles, measurements=results.measurements(space, job),
        real_of=space.dataset.records if space.dataset else None, synthetic_of=results.synthetic_of(space, job),
    )  # fmt: skip


def score(space: Workspace, job: Job, comparison: Comparison, metric: str) -> Score | MetricError:
    """One metric of a run, computed once for this visitor."""
    key = score_key(job, comparison, metric)
    return results.kept(space, key, lambda: compute(comparison, [metric])[metric])


def score_key(job: Job, comparison: Comparison, metric: str) -> tuple[str, ...]:
    """Where a score is kept."""
    return ("score", job.id, metric, repr(comparison.roles))


def pairs(space: Workspace, job: Job, comparison: Comparison) -> Pairs:
    """The pairwise TVD of a run."""
    names = comparison.domain.names
    if len(names) < 2:
        none = np.full((len(names), len(names)), np.nan)
        return Pairs(names, none, none, 0.0, 0.0)
    got = score(space, job, comparison, "tvd-2way")
    if isinstance(got, MetricError):
        raise got
    tvd, floors = (build.pair_matrix(got, names, what) for what in ("tvd", "floor"))
    ends = results.kept(
        space, ("between", "tvd-2way", job.id, repr(comparison.roles)), lambda: between(comparison, "tvd-2way", got)
    )  # fmt: skip
    return Pairs(names, tvd, floors, got.value, float(got.floor or 0.0), None if ends is None else ends.unrelated)
