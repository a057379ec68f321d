"""What a table cannot be read for, from released values alone: what was not counted, noise, coarse groups, limits.

Reads the schema, the released tables, the manifest and the synthetic records, never the real table: equal releases of
two private tables have equal findings. Publishable where the release is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from dpsyn_core.estimate import Measurement
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.finding import Finding
from dpsyn_core.evaluate.noise_error import expected_tvd
from dpsyn_core.evaluate.released_fit import MeasuredFit, estimated_total
from dpsyn_core.privacy import Manifest
from dpsyn_core.schema import AttributeSet

NOISY = 0.05  # share of the records by which noise alone puts a column off that is named
NOISY_PAIR = 0.1  # the same of tables of two columns or more
COARSE = 0.5  # of the values of a column: the groups that it was counted in, where they are fewer
ONE_BIN, BINS = 0.95, 10  # share of a column's released counts in one of so many bins or more
APART = 2.0  # standard deviations of the noise that records lie from what was released, where noise alone makes 1
FEWER = 0.5  # of the released number of records
BROKEN = 0.005  # share of the synthetic records that break a rule
OF_A_LIMIT = 0.01  # weight of what is known without a figure


def released_findings(c: Comparison, manifest: Manifest | None = None) -> list[Finding]:
    """All findings, the gravest first; weights are shares of the records or of the pairs of columns."""
    measured = [m for m in c.measurements if m.attributes and m.sigma > 0]
    listed = [*_limits(c, manifest), *_records(c)]
    if measured:
        n = estimated_total([m for m in c.measurements if m.sigma > 0])
        listed += [*_counted(c, measured), *_noise(c, measured, n), *_groups(c, measured), *_bins(c, measured, n)]
        listed += [*_fit(c), *_fewer(c, n)]
    return sorted(listed, key=lambda f: -f.weight)


def _limits(c: Comparison, manifest: Manifest | None) -> Iterator[Finding]:
    """Rows and columns that the run did not use by its public schema."""
    if manifest is not None and manifest.identifier is not None:
        yield Finding(
            key="released_limit", weight=OF_A_LIMIT, columns=(manifest.identifier,), what={"most": manifest.max_records}
        )
    if c.left_out:
        share = len(c.left_out) / (len(c.left_out) + len(c.domain))
        yield Finding(key="released_left_out", weight=OF_A_LIMIT, columns=c.left_out, synthetic=share)


def _records(c: Comparison) -> Iterator[Finding]:
    """What the published records show by themselves: columns of one value, and rules of the schema that are broken."""
    for a, codes in zip(c.domain.attributes, c.synthetic, strict=True):
        if a.size - a.special >= 2 and c.m > 1 and (codes == codes[0]).all():
            yield Finding(key="released_constant", weight=1.0, columns=(a.name,), what={"size": a.size - a.special})
    for r in c.rules:
        if r.synthetic > BROKEN:
            yield Finding(key="released_rule", weight=r.synthetic, synthetic=r.synthetic, what={"rule": r.rule})


def _counted(c: Comparison, measured: list[Measurement]) -> Iterator[Finding]:
    """Columns and pairs that no released table counts."""
    names = c.domain.names
    single = {n for m in measured for n in m.attributes}
    pairs = {p for m in measured for p in combinations(sorted(m.attributes), 2)}
    every = math.comb(len(names), 2)
    lacking = tuple(n for n in names if n not in single)
    if lacking:
        yield Finding(key="released_unmeasured", weight=len(lacking) / len(names), columns=lacking)
    together = {n for p in pairs for n in p}
    alone = tuple(n for n in names if n in single and n not in together)
    if alone and len(names) > 1:
        yield Finding(key="released_alone", weight=len(alone) / len(names), columns=alone)
    if pairs and len(pairs) < every:
        yield Finding(
            key="released_pairs", weight=(1 - len(pairs) / every) / 2, what={"pairs": len(pairs), "all": every}
        )


def _noise(c: Comparison, measured: list[Measurement], n: float) -> Iterator[Finding]:
    """Columns, and tables of several, that noise alone puts far off; the least noisy table of each counts."""
    best: dict[str, float] = {}
    tables: dict[AttributeSet, float] = {}
    for m in measured:
        if len(m.attributes) > 1:
            error = expected_tvd(m.cells, m.sigma, n)
            tables[m.attributes] = min(error, tables.get(m.attributes, 1.0))
        for name, groups in zip(m.attributes, m.values.shape, strict=True):
            error = expected_tvd(groups, m.sigma * math.sqrt(m.cells / groups), n)
            best[name] = min(error, best.get(name, 1.0))
    far = sorted((n for n in best if best[n] >= NOISY), key=lambda n: -best[n])
    if far:
        yield Finding(key="released_noise", weight=best[far[0]], columns=tuple(far), synthetic=best[far[-1]])
    many = [p for p, error in tables.items() if error >= NOISY_PAIR]
    if many:
        worst = max(many, key=lambda p: tables[p])
        yield Finding(
            key="released_noise_tables",
            weight=tables[worst] / 2,
            columns=worst,
            synthetic=tables[worst],
            what={"far": len(many), "all": len(tables), "set": " × ".join(worst)},
        )


def _finest(measured: list[Measurement]) -> dict[str, int]:
    """The most groups in which a released table counts each column."""
    out: dict[str, int] = {}
    for m in measured:
        for name, groups in zip(m.attributes, m.values.shape, strict=True):
            out[name] = max(groups, out.get(name, 0))
    return out


def _groups(c: Comparison, measured: list[Measurement]) -> Iterator[Finding]:
    """Columns that were counted in few groups of their values."""
    finest = _finest(measured)
    coarse = [n for n in c.domain.names if 0 < finest.get(n, 0) <= COARSE * c.domain[n].size]
    if coarse:
        name = min(coarse, key=lambda n: finest[n] / c.domain[n].size)
        what = {"groups": finest[name], "size": c.domain[name].size, "number": len(coarse)}
        key = "released_coarse" if len(coarse) > 1 else "released_coarse_one"
        yield Finding(key=key, weight=len(coarse) / len(c.domain) / 2, columns=(name,), what=what)


def _bins(c: Comparison, measured: list[Measurement], n: float) -> Iterator[Finding]:
    """Numbers of which one bin has nearly all released counts, beyond the noise."""
    for m in measured:
        if len(m.attributes) == 1 and c.domain[m.attributes[0]].number and m.cells >= BINS:
            share = float(m.values.max() / max(1.0, m.values.sum()))
            if share - 2 * m.sigma / n >= ONE_BIN:
                yield Finding(
                    key="released_one_bin",
                    weight=0.9 * min(1.0, share),
                    columns=m.attributes,
                    synthetic=min(1.0, share),
                    what={"size": m.cells},
                )


def _fit(c: Comparison) -> Iterator[Finding]:
    """Records that lie farther from what was released than the noise does."""
    apart = math.sqrt(MeasuredFit().score(c).value)
    if apart >= APART:
        yield Finding(key="released_fit", weight=min(1.0, apart / 100), what={"deviations": apart})


def _fewer(c: Comparison, n: float) -> Iterator[Finding]:
    """Far fewer synthetic records than were counted."""
    if c.whole_m < FEWER * n:
        share = 1 / float(np.sqrt(c.whole_m))
        yield Finding(key="released_few", weight=share, synthetic=share, what={"made": c.whole_m, "all": round(n)})
