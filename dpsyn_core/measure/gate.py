"""The gate: charge, then count, then add noise. Nothing else in the engine joins counts and noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError, UnitError
from dpsyn_core.measure.charges import (
    check_widest,
    dirichlet_charge,
    geometric_charge,
    noise_charge,
    partition_charge,
    sampled_charge,
    selection_charge,
    sum_charge,
)
from dpsyn_core.measure.releases import Released, ReleasedKeys, ReleasedSparse, ReleasedSum, Request, sigma_of

if TYPE_CHECKING:
    from dpsyn_core.measure.counting.base import Counter
    from dpsyn_core.measure.counting.sums import SumRule, VectorCounter, VectorMap
    from dpsyn_core.measure.sums import SampledSums
    from dpsyn_core.privacy import Account, Charge, Cost, NoiseSource, Unit

__all__ = ["Gate", "Released", "ReleasedKeys", "ReleasedSparse", "ReleasedSum", "sigma_of"]

_GAUSSIAN = {"gaussian", "sampled-gaussian"}


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

    def counting(self, records: int) -> Gate:
        """A gate with the same account and noise, for a counter with at most `records` records of one individual.

        Of linked tables (docs/proofs/linked.md): each view has a different limit, which the caller must enforce.
        """
        out = copy(self)
        out.unit = replace(self.unit, max_records=records)
        return out

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
            cells: number of entries; public.
            cost: what this release may spend.
            l1: L1 sensitivity; default that of one marginal under the run's unit.
            l2: L2 sensitivity; default that of one marginal under the run's unit.
        """
        request = Request(name=name, kind=kind, cells=cells, cost=cost, l1=l1, l2=l2)
        return self.release_tables([request], lambda: [count()])[0]

    def release_tables(
        self, requests: Sequence[Request], count: Callable[[], Sequence[NDArray[np.int64]]]
    ) -> list[Released]:
        """As `release`, for several tables that are counted in one reading: all are charged, then counted, then noisy.

        Args:
            requests: what is released; none of it may depend on what comes out of another.
            count: called after all charges are booked; the integers of each, in the same order.
        """
        charges = [
            noise_charge(r.name, r.cost, self.unit, kind=r.kind, cells=r.cells, l1=r.l1, l2=r.l2) for r in requests
        ]
        for charge in charges:
            self.account.debit(charge)
        counted = [_integers(r.name, table, r.cells) for r, table in zip(requests, count(), strict=True)]
        return [
            Released(values=self._noisy(exact, charge), sigma=sigma_of(charge), charge=charge)
            for exact, charge in zip(counted, charges, strict=True)
        ]

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
        self,
        name: str,
        count: Callable[[], NDArray[np.int64]],
        *,
        cells: int,
        draws: int,
        cost: Cost,
        exposures: NDArray[np.float64] | None = None,
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
            exposures: public, above 0, one a cell; the least gets alpha and the others in proportion. None: all alike.
        """
        if self.unit.neighbours != "replace":
            msg = "the Dirichlet-multinomial mechanism protects replace neighbours only; use geometric noise instead"
            raise UnitError(msg)
        from dpsyn_core.measure.sparse import prior_count  # a default run asks for none of this

        prior = prior_count(draws, cost, self.unit.max_records)
        charge = dirichlet_charge(name, cost, self.unit, cells=cells, prior=prior)
        weights = None if exposures is None else exposures / exposures.min()
        self.account.debit(charge)
        exact = _integers(name, count(), cells)
        return Released(values=self._urn(exact, draws, charge, weights), sigma=0.0, charge=charge)

    def select(
        self, name: str, scores: Callable[[], NDArray[Any]], *, sensitivity: float, cost: Cost, monotone: bool = False
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
        from dpsyn_core.measure.scores import gaps_and_rate

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

    def release_sum(
        self,
        name: str,
        counter: Counter,
        maps: VectorMap | Sequence[VectorMap],
        *,
        rule: SumRule,
        kind: str = "sum",
        cost: Cost,
    ) -> ReleasedSum:
        """Releases the sum of one vector a record, each scaled down to `rule.clip` where it is longer, with noise.

        Gaussian and mixed costs only. Sensitivity: docs/proofs/sums.md.

        Args:
            name: what is released, in public words.
            counter: of the records.
            maps: from features to vectors, each row by itself; one, or one for each code of `rule.by`.
            rule: features, clip norm and cells; public.
            kind: as in `release`.
            cost: what this release may spend.

        Raises:
            EngineError: a map mixes records, which is tried on public rows first.
            MethodError: the source of records cannot sum vectors.
        """
        from dpsyn_core.measure.counting.sums import STEPS
        from dpsyn_core.measure.sums import check_maps, counter_of, released

        summing = counter_of(name, counter)
        given = [maps] if callable(maps) else list(maps)
        check_maps(name, given, rule, summing.domain)
        cells = len(given) * rule.cells
        charge = sum_charge(name, cost, self.unit, kind=kind, cells=cells, norm=STEPS, non_negative=rule.non_negative)
        check_widest(charge.scale)
        self.account.debit(charge)
        exact = _integers(name, self._summed(summing, rule, given, charge), cells)
        return released(self._noisy(exact, charge), rule, charge)

    def release_sampled_sum(
        self,
        name: str,
        counter: Counter,
        *,
        rule: SumRule,
        rate: float,
        steps: int,
        kind: str = "training",
        cost: Cost,
        delta: float,
    ) -> SampledSums:
        """Pays for `steps` sums as `release_sum` gives them, each over a fresh Poisson sample of the records.

        Every record is in each sample with probability `rate` (rounded up to a multiple of 2^-32), by the operating
        system's randomness; nothing depends on how many records there are, and a sample may be empty. The noise is
        the least that `cost` buys beside failures of probability `delta` (docs/proofs/sampling.md). All steps are
        paid for here, taken or not.

        Args:
            name: what is released, in public words.
            counter: of the records.
            rule: features, clip norm and cells; public.
            rate: of the samples; public, and no function of the number of records.
            steps: at most so many `step`s may be taken; public.
            kind: as in `release`.
            cost: what all steps may spend, Gaussian or mixed.
            delta: part of the run's delta for them, beside the cost, such as `privacy.subsampling.SHARE` of it.

        Raises:
            BudgetError: rate, steps or records of an individual are outside what is accounted; nothing is charged.
        """
        from dpsyn_core.measure.counting.sums import STEPS
        from dpsyn_core.measure.sums import SampledSums, check_maps, check_rule, counter_of, released

        summing = counter_of(name, counter)
        cells = check_rule(name, rule, summing.domain) * rule.cells
        charge = sampled_charge(
            name, cost, self.unit, kind=kind, cells=cells, norm=STEPS, rate=rate, steps=steps, delta=delta
        )
        check_widest(charge.scale)
        self.account.debit(charge)
        taken = 0

        def step(maps: Sequence[VectorMap]) -> ReleasedSum:
            nonlocal taken
            if taken & (taken + 1) == 0:  # before the steps 1, 2, 4, 8 ...: a map may change as it is trained
                check_maps(name, maps, rule, summing.domain)
            taken += 1
            exact = _integers(name, self._summed(summing, rule, maps, charge), cells)
            return released(self._noisy(exact, charge), rule, charge)

        return SampledSums(charge, step, lambda: self.account.charges[-1] is charge)

    def _summed(
        self, counter: VectorCounter, rule: SumRule, maps: Sequence[VectorMap], charge: Charge
    ) -> NDArray[np.int64]:
        """Exact sum over all records, or over a sample as the charge says."""
        sample = partial(self._sampled, charge) if charge.mechanism == "sampled-gaussian" else None
        return counter.vector_sum(rule, maps, sample)

    def _sampled(self, charge: Charge, n_records: int) -> NDArray[np.bool_]:
        return self._noise.chance(charge.sampling, n_records)

    def _noisy(self, exact: NDArray[np.int64], charge: Charge) -> NDArray[np.int64]:
        draw = self._noise.gaussian if charge.mechanism in _GAUSSIAN else self._noise.geometric
        return exact + draw(charge.scale, exact.size).reshape(exact.shape)

    def _noisy_above(
        self, index: NDArray[np.int64], counts: NDArray[np.int64], threshold: int, charge: Charge
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from dpsyn_core.measure.sparse import noisy_above

        return noisy_above(index, counts, self._noise, scale=charge.scale, threshold=threshold, cells=charge.cells)

    def _urn(
        self, exact: NDArray[np.int64], draws: int, charge: Charge, weights: NDArray[np.float64] | None
    ) -> NDArray[np.int64]:
        from dpsyn_core.measure.sparse import dirichlet_multinomial

        return dirichlet_multinomial(exact.ravel(), charge.scale, draws, noise=self._noise, weights=weights)

    def _chosen(self, gaps: NDArray[np.int64], rate: float, charge: Charge) -> int:
        return self._noise.choose(gaps, rate)

    def _kept(self, counts: NDArray[np.int64], per_key: int, charge: Charge) -> NDArray[np.bool_]:
        from dpsyn_core.measure.partitions import threshold, truncated

        least = threshold(charge, per_key)
        if charge.epsilon == 0:
            return counts + self._noise.gaussian(charge.scale, counts.size) > least
        return counts + truncated(self._noise, charge.scale, least, counts.size) > least


def _integers(name: str, counted: NDArray[Any], cells: int) -> NDArray[np.int64]:
    exact = np.asarray(counted)
    if exact.dtype.kind not in "iu" or exact.size != cells:
        msg = f"'{name}' must be counted as {cells} integers"
        raise EngineError(msg)
    return exact.astype(np.int64)
