"""A grid of systems x epsilons x repeats on a public table: every run is made and scored.

Every run draws its own noise and is scored against the table itself, so the table must be public: nothing is booked on
the ledger of a person's data, and no promise is made for the scores.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from dpsyn_core.errors import DPSynError, InputError, SettingError
from dpsyn_core.evaluate.base import Score, compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.choose.document import GridResult, GridRun, GridSpec
from dpsyn_core.runs.release import synthesize
from dpsyn_core.schema.document import Schema
from dpsyn_core.systems.registry import config_class
from dpsyn_core.tables.frames import to_arrow

MOST_RUNS = 400  # of one grid: an hour or so on a table of 20,000 records
REFUSED = (
    "a grid scores every run against the table itself and protects nobody in it, so it is for public tables alone; "
    "declare the table public, or use the sample"
)
SCORES = {"pairs": "tvd-2way", "columns": "tvd-1way"}


def check(spec: GridSpec) -> None:
    """Raises InputError for a grid that cannot be made: a private table, an unknown system, too many runs."""
    if not spec.public:
        raise InputError(REFUSED)
    for what, given in (("systems", spec.methods), ("epsilons", spec.epsilons)):
        if len(set(given)) < len(given):
            msg = f"the {what} of the grid repeat each other; name each once, and ask for repeats instead"
            raise SettingError(msg)
    for method in spec.methods:
        if config_class(method).unprotected:
            msg = f"{method} adds no noise, so it has no epsilon; leave it out of the grid"
            raise SettingError(msg)
    for epsilon in spec.epsilons:
        Budget(epsilon=epsilon, delta=spec.delta).check_spendable()
    runs = len(spec.methods) * len(spec.epsilons) * spec.repeats
    if runs > MOST_RUNS:
        msg = f"the grid has {runs} runs, above the cap of {MOST_RUNS}; take fewer systems, epsilons or repeats"
        raise SettingError(msg)


def grid(table: Any, schema: Schema, spec: GridSpec, *, progress: Progress = silent) -> GridResult:
    """Makes and scores all runs. What a system refuses is kept as its sentence, and the others go on.

    Args:
        table: public: pandas, polars or pyarrow.
        schema: of it.
        spec: of the grid.
        progress: told how many runs are done.

    Raises:
        InputError: see `check`.
    """
    check(spec)
    real = to_arrow(table)
    cells = [(m, e) for m in spec.methods for e in spec.epsilons]
    total = len(cells) * spec.repeats
    runs: list[GridRun] = []
    refused: dict[str, str] = {}
    floors: dict[str, float | None] = {}
    for i, (method, epsilon) in enumerate(cells):
        for repeat in range(1, spec.repeats + 1):
            progress("runs", i * spec.repeats + repeat - 1, total)
            started = time.process_time()
            try:
                scores = _scores(real, schema, method, epsilon, spec.delta, repeat)
            except DPSynError as error:
                refused[f"{method} at epsilon {epsilon:g}"] = str(error)
                break
            pairs, columns = scores["pairs"], scores["columns"]
            if columns is None:
                msg = "the runs of the grid cannot be scored: the table has no column that is synthesized"
                raise InputError(msg)
            floors = {name: None if s is None else s.floor for name, s in scores.items()}
            runs.append(
                GridRun(
                    method=method, epsilon=epsilon, repeat=repeat, columns=columns.value,
                    pairs=None if pairs is None else pairs.value, seconds=round(time.process_time() - started, 2),
                )
            )  # fmt: skip
    progress("runs", total, total)
    return GridResult(
        runs=tuple(runs), refused=refused, delta=spec.delta, n_records=real.num_rows,
        pairs_floor=floors.get("pairs"), columns_floor=floors.get("columns"),
    )  # fmt: skip


def _scores(
    real: Any, schema: Schema, method: str, epsilon: float, delta: float, repeat: int
) -> dict[str, Score | None]:
    """The scores of one run. Its charge goes to a ledger that is thrown away: the table is public."""
    with tempfile.TemporaryDirectory() as folder:
        book = Ledger(Path(folder) / "ledger.sqlite3")
        made = synthesize(real, schema, epsilon=epsilon, delta=delta, rng=repeat, method=method, ledger=book)
    found = compute(compare_tables(schema, made.arrow, real), list(SCORES.values()))
    return {name: s if isinstance(s := found[metric], Score) else None for name, metric in SCORES.items()}
