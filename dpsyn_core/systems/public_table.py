"""PublicTable: coded records of a table that is public, from which a system may learn at no budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy import UsedTable
from dpsyn_core.schema import Domain

Floats = NDArray[np.float64]

if TYPE_CHECKING:
    from dpsyn_core.estimate import Recodes, Target, Trust
    from dpsyn_core.measure import Counter, Gate
    from dpsyn_core.privacy import Cost
    from dpsyn_core.schema import AttributeSet


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PublicTable:
    """Records of a table that the owner vouches is public, by the schema of the run.

    codes: unsigned (attributes, records). domain: the attributes that the table has, in the order of the run's domain.
    name, sha256: of its file, as the manifest names it.
    """

    codes: NDArray[np.unsignedinteger]
    domain: Domain
    name: str = ""
    sha256: str = ""

    @property
    def n_records(self) -> int:
        """Of the public table."""
        return int(self.codes.shape[1])

    def used(self, candidates: Sequence[str] = ()) -> UsedTable:
        """As a manifest names it. candidates: of a choice by runs on it."""
        return UsedTable(
            name=self.name,
            sha256=self.sha256,
            n_records=self.n_records,
            columns=self.domain.names,
            candidates=tuple(candidates),
        )

    @classmethod
    def unread(cls, domain: Domain) -> PublicTable:
        """In place of one that is not at hand: enough to plan the charges of a run, which do not depend on it."""
        return cls(codes=np.zeros((len(domain), 0), dtype=np.uint8), domain=domain)


class Expectations(Protocol):
    """What a public table lets expect of the private one; see `rls.prior.RlsPrior`, which fulfils it."""

    def borne_out(self, view: Any) -> Expectations | None:
        """What is left of it in the light of released one-ways; None where they contradict it, or may do so."""

    def one_ways(self, view: Any) -> tuple[list[Floats], list[float]]:
        """The one-ways of a view, and the noise that they are trusted with."""

    def cost_of_scores(self, scores: Cost, pairs: Cost) -> Cost:
        """Of the scores against the public table, out of that of pairs."""

    def scored(
        self,
        counter: Counter,
        pairs: Sequence[AttributeSet],
        recodes: Sequence[Recodes],
        alone: Sequence[Floats],
        scores: Floats,
        sigma: float,
        *,
        cost: Cost,
        gate: Gate,
    ) -> tuple[dict[AttributeSet, Trust], Floats]:
        """How far the public table is borne out by noisy scores, and what it leaves open of each pair."""

    def targets(self, view: Any, targets: Sequence[Target], scale: float) -> list[Target]:
        """The targets of a view with what the public table says."""
