"""A report as one HTML file, for the owner or from released values alone.

Sections of the HTML report that are safe to publish: the guarantee, and what was released.

The HTML report: one file, no network, for a reader who was not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import GOAL_WORDS, Score, metric_class, names
from dpsyn_core.evaluate.noise_error import expected_tvd, interval
from dpsyn_core.evaluate.released_fit import MeasuredFit, row_name
from dpsyn_core.evaluate.shuffled_floor import between
from dpsyn_core.privacy.curves import odds_sentence
from dpsyn_core.privacy.manifest.manifest import Manifest
from dpsyn_core.report import build, sections
from dpsyn_core.report import questions as asked
from dpsyn_core.report.document import ScoredTable, label_of, sample_sentence, verdict_lines
from dpsyn_core.report.page import Page, number, percent

MOST_CHARGES = 200


def guarantee(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What was released, under which guarantee."""
    page.section("What was released, and under which guarantee")
    for t in tables:
        m = t.manifest
        if len(tables) > 1:
            page.heading(t.name)
        if m is None:
            page.text(
                f"“{t.name}” holds {number(t.comparison.whole_m)} records. No manifest was given, so nothing can be "
                "said about its guarantee."
            )
            continue
        if t.receipt is not None and not t.receipt.holds:
            page.text(
                f"“{t.name}” holds {number(t.comparison.whole_m)} records. A manifest was given, but it is not proved "
                f"to be this table's, so that nothing can be said about its guarantee: {t.receipt.sentence}."
            )
            continue
        if not m.private:
            page.stamp("; ".join(m.not_private_because))
        page.text(f"{number(m.n_records)} synthetic records made by “{m.method}”. {m.guarantee}")
        if t.receipt is not None:
            page.text(f"Checked: {t.receipt.sentence}.")
        if m.private:
            page.text(odds_sentence(m.epsilon, m.delta))
        page.certificate("Certificate: every access to the data, versions and seeds", m.certificate())


def released(page: Page, tables: Sequence[ScoredTable]) -> None:
    """From released values alone: what the noise predicts, and whether each table fits what it was made from."""
    known = [t for t in tables if t.comparison.measurements or t.manifest is not None]
    if not known:
        return
    # under a private report this section still is what it was: released values
    promised = all(t.publishable for t in known)
    page.section("From released values alone", safe=promised)
    page.text(
        "Nothing in this section reads the real table: it compares the synthetic records with the noisy counts that "
        "were released, and states the error that the noise predicts."
    )
    for t in known:
        fit = t.scores.get(MeasuredFit.name)
        if len(tables) > 1:
            page.heading(t.name)
        if isinstance(fit, Score):
            page.text(str(fit.sentence))
            rows = sorted(fit.details["marginals"], key=lambda r: -r["expected_tvd"])[:MOST_CHARGES]
            most = " with the most noise" if len(rows) == MOST_CHARGES else ""
            with page.fold(f"The {len(rows)} released marginals{most}"):
                page.table(
                    ["Released marginal", "Cells", "Noise per cell", "95 % interval", "Expected error",
                     "Chi-square a cell"],
                    [
                        [row_name(r), number(r["cells"]), amount(r["sigma"]),
                         f"±{amount(r['interval_95'])}", percent(r["expected_tvd"]), f"{r['chi2_per_cell']:.2f}"]
                        for r in rows
                    ],
                    caption="Standard deviation and interval in records; the error as a share of all records",
                )  # fmt: skip
            options = build.released(t.comparison, t.name, fit)
            if options:
                page.choice(f"released-{t.name}", options, "Released attribute")
        elif t.manifest is not None:
            _charges(page, t, t.manifest)


def _charges(page: Page, t: ScoredTable, m: Manifest) -> None:
    """Expected errors from the manifest alone, when the released values themselves were not given."""
    rows = []
    for c in m.charges[:MOST_CHARGES]:
        if c.sigma:
            marginal = c.name.startswith("marginal")
            error = expected_tvd(c.cells, c.sigma, max(1, m.n_records)) if marginal else None
            rows.append([c.name, number(c.cells), amount(c.sigma), f"±{amount(interval(c.sigma))}", percent(error)])
    page.text("The released values were not given; the manifest alone states the noise of each of them.")
    if rows:
        with page.fold(f"The noise of {len(rows)} released tables"):
            page.table(["Released", "Cells", "Noise per cell", "95 % interval", "Expected error"], rows)


def amount(x: float) -> str:
    """A number of records: three digits when it is small."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


NUMBERS = (  # lead where at least half of the attributes are numbers, for bins say little of these
    ("rank-correlation", "rank correlations of numbers are off by"),
    ("wasserstein", "numbers are off by, in interquartile ranges"),
)
KEPT = ("relations", "of the relations between columns are kept")
HEADLINES = (
    ("tvd-2way", "pairs of attributes differ by"),
    ("range-queries", "a range query is off by"),
    ("nist", "NIST 2018 score"),
    ("pay-gap", "pay-gap rank correlation"),
    ("learning", "trained on synthetic, tested on real"),
    ("measured-fit", "deviation from the released counts"),
)


def html_report(
    schema_name: str, tables: Sequence[ScoredTable], *, bands: Mapping[str, Any] | None = None, made: str = ""
) -> str:
    """The report on one or more synthetic tables, with what reads the real table only when it was given.

    Args:
        schema_name: of all tables.
        tables: scored, the first one leading.
        bands: mean and interval of each metric over repeated runs, from `bands.bands`.
        made: when, as words.
    """
    private = any(t.comparison.real is not None for t in tables)
    who = ", ".join(f"“{t.name}”" for t in tables)
    page = Page(
        f"Report on {schema_name}",
        heading=f"{schema_name}: how good is the synthetic table?",
        label=label_of(tables),
        note=f"Synthetic {'tables' if len(tables) > 1 else 'table'} {who}{', ' + made if made else ''}. "
        + sample_sentence(tables),
    )
    for t in tables:
        for words in verdict_lines(t):
            page.text(words if len(tables) == 1 else f"{t.name}: {words}")
    headlines(page, tables)
    for t in tables:
        asked.section(page, t.name, t.asked, publishable=t.publishable)
    guarantee(page, tables)
    scores_table(page, tables, bands or {})
    sections.rules(page, tables)
    if private:
        sections.pairs(page, tables)
        sections.one_way(page, tables)
        sections.columns(page, tables)
        sections.gaps(page, tables)
        sections.small_groups(page, tables)
        sections.spread(page, tables)
        sections.answers(page, tables)
        sections.ranges(page, tables)
        sections.inequality(page, tables)
        sections.associations(page, tables)
        sections.learning(page, tables)
    released(page, tables)
    sections.missing(page, tables)
    questions(page, tables)
    return page.render()


def headlines(page: Page, tables: Sequence[ScoredTable]) -> None:
    """The few numbers that decide, of the first table."""
    items = []
    listed = tables[0].comparison.domain.attributes
    lead = 2 * sum(a.number for a in listed) >= len(listed)
    for name, words in [KEPT, *NUMBERS, *HEADLINES] if lead else [KEPT, *HEADLINES[:1], *NUMBERS, *HEADLINES[1:]]:
        s = tables[0].scores.get(name)
        if isinstance(s, Score):
            items.append((shown(name, s.value), words, against(tables[0], name, s)))
    page.facts(items[:5])
    if len(tables) > 1:
        page.note(f"Numbers of “{tables[0].name}”; the others stand in the table of scores.")


def shown(name: str, value: float) -> str:
    """A value in the metric's own unit."""
    unit = metric_class(name).unit if name in names() else "share of records"
    if unit in ("share of records", "share of the way"):
        return percent(value)
    if unit.startswith("points"):
        return number(value)
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"


def against(table: ScoredTable, name: str, s: Score) -> str:
    """What to compare a headline with: a fresh sample, and unrelated columns for what sees more than one column."""
    if name == KEPT[0]:
        return "100 %: a fresh sample, 0 %: unrelated columns"
    found = None if table.comparison.real is None else between(table.comparison, name, s)
    if found is not None:
        return f"a fresh sample: {shown(name, found.fresh)}; unrelated columns: {shown(name, found.unrelated)}"
    if s.floor is not None:
        return f"noise alone: {s.floor:.0f}" if name == "measured-fit" else f"a fresh sample: {shown(name, s.floor)}"
    if name == "learning":
        return f"trained on real: {s.details['ceiling']:.3f}"
    if name == "nist":
        return "of 1,000,000"
    return "1 is the same order" if name == "pay-gap" else ""


def scores_table(page: Page, tables: Sequence[ScoredTable], bands: Mapping[str, Any]) -> None:
    """Every score of every table, with the noise floor of the first and the band of repeated runs."""
    wanted = list(dict.fromkeys(n for t in tables for n, s in t.scores.items() if isinstance(s, Score)))
    if not wanted:
        return
    page.section("Scores", private=any(t.comparison.real is not None for t in tables))
    heads = ["Metric", *(t.name for t in tables), "A fresh sample", "Unrelated columns", "Reading"]
    if bands:
        heads.insert(-3, "Mean and 95 % interval")
    rows = []
    for name in wanted:
        scores = [t.scores.get(name) for t in tables]
        floor = next((s.floor for s in scores if isinstance(s, Score) and s.floor is not None), None)
        unrelated = next((b for b in (second_floor(t, name) for t in tables) if b is not None), None)
        known = metric_class(name) if name in names() else None
        row = [
            known.title if known else name,
            *(shown(name, s.value) if isinstance(s, Score) else "–" for s in scores),
            "–" if floor is None else shown(name, floor),
            "–" if unrelated is None else shown(name, unrelated),
            GOAL_WORDS[known.goal] if known else GOAL_WORDS["low"],
        ]
        if bands:
            b = bands.get(name)
            row.insert(
                -3, f"{shown(name, b['mean'])} ({shown(name, b['low'])} to {shown(name, b['high'])})" if b else "–"
            )
        rows.append(row)
    page.table(heads, rows)
    if len(tables) == 1:
        words = [s.sentence for n, s in tables[0].scores.items() if isinstance(s, Score) and n.startswith("tvd")]
        page.text(" ".join(words))


def second_floor(table: ScoredTable, name: str) -> float | None:
    """What unrelated columns score; None where the real table was not given, or a metric sees one column at a time."""
    s = table.scores.get(name)
    if table.comparison.real is None or not isinstance(s, Score):
        return None
    if name == KEPT[0]:
        return 0.0
    found = between(table.comparison, name, s)
    return None if found is None else found.unrelated


def questions(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What each score asks: the key for a reader who was not there."""
    known = [n for n in names() if any(not isinstance(t.scores.get(n, MetricError()), MetricError) for t in tables)]
    page.section("What the scores ask")
    rows = []
    for n in known:
        m = metric_class(n)
        low = "–∞" if m.minimum is None else number(m.minimum)
        high = "∞" if m.maximum is None else number(m.maximum)
        rows.append([m.title, m.question, f"{low} to {high}", m.unit, "real table" if m.reads_private else "released"])
    page.table(["Score", "Question", "Range", "Unit", "Made from"], rows)
