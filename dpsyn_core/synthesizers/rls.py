"""Record least squares: measures one-ways and the pairs that pay, then fits records to them. The default method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.coarse import coarse_map
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.measure import measure_marginals
from dpsyn_core.measurement.select import choose_sets, score_sets, shares
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.rls import Target, cooling, fit_records
from dpsyn_core.records.rls_denoise import shrink_one_way, shrink_pair
from dpsyn_core.records.rls_start import independent_rows
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.base import Guarantee, MethodConfig, Synthesizer, Task
from dpsyn_core.synthesizers.registry import register

TOTAL_SHARE = 0.005  # of the budget, for the number of records
SCORE_SHARE = 0.02  # for the scores of all pairs

Floats = NDArray[np.float64]


@register("rls")
class RlsConfig(MethodConfig):
    """Settings; None lets the public facts and the released total decide."""

    summary = "Fits records straight to noisy one-ways and the pairs that pay: the most accurate method here."
    guarantee = Guarantee(text="(epsilon, delta)-DP by exact Gaussian accounting; epsilon-DP at delta 0")

    one_way_share: float | None = Field(
        default=None, gt=0, lt=0.95, title="Share of one-ways",
        description="Part of the budget for the values of each attribute alone; empty: chosen for you",
    )  # fmt: skip
    resolution: int | None = Field(
        default=None, ge=2, le=4096, title="Coarse values",
        description="At most about this many coarse values an attribute in pairs; empty: chosen for you",
    )  # fmt: skip
    sweeps: int = Field(default=8, ge=1, le=1000, title="Sweeps", description="Passes over all records")
    repeats: int = Field(default=4, ge=1, le=1000, title="Proposals", description="Proposals to a cell in one pass")

    def build(self, task: Task) -> Synthesizer:
        """Calibrates: all-Gaussian with a delta, all-Laplace without."""
        return Rls(self, task)


class Rls(Synthesizer):
    """Calibrated."""

    def __init__(self, config: RlsConfig, task: Task) -> None:
        """Keeps what is public."""
        self.config = config
        self.domain = task.domain
        self.n_public = task.n_public
        self.cost = task.budget.gaussian() if task.budget.delta else task.budget.pure()
        unit = task.unit
        self.theta = float(unit.l1() if self.cost.pure else unit.l2())

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> list[Measurement]:
        """Total (unless public), one-ways, scores of pairs, chosen pairs; returns the measured tables."""
        domain = self.domain
        measured: list[Measurement] = []
        if not len(domain):
            return measure_marginals(counter, [()], [self.cost], gate=gate)
        if self.n_public is None:
            measured += measure_marginals(counter, [()], [self.cost.scaled(TOTAL_SHARE)], gate=gate)
        strength = self._strength(_total(measured, self.n_public))
        pairs = domain.subsets(2)
        for_ones, for_scores, for_pairs = self._split(strength)
        sizes = np.array(domain.sizes, dtype=np.float64)
        parts = for_ones.split(list(shares(sizes, pure=self.cost.pure)))
        measured += measure_marginals(counter, domain.singletons(), parts, gate=gate)
        progress("measuring", 1, 3)
        if not pairs:
            return measured
        view = _View(domain, measured, self.n_public)
        recodes = view.recodes(self._resolution(strength))
        coarse = {n: np.bincount(recodes[n], weights=p) for n, p in zip(domain.names, view.one_ways, strict=True)}
        expected = [np.outer(coarse[a], coarse[b]) / max(view.total, 1.0) for a, b in pairs]
        scores, _ = score_sets(counter, pairs, expected, recodes, cost=for_scores, gate=gate, name="scores of pairs")
        progress("measuring", 2, 3)
        cells = np.array([e.size for e in expected], dtype=np.float64)
        chosen = choose_sets(scores, cells, cost=for_pairs, theta=self.theta)
        if chosen:
            parts = for_pairs.split(list(shares(cells[chosen], pure=self.cost.pure)))
            measured += measure_marginals(counter, [pairs[i] for i in chosen], parts, gate=gate, recodes=recodes)
        progress("measuring", 3, 3)
        return measured

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Starts from independent columns and moves single cells until the measured tables fit."""
        domain = self.domain
        view = _View(domain, measured, self.n_public)
        n = max(0, round(view.total)) if n_records is None else n_records
        dtype = np.min_scalar_type(max(domain.sizes, default=1) - 1)
        if n == 0 or not len(domain):
            return np.zeros((len(domain), n), dtype=dtype)
        rows = independent_rows(view.one_ways, n, rng=rng)
        targets = view.targets(n)
        if any(len(t.attributes) > 1 for t in targets):
            fit_records(
                rows, targets, view.proposals(), temperatures=cooling(self.config.sweeps),
                repeats=self.config.repeats, rng=rng, progress=progress,
            )  # fmt: skip
        return np.ascontiguousarray(rows.T.astype(dtype))

    def _split(self, strength: float) -> tuple[Cost, Cost, Cost]:
        """Costs of one-ways, scores and pairs: what the total has left over.

        Noise falls with the square root of rho but with epsilon itself, so shares of epsilon are those of rho
        under the root.
        """
        one = self._one_way_share(strength)
        parts = np.array([one, SCORE_SHARE, 1 - one - SCORE_SHARE])
        if self.cost.pure:
            parts = np.sqrt(parts)
        left = self.cost.scaled(1.0 if self.n_public is not None else 1 - TOTAL_SHARE)
        one_ways, scores, pairs = left.split([float(p) for p in parts])
        return one_ways, scores, pairs

    def _strength(self, total: float) -> float:
        """Records over the noise of one count that spends everything: how much this run can see."""
        noise = math.sqrt(2) * self.cost.scale(self.theta) if self.cost.pure else self.cost.sigma(self.theta)
        return max(total, 1.0) / noise

    def _one_way_share(self, strength: float) -> float:
        if self.config.one_way_share is not None:
            return self.config.one_way_share
        return float(np.clip(0.25 * (strength / 8900) ** -0.4, 0.15, 0.6))

    def _resolution(self, strength: float) -> float:
        if self.config.resolution is not None:
            return self.config.resolution
        return float(np.clip(64 * math.sqrt(strength / 8900), 8, 256))


def _total(measured: Sequence[Measurement], n_public: int | None) -> float:
    """Records: the public number, or the inverse-variance mean of the sums of all measured tables."""
    if n_public is not None:
        return float(n_public)
    sums = [float(m.values.sum()) for m in measured]
    return max(float(np.average(sums, weights=[1 / (m.cells * m.sigma**2) for m in measured])), 0.0)


class _View:
    """What the released values say: total, one-ways without most of their noise, targets."""

    def __init__(self, domain: Domain, measured: Sequence[Measurement], n_public: int | None) -> None:
        self.domain = domain
        self.total = _total([m for m in measured if len(m.attributes) < 2], n_public)
        ones = {m.attributes[0]: m for m in measured if len(m.attributes) == 1}
        self.sigmas = [ones[a.name].sigma for a in domain.attributes]
        self.one_ways = [
            shrink_one_way(
                ones[a.name].values, ones[a.name].sigma, ordered=a.ordered, special=a.special, total=self.total
            )
            for a in domain.attributes
        ]
        self.joint = [m for m in measured if len(m.attributes) > 1]

    def recodes(self, resolution: float) -> dict[str, NDArray[np.intp]]:
        """Coarse maps: a coarse value holds at least total / resolution records and three times the noise."""
        least = self.total / resolution
        return {
            a.name: coarse_map(p, a, least=max(least, 3 * s))
            for a, p, s in zip(self.domain.attributes, self.one_ways, self.sigmas, strict=True)
        }

    def proposals(self) -> list[Floats]:
        """Where new values of each attribute are drawn from."""
        return [p if p.sum() > 0 else np.ones(len(p)) for p in self.one_ways]

    def targets(self, n_records: int) -> list[Target]:
        """Measured tables scaled to the records that are made."""
        scale = n_records / self.total if self.total > 0 else 1.0
        out = [
            Target(attributes=(j,), maps=(np.arange(len(p)),), values=p * scale, sigma=s * scale)
            for j, (p, s) in enumerate(zip(self.one_ways, self.sigmas, strict=True))
        ]
        for m in self.joint:
            place = tuple(self.domain.index(a) for a in m.attributes)
            maps = tuple(m.recodes.get(a, np.arange(self.domain[a].size)) for a in m.attributes)
            values = shrink_pair(m.values, self._product(place, maps), m.sigma)
            out.append(Target(attributes=place, maps=maps, values=values * scale, sigma=m.sigma * scale))
        return out

    def _product(self, place: tuple[int, ...], maps: tuple[NDArray[np.intp], ...]) -> Floats:
        """Table that independence expects, from the one-ways."""
        first, second = (np.bincount(r, weights=self.one_ways[j]) for j, r in zip(place, maps, strict=True))
        return np.outer(first, second) / max(self.total, 1.0)
