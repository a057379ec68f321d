"""The plain method that `rls` grew from, as a yardstick: no shrinking, no second scoring, no triples, no annealing.

Noisy one-ways projected to the simplex, pairs chosen by noisy scores on one set of coarse codes, raw weighted
targets, greedy single-cell moves from independent columns. `benchmarks.accuracy --methods prototype` scores it on the
same tables, budgets, noise and queries as everything else.
"""

from __future__ import annotations

import numpy as np

from dpsyn_core.estimate.marginals.coarsening import Coarsening
from dpsyn_core.estimate.records.rls.denoise import simplex
from dpsyn_core.estimate.records.rls.fit import Course, Target, Walk
from dpsyn_core.estimate.records.rls.start import independent_rows
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.measure import measure_marginals
from dpsyn_core.measure.select import choose_sets, score_sets, shares
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.domain import Domain

TOTAL, ONES, SCORES = 0.005, 0.25, 0.02  # of the budget; pairs have the rest
RESOLUTION = 64.0
SWEEPS, PROPOSALS = 10, 10


def prototype(codes: np.ndarray, domain: Domain, *, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """Synthetic codes, shape (attributes, records). Gaussian noise of production; the seed is that of the moves."""
    unit, cost = Unit(), Budget(epsilon=epsilon, delta=delta).gaussian()
    gate = Gate(account=Account(cost), noise=SystemNoise(), unit=unit)
    counter, pairs = MemoryCounter(codes, domain), domain.subsets(2)
    for_total, for_ones, for_scores, for_pairs = cost.split([TOTAL, ONES, SCORES, 1 - TOTAL - ONES - SCORES])
    total = float(measure_marginals(counter, [()], [for_total], gate=gate)[0].values)
    parts = for_ones.split(list(shares(np.array(domain.sizes, dtype=float), pure=False)))
    ones = measure_marginals(counter, domain.singletons(), parts, gate=gate)
    columns = [simplex(m.values, total) for m in ones]
    coarse = {
        a.name: Coarsening.by_mass(p, a, least=max(total / RESOLUTION, 3 * m.sigma))
        for a, p, m in zip(domain.attributes, columns, ones, strict=True)
    }
    sums = {a.name: coarse[a.name].sum(p) for a, p in zip(domain.attributes, columns, strict=True)}
    expected = [np.outer(sums[a], sums[b]) / total for a, b in pairs]
    scores, _ = score_sets(counter, pairs, expected, [coarse] * len(pairs), cost=for_scores, gate=gate, name="scores")
    cells = np.array([e.size for e in expected], dtype=float)
    chosen = choose_sets(scores, cells, cost=for_pairs, sensitivity=float(unit.l2()))
    parts = for_pairs.split(list(shares(cells[chosen], pure=False))) if chosen else []
    joint = measure_marginals(counter, [pairs[i] for i in chosen], parts, gate=gate, recodes=coarse)

    rng, n = np.random.default_rng(seed), round(total)
    rows = independent_rows(columns, n, rng=rng)
    targets = [
        Target(
            attributes=tuple(domain.index(a) for a in m.attributes),
            maps=tuple(m.recodes[a].map if a in m.recodes else np.arange(domain[a].size) for a in m.attributes),
            values=m.values, sigma=m.sigma,
        )
        for m in [*ones, *joint]
    ]  # fmt: skip
    walk = Walk(rows, Course(targets, [np.maximum(p, 1e-9) for p in columns]), rng=rng)
    for _ in range(SWEEPS):
        walk.sweep(0.0, PROPOSALS)
    return np.ascontiguousarray(rows.T)
