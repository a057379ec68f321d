"""`rls` with other constants on equal seeded noise: the tables of docs/evidence/experiments.

`python -m benchmarks.experiments.variants [--only parts,resolution] [--seeds 2]` runs each experiment that is named
below: on its tables and budgets, `rls` as it is, and with some constants of its tuning or settings changed. Both draw
the same noise for one-ways, scores and the first tables of pairs; what is drawn later differs, which alone moves small
tables by some per cent either way. Prints Markdown: medians of the mean 2- and 3-way total variation distance at full
resolution, and processor seconds of one run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.accuracy import load
from benchmarks.engine import mean_distance
from benchmarks.process import table as markdown
from benchmarks.tables import Table
from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.systems.base import Task
from dpsyn_core.systems.rls.system import Rls, RlsConfig
from dpsyn_core.systems.rls.tuning import TUNING, Tuning
from tests.seeded import SeededNoise

DELTA = 1e-9


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Constants to change, by their path in the tuning, and settings."""

    tuning: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Where an experiment runs: (table, epsilon); and what it compares, the usual constants first."""

    about: str
    places: tuple[tuple[str, float], ...]
    variants: Mapping[str, Variant]


PAIRS_ALONE = {"triples": False}
LONG_SCORING: dict[str, Any] = {"triples.records": 20_000, "triples.effort": 0.33}
# triples of few values wait for as little noise as others
CONSTANTS: dict[str, Any] = {"triples.low_noise_few": 0.0}

EXPERIMENTS = {
    "parts": Experiment(
        about="docs/evidence/experiments/triples.md",
        places=(
            ("mixture-30000x15", 3.0), ("mixture-30000x15", 10.0), ("clique-30000x16", 3.0), ("adult_codes", 10.0),
        ),
        variants={
            "parts .08, .12": Variant(),
            "pairs alone": Variant(settings=PAIRS_ALONE),
            "parts .09, .14": Variant(tuning={"triples.parts": (0.09, 0.14)}),
            "parts .1, .2": Variant(tuning={"triples.parts": (0.1, 0.2)}),
        },
    ),
    "shares": Experiment(
        about="docs/decisions/engine.md",
        places=(
            ("wide-20000x12", 0.1), ("wide-20000x12", 0.3), ("wide-20000x12", 1.0), ("interaction-20000x12", 0.3),
            ("interaction-20000x12", 1.0),
        ),
        variants={
            "predicted": Variant(),
            "constants": Variant(tuning=CONSTANTS),
            "constants, 2 x 2 pairs shrunk by singular values": Variant(
                tuning=CONSTANTS | {"records.shrinkage.few_directions": 0}
            ),
        },
    ),
    "scores": Experiment(
        about="docs/decisions/engine.md",
        places=(
            ("tree-20000x20", 0.1), ("tree-20000x20", 0.3), ("mixture-30000x15", 0.3), ("skewed-5000x8", 0.3),
            ("adult_codes", 0.1),
        ),
        variants={
            "up to .1": Variant(),
            "up to .05": Variant(tuning={"shares.scores_most": 0.05}),
            ".02": Variant(tuning={"shares.scores_most": 0.02}),
        },
    ),
    "mixed": Experiment(
        about="docs/decisions/engine.md",
        places=(("adult_raw", 0.3), ("adult_raw", 1.0), ("adult_raw", 10.0)),
        variants={
            "where that halves their values": Variant(),
            "always": Variant(tuning={"resolution.mixed_fewer": 0.0}),
            "from 128 bins on alone": Variant(tuning={"resolution.mixed_fewer": float("inf")}),
        },
    ),
    "blocks": Experiment(
        about="docs/decisions/engine.md",
        places=(("adult_raw", 0.1), ("adult_raw", 0.3), ("adult_raw", 1.0)),
        variants={
            "up to 600": Variant(),
            "up to 400": Variant(tuning={"resolution.few_blocks_below": 400.0}),
            "up to 200": Variant(tuning={"resolution.few_blocks_below": 200.0}),
        },
    ),
    "scoring-fit": Experiment(
        about="docs/evidence/experiments/triples.md",
        places=(("mixture-30000x15", 10.0), ("clique-30000x16", 3.0)),
        variants={
            "10,000 records, effort .15": Variant(),
            "5,000 records": Variant(tuning={"triples.records": 5_000}),
            "20,000 records, effort .33": Variant(tuning=LONG_SCORING),
        },
    ),
    "half-the-time": Experiment(
        about="docs/evidence/experiments/the-kernel.md",
        places=(
            ("adult_codes", 0.1), ("adult_codes", 1.0), ("adult_codes", 10.0), ("drug_deaths", 0.1),
            ("drug_deaths", 1.0), ("drug_deaths", 10.0), ("deterministic-10000x16", 1.0),
            ("deterministic-10000x16", 10.0), ("interaction-20000x12", 1.0), ("interaction-20000x12", 10.0),
            ("mixture-30000x15", 1.0), ("mixture-30000x15", 10.0),
        ),
        variants={
            "as it is": Variant(),
            "more moves": Variant(tuning={"records.fitting.cheap_visits": 2.5e8, "records.evening.fit_sweeps": 4}),
            "20,000 records, effort .33, up to 96 proposals": Variant(
                tuning=LONG_SCORING | {"records.fitting.most_proposals": 96.0}
            ),
        },
    ),
    "resolution": Experiment(
        about="docs/evidence/experiments/refinements.md",
        places=(("adult_codes", 10.0),),
        variants={
            "as chosen": Variant(),
            "128": Variant(settings={"resolution": 128}),
            "256": Variant(settings={"resolution": 256}),
            "1,000": Variant(settings={"resolution": 1_000}),
        },
    ),
    "averages": Experiment(
        about="docs/evidence/experiments/refinements.md",
        places=(("adult_codes", 1.0), ("tree-20000x20", 1.0)),
        variants={
            "12 averaged sweeps": Variant(),
            "24 averaged sweeps": Variant(tuning={"records.evening.averaged_sweeps": 24}),
            "half the temperature": Variant(tuning={"records.evening.temperature": 2.5}),
            "averages trusted to 7 counts": Variant(tuning={"records.evening.deviation": 7.0}),
            "not evened out": Variant(settings={"even": False}),
        },
    ),
    "proposals": Experiment(
        about="docs/evidence/experiments/the-kernel.md",
        places=(("deterministic-10000x16", 1.0), ("deterministic-10000x16", 10.0), ("tree-20000x20", 1.0)),
        variants={
            "up to 48 proposals": Variant(),
            "up to 96": Variant(tuning={"records.fitting.most_proposals": 96.0}),
            "up to 32": Variant(tuning={"records.fitting.most_proposals": 32.0}),
            "twice the effort": Variant(settings={"effort": 2.0}),
        },
    ),
    "second-scoring": Experiment(
        about="docs/evidence/experiments/two-resolutions.md",
        places=(
            ("adult_codes", 0.3), ("adult_codes", 1.0), ("tree-20000x20", 0.3), ("mixture-30000x15", 1.0),
        ),
        variants={
            "as it is": Variant(settings=PAIRS_ALONE),
            "no second scoring": Variant(settings=PAIRS_ALONE, tuning={"pairs.noisy": float("inf")}),
            "squares explained in full": Variant(settings=PAIRS_ALONE, tuning={"pairs.explained": 1.0}),
            "a fourth of the values": Variant(settings=PAIRS_ALONE, tuning={"pairs.coarser": 4.0}),
        },
    ),
}  # fmt: skip


def changed(value: Any, changes: Mapping[str, Any]) -> Any:
    """A frozen value with other fields; 'triples.parts' names a field of a field."""
    for path, new in changes.items():
        name, _, rest = path.partition(".")
        value = replace(value, **{name: changed(getattr(value, name), {rest: new}) if rest else new})
    return value


def run(data: Table, epsilon: float, seed: int, variant: Variant) -> tuple[float, float, float]:
    """Mean 2- and 3-way distance, and processor seconds."""
    tuning: Tuning = changed(TUNING, variant.tuning)
    task = Task(domain=data.domain, unit=Unit(), budget=Budget(epsilon=epsilon, delta=DELTA), n_public=None)
    system = Rls(RlsConfig(**variant.settings), task, tuning=tuning)
    gate = Gate(account=Account(system.cost), noise=SeededNoise(seed), unit=task.unit)
    started = time.process_time()
    measured = system.measure(MemoryCounter(data.codes, data.domain), gate=gate)
    made = system.synthesize(measured, None, rng=np.random.default_rng(seed))
    took = time.process_time() - started
    two, three = (mean_distance(data.codes, made, data.domain, k) for k in (2, 3))
    return two, three, took


def report(name: str, experiment: Experiment, seeds: int) -> None:
    """Prints the table of one experiment."""
    rows, known = [], {place: load(place) for place, _ in experiment.places}
    for place, epsilon in experiment.places:
        row: list[object] = [f"{place}, {epsilon:g}"]
        for variant in experiment.variants.values():
            two, three, took = np.median([run(known[place], epsilon, s, variant) for s in range(seeds)], axis=0)
            row.append(f"{two:.4f} / {three:.4f} ({took:.1f})")
        rows.append(row)
        print("| " + " | ".join(map(str, row)) + " |", file=sys.stderr, flush=True)
    print(f"\n### {name} ({experiment.about}, {seeds} seeds)\n")
    print(markdown(["table, epsilon", *experiment.variants], rows), flush=True)


def main() -> int:
    """Runs the experiments that are asked for, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(EXPERIMENTS), help=f"of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    for name in given.only.split(","):
        if name not in EXPERIMENTS:
            parser.error(f"unknown experiment '{name}'; known are {', '.join(EXPERIMENTS)}")
        report(name, EXPERIMENTS[name], given.seeds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
