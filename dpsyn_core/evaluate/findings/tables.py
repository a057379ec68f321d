"""What rows and columns say: which were left out, which were read in another way, which are of another kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison, Floats
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.findings.cells import ExactCells, Whole
from dpsyn_core.evaluate.findings.finding import LEAST, Finding, beyond_chance
from dpsyn_core.evaluate.findings.nearness import record_keys

PART = 0.01  # of the rows: fewer that are left out are not worth a sentence
MOST = 0.5  # of the rows: where more are left out, all else that is found follows from it
ONE_BIN = 0.95  # share of the real cells in one bin
MANY = 20  # different real values of a column that one bin says nothing of
SEVERAL = 10  # different values of a column that is no number of its own
FEWER = 0.5  # of the real records: fewer synthetic ones say less of rare values
OF_A_KIND = 0.3  # weight of numbers that are all of another kind: fractions, for whole ones
COARSE, FINE = 0.5, 50  # of the different values of a column of at least so many are left where it came out coarser
NEW = 0.15  # weight of values that all are new, and may lie near to real ones
OF_SOME = 0.5  # weight of records that are repeated, which may all be right
FEW_AGAIN = 0.05  # of the records: fewer that are repeated say little
MISSED = 0.3  # weight of a column that cannot be compared


def rows(c: Comparison) -> Iterator[Finding]:
    """Real rows and columns that the run did not use, and a synthetic table of far fewer records."""
    used = c.intake
    gone = used.limited + used.misfits
    if used.rows and gone > PART * used.rows:
        yield Finding(
            key="rows",
            weight=gone / used.rows + (gone > MOST * used.rows),
            real=gone / used.rows,
            what={
                "used": used.rows - gone,
                "rows": used.rows,
                "limited": used.limited,
                "misfits": used.misfits,
                "columns": len(used.ignored),
            },
            remedy="limit" if used.limited > used.misfits else "misfits",
        )
    if used.ignored:
        share = len(used.ignored) / (len(used.ignored) + len(c.domain))
        yield Finding(key="ignored", weight=1.5 * LEAST, columns=used.ignored, real=share)
    if c.whole_m < FEWER * c.whole_n and c.m < 1000:
        weight = OF_A_KIND * (1 - c.whole_m / c.whole_n)
        yield Finding(
            key="few_records",
            weight=weight,
            real=c.whole_n,
            synthetic=c.whole_m,
            fresh=c.whole_n,
            what={"of_a_share": 1 / np.sqrt(max(1, c.m))},
            remedy="records",
        )


def repeated(c: Comparison) -> Iterator[Finding]:
    """Records that are the same as an earlier one, more of them than among as many real records."""
    size = min(c.n, c.m)
    shares = []
    for cells in ExactCells.of(c).whole:
        keys = record_keys(cells[:, np.random.default_rng(5).permutation(cells.shape[1])[:size]])
        shares.append(1 - len(np.unique(keys)) / size)
    real, synth = shares
    if synth - real > FEW_AGAIN and beyond_chance(synth, real, size, size):
        yield Finding(key="repeated", weight=OF_SOME * (synth - real), real=real, synthetic=synth, fresh=real)


def foreign(c: Comparison) -> Iterator[Finding]:
    """Columns that are lacking, could not be read, have another name, other dates or cells, or are too many."""
    intake = c.intake
    whole = max(1, len(c.domain) + len(intake.lacking) + len(intake.unreadable))
    for key, names in (("lacking", intake.lacking), ("unreadable", intake.unreadable)):
        if names:
            yield Finding(key=key, weight=MISSED + len(names) / whole / 2, columns=names, synthetic=len(names))
    for key in ("renamed", "reformed", "reworded", "further"):
        names = getattr(intake, key)
        if names:
            yield Finding(key=key, weight=2 * LEAST, columns=names, synthetic=len(names))
    for name, share in intake.blanked.items():
        yield Finding(key="blanked", weight=share, columns=(name,), real=0.0, synthetic=share, fresh=0.0)


def kinds(c: Comparison) -> Iterator[Finding]:
    """Numbers with fractions where all real ones are whole, beyond the real ones, or that no real record has."""
    cells = ExactCells.of(c)
    for name in shifts.numbers(c):
        real, synth = (x[~np.isnan(x)] for x in cells.floats(name))
        if len(real) < 2 or not len(synth):
            continue
        rates = len(synth) / c.m
        parts = float((synth != np.round(synth)).mean()) * rates
        if parts > LEAST and (real == np.round(real)).all():
            yield Finding(
                key="fractions",
                weight=OF_A_KIND * parts,
                columns=(name,),
                real=0.0,
                synthetic=parts,
                fresh=0.0,
                what={"example": float(synth[synth != np.round(synth)][0])},
            )
            continue
        outside = float(((synth < real.min()) | (synth > real.max())).mean()) * rates
        as_one = rows_as_one(c, name)
        beyond = min(1.0, 2 * as_one / len(real))  # of a fresh sample
        if outside > LEAST and beyond_chance(outside, beyond, round(len(real) / as_one), round(c.m / as_one)):
            yield Finding(
                key="outside",
                weight=outside,
                columns=(name,),
                real=0.0,
                synthetic=outside,
                fresh=beyond,
                what={"low": float(real.min()), "high": float(real.max())},
                remedy="range",
            )
        codes, codes_made, size = cells.column(name)
        count = np.bincount(codes[codes >= 0], minlength=size)
        alone = float((count == 1).sum() / len(real))
        new = float((count[codes_made[codes_made >= 0]] == 0).mean()) * rates - outside
        if new - alone > PART and beyond_chance(new, alone, len(real), c.m):
            yield Finding(
                key="new_numbers", weight=NEW * (new - alone), columns=(name,), real=0.0, synthetic=new, fresh=alone
            )


def coarser(c: Comparison) -> Iterator[Finding]:
    """Numbers and times of far fewer different values, such as times that all are midnight, and rounded amounts."""
    cells = ExactCells.of(c)
    size = min(c.n, c.m)
    rows = [np.random.default_rng(4).permutation(k)[:size] for k in (c.n, c.m)]
    for name in c.domain.names:
        if not cells.measured(name):
            continue
        real, synth = (_different(x[at]) for x, at in zip(cells.column(name)[:2], rows, strict=True))
        if real >= FINE and synth <= COARSE * real:
            yield Finding(
                key="coarser",
                weight=OF_A_KIND * (1 - synth / real),
                columns=(name,),
                real=real,
                synthetic=synth,
                fresh=real,
            )


def _different(codes: Whole) -> int:
    return int(np.count_nonzero(np.bincount(codes[codes >= 0], minlength=1)))


def readings(c: Comparison) -> Iterator[Finding]:
    """Columns of numbers that were read so that nearly all real cells lie in one bin, or that lie far beyond it."""
    for i, a in enumerate(c.domain.attributes):
        if not a.number or a.name not in c.real_values:
            continue
        counts = np.bincount(c.truth[i], minlength=a.size)[: a.size - a.special]
        total = int(counts.sum())
        if a.size - a.special < 2 or total < 2 or counts.max() < ONE_BIN * total:
            continue
        real = c.real_values[a.name]
        bins = real[c.truth[i] == counts.argmax()]
        values = np.unique(bins[~np.isnan(bins)])
        if len(values) < MANY or _mostly_one(bins):
            continue
        text = c.intake.texts.get(a.name, "")
        yield Finding(
            key="one_bin",
            weight=counts.max() / total * 0.9,
            columns=(a.name,),
            real=float(counts.max() / total),
            what={"values": len(values), "text": text, "value": float(real[~np.isnan(real)][0])},
            remedy="reading",
        )


def _mostly_one(values: Floats) -> bool:
    """Whether most of some numbers are one and the same, as amounts that are mostly 0."""
    _, counts = np.unique(values, return_counts=True)
    return bool(counts.max() > len(values) / 2)
