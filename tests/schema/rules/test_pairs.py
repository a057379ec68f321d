"""After a repair, records exchange cells so that pairs of columns come back to what they were before it."""

import itertools

import numpy as np
import pyarrow as pa

from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.rules import pairs
from dpsyn_core.schema.rules.repair import repair
from tests.schema.rules.test_repair import cat, check_repaired, declared, num

N = 4000


def _moved(before, after, schema):
    """Mean total variation of pairs of columns that no rule names together, before and after the repair."""
    names, together = [a.name for a in schema.coded], [set(r.columns) for r in schema.rules]
    codes = [Codec(schema).encode(t, individuals=False).codes.astype(int) for t in (before, after)]
    far = []
    for a, b in itertools.combinations(range(len(names)), 2):
        if any({names[a], names[b]} <= t for t in together):
            continue
        first, second = (np.bincount(c[a] * 1000 + c[b], minlength=50_000) for c in codes)
        far.append(np.abs(first - second).sum() / (2 * N))
    return float(np.mean(far))


def _bills():
    """A rate that is a total divided by a quantity, in wide bins, where a quarter of the rates fit other records."""
    rng = np.random.default_rng(5)
    quantity = np.clip(rng.gamma(2, 12, N), 1, 100).astype(int)
    total = np.clip(np.round(quantity * np.clip(rng.gamma(4, 1.5, N), 0.5, 30), 2), 0, 3000)
    rate = np.clip(np.round(total / quantity, 2), 0, 40)
    shop = np.where(rate > 6, "dear", "cheap")
    some = rng.permutation(N)[: N // 4]
    rate[some] = rng.permutation(rate[some])
    schema = declared(
        [{"kind": "ratio", "column": "rate", "of": "total", "by": ["quantity"]}],
        [
            num("total", 0, 3000, 30, "float", step=0.01), num("quantity", 1, 100, 25),
            num("rate", 0, 40, 40, "float", step=0.01), cat("shop", ["cheap", "dear"]),
        ],
    )  # fmt: skip
    columns = {"total": total, "quantity": quantity, "rate": rate, "shop": shop}
    return pa.table({k: pa.array(v) for k, v in columns.items()}), schema


def test_pairs_come_back_to_what_they_were_and_no_record_breaks_a_rule(monkeypatch):
    table, schema = _bills()
    far = []
    for rounds in (0, pairs.ROUNDS):
        monkeypatch.setattr(pairs, "ROUNDS", rounds)
        after, _ = repair(table, schema.rules, schema, np.random.default_rng(7))
        check_repaired(table, after, schema)
        far.append(_moved(table, after, schema))
    assert far[1] < 0.75 * far[0], far


def test_the_same_generator_exchanges_the_same_cells():
    table, schema = _bills()
    first, second = (repair(table, schema.rules, schema, np.random.default_rng(3))[0] for _ in range(2))
    assert first.equals(second)
