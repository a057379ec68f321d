"""Sums of clipped numbers: which there are, where they are clipped, and their release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpsyn_core.marginals.types import ClippedSum
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.measure import measure_sums
from dpsyn_core.privacy.budget import Cost
from dpsyn_core.records.rls.sums import STEPS, steps_of
from dpsyn_core.schema.domain import CodedAttribute
from dpsyn_core.synthesizers.rls.budget import Noise
from dpsyn_core.synthesizers.rls.tuning import Tuning
from dpsyn_core.synthesizers.rls.view import RlsEvidence

if TYPE_CHECKING:
    from dpsyn_core.counting.base import Counter

LEAST = 1e-9  # of the distance of the clips, as the size of a mean: no share of a cost is infinite


def may_be_summed(attribute: CodedAttribute, tuning: Tuning) -> bool:
    """Whether it is a number of many bins, whose values are known."""
    bins = attribute.size - attribute.special
    return attribute.number and bool(attribute.middles) and bins >= tuning.resolution.numbers_from


def measure_clipped(
    counter: Counter, view: RlsEvidence, cost: Cost, noise: Noise, gate: Gate
) -> tuple[ClippedSum, ...]:  # fmt: skip
    """Releases the sum of each number, clipped at released quantiles, at shares that minimise the sum of their errors.

    These are relative to the mean, or to the spread, where that is larger.
    """
    clips, sizes = [], []
    for a in [a for a in view.domain.attributes if may_be_summed(a, view.tuning)]:
        counts = np.maximum(view.one_ways[view.domain.index(a.name)][: a.size - a.special], 0.0)
        middles, held = np.frombuffer(a.middles), max(float(counts.sum()), 1.0)
        upto, ends = np.cumsum(counts) / held, view.tuning.resolution.clip_at
        low = min(int(np.searchsorted(upto, ends)), len(counts) - 2)
        high = min(max(int(np.searchsorted(upto, 1 - ends)), low + 1), len(counts) - 1)
        mean = float(counts @ middles[: len(counts)]) / held
        spread = float(np.sqrt(counts @ (middles[: len(counts)] - mean) ** 2 / held))
        half = (middles[high] - middles[low]) / 2
        clips.append((a.name, low, high, steps_of(middles, low, high)))
        sizes.append(half / max(abs(mean), spread, LEAST * half))
    parts = cost.split(noise.shares(np.array(sizes)))
    found = measure_sums(counter, [(n, s) for n, _, _, s in clips], parts, most=STEPS, gate=gate)
    return tuple(
        ClippedSum(name=n, low=low, high=high, value=value, sigma=sigma)
        for (n, low, high, _), (value, sigma) in zip(clips, found, strict=True)
    )
