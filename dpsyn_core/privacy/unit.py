"""Unit of privacy: who is protected, what one neighbour changes, and the sensitivities that follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from dpsyn_core.errors import UnitError

Neighbours = Literal["add-remove", "replace"]


class DeclaredUnit(Protocol):
    """A unit as a document declares it: what `Unit.of` reads."""

    @property
    def neighbours(self) -> Neighbours: ...  # noqa: D102
    @property
    def max_records(self) -> int: ...  # noqa: D102
    @property
    def identifier(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One individual holds at most `max_records` records (theta in the formulas of docs/proofs).

    add-remove: a neighbour has one individual more or less; replace: one individual is exchanged. identifier: the
    public name of the column that names the individual of a record, by which the limit is enforced before counting;
    None: each record is an individual, or any `max_records` of them together are (nothing is enforced).
    """

    neighbours: Neighbours = "add-remove"
    max_records: int = 1
    identifier: str | None = None

    def __post_init__(self) -> None:
        """Refuses a limit below 1, unknown neighbours and an identifier without a name."""
        if self.neighbours not in ("add-remove", "replace"):
            msg = f"neighbours is {self.neighbours!r}; allowed are 'add-remove' and 'replace'"
            raise UnitError(msg)
        if isinstance(self.max_records, bool) or not isinstance(self.max_records, int) or self.max_records < 1:
            msg = f"max_records is {self.max_records!r}; it must be a whole number of at least 1"
            raise UnitError(msg)
        if self.identifier == "":
            msg = "the identifier's name is empty; name a column, or None when each record is an individual"
            raise UnitError(msg)

    @classmethod
    def of(cls, declared: DeclaredUnit) -> Unit:
        """The unit that a schema (or a manifest) declares, the identifier's name included."""
        return cls(neighbours=declared.neighbours, max_records=declared.max_records, identifier=declared.identifier)

    def l1(self, marginals: int = 1) -> int:
        """L1 sensitivity of that many marginals counted together, in records."""
        return marginals * self.max_records * (2 if self.neighbours == "replace" else 1)

    def l2(self, marginals: int = 1) -> float:
        """L2 sensitivity of that many marginals counted together, in records.

        One marginal moves by max_records, not by its square root, for all records of an individual may share one
        cell. Under replace two individuals move, in different cells at worst: sqrt(2) more.
        """
        return self.max_records * math.sqrt(marginals * (2 if self.neighbours == "replace" else 1))
