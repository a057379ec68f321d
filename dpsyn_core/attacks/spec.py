"""What an attack is asked to do: the run that is attacked, and how; the document that the app leaves for its worker."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from dpsyn_core.jobs.spec import JobSpec

Kind = Literal["membership", "singling-out", "linkage", "inference"]
KINDS: tuple[Kind, ...] = ("membership", "singling-out", "linkage", "inference")
RUNS = {"membership": 100, "singling-out": 20, "linkage": 20, "inference": 20}  # shadow runs, unless said otherwise
RECORDS = 2000  # records of the owner's table that shadow runs use, unless said otherwise
CANARIES = 20


class AttackSpec(JobSpec):
    """The system, settings and budget of the run that is attacked, and the attack.

    records: at most so many records of the owner's table take part, drawn at random with all records of an
    individual; fewer make shadow runs quicker, and a single record easier to see. The promise holds for any table.
    """

    charges: ClassVar[bool] = False  # nothing is booked on the ledger

    kind: Kind
    runs: int = Field(ge=4, le=100_000)
    records: int = Field(default=RECORDS, ge=20)
    canaries: int = Field(default=CANARIES, ge=1, le=200)
    secret: str | None = Field(default=None, description="the column that attribute inference is about; null: all")
    workers: int = Field(default=1, ge=0, le=64, description="child processes; 0 runs everything in this process")
