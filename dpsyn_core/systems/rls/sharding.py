"""Fits records in shards: one draft is fitted at length, and every shard continues from it towards its share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import (
    Course,
    Pace,
    RecordTuning,
    Shard,
    Target,
    follow,
    independent_rows,
    place_by_category,
    place_numbers,
    schedule,
    shard_share,
    shards_of,
)
from dpsyn_core.progress import Progress
from dpsyn_core.systems.base import Make, Sharded
from dpsyn_core.systems.rls.budget import BudgetPlan
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.implied_dependence import cooler_half, denied_pairs

DRAFT_EFFORT = 0.25
"""Effort of the draft for each shard that follows from it, up to 1 in all: with few shards it pays for few."""

WARMTH = 0.045
"""By how many counts a cell of a table fluctuates while the draft is shaken, for each root of the records of a shard:
40 counts for 800,000 records, so that few records of two shards are the same and the fit of the draft is kept."""

SWEEPS = 2
"""Sweeps of a shard at an effort of 1, the last of them at temperature 0 (the same experiment)."""


def in_shards(
    view: RlsEvidence, n_records: int, *, plan: BudgetPlan, effort: float, tuning: RecordTuning, rng: Generator
) -> Sharded:
    """The plan by which records are synthesized in shards. Post-processing: from released values alone.

    Every shard is fitted to its share of the measured tables. With more than a million records, sampling error is
    small, so that nothing is evened out.

    Args:
        view: what was released.
        n_records: of all shards.
        plan: how coarse pairs are that the draft may not make dependent; see `denied_pairs`.
        effort: as in the settings of the system; 1 is usual.
        tuning: constants of the fit.
        rng: for the draft, and for how shares are rounded.
    """
    domain, hierarchies = view.domain, view.hierarchies
    sizes = [domain.sizes[i] for i in hierarchies.kept]
    shards = shards_of(n_records, len(domain))
    all_targets = view.targets(n_records)
    measured, one_ways = hierarchies.narrowed(all_targets), hierarchies.of_kept(view.one_ways)
    sums, places = hierarchies.of_free_outcomes(view.sums), {name: i for i, name in enumerate(domain.names)}
    dtype = np.min_scalar_type(max(domain.sizes) - 1)

    def written(rows: NDArray[np.uint16], own: Generator) -> NDArray[np.unsignedinteger]:
        view.agreements.deal(rows, view.probabilities, own)
        out = hierarchies.whole(rows, own)
        if sums:
            from dpsyn_core.estimate import exchange_outcomes  # where regressions were declared

            exchange_outcomes(out, places, sums, total=view.total, rng=own)
        return np.ascontiguousarray(out.T.astype(dtype))

    def begin(progress: Progress) -> Make:
        """Fits the draft."""
        targets = measured
        values, phases = _flat(targets, rng)
        longest = Shard(number=0, start=0, n_records=max(s.n_records for s in shards), whole=n_records)
        share = shard_share(values, longest, phases)
        sides = np.cumsum([0, *sizes])  # the one-ways come first
        ones = [np.maximum(share[a:b], 0.0) for a, b in itertools.pairwise(sides)]
        draft = independent_rows(ones, longest.n_records, rng=rng)
        if not (longest.n_records and view.joint):
            return lambda shard, own, _told: written(draft[: shard.n_records], own)
        mine = [replace(t, sigma=t.sigma * (longest.n_records / n_records)) for t in targets]
        course = Course(mine, view.probabilities, tuning=tuning.fitting)
        of_draft = draft_effort(effort, len(shards))
        pace = schedule(longest.n_records, len(sizes), mine, effort=of_draft, tuning=tuning.fitting)
        follow(draft, course.towards(share), pace=pace, rng=rng, progress=progress)
        scaled = [replace(t, sigma=t.sigma * (longest.n_records / n_records)) for t in all_targets]
        denied = hierarchies.narrowed(denied_pairs(hierarchies.whole(draft), scaled, view, plan))
        if denied:
            whole = n_records / longest.n_records
            mine, targets = mine + denied, [*targets, *(replace(t, values=t.values * whole) for t in denied)]
            values, phases = _flat(targets, rng)
            course = Course(mine, view.probabilities, tuning=tuning.fitting)
            share = shard_share(values, longest, phases)
            follow(draft, course.towards(share), pace=cooler_half(pace), rng=rng, progress=progress)
        counts = course.plan.counts(draft)
        leaving = shaken(longest.n_records, mine, effort)

        def make(shard: Shard, own: Generator, told: Progress) -> NDArray[np.unsignedinteger]:
            n = shard.n_records
            rows = draft[:n].copy()
            if len(shards) > 1:
                counts_left = counts if n == len(draft) else counts - course.plan.counts(draft[n:])
                to = course.towards(shard_share(values, shard, phases))
                follow(rows, to, pace=leaving, rng=own, progress=told, counts=counts_left)
            place_numbers(rows, targets, one_ways, hierarchies.numbers(view.places), rng=own)
            place_by_category(rows, targets, one_ways, hierarchies.numbers(view.valued), rng=own)
            return written(rows, own)

        return make

    return Sharded(n_records=n_records, begin=begin)


def _flat(targets: Sequence[Target], rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values of all tables, one after the other, and how their shares will be rounded."""
    values = np.concatenate([t.values.ravel() for t in targets])
    return values, rng.random(values.shape)  # where the rounding of each cell starts, in [0, 1)


def draft_effort(effort: float, shards: int) -> float:
    """Effort of the draft: all of it for one shard, else a quarter for each shard that follows from it, up to all."""
    return effort if shards == 1 else effort * min(1.0, DRAFT_EFFORT * shards)


def shaken(n_records: int, targets: Sequence[Target], effort: float) -> Pace:
    """The pace at which a shard leaves the draft: warm, then at temperature 0."""
    sigma = float(np.median([t.sigma for t in targets]))
    warm = WARMTH**2 * n_records / sigma**2  # the variance of a cell is the temperature times sigma squared
    sweeps = max(SWEEPS, round(SWEEPS * effort))
    return Pace(temperatures=(*([warm] * (sweeps - 1)), 0.0), repeats=1)
