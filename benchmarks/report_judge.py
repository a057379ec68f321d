"""Which finding comes first on spoiled tables, and that none is raised on fresh samples and on good releases.

`python -m benchmarks.report_judge [--set fifth] [--only stays] [--part 2/9] [--releases]`: each table is judged
as `dpsyn report` does; printed are the first finding and whether it is one of those that must come first. Good ones are
fresh samples of the same population. --releases: also releases at a large epsilon, of which no alarm may be raised.
--cost 100000: nothing is judged; printed is what a verdict costs on so many records of 20 columns, and all metrics.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pandas as pd

from benchmarks import (
    spoiled_tables,
    spoiled_tables_fifth,
    spoiled_tables_fourth,
    spoiled_tables_second,
    spoiled_tables_sixth,
    spoiled_tables_third,
)
from benchmarks.spoiled_tables import Spoiled, arrow, pair, released, schema_of
from dpsyn_core.errors import DPSynError
from dpsyn_core.evaluate import Finding, Verdict, compare_tables, compute, verdict
from dpsyn_core.report.finding_words import first_words
from dpsyn_core.report.wording import ENGLISH

LETTERS = 110  # of a finding that are printed
EPSILONS = (1.0, 10.0)
COLUMNS = 20  # of the table whose report is measured
SETS = {
    "first": spoiled_tables,
    "second": spoiled_tables_second,
    "third": spoiled_tables_third,
    "fourth": spoiled_tables_fourth,
    "fifth": spoiled_tables_fifth,
    "sixth": spoiled_tables_sixth,
}
Row = tuple[str, str, str, bool]


def judged(real: pd.DataFrame, made: pd.DataFrame, unit: tuple[str, int] | None = None) -> Verdict:
    """The verdict of the report."""
    return verdict(compare_tables(schema_of(real, unit), arrow(made), arrow(real)))


def right(s: Spoiled, first: Finding | None) -> bool:
    """Whether the finding is of a kind that must come first, and on the column that it has to name."""
    if first is None or first.key not in s.first:
        return False
    return not s.column or s.column in first.columns


def shown(f: Finding | None) -> str:
    """The sentence of a finding, cut."""
    return "none" if f is None else first_words(f, ENGLISH)[:LETTERS].replace("|", "/")


def of_spoiled(tables: ModuleType, only: str, part: tuple[int, int]) -> Iterator[Row]:
    """Each spoiled table."""
    for k, s in enumerate(tables.spoiled()):
        if k % part[1] + 1 == part[0] and only in ("", s.shape, s.name):
            try:
                listed = judged(s.real, s.made, s.unit).findings
            except DPSynError as error:  # a report that is refused is wrong
                yield s.shape, s.name, f"refused: {error}"[:LETTERS], False
                continue
            first = listed[0] if listed else None
            yield s.shape, s.name, shown(first), right(s, first)


def of_good(tables: ModuleType, only: str, part: tuple[int, int]) -> Iterator[Row]:
    """Each fresh sample: nothing may be found."""
    for k, (shape, i, real, fresh) in enumerate(tables.good()):
        if k % part[1] + 1 == part[0] and only in ("", shape, "good"):
            try:
                listed = judged(real, fresh).findings
            except DPSynError as error:
                yield shape, f"fresh sample {i + 1}", f"refused: {error}"[:LETTERS], False
                continue
            yield shape, f"fresh sample {i + 1}", shown(listed[0] if listed else None), not listed


def of_releases(tables: ModuleType, only: str, part: tuple[int, int]) -> Iterator[Row]:
    """Releases of the default system: no alarm, for its noise does not copy anybody."""
    for k, (shape, make) in enumerate(tables.SHAPES.items()):
        if k % part[1] + 1 != part[0] or only not in ("", shape, "releases"):
            continue
        real, _ = pair(make, 400 + k)
        for epsilon in EPSILONS:
            made = released(real, epsilon, 0)
            found = verdict(compare_tables(schema_of(real), made, arrow(real)))
            first = shown(found.findings[0] if found.findings else None)
            yield shape, f"release at epsilon {epsilon:g}", first, found.alarm is None


def cost(n: int) -> str:
    """CPU seconds and memory of a verdict and of all metrics: n records of 20 columns of three shapes."""
    from benchmarks.memory import peak_mb

    frames = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        parts = [make(rng, n) for make in (spoiled_tables.stays, spoiled_tables.wages, spoiled_tables.cards)]
        frames.append(pd.concat(parts, axis=1).iloc[:, :COLUMNS])
    schema, start = schema_of(frames[0]), time.process_time()
    compared = compare_tables(schema, arrow(frames[1]), arrow(frames[0]))
    read, start = time.process_time() - start, time.process_time()
    verdict(compared)
    judged_in, start = time.process_time() - start, time.process_time()
    compute(compared)
    rows = [
        f"| {n:,} x {COLUMNS} | {read:.1f} | {judged_in:.1f} | {time.process_time() - start:.1f} | {peak_mb():,.0f} |"
    ]
    return "\n".join(["| table | reading, CPU s | verdict | all metrics | peak MB |", "|---|--:|--:|--:|--:|", *rows])


def main() -> int:
    """Prints Markdown; 1 where a finding is not the one that must come first, or a good table has one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a shape, a name, good or releases")
    parser.add_argument("--releases", action="store_true", help="releases too")
    parser.add_argument("--part", default="1/1", help="2/9: the second of nine parts of all tables")
    parser.add_argument("--set", choices=SETS, default="first", help="of tables")
    parser.add_argument("--cost", type=int, default=0, help="print what a report on so many records costs, and end")
    given = parser.parse_args()
    if given.cost:
        print(cost(given.cost))
        return 0
    at, parts_of = (int(x) for x in given.part.split("/"))
    parts = [of_spoiled, of_good, *([of_releases] if given.releases else [])]
    parts = [of_releases] if given.releases and given.only else parts
    print("| shape | table | first finding | as it must be |\n|---|---|---|---|")
    wrong = count = 0
    for part in parts:
        for shape, name, first, holds in part(SETS[given.set], given.only, (at, parts_of)):
            print(f"| {shape} | {name} | {first} | {'yes' if holds else '**no**'} |", flush=True)
            count, wrong = count + 1, wrong + (not holds)
    print(f"\n{count - wrong} of {count} tables as they must be.")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
