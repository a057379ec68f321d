"""The report on synthetic tables of one schema as one HTML file, for their owner or from released values alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.report import models, questions, released, scores, sections
from dpsyn_core.report.document import ScoredTable, alarm_lines, label_of, verdict_lines
from dpsyn_core.report.page import Page, number, unmarked
from dpsyn_core.report.wording import Words, local, words


def html_report(
    schema_name: str,
    tables: Sequence[ScoredTable],
    *,
    bands: Mapping[str, Any] | None = None,
    made: str = "",
    language: str = "en",
) -> str:
    """The report on one or more synthetic tables, with what reads the real table only when it was given.

    Args:
        schema_name: of all tables.
        tables: scored, the first one leading.
        bands: mean and interval of each metric over repeated runs, from `bands.bands`.
        made: date and time of the report, in words.
        language: code of the language that it is written in.
    """
    chosen = words(language)
    page = Page(
        chosen["page.title"].format(schema=schema_name),
        heading=chosen["page.heading"].format(schema=schema_name),
        label=label_of(tables),
        note=head_note(tables, made, chosen),
        words=chosen,
    )
    for t in tables:
        for line in alarm_lines(t, chosen):
            page.alarm(unmarked(line) if len(tables) == 1 else f"{t.name}: {unmarked(line)}")
        for line in verdict_lines(t, chosen):
            page.text(unmarked(line) if len(tables) == 1 else f"{t.name}: {unmarked(line)}")
    scores.headlines(page, tables)
    for t in tables:
        questions.section(page, t.name, t.asked, publishable=t.publishable)
    released.guarantee(page, tables)
    if any(t.comparison.real is not None for t in tables):
        sections.findings(page, tables)
    scores.scores_table(page, tables, bands or {})
    sections.rules(page, tables)
    if any(t.comparison.real is not None for t in tables):
        sections.pairs(page, tables)
        sections.one_way(page, tables)
        sections.columns(page, tables)
        sections.gaps(page, tables)
        models.section(page, [(t.name, t.comparison) for t in tables])
        sections.small_groups(page, tables)
        sections.spread(page, tables)
        sections.answers(page, tables)
        sections.ranges(page, tables)
        sections.inequality(page, tables)
        sections.associations(page, tables)
        sections.learning(page, tables)
    released.released(page, tables)
    sections.missing(page, tables)
    scores.metric_questions(page, tables)
    return page.render()


def head_note(tables: Sequence[ScoredTable], made: str, words: Words) -> str:
    """Which tables the report is on, its date, and the numbers of records."""
    named = ", ".join(words["page.named"].format(table=t.name) for t in tables)
    return words["page.of_tables" if len(tables) > 1 else "page.of_table"].format(
        tables=named, made=f", {made}" if made else "", sample=sample_note(tables, words)
    )


def sample_note(tables: Sequence[ScoredTable], words: Words) -> str:
    """Of how many records a report is, where it is of samples; empty where it is of all."""
    first = tables[0].comparison
    parts = []
    if first.real is not None and first.real_of is not None:
        some, every = (local(number(x), words) for x in (first.n, first.real_of))
        parts.append(words["page.sample_real"].format(some=some, all=every))
    for t in tables:
        if t.comparison.synthetic_of is not None:
            some, every = (local(number(x), words) for x in (t.comparison.m, t.comparison.synthetic_of))
            parts.append(words["page.sample_synthetic"].format(some=some, all=every, table=t.name))
    return words["page.sample"].format(parts=", ".join(parts)) if parts else ""
