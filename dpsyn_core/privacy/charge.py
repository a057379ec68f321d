"""Charge: one private access of a run, as it stands in the ledger and the manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mechanism = Literal["gaussian", "geometric", "exponential", "partition-selection", "dirichlet"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """What was released, by which mechanism, and what it cost.

    sensitivity: L2 for gaussian, L1 otherwise (records of an individual for dirichlet). scale: sigma for gaussian,
    b for geometric, the prior count of a cell for dirichlet, 0 where the mechanism has none. rho is 0 for a charge
    that only has a pure-DP cost, epsilon is 0 for Gaussian ones.
    """

    name: str
    mechanism: Mechanism
    sensitivity: float
    scale: float
    cells: int
    rho: float = 0.0
    epsilon: float = 0.0
    delta: float = 0.0
