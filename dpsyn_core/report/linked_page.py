"""The report on linked tables, as HTML and JSON: guarantee, keys, and for the owner what is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Score, compare_tables, compute
from dpsyn_core.privacy import Manifest, promise
from dpsyn_core.report import build
from dpsyn_core.report.document import ScoredTable, alarm_lines, label_of, report_document, verdict_lines
from dpsyn_core.report.page import Page, number
from dpsyn_core.report.released import add_certificate, add_odds, certificate_words
from dpsyn_core.report.sections import worst_pairs
from dpsyn_core.report.wording import Words, local, words
from dpsyn_core.runs import KeysOfLink, LinkVerdict, Receipt
from dpsyn_core.schema import LinkedSchema
from dpsyn_core.tables import naming

SCORES = ("tvd-1way", "tvd-2way")
KEPT = {"parent x child": "kept_across", "siblings": "kept_siblings"}
TITLES = {"children": "link_children", "parent x child": "link_across", "siblings": "link_siblings"}


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
        real: the same, for their owner; None: the report uses released values alone.
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


def linked_html(report: LinkedReport, *, language: str = "en") -> str:
    """The report as one file that needs no network; language: the code of the one that it is written in."""
    chosen = words(language)
    schema, keys, tables, verdicts = report.schema, report.keys, report.tables, report.verdicts
    page = Page(
        chosen["page.title"].format(schema=schema.name),
        heading=chosen["page.heading_linked"].format(schema=schema.name),
        label=label_of(tables),
        note=", ".join(_counted(k, chosen) for k in keys),
        words=chosen,
    )
    for verdict in verdicts:
        if verdict.kept is not None:
            parent, child = verdict.scope.split(" > ")
            kept = page.local(f"{verdict.kept:.0%}")
            page.text(page.say(KEPT[verdict.metric], kept=kept, parent=parent, child=child))
    _guarantee(page, schema, report.manifest, report.receipts)
    _keys(page, keys)
    if verdicts:
        _links(page, verdicts)
    for table in tables:
        _table(page, table)
    return page.render()


def _counted(k: KeysOfLink, words: Words) -> str:
    """How many records of the child there are, and of how many of the parent."""
    children, parents = (local(number(x), words) for x in (k.children, k.parents))
    return words["page.of_keys"].format(children=children, child=k.child, parents=parents, parent=k.parent)


def _guarantee(page: Page, schema: LinkedSchema, manifest: Manifest, receipts: Mapping[str, Receipt]) -> None:
    page.section(page.say("guarantee"))
    if not all(r.holds for r in receipts.values()):
        wrong = next(r.sentence for r in receipts.values() if not r.holds)
        page.text(page.say("tables_not_proved", why=page.sentence(wrong)))
        return
    if not manifest.private:
        page.stamp("; ".join(manifest.not_private_because))
    limits = ((page.number(one.max_children), one.table) for one in schema.hanging)
    hanging = ", ".join(page.say("at_most_of", most=most, table=table) for most, table in limits)
    promised = promise(manifest, certificate_words(page.words))
    page.text(page.say("one_hanging", root=schema.root.name, tables=hanging, promise=promised))
    for receipt in receipts.values():
        page.note(page.say("checked", what=page.sentence(receipt.sentence)))
    add_odds(page, manifest)
    add_certificate(page, manifest)


def _keys(page: Page, keys: Sequence[KeysOfLink]) -> None:
    page.section(page.say("keys"), safe=True)
    page.text(page.say("keys_hold" if all(k.hold for k in keys) else "keys_broken"))
    rows = []
    for k in keys:
        counts = (k.parents, k.children, k.orphans, k.repeated, k.most, k.allowed)
        rows.append([k.parent, k.child, *(page.number(count) for count in counts)])
    heads = ("parent", "child", "parents", "children", "orphans", "keys_twice", "most", "allowed")
    page.table([page.say(head) for head in heads], rows)


def _links(page: Page, verdicts: Sequence[LinkVerdict]) -> None:
    page.section(page.say("links"), private=True)
    page.text(page.say("links_lead"))
    rows = []
    for v in verdicts:
        unattached = page.percent(v.unattached) if v.metric in KEPT else "–"
        rows.append([v.scope, page.say(TITLES[v.metric]), page.percent(v.value), page.percent(v.fresh), unattached])
    heads = ("link", "distance", "synthetic", "a_fresh_sample", "by_chance")
    page.table([page.say(head) for head in heads], rows)
    for verdict in verdicts:
        page.text(page.sentence(verdict.sentence))


def _table(page: Page, table: ScoredTable) -> None:
    """One table by itself, where the real one is given."""
    if table.comparison.real is None:
        return
    page.section(page.say("by_itself", table=table.name), private=True)
    for line in alarm_lines(table, page.words):
        page.alarm(line)
    for line in verdict_lines(table, page.words):
        page.text(line)
    scores = {name: s for name, s in table.scores.items() if isinstance(s, Score)}
    for score in scores.values():
        page.text(page.sentence(score.sentence))
    ones = scores.get("tvd-1way", MetricError())
    if isinstance(ones, Score):
        options = {n: build.column({table.name: table.comparison}, n, page.words) for n in build.differences([ones])}
        page.choice(f"one-way-{table.name}", options, page.say("column"))
    pairs = scores.get("tvd-2way", MetricError())
    if isinstance(pairs, Score):
        worst_pairs(page, pairs.details["worst"], page.say("pairs_caption"))
