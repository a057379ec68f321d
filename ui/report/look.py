"""What a panel looks at: one or two runs, and their comparisons with the real table."""

from __future__ import annotations

from dataclasses import dataclass

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Comparison, Score
from dpsyn_core.schema import Schema
from ui.report import comparing
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import number, t
from ui.shared.theme import note


@dataclass(frozen=True)
class Side:
    """One run beside the real table. letter: A or B."""

    letter: str
    job: Job
    comparison: Comparison


@dataclass(frozen=True)
class Look:
    """The first run, and the second one where two are compared.

    schema: of the table that is compared. table: its name among linked ones, else empty. runs: as they were chosen.
    """

    space: Workspace
    sides: tuple[Side, ...]
    schema: Schema
    runs: tuple[Job, ...]
    table: str = ""

    def key(self, field: str) -> str:
        """The key of a field that offers columns: each of linked tables has one, since their columns differ."""
        return f"{field}_{self.table}" if self.table else field

    def with_roles(self, **roles: object) -> Look | None:
        """The same table and runs, with other columns as income, group and split."""
        return look(self.space, list(self.runs), self.table, **roles)

    @property
    def first(self) -> Side:
        """Run A."""
        return self.sides[0]

    def score(self, side: Side, metric: str) -> Score | MetricError:
        """A metric of one side, computed once."""
        return comparing.score(self.space, side.job, side.comparison, metric)

    def known(self, side: Side, metric: str) -> bool:
        """Whether a metric of one side has been computed already."""
        return results.is_kept(self.space, comparing.score_key(side.job, side.comparison, metric))

    def name(self, side: Side) -> str:
        """A run's name in a figure: with its letter when there are two."""
        return side.job.label if len(self.sides) == 1 else f"{side.letter}: {side.job.label}"


def sampled(space: Workspace, job: Job) -> None:
    """Says so where a report is of records drawn by chance, since a table is too large to hold."""
    real = space.dataset.records if space.dataset else None
    made = results.synthetic_of(space, job)
    if real is not None and space.dataset is not None and space.dataset.table is not None:
        note(t("report.sampled_real", some=number(space.dataset.table.num_rows), records=number(real)))
    if made is not None:
        some = number(results.synthetic(space, job).num_rows)
        note(t("report.sampled_synthetic", some=some, records=number(made)))


def look(space: Workspace, runs: list[Job], table: str = "", **roles: object) -> Look | None:
    """Compares runs with a loaded table; None when another one is loaded, or it is empty.

    table: which one of linked tables.
    """
    from dpsyn_core.evaluate import Roles

    sides = []
    for letter, job in zip("AB", runs, strict=False):
        comparison = comparing.of(space, job, Roles(**roles), table)  # type: ignore[arg-type]
        if comparison is None:
            return None
        sides.append(Side(letter, comparing.part(space, job, table), comparison))
    if not sides:
        return None
    return Look(space, tuple(sides), comparing.described(space, runs[0], table), tuple(runs), table)
