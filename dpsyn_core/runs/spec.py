"""RunSpec: what a run is asked to do. Flags, the form on the page, job documents and Python calls become one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.errors import MethodError, SettingError
from dpsyn_core.privacy import UsedTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpsyn_core.privacy import Budget, PublicFacts
    from dpsyn_core.questions import Given, Questions
    from dpsyn_core.schema import Schema
    from dpsyn_core.systems import MethodConfig, Task

MAX_RECORDS = 100_000_000  # records that one run may write into a file
MOST_TABLES = 1000  # of one release
SEVERAL = ("rls", "dpsyn", "independent")  # systems that release only tables with known noise


class RunOptions(TypedDict, total=False):
    """What a call may name of a run beside epsilon and delta: fields of `RunSpec`, in the forms that people have."""

    method: str | None
    settings: Mapping[str, Any] | None
    n_records: int | None
    dataset: str | None
    tables: int
    questions: Given | None
    questions_share: float | None
    public_table: str | Path | None
    chosen_on: UsedTable | None


class NamedRun(RunOptions):
    """The same with epsilon and delta."""

    epsilon: float
    delta: float


class RunSpec(BaseModel):
    """All that a person chooses for a run, but for the table, its schema (with the unit of privacy) and the places.

    Frozen, and a document: its fields are also those of a job. Everything in it is public.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    epsilon: float = Field(description="Privacy budget, above 0")
    delta: float = Field(description="0 for pure DP, or in (0, 1)")
    method: str = Field(description="The system")
    settings: dict[str, Any] = Field(default_factory=dict, description="Of the system")
    n_records: int | None = Field(
        default=None, description="Records to write; null: the schema's public number, or a released total"
    )
    seed: int | None = Field(default=None, description="Of post-processing; null: a fresh one. The noise has none")
    dataset: str | None = Field(default=None, description="Name on the ledger; null: the schema's")
    questions: dict[str, Any] | None = Field(default=None, description="questions.json; null: those of the schema")
    questions_share: float | None = Field(
        default=None, description="Part, from 0 to 1, of what pairs of columns would get; null: at most half"
    )
    tables: int = Field(default=1, description="Synthetic tables of the one release")
    public_table: str | None = Field(
        default=None, description="Path of a table that the owner vouches is public, to learn from; null: none"
    )
    chosen_on: UsedTable | None = Field(
        default=None, description="The public table by which system and settings were chosen; null: by none"
    )

    @classmethod
    def of(cls, *, questions: Given | None = None, **fields: Any) -> Self:
        """Builds it from what a caller names; None stands for what is not named. The system is the default one then.

        Args:
            questions: a `Questions`, the parsed JSON, a list, or the path of a file.
            fields: the other fields by their names.

        Raises:
            SettingError: an unknown field, or a value of another type.
            MethodError: the system cannot make several tables of one release.
            QuestionError: no document of questions.
        """
        from dpsyn_core.systems import DEFAULT, validated

        named = {"method": DEFAULT} | {name: value for name, value in fields.items() if value is not None}
        if isinstance(named.get("public_table"), Path):
            named["public_table"] = str(named["public_table"])
        if questions is not None:
            from dpsyn_core.questions import given

            named["questions"] = given(questions).document()
        spec = validated(cls, "a run", named)
        spec.check_tables()
        return spec

    @property
    def budget(self) -> Budget:
        """Epsilon and delta as a budget. Raises BudgetError."""
        from dpsyn_core.privacy import Budget

        return Budget(epsilon=self.epsilon, delta=self.delta)

    @property
    def config(self) -> MethodConfig:
        """The system with its settings. Raises MethodError, SettingError."""
        from dpsyn_core.systems import configure

        return configure(self.method, self.settings)

    def asked(self, schema: Schema) -> Questions:
        """The declared questions of the run, checked against the schema. Raises QuestionError."""
        from dpsyn_core.questions import declared

        return declared(self.questions, schema)

    def task(self, schema: Schema, *, measured: tuple[str, ...] = ()) -> Task:
        """All that is public before the run. measured: not computed, beside columns of questions. Raises InputError."""
        from dpsyn_core.systems import Task, config_class

        questions = self.asked(schema) if self.questions is not None or schema.questions is not None else None
        task = Task.of(
            schema,
            self.budget,
            questions=questions,
            questions_share=self.questions_share,
            measured=measured,
            measures=config_class(self.method).measures,
        )
        if self.public_table is None:
            return task
        from dataclasses import replace

        from dpsyn_core.runs.public_table import read_public

        self.config.check_public_table()
        return replace(task, public=read_public(Path(self.public_table), schema))

    def facts(self, schema: Schema, *, query_vouched: bool) -> PublicFacts:
        """Where what this run takes for public comes from; see `public_facts`."""
        from dpsyn_core.runs.open import public_facts

        why = self.config.reasons
        return public_facts(
            schema, dataset=self.dataset, query_vouched=query_vouched, reasons=why, public_table=self.chosen_on
        )

    def check(self, *, most: int = MAX_RECORDS) -> None:
        """Refuses, before anything is charged, impossible runs. most: records that may be asked for.

        Raises:
            SettingError: the number of records or of tables is out of range.
            MethodError: the system cannot make several tables of one release.
        """
        check_records(self.n_records, most)
        self.check_tables()

    def check_tables(self) -> None:
        """Raises SettingError or MethodError for what one release cannot give."""
        if self.chosen_on is not None and self.public_table is not None:
            msg = (
                "the settings were chosen by runs on a public table, and the run learns from one too, of which a "
                "manifest names one; leave the public table of the run out"
            )
            raise SettingError(msg)
        if not 1 <= self.tables <= MOST_TABLES:
            msg = f"the number of tables is {self.tables}; it must be a whole number between 1 and {MOST_TABLES}"
            raise SettingError(msg)
        if self.tables > 1 and self.method not in SEVERAL:
            msg = (
                f"{self.method} cannot make several tables of one release, for not all that it releases are tables "
                f"with known noise; use one of {', '.join(SEVERAL)}, or ask for one table"
            )
            raise MethodError(msg)
        if self.tables > 1 and self.public_table is not None:
            msg = (
                "several tables of one release show what the noise does, and not how far off a public table is; ask "
                "for one table, or leave the public table out"
            )
            raise MethodError(msg)


def check_records(n_records: int | None, most: int = MAX_RECORDS) -> None:
    """Raises SettingError for a number of records to write that is out of range."""
    if n_records is not None and not 0 <= n_records <= most:
        msg = f"n_records is {n_records}; it must lie between 0 and {most:,}"
        raise SettingError(msg)
