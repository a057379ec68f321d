"""Amounts: the share of zeros and the mean of the rest where it is often 0, and the ends of every number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.findings.cells import ExactCells
from dpsyn_core.evaluate.findings.finding import Finding, beyond_chance

SOME = 0.05  # of the records have a 0, or have none, else a column is no amount of this kind
FAR = 0.02  # of the records: by so much a share has moved
FEWEST = 100  # amounts that a highest hundredth is found of
HIGH = 0.99
OF_AN_END = 0.5  # weight of records beyond an end, of which a mean says more where they are many
SEVERAL = 10  # different values of a number at least
RARE = 1e-5  # of fresh samples have a highest hundredth that is so far off
TIMES = 2.0  # as many, or as few, lie beyond the real highest hundredth


@dataclass(frozen=True, kw_only=True, slots=True)
class AmountFigures:
    """An amount that is often 0, each figure of the real and of the synthetic table.

    zeros: share of its cells that are 0. rest: mean of the others. high: their highest hundredth lies above it.
    """

    column: str
    zeros: tuple[float, float]
    rest: tuple[float, float]
    high: tuple[float, float]


def amount_figures(c: Comparison) -> list[AmountFigures]:
    """Those of all amounts that are often 0, where both tables have others."""
    out = []
    for name, (real, synth) in _amounts(c):
        rest, some = real[real != 0], synth[synth != 0]
        if often_zero(real) and len(rest) >= FEWEST and len(some):
            out.append(
                AmountFigures(
                    column=name,
                    zeros=(float((real == 0).mean()), float((synth == 0).mean())),
                    rest=(float(rest.mean()), float(some.mean())),
                    high=(float(np.quantile(rest, HIGH)), float(np.quantile(some, HIGH))),
                )
            )
    return out


def _amounts(c: Comparison) -> Iterator[tuple[str, tuple[Floats, Floats]]]:
    """Numbers of several values, without blank cells."""
    cells = ExactCells.of(c)
    for name in shifts.numbers(c):
        real, synth = (x[~np.isnan(x)] for x in cells.floats(name))
        if len(real) >= FEWEST and len(synth) and len(np.unique(real)) >= SEVERAL:
            yield name, (real, synth)


def often_zero(real: Floats) -> bool:
    """Whether some of a number are 0, and some are above."""
    return bool(real.min() >= 0 and SOME <= (real == 0).mean() <= 1 - SOME)


def amounts(c: Comparison) -> Iterator[Finding]:
    """The figures of each amount that is often 0, and the ends of each number, where no fresh sample has them."""
    for name, (real, synth) in _amounts(c):
        as_one = rows_as_one(c, name)
        if not often_zero(real):
            yield from _ends(name, real, synth, (1.0, as_one), ("top", "bottom"))
            continue
        zeros, here = float((real == 0).mean()), float((synth == 0).mean())
        gap = abs(here - zeros)
        if gap > FAR and beyond_chance(zeros + gap, zeros, int(len(real) / as_one), int(len(synth) / as_one)):
            yield Finding(key="zeros", weight=gap, columns=(name,), real=zeros, synthetic=here, fresh=zeros)
        rest, some = real[real != 0], synth[synth != 0]
        if len(rest) < FEWEST or not len(some):
            continue
        records = shifts.together(len(rest), len(some)) / as_one
        far = shifts.moved(rest, float(some.mean()), records, sure=shifts.SURE + 1)
        if far is not None:
            yield Finding(
                key="rest",
                weight=(1 - np.exp(-far)) * (1 - zeros),
                columns=(name,),
                real=float(rest.mean()),
                synthetic=float(some.mean()),
                fresh=float(rest.mean()),
            )
        yield from _ends(name, rest, some, (1 - zeros, as_one), ("high",))


def _ends(
    name: str, real: Floats, synth: Floats, counted: tuple[float, float], keys: tuple[str, ...]
) -> Iterator[Finding]:
    """The highest and the lowest hundredth, where half or twice as many synthetic values lie beyond it.

    counted: the part of the records that have these values, and how many of them count as one.
    """
    part, as_one = counted
    for key, sign in zip(keys, (1, -1), strict=False):
        end = float(np.quantile(real, HIGH if sign > 0 else 1 - HIGH))
        counts = int((sign * real > sign * end).sum()), int((sign * synth > sign * end).sum())
        if counts[0] < FEWEST * (1 - HIGH) / 2:
            continue  # the end is that of the whole column, beyond which others look
        beyond, usual = counts[1] / len(synth), counts[0] / len(real)
        if not usual / TIMES <= beyond <= TIMES * usual and _by_chance(counts, len(real), len(synth), as_one) < RARE:
            yield Finding(
                key=key,
                weight=OF_AN_END * abs(beyond - usual) * part + FAR,
                columns=(name,),
                real=end,
                synthetic=float(np.quantile(synth, HIGH if sign > 0 else 1 - HIGH)),
                fresh=end,
            )


def _by_chance(counts: tuple[int, int], n: int, m: int, as_one: float) -> float:
    """How rarely two samples share out the records beyond a value so unevenly (Przyborowski, Wilenski 1940)."""
    from scipy.stats import binomtest

    counts = round(counts[0] / as_one), round(counts[1] / as_one)
    return 1.0 if not sum(counts) else float(binomtest(counts[1], sum(counts), m / (n + m)).pvalue)
