"""Models side by side: one regression of each outcome on the other columns, in the real and in the synthetic table.

Outcomes are the declared target, the income, and columns of two values, OUTCOMES at most. Ordinary least squares on
numbers in real standard deviations and on dummies of short lists, with normal intervals; a column of two values is 0
and 1 (a linear probability model). Effects that another column alone explains are left out with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.findings.cells import ExactCells
from dpsyn_core.evaluate.findings.finding import Finding

OUTCOMES = 3
MOST = 20_000  # records of each table that models are fitted to
MOST_TERMS = 60
LISTED = 12  # values of a list that becomes dummies
FEWEST = 30  # records of each side of a dummy, and beyond the number of terms
SURE = 4.5  # standard errors from 0 of an effect whose sign counts
FAR = 0.05  # of a standard deviation of the outcome: effects from which on a sign counts
SAME = 0.98  # correlation with the outcome
SOME = 0.1  # of the variance of an outcome that the others explain, from which on it counts whether they do
OF_A_RELATION = 0.6  # weight of a relation that is lost, as of a correlation
INTERVAL = 1.96
EXACT = 1e-4  # share of the variance that terms leave of an outcome that they decide, which is no model
SINGULAR = 1e-3  # of a term's length is left beside the other terms, else it is left out


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """One term of one outcome: its coefficient in both tables, in standard deviations of the outcome, with errors.

    own: the share of the term's variance that the other terms leave in the real table.
    """

    outcome: str
    column: str
    value: str
    real: float
    synthetic: float
    errors: tuple[float, float]
    own: float = 1.0

    @property
    def far(self) -> float:
        """By how much both differ, 1 at most: of what a term says by itself, for terms that say the same share it."""
        return float(min(1.0, abs(self.real - self.synthetic) * np.sqrt(self.own)))

    @property
    def turned(self) -> bool:
        """Whether the sign is another one, beyond chance in both tables."""
        sure = min(abs(self.real) / self.errors[0], abs(self.synthetic) / self.errors[1]) > SURE
        return sure and self.real * self.synthetic < 0 and min(abs(self.real), abs(self.synthetic)) > FAR

    @property
    def gone(self) -> bool:
        """Whether an effect that is clear in the real table is less than half of it, beyond chance."""
        apart = abs(self.real - self.synthetic) / float(np.hypot(*self.errors))
        return (
            abs(self.real) > max(2 * FAR, SURE * self.errors[0])
            and abs(self.synthetic) < abs(self.real) / 2
            and apart > SURE
        )

    def interval(self, side: int) -> tuple[float, float]:
        """Its 95 % interval in the real (0) or the synthetic table (1)."""
        at = (self.real, self.synthetic)[side]
        return at - INTERVAL * self.errors[side], at + INTERVAL * self.errors[side]


def outcome_columns(c: Comparison) -> list[str]:
    """The declared target, the income, then columns of two values, the last ones first."""
    roles = c.resolved
    given = [c.roles.target, roles.income, *reversed(two_valued(c)), roles.target]
    names = list(dict.fromkeys(n for n in given if n is not None))
    fits = [n for n in names if c.readable(n) or c.domain[n].size - c.domain[n].special == 2]
    return fits[:OUTCOMES]


def two_valued(c: Comparison) -> list[str]:
    """Columns of two values."""
    return [n for n in c.domain.names if c.domain[n].size - c.domain[n].special == 2 and n not in c.real_dates]


def effects(c: Comparison) -> list[Effect]:
    """All effects of all outcomes, once a comparison."""
    if "effects" not in c.scores:
        c.scores["explained"] = []
        c.scores["effects"] = [e for name in outcome_columns(c) for e in _effects(c, name)]
    out: list[Effect] = c.scores["effects"]
    return out


def outcomes(c: Comparison) -> Iterator[Finding]:
    """Effects whose sign turned, effects that are gone, and outcomes that the other columns no longer explain."""
    for e in effects(c):
        if e.turned or e.gone:
            yield Finding(
                key="turned" if e.turned else "weaker",
                weight=e.far * (0.9 if e.turned else 0.4),
                columns=(e.outcome, e.column),
                real=e.real,
                synthetic=e.synthetic,
                fresh=e.real,
                what={"value": e.value, "low": e.interval(0)[0], "high": e.interval(0)[1]},
                remedy="declare",
            )

    for outcome, real, synth in c.scores["explained"]:
        error = sum(4 * x * (1 - x) ** 2 / min(k, MOST) for x, k in ((real, c.n), (synth, c.m)))
        if real > SOME and synth < real / 2 and real - synth > SURE * float(np.sqrt(error * rows_as_one(c, outcome))):
            yield Finding(
                key="explained",
                weight=OF_A_RELATION * float(np.sqrt(real) - np.sqrt(synth)),
                columns=(outcome,),
                real=real,
                synthetic=synth,
                fresh=real,
                remedy="declare",
            )


def _effects(c: Comparison, outcome: str) -> Iterator[Effect]:
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.permutation(k)[:MOST]) for k in (c.n, c.m)]
    y = [v[r] for v, r in zip(column_numbers(c, outcome), rows, strict=True)]
    if any(np.isnan(v).all() for v in y):
        return
    valid = y[0][~np.isnan(y[0])]
    spread, centre = float(valid.std()), float(valid.mean())
    names, values, left, right = _terms(c, outcome, rows)
    if spread == 0 or not names:
        return
    same = {names[k] for k in range(len(names)) if _same(left[:, k], y[0])}
    apart = [k for k in range(len(names)) if names[k] not in same]
    if not apart:
        return
    names, values = [names[k] for k in apart], [values[k] for k in apart]
    left, right = left[:, apart], right[:, apart]
    sides = []
    for x, v in ((left, y[0]), (right, y[1])):
        there = ~(np.isnan(v) | np.isnan(x).any(axis=1))
        if there.sum() < FEWEST + x.shape[1]:
            return
        sides.append((x[there], (v[there] - centre) / spread))
    kept = _independent(sides[0][0])
    fits = [_fit(x[:, kept], v) for x, v in sides]
    if fits[0][2] < EXACT:
        return
    # of as many records as there are beyond the terms: more terms explain more by chance
    shares = [1 - fit[2] * (len(v) - 1) / (len(v) - len(kept) - 1) for fit, (_, v) in zip(fits, sides, strict=True)]
    c.scores["explained"].append((outcome, *(max(0.0, float(x)) for x in shares)))
    more = float(np.sqrt(rows_as_one(c, outcome)))
    for k, at in enumerate(kept):
        errors = more * float(fits[0][1][k]), more * float(fits[1][1][k])
        if min(errors) > 0 and np.isfinite(errors).all():
            yield Effect(
                outcome=outcome,
                column=names[at],
                value=values[at],
                real=float(fits[0][0][k]),
                synthetic=float(fits[1][0][k]),
                errors=errors,
                own=float(fits[0][3][k]),
            )


def _same(x: Floats, y: Floats) -> bool:
    """Whether a term says the same as the outcome, such as a tax that is a part of it."""
    there = ~(np.isnan(x) | np.isnan(y))
    if there.sum() < FEWEST or x[there].std() == 0 or y[there].std() == 0:
        return True
    return abs(float(np.corrcoef(x[there], y[there])[0, 1])) > SAME


def column_numbers(c: Comparison, name: str) -> tuple[Floats, Floats]:
    """A column as numbers: its numbers, or 0 and 1 for its two values."""
    if c.readable(name):
        return c.exact(name)
    a, i = c.domain[name], c.domain.index(name)
    real, synth = (np.where(x[i] < a.size - a.special, x[i].astype(float), np.nan) for x in (c.truth, c.synthetic))
    return real, synth


def _terms(
    c: Comparison, outcome: str, rows: list[NDArray[np.intp]]
) -> tuple[list[str], list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Columns of the models: their attributes, the value of dummies, and both tables (records, terms)."""
    names: list[str] = []
    values: list[str] = []
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    measured = ExactCells.of(c)
    for a in c.domain.attributes:
        if a.name == outcome or len(names) >= MOST_TERMS:
            continue
        plain = a.size - a.special
        if measured.measured(a.name) and plain > 2:
            x, z = (v[r] for v, r in zip(c.exact(a.name), rows, strict=True))
            seen = x[~np.isnan(x)]
            if len(seen) < len(x) * 0.9 or seen.std() == 0:
                continue  # a model of complete records would be one of few
            names.append(a.name)
            values.append("")
            for side, v in zip(sides, (x, z), strict=True):
                side.append((v - seen.mean()) / seen.std())
        elif 2 <= plain <= LISTED:
            i, words = c.domain.index(a.name), c.words(a.name)
            codes = [t[i][r] for t, r in zip((c.truth, c.synthetic), rows, strict=True)]
            counts = np.bincount(codes[0], minlength=a.size)
            base = int(counts[:plain].argmax())
            for k in range(plain):
                if k != base and counts[k] >= FEWEST:
                    names.append(a.name)
                    values.append(words[k])
                    for side, code in zip(sides, codes, strict=True):
                        side.append((code == k).astype(float))
    if not names:
        return names, values, np.zeros((0, 0)), np.zeros((0, 0))
    return names, values, np.stack(sides[0], axis=1), np.stack(sides[1], axis=1)


def _independent(x: NDArray[np.float64]) -> list[int]:
    """Terms that are not all but sums of those before them."""
    from scipy.linalg import qr

    centred = x - x.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    some = np.flatnonzero(length > 0)
    _, r, order = qr(centred[:, some] / length[some], mode="economic", pivoting=True)
    left = np.abs(np.diag(r)) > max(SINGULAR, 0.1)  # what the others explain by 99 % has no effect of its own
    return sorted(some[order[: len(left)][left]].tolist())


def _fit(x: NDArray[np.float64], y: Floats) -> tuple[Floats, Floats, float, Floats]:
    """Coefficients and their standard errors, without the constant, and the share of the variance that is left.

    And the share of the variance of each term that the others leave.
    """
    centred, left = x - x.mean(axis=0), y - y.mean()
    inverse = np.linalg.pinv(centred.T @ centred, rcond=1e-8, hermitian=True)
    slopes = inverse @ (centred.T @ left)
    apart = left - centred @ slopes
    meat = (centred * apart[:, None] ** 2).T @ centred  # White 1980: errors that need not be equal
    rest = float(apart @ apart / max(float(left @ left), 1e-300))
    own = 1 / np.maximum(np.diag(inverse) * (centred**2).sum(axis=0), 1)
    return slopes, np.sqrt(np.maximum(np.diag(inverse @ meat @ inverse), 0)), rest, own
