"""Sections of the HTML report that read the real table: figures and tables made from scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import shifts as moved
from dpsyn_core.evaluate.base import Score, metric_class
from dpsyn_core.report import build, figures
from dpsyn_core.report.build import embedded_pairs, pair_tables
from dpsyn_core.report.document import ScoredTable
from dpsyn_core.report.page import Page, number, percent
from dpsyn_core.report.profile import gap_rows, gap_sentences, grouping, groups_figure, lost_groups, profile_rows
from dpsyn_core.report.words import ENGLISH

SHOWN = 60  # rows of means by group: those that are farthest off
CHOICES = 12  # columns whose groups can be chosen
BIN_BY_BIN = (
    " Numbers are compared bin by bin, where a value in the next bin counts as much as one far away: two numbers that "
    "follow each other closely differ much here, and their rank correlation may still be right."
)
WORDS = ("cramers-v", "spearman", "correlation", "itemsets", "pmse")


def columns(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Every column: blank cells, distinct values, mean, deviation and quantiles, real and synthetic."""
    page.section("Every column in figures", private=True)
    page.text(
        "Real, then synthetic. Figures of the two files: blank cells, distinct values, mean, standard deviation and "
        "quantiles. “Not right” names what a fresh sample of the people would hardly have."
    )
    for t in tables:
        if len(tables) > 1:
            page.heading(t.name)
        page.table(
            ["Column", "Blank", "Distinct", "Mean", "Deviation", "Smallest", "Median", "95 %", "Largest", "Not right"],
            profile_rows(t.comparison),
        )


def gaps(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Means of numbers by the values of short categories, the farthest first, and what of them is not right."""
    known = [t for t in tables if moved.gaps(t.comparison)]
    if not known:
        return
    page.section("Differences between groups", private=True)
    page.text(
        "The mean of each number among the records of each value of a short category: first those off by more than "
        "chance, then the farthest."
    )
    for t in known:
        if len(tables) > 1:
            page.heading(t.name)
        said = gap_sentences(t.comparison)
        page.text(" ".join([*(said or [ENGLISH["gaps_none"]]), lost_groups(t.comparison)]).strip())
        page.table(
            ["Number", "Category", "Value", "Records", "Real mean", "Synthetic mean"], gap_rows(t.comparison)[:SHOWN]
        )


def small_groups(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Error by size of group, by a column that the reader chooses."""
    c = tables[0].comparison
    options = {}
    for name in grouping(c)[:CHOICES]:
        options[name] = groups_figure({t.name: t.comparison for t in tables}, name)
    if options:
        page.section("Small groups", private=True)
        page.text(
            "How far the records of each group are off in the other columns, which count in a few stretches of about "
            "equal size; grey: what a fresh sample of the same people would be off by."
        )
        page.choice("small-groups", options, "Groups of")


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
    page.section("Where it differs", private=True)
    page.text(
        "Each cell is a pair of attributes: the share of records that would have to move for the synthetic pair to "
        "match the real one. Choose a cell to see its tables."
        + (" The first table stands above the diagonal, the second below." if rest else "")
        + (BIN_BY_BIN if sum(a.number for a in domain.attributes) > 1 else "")
    )
    page.figure("pairs", figures.pair_map(domain.names, first, rest[0] if rest else None))
    worst = max(scores.values(), key=lambda s: s.value).details["worst"]
    page.table(
        ["Pair", "Records that would have to move", "A fresh sample"],
        [[" x ".join(w["attributes"]), percent(w["tvd"]), percent(w["floor"])] for w in worst],
        caption="The pairs that differ most" + (f" in {max(scores, key=lambda n: scores[n].value)}" if rest else ""),
    )
    sets = domain.subsets(2)
    tvd = np.max([s.details["marginals"]["tvd"] for s in scores.values()], axis=0)
    chosen = embedded_pairs(sets, tvd)
    page.data["pairs"] = {
        "names": list(domain.names),
        "series": list(matrices),
        "triangles": {n: [round(float(v), 5) for v in s.details["marginals"]["tvd"]] for n, s in scores.items()},
        "worst": [domain.index(n) for n in sets[int(np.argmax(tvd))]],
        "panels": {kind: figures.panel(kind) for kind in ("amount", "difference")},
        "panel_layout": figures.panel_layout(),
        **pair_tables([t.comparison for t in tables if t.name in scores], chosen),
    }
    page.pair_panel(list(matrices), partial=len(chosen) < len(sets), count=len(chosen))


def one_way(page: Page, tables: Sequence[ScoredTable]) -> None:
    """One attribute at a time."""
    order = list(build.differences(list(found(tables, "tvd-1way").values()))) or tables[0].comparison.domain.names
    compared = {t.name: t.comparison for t in tables}
    options = {name: build.column(compared, name) for name in order}
    page.section("Single columns", private=True)
    page.text("The attribute that differs most comes first.")
    page.choice("one-way", options, "Attribute")


def spread(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Distribution of TVD over the marginals of each order."""
    words = ((1, "single attributes"), (2, "pairs"), (3, "triples"))
    figure = build.spread({order: found(tables, f"tvd-{k}way") for k, order in words})
    if figure is not None:
        page.section("How the marginals differ", private=True)
        page.text(
            "Boxes hold the middle half of all marginals of one order; the grey mark is the noise floor: what a fresh "
            "sample of the real table, of the same size, would score on average."
        )
        page.figure("spread", figure)


def answers(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The reader's own range queries."""
    rows = [
        [a.text, number(a.real), number(round(a.scaled)), f"{a.error:+,.0f}",
         "–" if a.relative is None else f"{a.relative:+.1%}", t.name]
        for t in tables
        for a in t.answers
    ]  # fmt: skip
    if rows:
        page.section("Your questions", private=True)
        page.table(["Records that lie in", "Real", "Synthetic, scaled", "Error", "Relative", "Table"], rows)


def ranges(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Random range queries."""
    scores = found(tables, "range-queries")
    if not scores:
        return
    page.section("Range queries", private=True)
    page.text(
        "Each dot is the question “how many records lie in this range?” for a random range on one to three "
        "attributes. Dots on the line are answered exactly."
    )
    page.figure("ranges", build.ranges(scores, tables[0].comparison.n))
    rows = [
        [w["query"][:160], number(w["real"]), number(w["synthetic"]), f"{w['error']:+.2%}", n]
        for n, s in scores.items()
        for w in s.details["worst"][:5]
    ]
    page.table(["Query", "Real", "Synthetic", "Error", "Table"], rows, caption="The queries that are furthest off")


def inequality(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Gini indices, Lorenz curves and pay gaps."""
    gini, gap = found(tables, "gini"), found(tables, "pay-gap")
    if not gini:
        return
    page.section("Income inequality", private=True)
    first = next(iter(gini.values())).details
    page.figure("lorenz", build.incomes(gini))
    if first["group"]:
        page.figure("gini-groups", build.groups(gini, "gini", title="Gini index", tickformat=".2f"))
    if gap:
        sides = " minus ".join(next(iter(gap.values())).details["sides"])
        title = f"mean {first['income']}: {sides}"
        page.figure("gap-groups", build.groups(gap, "gap", title=title, tickformat=",.0f"))


def rules(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The rules of the schema, and the share of records that break each; nothing where it has none."""
    first = tables[0].comparison.rules
    if not first:
        return
    private = first[0].real is not None
    page.section("Rules of the schema", private=private)
    page.text("How many records break each rule. A synthetic table of this project breaks none.")
    page.table(
        ["Rule", *(["Real"] if private else []), *(t.name for t in tables)],
        [
            [r.rule, *([f"{r.real:.2%} ({r.real_records:,})"] if r.real is not None else []),
             *(f"{b.synthetic:.2%} ({b.synthetic_records:,})" for b in (t.comparison.rules[i] for t in tables))]
            for i, r in enumerate(first)
        ],
        caption="Records that break a rule",
    )  # fmt: skip


def learning(page: Page, tables: Sequence[ScoredTable]) -> None:
    """Train on synthetic, test on real."""
    scores = found(tables, "learning")
    if not scores:
        return
    first = next(iter(scores.values())).details
    models = list(first["train_real"])
    page.section("Learning from synthetic records", private=True)
    page.text(
        f"Models that predict “{first['target']}”, trained on each table and tested on {number(first['tested_on'])} "
        + ("real records that no table has seen." if first["held_out"] else
           "real records. They were open to the synthesizer, for no held-out table was given.")
    )  # fmt: skip
    title = "R2 on real records" if build.learning_measure(first) == "r2" else "AUROC on real records"
    page.figure("learning", build.learning(scores, title=title))
    measures = list(first["train_real"][models[0]])
    rows = [
        [m, n, *(f"{r[m][k]:.3f}" for k in measures)]
        for m in models
        for n, r in [("real", first["train_real"]), *((n, s.details["train_synthetic"]) for n, s in scores.items())]
    ]
    page.table(["Model", "Trained on", *(k.upper() for k in measures)], rows, caption="Every model and measure")


def associations(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The pairs whose association differs most."""
    scores = found(tables, "cramers-v")
    if not scores:
        return
    rows = [
        [" x ".join(w["attributes"]), f"{w['real']:.3f}", f"{w['synthetic']:.3f}", n]
        for n, s in scores.items()
        for w in s.details["worst"][:5]
    ]
    page.section("Associations", private=True)
    sentences = [str(s.sentence) for n, s in tables[0].scores.items() if n in WORDS and isinstance(s, Score)]
    page.text(" ".join(sentences))
    page.table(
        ["Pair", "Cramer’s V, real", "Synthetic", "Table"], rows, caption="The pairs whose association differs most"
    )


def missing(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What could not be computed, and why."""
    rows: list[list[Any]] = []
    for t in tables:
        rows += [[metric_class(n).title, t.name, str(s)] for n, s in t.scores.items() if isinstance(s, MetricError)]
    if rows:
        page.section("What could not be computed")
        page.table(["Metric", "Table", "Why"], rows)
