"""Frequent itemsets as a release: reserve on the ledger, find them by PrivBasis, state it in a manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from dpsyn_core.errors import MethodError, SettingError, TableError
from dpsyn_core.measure import ItemSource, items_text
from dpsyn_core.privacy import Ledger, Manifest, PublicFacts
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.open import open_run, public_facts
from dpsyn_core.runs.spec import RunSpec
from dpsyn_core.runs.writer import Places, Staged, staged_tables
from dpsyn_core.schema import Schema
from dpsyn_core.systems import Itemsets, PrivBasisSettings, check_itemsets, check_shares, find_itemsets, validated

ITEMSETS_METHOD = "privbasis"
PARTS = 1 << 20  # no release gets less of the cost than one in so many


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemsetRelease:
    """What leaves the engine: itemsets as positions in `names`, which are public."""

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

    @contextmanager
    def staged(self, places: Places, *, progress: Progress = silent) -> Iterator[Staged]:
        """See `Writable.staged`."""
        del progress
        import pyarrow as pa

        numbers = [pa.field(n, pa.float64()) for n in ("count", "frequency", "deviation")]
        columns = pa.schema([pa.field("itemset", pa.string()), pa.field("size", pa.int64()), *numbers])
        with staged_tables([pa.Table.from_pylist(self.rows(), schema=columns)], places.outs) as digests:
            yield Staged(manifest=self.manifest, digests=digests)


def settings_of(spec: RunSpec) -> PrivBasisSettings:
    """Which itemsets a run releases, and how. Raises SettingError, MethodError."""
    if spec.method != ITEMSETS_METHOD or spec.delta:
        asked = f"'{spec.method}' and {spec.delta:g}"
        msg = f"itemsets are released by '{ITEMSETS_METHOD}', which is pure DP; the run names {asked}"
        raise MethodError(msg)
    return validated(PrivBasisSettings, "itemsets", spec.settings)


def _facts(source: ItemSource, schema: Schema | None, spec: RunSpec, query_vouched: bool) -> PublicFacts:
    """The facts of the schema, if any, under the name and digest of the list of items."""
    digest = hashlib.sha256(items_text(source.items).encode()).hexdigest()
    if schema is None:
        return PublicFacts(
            name="items",
            digest=digest,
            reasons=(),
            bought=(),
            query_vouched=query_vouched,
            hanging=(),
            public_table=None,
            rules=(),
        )
    of_schema = public_facts(schema, dataset=spec.dataset, query_vouched=query_vouched, reasons=(), public_table=None)
    return replace(of_schema, name="items", digest=digest, rules=())  # no record is made


def frequent_itemsets(
    source: ItemSource,
    spec: RunSpec,
    *,
    query_vouched: bool,
    schema: Schema | None = None,
    ledger: Ledger | None = None,
    progress: Progress = silent,
) -> ItemsetRelease:
    """Releases the k most frequent itemsets, or those of at least a frequency.

    Guarantee: epsilon-DP for the source's unit, provided that the list of items is public knowledge.

    Args:
        source: the transactions, and the names of the items, which are public.
        spec: of the run; its system is privbasis, with k or a frequency among the settings, and its delta 0.
        query_vouched: that the query behind the records reads each record by itself is the owner's word.
        schema: of the table from which the transactions were built. None: items are a public list, and the run names
            the dataset.
        ledger: None is the ledger in DPSYN_HOME.
        progress: called with stage, done and total.

    Raises:
        InputError: before anything is charged, when budget, settings or items do not fit.
    """
    settings, budget = settings_of(spec), spec.budget
    dataset = schema.ledger_name if spec.dataset is None and schema is not None else spec.dataset
    if dataset is None:
        msg = "transactions have no name on the ledger; name the dataset"
        raise SettingError(msg)
    if len(source.items) != source.counter.n_items:
        msg = f"there are {len(source.items)} names for {source.counter.n_items} items; give each item one name"
        raise TableError(msg)
    check_itemsets(settings, source.counter.n_items)
    cost = budget.pure()
    check_shares(cost, source.unit, parts=PARTS)
    run = open_run(
        dataset, cost, budget=budget, unit=source.unit, method=ITEMSETS_METHOD, purpose="itemsets", ledger=ledger
    )
    itemsets = find_itemsets(source.counter, settings, cost=cost, gate=run.gate, progress=progress)
    facts = _facts(source, schema, spec, query_vouched)
    manifest = run.manifest(facts, settings=settings.model_dump(mode="json"), n_records=len(itemsets.itemsets))
    return ItemsetRelease(names=source.items, found=itemsets, manifest=manifest)
