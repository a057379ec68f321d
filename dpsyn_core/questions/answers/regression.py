"""Regressions: coefficients with intervals from refits, and when none can be given. Blind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import ModelDesign, ModelSum, coefficients
from dpsyn_core.questions.answers.calibration import INFERENCE, Codes, Inference
from dpsyn_core.questions.answers.combination import combine
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.functionals import Floats
from dpsyn_core.questions.answers.intervals import GRADES, Grade, Truth
from dpsyn_core.questions.forms import RegressionQuestion
from dpsyn_core.questions.meaning import numbers_of
from dpsyn_core.questions.regress import DesignMatrix, design, design_of, fit_linear, fit_logistic
from dpsyn_core.schema import Domain, Schema


@dataclass(frozen=True, kw_only=True, slots=True)
class Coefficients:
    """One entry a term. NaN and grade none where no interval can be given; `why` says so in a sentence, or is empty.

    warning: what holds for all of them, or empty.
    """

    terms: tuple[str, ...]
    estimate: Floats
    low: Floats
    high: Floats
    grades: list[Grade]
    synthetic: Floats
    why: list[str]
    warning: str


def infer_regression(
    question: RegressionQuestion,
    schema: Schema,
    evidence: Evidence,
    codes: Codes,
    redrawn: list[Codes],
    *,
    truth: Truth,
    confidence: float,
    tuning: Inference = INFERENCE,
) -> Coefficients:
    """Coefficients on the synthetic table, with intervals from the spread between refits.

    A declared regression has a released sum with given noise, and needs none of these; see `_summed`.

    T = 2 B with t for the real table, and U + 2 B for the population; see `combine`. No interval is given where a pair
    of the outcome with a predictor was not measured, where terms separate the outcomes, or where a term or an outcome
    has too few records to stand out of the noise. Where pairs of predictors were not measured, a warning is.
    """
    domain = schema.domain()
    fits = [fit(question, schema, domain, c, evidence.total) for c in (codes, *redrawn)]
    first, *others = fits
    blank = np.full(len(first.terms), np.nan)
    design = design_of(question, schema)
    for s in evidence.sums:
        if s.design.same(design) and not np.isnan(first.beta).any():
            return _summed(s, domain, first, codes, redrawn, truth=truth, confidence=confidence, tuning=tuning)
    missing = [n for n in question.on if not evidence.covered(domain.ordered_set((question.of, n)))]
    if missing:
        pairs = f"'{question.of}' with {_listed(missing)}"
        return _refused(first, f"{pairs} was not measured, so that coefficients say nothing about the real ones")
    if np.isnan(first.beta).all():
        return _refused(first, "terms separate the outcomes (or the outcome does not vary), so no estimate exists")
    if not others:
        return _refused(
            first, "records of this system cannot be made again from released marginals, which it would take"
        )
    betas = np.array([f.beta for f in others])
    lost = np.isnan(betas).mean(axis=0)
    if len(others) < tuning.fewest_refits:
        return _refused(first, f"{len(others)} refits are too few to tell how far the noise moves a coefficient")
    why = [""] * len(first.terms)
    least = tuning.fewest_events * _noise(evidence, domain, question)
    for i, term in enumerate(first.terms):
        if np.isnan(first.beta[i]):
            why[i] = f"the records do not determine '{term}': its values follow from other terms, or nobody has them"
        elif lost[i] > tuning.separated:
            why[i] = f"in {lost[i]:.0%} of the refits terms separate the outcomes, so the estimate may be infinite"
        elif first.events[i] < least:
            why[i] = (
                f"'{term}' rests on about {max(first.events[i], 0):.0f} records on its rarer side, too few to stand "
                f"out from noise (at least {least:.0f} are needed)"
            )
    usable = np.array([not w for w in why])
    combined = [blank.copy() for _ in range(3)]
    for i in np.flatnonzero(usable).tolist():
        kept = ~np.isnan(betas[:, i])
        got = combine(
            betas[kept, i], np.array([f.variance[i] for f in others])[kept], truth=truth, confidence=confidence
        )
        shift = first.beta[i] - got.estimate  # centred at what the table itself says
        combined[0][i], combined[1][i], combined[2][i] = first.beta[i], got.low + shift, got.high + shift
    unseen = [
        f"'{a}' with '{b}'"
        for k, a in enumerate(question.on)
        for b in question.on[k + 1 :]
        if not evidence.covered(domain.ordered_set((a, b)))
    ]
    grade = GRADES.index("bounded") if unseen else GRADES.index("estimated")
    warning = ""
    if unseen:
        warning = f"not measured: {_listed(unseen)}; intervals may be too narrow where these predictors depend"
    return Coefficients(
        terms=first.terms,
        estimate=np.where(np.isnan(combined[0]), first.beta, combined[0]),
        low=combined[1],
        high=combined[2],
        grades=[GRADES[grade] if u else "none" for u in usable],
        synthetic=first.beta,
        why=why,
        warning=warning,
    )


def _summed(
    s: ModelSum,
    domain: Domain,
    first: RegressionFit,
    codes: Codes,
    redrawn: list[Codes],
    *,
    truth: Truth,
    confidence: float,
    tuning: Inference,
) -> Coefficients:
    """Coefficients of a table that follows a released sum, with intervals from the noise of that sum.

    What records other than the real ones make of the sum is added from the refits: twice its variance, since they are
    as far from the table as that is from exact counts.
    """

    def read(records: Codes) -> tuple[Floats, Floats]:
        numbers = s.design.numbers({n: records[domain.index(n)] for n in s.design.lookups})
        return coefficients(s, numbers, records.shape[1] / max(total, 1.0))

    total = first.total
    variance = np.diag(read(codes)[1]).copy()
    if len(redrawn) > 1:
        variance += 2 * np.array([read(c)[0] for c in redrawn]).var(axis=0, ddof=1)
    variance = tuning.summed_wider**2 * np.maximum(variance, 0.0) + (first.variance if truth == "population" else 0.0)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(variance)
    return Coefficients(
        terms=first.terms,
        estimate=first.beta,
        low=first.beta - half,
        high=first.beta + half,
        grades=["estimated"] * len(first.terms),
        synthetic=first.beta,
        why=[""] * len(first.terms),
        warning="",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RegressionFit:
    """Coefficients of one table, their variances, and for each term the scaled records on its rarer side.

    total: number of real records.
    """

    terms: tuple[str, ...]
    beta: Floats
    variance: Floats
    events: Floats
    total: float


def fit(question: RegressionQuestion, schema: Schema, domain: Domain, codes: Codes, total: float) -> RegressionFit:
    """One regression on the distinct records of a table, each with its number of copies scaled to the total."""
    names = list(dict.fromkeys((question.of, *question.on)))
    rows = np.stack([codes[domain.index(n)] for n in names])
    distinct, copies = np.unique(rows, axis=1, return_counts=True)
    columns: Mapping[str, NDArray[Any]] = dict(zip(names, distinct, strict=True))
    weights = copies * (total / max(codes.shape[1], 1))
    matrix = design(
        question, columns, schema, numbers=lambda n: numbers_of(schema[n])[columns[n]], weights=weights.astype(float)
    )
    model = design_of(question, schema)
    beta, covariance = fit_logistic(matrix) if question.model == "logistic" else fit_linear(matrix)
    return RegressionFit(
        total=total,
        terms=matrix.terms,
        beta=beta,
        variance=np.nan_to_num(np.diag(covariance)),
        events=_events(model, model.numbers(columns)[matrix.keep], matrix),
    )


def _events(model: ModelDesign, numbers: Floats, made: DesignMatrix) -> Floats:
    """For each term the records that its coefficient rests on; of a logistic model those with the rarer outcome.

    A category is compared with the first value of its attribute, so that the fewer records of the two count. The
    intercept is what the first values of all attributes have; a number rests on all records.

    Args:
        model: the terms.
        numbers: of the records, see `ModelDesign.numbers`.
        made: of the same records.
    """

    def resting(rows: Any) -> float:
        w = made.weights * rows
        if not model.logistic:
            return float(w.sum())
        return min(float((w * made.y).sum()), float((w * (1 - made.y)).sum()))

    owner = [n for n, table in model.lookups.items() for _ in range(table.shape[1])]
    by_term = [[p for p in positions if p not in model.functions] for _, positions in model.terms]
    values: dict[str, set[int]] = {}
    for p in (p for positions in by_term for p in positions):
        values.setdefault(owner[p], set()).add(p)
    first = {n: resting(np.logical_not(numbers[:, sorted(ps)].astype(bool).max(axis=1))) for n, ps in values.items()}
    least = min(first.values(), default=resting(np.ones(len(numbers), dtype=bool)))
    out = [
        min([resting(numbers[:, ps].astype(bool).min(axis=1, initial=True)), *(first[owner[p]] for p in ps)])
        for ps in by_term
    ]
    return np.array([min(out[0], least), *out[1:]])


def _noise(evidence: Evidence, domain: Domain, question: RegressionQuestion) -> float:
    """Standard deviation of a count of one outcome and one value of a predictor, at the worst of its pairs."""
    worst = 0.0
    for name in question.on:
        tables = evidence.covering(domain.ordered_set((question.of, name)))
        sigmas = [t.sigma * np.sqrt(t.cells / _cells_of(t, (question.of, name))) for t in tables]
        worst = max(worst, float(min(sigmas, default=0.0)))
    return worst


def _cells_of(table: Any, names: tuple[str, ...]) -> float:
    return float(np.prod([s for n, s in zip(table.attributes, table.values.shape, strict=True) if n in names]))


def _refused(first: RegressionFit, why: str) -> Coefficients:
    blank = np.full(len(first.terms), np.nan)
    return Coefficients(
        terms=first.terms,
        estimate=first.beta,
        low=blank,
        high=blank,
        grades=["none"] * len(first.terms),
        synthetic=first.beta,
        why=[why] * len(first.terms),
        warning=why,
    )


def _listed(words: list[str]) -> str:
    shown = ", ".join(f"'{w}'" if not w.startswith("'") else w for w in words[:6])
    return shown + (f" and {len(words) - 6} more" if len(words) > 6 else "")
