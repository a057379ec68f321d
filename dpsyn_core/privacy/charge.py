"""Charge: one private access of a run, as it stands in the ledger and the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mechanism = Literal["gaussian", "geometric", "exponential", "partition-selection", "dirichlet", "sampled-gaussian"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """What was released, by which mechanism, and what it cost.

    sensitivity: L2 for gaussian, L1 otherwise (records of an individual for dirichlet). scale: sigma for gaussian,
    b for geometric, the prior count of a cell for dirichlet, 0 where the mechanism has none. rho is 0 for a charge
    that only has a pure-DP cost, epsilon is 0 for Gaussian ones. delta: the chance of a failure that the other
    numbers do not cover (partition selection). sampled-gaussian only: `steps` Gaussian releases, each on a Poisson
    sample with probability `sampling`; its cost is composed exactly and has no rho.
    """

    name: str
    mechanism: Mechanism
    sensitivity: float
    scale: float
    cells: int
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
    sampling: float = 1.0
    steps: int = 1
