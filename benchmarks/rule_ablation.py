"""What each way to keep rules is worth: the repair of the same synthetic tables with one of them switched off in turn.

Run: python -m benchmarks.rule_ablation [--tables loans,bills] [--repeats 3] [--records 20000]
"""

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.rules import DELTA, TABLES, scored
from dpsyn_core.measure.sources.choice import source_of
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.runs.measurement import measure
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.tables import make_tables
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.rules.computation import part_of, with_computed
from dpsyn_core.schema.rules.lookup import commonest
from dpsyn_core.schema.rules.repair import repair

RULES = "dpsyn_core.schema.rules"


def _none(*_: Any, **__: Any) -> Iterator[Any]:
    """No proposal."""
    return iter(())


def _unmoved(rules: Any, rows: Any, rng: Any) -> Any:
    """The records as they are."""
    del rules, rng
    return rows


def _nothing(*_: Any, **__: Any) -> None:
    """No step."""


def _commonest(keys: Any, values: Any, *, alone: bool) -> Any:
    """Of each key the commonest value, whatever counts say."""
    del alone
    return commonest(keys, values)


SWITCHES: dict[str, dict[str, Any]] = {
    "all ways": {},
    "nothing inside bins": {"repair.moved_inside": _unmoved, "pairs.moved_inside": _unmoved},
    "no exchanges": {
        f"{place}.exchanges": _none
        for place in ("impossible.ImpossibleRule", "order.OrderRule", "formula.FormulaRule", "lookup.Lookup")
    },
    "no exchanges of conditions": {"impossible.ImpossibleRule.exchanges": _none},
    "no exchanges of orders": {"order.OrderRule.exchanges": _none},
    "no exchanges of formulas": {"formula.FormulaRule.exchanges": _none},
    "no exchanges of maps": {"lookup.Lookup.exchanges": _none},
    "maps by the commonest value": {"follows.map_by_counts": _commonest},
    "no new values": {"repair.change": _nothing},
    "pairs not brought back": {"repair._bring_pairs_back": _nothing},
}


@contextlib.contextmanager
def without(switch: str) -> Iterator[None]:
    """The engine with one way switched off."""
    with contextlib.ExitStack() as stack:
        for place, other in SWITCHES[switch].items():
            stack.enter_context(patch(f"{RULES}.{place}", other))
        yield


def made(name: str, records: int, seed: int) -> tuple[Any, Any, Any]:
    """The real table, its schema, and a synthetic one of `rls` before its repair."""
    table, ruled = TABLES[name](records)
    spec = RunSpec.of(epsilon=1.0, delta=DELTA, method="rls", seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        facts = spec.facts(ruled, query_vouched=False)
        run = measure(source_of(table, schema=ruled), ruled, spec, facts=facts, ledger=Ledger(Path(folder) / "l.db"))
    codec = Codec(part_of(ruled, run.task.domain.names))
    return table, ruled, with_computed(codec.decode(make_tables(run)[0], rng=run.rng), ruled, run.rng)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--switches", default=",".join(SWITCHES))
    args = parser.parse_args()
    print("| table | way | broken | cells per record | left out | elsewhere | in rules | columns | s |", flush=True)
    print("|---|---|---|---|---|---|---|---|---|")
    for name in args.tables.split(","):
        given = [made(name, args.records, seed) for seed in range(args.repeats)]
        line(name, "before", [[*_scores(before, table, ruled), 0.0, 0, 0.0] for table, ruled, before in given])
        for switch in args.switches.split(","):
            rows = []
            for seed, (table, ruled, before) in enumerate(given):
                with without(switch):
                    start = time.perf_counter()
                    after, changed = repair(before, ruled.rules, ruled, np.random.default_rng(seed))
                    seconds = time.perf_counter() - start
                cells = changed.cells / args.records
                rows.append([*_scores(after, table, ruled), cells, changed.left_out, seconds])
            line(name, switch, rows)


def _scores(made: Any, table: Any, ruled: Any) -> list[float]:
    found = scored(made, table, ruled)
    return [found.broken, found.elsewhere, found.inside, found.single]


def line(name: str, way: str, rows: list[list[float]]) -> None:
    """Prints the medians of some runs, and the worst share of broken records."""
    _, elsewhere, inside, single, cells, left_out, seconds = np.median(rows, axis=0)
    worst = max(row[0] for row in rows)
    print(
        f"| {name} | {way} | {worst:.2%} | {cells:.3f} | {left_out:.0f} | {elsewhere:.4f} | {inside:.4f} "
        f"| {single:.4f} | {seconds:.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
