"""Runs one system on coded records in this process with the noise of production, and measures its distance."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.noise.source import NoiseSource
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Neighbours, Unit
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.public_table import PublicTable
from dpsyn_core.systems.registry import config_class, configure


@dataclass(frozen=True, kw_only=True)
class Run:
    codes: np.ndarray
    seconds: float
    charges: int


def run_system(
    name: str,
    codes: np.ndarray,
    domain: Domain,
    *,
    epsilon: float,
    delta: float = 1e-9,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    neighbours: Neighbours | None = None,
    public: PublicTable | None = None,
    noise: NoiseSource | None = None,
) -> Run:
    """Calibrates, measures and synthesizes; delta is 0 for systems that are pure DP only.

    neighbours: default the first that the system supports. public: a public table to learn from. noise: None
    takes that of production.
    """
    guarantee = config_class(name).guarantee
    task = Task(
        domain=domain,
        unit=Unit(neighbours=neighbours or guarantee.neighbours[0]),
        budget=Budget(epsilon=epsilon, delta=delta if guarantee.approximate else 0.0),
        n_public=codes.shape[1] if guarantee.needs_public_n else None,
        public=public,
    )
    start = time.perf_counter()
    system = configure(name, settings or {}).calibrate(task)
    gate = Gate(account=Account(system.cost), noise=noise or SystemNoise(), unit=task.unit)
    measured = system.measure(MemoryCounter(codes, domain), gate=gate)
    out = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    return Run(codes=out, seconds=time.perf_counter() - start, charges=len(gate.account.charges))


def mean_distance(real: np.ndarray, synthetic: np.ndarray, domain: Domain, k: int = 2, *, sets: int = 300) -> float:
    """Mean total variation distance over all k-way marginals, or over `sets` of them drawn once for all runs."""
    chosen = domain.subsets(k)
    if len(chosen) > sets:
        chosen = [chosen[i] for i in np.random.default_rng(0).choice(len(chosen), sets, replace=False)]
    pairs = zip(
        MemoryCounter(real, domain).marginals(chosen), MemoryCounter(synthetic, domain).marginals(chosen), strict=True
    )
    n, m = max(1, real.shape[1]), max(1, synthetic.shape[1])
    return float(np.mean([np.abs(a / n - b / m).sum() / 2 for a, b in pairs]))
