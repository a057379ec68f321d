"""A small schema with every kind of column, and records for it."""

import numpy as np

from dpsyn_core.schema.document import Schema


def schema(**more):
    return Schema.of(
        {
            "version": 1,
            "name": "people",
            "attributes": [
                {"name": "CITY", "kind": "categorical", "values": ["A", "B", "C"]},
                {"name": "SEX", "kind": "categorical", "values": ["Male", "Female"], "missing": True},
                {"name": "AGE", "kind": "numeric", "dtype": "integer", "min": 0, "max": 99, "bins": {"count": 20}},
                {"name": "PAY", "kind": "numeric", "dtype": "integer", "min": 0, "max": 1000,
                 "bins": {"edges": [0, 1, 10, 100, 500, 1000]}, "special_values": [9999], "missing": True},
                {"name": "KIDS", "kind": "categorical", "values": [0, 1, 2, 3], "ordered": True},
                {"name": "BORN", "kind": "datetime", "min": "1900-01-01", "max": "1940-12-31",
                 "bins": {"every": "year"}},
                {"name": "ID", "kind": "identifier"},
            ],
            **more,
        }
    )  # fmt: skip


def codes(n=400, seed=0):
    """Codes with some dependence: women and city C earn less."""
    rng = np.random.default_rng(seed)
    s = schema()
    rows = [rng.integers(0, a.size, n) for a in s.coded]
    rows[3] = np.where(rng.random(n) < 0.1, rows[3], np.clip(rng.integers(0, 5, n) - rows[1] - (rows[0] == 2), 0, 4))
    return np.array(rows, dtype=np.uint8)
