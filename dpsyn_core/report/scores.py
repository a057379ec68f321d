"""Scores in the HTML report: the few that decide, all of them as a table, and what each one asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import GOAL_WORDS, Score, between, metric_class, names
from dpsyn_core.report.document import ScoredTable
from dpsyn_core.report.page import Page, number, percent
from dpsyn_core.report.verdict import APART, of
from dpsyn_core.report.wording import part

KEPT = "relations"
NUMBERS = ("rank-correlation", "wasserstein")  # lead where half of the attributes are numbers, of which bins say little
HEADLINES = ("tvd-2way", "range-queries", "nist", "pay-gap", "learning", "measured-fit")
MOST_FACTS = 5


def headlines(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The few numbers that decide, of the first table."""
    listed = tables[0].comparison.domain.attributes
    lead = 2 * sum(a.number for a in listed) >= len(listed)
    first = of(tables[0].comparison)
    kept = (
        [] if first is not None and first.grade in APART else [KEPT]
    )  # one list: what the verdict says cannot be read
    ranked = [*kept, *NUMBERS, *HEADLINES] if lead else [*kept, *HEADLINES[:1], *NUMBERS, *HEADLINES[1:]]
    items = []
    for name in ranked:
        s = tables[0].scores.get(name)
        if isinstance(s, Score):
            items.append((shown(page, name, s.value), page.say(f"fact_{name}"), against(page, tables[0], name, s)))
    page.facts(items[:MOST_FACTS])
    if len(tables) > 1:
        page.note(page.say("facts_of", table=tables[0].name))


def shown(page: Page, name: str, value: float) -> str:
    """A value in the unit of the metric."""
    unit = metric_class(name).unit if name in names() else "share of records"
    if unit in ("share of records", "share of the way"):
        text = percent(value)
    elif unit.startswith("points"):
        text = number(value)
    else:
        text = f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
    return page.local(text)


def against(page: Page, table: ScoredTable, name: str, s: Score) -> str:
    """What to compare a headline with: a fresh sample, and unrelated columns for what sees more than one column."""
    if name == KEPT:
        return page.say("against_relations")
    floors = None if table.comparison.real is None else between(table.comparison, name, s)
    if floors is not None:
        fresh, unrelated = (shown(page, name, x) for x in (floors.fresh, floors.unrelated))
        return page.say("against_both", fresh=fresh, unrelated=unrelated)
    if s.floor is not None:
        if name == "measured-fit":
            return page.say("against_noise", value=page.local(f"{s.floor:.0f}"))
        return page.say("against_fresh", fresh=shown(page, name, s.floor))
    if name == "learning":
        return page.say("against_ceiling", value=page.local(f"{s.details['ceiling']:.3f}"))
    if name == "nist":
        return page.say("against_points")
    return page.say("against_order") if name == "pay-gap" else ""


def scores_table(page: Page, tables: Sequence[ScoredTable], bands: Mapping[str, Any]) -> None:
    """Every score of every table, with the noise floor of the first and the band of repeated runs."""
    listed = list(dict.fromkeys(n for t in tables for n, s in t.scores.items() if isinstance(s, Score)))
    if not listed:
        return
    page.section(page.say("scores"), private=any(t.comparison.real is not None for t in tables))
    heads = [page.say("metric"), *(t.name for t in tables)]
    heads += [page.say("mean_and_interval")] if bands else []
    heads += [page.say(head) for head in ("a_fresh_sample", "unrelated_columns", "reading")]
    page.table(heads, [_row(page, name, tables, bands) for name in listed])
    if len(tables) == 1:
        texts = [s.sentence for n, s in tables[0].scores.items() if isinstance(s, Score) and n.startswith("tvd")]
        page.text(" ".join(page.sentence(text) for text in texts))


def _row(page: Page, name: str, tables: Sequence[ScoredTable], bands: Mapping[str, Any]) -> list[str]:
    """One metric: its title, its scores, its band, both floors, and which direction is better."""
    scores = [t.scores.get(name) for t in tables]
    floor = next((s.floor for s in scores if isinstance(s, Score) and s.floor is not None), None)
    unrelated = next((b for b in (second_floor(t, name) for t in tables) if b is not None), None)
    metric = metric_class(name) if name in names() else None
    row = [
        part(f"metric.{name}", metric.title if metric else name, page.words),
        *(shown(page, name, s.value) if isinstance(s, Score) else "–" for s in scores),
    ]
    if bands:
        band = bands.get(name)
        ends = {k: shown(page, name, band[k]) for k in ("mean", "low", "high")} if band else None
        row.append(page.say("band", **ends) if ends else "–")
    row += ["–" if x is None else shown(page, name, x) for x in (floor, unrelated)]
    goal = metric.goal if metric else "low"
    return [*row, part(f"goal.{goal}", GOAL_WORDS[goal], page.words)]


def second_floor(table: ScoredTable, name: str) -> float | None:
    """What unrelated columns score; None where the real table was not given, or a metric sees one column at a time."""
    s = table.scores.get(name)
    if table.comparison.real is None or not isinstance(s, Score):
        return None
    if name == KEPT:
        return 0.0
    floors = between(table.comparison, name, s)
    return None if floors is None else floors.unrelated


def metric_questions(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What each score asks: the key for a reader who was not there."""
    shown = [n for n in names() if any(not isinstance(t.scores.get(n, MetricError()), MetricError) for t in tables)]
    if not shown:
        return
    page.section(page.say("asks"))
    rows = []
    for n in shown:
        m = metric_class(n)
        low = "–∞" if m.minimum is None else page.number(m.minimum)
        high = "∞" if m.maximum is None else page.number(m.maximum)
        rows.append(
            [
                part(f"metric.{n}", m.title, page.words),
                part(f"question.{n}", m.question, page.words),
                page.say("to", low=low, high=high),
                part(f"unit.{m.unit}", m.unit, page.words),
                page.say("from_real" if m.reads_private else "from_released"),
            ]
        )
    page.table([page.say(head) for head in ("score", "question", "range", "unit", "made_from")], rows)
