"""The private phase of a run on a table: open the source, reserve the budget, measure, and let go of the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.marginals.types import ReleasedTables
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger import Ledger
from dpsyn_core.progress import Progress
from dpsyn_core.questions.document import Questions
from dpsyn_core.runs.open import Run, open_run
from dpsyn_core.runs.plan import check_drawable, plan_of
from dpsyn_core.schema.document import Schema
from dpsyn_core.sources.base import Source
from dpsyn_core.synthesizers.base import MethodConfig, Synthesizer, Task


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What the private phase leaves: the run, its system, and what that released. Nothing here holds records.

    columns: names of the source's columns, in their order.
    """

    run: Run
    task: Task
    system: Synthesizer
    released: Any
    columns: tuple[str, ...]

    @property
    def tables(self) -> ReleasedTables:
        """The marginals among what was released, over the schema's attributes."""
        return self.system.measurements(self.released)


def measure(
    source: Source,
    schema: Schema,
    config: MethodConfig,
    *,
    budget: Budget,
    dataset: str | None,
    ledger: Ledger | None,
    progress: Progress,
    questions: Questions | None = None,
    questions_share: float | None = None,
) -> Measured:
    """Runs the measuring phase of a system on a source.

    The source is closed and the counter forgotten when this returns, so that post-processing has their memory.

    Args:
        source: of the records.
        schema: public metadata.
        config: the system's settings.
        budget: of the run.
        dataset: name on the ledger; None takes the one that the schema keeps.
        ledger: None is the ledger in DPSYN_HOME.
        progress: told the stages.
        questions: declared; None: none.
        questions_share: their share; see `questions.compile.workload_of`.

    Raises:
        InputError: before anything is charged, when budget, schema or records do not fit the system.
    """
    task = Task.of(schema, budget, questions=questions, questions_share=questions_share)
    system = config.calibrate(task)
    if not config.unprotected:
        check_drawable(plan_of(system, task))  # noise beyond the samplers is refused here, where nothing is spent yet
    with source.open(schema, progress=progress) as opened:
        # the number of records is public under these two conditions alone, and only then may a refusal depend on it
        public_size = task.unit.neighbours == "replace" and task.unit.max_records == 1
        if public_size and config.guarantee.needs_public_n and opened.n_records > task.known_n:
            msg = "the table has more records than the schema's n_records; correct it, or use the method 'rls'"
            raise SchemaError(msg)
        run = open_run(
            schema.ledger_name if dataset is None else dataset,
            system.cost,
            budget=budget,
            unit=task.unit,
            method=config.name,
            failure=system.failure,
            unprotected=config.unprotected,
            ledger=ledger,
        )
        released = system.measure(opened.counter, gate=run.gate, progress=progress)
    return Measured(run=run, task=task, system=system, released=released, columns=opened.columns)
