"""Summary: what the runs on one dataset cost together, and what its limit leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dpsyn_core.privacy.budget import Budget

if TYPE_CHECKING:
    from dpsyn_core.privacy.accountant import Composition
    from dpsyn_core.privacy.ledger import Entry

_BELOW = 1 - 1e-9  # conversions round outward; what is offered must fit


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
        epsilon_left=_left(whole, limit) if limit else None,
    )


def compose_entries(entries: Sequence[Entry]) -> Composition:
    """The runs together, for one definition of neighbours; the order plays no part."""
    from dpsyn_core.privacy.accountant import Composition  # scipy is heavy

    mixed = len({e.neighbours for e in entries}) > 1
    parts = []
    for e in entries:
        failure = 0.0 if e.kind == "approximate" else e.failure
        part = Composition(
            mu2=e.amount**2 if e.kind == "gaussian" else 0.0,
            pure=(e.amount,) if e.kind == "pure" else (),
            rho=e.amount if e.kind == "zcdp" else 0.0,
            pairs=((e.amount, e.failure),) if e.kind == "approximate" else (),
            delta=failure,
        )
        if mixed and e.neighbours == "add-remove":
            # a failure has no group bound of its own: the run's (epsilon, delta) as a whole has one
            part = (Composition(pairs=((e.epsilon, e.delta),)) if failure else part).grouped(2)
        parts.append(part)
    return Composition(
        mu2=math.fsum(p.mu2 for p in parts),
        pure=tuple(sorted(x for p in parts for x in p.pure)),
        rho=math.fsum(p.rho for p in parts),
        pairs=tuple(sorted(x for p in parts for x in p.pairs)),
        delta=math.fsum(p.delta for p in parts),
    )


def _left(whole: Composition, limit: Budget) -> float:
    """Largest epsilon of one more run at the limit's delta, a little below what fits; 0 when nothing does."""
    from dpsyn_core.privacy.accountant import Composition  # scipy is heavy
    from dpsyn_core.privacy.accounting import gdp_epsilon, gdp_mu

    if limit.delta == 0:
        spent = whole.pure_epsilon
        return 0.0 if spent is None else max(0.0, limit.epsilon - spent) * _BELOW
    if whole.gaussian and whole.delta < limit.delta:
        room = gdp_mu(limit.epsilon, limit.delta - whole.delta) ** 2 - whole.mu2
        return gdp_epsilon(math.sqrt(room), limit.delta) * _BELOW if room > 0 else 0.0
    low, high = 0.0, limit.epsilon
    for _ in range(40):  # one more Gaussian run beside a mixture, by the closed forms alone
        middle = (low + high) / 2
        both = whole + Composition(mu2=gdp_mu(middle, limit.delta) ** 2)
        low, high = (middle, high) if both.closed_form_epsilon(limit.delta) <= limit.epsilon else (low, middle)
    return low * _BELOW
