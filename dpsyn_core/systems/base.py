"""What a system is: a frozen config (settings) that a task calibrates into a synthesizer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, model_validator

from dpsyn_core.errors import MethodError, UnitError
from dpsyn_core.estimate import Measurement, ReleasedTables, Shard
from dpsyn_core.measure import Gate
from dpsyn_core.privacy import Budget, Cost, Neighbours, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import Domain, Schema
from dpsyn_core.systems.settings import Estimate, Size, estimate_of, grouped, groups_of
from dpsyn_core.systems.steps import Step

if TYPE_CHECKING:
    from dpsyn_core.estimate import Workload
    from dpsyn_core.measure import Counter
    from dpsyn_core.questions import Questions
    from dpsyn_core.schema import KnownZeros
    from dpsyn_core.systems.public_table import PublicTable


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """All that is public before a run: domain, unit, budget, n when the schema declares it public, and questions.

    domain: of the columns that are measured; others are computed from them (`schema.computed`). workload: the tables
    that declared questions need, and their share; None where nothing is declared. zeros: cells that the rules of the
    schema make impossible; None where it has none. public: records of a table that the owner vouches is public; None
    without one.
    """

    domain: Domain
    unit: Unit
    budget: Budget
    n_public: int | None = None
    workload: Workload | None = None
    zeros: KnownZeros | None = None
    public: PublicTable | None = None

    @classmethod
    def of(
        cls,
        schema: Schema,
        budget: Budget,
        *,
        questions: Questions | None = None,
        questions_share: float | None = None,
        measured: Collection[str] = (),
        measures: Collection[str] = (),
    ) -> Task:
        """The task that a schema, a budget and questions declare; see `workload_of` for these two.

        measured: columns that are not computed from others, beside those of questions. measures: kinds of rules
        whose column the system measures all the same (`MethodConfig.measures`). Raises QuestionError.
        """
        workload = None
        if questions is not None or schema.questions is not None or questions_share is not None:
            from dpsyn_core.questions import workload_of

            workload = workload_of(questions, schema, questions_share)
        if schema.rules:
            from dpsyn_core.schema import given_by, measured_part

            asked = () if workload is None else (n for need in workload.needs for n in need.attributes)
            part = measured_part(schema, {*measured, *asked, *given_by(measures, schema)})
        else:
            part = schema
        return cls(
            domain=part.domain(),
            unit=Unit.of(schema.unit),
            budget=budget,
            n_public=schema.n_records,
            workload=workload,
            zeros=zeros_of(schema),
        )

    @property
    def known_n(self) -> int:
        """The public number of records. Raises MethodError when it is private."""
        if self.n_public is None:
            msg = "the system needs a public number of records; declare n_records in the schema, or use 'rls'"
            raise MethodError(msg)
        return self.n_public


def zeros_of(schema: Schema) -> KnownZeros | None:
    """Cells that the rules of a schema make impossible; None where it has none, and then nothing is loaded."""
    if not schema.rules:
        return None
    from dpsyn_core.schema import KnownZeros, with_spans

    whole = with_spans(schema)
    return KnownZeros(whole.rules, {a.name: a for a in whole.coded})


@dataclass(frozen=True, kw_only=True, slots=True)
class Guarantee:
    """What a system promises and asks for; checked before anything is charged."""

    text: str
    neighbours: Sequence[Neighbours] = ("add-remove", "replace")
    pure: bool = True  # can run at delta 0
    approximate: bool = True  # can use a delta above 0
    needs_public_n: bool = False
    one_record: bool = False  # calibrates with the number of records: public only where max_records is 1


Make = Callable[[Shard, Generator, Progress], NDArray[np.unsignedinteger]]
"""Codes (n_attributes, records of the shard) of one shard, from a generator of its own; called in several threads."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sharded:
    """How a system makes its records in shards. Post-processing.

    n_records: of all shards together. begin: does once what all shards share, and returns the function that synthesizes
    one shard.
    """

    n_records: int
    begin: Callable[[Progress], Make]


class Synthesizer(ABC):
    """A calibrated system: stated cost beside the code that spends it."""

    cost: Cost
    failure: float = 0.0  # part of delta that failures of charges may add up to, beside the cost

    @abstractmethod
    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Any:
        """Private phase: the only method that is handed the data. Returns released values only."""

    def steps(self, n_records: float) -> Sequence[Step]:
        """What `measure` will spend on what, from public facts: bounds where the data decide, with a forecast.

        Empty for a system whose charges do not depend on what it releases; a dry run then tells all.

        Args:
            n_records: about how many records there are; a guess, used for forecasts alone.
        """
        return ()

    def question_tables(self, n_records: float) -> Sequence[tuple[float, float]]:
        """For each table that declared questions need, in their order: about how many cells, and the noise's scale.

        A forecast from public facts. Empty without questions, and for a system that chooses its tables on the way.

        Args:
            n_records: about how many records there are.
        """
        return ()

    def measurements(self, measured: Any) -> ReleasedTables:
        """Every marginal that `measure` paid for, over the schema's attributes, with its noise. Post-processing.

        The file of released marginals contains these. A system that returns something else than a list of marginals
        says here which there are; `MethodConfig.no_marginals` says why there are none.

        Args:
            measured: what `measure` returned.
        """
        if isinstance(measured, ReleasedTables):
            return measured
        return ReleasedTables(m for m in measured if isinstance(m, Measurement))

    def restored(self, released: ReleasedTables) -> Any:
        """The argument of `synthesize`, rebuilt from what `measurements` gave; a refit starts here. Post-processing.

        Raises:
            MethodError: the records need more than released tables.
        """
        del released
        msg = "its records are made of more than released tables; name another method for the refit, such as 'rls'"
        raise MethodError(msg)

    def outward(self, m: Any) -> Any:
        """A marginal that `measure` keeps, with the maps from the values of the schema: here those that it has."""
        return m

    @abstractmethod
    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Post-processing, free to repeat: codes of shape (n_attributes, n_records).

        n_records None: the released (or public) estimate of the number of records.
        """

    def sharded(self, measured: Any, n_records: int | None, *, rng: Generator) -> Sharded | None:
        """Post-processing in shards, which together are fitted to what was released; None: only in one piece.

        Args:
            measured: what `measure` returned.
            n_records: of all shards together; None as for `synthesize`.
            rng: for what all shards share.
        """
        del measured, n_records, rng
        return None


class MethodConfig(BaseModel):
    """Settings of a system. Field title, description, ge/le and json_schema_extra={"unit": ..} make its form.

    Settings that several systems share may be one field, a `SettingsGroup`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    summary: ClassVar[str]
    guarantee: ClassVar[Guarantee]
    takes_questions: ClassVar[bool] = False  # whether it can measure what declared questions need
    measures: ClassVar[tuple[str, ...]] = ()  # kinds of rules whose column it measures, not computes
    takes_public_table: ClassVar[bool] = False  # whether it can learn from a table that is public
    takes_links: ClassVar[bool] = False  # whether it makes tables that hang together
    trains: ClassVar[bool] = False  # whether it releases a model, which can be saved
    unprotected: ClassVar[bool] = False  # adds no noise; a run of it is NOT PRIVATE

    @model_validator(mode="before")
    @classmethod
    def _grouped(cls, values: Any) -> Any:
        """What is given of a group of settings, in any form, over the values that this system has in it."""
        if not isinstance(values, dict):
            return values
        given = dict(grouped(cls, values))
        for name, group in groups_of(cls).items():
            if isinstance(given.get(name), dict):
                given[name] = group.changed(given[name])
        return given

    @classmethod
    def missing(cls) -> str:
        """What has to be installed before this system runs; empty when nothing is."""
        return ""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a run of this system is NOT PRIVATE, whatever its schema; empty for all that add noise."""
        return (f"the method '{self.name}' adds no noise",) if self.unprotected else ()

    @property
    def no_marginals(self) -> str:
        """Why a run with these settings releases no marginals, in a sentence; empty for a system that releases some."""
        return f"{self.name} adds no noise: its counts are the real ones" if self.unprotected else ""

    def calibrate(self, task: Task) -> Synthesizer:
        """Turns settings and public facts into a runnable system; refuses what it cannot serve."""
        self.check(task)
        return self.build(task)

    def check(self, task: Task) -> None:
        """Raises UnitError or MethodError when the unit, delta, n or questions do not suit the system."""
        self.check_promise(task.unit, task.budget)
        if self.guarantee.needs_public_n and task.n_public is None:
            msg = f"{self.name} needs a public number of records; declare n_records in the schema, or use 'rls'"
            raise MethodError(msg)
        if task.workload is not None and not self.takes_questions:
            msg = (
                f"{self.name} takes no questions: what it measures is fixed; use the method 'rls', or set the "
                "share of the budget for questions to 0"
            )
            raise MethodError(msg)

        if task.public is not None:
            self.check_public_table()

    def check_public_table(self) -> None:
        """Raises MethodError for a system that cannot learn from a public table."""
        if not self.takes_public_table:
            msg = f"{self.name} cannot use a public table; use the method 'rls', or leave the public table out"
            raise MethodError(msg)

    def check_links(self) -> None:
        """Raises MethodError for a system that cannot make tables that hang together."""
        if not self.takes_links:
            msg = (
                f"the method '{self.name}' makes single tables: it knows no keys, and would charge each table for all "
                "records of a root; leave the method out, or use 'rls' or 'independent'"
            )
            raise MethodError(msg)

    def check_promise(self, unit: Unit, budget: Budget) -> None:
        """Raises UnitError or MethodError when the system promises no such budget to this unit, whatever the schema."""
        g = self.guarantee
        if unit.neighbours not in g.neighbours:
            msg = (
                f"{self.name} does not protect {unit.neighbours} neighbours, only {', '.join(g.neighbours)}; "
                f"choose '{g.neighbours[0]}' neighbours (in the schema, or on Privacy), or use the method 'rls'"
            )
            raise UnitError(msg)
        if g.one_record and unit.max_records > 1:
            msg = (
                f"{self.name} calibrates with the number of records, which is private where an individual may hold "
                f"{unit.max_records} of them; set the unit's max_records to 1, or use the method 'rls'"
            )
            raise UnitError(msg)
        if budget.delta == 0 and not g.pure:
            msg = f"{self.name} needs a delta above 0; set a delta such as 1e-9, or use the method 'independent'"
            raise MethodError(msg)
        if budget.delta > 0 and not g.approximate:
            msg = f"{self.name} is pure DP and uses no delta; set delta to 0, or use the method 'rls'"
            raise MethodError(msg)

    def working_domain(self, domain: Domain) -> Domain:
        """The domain that the system runs on: the schema's, but for systems that merge values of numbers."""
        return domain

    def estimate(self, size: Size) -> Estimate:
        """What a run takes, from sizes alone."""
        return estimate_of(self.seconds(size), size)

    def seconds(self, size: Size) -> float:
        """Processor seconds of the run itself; measured systems override it (`benchmarks.estimates`).

        The default is about what the slower of the usual systems take.
        """
        return 0.8 + 0.03 * size.attributes + 1.4 * size.values

    @abstractmethod
    def build(self, task: Task) -> Synthesizer:
        """Calibrates; the task has been checked."""
