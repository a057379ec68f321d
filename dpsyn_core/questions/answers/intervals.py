"""Intervals: estimate, half-width and grade of quantities, from released tables and refits alone. Blind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, coarsen
from dpsyn_core.questions.answers.calibration import (
    INFERENCE,
    Codes,
    ErrorModel,
    Inference,
    Probes,
    coarse_count,
    dependence,
    learn,
    left_out_probes,
    margins_of,
    merged_probes,
)
from dpsyn_core.questions.answers.combination import t_quantile
from dpsyn_core.questions.answers.evidence import Evidence
from dpsyn_core.questions.answers.fits import Fits
from dpsyn_core.questions.answers.functionals import Batch, Floats, centred, count, onto, reach, sampling, subsets
from dpsyn_core.questions.answers.quantities import Quantity
from dpsyn_core.schema import AttributeSet

Grade = Literal["exact", "estimated", "bounded", "none"]
GRADES: tuple[Grade, ...] = ("exact", "estimated", "bounded", "none")
Truth = Literal["table", "population"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Intervals:
    """K figures. estimate, low, high: float64 (K,), NaN where there is none. grades: one of GRADES each.

    synthetic: what the synthetic table itself says; the estimate where the grade is none. released, noise: for grade
    exact the sum over the noisy cells and its standard error, NaN elsewhere.
    """

    estimate: Floats
    low: Floats
    high: Floats
    grades: list[Grade]
    synthetic: Floats
    released: Floats
    noise: Floats


class Inferrer:
    """Everything that the answers to many questions of one release share."""

    def __init__(self, evidence: Evidence, fits: Fits, *, rng: Generator, tuning: Inference = INFERENCE) -> None:
        """Keeps the released tables and the fits; learns what is asked for, when it is.

        rng: for the random probes that calibrate the grades below exact.
        """
        self.evidence, self.fits, self.tuning, self._rng = evidence, fits, tuning, rng
        self._counts: dict[AttributeSet, list[Floats]] = {}

    @property
    def total(self) -> float:
        """Records, released or public."""
        return self.evidence.total

    def counts(self, codes: Codes, names: AttributeSet, total: float | None = None) -> Floats:
        """Counts of synthetic records, scaled to the released number of records, or to another."""
        whole = self.total if total is None else total
        scaled: Floats = count(codes, self.evidence.domain, names) * (whole / max(codes.shape[1], 1))
        return scaled

    def tables(self, names: AttributeSet) -> list[Floats]:
        """The scaled counts of the released table and of every refit; those of the last attributes are kept."""
        if names not in self._counts:
            self._counts.clear()
            out = [self.counts(self.fits.codes, names)]
            if len(names) > 1:  # a one-way has its noise, and needs no refit
                fixed = self.evidence.n_public is not None
                fits = zip(self.fits.redrawn, self.fits.totals, strict=True)
                out += [self.counts(c, names, None if fixed else total) for c, total in fits]
            self._counts[names] = out
        return self._counts[names]

    @cached_property
    def margins(self) -> Mapping[str, Floats]:
        """Probabilities of every attribute's values in the synthetic table."""
        domain = self.evidence.domain
        return {n: margins_of(count(self.fits.codes, domain, (n,)))[0] for n in domain.names}

    @cached_property
    def of_pairs(self) -> ErrorModel:
        """Error of pairs that nothing measured, from pairs that were left out."""
        out = []
        for part, codes in self.fits.left_out:
            for table in self.evidence.joint:
                score = self.evidence.scores.get(table.attributes)
                if table.attributes in part and score is not None:
                    strength = max(score, 0.0) / max(self.total, 1.0)
                    out.append(
                        left_out_probes(self.evidence, table, codes, strength, rng=self._rng, probes=self.tuning.probes)
                    )
        t = self.tuning
        return learn(Probes.joined(out), usual=t.usual_dependence, least=t.least_dependence, tuning=t)

    @cached_property
    def of_triples(self) -> ErrorModel:
        """Error of what three or more attributes hold together, from measured triples that were left out."""
        codes, out = self.fits.pairs_alone, []
        if codes is not None:
            for table in self.evidence.joint:
                if len(table.attributes) == 3 and table.values.size > 8:
                    strength = self.weakest(table.attributes)
                    out.append(
                        left_out_probes(self.evidence, table, codes, strength, rng=self._rng, probes=self.tuning.probes)
                    )
        return learn(Probes.joined(out), usual=self.tuning.usual_of_triples, tuning=self.tuning)

    @cached_property
    def of_cells(self) -> ErrorModel:
        """Error inside the coarse values of measured tables, from neighbouring ones that are merged."""
        out = [
            merged_probes(self.evidence, table, self.fits.codes, rng=self._rng, probes=self.tuning.probes)
            for table in self.evidence.joint
        ]
        return learn(Probes.joined(out), usual=self.tuning.usual_dependence, tuning=self.tuning)

    @cached_property
    def _dependences(self) -> dict[AttributeSet, float]:
        return {}

    def fitted_dependence(self, names: AttributeSet) -> float:
        """Dependence of attributes in the synthetic table at the coarse values of a table that holds them."""
        if names not in self._dependences:
            table = next((t for t in self.evidence.joint if t.attributes == names), None)
            sums = self.counts(self.fits.codes, names) if table is None else self._coarse(table)
            self._dependences[names] = dependence(sums)
        return self._dependences[names]

    def _coarse(self, table: Measurement) -> Floats:
        return coarse_count(self.fits.codes, self.evidence, table)

    def weakest(self, names: AttributeSet) -> float:
        """The smallest dependence of their pairs: what more attributes hold together is rarely stronger than that."""
        return min(self.fitted_dependence(p) for p in subsets(names, 2) if len(p) == 2)

    def infer(self, quantity: Quantity, *, truth: Truth = "table", confidence: float = 0.95) -> Intervals:
        """Estimates with intervals.

        Args:
            quantity: K figures of a table over its attributes.
            truth: the real table (noise alone) or the population that it was drawn from (noise and sampling).
            confidence: of the intervals.
        """
        names = quantity.attributes
        table, *others = self.tables(names)
        synthetic = quantity.values(table)
        batch = quantity.batch(table)
        drawn = np.array([quantity.values(t) for t in others])
        spread = drawn.std(axis=0, ddof=1) if len(drawn) > 1 else np.full(len(synthetic), np.nan)
        z = float(t_quantile(confidence, np.inf))
        t = float(t_quantile(confidence, max(len(drawn) - 1, 1)))

        said, variance, cells = self.evidence.known(batch, self.margins)
        aligned = np.isfinite(variance)
        exact = self._z(z, cells) * np.sqrt(np.where(aligned, variance, 0.0))
        released = synthetic + said - batch.of(table)  # for sums, what the noisy cells say
        if len(names) < 2 or not others or not self.fits.codes.shape[1]:  # no records say nothing, not zero
            centre, squared = np.where(aligned, released, synthetic), exact**2
            grades = np.where(aligned, 0, 3)
            if len(names) == 1 and not aligned.all():
                less = Batch(attributes=names, weights=batch.weights[~aligned])
                squared[~aligned] = self._of_runs(less, table, z)
                grades[~aligned] = np.where(np.isfinite(squared[~aligned]), 1, 3)
        else:
            centre = synthetic
            squared = self._reaching(t * spread, released - synthetic, exact) ** 2
            grades = np.zeros(len(synthetic), dtype=np.intp)
            if not aligned.all():
                less = Batch(attributes=names, weights=batch.weights[~aligned])
                width, grade = self._beyond(less, table, spread[~aligned], z, t)
                squared[~aligned], grades[~aligned] = width, grade
        if truth == "population":
            squared = squared + z**2 * sampling(centred(batch.weights, table), table)
        none = ~np.isfinite(synthetic) | ~np.isfinite(squared) | (grades == 3) | self._too_few(quantity, table, others)
        estimate, low, high = quantity.interval(table, centre, np.sqrt(np.where(none, 0.0, squared)))
        plain = synthetic_of(quantity, table) if self.fits.codes.shape[1] else np.full(len(synthetic), np.nan)
        sure = aligned & ~none
        return Intervals(
            estimate=np.where(none, plain, estimate),
            low=np.where(none, np.nan, low),
            high=np.where(none, np.nan, high),
            grades=[GRADES[3 if n else int(g)] for n, g in zip(none, grades, strict=True)],
            synthetic=plain,
            released=np.where(sure, released, np.nan),
            noise=np.where(sure, np.sqrt(np.where(aligned, variance, 0.0)), np.nan),
        )

    def _of_runs(self, batch: Batch, table: Floats, z: float) -> Floats:
        """Squared half-widths for one column of which runs of values were counted; infinite where nothing was.

        Inside a run of values counted together, records are taken to lie evenly, and as many as can change places
        between what a figure counts and what it does not are one standard deviation.
        """
        (name,) = batch.attributes
        out = [np.full(len(batch.weights), np.inf)]
        for m in self.evidence.covering(batch.attributes):
            read = self.evidence.read(m, batch, {name: np.full(table.size, 1 / table.size)})
            exact = self._z(z, read.cells) * np.sqrt(read.variance)
            half = reaching(exact, read.values - batch.of(table), exact, agreeing=self.tuning.agreeing)
            inside = np.zeros(len(half))
            if read.inside is not None:
                recode = m.recodes[name]
                inside = reach(read.inside, recode.expand(recode.sum(table) / recode.width))
            out.append(half**2 + (z * inside) ** 2)
        least: Floats = np.min(out, axis=0)
        return least

    def _too_few(self, quantity: Quantity, table: Floats, others: list[Floats]) -> NDArray[np.bool_] | bool:
        """Which figures are ratios to so few records that a first derivative does not tell how far they may be off."""
        sizes = quantity.sizes(table)
        if sizes is None:
            return False
        drawn = [s for t in others if (s := quantity.sizes(t)) is not None]
        spread = np.std(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.zeros(len(sizes))
        few: NDArray[np.bool_] = sizes < np.maximum(self.tuning.fewest_records, self.tuning.clear * spread)
        return few

    def _z(self, z: float, cells: Floats) -> Floats:
        """Quantile of a weighted sum of so many cells' noise, in its standard deviations.

        That of the normal law, and for Laplace noise, whose excess kurtosis is 3 / cells, the next term of its
        Cornish-Fisher expansion.
        """
        if not self.evidence.pure:
            return np.full(len(cells), z)
        return z + (z**3 - 3 * z) / 24 * 3 / cells

    def _beyond(
        self, batch: Batch, table: Floats, spread: Floats, z: float, t: float
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Squared half-widths and grades (1 estimated, 2 bounded, 3 none) where no table is aligned."""
        names, k = batch.attributes, len(batch.weights)
        if np.isnan(spread).all():  # no refits
            return np.full(k, np.nan), np.full(k, 3)
        covering = self.evidence.covering(names)
        if covering:
            ends = [self._within(m, batch, table, spread, z, t) for m in covering]
            return np.min(ends, axis=0), np.full(k, 1)
        extra, grade = np.zeros(k), 1
        for part in subsets(names, 2):
            inner = onto(batch, part, self.margins)
            expected = self.counts(self.fits.codes, part)
            covering = self.evidence.covering(part)
            if covering:
                piece = Batch(attributes=part, weights=inner)
                extra += np.min([self._inside(m, piece, expected) for m in covering], axis=0)
                continue
            if len(part) == 2:
                score = self.evidence.scores.get(part)
                if score is None:
                    return np.full(k, np.nan), np.full(k, 3)
                grade, model, strength = 2, self.of_pairs, max(score, 0.0) / max(self.total, 1.0)
            else:
                model, strength = self.of_triples, self.weakest(part)
            extra += model.variance(sampling(inner, expected), reach(inner, expected) * strength)
        squared = (t * spread) ** 2 + z**2 * extra
        return squared * (self.tuning.bounded_wider**2 if grade == 2 else 1.0), np.full(k, grade)

    def _within(self, m: Measurement, batch: Batch, table: Floats, spread: Floats, z: float, t: float) -> Floats:
        """Squared half-width from one table that holds all attributes at coarse values."""
        read = self.evidence.read(m, batch, self.margins)
        exact = self._z(z, read.cells) * np.sqrt(read.variance)
        coarse = coarsen(table, batch.attributes, {n: r for n, r in m.recodes.items() if n in batch.attributes})
        apart = read.values - read.weights.reshape(len(exact), -1) @ coarse.ravel()
        return self._reaching(t * spread, apart, exact) ** 2 + z**2 * self._inside(m, batch, table)

    def _reaching(self, spread: Floats, apart: Floats, exact: Floats) -> Floats:
        least = np.maximum(spread, self.tuning.exact_part * exact)
        return reaching(least, apart, exact, agreeing=self.tuning.agreeing)

    def _inside(self, m: Measurement, batch: Batch, table: Floats) -> Floats:
        """Variance of what a batch asks inside the coarse values of a table."""
        read = self.evidence.read(m, batch, self.margins)
        if read.inside is None:
            return np.zeros(len(batch.weights))
        strength = self.evidence.strength(m.attributes, self.fitted_dependence(m.attributes))
        return self.of_cells.variance(sampling(read.inside, table), reach(read.inside, table) * strength)


def reaching(half: Floats, apart: Floats, exact: Floats, *, agreeing: float) -> Floats:
    """Half-widths around a fit, wider where released cells speak against it.

    A fit smooths what it is given. Where that moved a figure away from the released cells, the interval around the fit
    grows by twice the excess, until it holds the released figure and as much beyond.

    Args:
        half: half-width where both agree.
        apart: the released figure less that of the fit; NaN where no table has one.
        exact: half-width of the released figure.
        agreeing: of that half-width, up to where both agree.
    """
    away = np.abs(np.nan_to_num(apart))
    wider: Floats = half + np.minimum(2 * np.maximum(away - agreeing * exact, 0.0), away)
    return wider


def synthetic_of(quantity: Quantity, table: Floats) -> Floats:
    """What the synthetic table itself says, in the units of the question."""
    values = quantity.values(table)
    return quantity.interval(table, values, np.zeros(len(values)))[0]
