"""The gate: charge, then count, then add noise. Nothing else in the engine joins counts and noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, UnitError
from dpsyn_core.measurement.dirichlet import dirichlet_multinomial, prior_count
from dpsyn_core.measurement.sparse import noisy_above
from dpsyn_core.noise.source import NoiseSource
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.privacy.unit import Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Released:
    """Noisy integers and the standard deviation of their noise; safe to show."""

    values: NDArray[np.int64]
    sigma: float
    charge: Charge


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedSparse:
    """The cells of a large table whose noisy value reached the threshold; safe to show."""

    indices: NDArray[np.int64]
    values: NDArray[np.int64]
    charge: Charge


class Gate:
    """Owns the account and the noise of one run."""

    def __init__(self, *, account: Account, noise: NoiseSource, unit: Unit) -> None:
        """Takes what the run may spend, where its noise comes from, and whom it protects."""
        self.account = account
        self.unit = unit
        self._noise = noise

    def release(
        self,
        name: str,
        count: Callable[[], NDArray[np.int64]],
        *,
        cells: int,
        cost: Cost,
        l1: float | None = None,
        l2: float | None = None,
    ) -> Released:
        """Releases integer values with noise for `cost`.

        Args:
            name: what is released, in public words (attribute names, never values).
            count: called after the charge is booked; returns integers of `cells` entries, any shape.
            cells: number of entries, known without the data.
            cost: what this release may spend.
            l1: L1 sensitivity; default that of one marginal under the run's unit.
            l2: L2 sensitivity; default that of one marginal under the run's unit.
        """
        if cost.pure:
            sensitivity = float(self.unit.l1() if l1 is None else l1)
            scale = cost.scale(sensitivity)
            charge = Charge(
                name=name,
                mechanism="geometric",
                sensitivity=sensitivity,
                scale=scale,
                cells=cells,
                epsilon=sensitivity / scale,
                rho=(sensitivity / scale) ** 2 / 2,
            )
        else:
            sensitivity = float(self.unit.l2() if l2 is None else l2)
            scale = cost.sigma(sensitivity)
            charge = Charge(
                name=name,
                mechanism="gaussian",
                sensitivity=sensitivity,
                scale=scale,
                cells=cells,
                rho=(sensitivity / scale) ** 2 / 2,
            )
        self.account.debit(charge)
        exact = np.asarray(count())
        if exact.dtype.kind not in "iu" or exact.size != cells:
            msg = f"'{name}' must be counted as {cells} integers"
            raise EngineError(msg)
        return Released(values=self._noisy(exact.astype(np.int64), charge), sigma=sigma_of(charge), charge=charge)

    def release_sparse(
        self,
        name: str,
        occupied: Callable[[], tuple[NDArray[np.int64], NDArray[np.int64]]],
        *,
        cells: int,
        threshold: int,
        cost: Cost,
        l1: float | None = None,
    ) -> ReleasedSparse:
        """Releases the cells of a table that reach a public threshold after geometric noise.

        The law is that of noise on every cell followed by the cut, in time of the cells that are kept. Pure DP only.

        Args:
            name: what is released, in public words.
            occupied: called after the charge is booked; flat indices (ascending) and counts of non-empty cells.
            cells: cells of the whole table, at most 2^40.
            threshold: lower noisy values are dropped; at least 1.
            cost: what this release may spend.
            l1: L1 sensitivity; default that of one marginal under the run's unit.
        """
        if not (1 <= cells <= 2**40 and threshold >= 1):
            msg = f"'{name}' has {cells} cells and threshold {threshold}; allowed are 1 to 2^40 cells, threshold >= 1"
            raise EngineError(msg)
        sensitivity = float(self.unit.l1() if l1 is None else l1)
        scale = cost.scale(sensitivity)
        charge = Charge(
            name=name,
            mechanism="geometric",
            sensitivity=sensitivity,
            scale=scale,
            cells=cells,
            epsilon=sensitivity / scale,
            rho=(sensitivity / scale) ** 2 / 2,
        )
        self.account.debit(charge)
        index, counts = occupied()
        index, values = noisy_above(index, counts, self._noise, scale=scale, threshold=threshold, cells=cells)
        return ReleasedSparse(indices=index, values=values, charge=charge)

    def dirichlet(
        self, name: str, count: Callable[[], NDArray[np.int64]], *, cells: int, draws: int, cost: Cost
    ) -> Released:
        """Releases a table of `draws` synthetic records, Multinomial(draws, Dirichlet(counts + alpha)).

        The prior count alpha = draws / (e^(epsilon / theta) - 1) makes it epsilon-DP for replace neighbours with a
        public number of draws; the drawn proportions themselves are never formed. Pure DP only.

        Args:
            name: what is released, in public words.
            count: called after the charge is booked; integers of `cells` entries.
            cells: number of categories, empty ones included.
            draws: records to release; public.
            cost: what this release may spend.
        """
        if self.unit.neighbours != "replace":
            msg = "the Dirichlet-multinomial mechanism protects replace neighbours only; use geometric noise instead"
            raise UnitError(msg)
        prior = prior_count(draws, cost, self.unit.max_records)
        charge = Charge(
            name=name,
            mechanism="dirichlet",
            sensitivity=float(self.unit.max_records),
            scale=prior,
            cells=cells,
            epsilon=cost.epsilon,
            rho=cost.epsilon**2 / 2,
        )
        self.account.debit(charge)
        exact = np.asarray(count())
        if exact.dtype.kind not in "iu" or exact.size != cells:
            msg = f"'{name}' must be counted as {cells} integers"
            raise EngineError(msg)
        values = dirichlet_multinomial(exact.ravel().astype(np.int64), prior, draws, noise=self._noise)
        return Released(values=values, sigma=0.0, charge=charge)

    def _noisy(self, exact: NDArray[np.int64], charge: Charge) -> NDArray[np.int64]:
        draw = self._noise.gaussian if charge.mechanism == "gaussian" else self._noise.geometric
        return exact + draw(charge.scale, exact.size).reshape(exact.shape)


def sigma_of(charge: Charge) -> float:
    """Standard deviation of one cell's noise; geometric: sqrt(2 a)/(1 - a) with a = exp(-1/b)."""
    if charge.mechanism == "gaussian":
        return charge.scale
    a = float(np.exp(-1 / charge.scale))
    return float(np.sqrt(2 * a) / -np.expm1(-1 / charge.scale))
