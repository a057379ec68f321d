"""Shapes of single columns: the stretch of values whose share moved most, times of day and year, and heaped numbers.

The stretch is that of Kuiper's statistic, the largest difference of two shares over all stretches of values; it serves
on a circle, such as the hours of a day, as on a line. It is a finding by itself where no other mean, or other unit,
explains it: another peak, an end that is cut, a sign that turned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.column_shifts import dated
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.findings.amounts import FEWEST, often_zero
from dpsyn_core.evaluate.findings.cells import ExactCells
from dpsyn_core.evaluate.findings.finding import Finding, beyond_chance
from dpsyn_core.evaluate.findings.series import NONE, parts_of

FAR = 0.05  # of the records: by so much at least the share of a stretch has moved
SURE = 3.0  # times 1 / sqrt(records): one fresh sample in 900,000 is so far off (Kuiper 1960)
SEVERAL = 5  # different values of a number at least
AN_END = 0.8  # of the difference of a stretch that the records beyond one value show, which is plainer
HALF = 0.5  # of the difference that another mean or unit leaves where it does not explain it
TWO_YEARS = 2 * 365.25 * 86_400  # seconds of dates from which on months are more than one stretch of them
FEW_HOURS = 3  # different hours of a time that has any
HEAPS = (1, 5, 10, 50, 100, 500, 1000)
MUCH = 0.1  # of the values: by so much at least fewer, or more, lie on multiples
WIDE = 5  # multiples that the middle 90 % of the values span at least
OF_A_KIND = 0.3  # weight of numbers that are all of another kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """The values from low to high whose share moved most. kind: stretch, or below, above for an end of the values."""

    kind: str
    low: float
    high: float
    real: float
    synthetic: float

    @property
    def another(self) -> bool:
        """Whether one table has twice as many there as the other one, so that what rests on these values is another."""
        return min(self.real, self.synthetic) <= max(self.real, self.synthetic) / 2

    @property
    def gap(self) -> float:
        """By how much the share moved."""
        return abs(self.real - self.synthetic)


def shapes(c: Comparison) -> Iterator[Finding]:
    """All three, of every number and every column of dates."""
    cells = ExactCells.of(c)
    for name in shifts.numbers(c):
        real, synth = (x[~np.isnan(x)] for x in cells.floats(name))
        if len(real) < FEWEST or not len(synth) or len(np.unique(real)) < SEVERAL:
            continue
        yield from _heaps(name, real, synth)
        if often_zero(real):
            real, synth = real[real != 0], synth[synth != 0]
        found = _far(stretch(real, synth), _records(c, name, real, synth)) if len(synth) else None
        yield from _moved(name, (real, synth), found, _parts(c, real, synth), listed=not c.domain[name].number)
    for name in dated(c):
        unit = c.date_units[name]
        real, synth = (x[~np.isnan(x)] * unit for x in cells.floats(name))
        if len(real) < FEWEST or not len(synth):
            continue
        found = _far(stretch(real, synth), _records(c, name, real, synth))
        yield from _moved(name, (real, synth), found, _parts(c, real, synth), dates=True)
        yield from _of_clocks(c, name, (real, synth), precise=unit == 1)


def stretch(real: Floats, synthetic: Floats) -> Stretch | None:
    """The stretch of values whose share differs most, or an end that differs about as much; None where none does."""
    at = np.unique(np.concatenate([real, synthetic]))
    sides = [np.searchsorted(np.sort(x), at, side="right") / len(x) for x in (real, synthetic)]
    gap = np.concatenate([[0.0], sides[1] - sides[0]])
    low, high = sorted((int(gap.argmax()), int(gap.argmin())))
    if low == high:
        return None
    far = int(np.abs(gap).argmax())
    if abs(gap[far]) >= AN_END * abs(gap[high] - gap[low]):
        below = float(sides[0][far - 1]), float(sides[1][far - 1])
        above = 1 - below[0], 1 - below[1]
        if min(below) < min(above):
            return Stretch(kind="below", low=float(at[0]), high=float(at[far - 1]), real=below[0], synthetic=below[1])
        return Stretch(kind="above", low=float(at[far - 1]), high=float(at[-1]), real=above[0], synthetic=above[1])
    shares = [float(x[high - 1] - (x[low - 1] if low else 0.0)) for x in sides]
    return Stretch(kind="stretch", low=float(at[low]), high=float(at[high - 1]), real=shares[0], synthetic=shares[1])


def _records(c: Comparison, name: str, real: Floats, synth: Floats) -> float:
    """Records that the difference of two shares rests on."""
    return shifts.together(len(real), len(synth)) / rows_as_one(c, name)


def _far(found: Stretch | None, records: float) -> Stretch | None:
    """The stretch, where no fresh sample is so far off."""
    return found if found is not None and found.gap > max(FAR, SURE / np.sqrt(records)) else None


def _parts(c: Comparison, real: Floats, synth: Floats) -> tuple[float, float]:
    """The parts of all real and of all synthetic records that have these values."""
    return len(real) / c.n, len(synth) / max(c.synthetic.shape[1], 1)


def _moved(
    name: str,
    sides: tuple[Floats, Floats],
    found: Stretch | None,
    parts: tuple[float, float],
    *,
    dates: bool = False,
    listed: bool = False,
) -> Iterator[Finding]:
    """parts: of the records that have these values. listed: the shares of single values are named by themselves."""
    real, synth = sides
    if len(real) < FEWEST or found is None or (listed and found.low == found.high):
        return
    signs = abs(float((real < 0).mean() - (synth < 0).mean())) >= HALF  # which no mean explains
    if not signs and any(
        (s := stretch(real, x)) is None or s.gap < HALF * found.gap for x in _brought_back(real, synth)
    ):
        return  # the mean says it
    shares, weight = (found.real * parts[0], found.synthetic * parts[1]), found.gap * parts[0]
    if found.low == found.high and not dates:
        what = {"value": f"{found.low:.15g}", "decimal": True}
        yield Finding(key="share", weight=weight, columns=(name,), real=shares[0], synthetic=shares[1], fresh=shares[0],
                      what=what, remedy="declare")  # fmt: skip
        return
    ends: dict[str, Any] = {"low": found.low, "high": found.high}
    if dates:
        ends = {k: str(np.datetime64(round(v), "s")).removesuffix("T00:00:00") for k, v in ends.items()}
    yield Finding(
        key=found.kind,
        weight=weight,
        columns=(name,),
        real=shares[0],
        synthetic=shares[1],
        fresh=shares[0],
        what=ends | {"another": found.another},
        remedy="declare",
    )


def _brought_back(real: Floats, synth: Floats) -> Iterator[Floats]:
    """The synthetic values moved, and scaled, to the real mean and to the median; whole where all are."""
    whole = bool((real == np.round(real)).all())
    for middle in (np.mean, np.median):
        x, z = float(middle(real)), float(middle(synth))
        sides = [synth + (x - z)]
        if real.min() >= 0 and min(x, z) > 0:
            sides.append(synth * (x / z))
        for values in sides:
            yield np.round(values) if whole else values


def _of_clocks(c: Comparison, name: str, dates: tuple[Floats, Floats], *, precise: bool) -> Iterator[Finding]:
    """Hours of the day, and months of the year of dates of two years and more."""
    (real, _), parts = dates, _parts(c, *dates)
    sides = [parts_of(x, precise=precise) for x in dates]
    asked = ["hour"] if precise and len(np.unique(sides[0]["hour"])) >= FEW_HOURS else []
    asked += ["month"] if real.max() - real.min() >= TWO_YEARS else []
    for part in asked:
        values = [s[part][s[part] != NONE].astype(float) for s in sides]
        found = _far(stretch(*values), _records(c, name, *dates))
        if found is None:
            continue
        first = int(part == "month")
        shares = found.real * parts[0], found.synthetic * parts[1]
        yield Finding(
            key=f"times_{part}",
            weight=found.gap * parts[0],
            columns=(name,),
            real=shares[0],
            synthetic=shares[1],
            fresh=shares[0],
            what={"low": int(found.low + (found.kind == "above")) + first, "high": int(found.high) + first},
            remedy="time",
        )


def _heaps(name: str, real: Floats, synth: Floats) -> Iterator[Finding]:
    """Numbers that people round, such as speeds in tens, and that are anything here, or the other way round."""
    low, high = np.quantile(real, (0.05, 0.95))
    ends = float(synth.min()), float(synth.max())
    best: tuple[float, int, float, float] | None = None
    for step in HEAPS:
        if high - low < WIDE * step:
            break
        if step == 1 and (real == np.round(real)).all():
            continue  # fractions among whole numbers are found by themselves
        x, z = (float((v[v != 0] % step == 0).mean()) if (v != 0).any() else 0.0 for v in (real, synth))
        if z > x and float(((synth % step == 0) & (synth > ends[0]) & (synth < ends[1])).mean()) <= x:
            continue  # an end that is cut at a multiple
        if abs(x - z) > MUCH and (best is None or abs(x - z) > best[0]):
            best = abs(x - z), step, x, z
    if best is None:
        return
    gap, step, x, z = best
    if not (beyond_chance(x, z, len(synth), len(real)) or beyond_chance(z, x, len(real), len(synth))):
        return
    yield Finding(
        key="heaps", weight=OF_A_KIND * gap, columns=(name,), real=x, synthetic=z, fresh=x, what={"step": step},
        remedy="declare",
    )  # fmt: skip
