"""Summary: what the runs on one dataset cost together, for everybody whom one of them protects, and what is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.protected import RECORDS, Protected, protected, unbounded

if TYPE_CHECKING:
    from dpsyn_core.privacy.composition import Composition
    from dpsyn_core.privacy.entry import Entry
    from dpsyn_core.privacy.spend import Spend

_BELOW = 1 - 1e-9  # conversions round outward; what is offered must fit
_ROUNDING = 1 + 1e-12  # half of what calibrated costs hold back


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
        epsilon_left=_left(entries, entries[-1], limit) if limit else None,
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
        left = _left(entries, _like(entries[-1], who), limit) if entries else limit.epsilon
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
    known = [v for v in values if v is not None]
    return max(known) if len(known) == len(values) else None


def _like(entry: Entry, who: Protected) -> Entry:
    """An entry that protects `who`, otherwise like this one."""
    if who.identifier is not None:
        return replace(entry, individuals=who.identifier, neighbours=who.neighbours)
    return replace(entry, individuals=RECORDS, max_records=who.records, neighbours=who.neighbours)


def composition(spend: Spend) -> Composition:
    """One spend as it is composed."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    if spend.kind == "approximate":
        return Composition(pairs=((spend.amount, spend.delta),))
    return Composition(
        mu2=spend.amount**2 if spend.kind == "gaussian" else 0.0,
        pure=(spend.amount,) if spend.kind == "pure" else (),
        rho=spend.amount if spend.kind == "zcdp" else 0.0,
        delta=spend.delta,
    )


def compose_entries(entries: Sequence[Entry], who: Protected) -> Composition:
    """The runs together as `who` sees them, all of which must have a bound for them; the order plays no part."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    parts = [_seen(e, _steps(e, who)) for e in entries]
    return Composition(
        mu2=math.fsum(p.mu2 for p in parts),
        pure=tuple(sorted(x for p in parts for x in p.pure)),
        rho=math.fsum(p.rho for p in parts),
        pairs=tuple(sorted(x for p in parts for x in p.pairs)),
        delta=math.fsum(p.delta for p in parts),
    )


def _steps(entry: Entry, who: Protected) -> int:
    found = who.steps(entry)
    if found is None:
        msg = f"entry {entry.seq} of the ledger promises {who.words} nothing, and was added up for them"
        raise EngineError(msg)
    return found


def _seen(entry: Entry, steps: int) -> Composition:
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    part = composition(entry.spend)
    if steps == 1:
        return part
    # a failure has no group bound of its own: the run's (epsilon, delta) as a whole has one
    return (Composition(pairs=((entry.epsilon, entry.delta),)) if part.delta else part).grouped(steps)


def lost(before: Sequence[Entry], entry: Entry) -> Protected | None:
    """Whom the runs before protected together and would no longer with this one; None when there is nobody."""
    after = [*before, entry]
    had = {(w.identifier, w.records) for w in protected(before) if not unbounded(before, w)}
    for who in protected(after):
        if (who.identifier, who.records) in had and unbounded(after, who):
            return who
    return None


def fits_limit(before: Sequence[Entry], entry: Entry, limit: Budget) -> bool:
    """Whether a limit covers these runs and one more, although budgets may be chosen after seeing earlier outputs.

    It must cover them for everybody for whom all runs have a bound; nobody may lose the bound by the new run, and
    somebody must have one. Only sums that stay valid for budgets chosen on the way (privacy filters) count: mu^2 of
    Gaussian runs, pure epsilons, rho of mixtures, and each run's own (epsilon, delta). Sources:
    docs/proofs/accounting.md, T12 and section 8.
    """
    after = [*before, entry]
    held = [who for who in protected(after) if not unbounded(after, who)]
    return bool(held) and lost(before, entry) is None and all(_covers(limit, after, who) for who in held)


def _covers(limit: Budget, entries: Sequence[Entry], who: Protected) -> bool:
    from dpsyn_core.privacy.conversions import gdp_mu, zcdp_rho  # scipy is heavy

    whole = compose_entries(entries, who)
    if whole.pure_epsilon is not None and whole.pure_epsilon <= limit.epsilon:
        return True
    left = limit.delta - whole.delta
    if left > 0 and whole.gaussian:
        return whole.mu2 <= (gdp_mu(limit.epsilon, left) * _ROUNDING) ** 2
    if left > 0 and whole.zcdp is not None and whole.zcdp <= zcdp_rho(limit.epsilon, left) * _ROUNDING:
        return True
    pairs = [_own_pair(e, _steps(e, who)) for e in entries]
    return math.fsum(e for e, _ in pairs) <= limit.epsilon and math.fsum(d for _, d in pairs) <= limit.delta


def _own_pair(entry: Entry, steps: int) -> tuple[float, float]:
    """What a run promised on its own, to neighbours so many steps apart."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    own = entry.kind in {"pure", "approximate"}
    pair = (entry.amount, entry.failure) if own else (entry.epsilon, entry.delta)
    return pair if steps == 1 else Composition(pairs=(pair,)).grouped(steps).pairs[0]


def _left(entries: Sequence[Entry], like: Entry, limit: Budget) -> float:
    """Largest epsilon of one more run at the limit's delta, a little below what fits; 0 when nothing does.

    The run is Gaussian, or pure where the limit's delta is 0, and protects whom `like` protects.
    """
    from dpsyn_core.privacy.conversions import gdp_epsilon, gdp_mu  # scipy is heavy

    after = [*entries, like]
    held = [who for who in protected(after) if not unbounded(after, who)]
    if not held or lost(entries, like) is not None:
        return 0.0
    wholes = [(compose_entries(entries, who), _steps(like, who)) for who in held]
    if limit.delta == 0:
        rooms = [0.0 if w.pure_epsilon is None else (limit.epsilon - w.pure_epsilon) / steps for w, steps in wholes]
        return max(0.0, min(rooms)) * _BELOW
    if all(w.gaussian and not w.delta for w, _ in wholes):
        most = gdp_mu(limit.epsilon, limit.delta) ** 2
        room = min((most - w.mu2) / steps**2 for w, steps in wholes)
        return gdp_epsilon(math.sqrt(room), limit.delta) * _BELOW if room > 0 else 0.0
    low, high = 0.0, limit.epsilon
    for _ in range(50):
        middle = (low + high) / 2
        mu = gdp_mu(middle, limit.delta)
        more = replace(like, kind="gaussian", amount=mu, failure=0.0, epsilon=middle, delta=limit.delta)
        low, high = (middle, high) if fits_limit(entries, more, limit) else (low, middle)
    return low * _BELOW
