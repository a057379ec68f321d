"""Tables of which rules tie most columns closely, while the others are drawn apart from them: hard for a repair."""

import string
from typing import Any

import numpy as np
import pyarrow as pa

from dpsyn_core.schema.document import Schema


def amount(name: str, least: float, most: float, bins: int, step: float = 0.01) -> dict[str, Any]:
    return {
        "name": name, "kind": "numeric", "dtype": "float", "step": step, "min": least, "max": most,
        "bins": {"count": bins},
    }  # fmt: skip


def listed(name: str, values: list[str]) -> dict[str, Any]:
    return {"name": name, "kind": "categorical", "values": values}


def bills(n: int) -> tuple[pa.Table, Schema]:
    """A sum in cents and a ratio of it: total = net + tax, rate = total / quantity."""
    rng = np.random.default_rng(11)
    quantity = np.clip(rng.gamma(2.0, 12.0, n), 1, 100).astype(int)
    net = np.clip(np.round(quantity * np.clip(rng.gamma(4, 1.5, n), 0.5, 30), 2), 0, 3000)
    tax = np.round(net * rng.choice([0.07, 0.19], n), 2)
    total = np.round(net + tax, 2)
    rate = np.clip(np.round(total / quantity, 2), 0, 40)
    columns = {"net": net, "tax": tax, "total": total, "quantity": quantity, "rate": rate}
    document = {
        "version": 1, "name": "bills",
        "attributes": [
            amount("net", 0, 3000, 30), amount("tax", 0, 600, 30), amount("total", 0, 3600, 36),
            {"name": "quantity", "kind": "numeric", "dtype": "integer", "min": 1, "max": 100, "bins": {"count": 25}},
            amount("rate", 0, 40, 40), *_others(),
        ],
        "rules": [
            {"kind": "sum", "column": "total", "parts": ["net", "tax"]},
            {"kind": "ratio", "column": "rate", "of": "total", "by": ["quantity"]},
        ],
    }  # fmt: skip
    return table_of(columns, n, rng), Schema.of(document)


def codes(n: int) -> tuple[pa.Table, Schema]:
    """Columns that follow from each other without a public map: a code, its name, the group of both."""
    rng = np.random.default_rng(12)
    weights = 1 / np.arange(1, 25)
    code = rng.choice(24, n, p=weights / weights.sum())
    shuffled, grouped = rng.permutation(24), rng.permutation(24) % 5
    columns = {
        "code": np.array([f"c{i:02}" for i in range(24)])[code],
        "name": np.array([f"n{i:02}" for i in range(24)])[shuffled[code]],
        "group": np.array(list(string.ascii_uppercase[:5]))[grouped[code]],
    }
    document = {
        "version": 1, "name": "codes",
        "attributes": [
            listed("code", [f"c{i:02}" for i in range(24)]), listed("name", [f"n{i:02}" for i in range(24)]),
            listed("group", list(string.ascii_uppercase[:5])), *_others(),
        ],
        "rules": [
            {"kind": "follows", "column": "name", "of": ["code"]},
            {"kind": "follows", "column": "code", "of": ["name"]},
            {"kind": "follows", "column": "group", "of": ["code"]},
            {"kind": "follows", "column": "group", "of": ["name"]},
        ],
    }  # fmt: skip
    return table_of(columns, n, rng), Schema.of(document)


def _others() -> list[dict[str, Any]]:
    """Columns that no rule names."""
    return [
        listed("day", ["Mo", "Tu", "We", "Th", "Fr"]), listed("shop", ["north", "south", "east"]),
        {"name": "age", "kind": "numeric", "dtype": "integer", "min": 18, "max": 90, "bins": {"count": 24}},
    ]  # fmt: skip


def table_of(columns: dict[str, Any], n: int, rng: np.random.Generator) -> pa.Table:
    columns["day"] = rng.choice(["Mo", "Tu", "We", "Th", "Fr"], n, p=[0.3, 0.2, 0.2, 0.2, 0.1])
    columns["shop"] = rng.choice(["north", "south", "east"], n, p=[0.5, 0.3, 0.2])
    columns["age"] = np.clip(rng.normal(45, 16, n), 18, 90).astype(int)
    return pa.table({k: pa.array(v.astype(str)) for k, v in columns.items()})
