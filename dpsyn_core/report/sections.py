"""Sections of the HTML report that read the real table: figures and tables of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Score, metric_class, verdict
from dpsyn_core.evaluate import shifts as moved
from dpsyn_core.report import build, figures
from dpsyn_core.report.build import embedded_pairs, pair_tables
from dpsyn_core.report.document import ScoredTable
from dpsyn_core.report.finding_words import finding_words, remedy_words
from dpsyn_core.report.page import Page, unmarked
from dpsyn_core.report.profile import (
    gap_rows,
    gap_sentences,
    grouping,
    groups_figure,
    lost_groups,
    profile_rows,
    variance_sentences,
)
from dpsyn_core.report.translation import error
from dpsyn_core.report.verdict import WHOLE
from dpsyn_core.report.wording import part

SHOWN = 60  # rows of means by group: those that are farthest off
CHOICES = 12  # columns whose groups can be chosen
ASSOCIATED = ("cramers-v", "spearman", "correlation", "itemsets", "pmse")


def findings(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What a reader would get wrong, the gravest first, with what helps: the list that the verdict is drawn from."""
    judged = [(t, verdict(t.comparison).findings) for t in tables if t.comparison.real is not None]
    if not any(listed for _, listed in judged):
        return
    page.section(page.say("findings"), private=True)
    page.text(page.say("findings_lead"))
    heads = [page.say(head) for head in ("finding", "weight", "what_helps")]
    for t, listed in judged:
        if len(tables) > 1:
            page.heading(t.name)
        rows = []
        for f in listed:
            text = page.words["finding_relations"] if f.key == WHOLE else finding_words(f, page.words)
            weight = page.words["alarm"] if f.alarm else page.percent(min(1.0, f.weight))
            rows.append([text, weight, unmarked(remedy_words(f, page.words))])
        page.table(heads, rows)


def columns(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Every column: blank cells, distinct values, mean, deviation and quantiles, real and synthetic."""
    page.section(page.say("columns"), private=True)
    page.text(page.say("columns_lead"))
    heads = ("column", "blank", "distinct", "mean", "deviation", "smallest", "median", "high", "largest", "not_right")
    for t in tables:
        if len(tables) > 1:
            page.heading(t.name)
        page.table([page.say(head) for head in heads], profile_rows(t.comparison, page.words))


def gaps(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Means of numbers by the values of short categories, the farthest first, and what of them is not right."""
    shown = [t for t in tables if moved.gaps(t.comparison) or variance_sentences(t.comparison, page.words)]
    if not shown:
        return
    page.section(page.say("gaps"), private=True)
    page.text(page.say("gaps_lead"))
    heads = ("number", "category", "value", "records", "real_mean", "synthetic_mean")
    for t in shown:
        if len(tables) > 1:
            page.heading(t.name)
        between = variance_sentences(t.comparison, page.words)
        lines = gap_sentences(t.comparison, page.words)
        if not (lines or any(far for _, far in between)):
            lines = [page.words["gaps_none"]]
        page.text(" ".join([*(said for said, _ in between), *lines, lost_groups(t.comparison, page.words)]).strip())
        page.table([page.say(head) for head in heads], gap_rows(t.comparison, page.words)[:SHOWN])


def small_groups(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Error by size of group, by a column that the reader chooses."""
    c = tables[0].comparison
    options = {}
    for name in grouping(c)[:CHOICES]:
        options[name] = groups_figure({t.name: t.comparison for t in tables}, name, page.words)
    if options:
        page.section(page.say("small_groups"), private=True)
        page.text(page.say("small_groups_lead"))
        page.choice("small-groups", options, page.say("groups_of"))


def found(tables: Sequence[ScoredTable], metric: str) -> dict[str, Score]:
    """The scores of one metric by table, where it could be computed."""
    return {t.name: s for t in tables if isinstance(s := t.scores.get(metric), Score)}


def pairs(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Where it differs: the heat map of pairs, and the two tables of a pair beside their difference."""
    scores = found(tables, "tvd-2way")
    if not scores:
        return
    domain = tables[0].comparison.domain
    matrices = {name: build.pair_matrix(s, domain.names) for name, s in scores.items()}
    first, *rest = matrices.values()
    page.section(page.say("pairs"), private=True)
    lead = ["pairs_lead", *(["pairs_two"] if rest else [])]
    lead += ["pairs_bins"] if sum(a.number for a in domain.attributes) > 1 else []
    page.text(" ".join(page.say(key) for key in lead))
    page.figure("pairs", figures.pair_map(domain.names, first, rest[0] if rest else None, words=page.words))
    worst = max(scores, key=lambda n: scores[n].value)
    caption = page.say("pairs_caption_in", table=worst) if rest else page.say("pairs_caption")
    worst_pairs(page, scores[worst].details["worst"], caption)
    sets = domain.subsets(2)
    tvd = np.max([s.details["marginals"]["tvd"] for s in scores.values()], axis=0)
    chosen = embedded_pairs(sets, tvd)
    page.data["pairs"] = {
        "names": list(domain.names),
        "series": list(matrices),
        "triangles": {n: [round(float(v), 5) for v in s.details["marginals"]["tvd"]] for n, s in scores.items()},
        "worst": [domain.index(n) for n in sets[int(np.argmax(tvd))]],
        "panels": {kind: figures.panel(kind, page.words) for kind in ("amount", "difference")},
        "panel_layout": figures.panel_layout(),
        **pair_tables([t.comparison for t in tables if t.name in scores], chosen, page.words),
    }
    page.pair_panel(list(matrices), partial=len(chosen) < len(sets), count=len(chosen))


def worst_pairs(page: Page, worst: Sequence[Mapping[str, Any]], caption: str) -> None:
    """The pairs of columns that differ most, next to a fresh sample."""
    rows = [[" x ".join(w["attributes"]), page.percent(w["tvd"]), page.percent(w["floor"])] for w in worst]
    page.table([page.say(head) for head in ("pair", "would_move", "a_fresh_sample")], rows, caption=caption)


def one_way(page: Page, tables: Sequence[ScoredTable]) -> None:
    """One attribute at a time."""
    order = list(build.differences(list(found(tables, "tvd-1way").values()))) or tables[0].comparison.domain.names
    compared = {t.name: t.comparison for t in tables}
    options = {name: build.column(compared, name, page.words) for name in order}
    page.section(page.say("one_way"), private=True)
    page.text(page.say("one_way_lead"))
    page.choice("one-way", options, page.say("attribute"))


def spread(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Distribution of TVD over the marginals of each order."""
    orders = {page.say(f"order_{k}"): found(tables, f"tvd-{k}way") for k in (1, 2, 3)}
    figure = build.spread(orders, page.words)
    if figure is not None:
        page.section(page.say("spread"), private=True)
        page.text(page.say("spread_lead"))
        page.figure("spread", figure)


def answers(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The range queries of the reader."""
    rows = []
    for t in tables:
        for a in t.answers:
            relative = "–" if a.relative is None else page.local(f"{a.relative:+.1%}")
            off = page.local(f"{a.error:+,.0f}")
            rows.append([a.text, page.number(a.real), page.number(round(a.scaled)), off, relative, t.name])
    if rows:
        page.section(page.say("your_questions"), private=True)
        heads = ("lie_in", "real", "synthetic_scaled", "error", "relative", "table")
        page.table([page.say(head) for head in heads], rows)


def ranges(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Random range queries."""
    scores = found(tables, "range-queries")
    if not scores:
        return
    page.section(page.say("ranges"), private=True)
    page.text(page.say("ranges_lead"))
    page.figure("ranges", build.ranges(scores, tables[0].comparison.n, page.words))
    rows = []
    for n, s in scores.items():
        for w in s.details["worst"][:5]:
            both = (page.number(w["real"]), page.number(w["synthetic"]))
            rows.append([w["query"][:160], *both, page.local(f"{w['error']:+.2%}"), n])
    heads = [page.say(head) for head in ("query", "real", "synthetic", "error", "table")]
    page.table(heads, rows, caption=page.say("ranges_caption"))


def inequality(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Gini indices, Lorenz curves and pay gaps."""
    gini, gap = found(tables, "gini"), found(tables, "pay-gap")
    if not gini:
        return
    page.section(page.say("inequality"), private=True)
    first = next(iter(gini.values())).details
    page.figure("lorenz", build.incomes(gini, page.words))
    if first["group"]:
        title = page.say("gini")
        page.figure("gini-groups", build.groups(gini, "gini", title=title, tickformat=".2f", words=page.words))
    if gap:
        one, other = next(iter(gap.values())).details["sides"]
        title = page.say("mean_by_side", income=first["income"], sides=page.say("minus", first=one, second=other))
        page.figure("gap-groups", build.groups(gap, "gap", title=title, tickformat=",.0f", words=page.words))


def rules(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The rules of the schema, and the share of records that break each; nothing where it has none."""
    first = tables[0].comparison.rules
    if not first:
        return
    private = first[0].real is not None
    page.section(page.say("rules"), private=private)
    page.text(page.say("rules_lead"))
    rows = []
    for i, r in enumerate(first):
        broken = [(r.real, r.real_records)] if r.real is not None else []
        broken += [(b.synthetic, b.synthetic_records) for b in (t.comparison.rules[i] for t in tables)]
        shares = [(page.local(f"{share:.2%}"), page.local(f"{records:,}")) for share, records in broken]
        rows.append([page.sentence(r.rule), *(page.say("share_of_records", share=s, records=n) for s, n in shares)])
    heads = [page.say("rule"), *([page.say("real")] if private else []), *(t.name for t in tables)]
    page.table(heads, rows, caption=page.say("rules_caption"))


def learning(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Train on synthetic, test on real."""
    scores = found(tables, "learning")
    if not scores:
        return
    first = next(iter(scores.values())).details
    models = list(first["train_real"])
    page.section(page.say("learning"), private=True)
    lead = "learning_unseen" if first["held_out"] else "learning_open"
    page.text(page.say(lead, target=first["target"], records=page.number(first["tested_on"])))
    title, trained = page.say(f"learning_{build.learning_measure(first)}"), page.words["page.trained"]
    page.figure("learning", build.learning(scores, title=title, trained=trained, words=page.words))
    measures = list(first["train_real"][models[0]])
    results = [(page.words["real"], first["train_real"])]
    results += [(n, s.details["train_synthetic"]) for n, s in scores.items()]
    rows = [[m, n, *(page.local(f"{r[m][k]:.3f}") for k in measures)] for m in models for n, r in results]
    heads = [page.say("model"), page.say("trained_on"), *(k.upper() for k in measures)]
    page.table(heads, rows, caption=page.say("learning_caption"))


def associations(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The pairs whose association differs most."""
    scores = found(tables, "cramers-v")
    if not scores:
        return
    rows = [
        [" x ".join(w["attributes"]), *(page.local(f"{w[side]:.3f}") for side in ("real", "synthetic")), n]
        for n, s in scores.items()
        for w in s.details["worst"][:5]
    ]
    page.section(page.say("associations"), private=True)
    sentences = [s.sentence for n, s in tables[0].scores.items() if n in ASSOCIATED and isinstance(s, Score)]
    page.text(" ".join(page.sentence(text) for text in sentences))
    heads = [page.say(head) for head in ("pair", "cramers_real", "synthetic", "table")]
    page.table(heads, rows, caption=page.say("associations_caption"))


def missing(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What could not be computed, and why."""
    rows: list[list[Any]] = []
    for t in tables:
        for n, s in t.scores.items():
            if isinstance(s, MetricError):
                rows.append([part(f"metric.{n}", metric_class(n).title, page.words), t.name, error(str(s), page.words)])
    if rows:
        page.section(page.say("missing"))
        page.table([page.say(head) for head in ("metric", "table", "why")], rows)
