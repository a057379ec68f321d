"""What a worker is asked to do: the documents that the app leaves for it in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.tables.read_form import AS_FOUND, ReadForm

OLD = ("delimiter", "encoding", "multiline", "header")  # fields of a run that its form has now


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
    release: str | None = Field(
        default=None, description="A release file of the folder, from which the table is made for nothing; null: a run"
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
        return {key: said for key, said in given.items() if key not in flat} | ({"form": flat} if flat else {})


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
