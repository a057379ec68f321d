"""Amounts that are often 0: the share of zeros, the mean of the rest, and its highest hundredth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.cells import ExactCells
from dpsyn_core.evaluate.findings.finding import Finding, beyond_chance

SOME = 0.05  # of the records have a 0, or have none, else a column is no amount of this kind
FAR = 0.02  # of the records: by so much a share has moved
FEWEST = 100  # amounts that a highest hundredth is found of
HIGH = 0.99
RARE = 1e-5  # of fresh samples have a highest hundredth that is so far off
TIMES = 2.0  # as many, or as few, lie beyond the real highest hundredth


def amounts(c: Comparison) -> Iterator[Finding]:
    """The three figures of each amount that is often 0, where they are not those of a fresh sample."""
    cells = ExactCells.of(c)
    for name in shifts.numbers(c):
        real, synth = (x[~np.isnan(x)] for x in cells.floats(name))
        if len(real) < FEWEST or not len(synth):
            continue
        zeros, here = float((real == 0).mean()), float((synth == 0).mean())
        if real.min() < 0 or not SOME <= zeros <= 1 - SOME or len(np.unique(real)) < 10:
            continue
        gap = abs(here - zeros)
        if gap > FAR and beyond_chance(zeros + gap, zeros, len(real), len(synth)):
            yield Finding(key="zeros", weight=gap, columns=(name,), real=zeros, synthetic=here, fresh=zeros)
        rest, some = real[real != 0], synth[synth != 0]
        if len(rest) < FEWEST or not len(some):
            continue
        far = shifts.moved(rest, float(some.mean()), shifts.together(len(rest), len(some)), sure=shifts.SURE + 1)
        if far is not None:
            yield Finding(
                key="rest",
                weight=(1 - np.exp(-far)) * (1 - zeros),
                columns=(name,),
                real=float(rest.mean()),
                synthetic=float(some.mean()),
                fresh=float(rest.mean()),
            )
        high = float(np.quantile(rest, HIGH))
        counts = int((rest > high).sum()), int((some > high).sum())
        beyond = counts[1] / len(some)
        if not (1 - HIGH) / TIMES <= beyond <= TIMES * (1 - HIGH) and _by_chance(counts, len(rest), len(some)) < RARE:
            yield Finding(
                key="high",
                weight=abs(beyond - 1 + HIGH) * (1 - zeros) + FAR,
                columns=(name,),
                real=high,
                synthetic=float(np.quantile(some, HIGH)),
                fresh=high,
            )


def _by_chance(counts: tuple[int, int], n: int, m: int) -> float:
    """How rarely two samples share out the records beyond a value so unevenly (Przyborowski, Wilenski 1940)."""
    from scipy.stats import binomtest

    return 1.0 if not sum(counts) else float(binomtest(counts[1], sum(counts), m / (n + m)).pvalue)
