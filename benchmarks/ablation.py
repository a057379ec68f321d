"""What each mechanism of `rls` buys: `python -m benchmarks.ablation [--tables ...] [--epsilons .3,1,10] [--repeats 3]`.

For every table, epsilon and repeat, `rls` runs as it is and once more without each mechanism of PARTS, on equal noise:
a function of the engine is replaced, for that run alone, by nothing or by the simplest thing that does its work
(`benchmarks/ablation_parts.py`). A function that is no longer there is an error. Both runs draw the same noise up to
the first release that differs; what is drawn later differs, which the noise of the repeats shows.

Prints a Markdown table for each kind of table: the change of each error in per cent when a mechanism is taken out, the
geometric mean over the repeats and the tables of the kind. Bold: above 1 %, and above three times its standard error
over repeats, which the last row tells. A dash: the run is the same without it. Each table alone goes to stderr. Adult
is measured where --data names the folder that holds it; --without takes out the named mechanisms alone.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks import number_tables, tables
from benchmarks.ablation_parts import OF_TARGETS, PARTS, Part, watched, without
from benchmarks.accuracy import load
from benchmarks.numbers import even_bins, synthetic_of
from benchmarks.process import table as markdown
from benchmarks.questions import named, wide
from benchmarks.tables import adult_codes
from dpsyn_core.estimate.marginals.types import Measurement
from dpsyn_core.evaluate.comparison import Comparison, Roles
from dpsyn_core.evaluate.correlations import RankCorrelation
from dpsyn_core.evaluate.learning import Learning
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.number_shapes import Wasserstein
from dpsyn_core.evaluate.tvd import OneWayTVD, PairwiseTVD
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.domain import Domain
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.registry import configure
from tests.seeded import SeededNoise

DELTA = 1e-9
SETS = 300  # pairs, and triples, that are compared, at most; drawn once
CLEAR, LEAST = 3.0, 1.0  # standard errors, and per cent, that a change must exceed to count
KINDS: dict[str, tuple[str, ...]] = {
    "small tables": ("tree-1000x10", "skewed-1000x6"),
    "few values": ("wide-3000x12", "interaction-4000x12"),
    "categories": ("clique-6000x10", "mixture-4000x10"),
    "many columns": ("tree-2000x40", "wide-2000x50"),
    "numbers": ("functional-4000", "heavy-4000"),
    "small tables of numbers": ("functional-1000", "heaped-1000"),
    "a declared target": ("label-3000x16",),
    "Adult": ("adult",),
}
SMALL, MORE = 1_500, 2  # tables of fewer records are repeated so many times more: their noise is larger
MODELS = ("logistic", "hist-gradient-boosting")
NUMBER_PARTS = 32
HELD_OUT = 3_000  # records that no run saw, on which models are scored
OF_CODES, OF_NUMBERS, OF_TARGET = ("pairs", "triples"), ("W1", "single", "rank", "pairs"), ("1 - AUROC",)


@dataclass(frozen=True, kw_only=True)
class Data:
    """Codes, what is asked of them, and how far synthetic codes are from them: the names of the errors, and these."""

    codes: np.ndarray
    task: Callable[[float], Task]
    names: tuple[str, ...]
    errors: Callable[[np.ndarray], np.ndarray]


@cache
def data_of(name: str) -> Data:
    """A table by name: NAME-RECORDS of numbers, label-RECORDSxNUMBERS, or as in `benchmarks.accuracy`."""
    kind, _, shape = name.partition("-")
    if kind == "label":
        return _labelled(*map(int, shape.split("x")))
    if hasattr(number_tables, kind):
        return _numbers(getattr(number_tables, kind)(int(shape)))
    data = adult_codes() if name == "adult" else load(name)
    return Data(
        codes=data.codes, names=OF_CODES, errors=distances(data.codes, data.domain),
        task=lambda epsilon: Task(domain=data.domain, unit=Unit(), budget=_budget(epsilon), n_public=None),
    )  # fmt: skip


def _budget(epsilon: float) -> Budget:
    return Budget(epsilon=epsilon, delta=DELTA)


def distances(codes: np.ndarray, domain: Domain) -> Callable[[np.ndarray], np.ndarray]:
    """Mean total variation distance of SETS pairs and triples from synthetic codes.

    At full resolution, but for numbers, which are compared in NUMBER_PARTS parts of equal width: of hundreds of bins a
    table of two numbers has about one record in a cell, which no table would come near.
    """
    widths = np.array([-(-a.size // NUMBER_PARTS) if a.number else 1 for a in domain.attributes], dtype=np.intp)[
        :, None
    ]
    every, rng = [list(combinations(range(len(domain)), size)) for size in (2, 3)], np.random.default_rng(0)
    sets = [[e[i] for i in rng.choice(len(e), min(SETS, len(e)), replace=False)] for e in every]

    def of_set(places: tuple[int, ...], synthetic: np.ndarray) -> float:
        shape, at = [domain.sizes[i] for i in places], list(places)
        cells = [np.ravel_multi_index(tuple(t[at] // widths[at]), shape) for t in (codes, synthetic)]
        both, place = np.unique(np.concatenate(cells), return_inverse=True)
        weights = np.repeat([1.0 / len(cells[0]), -1.0 / max(len(cells[1]), 1)], [len(c) for c in cells])
        return float(np.abs(np.bincount(place, weights, len(both))).sum() / 2)

    return lambda synthetic: np.array([float(np.mean([of_set(s, synthetic) for s in listed])) for listed in sets])


def _numbers(table: number_tables.Table) -> Data:
    """W1 in interquartile ranges, distance of single columns, rank correlations, distance of pairs; on equal bins."""
    metrics = (Wasserstein(), OneWayTVD(), RankCorrelation(), PairwiseTVD())
    schema, measurements = even_bins(table.schema), list[Measurement]()

    def errors(synthetic: np.ndarray) -> np.ndarray:
        compared = compare_tables(schema, synthetic_of(table, synthetic, 0), table.table, measurements=measurements)
        return np.array([metric.score(compared).value for metric in metrics], dtype=np.float64)

    codes = Codec(table.schema).encode(table.table).codes
    return Data(
        codes=codes, names=OF_NUMBERS, errors=errors, task=lambda epsilon: Task.of(table.schema, _budget(epsilon))
    )


def _labelled(records: int, numbers: int) -> Data:
    """A label that is to be predicted from numbers: what models that learn on synthetic records miss of AUROC 1."""
    data = wide(records + HELD_OUT, numbers)
    train, held_out, roles = data.codes[:, HELD_OUT:], data.codes[:, :HELD_OUT], Roles(target="label")
    schema = data.schema
    if schema is None:
        msg = "the table of a label has no schema"
        raise SystemExit(msg)
    asked = named([{"kind": "predict", "of": "label"}], schema)

    def errors(synthetic: np.ndarray) -> np.ndarray:
        compared = Comparison(domain=data.domain, real=train, synthetic=synthetic, held_out=held_out, roles=roles)
        return np.array([1 - np.mean([Learning(which=(m,)).compute(compared).value for m in MODELS])])

    return Data(
        codes=train, names=OF_TARGET, errors=errors,
        task=lambda epsilon: Task.of(schema, _budget(epsilon), questions=asked),
    )  # fmt: skip


def changes(data: Data, epsilon: float, seed: int, parts: Mapping[str, Part]) -> dict[str, np.ndarray]:
    """For each part the logarithms of the errors without it over those with it; 0 where the run is the same."""
    task = data.task(epsilon)

    def measured() -> list[Measurement]:
        system = configure("rls", {}).calibrate(task)
        gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
        found: list[Measurement] = system.measure(MemoryCounter(data.codes, task.domain), gate=gate)
        return found  # with the scores of pairs

    def errors(tables: list[Measurement]) -> np.ndarray:
        made = configure("rls", {}).calibrate(task).synthesize(tables, None, rng=np.random.default_rng(seed))
        return np.asarray(np.log(np.maximum(data.errors(made), 1e-9)))

    called: set[str] = set()
    with watched([p for part in PARTS.values() for p in part.instead], called):
        usual = measured()
        whole = errors(usual)
    out = {}
    for name, part in parts.items():
        out[name] = np.zeros(len(whole))
        if called.isdisjoint(part.instead):
            continue
        with without(part):
            tables = measured() if part.measuring else usual
            if part.making or not _same(tables, usual):
                out[name] = errors(tables) - whole
    return out


def _same(first: Sequence[Measurement], second: Sequence[Measurement]) -> bool:
    if [(m.attributes, m.sigma) for m in first] != [(m.attributes, m.sigma) for m in second]:
        return False
    return all(np.array_equal(a.values, b.values) for a, b in zip(first, second, strict=True))


def table_of(name: str, epsilons: Sequence[float], repeats: int, parts: Mapping[str, Part]) -> np.ndarray:
    """Changes of the logarithms: (parts, epsilons, errors, repeats)."""
    data = data_of(name)
    if data.codes.shape[1] < SMALL:
        repeats *= MORE
    out = np.empty((len(parts), len(epsilons), len(data.names), repeats))
    for j, epsilon in enumerate(epsilons):
        start = time.perf_counter()
        for seed in range(repeats):
            for i, found in enumerate(changes(data, epsilon, seed, parts).values()):
                out[i, j, :, seed] = found
        seconds = time.perf_counter() - start
        print(f"{name} {epsilon:g}, {repeats} repeats, {seconds:.0f} s: {', '.join(data.names)}", file=sys.stderr)
        for part, found in zip(parts, out[:, j], strict=True):
            if found.any():
                both = zip(_change(found.mean(axis=-1)), _noise(found), strict=True)
                line = ", ".join(f"{change:+.1f} ± {noise:.1f}" for change, noise in both)
                print(f"  {part}: {line}", file=sys.stderr, flush=True)
    return out


def _change(logarithm: np.ndarray) -> np.ndarray:
    """In per cent."""
    return np.asarray(100 * np.expm1(logarithm))


def _noise(found: np.ndarray) -> np.ndarray:
    """Standard error of the mean over the last axis, in per cent."""
    return np.asarray(100 * found.std(axis=-1, ddof=1) / math.sqrt(found.shape[-1]))


def rows_of(found: Sequence[np.ndarray], parts: Sequence[str]) -> list[list[str]]:
    """A row a part that does something, a column an epsilon: the mean over tables; last the middle noise of all."""
    middle = _change(np.mean([x.mean(axis=-1) for x in found], axis=0))
    noise = np.sqrt(np.sum([_noise(x) ** 2 for x in found], axis=0)) / len(found)
    moved = np.any([x.any(axis=(2, 3)) for x in found], axis=0)  # (parts, epsilons)
    rows = []
    for i, part in enumerate(parts):
        clear = middle[i] > np.maximum(LEAST, CLEAR * noise[i])
        cells = [
            " / ".join(_cell(*x) for x in zip(middle[i, j], clear[j], strict=True)) if moved[i, j] else "-"
            for j in range(middle.shape[1])
        ]
        if moved[i].any():
            rows.append([part, *cells])
    usual = [np.median(noise[moved[:, j], j], axis=0) if moved[:, j].any() else [] for j in range(moved.shape[1])]
    return [*rows, [f"{CLEAR:g} standard errors", *(" / ".join(f"{CLEAR * x:.1f}" for x in of) for of in usual)]]


def _cell(change: float, clear: bool) -> str:
    text = f"{change:+.1f}" if abs(change) < 10 else f"{change:+.0f}"
    return f"**{text}**" if clear else text


def main() -> None:
    """Prints a table for each kind of table that is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", help="comma-separated kinds or names; default all that need no data")
    parser.add_argument("--epsilons", default=".3,1,10")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without", nargs="+", choices=PARTS, default=list(PARTS), metavar="NAME")
    parser.add_argument("--data", type=Path, help="folder with adult_codes.csv.gz and adult_domain.json")
    given = parser.parse_args()
    parts, epsilons = {name: PARTS[name] for name in given.without}, [float(e) for e in given.epsilons.split(",")]
    asked = given.tables.split(",") if given.tables else [k for k in KINDS if given.data or k != "Adult"]
    listed = {name for names in KINDS.values() for name in names}
    others = {name: (name,) for name in asked if name not in KINDS and name not in listed}
    start = time.process_time()
    with mock.patch.object(tables, "DATA", given.data or tables.DATA):
        for kind, names in {**KINDS, **others}.items():
            wanted = [n for n in names if kind in asked or n in asked]
            if wanted:
                some = {n: p for n, p in parts.items() if kind != "a declared target" or n in OF_TARGETS}
                found = [table_of(name, epsilons, given.repeats, some) for name in wanted]
                heads = [f"{kind}: {' / '.join(data_of(wanted[0]).names)}", *(f"{e:g}" for e in epsilons)]
                print(f"{', '.join(wanted)}\n\n{markdown(heads, rows_of(found, list(some)))}\n", flush=True)
    print(f"{time.process_time() - start:.0f} s of one core")


if __name__ == "__main__":
    main()
