"""Summary: what the runs on one dataset cost together, for everybody whom one of them protects, and what is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.entry import RECORDS, Protected, protected, unbounded
from dpsyn_core.privacy.ledger.limits import compose_entries, epsilon_left

if TYPE_CHECKING:
    from dpsyn_core.privacy.ledger.entry import Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class Sum:
    """What all runs cost somebody.

    who: whom, in words. identifier, records, neighbours: as `Protected` has them. unbounded: entries (seq) that
    promise them nothing; while there is one, mu, rho and epsilon are None. mu: exact Gaussian cost, None for
    mixtures. rho: zCDP cost, None when a run has none. epsilon: at the summary's delta, None when unbounded.
    epsilon_left: what one more run for them may cost at the limit's delta; None without a limit or a bound.
    """

    who: str
    identifier: str | None
    records: int
    neighbours: str
    unbounded: tuple[int, ...]
    mu: float | None
    rho: float | None
    epsilon: float | None
    epsilon_left: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """All runs on a dataset, and one sum for everybody whom one of them protects.

    neighbours: for which the sums hold; runs under add/remove count twice (their group bound for two steps) as
    soon as a run under replace stands beside them. max_records: the largest that a run assumed. mu, rho, epsilon:
    the largest of the sums, None when one of them is. epsilon_left: what one more run like the last may cost at
    the limit's delta; None without a limit.
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
    sums: tuple[Sum, ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON types."""
        return asdict(self)


def summarise(name: str, entries: Sequence[Entry], *, limit: Budget | None, delta: float | None = None) -> Summary:
    """Composes the runs of one dataset."""
    delta = _delta(entries, limit, delta)
    limits = (limit.epsilon, limit.delta) if limit else (None, None)
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
            limit_epsilon=limits[0],
            limit_delta=limits[1],
            epsilon_left=limits[0],
        )
    sums = tuple(sum_for(entries, who, limit=limit, delta=delta) for who in protected(entries))
    return Summary(
        dataset=name,
        runs=len(entries),
        neighbours=sums[0].neighbours,
        max_records=max(e.max_records for e in entries),
        mu=_largest([s.mu for s in sums]),
        rho=_largest([s.rho for s in sums]),
        epsilon=_largest([s.epsilon for s in sums]),
        delta=delta,
        limit_epsilon=limits[0],
        limit_delta=limits[1],
        epsilon_left=epsilon_left(entries, entries[-1], limit) if limit else None,
        sums=sums,
    )


def sum_for(
    entries: Sequence[Entry], who: Protected, *, limit: Budget | None = None, delta: float | None = None
) -> Sum:
    """What these runs cost `who` together, whether or not one of them was meant for them."""
    delta = _delta(entries, limit, delta)
    if any(e.neighbours == "replace" for e in entries):
        who = replace(who, neighbours="replace")
    none = unbounded(entries, who)
    whole = None if none else compose_entries(entries, who)
    epsilon = math.inf if whole is None else whole.epsilon(delta)
    left = None
    if limit is not None and whole is not None:
        left = epsilon_left(entries, _like(entries[-1], who), limit) if entries else limit.epsilon
    return Sum(
        who=who.words,
        identifier=who.identifier,
        records=who.records,
        neighbours=who.neighbours,
        unbounded=tuple(e.seq for e in none),
        mu=None if whole is None else whole.mu,
        rho=None if whole is None else whole.zcdp,
        epsilon=epsilon if math.isfinite(epsilon) else None,
        epsilon_left=left,
    )


def _delta(entries: Sequence[Entry], limit: Budget | None, delta: float | None) -> float:
    if delta is not None:
        return delta
    return limit.delta if limit else max((e.delta for e in entries), default=0.0)


def _largest(values: Sequence[float | None]) -> float | None:
    finite = [v for v in values if v is not None]
    return max(finite) if len(finite) == len(values) else None


def _like(entry: Entry, who: Protected) -> Entry:
    """An entry that protects `who`, otherwise like this one."""
    if who.identifier is not None:
        return replace(entry, individuals=who.identifier, neighbours=who.neighbours)
    return replace(entry, individuals=RECORDS, max_records=who.records, neighbours=who.neighbours)
