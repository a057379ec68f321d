"""What a worker is asked to do: the documents that the app leaves for it in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from dpsyn_core.privacy import MOST
from dpsyn_core.runs.spec import MAX_RECORDS, RunSpec
from dpsyn_core.tables import AS_FOUND, ReadForm

OLD = ("delimiter", "encoding", "multiline", "header")  # fields of a run that its form has now
RELEASE: Literal["release.dpsyn"] = "release.dpsyn"  # in the folder of a refit: the release that it is made of
PUBLIC = r"^public-[\w.-]{1,100}$"  # in the folder of a run: the public table that it learns from, named as its upload
PLACES = ("version", "table", "form", "public_table", "seconds", *OLD)  # that earlier projects wrote of a run
PRINTED = r"^[^\x00-\x1f\x7f]*$"
TYPED = r"^[^\x00-\x08\x0a-\x1f\x7f]*$"  # printed, or a tab
Line = Annotated[str, Field(max_length=200, pattern=PRINTED)]  # of words that a person reads
Word = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")]  # the name of a system


class JobSpec(RunSpec):
    """A run, with its table and its limits. Paths are relative to the job's folder unless absolute.

    An absolute `table` is a file, a folder or a pattern of files; it is read in batches and may be larger than memory.
    """

    charges: ClassVar[bool] = True  # whether it spends budget of the ledger

    version: Literal[1] = 1
    table: str = "table.parquet"
    query_vouched: bool = Field(
        description="That the query behind the table reads each record by itself is the owner's word"
    )
    form: ReadForm = Field(default=AS_FOUND, description="How the table is read, where it lies outside the folder")
    public_table: str | None = Field(default=None, pattern=PUBLIC, description="A file of the folder; null: none")
    release: Literal["release.dpsyn"] | None = Field(
        default=None, description="The release in the folder from which the table is made for nothing; null: a run"
    )
    maker: str | None = Field(default=None, description="The system that makes it; null: that of the run, where it can")
    where: str | None = Field(default=None, description="A condition that every record of a refit meets; null: none")
    columns: tuple[str, ...] | None = Field(default=None, description="Columns that a refit keeps; null: all")
    rules: tuple[dict[str, Any], ...] = Field(default=(), description="Further rules that a refit keeps")
    linked: tuple[str, ...] = Field(
        default=(), description="Names of linked tables, in the order of their files in the folder; none: one table"
    )
    tables: Literal[1] = Field(default=1, exclude=True, description="The pages show one")
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=3600, ge=1)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The private tables, as paths relative to the folder of the job unless absolute."""
        return tuple(f"table-{i}.parquet" for i in range(len(self.linked))) or (self.table,)

    @model_validator(mode="before")
    @classmethod
    def _of_old(cls, given: Any) -> Any:
        """An older document has the fields of the form beside the others."""
        if not isinstance(given, dict) or "form" in given:
            return given
        flat = {key: given[key] for key in OLD if key in given}
        return {key: value for key, value in given.items() if key not in flat} | ({"form": flat} if flat else {})


class FinishedRun(BaseModel):
    """What a finished run was asked, as a file hands it on: values alone, each within bounds, and no place.

    Nothing here is believed to be what the run did, which its manifest says. Earlier versions wrote the whole job; of
    that, places are dropped unread.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    epsilon: float = Field(gt=0, le=MOST)
    delta: float = Field(ge=0, lt=1)
    method: Word
    settings: dict[Line, JsonValue] = Field(default_factory=dict)
    n_records: int | None = Field(default=None, ge=0, le=MAX_RECORDS)
    seed: int | None = Field(default=None, ge=0, lt=1 << 128)
    dataset: Line | None = None
    questions: dict[Line, JsonValue] | None = None
    questions_share: float | None = Field(default=None, ge=0, le=1)
    query_vouched: bool = False
    memory_mb: int = Field(default=4096, ge=64, le=1 << 30)
    refit: bool = Field(default=False, description="Whether it was made of a release")
    maker: Word | None = None
    where: Annotated[str, Field(max_length=10_000, pattern=TYPED)] | None = None
    columns: tuple[Annotated[str, Field(max_length=500)], ...] | None = None
    rules: tuple[dict[Line, JsonValue], ...] = ()
    linked: tuple[Line, ...] = Field(default=(), max_length=20, description="Names of linked tables; none: one table")

    @classmethod
    def of(cls, spec: JobSpec) -> FinishedRun:
        """What this job hands on."""
        kept = spec.model_dump(mode="json", include=set(cls.model_fields))
        return cls.model_validate(kept | {"refit": spec.release is not None})

    def job(self, *, public_table: str | None) -> JobSpec:
        """The job, as pages ask it. public_table: as the run's manifest names it."""
        chosen = self.model_dump(exclude={"refit"})
        return JobSpec(**chosen, release=RELEASE if self.refit else None, public_table=public_table)

    @model_validator(mode="before")
    @classmethod
    def _of_old(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        kept = {key: value for key, value in given.items() if key not in (*PLACES, "release")}
        return kept | ({"refit": given["release"] is not None} if "release" in given else {})


class ReadSpec(BaseModel):
    """A table to be read, by its `name`: the file `upload` of the folder, or what lies at a `path`.

    The path may be the address of a database, which may hold a password: it is never shown and never put into a file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    path: str | None = Field(default=None, repr=False)
    form: ReadForm = AS_FOUND
    most: int | None = Field(default=None, ge=1, description="Records of a database, above which it is refused")
    most_cells: int | None = Field(
        default=None, ge=1, description="Of a path: a sample of this many cells is read where it has more; null: all"
    )
    drafted: bool = Field(
        default=True, description="Whether a schema is drafted, which refuses a table without records"
    )
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=300, ge=1)

    @property
    def source(self) -> str:
        """What to call it in a sentence."""
        return "database" if self.form.of_database else "file"


class ReadJob(BaseModel):
    """What a reader finds on its standard input, in one line: the folder for its answer, and what to read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    spec: ReadSpec
