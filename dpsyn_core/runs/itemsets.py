"""Frequent itemsets as a release: reserve on the ledger, find them by PrivBasis, state it in a manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.counting.transactions import TransactionCounter
from dpsyn_core.errors import TableError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.ledger import Ledger
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.open import Declared, open_run
from dpsyn_core.runs.plan import check_shares
from dpsyn_core.sources.transactions import items_text
from dpsyn_core.synthesizers.privbasis.run import Itemsets, PrivBasisSettings, check_itemsets, find_itemsets

METHOD = "privbasis"
PARTS = 1 << 20  # no release gets less of the cost than one in so many


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemsetRelease:
    """What leaves the engine. found: itemsets as numbers into `names`, which are public."""

    names: tuple[str, ...]
    found: Itemsets
    manifest: Manifest

    def rows(self) -> list[dict[str, object]]:
        """One row an itemset: items, size, count, frequency (None without a positive total), deviation of the count."""
        total = self.found.total
        return [
            {
                "itemset": " ".join(self.names[i] for i in s.items),
                "size": len(s.items),
                "count": round(s.count, 3),
                "frequency": round(s.count / total, 6) if total > 0 else None,
                "deviation": round(s.deviation, 3),
            }
            for s in self.found.itemsets
        ]


def frequent_itemsets(
    counter: TransactionCounter,
    names: Sequence[str],
    settings: PrivBasisSettings,
    *,
    epsilon: float,
    unit: Unit,
    dataset: str,
    reasons: Sequence[str] = (),
    bought: Sequence[Charge] = (),
    ledger: Ledger | None = None,
    query_vouched: bool = False,
    progress: Progress = silent,
) -> ItemsetRelease:
    """Releases the k most frequent itemsets, or those of at least a frequency.

    Guarantee: epsilon-DP for `unit`, provided that the list of items is public knowledge.

    Args:
        counter: the transactions, at most `unit.max_records` of an individual.
        names: public items, in the order of the counter's numbers.
        settings: k and the settings of PrivBasis.
        epsilon: privacy budget, above 0; there is no delta.
        unit: whom the release protects.
        dataset: name on the ledger.
        reasons: why the release is NOT PRIVATE, when the items were read from the data.
        bought: charges of earlier runs that bought parts of the schema behind the items.
        ledger: None is the ledger in DPSYN_HOME.
        query_vouched: see `runs.release.synthesize`.
        progress: called with stage, done and total.

    Raises:
        InputError: before anything is charged, when budget, settings or items do not fit.
    """
    budget = Budget(epsilon=epsilon, delta=0.0)
    if len(names) != counter.n_items:
        msg = f"there are {len(names)} names for {counter.n_items} items; give each item one name"
        raise TableError(msg)
    check_itemsets(settings, counter.n_items)
    cost = budget.pure()
    check_shares(cost, unit, parts=PARTS)
    run = open_run(dataset, cost, budget=budget, unit=unit, method=METHOD, purpose="itemsets", ledger=ledger)
    found = find_itemsets(counter, settings, cost=cost, gate=run.gate, progress=progress)
    declared = Declared(
        name="items",
        digest=hashlib.sha256(items_text(names).encode()).hexdigest(),
        reasons=tuple(reasons),
        bought=tuple(bought),
        query_vouched=query_vouched,
    )
    manifest = run.manifest(declared, settings=settings.model_dump(mode="json"), n_records=len(found.itemsets))
    return ItemsetRelease(names=tuple(names), found=found, manifest=manifest)
