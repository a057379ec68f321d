"""Plan: what a run would charge, before it is handed any data; public, for it depends on public facts alone.

A dry run of the measuring phase on an empty table, without noise: charge for charge what the ledger will see for
systems whose charges do not depend on what they released (`dpsyn`, `independent`), and the same number and kind of
charges for those that choose what to measure as they go (`rls`, `privsyn`), whose cells may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.marginals.types import NO_RECODES
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.schema.domain import AttributeSet, Domain
from dpsyn_core.synthesizers.base import Task
from dpsyn_core.synthesizers.registry import configure


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """Charges of one kind: `parts` releases that together take `share` of the budget.

    sigma and cells: smallest and largest scale of the noise of one cell, and number of cells, over the parts;
    k: how many equal parts the whole budget would hold at the smallest scale.
    """

    kind: str
    parts: int
    share: float
    sigma: tuple[float, float]
    cells: tuple[int, int]
    k: float
    mechanism: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What a run will charge."""

    cost: Cost
    charges: tuple[Charge, ...]

    def shares(self) -> list[Share]:
        """The charges by kind, in the order in which they are made."""
        kinds: dict[str, list[Charge]] = {}
        for charge in self.charges:
            kinds.setdefault(kind_of(charge), []).append(charge)
        return [self._share(kind, charges) for kind, charges in kinds.items()]

    def _share(self, kind: str, charges: Sequence[Charge]) -> Share:
        whole = self.cost.epsilon if self.cost.pure else self.cost.rho
        amounts = [c.epsilon if self.cost.pure else c.rho for c in charges]
        scales = [c.scale for c in charges]
        cells = [c.cells for c in charges]
        return Share(
            kind=kind,
            parts=len(charges),
            share=sum(amounts) / whole,
            sigma=(min(scales), max(scales)),
            cells=(min(cells), max(cells)),
            k=whole / max(amounts),
            mechanism=charges[0].mechanism,
        )


def kind_of(charge: Charge) -> str:
    """The kind of a charge, from its public name: total, 1-way, 2-way ... or what comes first in its name."""
    name = charge.name
    if name.startswith("marginal "):
        return f"{name.count(' x ') + 1}-way"
    return name.split(" ")[0].rstrip(":")


class _EmptyTable:
    """Counts a table without records."""

    def __init__(self, domain: Domain) -> None:
        """Keeps the domain."""
        self.domain = domain

    def marginal(
        self, attributes: AttributeSet, recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES
    ) -> NDArray[np.int64]:
        """Zeros of the right shape."""
        shape = tuple(int(recodes[n].max()) + 1 if n in recodes else self.domain[n].size for n in attributes)
        return np.zeros(shape, dtype=np.int64)

    def marginals(
        self, sets: Sequence[AttributeSet], recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES
    ) -> list[NDArray[np.int64]]:
        """Zeros, set by set."""
        return [self.marginal(s, {n: recodes[n] for n in s if n in recodes}) for s in sets]


class _NoNoise:
    """Noise of a dry run: none, for there is nothing to hide."""

    def gaussian(self, sigma: float, size: int) -> NDArray[np.int64]:
        """Zeros."""
        return np.zeros(size, dtype=np.int64)

    def geometric(self, scale: float, size: int) -> NDArray[np.int64]:
        """Zeros."""
        return np.zeros(size, dtype=np.int64)

    def choose(self, gaps: NDArray[np.int64], rate: float) -> int:
        """The best candidate."""
        return int(np.argmin(gaps))


class _DryGate(Gate):
    """Books every charge; where a mechanism needs more of its noise than zeros, gives what an empty table would."""

    def _noisy_above(
        self, index: NDArray[np.int64], counts: NDArray[np.int64], threshold: int, charge: Charge
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return index, counts

    def _urn(self, exact: NDArray[np.int64], draws: int, charge: Charge) -> NDArray[np.int64]:
        return np.bincount(np.zeros(draws, dtype=np.intp), minlength=charge.cells)


def plan(method: str, settings: Mapping[str, Any], task: Task) -> Plan:
    """What `method` would charge for this task. Raises what calibration raises; reads no data."""
    system = configure(method, settings).calibrate(task)
    account = Account(system.cost)
    gate = _DryGate(account=account, noise=_NoNoise(), unit=task.unit)
    system.measure(_EmptyTable(task.domain), gate=gate)
    return Plan(cost=system.cost, charges=tuple(account.charges))
