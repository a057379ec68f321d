"""What a worker is asked to do: the documents that the app leaves for it in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.runs.spec import RunSpec


class JobSpec(RunSpec):
    """A run, with its table and its limits. Paths are relative to the job's folder unless absolute.

    An absolute `table` is a file, a folder or a pattern of files; it is read in batches and may be larger than memory.
    """

    charges: ClassVar[bool] = True  # whether it spends budget of the ledger

    version: Literal[1] = 1
    table: str = "table.parquet"
    delimiter: str | None = None
    encoding: str | None = None
    multiline: bool = False
    header: str | None = None
    tables: Literal[1] = Field(default=1, exclude=True, description="The pages show one")
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=3600, ge=1)


class QuerySpec(BaseModel):
    """A table or one query of a database. `place` may hold a password: it is never shown and never put into a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    system: Literal["duckdb", "sqlite", "postgresql"]
    place: str = Field(repr=False)
    table: str | None = None
    query: str | None = None
    vouched: bool = False
    most: int


class ReadSpec(BaseModel):
    """A table to be read, by its `name`: the file `upload` of the folder, a `path` of this machine, or a database."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    path: str | None = None
    database: QuerySpec | None = None
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    multiline: bool = False
    header_row: int = Field(default=1, ge=1)
    header: str | None = None
    most_cells: int | None = Field(
        default=None, ge=1, description="Of a path: where it holds more cells, so many are drawn by chance; null: all"
    )
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=300, ge=1)


class ReadJob(BaseModel):
    """What a reader finds on its standard input, in one line: the folder for its answer, and what to read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    spec: ReadSpec
