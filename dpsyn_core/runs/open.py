"""Opens a run: books its whole price on the ledger, then hands out the gate that spends no more than that.

The only place outside `measurement` that touches the noise, and the only one that debits the ledger. Every release,
purchase and answer is a `Run`, so that the order of rule 5 (charge, then count, then add noise) is written once.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsyn_core.measure import Gate
from dpsyn_core.privacy import (
    UNPROTECTED,
    Account,
    AskedQuestions,
    Booking,
    Budget,
    Charge,
    Cost,
    Ledger,
    Manifest,
    PublicFacts,
    SystemNoise,
    Unit,
    UsedTable,
)
from dpsyn_core.runs.stated_rules import stated_rules
from dpsyn_core.systems import package_of


def public_facts(
    schema: Any, *, dataset: str | None, query_vouched: bool, reasons: Sequence[str], public_table: UsedTable | None
) -> PublicFacts:
    """What a manifest states of where the public knowledge of its run comes from.

    Args:
        schema: of one table, or of linked ones.
        dataset: name on the ledger; None: the one that the schema keeps.
        query_vouched: that the query behind the records reads each record by itself is the owner's word.
        reasons: why the run is NOT PRIVATE whatever the schema says.
        public_table: by which the system was chosen.
    """
    why = (*reasons, *schema.reasons)
    if any(rule.source is None for rule in schema.rules):
        from dpsyn_core.privacy import untold  # most runs have no such rule

        why = (*why, *untold(schema.rules, schema.ledger_name, dataset))
    return PublicFacts(
        name=schema.name,
        digest=hashlib.sha256(schema.dumps().encode()).hexdigest(),
        reasons=why,
        bought=tuple(b.charge() for b in schema.bought),
        query_vouched=query_vouched,
        hanging=schema.hanging,
        public_table=public_table,
        rules=stated_rules(schema),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A run whose price stands on the ledger. What it releases comes out of its gate, and is charged there.

    ledger_chain: hash of the ledger's row, which covers all rows before it.
    """

    gate: Gate
    budget: Budget
    method: str
    dataset: str
    run_id: str
    ledger_chain: str | None = None

    def manifest(
        self,
        facts: PublicFacts,
        *,
        settings: Mapping[str, Any],
        n_records: int,
        seed: int | None = None,
        seconds: float = 0.0,
        questions: AskedQuestions | None = None,
    ) -> Manifest:
        """States what the run released, from the charges that its gate booked.

        Args:
            facts: where the public knowledge that it rests on comes from.
            settings: of the method, as JSON values.
            n_records: records (or rows) of the output.
            seed: of the post-processing; None without one.
            seconds: wall time of what follows the last count. How long reading and counting took depends on the
                private number of records and must not be in it.
            questions: that were declared for the run.

        Raises:
            EngineError: the charges do not lie within the budget; the release must not leave.
        """
        out = Manifest.build(
            budget=self.budget,
            unit=self.gate.unit,
            charges=self.gate.account.charges,
            method=self.method,
            settings=settings,
            n_records=n_records,
            booking=Booking(self.dataset, self.run_id, self.ledger_chain),
            facts=facts,
            seed=seed,
            seconds=seconds,
        )
        versions = out.versions | dict(filter(None, [package_of(self.method)]))
        return out.model_copy(update={"questions": questions, "versions": versions})

    @property
    def charges(self) -> Sequence[Charge]:
        """Every access so far, in order."""
        return self.gate.account.charges


def open_run(
    dataset: str,
    cost: Cost,
    *,
    budget: Budget,
    unit: Unit,
    method: str,
    failure: float = 0.0,
    purpose: str = "synthesis",
    unprotected: bool = False,
    ledger: Ledger | None = None,
) -> Run:
    """Reserves the price of a run, and then opens its gate.

    When this returns, the whole cost is on the ledger and on the disk. A run that fails or is killed later keeps it.

    Args:
        dataset: name on the ledger.
        cost: the most that the charges of the run add up to.
        budget: what the run promises; it covers the cost.
        unit: whom the run protects.
        method: name of the system.
        failure: part of delta that failures of charges may add up to, beside the cost.
        purpose: what the ledger says the run is for.
        unprotected: the gate adds no noise, and the ledger bounds nothing for anybody from this run on.
        ledger: None is the ledger in DPSYN_HOME.

    Raises:
        BudgetError: a delta at which whole records could be published; nothing is debited.
        LedgerError: the dataset's limit would be passed, or the ledger cannot be written; nothing is debited.
    """
    budget.check_spendable()
    book = Ledger() if ledger is None else ledger
    run_id = uuid.uuid4().hex
    entry = book.reserve(
        dataset,
        cost,
        budget=budget,
        unit=unit,
        method=method,
        run_id=run_id,
        delta=failure,
        purpose=UNPROTECTED if unprotected else purpose,
    )
    account, noise = Account(cost, delta=failure), SystemNoise()
    if unprotected:
        from dpsyn_core.measure import UnprotectedGate  # no protected run needs it

        gate: Gate = UnprotectedGate(account=account, noise=noise, unit=unit)
    else:
        gate = Gate(account=account, noise=noise, unit=unit)
    return Run(gate=gate, budget=budget, method=method, dataset=dataset, run_id=run_id, ledger_chain=entry.chain)
