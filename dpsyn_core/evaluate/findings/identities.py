"""Orders, differences, sums, products and keys that hold in the real table, and how often they do not in the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.findings.cells import ExactCells, alike
from dpsyn_core.evaluate.findings.finding import Finding, beyond_chance

HOLDS = 0.99  # share of the records that have all values
BY_CHANCE = 0.03  # share of shuffled records that break an order at least, else it says nothing
OFTEN = 0.1  # the same, of an order that is proposed as a rule
BROKEN = 0.1  # of that share: what an order may be broken by
TRIED = 64  # records on which each sum of two columns is tried, before all
ALONE = 1e-6  # share of its own squares that a computed column keeps beside the others
LEARNT = 2000  # records from which sums of more columns are learnt
MOST_NUMBERS = 60  # columns that are looked at, the first in the order of the schema
FEWEST = 30  # records that have all values
MOST_REAL = 50_000  # real records that are looked at; synthetic ones are counted in all
CHANCE_PAIRS = 20.0  # pairs of equal records that a key would have, if it were none
UNITS = {"days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1}  # of a time between two dates
EXAMPLES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Numbers:
    """Numbers and dates of both tables by column; dates in seconds since 1970. dates: names of those."""

    real: Mapping[str, Floats]
    synthetic: Mapping[str, Floats]
    dates: frozenset[str]

    @classmethod
    def of(cls, c: Comparison) -> Numbers:
        """Those of a comparison; of many real records some."""
        cells, real, synth, dates = ExactCells.of(c), {}, {}, set()
        kept = np.sort(np.random.default_rng(0).permutation(c.n)[:MOST_REAL])
        for name in [n for n in c.domain.names if cells.measured(n)][:MOST_NUMBERS]:
            unit = c.date_units.get(name)
            left, right = cells.floats(name)
            if unit is not None and name not in c.real_values:
                dates.add(name)
                left, right = left * unit, right * unit
            real[name], synth[name] = left[kept], right
        return cls(real=real, synthetic=synth, dates=frozenset(dates))


def orders(c: Comparison) -> list[Finding]:
    """Pairs of numbers, or of dates, of which one is never above the other."""
    numbers, out = Numbers.of(c), []
    for low, high, real, n in _kept_orders(numbers):
        wrong = numbers.synthetic[low] > numbers.synthetic[high]
        out += _found(c, "order", (low, high), wrong, (real, n))
    return sorted(out, key=lambda f: -f.weight)


def _kept_orders(numbers: Numbers) -> Iterator[tuple[str, str, float, int]]:
    """The lower and the upper column, the share of the real records that break it, and how many have both."""
    for low, high in permutations(numbers.real, 2):
        if (low in numbers.dates) != (high in numbers.dates):
            continue
        x, y = numbers.real[low], numbers.real[high]
        both = ~(np.isnan(x) | np.isnan(y))
        if both.sum() < FEWEST:
            continue
        x, y = x[both], y[both]
        real = float((x > y).mean())
        chance = float((x[np.random.default_rng(0).permutation(len(x))] > y).mean())
        apart = chance < BY_CHANCE and low not in numbers.dates  # two dates that never overlap are an order as well
        if real > 1 - HOLDS or apart or real > BROKEN * chance:
            continue
        yield low, high, real * float(both.mean()), int(both.sum())


def record_rules(c: Comparison) -> list[dict[str, Any]]:
    """Documents of rules that the real records keep, computed numbers first; private, for the owner.

    c: a comparison of the real table, with any. Whether a record breaks one is for whoever declares it to see: a rule
    of the schema is stricter about rounding.
    """
    numbers = Numbers.of(c)
    computed = [as_rule(how, (column, *parts), s.unit) for column, parts, how, s in _computed_columns(numbers)]
    orders = [o[:2] for o in _kept_orders(numbers) if o[2] == 0 and _close(numbers, *o[:2])]
    return [*computed, *(as_rule("order", pair) for pair in orders)]


def _close(numbers: Numbers, low: str, high: str) -> bool:
    """Whether two columns are dates, or numbers on one scale: shuffled records would break their order often."""
    if low in numbers.dates:
        return True
    x, y = numbers.real[low], np.random.default_rng(0).permutation(numbers.real[high])
    return float((x > y)[~np.isnan(x - y)].mean()) >= OFTEN


def as_rule(key: str, columns: tuple[str, ...], unit: float = 1.0) -> dict[str, Any]:
    """The document of the rule that a finding of this kind would be declared as; unit: of a time, in seconds."""
    column, *parts = columns
    if key == "order":
        return {"kind": "order", "lower": column, "upper": parts[0]}
    if key == "sum":
        return {"kind": "sum", "column": column, "parts": parts}
    if key == "product":
        return {"kind": "ratio", "column": parts[0], "of": column, "by": parts[1:]}
    units = {float(seconds): name for name, seconds in UNITS.items()} if key == "between" else {}
    return {"kind": "difference", "column": column, "of": parts[0], "minus": parts[1], "unit": units.get(unit)}


def sums(c: Comparison) -> list[Finding]:
    """Columns that are computed from others: a difference of dates, a sum, a difference or a product of numbers."""
    numbers, out = Numbers.of(c), []
    for column, parts, how, compute in _computed_columns(numbers):
        real = _apart(numbers.real, column, compute)
        wrong = _apart(numbers.synthetic, column, compute)
        out += _found(c, how, (column, *parts), wrong, (float(real.mean()), len(real)), compute.unit)
    return sorted(out, key=lambda f: -f.weight)


def _computed_columns(numbers: Numbers) -> list[Computed]:
    """Each once: of a = b + c and b = a - c the sum."""
    best: dict[frozenset[str], Computed] = {}
    for one in (*_of_two(numbers), *_of_more(numbers)):
        key = frozenset((one[0], *one[1]))
        if key not in best or (best[key][2] == "less" and one[2] == "sum"):
            best[key] = one
    return list(best.values())


class _Sum:
    """A sum of columns with whole coefficients, in a unit. loose: of times that may be counted either way."""

    def __init__(
        self, parts: Mapping[str, float], unit: float = 1.0, *, product: bool = False, loose: bool = False
    ) -> None:
        self.parts, self.unit, self.product, self.loose = dict(parts), unit, product, loose

    def of(self, values: Mapping[str, Floats]) -> Floats:
        """What the column has to be."""
        if self.product:
            first, second = (values[n] for n in self.parts)
            return np.asarray(first * second)
        return np.asarray(sum(k * values[n] for n, k in self.parts.items()) / self.unit)


Computed = tuple[str, tuple[str, ...], str, _Sum]


def _apart(values: Mapping[str, Floats], column: str, compute: _Sum) -> NDArray[np.bool_]:
    """Records that have all values, and another one than the others give."""
    sums, got = compute.of(values), values[column]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(sums - got) > _allowed(got, compute))


def _allowed(values: Floats, compute: _Sum) -> float:
    """By how much a rounded cell may be off."""
    valid = values[~np.isnan(values)][:LEARNT]
    if len(valid) and _whole(valid):
        return 1.0 if compute.loose else 0.501
    if len(valid) and (np.abs(valid * 100 - np.round(valid * 100)) < 1e-6 * np.maximum(1, np.abs(valid))).all():
        return 0.0101
    return float(1e-6 * max(1e-9, np.abs(valid).max(initial=0)))


def _holds(numbers: Numbers, column: str, compute: _Sum, rows: NDArray[np.intp] | None = None) -> bool:
    values = numbers.real if rows is None else {n: numbers.real[n][rows] for n in (column, *compute.parts)}
    sums, got = compute.of(values), values[column]
    both = ~(np.isnan(sums) | np.isnan(got))
    few = 10 if rows is not None else FEWEST
    if both.sum() < few:
        return False
    off = np.abs(sums[both] - got[both]) > _allowed(numbers.real[column], compute)
    return float(off.mean()) <= (1 - HOLDS if rows is None else 0.05)


def _of_two(numbers: Numbers) -> Iterator[Computed]:
    plain = [n for n in numbers.real if n not in numbers.dates and _varies(numbers.real[n])]
    dates = sorted(numbers.dates)
    n = len(next(iter(numbers.real.values()), np.zeros(0)))
    rows = np.sort(np.random.default_rng(1).permutation(n)[:TRIED])
    for late, early in permutations(dates, 2):
        for column in plain:
            for unit, loose in product(UNITS.values(), (False, True)):
                s = _Sum({late: 1, early: -1}, unit, loose=loose and unit > 1)
                if _holds(numbers, column, s, rows) and _holds(numbers, column, s) and _needed(numbers, column, s):
                    yield column, (late, early), "between", s
                    break
    few = {n: numbers.real[n][rows] for n in plain}
    for column in plain:
        got = few[column]
        allowed = _allowed(numbers.real[column], _Sum({}))
        others = [n for n in plain if n != column]
        if len(others) < 2:
            continue
        x = np.stack([few[n] for n in others])
        for how in ("sum", "product", "less"):
            with np.errstate(invalid="ignore", over="ignore"):
                for i in range(len(others)):
                    second = x if how == "less" else x[i + 1 :]
                    sums = x[i] * second if how == "product" else x[i] + second * (-1 if how == "less" else 1)
                    valid = ~np.isnan(sums - got)
                    off = ((np.abs(sums - got) > allowed) & valid).sum(axis=1)
                    for j in np.flatnonzero((off <= 0.05 * valid.sum(axis=1)) & (valid.sum(axis=1) >= 10)):
                        other = others[j if how == "less" else i + 1 + j]
                        if other == others[i]:
                            continue
                        s = _Sum({others[i]: 1, other: -1 if how == "less" else 1}, product=how == "product")
                        if _holds(numbers, column, s) and _needed(numbers, column, s):
                            parts = (
                                (other, others[i])
                                if how == "product" and _whole(few[others[i]])
                                else (others[i], other)
                            )
                            yield column, parts, how, s


def _whole(values: Floats) -> bool:
    valid = values[~np.isnan(values)]
    return bool((valid == np.round(valid)).all())


def _varies(values: Floats) -> bool:
    valid = values[~np.isnan(values)]
    return len(valid) > FEWEST and bool((valid != valid[0]).any())


def _needed(numbers: Numbers, column: str, s: _Sum) -> bool:
    """Whether no part alone gives the column, and shuffled parts do not: else nothing is computed."""
    got, allowed = numbers.real[column], _allowed(numbers.real[column], s)
    rng = np.random.default_rng(0)
    for name in s.parts:
        mixed = {n: (rng.permutation(v) if n == name else v) for n, v in numbers.real.items() if n in s.parts}
        off = np.abs(s.of(mixed) - got)
        valid = ~np.isnan(off)
        if float((off[valid] > allowed).mean() if valid.any() else 0.0) < 3 * BY_CHANCE:
            return False
    return True


def _of_more(numbers: Numbers) -> Iterator[Computed]:
    """Sums of three and more columns, learnt by least squares."""
    plain = [n for n in numbers.real if n not in numbers.dates and _varies(numbers.real[n])]
    if len(plain) < 4:
        return
    n = len(numbers.real[plain[0]])
    rows = np.sort(np.random.default_rng(2).permutation(n)[:LEARNT])
    x = np.stack([numbers.real[name][rows] for name in plain], axis=1)
    x = x[~np.isnan(x).any(axis=1)]
    if len(x) < 3 * len(plain):
        return
    scale = np.maximum(np.abs(x).max(axis=0), 1e-12)
    computed = _computed(x / scale)
    least, other = _smallest_first(x / scale, np.abs(x).mean(axis=0))
    for k, others in [(k, [j for j in range(len(plain)) if j != k]) for k in computed] + [(k, least) for k in other]:
        column = plain[k]
        slopes, *_ = np.linalg.lstsq(x[:, others] / scale[others], x[:, k], rcond=1e-9)
        exact = slopes / scale[others]
        whole = np.round(exact)
        if np.abs(exact - whole).max() > 0.02 or np.abs(whole).max() > 1 or np.count_nonzero(whole) < 3:
            continue
        parts = {plain[j]: float(w) for j, w in zip(others, whole, strict=True) if w}
        s = _Sum(parts)
        if (whole >= 0).all() and _holds(numbers, column, s) and _needed(numbers, column, s):
            yield column, tuple(parts), "sum", s


def _computed(x: Floats) -> list[int]:
    """Positions of columns that are linear functions of the others: no residual variance is left."""
    together = x.T @ x / len(x)
    left = 1 / np.diag(np.linalg.inv(together + 1e-11 * np.eye(len(together))))
    return np.flatnonzero(left < ALONE * np.diag(together)).tolist()


def _smallest_first(x: Floats, size: Floats) -> tuple[list[int], list[int]]:
    """Columns, the smallest first, that are no linear functions of smaller ones, and those that are.

    Where a sum is a part of another one, each follows from these parts alone.
    """
    parts: list[int] = []
    sums: list[int] = []
    for k in np.argsort(size, kind="stable").tolist():
        slopes = np.linalg.lstsq(x[:, parts], x[:, k], rcond=1e-9)[0] if parts else np.zeros(0)
        left = x[:, k] - x[:, parts] @ slopes
        (sums if left @ left < ALONE * (x[:, k] @ x[:, k]) else parts).append(k)
    return parts, sums


def _found(
    c: Comparison,
    key: str,
    columns: tuple[str, ...],
    broken: NDArray[np.bool_],
    fresh: tuple[float, int],
    unit: float = 1.0,
) -> list[Finding]:
    """A finding where the synthetic records break what holds in the real ones by more than chance."""
    share = float(broken.mean())
    if not beyond_chance(share, *fresh, c.m):
        return []
    rows = np.flatnonzero(broken)[:EXAMPLES]
    cells = ExactCells.of(c)
    examples = [tuple(cells.shown(n, int(cells.column(n)[1][i])) for n in columns[:4]) for i in rows]
    what: dict[str, Any] = {"records": int(broken.sum()), "parts": columns[1:]}
    if key != "key":
        what["declare"] = as_rule(key, columns, unit)
    return [
        Finding(
            key=key,
            weight=share - fresh[0],
            columns=columns,
            real=fresh[0],
            synthetic=share,
            fresh=fresh[0],
            what=what,
            examples=examples,
            remedy="rule",
        )
    ]


def keys(c: Comparison) -> list[Finding]:
    """Columns, and pairs of columns, that no two real records share, where chance would have some do.

    Those that the schema leaves out, such as numbers of customers, count as well.
    """
    cells, out = ExactCells.of(c), []
    for name, share in c.intake.again.items():
        if beyond_chance(share, 0.0, c.whole_n, c.whole_m):
            out.append(Finding(key="key", weight=share, columns=(name,), real=0.0, synthetic=share, fresh=0.0))
    if c.n < 100:
        return out
    singles = set()
    for name in c.domain.names:
        x, synth, size = cells.column(name)
        if not _countable(c, cells, name) or (x < 0).any() or not _all_different(x.astype(np.int64)):
            continue
        if cells.measured(name):
            real = cells.floats(name)[0]
            room = float(real.max() - real.min()) + 1
            if c.n**2 / (2 * room) < CHANCE_PAIRS:
                continue
        elif size > 20 * c.n:
            continue
        singles.add(name)
        out += _repeats(c, (name,), synth.astype(np.int64))
    names = [n for n in c.domain.names if n not in singles and _countable(c, cells, n)][:MOST_NUMBERS]
    few = np.random.default_rng(0).permutation(c.n)[:1000]
    for a, b in combinations(names, 2):
        (x, x_made, _), (y, y_made, w) = cells.column(a), cells.column(b)
        if not _all_different(x[few].astype(np.int64) * (w + 1) + y[few]):
            continue
        chance = c.n**2 / 2 * alike(x) * alike(y)
        if chance < CHANCE_PAIRS or not _all_different(x.astype(np.int64) * (w + 1) + y):
            continue
        out += _repeats(c, (a, b), x_made.astype(np.int64) * (w + 1) + y_made)
    return sorted(out, key=lambda f: -f.weight)[:1]


def _countable(c: Comparison, cells: ExactCells, name: str) -> bool:
    """Whether a column can be part of a key: listed values, dates, and whole numbers."""
    if not cells.measured(name) or name in c.real_dates:
        return True
    real = cells.floats(name)[0]
    return _whole(real)


def _all_different(key: NDArray[np.int64]) -> bool:
    return len(np.unique(key)) == len(key)


def _repeats(c: Comparison, columns: tuple[str, ...], made: NDArray[np.int64]) -> list[Finding]:
    """Synthetic records whose key another one before them has."""
    again = np.ones(len(made), bool)
    again[np.unique(made, return_index=True)[1]] = False
    return _found(c, "key", columns, again, (0.0, c.n))
