"""`dpsyn answer`: the declared questions answered from released values alone, each with an interval and its grade."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

MOST_ROWS = 40  # figures of one question that are printed; --json has all


def add(commands: Any) -> None:
    """Declares the arguments."""
    parser = commands.add_parser(
        "answer",
        help="answer questions from released values alone, and say how far off each answer may be",
        description="Needs a run's table, manifest and released marginals (`dpsyn synth --measurements`). Costs no "
        "budget and reads no private data. Grades: exact (one released table holds it), estimated (several together), "
        "bounded (part was scored and not measured), none (not supported by this release).",
    )
    parser.add_argument(
        "table", metavar="SYNTH", type=Path, help="synthetic table: CSV, TSV, Parquet or Excel, or a folder"
    )
    parser.add_argument("--manifest", type=Path, required=True, metavar="M.json")
    parser.add_argument("--measurements", type=Path, required=True, metavar="X.json.gz", help="released marginals")
    parser.add_argument("--questions", type=Path, metavar="Q.json", help="default: those that the run was told")
    parser.add_argument("--schema", type=Path, help="only for marginals of earlier versions, which hold no schema")
    parser.add_argument(
        "--population",
        action="store_true",
        default=None,
        help="intervals for the population that the table was drawn from",
    )
    parser.add_argument("--confidence", type=float, help="of each interval; default 0.95")
    parser.add_argument(
        "--others", action="store_true", help="the questions are not those that the run was told; answer them anyway"
    )
    parser.add_argument("--memory", metavar="4GB", help="what the fits may use; default half of the machine's memory")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Prints every question with its answer."""
    from dpsyn_core.commands.common import TerminalProgress, print_json
    from dpsyn_core.progress import silent
    from dpsyn_core.report import answer

    if holds_views(args.measurements):
        answer_tree(args)
        return
    progress = silent if args.quiet else TerminalProgress()
    confidence = 0.95 if args.confidence is None else args.confidence
    answers = answer(
        args.table, manifest=args.manifest, measurements=args.measurements, questions=args.questions,
        schema=args.schema, truth="population" if args.population else "table", confidence=confidence,
        others=args.others, memory=args.memory, progress=progress,
    )  # fmt: skip
    if isinstance(progress, TerminalProgress):
        progress.close()
    if args.json:
        print_json(answers.plain())
        return
    if not answers.manifest.private:
        print(f"NOT PRIVATE: {'; '.join(answers.manifest.not_private_because)}\n")
    print("\n\n".join("\n".join(lines(a)) for a in answers.answers))


def answer_tree(args: argparse.Namespace) -> None:
    """As `run`, for linked tables: the questions of the run, by the table that was released for each question."""
    import numpy as np

    from dpsyn_core.commands.common import print_json
    from dpsyn_core.commands.trees import check_options
    from dpsyn_core.errors import ReceiptError
    from dpsyn_core.privacy import Manifest
    from dpsyn_core.questions import Questions
    from dpsyn_core.runs import answers_of, places_of, read_tree, receipt, unpaid, written_tables
    from dpsyn_core.tables import file_digest

    check_options(args)
    tree, manifest = read_tree(args.measurements.read_bytes(), args.measurements.name), Manifest.load(args.manifest)
    if manifest.digests is None or manifest.digests.measurements != file_digest(args.measurements):
        msg = f"'{args.measurements.name}' does not hold what was released with this manifest"
        raise ReceiptError(msg)
    places = places_of(args.table, tree.schema, manifest=args.manifest, copies=tree.settings.copies, made=False)
    proofs = [receipt(out, args.manifest, schema=tree.schema) for out in places.outs]
    faults = [p.sentence for p in proofs if not p.holds] + unpaid(manifest, tree)
    if faults:
        raise ReceiptError(faults[0])
    tables = written_tables(places, tree.schema)
    named = {t.name: tables[tree.schema.name if tree.schema.one_file else t.name] for t in tree.schema.tables}
    answers = answers_of(
        tree.schema,
        Questions.of(list(tree.settings.questions)),
        tree.released.questions,
        named,
        pure=manifest.delta == 0,
        rng=np.random.default_rng(manifest.seed),
    )
    if args.json:
        print_json({"epsilon": manifest.epsilon, "delta": manifest.delta, "answers": [a.plain() for a in answers]})
        return
    if not manifest.private:
        print(f"NOT PRIVATE: {'; '.join(manifest.not_private_because)}\n")
    print("\n".join(a.sentence() for a in answers) or "the run has no questions and releases no table for one")


def holds_views(path: Path) -> bool:
    """Whether a file holds what was released of linked tables. Raises TableError."""
    from dpsyn_core.errors import TableError
    from dpsyn_core.estimate import parsed_document

    try:
        return "views" in parsed_document(path.read_bytes(), path.name)
    except OSError as error:
        msg = f"cannot read '{path.name}': {error.strerror}; give the file of released marginals that the run wrote"
        raise TableError(msg) from error


def lines(answered: Any) -> list[str]:
    """One question: its name and grade, the sentence, and its figures where there are several."""
    from dpsyn_core.questions import column_of, number

    of = column_of(answered.question)
    out = [f"{answered.question.name} [{answered.grade}]", f"  {answered.sentence}"]
    rows = answered.rows()
    if len(rows) > 1:
        named = [" x ".join(r["labels"].values()) for r in rows[:MOST_ROWS]]
        width = max(map(len, named))
        for name, r in zip(named, rows, strict=False):
            estimate = "-" if r["estimate"] is None else number(r["estimate"], of=of)
            around = "" if r["low"] is None else f"  {number(r['low'], of=of)} to {number(r['high'], of=of)}"
            out.append(f"  {name:<{width}}  {estimate:>10}{around}  [{r['grade']}]")
        if len(rows) > MOST_ROWS:
            out.append(f"  and {len(rows) - MOST_ROWS} more (--json prints all)")
    return out
