"""The one function that makes the public facts of a manifest, for every way to the data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from dpsyn_core.privacy.looks import remembered
from dpsyn_core.privacy.manifest.facts import PublicFacts

if TYPE_CHECKING:
    from dpsyn_core.privacy.manifest.statement import HangingTable, UsedTable
    from dpsyn_core.schema.attribute import SchemaRule
    from dpsyn_core.schema.document import BoughtCharge


class Described(Protocol):
    """What is declared of the records: a schema of one table or of linked ones, or a list of items."""

    @property
    def name(self) -> str:
        """Of the schema."""

    @property
    def ledger_name(self) -> str:
        """Under which runs add up."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a run with it is NOT PRIVATE, by what it says of itself."""

    @property
    def bought(self) -> tuple[BoughtCharge, ...]:
        """What was paid earlier for parts of it."""

    @property
    def hanging(self) -> tuple[HangingTable, ...]:
        """Tables that hang on the individual."""

    @property
    def every_rule(self) -> tuple[SchemaRule, ...]:
        """All rules, those of links included."""

    def dumps(self) -> str:
        """The text that the manifest names by its digest."""


def public_facts(
    described: Described, *, dataset: str | None, query_vouched: bool, reasons: Sequence[str],
    public_table: UsedTable | None,
) -> PublicFacts:  # fmt: skip
    """What a manifest states of where the public knowledge of its run comes from.

    Args:
        described: what is declared of the records.
        dataset: name on the ledger; None: the one that the schema keeps.
        query_vouched: that the query behind the records reads each record by itself is the owner's word.
        reasons: why the run is NOT PRIVATE whatever the schema says.
        public_table: by which the system was chosen; one that a run learns from is added where it is read.
    """
    return PublicFacts(
        name=described.name,
        digest=hashlib.sha256(described.dumps().encode()).hexdigest(),
        reasons=(*reasons, *described.reasons, *untold(described.every_rule, described.ledger_name, dataset)),
        bought=tuple(b.charge() for b in described.bought),
        query_vouched=query_vouched,
        hanging=described.hanging,
        public_table=public_table,
    )


def untold(rules: Iterable[SchemaRule], *names: str | None) -> tuple[str, ...]:
    """Why rules that do not say where they come from undo the promise: how many records break rules was shown before.

    names: under which the table stands on the ledger.
    """
    open_ = [r for r in rules if r.source is None]
    if not open_ or not any(remembered(name, "rules") for name in names if name is not None):
        return ()
    return tuple(f"the rule '{str(r)[:200]}' does not say where it comes from, and {TRIED}" for r in open_)


TRIED = "rules were tried on the private table"
