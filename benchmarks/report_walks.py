"""Twelve tables of `walks` by shell: `schema draft`, `synth`, `report --json`, and each figure against pandas.

`python -m benchmarks.report_walks [--set second] [--only loans,panel]`. Three of a set also as a shuffled copy (each
column by itself), of which no good word may be said, and as real records drawn again, which must raise an alarm. The
ninth and the tenth set have a system and an epsilon for each table. Prints Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import walk_tables_ninth, walk_tables_tenth
from benchmarks.report_claims import GOOD, claims, praised, wrong
from benchmarks.walk_judge import read, valued
from benchmarks.walk_tables import Walked
from benchmarks.walk_tables_second import SETS
from dpsyn_core.commands.cli import main as dpsyn

# those of which copies are judged
COPIED = (
    "reviews",
    "wide",
    "answers",
    "opinions",
    "matches",
    "houses",
    "citizens",
    "flights",
    "calls",
    "advice",
    "donations",
    "pupils",
    "register",
    "survey",
    "inventory",
)
WAYS = walk_tables_ninth.WAYS | walk_tables_tenth.WAYS
SHUFFLED, RESAMPLED = "shuffled", "resampled"
NONE_KEPT, ALL_KEPT = 0.1, 0.9  # shares of the relations
ONE = "tvd-1way"  # the scores that are not the verdict's are not looked at


MOST = 40  # letters of a verdict's first words in the printed table


@dataclass(frozen=True, slots=True)
class Judged:
    """One copy of one table: what was said, how many figures agreed, and those that did not."""

    name: str
    copy: str
    figures: int
    contradictions: list[str]
    verdict: dict[str, Any]


def copies(walked: Walked, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Unrelated columns, and a fresh sample of the same people."""
    n = len(walked.frame)
    shuffled = pd.DataFrame({c: walked.frame[c].to_numpy()[rng.permutation(n)] for c in walked.frame})
    for c in walked.frame:
        shuffled[c] = shuffled[c].astype(walked.frame[c].dtype)
    return {SHUFFLED: shuffled, RESAMPLED: walked.frame.iloc[rng.integers(0, n, n)]}


def run(*words: str) -> None:
    """A command as a person types it. Raises RuntimeError with what it said where it refuses."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        status = dpsyn([*words])
    if status:
        msg = f"dpsyn {' '.join(words)}: {said.getvalue().strip()}"
        raise RuntimeError(msg)


def declared(walked: Walked, place: Path) -> tuple[Path, Path]:
    """The file and its schema, every entry of which is declared public."""
    table, schema = place / f"{walked.name}.csv", place / f"{walked.name}.json"
    table.write_bytes(walked.raw())
    run("schema", "draft", str(table), "-o", str(schema))
    document = json.loads(schema.read_text("utf-8"))
    for a in document["attributes"]:
        a["source"] = "public"
    document["unit"] |= {"source": "public"}  # each record is one individual, or those of a person are
    if walked.person is not None:
        most = int(walked.frame[walked.person].value_counts().max())
        document["unit"] |= {"identifier": walked.person, "max_records": most}
        document["attributes"] = [a for a in document["attributes"] if a["name"] != walked.person]
    schema.write_text(json.dumps(document), encoding="utf-8")
    return table, schema


def judged(walked: Walked, copy: str, place: Path, table: Path, schema: Path, made: Path) -> Judged:
    """Reports on one copy and compares."""
    out = place / "report.json"
    run("report", str(table), str(made), "--schema", str(schema), "--json", str(out), "--metrics", ONE, "--quiet")
    (document,) = json.loads(out.read_text("utf-8"))["tables"]
    out.unlink()
    real, synthetic = (valued(read(raw, walked), walked) for raw in (walked.raw(), made.read_bytes()))
    listed = list(claims(document, real, synthetic))
    off = [f"{what}: the report says {said}, the file {true}" for what, said, true in listed if wrong(said, true)]
    off += list(praised(document, real, synthetic))
    verdict = document["verdict"]
    kept = verdict["relations_kept"]
    if copy == SHUFFLED and (verdict["grade"] in GOOD or (kept or 0) > NONE_KEPT):
        off.append(f"shuffled columns are praised: {verdict['sentence']}")
    if copy == RESAMPLED and (verdict["alarm"] is None or (kept is not None and kept < ALL_KEPT)):
        off.append(f"real records drawn again raise no alarm, or have lost relations: {verdict['sentence']}")
    return Judged(walked.name, copy, len(listed), off, verdict)


def walk(walked: Walked, place: Path, way: tuple[str, str] | None = None) -> list[Judged]:
    """A run with the default system at epsilon 1, or as `way` says, and the two copies where they are wanted."""
    table, schema = declared(walked, place)
    made = place / f"{walked.name}-made.csv"
    system, epsilon = way or ("rls", "1")
    said = ("--epsilon", epsilon, "--delta", "1e-9", "--method", system, "-o", str(made), "--quiet")
    run("synth", str(table), "--schema", str(schema), *said)
    out = [judged(walked, f"{system}, epsilon {epsilon}", place, table, schema, made)]
    if way is None and walked.name in COPIED:
        for copy, frame in copies(walked, np.random.default_rng(31)).items():
            other = place / f"{walked.name}-{copy}.csv"
            other.write_bytes(replace(walked, frame=frame).raw())
            out.append(judged(walked, copy, place, table, schema, other))
    return out


def printed(found: list[Judged]) -> str:
    """The table, then what is contradicted."""
    lines = [
        "| table | copy | figures compared | contradicted | relations kept | first words of the verdict |",
        "|---|---|---|---|---|---|",
    ]
    for x in found:
        kept = x.verdict["relations_kept"]
        share = "none to keep" if kept is None else f"{100 * kept:.0f} %"
        words = x.verdict["sentence"][:MOST].rpartition(" ")[0]
        lines.append(f"| {x.name} | {x.copy} | {x.figures} | {len(x.contradictions)} | {share} | {words} ... |")
    lines += [f"\n{x.name}, {x.copy}: {c}" for x in found for c in x.contradictions]
    return "\n".join(lines)


def main() -> int:
    """Prints all; 1 where a statement is contradicted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names of tables, with commas")
    parser.add_argument("--set", choices=SETS, default="first", help="of twelve tables")
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    found: list[Judged] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DPSYN_HOME"] = folder  # a ledger of its own
        for walked in SETS[given.set]():
            if not wanted or walked.name in wanted:
                found += walk(walked, Path(folder), WAYS.get(walked.name) if given.set in ("ninth", "tenth") else None)
                print(f"{walked.name} done", file=sys.stderr)
    print(printed(found))
    return int(any(x.contradictions for x in found))


if __name__ == "__main__":
    sys.exit(main())
