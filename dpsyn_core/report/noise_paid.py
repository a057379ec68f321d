"""Held against the charges: whether released tables and scores tell no more than the manifest says was paid for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dpsyn_core.marginals.released_file import ReleasedFile
from dpsyn_core.marginals.types import Measurement, ReleasedTables, Scores
from dpsyn_core.measurement.released import law_of, sigma_of
from dpsyn_core.measurement.select import GRID
from dpsyn_core.privacy.charge import Charge, is_table
from dpsyn_core.privacy.charge_record import ChargeRecord
from dpsyn_core.privacy.unit import Unit

ROUNDING = 1e-6  # relative, of noise: it may have been computed on another machine
COEFFICIENTS, SCORES = "coefficients", "scores"  # kinds of charges


def without_noise(released: ReleasedTables) -> bool:
    """Whether a table, or the scores, state no noise at all."""
    scores = () if released.scores is None or not released.scores.sets else (released.scores,)
    return any(m.sigma <= 0 for m in (*released, *released.joint, *scores))


def underpaid(charges: Iterable[ChargeRecord], unit: Unit, released: ReleasedFile) -> list[str]:
    """Sentences, one for each name of which more was released than its charges paid for; none where all was paid.

    Several tables of one name add up: their precisions 1 / sigma^2 together are no more than the charges of that name
    bought. Tables that were computed from one release (`Measurement.shared`) are held against that one.

    Args:
        charges: of the manifest.
        unit: whom they protect.
        released: tables, joint tables and scores.
    """
    noisy = [c.charge() for c in charges]
    noisy = [c for c in noisy if law_of(c) is not None]
    found, shared = released.measurements, dict[str, list[Measurement]]()
    bought, used = dict[tuple[str, ...], float](), dict[tuple[str, ...], float]()
    for c in noisy:
        key = _attributes(c.name)
        if key is not None and _is_of_counts(c, unit):
            bought[key] = bought.get(key, 0.0) + sigma_of(c) ** -2
    own = [(m.attributes, m.sigma) for m in found if not m.shared]
    own += [(tuple(n for a in m.axes for n in a.attributes), m.sigma) for m in found.joint]
    for names, sigma in own:
        key = _parts(" x ".join(names))
        used[key] = used.get(key, 0.0) + (sigma**-2 if sigma > 0 else math.inf)
    for m in found:
        if m.shared:
            shared.setdefault(m.shared, []).append(m)
    out = []
    for key, precision in used.items():
        if key not in bought:
            out.append(f"the released marginals hold '{_name(key)}', and the manifest lists no charge for it")
        elif precision > bought[key] * (1 + ROUNDING):
            out.append(f"'{_name(key)}' was released with less noise, or more often, than the manifest's charges say")
    for name, views in shared.items():
        if not any(_pays_views(c, unit, views) for c in noisy if c.name == name):
            out.append(f"the released marginals hold more of '{name}' than the manifest's charge pays for")
    scores = found.scores
    if scores is not None and scores.sets and not any(_pays_scores(c, unit, scores) for c in noisy):
        out.append("the manifest lists no charge for the scores of pairs that were released, or one of more noise")
    return out


def _attributes(name: str) -> tuple[str, ...] | None:
    """The key of the table that a charge names; None where it names none."""
    if name == "total":
        return ()
    for prefix in ("marginal ", "group "):
        if name.startswith(prefix):
            return _parts(name.removeprefix(prefix))
    return None


def _parts(over: str) -> tuple[str, ...]:
    """Attributes in an order of their own: a system may name them in another one than the schema does."""
    return tuple(sorted(over.split(" x "))) if over else ()


def _name(key: tuple[str, ...]) -> str:
    return f"marginal {' x '.join(key)}" if key else "total"


def _sensitivity(c: Charge, unit: Unit) -> float:
    """Of one table of counts, in the norm of the charge's noise."""
    return unit.l2() if c.mechanism == "gaussian" else float(unit.l1())


def _is_of_counts(c: Charge, unit: Unit) -> bool:
    """Whether the noise of a charge is that of a table of counts, so that its precision may be used for one."""
    return (c.kind is None or is_table(c.kind)) and c.sensitivity >= _sensitivity(c, unit) * (1 - ROUNDING)


def _each(c: Charge) -> float:
    """The sensitivity of one of the `cells` numbers of a charge, all of which an individual moves alike."""
    return c.sensitivity / (math.sqrt(c.cells) if c.mechanism == "gaussian" else c.cells) if c.cells else 0.0


def _pays_views(c: Charge, unit: Unit, views: Sequence[Measurement]) -> bool:
    """Whether Fourier coefficients give these tables: a cell is the sum of 2^k signed coefficients over 2^k.

    A table over k attributes needs the coefficients of all its subsets, and the charge is of so many.
    """
    if c.kind not in (None, COEFFICIENTS) or _each(c) < unit.l1() * (1 - ROUNDING):
        return False
    needed: set[frozenset[str]] = set()
    sets = [frozenset(m.attributes) for m in views]
    if len(set(sets)) < len(sets):
        return False
    for m in views:
        k = len(m.attributes)
        if m.cells != 2**k or m.cells > c.cells or m.sigma < sigma_of(c) / 2 ** (k / 2) * (1 - ROUNDING):
            return False
        names = m.attributes
        needed.update(frozenset(n for i, n in enumerate(names) if at >> i & 1) for at in range(2**k))
        if len(needed) > c.cells:
            return False
    return True


def _pays_scores(c: Charge, unit: Unit, scores: Scores) -> bool:
    """Whether a charge bought scores of so many pairs with so little noise.

    An individual moves each score, which is a number of records, by all its records or more. Scores that are released
    on the grid of `score_sets` move by so many of its steps, and are divided by them.
    """
    each, least = _each(c), unit.l1()
    if c.kind not in (None, SCORES) or not c.name.endswith(" pairs") or each < least * (1 - ROUNDING):
        return False
    steps = GRID if math.isclose(each, GRID * least, rel_tol=ROUNDING) else 1
    once = len(set(scores.sets)) == len(scores.sets) <= c.cells
    return once and 0 < sigma_of(c) / steps * (1 - ROUNDING) <= scores.sigma
