"""Dry run: what a system would charge, before it is handed any data; public, for it depends on public facts alone.

A system whose charges do not depend on what it releases is planned by a dry run of its measuring phase on an empty
table, charge for charge. One that chooses as it goes states its steps, with bounds where the data decide; the tests
hold its runs to them. A plan with noise that cannot be drawn is refused before anything is charged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError
from dpsyn_core.estimate import NO_RECODES, Recodes, coarse_shape
from dpsyn_core.measure import Gate, check_widest
from dpsyn_core.privacy import Account, Charge, Cost, Unit
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Synthesizer, Task
from dpsyn_core.systems.registry import configure
from dpsyn_core.systems.steps import Step, noise_of

if TYPE_CHECKING:
    from dpsyn_core.measure import Sample, SumRule, VectorMap

ASSUMED = 10_000  # records, where nobody says how many there are
_SCORES = 4096.0  # the sensitivity of a score is at most so many times that of a count: 4 for each of a million pairs


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPlan:
    """What a run will charge: its steps, and every single charge where they are public."""

    cost: Cost
    unit: Unit
    steps: tuple[Step, ...]
    charges: tuple[Charge, ...] = ()

    def k(self, step: Step) -> float:
        """How many equal marginals the whole budget would hold at the step's middle noise (a geometric mean)."""
        if step.sigma is None:
            return float(step.parts[1])
        middle = math.sqrt(step.sigma[0] * step.sigma[1])
        if self.cost.pure:
            return self.cost.epsilon * middle / self.unit.l1()
        return 2 * self.cost.rho * (middle / self.unit.l2()) ** 2

    def std(self, step: Step) -> tuple[float, float] | None:
        """Least and largest standard deviation of the noise of one cell, in records; None for scores and choices."""
        if step.sigma is None:
            return None
        widen = 2**0.5 if self.cost.pure else 1.0  # a Laplace scale b has the standard deviation sqrt(2) b
        return step.sigma[0] * widen, step.sigma[1] * widen


def _steps(charges: Sequence[Charge], cost: Cost) -> list[Step]:
    """The charges by kind, in the order of booking."""
    whole = cost.epsilon if cost.pure else cost.rho
    kinds: dict[str, list[Charge]] = {}
    for charge in charges:
        kinds.setdefault(str(charge.kind), []).append(charge)
    out = []
    for kind, charged in kinds.items():
        share = sum(c.epsilon if cost.pure else c.rho for c in charged) / whole
        scales = [c.scale for c in charged]
        cells = [c.cells for c in charged]
        noisy = kind not in ("scores", "choice", "synthetic", "sum", "training")
        out.append(
            Step(
                kind=kind,
                parts=(len(charged), len(charged)),
                share=(share, share),
                sigma=(min(scales), max(scales)) if noisy else None,
                cells=(min(cells), max(cells)),
            )
        )
    return out


class _EmptyTable:
    """Counts a table without records."""

    def __init__(self, domain: Domain) -> None:
        """Keeps the domain."""
        self.domain = domain

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Zeros of the right shape."""
        shape = coarse_shape(self.domain, attributes, recodes)
        return np.zeros(shape, dtype=np.int64)

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Zeros, set by set."""
        return [self.marginal(s, {n: recodes[n] for n in s if n in recodes}) for s in sets]

    def occupied(
        self, attributes: AttributeSet, recodes: Recodes = NO_RECODES
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nothing."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def vector_sum(self, rule: SumRule, maps: Sequence[VectorMap], sample: Sample | None = None) -> NDArray[np.int64]:
        """Zeros: there are no records to sum."""
        return np.zeros(len(maps) * rule.cells, dtype=np.int64)


class _NoNoise:
    """Noise of a dry run: none, for there is nothing to hide."""

    def gaussian(self, sigma: float, size: int) -> NDArray[np.int64]:
        """Zeros."""
        return np.zeros(size, dtype=np.int64)

    def geometric(self, scale: float, size: int) -> NDArray[np.int64]:
        """Zeros."""
        return np.zeros(size, dtype=np.int64)

    def chance(self, rate: float, size: int) -> NDArray[np.bool_]:
        """Nobody is in a sample."""
        return np.zeros(size, dtype=np.bool_)

    def choose(self, gaps: NDArray[np.int64], rate: float) -> int:
        """The best candidate."""
        return int(np.argmin(gaps))


class _DryGate(Gate):
    """Books every charge; where a mechanism needs more of its noise than zeros, gives what an empty table would."""

    def _noisy_above(
        self, index: NDArray[np.int64], counts: NDArray[np.int64], threshold: int, charge: Charge
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return index, counts

    def _urn(
        self, exact: NDArray[np.int64], draws: int, charge: Charge, weights: NDArray[np.float64] | None
    ) -> NDArray[np.int64]:
        from dpsyn_core.measure import urn_unit

        cells = exact.size if weights is None else float(weights.sum())
        urn_unit(cells, charge.scale, draws)  # refuses here what the urn of a run would refuse
        return np.bincount(np.zeros(draws, dtype=np.intp), minlength=charge.cells)


def plan(method: str, settings: Mapping[str, Any], task: Task, *, n_records: float | None = None) -> RunPlan:
    """What `method` would charge for this task. Raises what calibration raises; reads no data.

    Args:
        method: name of a system.
        settings: its settings.
        task: all that is public before the run.
        n_records: about how many records there are, for forecasts; default the public number, or 10,000.
    """
    config = configure(method, settings)
    if config.unprotected:
        msg = f"{method} adds no noise and charges nothing, so that there is nothing to plan; use the method 'p3gm'"
        raise MethodError(msg)
    return plan_of(config.calibrate(task), task, n_records=n_records)


def plan_of(system: Synthesizer, task: Task, *, n_records: float | None = None) -> RunPlan:
    """The plan of a system that is calibrated already; otherwise as `plan`."""
    about = task.n_public if task.n_public is not None else n_records
    stated = tuple(system.steps(float(ASSUMED if about is None else about)))
    if stated:
        return RunPlan(cost=system.cost, unit=task.unit, steps=stated)
    account = Account(system.cost)
    gate = _DryGate(account=account, noise=_NoNoise(), unit=task.unit)
    system.measure(_EmptyTable(task.domain), gate=gate)
    steps = tuple(_steps(account.charges, system.cost))
    return RunPlan(cost=system.cost, unit=task.unit, steps=steps, charges=tuple(account.charges))


def check_drawable(made: RunPlan) -> None:
    """Refuses a run of which some noise is beyond the samplers, before it is charged; public facts alone decide.

    Scores state no scale: what a count would need at the same cost is taken with room for the largest
    sensitivity of any score.

    Raises:
        BudgetError: a scale is above 2^50.
    """
    widest = max((c.scale for c in made.charges), default=0.0)
    for step in made.steps:
        if step.sigma is not None:
            widest = max(widest, *step.sigma)
        elif step.kind == "scores":
            least = step.share[0] or step.share[1]
            widest = max(widest, _SCORES * noise_of(made.cost.scaled(least / max(step.parts[1], 1)), made.unit))
    if widest:
        check_widest(widest)


def check_shares(cost: Cost, unit: Unit, *, parts: int) -> None:
    """As `check_drawable`, for runs without a plan that divide `cost` into at most so many equal parts."""
    check_widest(noise_of(cost.scaled(1 / parts), unit))
