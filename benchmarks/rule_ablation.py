"""What each way to keep rules is worth: the repair of the same synthetic tables with one of them switched off in turn.

Run: python -m benchmarks.rule_ablation [--tables loans,bills] [--repeats 3] [--records 20000]
"""

import argparse
import contextlib
import pickle
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
from dpsyn_core.schema.rules.repair import repair

RULES = "dpsyn_core.schema.rules"


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _still(*names: str) -> Any:
    return lambda *a, **k: {}


def _unmoved_order(rule, low, high, rng):
    return {rule.lower: low.values, rule.upper: high.values}


def _unmoved(rule, rows, still=()):
    return {n: rows[n].values for n in rule.columns}


def _same_group(rule, rows, still=()):
    return {n: rows[n] for n in rule.columns}


def _handed_same(rule, rows, name, wanted):
    return {name: rows[name].values}


def _commonest(rule, keys, values, *, alone):
    from dpsyn_core.schema.rules.lookup import Lookup

    return Lookup.commonest(rule, keys, values)


SWITCHES: dict[str, dict[str, Any]] = {
    "all": {},
    "no following": {"repair.follow_all": _nothing},
    "map by commonest": {"following._by_counts": _commonest},
    "no fewer_moved": {"following._fewer_moved": _nothing},
    "no exchange blanks": {"repair.exchange_blanks": _nothing},
    "no exchange sums": {"repair.exchange_sums": _nothing},
    "no exchange orders": {"repair.exchange_orders": _nothing},
    "no exchange conditions": {"repair.exchange_conditions": _nothing},
    "no exchanging": {f"repair.exchange_{k}": _nothing for k in ("blanks", "sums", "orders", "conditions")},
    "no in_bins": {
        "exchanging.drawn_in_bins": lambda *a: iter(()),
        "mending.drawn_in_bins": lambda *a: iter(()),
        "exchanging.met_in_bins": lambda rule, rows: rows,
        "exchanging.ordered_in_bins": _unmoved_order,
        "mending.ordered_in_bins": _unmoved_order,
        "exchanging.kept_in_bins": _same_group,
        "mending.summed_in_bins": _unmoved,
        "mending.divided_in_bins": _unmoved,
    },
    "no handing out in mending": {"mending._handed_out": _handed_same},
    "no mending": {"repair.mend": _nothing},
    "no polishing": {"repair._polished": _nothing},
    "no sorted in": {"exchanging._sorted_in": _nothing},
}


@contextlib.contextmanager
def without(switch: str) -> Iterator[None]:
    """The engine with one way switched off."""
    with contextlib.ExitStack() as stack:
        for place, other in SWITCHES[switch].items():
            stack.enter_context(patch(f"{RULES}.{place}", other))
        yield


def made(name: str, records: int, seed: int, cache: Path) -> tuple[Any, Any, Any]:
    """The real table, its schema, and a synthetic one of `rls` before its repair."""
    table, ruled = TABLES[name](records)
    kept = cache / f"{name}-{records}-{seed}.pickle"
    if kept.exists():
        return table, ruled, pickle.loads(kept.read_bytes())
    spec = RunSpec.of(epsilon=1.0, delta=DELTA, method="rls", seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        facts = spec.facts(ruled, query_vouched=False, chosen_on=None)
        run = measure(source_of(table, schema=ruled), ruled, spec, facts=facts, ledger=Ledger(Path(folder) / "l.db"))
    codec = Codec(part_of(ruled, run.task.domain.names))
    before = with_computed(codec.decode(make_tables(run)[0], rng=run.rng), ruled, run.rng)
    kept.write_bytes(pickle.dumps(before))
    return table, ruled, before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--switches", default=",".join(SWITCHES))
    parser.add_argument("--cache", default="/tmp/rule_tables")
    args = parser.parse_args()
    cache = Path(args.cache)
    cache.mkdir(exist_ok=True)
    print("| table | way | broken | cells per record | left out | elsewhere | inside | columns | s |", flush=True)
    print("|---|---|---|---|---|---|---|---|---|")
    for name in args.tables.split(","):
        given = [made(name, args.records, seed, cache) for seed in range(args.repeats)]
        before = np.median(
            [[getattr(scored(b, t, r), w) for w in ("broken", "elsewhere", "inside", "single")] for t, r, b in given],
            axis=0,
        )
        print(
            f"| {name} | before | {before[0]:.1%} | | | {before[1]:.4f} | {before[2]:.4f} | {before[3]:.4f} | |",
            flush=True,
        )
        for switch in args.switches.split(","):
            rows = []
            for seed, (table, ruled, old) in enumerate(given):
                with without(switch):
                    start = time.perf_counter()
                    after, changed = repair(old, ruled.rules, ruled, np.random.default_rng(seed))
                    seconds = time.perf_counter() - start
                found = scored(after, table, ruled)
                rows.append(
                    [
                        found.broken,
                        changed.cells / args.records,
                        changed.left_out,
                        found.elsewhere,
                        found.inside,
                        found.single,
                        seconds,
                    ]
                )
            _, c, o, e, i, s, t = np.median(rows, axis=0)
            print(
                f"| {name} | {switch} | {max(r[0] for r in rows):.2%} | {c:.3f} | {o:.0f} | {e:.4f} | {i:.4f} | {s:.4f}"
                f" | {t:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
