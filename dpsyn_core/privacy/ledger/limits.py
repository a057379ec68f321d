"""Limits of a ledger, and what its entries add up to.

Totals: runs of a ledger as somebody sees them, each at its number of steps, ready to be composed.

Limits: whether one more run fits what all runs on a dataset may cost together, whatever was chosen on the way.

A limit is a set of tests that is fixed by its (epsilon, delta) alone. Any one of them lets a run through; each has a
share of delta, and the shares add up to delta, so that choosing by earlier results which test to aim for gains nothing.
Proof: docs/proofs/accounting.md, T13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.entry import Protected, composition, protected, unbounded

if TYPE_CHECKING:
    from dpsyn_core.privacy.composition import Composition
    from dpsyn_core.privacy.ledger.entry import Entry


def compose_entries(entries: Sequence[Entry], who: Protected) -> Composition:
    """The runs together as `who` sees them, all of which must have a bound for them; the order plays no part."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    parts = [seen(e, steps_of(e, who)) for e in entries]
    return Composition(
        mu2=math.fsum(p.mu2 for p in parts),
        pure=tuple(sorted(x for p in parts for x in p.pure)),
        rho=math.fsum(p.rho for p in parts),
        pairs=tuple(sorted(x for p in parts for x in p.pairs)),
        delta=math.fsum(p.delta for p in parts),
    )


def steps_of(entry: Entry, who: Protected) -> int:
    """Steps of the entry's relation that cover `who` (group privacy). Raises EngineError where none bounds them."""
    steps = who.steps(entry)
    if steps is None:
        msg = f"entry {entry.seq} of the ledger promises {who.words} nothing, and was added up for them"
        raise EngineError(msg)
    return steps


def seen(entry: Entry, steps: int) -> Composition:
    """One run as neighbours so many steps apart see it."""
    from dpsyn_core.privacy.composition import Composition  # scipy is heavy

    part = composition(entry.spend)
    if steps == 1:
        return part
    # a failure has no group bound of its own: the run's (epsilon, delta) as a whole has one
    return (Composition(pairs=((entry.epsilon, entry.delta),)) if part.delta else part).grouped(steps)


# Shares of a limit's delta; they add up to 1. Half is for failures, for a purchase of categories keeps half of its
# delta for them; Gaussian runs, which most are, have most of the rest.
FAILURES = 1 / 2
GAUSSIAN = 5 / 16
MIXED = 1 / 8
SPLIT = 1 / 16
PARTS = 8  # Gaussian runs beside pure ones: 1/8, 2/8, ... 7/8 of epsilon are for the Gaussian ones
_BELOW = 1 - 1e-9  # conversions round outward; what is offered must fit
_ROUNDING = 1 + 1e-12  # half of what calibrated costs hold back


def lost(before: Sequence[Entry], entry: Entry) -> Protected | None:
    """Whom the runs before protected together and would no longer with this one; None when there is nobody."""
    after = [*before, entry]
    had = {(w.identifier, w.records) for w in protected(before) if not unbounded(before, w)}
    for who in protected(after):
        if (who.identifier, who.records) in had and unbounded(after, who):
            return who
    return None


def fits_limit(before: Sequence[Entry], entry: Entry, limit: Budget) -> bool:
    """Whether a limit covers these runs and one more, although runs may be chosen after seeing earlier outputs.

    It must cover them for everybody for whom all runs have a bound; nobody may lose the bound by the new run, and
    somebody must have one. Sources: docs/proofs/accounting.md, T12, T13 and section 8.
    """
    after = [*before, entry]
    bounded = [who for who in protected(after) if not unbounded(after, who)]
    return bool(bounded) and lost(before, entry) is None and all(_covers(limit, after, who) for who in bounded)


def failing(before: Sequence[Entry], entry: Entry, limit: Budget) -> bool:
    """Whether failure probabilities are what keeps this run out."""
    after = [*before, entry]
    bounded = [who for who in protected(after) if not unbounded(after, who)]
    return len(after) > 1 and any(_failures(compose_entries(after, who)) > FAILURES * limit.delta for who in bounded)


def _failures(whole: Composition) -> float:
    """What failure probabilities add up to; a bare (epsilon, delta) fails with probability delta."""
    return math.fsum((whole.delta, *(d for _, d in whole.pairs)))


def _covers(limit: Budget, entries: Sequence[Entry], who: Protected) -> bool:
    from dpsyn_core.privacy.conversions import gdp_mu, zcdp_rho  # scipy is heavy

    if len(entries) == 1:  # the first run was chosen before anything was seen: it may be as large as the limit
        return seen(entries[0], steps_of(entries[0], who)).within(limit.epsilon, limit.delta)
    whole = compose_entries(entries, who)
    if _failures(whole) > FAILURES * limit.delta:
        return False
    pure = (*whole.pure, *(e for e, _ in whole.pairs))
    if not whole.mu2 and not whole.rho and math.fsum(pure) <= limit.epsilon:
        return True
    if limit.delta == 0:
        return False
    rho = math.fsum((whole.mu2 / 2, whole.rho, *(e * e / 2 for e in pure)))
    if rho <= zcdp_rho(limit.epsilon, MIXED * limit.delta) * _ROUNDING:
        return True
    if whole.rho:
        return False
    if not pure:
        return whole.mu2 <= (gdp_mu(limit.epsilon, GAUSSIAN * limit.delta) * _ROUNDING) ** 2
    share = SPLIT / (PARTS - 1) * limit.delta
    return any(
        math.fsum(pure) <= (1 - k / PARTS) * limit.epsilon
        and whole.mu2 <= (gdp_mu(k / PARTS * limit.epsilon, share) * _ROUNDING) ** 2
        for k in range(1, PARTS)
    )


def epsilon_left(entries: Sequence[Entry], like: Entry, limit: Budget) -> float:
    """Largest epsilon of one more run at the limit's delta, a little below what fits; 0 when nothing does.

    The run is Gaussian, or pure where the limit's delta is 0, and protects whom `like` protects.
    """
    from dpsyn_core.privacy.conversions import gdp_epsilon, gdp_mu  # scipy is heavy

    after = [*entries, like]
    bounded = [who for who in protected(after) if not unbounded(after, who)]
    if not bounded or lost(entries, like) is not None:
        return 0.0
    wholes = [(compose_entries(entries, who), steps_of(like, who)) for who in bounded]
    if limit.delta == 0:
        rooms = [0.0 if w.pure_epsilon is None else (limit.epsilon - w.pure_epsilon) / steps for w, steps in wholes]
        return max(0.0, min(rooms)) * _BELOW
    if all(w.gaussian and not w.delta for w, _ in wholes):
        most = gdp_mu(limit.epsilon, GAUSSIAN * limit.delta) ** 2
        room = min((most - w.mu2) / steps**2 for w, steps in wholes)
        return gdp_epsilon(math.sqrt(room), limit.delta) * _BELOW if room > 0 else 0.0
    low, high = 0.0, limit.epsilon
    for _ in range(50):
        middle = (low + high) / 2
        mu = gdp_mu(middle, limit.delta)
        more = replace(like, kind="gaussian", amount=mu, failure=0.0, epsilon=middle, delta=limit.delta)
        low, high = (middle, high) if fits_limit(entries, more, limit) else (low, middle)
    return low * _BELOW
