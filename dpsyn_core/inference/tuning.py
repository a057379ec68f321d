"""Constants of the intervals: each with its unit, and its reason or where it was measured.

They were chosen on the simulated tables that `benchmarks/coverage_tables.py` calls LEARNT_ON, and coverage is measured
on others (`python -m benchmarks.coverage`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Inference:
    """How answers get their intervals."""

    refits: int = 10
    """Refits to released values with their noise drawn again; their spread is known to a quarter."""

    folds: int = 4
    """Parts of the measured pairs that are left out in turn."""

    effort: float = 0.1
    """Of a usual fit, for all of them: their spread hardly depends on it."""

    exact_part: float = 0.8
    """Of the half-width of a measured table's noisy cells that an interval around the synthetic answer has at least:
    a fit draws on other tables too and is usually closer, but not always."""

    agreeing: float = 0.5
    """Of the same half-width: how far the noisy cells may be from the synthetic answer before its interval grows."""

    probes: int = 24
    """Random functionals of each left-out or merged table."""

    fewest_probes: int = 60
    """Probes at and above which the error of what no table holds is learnt from the release itself."""

    usual_sampling: float = 1.3
    """Times the sampling variance: squared error of a part that nothing measured."""

    usual_dependence: float = 1.0
    """Times the square of reach times dependence: the same, where the release has too few probes."""

    usual_factor: float = 1.25
    """Widening in the same place."""

    least_dependence: float = 0.3
    """Times the same square at least, of pairs: one that is left out has more company among the measured ones than one
    that was never measured, and is predicted better. What LEARNT_ON learns is between .3 and 4."""

    usual_of_triples: float = 1.0
    """In place of `usual_dependence` for three and more attributes, of which the weakest pair stands for the
    dependence. With .6, gaps of hours and pay by sex and marital status in the bundled sample were missed."""

    bounded_wider: float = 1.3
    """Widening of bounded intervals as a whole: without it .90 to .97 of them held in benchmarks.coverage, at half the
    width that they may have."""

    fewest_records: float = 10.0
    """Records that a mean, gap, quantile or Gini index needs on each side to get an interval (convention)."""

    clear: float = 4.0
    """Standard deviations, over refits, of the same number of records: fewer may be none at all."""

    fewest_refits: int = 5
    """Refits below which no regression gets an interval (convention)."""

    fewest_events: float = 3.0
    """Standard deviations of the noise of a cell: records that a term of a regression needs on its rarer side."""

    separated: float = 0.1
    """Part of the refits in which a term may be lost; more, and its estimate may be infinite (convention)."""


INFERENCE = Inference()
