"""Blank cells by group: a column that the old leave blank more often than the young, and here no longer do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.evaluate import shifts
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.cells import ExactCells
from dpsyn_core.evaluate.findings.finding import Finding

SOME = 0.01  # of the cells are blank, and of the others filled
FAR = 0.1  # of the records of a group: by so much more the share of blank cells has moved than that of all
FEWEST = 30  # records of a group in each table

Group = tuple[str, str, NDArray[np.bool_], NDArray[np.bool_]]  # kind of finding, value, records of both tables


def blanks_by_group(c: Comparison) -> Iterator[Finding]:
    """Of each column the group whose share of blank cells moved most beyond that of all records."""
    cells = ExactCells.of(c)
    sides = {n: [x < 0 for x in cells.column(n)[:2]] for n in c.domain.names}
    asked = [n for n, (real, _) in sides.items() if SOME <= real.mean() <= 1 - SOME]
    by = {n: list(_groups(c, n)) for n in c.domain.names} if asked else {}
    sure = shifts.sure_of(len(asked) * sum(map(len, by.values())))
    for name in asked:
        found = [
            f
            for other in by
            if other != name
            for g in by[other]
            for f in _moved(c, (name, other), g, sides[name], sure)
        ]
        if found:
            yield max(found, key=lambda f: f.weight)


def _groups(c: Comparison, name: str) -> Iterator[Group]:
    """The values of a short list, or the numbers and dates above their median."""
    if name in shifts.categories(c):
        a, i = c.domain[name], c.domain.index(name)
        for k, word in enumerate(c.words(name)[: a.size - a.special]):
            yield "blank_group", word, c.truth[i] == k, c.synthetic[i] == k
    elif name in shifts.numbers(c):
        real, made = c.exact(name)
        middle = float(np.nanmedian(real)) if not np.isnan(real).all() else np.nan
        yield "blank_above", f"{middle:.15g}", real > middle, made > middle


def _moved(
    c: Comparison, columns: tuple[str, str], group: Group, blank: list[NDArray[np.bool_]], sure: float
) -> Iterator[Finding]:
    key, value, *rows = group
    n, m = (int(x.sum()) for x in rows)
    if min(n, m) < FEWEST:
        return
    real, made = (float(b[x].mean()) for b, x in zip(blank, rows, strict=True))
    of_all = float(blank[1].mean() - blank[0].mean())
    gap = abs(made - real - of_all)
    if gap > max(FAR, sure * float(shifts.error_of_share(np.array(real), n, m))):
        yield Finding(key=key, weight=gap * n / c.n, columns=columns, real=real, synthetic=made, fresh=real,
                      what={"value": value, "decimal": key == "blank_above"}, remedy="declare")  # fmt: skip
