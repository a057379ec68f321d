"""Wrong conclusions: how often an analysis of a synthetic table, done as on a real one, misses the truth.

`python -m benchmarks.conclusions [--repeats 20] [--records 4000] [--epsilon 1] [--methods rls,mst,aim]`

People are drawn from the bundled sample, which is the population here, and get a coin that has nothing to do with them.
On each synthetic table an analyst computes what a textbook says for a real one: two means, a gap between the sexes, a
coefficient of a regression, each with a 95 % interval; and tests whether pay and age differ by the coin, and whether
the coin has a coefficient. An interval is wrong where the population's figure lies outside, a test where it calls
the coin an effect. In the same units: intervals of `dpsyn answer` and of `combine` on ten tables of one release.
Standard errors of the shares are those of their number of repeats, since the figures of one table share their noise.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpsyn_core import Schema, answer, synthesize
from dpsyn_core.data import paths
from dpsyn_core.estimate.marginals.released_file import pack_measurements
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.questions.answers import combine
from dpsyn_core.runs.writer import Places, write_release
from dpsyn_core.tables.read import read_table

DELTA = 1e-9
Z = 1.959963984540054  # of a 95 % interval
CENTS = 100  # dollars of a step of pay; cells hold one value each, so that bins hide nothing
MOST = 50  # steps
EFFECTS = ("mean of age", "mean of pay", "gap in pay by sex", "age in a regression of pay")
NULLS = ("gap in pay by coin", "gap in age by coin", "coin in a regression of pay")
TABLES = 10  # of one release, for combining
Found = dict[str, tuple[float, float]]  # figure -> estimate, standard error


def population() -> pd.DataFrame:
    """The sample, with pay in steps."""
    table = read_table(paths("sample")[0]).to_pandas()
    pay = pd.to_numeric(table["INCWAGE"], errors="coerce").fillna(0).clip(lower=0) // CENTS
    kept = {"SEX": table["SEX"], "EDUC": table["EDUC"], "MARST": table["MARST"]}
    age = pd.to_numeric(table["AGE"], errors="coerce").fillna(0).clip(0, 99).astype(int)
    return pd.DataFrame(kept | {"AGE": age, "PAY": pay.clip(upper=MOST).astype(int)})


def schema_of(people: pd.DataFrame) -> Schema:
    """Every value is a cell."""
    listed = [
        {"name": n, "kind": "categorical", "values": sorted(set(people[n])), "missing": False}
        for n in ("SEX", "EDUC", "MARST")
    ]
    numbers = [
        {
            "name": n,
            "kind": "numeric",
            "dtype": "integer",
            "min": 0,
            "max": most,
            "bins": {"count": most + 1},
            "missing": False,
        }
        for n, most in (("AGE", 99), ("PAY", MOST))
    ]
    coin = {"name": "COIN", "kind": "categorical", "values": ["heads", "tails"], "missing": False}
    return Schema.of({"version": 1, "name": "drawn", "attributes": [*listed, *numbers, coin]})


def analysed(t: pd.DataFrame) -> Found:
    """What a textbook computes: means, differences of means (Welch), least squares."""
    age, pay = (t[n].to_numpy(float) for n in ("AGE", "PAY"))
    man, heads = (t["SEX"] == "Male").to_numpy(), (t["COIN"] == "heads").to_numpy()
    rough = _least_squares(pay, [age, man.astype(float), heads.astype(float)])
    return {
        "mean of age": _mean(age),
        "mean of pay": _mean(pay),
        "gap in pay by sex": _gap(pay, man),
        "gap in pay by coin": _gap(pay, heads),
        "gap in age by coin": _gap(age, heads),
        "age in a regression of pay": rough[1],
        "coin in a regression of pay": rough[3],
    }


def _mean(values: Any) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def _gap(values: Any, side: Any) -> tuple[float, float]:
    (a, s), (b, r) = _mean(values[side]), _mean(values[~side])
    return a - b, math.hypot(s, r)


def _least_squares(outcome: Any, terms: list[Any]) -> list[tuple[float, float]]:
    x = np.column_stack([np.ones(len(outcome)), *terms])
    inverse = np.linalg.inv(x.T @ x)
    b = inverse @ x.T @ outcome
    spread = float(((outcome - x @ b) ** 2).sum() / (len(outcome) - x.shape[1]))
    return [(float(v), float(math.sqrt(spread * inverse[i, i]))) for i, v in enumerate(b)]


QUESTIONS = {
    "version": 1,
    "questions": [
        {"name": "mean of age", "kind": "mean", "of": "AGE"},
        {"name": "mean of pay", "kind": "mean", "of": "PAY"},
        {"name": "gap in pay by sex", "kind": "gap", "of": "PAY", "between": {"SEX": ["Male", "Female"]}},
        {"name": "gap in pay by coin", "kind": "gap", "of": "PAY",
         "between": {"COIN": ["heads", "tails"]}},
        {"name": "gap in age by coin", "kind": "gap", "of": "AGE",
         "between": {"COIN": ["heads", "tails"]}},
    ],
}  # fmt: skip
Intervals = dict[str, tuple[float, float]]


def naive(t: pd.DataFrame) -> Intervals:
    """Of a table as if it were real."""
    return {name: (e - Z * s, e + Z * s) for name, (e, s) in analysed(t).items()}


def answered(release: Any, schema: Schema, folder: Path) -> Intervals:
    """Of `dpsyn answer --population`; figures without an interval are left out."""
    packed = pack_measurements(release.released, schema=schema)
    places = Places.of(folder / "t.csv", measurements=folder / "m.json.gz", private=True)
    write_release(release, places, measurements=packed)
    found = answer(
        places.outs[0], manifest=places.manifest, measurements=folder / "m.json.gz", questions=QUESTIONS,
        truth="population", others=True,
    )  # fmt: skip
    ends = {a.question.name: (float(a.low.ravel()[0]), float(a.high.ravel()[0])) for a in found.answers}
    return {name: pair for name, pair in ends.items() if not math.isnan(pair[0])}


def combined(tables: Any) -> Intervals:
    """Of ten tables of one release, by the combining rule."""
    every = [analysed(t) for t in tables]
    out = {}
    for name in every[0]:
        got = combine([f[name][0] for f in every], [f[name][1] ** 2 for f in every])
        out[name] = (float(got.low), float(got.high))
    return out


def repeat(
    people: pd.DataFrame, schema: Schema, *, records: int, epsilon: float, methods: list[str], rng: Any
) -> Mapping[str, Intervals]:
    """Intervals of every way, on one draw from the population."""
    drawn = people.iloc[rng.integers(0, len(people), records)].reset_index(drop=True)
    drawn["COIN"] = rng.choice(["heads", "tails"], records)
    out = {"the real table": naive(drawn)}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)

        def made(method: str, tables: int = 1) -> Any:
            ledger = Ledger(folder / f"{method}-{tables}.db")
            return synthesize(
                drawn, schema, epsilon=epsilon, delta=DELTA, rng=None, method=method, tables=tables, ledger=ledger
            )

        for method in methods:
            release = made(method)
            out[f"`{method}`, as if real"] = naive(release.table)
            if method == "rls":
                out["`rls`, `dpsyn answer`"] = answered(release, schema, folder)
        if "rls" in methods:
            out[f"`rls`, {TABLES} tables combined"] = combined(made("rls", TABLES).tables)
    return out


def report(kept: list[Mapping[str, Intervals]], truth: Mapping[str, float], say: Callable[[str], None] = print) -> None:
    """The shares of wrong intervals and tests, and the widths."""
    say("| analysis | 95 % intervals that miss | a coin called an effect | width, against the real table's | figures |")
    say("|---|---|---|---|---|")
    for way in kept[0]:
        missed, called, widths, figures = [], [], [], set[str]()
        for one in kept:
            for name, (low, high) in one[way].items():
                figures.add(name)
                real = one["the real table"][name]
                if name in EFFECTS:
                    missed.append(not low <= truth[name] <= high)
                    widths.append((high - low) / (real[1] - real[0]))
                else:
                    called.append(not low <= 0 <= high)
        say(f"| {way} | {_share(missed, len(kept))} | {_share(called, len(kept))} | {np.median(widths):.2f} "
            f"| {len(figures)} of {len(truth)} |")  # fmt: skip


def by_figure(
    kept: list[Mapping[str, Intervals]], truth: Mapping[str, float], say: Callable[[str], None] = print
) -> None:
    """Which figures are missed, out of the intervals that were given."""
    say("| analysis, intervals that miss | " + " | ".join(EFFECTS) + " |")
    say("|" + "---|" * (len(EFFECTS) + 1))
    for way in kept[0]:
        cells = []
        for name in EFFECTS:
            given = [one[way][name] for one in kept if name in one[way]]
            missed = sum(not low <= truth[name] <= high for low, high in given)
            cells.append(f"{missed} of {len(given)}" if given else "none given")
        say(f"| {way} | " + " | ".join(cells) + " |")


def _share(wrong: list[bool], repeats: int) -> str:
    if not wrong:
        return ""
    p = float(np.mean(wrong))
    return f"{p:.0%} (+-{math.sqrt(max(p * (1 - p), 0.0475 / len(wrong)) / repeats):.0%})"


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="how often an analysis of a synthetic table misses the truth")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--records", type=int, default=4000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--methods", default="rls,mst,aim,independent")
    args = parser.parse_args()
    people = population()
    rng = np.random.default_rng(32)  # draws people alone; the noise has no seed
    whole = people.assign(COIN=rng.choice(["heads", "tails"], len(people)))
    truth = {n: 0.0 if n in NULLS else e for n, (e, _) in analysed(whole).items()}
    schema, started = schema_of(people), time.process_time()
    kept: list[Mapping[str, Intervals]] = []
    ways = {"records": args.records, "epsilon": args.epsilon, "methods": args.methods.split(",")}
    try:
        while len(kept) < args.repeats:
            kept.append(repeat(people, schema, rng=rng, **ways))
    except KeyboardInterrupt:
        print("stopped: what follows is of the draws that were done")
    print(f"{len(kept)} draws of {args.records:,} people, epsilon {args.epsilon:g}, delta {DELTA:g}, "
          f"{time.process_time() - started:.0f} CPU s\n")  # fmt: skip
    report(kept, truth)
    print()
    by_figure(kept, truth)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
