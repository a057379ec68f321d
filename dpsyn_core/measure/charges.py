"""Charges of each mechanism of the gate, from public numbers alone."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from dpsyn_core.errors import BudgetError, EngineError
from dpsyn_core.privacy import KINDS, Charge, Cost, Unit, is_kind

# What the mu of samples, computed on another machine, may lie above ours
_FORGIVING = 1e-6


def known_kind(kind: str, name: str) -> str:
    """The kind, if it is one of the public kinds. Raises EngineError otherwise: a fault of the calling system."""
    if not is_kind(kind):
        msg = f"'{name}' is said to be of the kind '{kind}'; known are 1-way, 2-way, ... and {', '.join(sorted(KINDS))}"
        raise EngineError(msg)
    return kind


def noise_charge(
    name: str, cost: Cost, unit: Unit, *, kind: str, cells: int, l1: float | None = None, l2: float | None = None
) -> Charge:
    """Two-sided geometric noise for a pure cost, rounded Gaussian noise for a rho.

    kind: what is released, see `privacy.charge`. l1, l2: sensitivities; default those of one marginal under the unit.
    """
    if cost.pure:
        return geometric_charge(name, cost, unit, kind=kind, cells=cells, l1=l1)
    sensitivity = float(unit.l2() if l2 is None else l2)
    scale = cost.sigma(sensitivity)
    rho = (sensitivity / scale) ** 2 / 2
    return Charge(
        name=name,
        mechanism="gaussian",
        sensitivity=sensitivity,
        scale=scale,
        cells=cells,
        rho=rho,
        kind=known_kind(kind, name),
    )


def geometric_charge(name: str, cost: Cost, unit: Unit, *, kind: str, cells: int, l1: float | None = None) -> Charge:
    """Two-sided geometric noise; epsilon = L1 / b, hence rho = epsilon^2 / 2. Source: Bun, Steinke 2016, Prop. 1.4."""
    sensitivity = float(unit.l1() if l1 is None else l1)
    scale = cost.scale(sensitivity)
    epsilon = sensitivity / scale
    return Charge(
        name=name,
        mechanism="geometric",
        sensitivity=sensitivity,
        scale=scale,
        cells=cells,
        epsilon=epsilon,
        rho=epsilon**2 / 2,
        kind=known_kind(kind, name),
    )


def sum_charge(
    name: str, cost: Cost, unit: Unit, *, kind: str, cells: int, norm: int, non_negative: bool = False
) -> Charge:
    """Rounded Gaussian noise on a sum of vectors of at most `norm` (L2) a record; docs/proofs/sums.md.

    non_negative: no two vectors have a negative inner product, so that an exchange moves the sum by sqrt(2) and not
    by 2 times the vectors of an individual.
    """
    if cost.pure:
        msg = f"'{name}' sums vectors of bounded L2 norm, which needs a delta above 0; set a delta such as 1e-9"
        raise BudgetError(msg)
    exchange = (math.sqrt(2) if non_negative else 2.0) if unit.neighbours == "replace" else 1.0
    return noise_charge(name, cost, unit, kind=kind, cells=cells, l2=exchange * unit.max_records * norm)


def sampled_charge(
    name: str, cost: Cost, unit: Unit, *, kind: str, cells: int, norm: int, rate: float, steps: int, delta: float
) -> Charge:
    """Rounded Gaussian noise on `steps` sums over Poisson samples, of vectors of at most `norm` a record.

    The least noise whose Gaussian cost, beside failures of probability delta, is at most `cost`. Proof:
    docs/proofs/sampling.md. rate: rounded up to what can be drawn exactly, here and not by the caller, so that a plan
    and the run that follows it ask for the same noise, which takes a second to find.
    """
    from dpsyn_core.privacy import (  # scipy is heavy
        Sampling,
        on_grid,  # numba is heavy
        sampled_mu,
        sampled_multiplier,
    )

    if cost.pure:
        msg = "noise on samples needs a delta above 0; set a delta such as 1e-9, or use the method 'independent'"
        raise BudgetError(msg)
    rate, mu = on_grid(rate), math.sqrt(2 * cost.rho) * (1 - _FORGIVING)
    exchanged = unit.neighbours == "replace"
    multiplier = sampled_multiplier(mu, delta, rate=rate, steps=steps, records=unit.max_records, exchanged=exchanged)
    sampling = Sampling(rate=rate, multiplier=multiplier, steps=steps, records=unit.max_records, exchanged=exchanged)
    rho = min(cost.rho, sampled_mu(sampling, delta) ** 2 / 2 * (1 + _FORGIVING))
    return Charge(
        name=name,
        mechanism="sampled-gaussian",
        sensitivity=float(norm),
        scale=multiplier * norm,  # exact: norm is a power of two
        cells=cells,
        rho=rho,
        delta=delta,
        sampling=rate,
        steps=steps,
        records=unit.max_records,
        exchanged=exchanged,
        kind=known_kind(kind, name),
    )


def dirichlet_charge(name: str, cost: Cost, unit: Unit, *, cells: int, prior: float) -> Charge:
    """The Dirichlet-multinomial mechanism: pure DP."""
    return Charge(
        name=name,
        mechanism="dirichlet",
        sensitivity=float(unit.max_records),
        scale=prior,
        cells=cells,
        epsilon=cost.epsilon,
        rho=cost.epsilon**2 / 2,
        kind="synthetic",
    )


def selection_charge(name: str, cost: Cost, *, sensitivity: float) -> Charge:
    """Exponential mechanism: rho = epsilon^2 / 8. Source: Cesar, Rogers 2021, Lemma 3.4."""
    epsilon = cost.selection()
    if not (math.isfinite(sensitivity) and sensitivity > 0):
        msg = f"the sensitivity of '{name}' is {sensitivity}; it must be a finite number above 0"
        raise BudgetError(msg)
    return Charge(
        name=name,
        mechanism="exponential",
        sensitivity=sensitivity,
        scale=0.0,
        cells=1,
        epsilon=epsilon,
        rho=epsilon**2 / 8,
        kind="choice",
    )


def partition_charge(name: str, cost: Cost, unit: Unit, *, per_key: int, delta: float) -> Charge:
    """Keys kept by a noisy count; per_key: most that one individual adds to the count of one key.

    A neighbour moves the counts by at most K = unit.l1() in all, at most m = per_key each, so by sqrt(K m) in L2.
    Truncated geometric noise of scale b for a pure cost is (K / b)-DP, and rounded Gaussian noise of sigma for a rho
    has mu = sqrt(K m) / sigma, both up to a failure of probability delta. docs/proofs/noise.md, section 5.
    """
    if not 0 < delta < 1:
        msg = f"the delta of '{name}' is {delta}; it must lie between 0 and 1, for example 1e-9"
        raise BudgetError(msg)
    moved = unit.l1()
    if moved % per_key:
        msg = f"'{name}' lets one individual add {per_key} to a key, which does not divide its {moved} records"
        raise BudgetError(msg)
    noise = geometric_charge if cost.pure else partial(noise_charge, l2=math.sqrt(moved * per_key))
    charge = noise(name, cost, unit, kind="categories", cells=1)
    return replace(charge, mechanism="partition-selection", delta=delta)


def check_widest(scale: float) -> None:
    """Refuses, before anything is charged, a run whose widest noise the samplers cannot draw. Raises BudgetError."""
    from dpsyn_core.privacy import check_scale  # numba is heavy

    check_scale("the widest noise of this run", scale)
