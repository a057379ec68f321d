"""Summary: what the runs on one dataset cost together, and what its limit leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from dpsyn_core.privacy.budget import Budget

if TYPE_CHECKING:
    from dpsyn_core.privacy.accountant import Composition
    from dpsyn_core.privacy.ledger import Entry
    from dpsyn_core.privacy.spend import Spend

_BELOW = 1 - 1e-9  # conversions round outward; what is offered must fit
_ROUNDING = 1 + 1e-12  # half of what calibrated costs hold back


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """All runs on a dataset.

    neighbours: for which the sums hold; runs under add/remove count twice (their group bound for two steps) as
    soon as a run under replace stands beside them. max_records: the largest that a run assumed. mu: exact Gaussian
    cost, None for mixtures. rho: zCDP cost, None when a run has none. epsilon: at `delta`, None when unbounded.
    epsilon_left: what one more run of the same kind may cost at the limit's delta; None without a limit.
    """

    dataset: str
    runs: int
    neighbours: str | None
    max_records: int | None
    mu: float | None
    rho: float | None
    epsilon: float | None
    delta: float
    limit_epsilon: float | None = None
    limit_delta: float | None = None
    epsilon_left: float | None = None

    def document(self) -> dict[str, Any]:
        """As JSON types."""
        return asdict(self)


def summarise(name: str, entries: Sequence[Entry], *, limit: Budget | None, delta: float | None = None) -> Summary:
    """Composes the runs of one dataset."""
    if delta is None:
        delta = limit.delta if limit else max((e.delta for e in entries), default=0.0)
    if not entries:
        return Summary(
            dataset=name,
            runs=0,
            neighbours=None,
            max_records=None,
            mu=0.0,
            rho=0.0,
            epsilon=0.0,
            delta=delta,
            limit_epsilon=limit.epsilon if limit else None,
            limit_delta=limit.delta if limit else None,
            epsilon_left=limit.epsilon if limit else None,
        )
    whole = compose_entries(entries)
    epsilon = whole.epsilon(delta)
    return Summary(
        dataset=name,
        runs=len(entries),
        neighbours="replace" if any(e.neighbours == "replace" for e in entries) else "add-remove",
        max_records=max(e.max_records for e in entries),
        mu=whole.mu,
        rho=whole.zcdp,
        epsilon=epsilon if math.isfinite(epsilon) else None,
        delta=delta,
        limit_epsilon=limit.epsilon if limit else None,
        limit_delta=limit.delta if limit else None,
        epsilon_left=_left(entries, limit) if limit else None,
    )


def composition(spend: Spend) -> Composition:
    """One spend as the accountant composes it."""
    from dpsyn_core.privacy.accountant import Composition  # scipy is heavy

    if spend.kind == "approximate":
        return Composition(pairs=((spend.amount, spend.delta),))
    return Composition(
        mu2=spend.amount**2 if spend.kind == "gaussian" else 0.0,
        pure=(spend.amount,) if spend.kind == "pure" else (),
        rho=spend.amount if spend.kind == "zcdp" else 0.0,
        delta=spend.delta,
    )


def compose_entries(entries: Sequence[Entry]) -> Composition:
    """The runs together, for one definition of neighbours; the order plays no part."""
    from dpsyn_core.privacy.accountant import Composition  # scipy is heavy

    mixed = len({e.neighbours for e in entries}) > 1
    parts = []
    for e in entries:
        part = composition(e.spend)
        if mixed and e.neighbours == "add-remove":
            # a failure has no group bound of its own: the run's (epsilon, delta) as a whole has one
            part = (Composition(pairs=((e.epsilon, e.delta),)) if part.delta else part).grouped(2)
        parts.append(part)
    return Composition(
        mu2=math.fsum(p.mu2 for p in parts),
        pure=tuple(sorted(x for p in parts for x in p.pure)),
        rho=math.fsum(p.rho for p in parts),
        pairs=tuple(sorted(x for p in parts for x in p.pairs)),
        delta=math.fsum(p.delta for p in parts),
    )


def fits_limit(entries: Sequence[Entry], limit: Budget) -> bool:
    """Whether a limit covers these runs although their budgets may have been chosen after seeing earlier outputs.

    Only sums that stay valid then (privacy filters) count: mu^2 of Gaussian runs, pure epsilons, rho of mixtures,
    and each run's own (epsilon, delta). Sources: docs/proofs/accounting.md, T12.
    """
    from dpsyn_core.privacy.accounting import gdp_mu, zcdp_rho  # scipy is heavy

    whole = compose_entries(entries)
    if whole.pure_epsilon is not None and whole.pure_epsilon <= limit.epsilon:
        return True
    left = limit.delta - whole.delta
    if left > 0 and whole.gaussian:
        return whole.mu2 <= (gdp_mu(limit.epsilon, left) * _ROUNDING) ** 2
    if left > 0 and whole.zcdp is not None and whole.zcdp <= zcdp_rho(limit.epsilon, left) * _ROUNDING:
        return True
    pairs = _own_pairs(entries)
    return math.fsum(e for e, _ in pairs) <= limit.epsilon and math.fsum(d for _, d in pairs) <= limit.delta


def _own_pairs(entries: Sequence[Entry]) -> list[tuple[float, float]]:
    """What each run promised on its own, for one definition of neighbours."""
    from dpsyn_core.privacy.accountant import Composition  # scipy is heavy

    mixed = len({e.neighbours for e in entries}) > 1
    found = []
    for e in entries:
        pair = (e.amount, e.failure) if e.kind in {"pure", "approximate"} else (e.epsilon, e.delta)
        grouped = mixed and e.neighbours == "add-remove"
        found.append(Composition(pairs=(pair,)).grouped(2).pairs[0] if grouped else pair)
    return found


def _left(entries: Sequence[Entry], limit: Budget) -> float:
    """Largest epsilon of one more run at the limit's delta, a little below what fits; 0 when nothing does.

    The run is Gaussian, or pure where the limit's delta is 0, and of the neighbours of the last one.
    """
    from dpsyn_core.privacy.accounting import gdp_epsilon, gdp_mu  # scipy is heavy

    whole = compose_entries(entries)
    if limit.delta == 0:
        return 0.0 if whole.pure_epsilon is None else max(0.0, limit.epsilon - whole.pure_epsilon) * _BELOW
    if whole.gaussian and not whole.delta:
        room = gdp_mu(limit.epsilon, limit.delta) ** 2 - whole.mu2
        return gdp_epsilon(math.sqrt(room), limit.delta) * _BELOW if room > 0 else 0.0
    low, high = 0.0, limit.epsilon
    for _ in range(50):
        middle = (low + high) / 2
        mu = gdp_mu(middle, limit.delta)
        more = replace(entries[-1], kind="gaussian", amount=mu, failure=0.0, epsilon=middle, delta=limit.delta)
        low, high = (middle, high) if fits_limit([*entries, more], limit) else (low, middle)
    return low * _BELOW
