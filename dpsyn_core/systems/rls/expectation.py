"""What a fit to the tables measured so far expects of further ones, and what measuring those would remove. Blind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import (
    Fitting,
    Measurement,
    Pace,
    Recodes,
    Target,
    average_tables,
    coarse_shape,
    fit_records,
    schedule,
    shrink_unordered,
)
from dpsyn_core.measure import Margins, MemoryCounter
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.tuning import TUNING, Tuning

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """What the measured tables let one expect of others, in counts.

    tables: for each set float64 of the shape of its (coarse) table. fit_error: L1 error of each table that comes from
    the noise of the measured ones and from the fit. sampling_error: L1 distance that remains between a table and its
    expectation because records are a random sample. records: of both fits, each (attributes, records), unsigned.
    """

    tables: list[Floats]
    fit_error: Floats
    sampling_error: Floats
    domain: Domain
    records: tuple[NDArray[np.unsignedinteger], NDArray[np.unsignedinteger]]

    def of_margins(self, margins: Margins, total: float) -> tuple[list[Floats], Floats]:
        """What is expected of further sets: counts of the tables of `margins`, and the L1 error of each set.

        The counts are the mean of those of both fits. These differ from each other by the noise of two fits and of
        two samples, the truth from their mean by one and a half.
        """
        scales = [total / max(records.shape[1], 1) for records in self.records]
        first, second = (margins.counts(MemoryCounter(r, self.domain)) for r in self.records)
        tables = [(a * scales[0] + b * scales[1]) / 2 for a, b in zip(first, second, strict=True)]
        apart = margins.distances([a - b for a, b in zip(first, second, strict=True)])
        return tables, apart * (scales[0] * math.sqrt(0.75))


def expect(view: RlsEvidence, sets: Sequence[AttributeSet], recodes: Recodes) -> Expectation:
    """Fits records to the measured tables, and again to what those would have shown if the first fit were true.

    The second fit differs from the first by fresh noise and random moves, as the first one does from the truth
    (a parametric bootstrap: Efron and Tibshirani 1993, chapter 6). Scores that are no larger say nothing of dependence.
    Post-processing: reads released values only.
    """
    rng = np.random.default_rng(0)  # post-processing inside measure: a public constant, not privacy noise
    targets = [_empty(view, s, recodes) for s in sets]
    measured = [_empty(view, m.attributes, m.recodes) for m in view.joint]
    rows, averages = _averages(view, [*targets, *measured], rng)
    tables = averages[: len(sets)]
    again = copy(view)
    again.joint = [
        Measurement(
            attributes=m.attributes, values=a + rng.normal(0.0, m.sigma, a.shape), sigma=m.sigma, recodes=m.recodes
        )
        for m, a in zip(view.joint, averages[len(sets) :], strict=True)
    ]
    rows_again, found_again = _averages(again, targets, rng)
    fit_error = [float(np.abs(a - b).sum()) for a, b in zip(tables, found_again, strict=True)]
    joined = {m.attributes for m in view.joint}
    sampling = np.array([sampling_error(a, s, joined) for a, s in zip(tables, sets, strict=True)])
    narrow = np.min_scalar_type(max(view.domain.sizes) - 1)  # as the real codes are kept: one kernel counts both
    return Expectation(
        tables=tables,
        fit_error=np.array(fit_error),
        sampling_error=sampling,
        domain=view.domain,
        records=(np.ascontiguousarray(rows.T, narrow), np.ascontiguousarray(rows_again.T, narrow)),
    )


def fitted_tables(view: RlsEvidence, sets: Sequence[AttributeSet], recodes: Sequence[Recodes]) -> list[Floats]:
    """Tables of these sets, in counts, in records that are fitted to what was released. Post-processing."""
    wanted = [_empty(view, s, maps) for s, maps in zip(sets, recodes, strict=True)]
    return _averages(view, wanted, np.random.default_rng(0))[1]  # a public constant, not privacy noise


def _averages(view: RlsEvidence, wanted: Sequence[Target], rng: Generator) -> tuple[NDArray[np.uint16], list[Floats]]:
    """Records fitted to the view, and what they hold on average, in counts of the real table."""
    t, records = view.tuning.triples, view.tuning.records
    n = int(np.clip(view.total, t.fewest_records, t.records))
    hierarchies = view.hierarchies
    rows, targets = view.start(n, rng=rng), hierarchies.narrowed(view.targets(n))
    if not any(len(x.attributes) > 1 for x in targets):  # independent columns
        return hierarchies.whole(rows), [np.zeros(w.values.shape) for w in wanted]
    pace = schedule(n, rows.shape[1], targets, effort=t.effort, tuning=records.fitting)
    targets = fit_view(rows, targets, view, pace=pace, rng=rng, tuning=records.fitting)
    if not wanted:
        return hierarchies.whole(rows), []
    counted = hierarchies.narrowed(wanted, counted=True)
    averages = average_tables(rows, targets, view.probabilities, counted, pace=pace, rng=rng, tuning=records)
    return hierarchies.whole(rows), [a * (view.total / n) for a in averages]


def fit_view(
    rows: NDArray[np.uint16],
    targets: list[Target],
    view: RlsEvidence,
    *,
    pace: Pace,
    rng: Generator,
    progress: Progress = silent,
    tuning: Fitting,
) -> list[Target]:
    """Fits records to targets, and to what columns have together; these and the targets that keep it.

    Columns that others decide are left to themselves first, with half the proposals, and then dealt values that agree:
    moved cell by cell, all columns of a group could not change together.
    """
    how = partial(fit_records, rows, probabilities=view.probabilities, rng=rng, tuning=tuning)
    if view.agreements:
        how(view.agreements.without(targets), pace=replace(pace, repeats=max(1, pace.repeats // 2)))
        targets = [*targets, *view.agreements.deal(rows, view.probabilities, rng)]
    how(targets, pace=pace, progress=progress)
    return targets


def _empty(view: RlsEvidence, names: AttributeSet, recodes: Recodes) -> Target:
    """The shape and the maps of a table; attributes without a coarsening stay as they are."""
    maps = tuple(recodes[n].map if n in recodes else np.arange(view.domain[n].size) for n in names)
    shape = coarse_shape(view.domain, names, recodes)
    return Target(attributes=tuple(map(view.domain.index, names)), maps=maps, values=np.zeros(shape), sigma=1.0)


def sampling_error(expected: Floats, names: AttributeSet, joined: set[AttributeSet]) -> float:
    """L1 distance that sampling alone would leave between the counts of a table and what is expected of it.

    Mean absolute deviation of Poisson counts, 2 exp(-m) m^(k + 1) / k! with k the whole part of m (Crow 1958), less
    the directions in which measured tables already follow the counts: the one-ways, and the pairs in `joined`.
    """
    from scipy.special import gammaln  # scipy is heavy

    mean = np.maximum(expected, 1e-12)
    whole = np.floor(mean)
    loose = 2 * np.exp(-mean + (whole + 1) * np.log(mean) - gammaln(whole + 1))
    free = [k - 1 for k in expected.shape]
    pairs = sum(free[i] * free[j] for i, j in combinations(range(len(names)), 2) if (names[i], names[j]) in joined)
    return float(loose.sum()) * math.sqrt(max(1 - (1 + sum(free) + pairs) / expected.size, 0.0))


def removable_errors(scores: Floats, sigma: float, known: Expectation, *, tuning: Tuning = TUNING) -> Floats:
    """The L1 error that measuring each set would remove, from noisy scores of the sets.

    What stands significantly above the errors of fit and sampling together is shrunk and counts; without that, the
    largest of hundreds of scores without signal would be chosen. Then the error of the fit is taken out, for measuring
    the same tables again removes it as well, while only measuring the set itself removes the sampling error. Errors of
    many cells add up in squares.
    """
    null = np.hypot(known.fit_error, known.sampling_error)
    above = shrink_unordered(scores - null, sigma, tuning=tuning.records.shrinkage)
    above[scores - null < tuning.triples.significant * sigma] = 0.0
    left: Floats = np.sqrt(np.maximum((null + above) ** 2 - known.fit_error**2, 0.0))
    return left
