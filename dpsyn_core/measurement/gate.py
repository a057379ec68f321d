"""The gate: charge, then count, then add noise. Nothing else in the engine joins counts and noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, UnitError
from dpsyn_core.measurement.charges import (
    dirichlet_charge,
    geometric_charge,
    noise_charge,
    partition_charge,
    selection_charge,
)
from dpsyn_core.measurement.dirichlet import dirichlet_multinomial, prior_count
from dpsyn_core.measurement.partitions import reach_for, truncated
from dpsyn_core.measurement.released import Released, ReleasedKeys, ReleasedSparse, sigma_of
from dpsyn_core.measurement.scores import gaps_and_rate
from dpsyn_core.measurement.sparse import noisy_above
from dpsyn_core.noise.source import NoiseSource
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.privacy.unit import Unit

__all__ = ["Gate", "Released", "ReleasedKeys", "ReleasedSparse", "sigma_of"]


class Gate:
    """Owns the account and the noise of one run.

    Every method books its charge before it calls the function that reads the data, and returns only what the
    mechanism of that charge gives. The methods that begin with an underscore join counts and noise; audits replace
    them, so that all else is audited as it runs.
    """

    def __init__(self, *, account: Account, noise: NoiseSource, unit: Unit) -> None:
        """Takes what the run may spend, where its noise comes from, and the unit of privacy."""
        self.account = account
        self.unit = unit
        self._noise = noise

    def release(
        self,
        name: str,
        count: Callable[[], NDArray[np.int64]],
        *,
        kind: str,
        cells: int,
        cost: Cost,
        l1: float | None = None,
        l2: float | None = None,
    ) -> Released:
        """Releases integer values with noise for `cost`.

        Args:
            name: what is released, in public words (attribute names, never values).
            count: called after the charge is booked; returns integers of `cells` entries, any shape.
            kind: what is released, as plans and manifests group it: one of `privacy.charge.KINDS`, or `table_kind(k)`
                for a marginal over k attributes.
            cells: number of entries, known without the data.
            cost: what this release may spend.
            l1: L1 sensitivity; default that of one marginal under the run's unit.
            l2: L2 sensitivity; default that of one marginal under the run's unit.
        """
        charge = noise_charge(name, cost, self.unit, kind=kind, cells=cells, l1=l1, l2=l2)
        self.account.debit(charge)
        exact = _integers(name, count(), cells)
        return Released(values=self._noisy(exact, charge), sigma=sigma_of(charge), charge=charge)

    def release_sparse(
        self,
        name: str,
        occupied: Callable[[], tuple[NDArray[np.int64], NDArray[np.int64]]],
        *,
        kind: str,
        cells: int,
        threshold: int,
        cost: Cost,
        l1: float | None = None,
    ) -> ReleasedSparse:
        """Releases the cells of a table that reach a public threshold after geometric noise.

        Distributed as if every cell got noise and the low ones were dropped, in time proportional to the cells kept.
        Pure DP only.

        Args:
            name: what is released, in public words.
            occupied: called after the charge is booked; flat indices (ascending) and counts of non-empty cells.
            kind: as in `release`.
            cells: cells of the whole table, at most 2^40.
            threshold: lower noisy values are dropped; at least 1.
            cost: what this release may spend.
            l1: L1 sensitivity; default that of one marginal under the run's unit.
        """
        if not (1 <= cells <= 2**40 and threshold >= 1):
            msg = f"'{name}' has {cells} cells and threshold {threshold}; allowed are 1 to 2^40 cells, threshold >= 1"
            raise EngineError(msg)
        charge = geometric_charge(name, cost, self.unit, kind=kind, cells=cells, l1=l1)
        self.account.debit(charge)
        index, counts = occupied()
        index, values = self._noisy_above(index, counts, threshold, charge)
        return ReleasedSparse(indices=index, values=values, charge=charge)

    def dirichlet(
        self, name: str, count: Callable[[], NDArray[np.int64]], *, cells: int, draws: int, cost: Cost
    ) -> Released:
        """Releases a table of `draws` synthetic records, Multinomial(draws, Dirichlet(counts + alpha)).

        The prior count alpha = draws / (e^(epsilon / theta) - 1), theta = max_records, makes it epsilon-DP for replace
        neighbours with a public number of draws; the drawn proportions themselves are never formed. Pure DP only.

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
        charge = dirichlet_charge(name, cost, self.unit, cells=cells, prior=prior)
        self.account.debit(charge)
        exact = _integers(name, count(), cells)
        return Released(values=self._urn(exact, draws, charge), sigma=0.0, charge=charge)

    def select(
        self,
        name: str,
        scores: Callable[[], NDArray[Any]],
        *,
        sensitivity: float,
        cost: Cost,
        monotone: bool = False,
    ) -> int:
        """Chooses a candidate by the exponential mechanism: P(i) proportional to exp(epsilon score_i / 2 sensitivity).

        A pure cost is spent as epsilon, a mixed rho as epsilon = sqrt(8 rho); a Gaussian rho is refused.

        Args:
            name: what is chosen, in public words.
            scores: called after the charge is booked; higher is better; one number a candidate, their number public.
            sensitivity: most that one score moves between neighbours; rounding inside float scores counts too.
            cost: what this choice may spend.
            monotone: scores of neighbours all move in the same direction, which saves the factor 2; no effect on
                replace neighbours, where one individual leaves and another comes.
        """
        charge = selection_charge(name, cost, sensitivity=float(sensitivity))
        self.account.debit(charge)
        gaps, rate = gaps_and_rate(
            np.asarray(scores()),
            name,
            sensitivity=charge.sensitivity,
            epsilon=charge.epsilon,
            one_sided=monotone and self.unit.neighbours == "add-remove",
        )
        return self._chosen(gaps, rate, charge)

    def partitions(
        self,
        name: str,
        present: Callable[[], tuple[Sequence[str], NDArray[np.int64]]],
        *,
        cost: Cost,
        delta: float,
        distinct: bool,
    ) -> ReleasedKeys:
        """Releases the keys that enough individuals share; keys that nobody has are never released.

        Args:
            name: what is released, in public words.
            present: called after the charge is booked; distinct keys and their counts, at least 1.
            cost: what this release may spend, beside delta.
            delta: probability with which a key that only one individual has may come out.
            distinct: counts are of individuals (one adds at most 1 to a key); otherwise of records (one adds at most
            max_records).
        """
        per_key = 1 if distinct else self.unit.max_records
        charge = partition_charge(name, cost, self.unit, per_key=per_key, delta=delta)
        self.account.debit(charge)
        keys, counts = present()
        exact = _integers(name, counts, len(keys))
        kept = self._kept(exact, per_key, charge)
        return ReleasedKeys(keys=tuple(sorted(k for k, keep in zip(keys, kept, strict=True) if keep)), charge=charge)

    def _noisy(self, exact: NDArray[np.int64], charge: Charge) -> NDArray[np.int64]:
        draw = self._noise.gaussian if charge.mechanism == "gaussian" else self._noise.geometric
        return exact + draw(charge.scale, exact.size).reshape(exact.shape)

    def _noisy_above(
        self, index: NDArray[np.int64], counts: NDArray[np.int64], threshold: int, charge: Charge
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return noisy_above(index, counts, self._noise, scale=charge.scale, threshold=threshold, cells=charge.cells)

    def _urn(self, exact: NDArray[np.int64], draws: int, charge: Charge) -> NDArray[np.int64]:
        return dirichlet_multinomial(exact.ravel(), charge.scale, draws, noise=self._noise)

    def _chosen(self, gaps: NDArray[np.int64], rate: float, charge: Charge) -> int:
        return self._noise.choose(gaps, rate)

    def _kept(self, counts: NDArray[np.int64], per_key: int, charge: Charge) -> NDArray[np.bool_]:
        reach = reach_for(charge.scale, per_key, charge.delta * per_key / charge.sensitivity)
        return counts + truncated(self._noise, charge.scale, reach, counts.size) > reach


def _integers(name: str, counted: NDArray[Any], cells: int) -> NDArray[np.int64]:
    exact = np.asarray(counted)
    if exact.dtype.kind not in "iu" or exact.size != cells:
        msg = f"'{name}' must be counted as {cells} integers"
        raise EngineError(msg)
    return exact.astype(np.int64)
