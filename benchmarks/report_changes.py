"""What `dpsyn report --json` says of copies of a table to which one thing was done: does the verdict name it?

`python -m benchmarks.report_changes [--only homes,stays]`. Each of the tables of `change_tables` is reported on as a
shuffled copy, a fresh sample, and fresh samples of which a relation was destroyed, a number grew by 30 %, a value was
dropped, a column was blanked, dates were shifted, or all records are one; every figure is compared with pandas. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.change_tables import Changed, tables
from benchmarks.report_claims import GOOD
from benchmarks.report_walks import RESAMPLED, SHUFFLED, copies, declared, judged

MEANS, BLANK, GONE = ": mean ", " of the cells blank", " in all records"


def changed(c: Changed, rng: np.random.Generator) -> Iterator[tuple[str, pd.DataFrame, list[str]]]:
    """What was done, the copy, and what the verdict has to say: all of these."""
    whole, n = c.walked.frame, len(c.walked.frame)
    fresh = copies(c.walked, rng)[RESAMPLED].reset_index(drop=True)
    if c.relation is not None:
        yield "relation", fresh.assign(**{c.relation[0]: rng.permutation(fresh[c.relation[0]])}), [*c.relation[:1]]
    if c.mean is not None:
        grown = fresh[c.mean] * 1.3
        exact = grown.round(2) if fresh[c.mean].mod(1).any() else grown.round().astype(int)
        yield "mean", fresh.assign(**{c.mean: exact}), [f"{c.mean}{MEANS}"]
    if c.value is not None:
        kept = whole[whole[c.value[0]].astype(str) != c.value[1]]
        several = kept[c.value[0]].nunique() > 1
        said = f"{c.value[0]} {c.value[1]}: " if several else GONE
        yield "value", kept.iloc[rng.integers(0, len(kept), n)], [c.value[0], said]
    last = [x for x in whole if whole[x].nunique() > 1][-1]
    yield "blank", fresh.assign(**{last: None}), [last, BLANK]
    for day in c.walked.dates[:1]:
        yield "dates", fresh.assign(**{day: fresh[day] + pd.Timedelta(days=200)}), [f"{day}{MEANS}date"]
    yield "same", whole.iloc[[n // 2] * n], ["all records are the same"]


def walk(c: Changed, place: Path) -> Iterator[tuple[str, int, list[str]]]:
    """By copy: figures that were compared, and what is contradicted or not named."""
    rng = np.random.default_rng(31)
    file, schema = declared(c.walked, place)
    none: list[str] = []
    done = {what: (frame, none) for what, frame in copies(c.walked, rng).items()}
    done |= {what: (frame, said) for what, frame, said in changed(c, rng)}
    for what, (frame, said) in done.items():
        made = place / "made.csv"
        made.write_bytes(replace(c.walked, frame=frame).raw())
        found = judged(c.walked, "", place, file, schema, made)
        kept, sentence = found.verdict["relations_kept"], found.verdict["sentence"]
        off = found.contradictions
        off += [f"'{word.strip()}' is not named: {sentence}" for word in said if word not in sentence]
        if what == SHUFFLED and (found.verdict["grade"] in GOOD or (kept or 0) > 0.1):
            off.append(f"praised: {sentence}")
        if what == RESAMPLED and (kept or 1) < 0.9:
            off.append(f"blamed: {sentence}")
        yield what, found.figures, off


def main() -> int:
    """Prints all; 1 where something is contradicted or not named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of tables, with commas")
    wanted = set(filter(None, parser.parse_args().only.split(",")))
    reports, figures, wrong = Counter[str](), Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DPSYN_HOME"] = folder  # a ledger of its own
        for c in tables():
            if wanted and c.walked.name not in wanted:
                continue
            for what, count, off in walk(c, Path(folder)):
                reports[what] += 1
                figures[what] += count
                wrong += [(what, f"{c.walked.name}, {what}: {x}") for x in off]
            print(f"{c.walked.name} done", file=sys.stderr)
    print("| done to the copy | tables | figures compared | contradicted or not named |\n|---|---|---|---|")
    for what in reports:
        print(f"| {what} | {reports[what]} | {figures[what]:,} | {sum(w == what for w, _ in wrong)} |")
    print("".join(f"\n{text}" for _, text in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
