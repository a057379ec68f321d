"""The report on linked tables, as HTML and JSON: guarantee, keys, and for the owner what is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Score, compute
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.privacy.curves import odds_sentence
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.report import build
from dpsyn_core.report.document import ScoredTable, label_of, report_document, verdict_lines
from dpsyn_core.report.page import Page, number, percent
from dpsyn_core.runs.trees.keys import KeysOfLink
from dpsyn_core.runs.trees.reference import LinkVerdict
from dpsyn_core.runs.verify.receipts import Receipt
from dpsyn_core.schema.linked import LinkedSchema
from dpsyn_core.tables.catalog import naming

SCORES = ("tvd-1way", "tvd-2way")
KEPT = {
    "parent x child": "{kept} of the relations between {parent} and {child} are kept.",
    "siblings": "{kept} of the relations between consecutive {child} of one of {parent} are kept.",
}
TITLES = {
    "children": "Number of children of a parent",
    "parent x child": "A parent's column with a child's, on average",
    "siblings": "A column in consecutive children, on average",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedReport:
    """What a report on linked tables says.

    manifest: of the run. receipts: of each synthetic table, by name. keys: of the synthetic tables. tables: each table
    that has columns, scored where the real one was given. verdicts: of the links; they read the real tables.
    """

    schema: LinkedSchema
    manifest: Manifest
    receipts: Mapping[str, Receipt]
    keys: Sequence[KeysOfLink]
    tables: Sequence[ScoredTable]
    verdicts: Sequence[LinkVerdict] = ()


def linked_report(
    schema: LinkedSchema,
    *,
    manifest: Manifest,
    receipts: Mapping[str, Receipt],
    keys: Sequence[KeysOfLink],
    synthetic: Mapping[str, Any],
    real: Mapping[str, Any] | None = None,
    verdicts: Sequence[LinkVerdict] = (),
) -> LinkedReport:
    """Scores each table by itself.

    Args:
        schema: of the run.
        manifest: of the run.
        receipts: of each synthetic table, by name.
        keys: of the synthetic tables.
        synthetic: pyarrow tables by the names of the schema, as `separate_tables` gives them.
        real: the same, for their owner; None: the report is made from released values alone.
        verdicts: of the links; they read the real tables.
    """
    comparisons = {}
    for one in schema.tables:
        if one.columns is not None:
            with naming(one.name):
                real_one = None if real is None else real[one.name]
                comparisons[one.name] = compare_tables(one.columns, synthetic[one.name], real_one)
    tables = [
        ScoredTable(
            name=name,
            comparison=c,
            scores={} if c.real is None else compute(c, SCORES[: len(c.domain)]),
            manifest=manifest,
            receipt=receipts[schema.name if schema.one_file else name],
        )
        for name, c in comparisons.items()
    ]
    return LinkedReport(
        schema=schema, manifest=manifest, receipts=receipts, keys=keys, tables=tables, verdicts=verdicts
    )


def linked_document(report: LinkedReport) -> dict[str, Any]:
    """The report as JSON: that of single tables, with the keys and what is kept across links."""
    document = report_document(report.schema.name, report.tables)
    return document | {"keys": [asdict(k) for k in report.keys], "links": [asdict(v) for v in report.verdicts]}


def linked_html(report: LinkedReport) -> str:
    """The report as one file that needs no network."""
    schema, keys, tables, verdicts = report.schema, report.keys, report.tables, report.verdicts
    page = Page(
        f"Report on {schema.name}",
        heading=f"{schema.name}: how good are the synthetic tables?",
        label=label_of(tables),
        note=", ".join(f"{number(k.children)} records of {k.child} of {number(k.parents)} of {k.parent}" for k in keys),
    )
    for verdict in verdicts:
        if verdict.kept is not None:
            parent, child = verdict.scope.split(" > ")
            page.text(KEPT[verdict.metric].format(kept=f"{verdict.kept:.0%}", parent=parent, child=child))
    _guarantee(page, schema, report.manifest, report.receipts)
    _keys(page, keys)
    if verdicts:
        _links(page, verdicts)
    for table in tables:
        _table(page, table)
    return page.render()


def _guarantee(page: Page, schema: LinkedSchema, manifest: Manifest, receipts: Mapping[str, Receipt]) -> None:
    page.section("What was released, and under which guarantee")
    if not all(r.holds for r in receipts.values()):
        wrong = next(r.sentence for r in receipts.values() if not r.holds)
        page.text(f"The manifest is not proved to be that of these tables, so that nothing can be said: {wrong}.")
        return
    if not manifest.private:
        page.stamp("; ".join(manifest.not_private_because))
    hanging = ", ".join(f"at most {one.max_children:,} of {one.table}" for one in schema.hanging)
    page.text(
        f"One individual is one record of {schema.root.name} with all that hangs on it: {hanging}. {manifest.guarantee}"
    )
    for receipt in receipts.values():
        page.note(f"Checked: {receipt.sentence}.")
    if manifest.private:
        page.text(odds_sentence(manifest.epsilon, manifest.delta))
    page.certificate("Certificate: every access to the data, versions and seeds", manifest.certificate())


def _keys(page: Page, keys: Sequence[KeysOfLink]) -> None:
    page.section("Keys", safe=True)
    page.text(
        "All keys hold: every child has one parent, and no parent more children than declared. Keys count from 1."
        if all(k.hold for k in keys)
        else "Keys do not hold: these tables should not be used."
    )
    page.table(
        ["Parent", "Child", "Parents", "Children", "Children without a parent", "Keys twice", "Most", "Allowed"],
        [[k.parent, k.child, number(k.parents), number(k.children), number(k.orphans), number(k.repeated),
          number(k.most), number(k.allowed)] for k in keys],
    )  # fmt: skip


def _links(page: Page, verdicts: Sequence[LinkVerdict]) -> None:
    page.section("What is kept across links", private=True)
    page.text(
        "Distances are total variation: 0 % is the same as the real tables. A fresh sample is as many other "
        "individuals of the same population; with children handed out by chance all relations across the link are gone."
    )
    page.table(
        ["Link", "Distance", "Synthetic", "A fresh sample", "Children handed out by chance"],
        [[v.scope, TITLES[v.metric], percent(v.value), percent(v.fresh),
          percent(v.unattached) if v.metric in KEPT else "–"] for v in verdicts],
    )  # fmt: skip
    for verdict in verdicts:
        page.text(verdict.sentence)


def _table(page: Page, table: ScoredTable) -> None:
    """One table by itself, where the real one is given."""
    if table.comparison.real is None:
        return
    page.section(f"The table {table.name} by itself", private=True)
    for words in verdict_lines(table):
        page.text(words)
    scores = {name: s for name, s in table.scores.items() if isinstance(s, Score)}
    for score in scores.values():
        page.text(score.sentence)
    ones = scores.get("tvd-1way", MetricError())
    if isinstance(ones, Score):
        options = {n: build.column({table.name: table.comparison}, n) for n in build.differences([ones])}
        page.choice(f"one-way-{table.name}", options, "Column")
    pairs = scores.get("tvd-2way", MetricError())
    if isinstance(pairs, Score):
        page.table(
            ["Pair", "Records that would have to move", "A fresh sample"],
            [[" x ".join(w["attributes"]), percent(w["tvd"]), percent(w["floor"])] for w in pairs.details["worst"]],
            caption="The pairs that differ most",
        )
