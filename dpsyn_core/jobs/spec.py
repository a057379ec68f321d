"""What a worker is asked to do: the documents that the app leaves for it in its folder."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class JobSpec(BaseModel):
    """A run. Paths are relative to the job's folder unless absolute."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    table: str = "table.parquet"
    delimiter: str | None = None
    encoding: str | None = None
    epsilon: float
    delta: float
    method: str
    settings: dict[str, Any] = Field(default_factory=dict)
    n_records: int | None = None
    seed: int
    dataset: str | None = None
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=3600, ge=1)


class ReadSpec(BaseModel):
    """A table to be read: the file `upload` of the folder under its own `name`, or a `path` on this machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    path: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    multiline: bool = False
    memory_mb: int = Field(default=4096, ge=64)
    seconds: int = Field(default=300, ge=1)
