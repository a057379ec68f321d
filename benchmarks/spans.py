"""The time between two ordered dates, measured or not: `python -m benchmarks.spans [--records 5000,50000] [--seeds 3]`.

Two simulated tables. stays: days in hospital by ward, a few days each. orders: on any working day after a customer's
first one, with peaks in December. Each is made with both dates measured apart, and with the time between for one of
them. Prints W1 of the time between and the mean error of its means by ward, both in its standard deviations; total
variation distances of the later date in months and of the pair of dates in 20 groups each; and the share of records in
which dates are the wrong way round. Means over seeds; noise is that of production.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.process import table as markdown
from dpsyn_core import synthesize
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.schema.document import Schema

WARDS = ("A", "B", "C")
GROUPS = 20
FIRST = np.datetime64("2019-01-01")
YEARS = 5
DAYS = YEARS * 365


def stays(n: int, rng: np.random.Generator) -> pa.Table:
    """Stays of 2, 4 and 9 days or so, by ward."""
    ward = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    begin = rng.integers(0, DAYS, n)
    return _table(begin, begin + np.floor(rng.gamma(1.2, np.array([2, 4, 9])[ward])).astype(int), ward, rng)


def orders(n: int, rng: np.random.Generator) -> pa.Table:
    """Orders on any day after the first one, most of them on working days and in December."""
    begin = np.floor(rng.beta(1, 2, n) * DAYS).astype(int)
    days = FIRST + np.arange(DAYS + 365)
    month, weekday = days.astype("datetime64[M]").astype(int) % 12, (days.astype(int) + 3) % 7
    weight = np.cumsum(np.where(month == 11, 5.0, 1.0) * np.where(weekday < 5, 1.0, 0.3))
    before = np.where(begin > 0, weight[begin - 1], 0.0)
    end = np.searchsorted(weight, before + rng.random(n) * (weight[-1] - before))
    return _table(begin, np.minimum(end, len(days) - 1), rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng)


def _table(begin: np.ndarray, end: np.ndarray, ward: np.ndarray, rng: np.random.Generator) -> pa.Table:
    age = np.clip(rng.normal(55, 20, len(ward)), 0, 100).astype(int)
    cost = np.round((end - begin) * 800 * np.exp(rng.normal(0, 0.4, len(ward))) + 300)
    return pa.table({
        "begin": FIRST + begin, "end": FIRST + end, "ward": np.array(WARDS)[ward], "age": age,
        "cost": np.clip(cost, 0, 2_000_000),
    })  # fmt: skip


def schema(*, close: bool) -> Schema:
    """Of both tables."""
    last = str(FIRST + DAYS + 364)
    return Schema.of({
        "version": 1, "name": "dates", "rules": [{"kind": "order", "lower": "begin", "upper": "end", "close": close}],
        "attributes": [
            *({"name": n, "kind": "datetime", "min": str(FIRST), "max": last} for n in ("begin", "end")),
            {"name": "ward", "kind": "categorical", "values": list(WARDS)},
            {"name": "age", "kind": "numeric", "dtype": "integer", "min": 0, "max": 100},
            {"name": "cost", "kind": "numeric", "dtype": "integer", "min": 0, "max": 2_000_000},
        ],
    })  # fmt: skip


def figures(real: pa.Table, made: pa.Table) -> list[float]:
    """Of the time between, its means by ward, months of the later date, the pair of dates, and wrong records."""
    dates = [
        {n: t.column(n).to_numpy().astype("datetime64[D]").astype(int) for n in ("begin", "end")} for t in (real, made)
    ]
    between = [d["end"] - d["begin"] for d in dates]
    spread = max(float(between[0].std()), 1.0)
    levels = np.linspace(0.01, 0.99, 99)
    w1 = np.abs(np.quantile(between[0], levels) - np.quantile(between[1], levels)).mean() / spread
    means = [
        [b[np.asarray(t.column("ward")) == w].mean() for w in WARDS] for b, t in zip(between, (real, made), strict=True)
    ]
    by_ward = np.abs(np.array(means[0]) - np.array(means[1])).mean() / spread
    months = _apart(*(d["end"] // 30 for d in dates))
    edges = {n: np.unique(np.quantile(dates[0][n], np.linspace(0, 1, GROUPS + 1)[1:-1])) for n in ("begin", "end")}
    pair = _apart(
        *(np.searchsorted(edges["begin"], d["begin"]) * 100 + np.searchsorted(edges["end"], d["end"]) for d in dates)
    )
    return [float(w1), float(by_ward), months, pair, float((between[1] < 0).mean())]


def _apart(first: np.ndarray, second: np.ndarray) -> float:
    low = int(min(first.min(), second.min()))
    size = int(max(first.max(), second.max())) - low + 1
    shares = [np.bincount(x - low, minlength=size) / len(x) for x in (first, second)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", default="5000,50000")
    parser.add_argument("--seeds", type=int, default=3)
    args, rows = parser.parse_args(), []
    for make in (stays, orders):
        for n in map(int, args.records.split(",")):
            real = make(n, np.random.default_rng(7))
            for close in (False, True):
                found = np.mean([figures(real, _made(real, close, s)) for s in range(args.seeds)], axis=0)
                cells: list[Any] = [f"{x:.3f}" for x in found]
                rows.append([make.__name__, f"{n:,}", "in place of a date" if close else "apart", *cells])
    heads = ["table", "records", "time between", "W1", "by ward", "months", "pair", "wrong"]
    print(markdown(heads, rows))


def _made(real: pa.Table, close: bool, seed: int) -> pa.Table:
    with tempfile.TemporaryDirectory() as folder:
        got = synthesize(
            real, schema(close=close), epsilon=1, delta=1e-9, rng=seed, ledger=Ledger(Path(folder) / "ledger")
        )
    return got.arrow


if __name__ == "__main__":
    main()
