"""PublicFacts: where everything that a run takes for public comes from. One value, which every way to a manifest needs.

No field has a default: whoever opens a way to the data and forgets one of them does not get past the type checker.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.manifest.statement import HangingTable, UsedTable


@dataclass(frozen=True, kw_only=True, slots=True)
class PublicFacts:
    """The public knowledge that a run rests on, as its manifest states it; made by `runs.facts.public_facts` alone.

    name, digest: of the schema or the list of items. reasons: why a run with it is NOT PRIVATE; empty when it is.
    bought: charges of earlier runs that bought parts of it. query_vouched: that the query behind the records reads each
    record by itself is the owner's word. hanging: of linked tables, those that hang on the individual. public_table:
    that the run learns from, or was chosen by.
    """

    name: str
    digest: str
    reasons: tuple[str, ...]
    bought: tuple[Charge, ...]
    query_vouched: bool
    hanging: tuple[HangingTable, ...]
    public_table: UsedTable | None

    @property
    def private(self) -> bool:
        """Whether nothing speaks against the promise."""
        return not self.reasons
