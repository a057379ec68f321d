"""A comparison of systems x epsilons x repeats on a public table: every run takes place and is scored.

Every run draws fresh noise and is scored against the table itself, so the table must be public: nothing is booked on
the ledger of a person's data, and the scores carry no guarantee.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dpsyn_core.errors import DPSynError, InputError, SettingError
from dpsyn_core.evaluate import Score, compare_tables, compute
from dpsyn_core.privacy import Budget, Ledger
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.choose.document import Candidate, ComparisonSpec, SystemsComparison, Trial
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.schema import Schema
from dpsyn_core.systems import configure
from dpsyn_core.tables import to_arrow

MOST_RUNS = 400  # of one comparison: an hour or so on a table of 20,000 records
REFUSED = (
    "every run is scored against the table itself and nobody in it is protected, so this is for public tables alone; "
    "declare the table public, or use the sample"
)
METRICS = {"pairs": "tvd-2way", "columns": "tvd-1way", "triples": "tvd-3way"}


def check_comparison(spec: ComparisonSpec) -> None:
    """Raises InputError for an impossible comparison: a private table, an unknown system, too many runs."""
    if not spec.public:
        raise InputError(REFUSED)
    for what, given in (("systems", [str(c) for c in spec.candidates]), ("epsilons", spec.epsilons)):
        if len(set(given)) < len(given):
            msg = f"the {what} repeat each other; name each once, and ask for repeats instead"
            raise SettingError(msg)
    for candidate in spec.candidates:
        if configure(candidate.method, candidate.settings).unprotected:
            msg = f"{candidate.method} adds no noise, so it has no epsilon; leave it out"
            raise SettingError(msg)
    for epsilon in spec.epsilons:
        Budget(epsilon=epsilon, delta=spec.delta).check_spendable()
    runs = len(spec.candidates) * len(spec.epsilons) * spec.repeats
    if runs > MOST_RUNS:
        msg = f"the comparison has {runs} runs, above the cap of {MOST_RUNS}; take fewer systems, epsilons or repeats"
        raise SettingError(msg)


def compare_systems(
    table: Any, schema: Schema, spec: ComparisonSpec, *, progress: Progress = silent
) -> SystemsComparison:
    """Makes and scores all runs. What a system refuses is kept as its sentence, and the others go on.

    Guarantee: none for the table, which is public.

    Args:
        table: public: pandas, polars or pyarrow.
        schema: of it.
        spec: of the comparison.
        progress: receives how many runs are done.

    Raises:
        InputError: see `check_comparison`; a public number of records that contradicts `spec.about`.
    """
    check_comparison(spec)
    whole = to_arrow(table)
    size = _size(schema, spec, whole.num_rows)
    tables = [_drawn(whole, size, repeat) for repeat in range(1, spec.repeats + 1)]
    names = [name for name in METRICS if name != "triples" or spec.triples]
    cells = [(c, e) for c in spec.candidates for e in spec.epsilons]
    total = len(cells) * spec.repeats
    runs: list[Trial] = []
    refused: dict[str, str] = {}
    floors: dict[str, float | None] = {}
    for i, (candidate, epsilon) in enumerate(cells):
        for repeat, real in enumerate(tables, 1):
            progress("runs", i * spec.repeats + repeat - 1, total)
            started = time.process_time()
            try:
                scores = _scores(real, schema, candidate, Budget(epsilon=epsilon, delta=spec.delta), repeat, names)
            except DPSynError as error:
                refused[f"{candidate} at epsilon {epsilon:g}"] = str(error)
                break
            if scores["columns"] is None:
                msg = "the runs cannot be scored: the table has no column that is synthesized"
                raise InputError(msg)
            floors = {name: None if s is None else s.floor for name, s in scores.items()}
            values: dict[str, Any] = {name: None if s is None else s.value for name, s in scores.items()}
            seconds = round(time.process_time() - started, 2)
            runs.append(Trial(method=str(candidate), epsilon=epsilon, repeat=repeat, seconds=seconds, **values))
    progress("runs", total, total)
    return SystemsComparison(
        runs=tuple(runs),
        refused=refused,
        delta=spec.delta,
        n_records=size,
        pairs_floor=floors.get("pairs"),
        columns_floor=floors.get("columns"),
    )


def _size(schema: Schema, spec: ComparisonSpec, rows: int) -> int:
    """Records of each run. Raises SettingError for two numbers that differ."""
    if schema.n_records is not None and spec.about not in (None, schema.n_records):
        msg = f"the schema says that there are {schema.n_records} records; leave the number of records out"
        raise SettingError(msg)
    return next(n for n in (schema.n_records, spec.about, rows) if n is not None)


def _drawn(table: Any, size: int, seed: int) -> Any:
    """So many records of the table: fewer are drawn without, more with replacement; the table where it has as many."""
    if size == table.num_rows or not table.num_rows:
        return table
    rows = np.random.default_rng(seed).choice(table.num_rows, size, replace=size > table.num_rows)
    return table.take(rows)


def _scores(
    real: Any, schema: Schema, candidate: Candidate, budget: Budget, repeat: int, names: list[str]
) -> dict[str, Score | None]:
    """The scores of one run. Its charge goes to a ledger that is thrown away: the table is public."""
    with tempfile.TemporaryDirectory() as folder:
        release = synthesize(
            real,
            schema,
            epsilon=budget.epsilon,
            delta=budget.delta,
            rng=repeat,
            method=candidate.method,
            ledger=Ledger(Path(folder) / "ledger.sqlite3"),
            settings=candidate.settings,
        )
    scores = compute(compare_tables(schema, release.arrow, real), [METRICS[name] for name in names])
    return {name: s if isinstance(s := scores[METRICS[name]], Score) else None for name in names}
