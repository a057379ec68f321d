"""The verdict on a synthetic table: what share of the relations it keeps, what was lost, and whether to praise it.

No table is praised that is at or beyond the second floor, unrelated columns, in any of the scores that the
verdict rests on, nor of one of which a correlation, a mean or a group has moved. Private.
"""

from __future__ import annotations

from dataclasses import replace

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import column_shifts as moved_columns
from dpsyn_core.evaluate import shifts as moved
from dpsyn_core.evaluate.associations import corrected_v, occupied_cells
from dpsyn_core.evaluate.base import Score
from dpsyn_core.evaluate.comparison import Comparison
from dpsyn_core.evaluate.findings.cells import MISSING
from dpsyn_core.evaluate.findings.columns import of_other_people
from dpsyn_core.evaluate.findings.listed import findings
from dpsyn_core.evaluate.grades import Grade, Lost, Measure, Verdict
from dpsyn_core.evaluate.profile import profiles
from dpsyn_core.evaluate.relations import HALF, RelationsKept, relations
from dpsyn_core.evaluate.shuffled_floor import Between, between, shuffled_score
from dpsyn_core.evaluate.tvd import OneWayTVD, PairwiseTVD
from dpsyn_core.schema import AttributeSet

NEAR = 1.5  # times the error of a fresh sample up to which nothing better is to be had
SMALL, FAIR = 0.03, 0.1  # errors that hardly matter, and beyond which no single column is of use
ALL_KEPT, GONE = 0.9, 0.05  # shares of the relations from which, and up to which, all and none are said to be kept
WRONG = 0.02  # weight of a finding from which on nothing good is said
IMPOSSIBLE = 0.005  # the same of records that cannot be
NAMED = 3  # pairs, means and groups that the sentence names
LISTED = 10  # lost pairs that are listed
STRONGER = 0.02  # a relation that rose by more is another one, and not called lost
APART = 0.97  # of the error of shuffled synthetic columns, below which value by value there are relations


def verdict(c: Comparison) -> Verdict:
    """Once a comparison. Raises MetricError when the real table was not given."""
    if "verdict" not in c.scores:
        c.scores["verdict"] = _verdict(c)
    out: Verdict = c.scores["verdict"]
    return out


def _verdict(c: Comparison) -> Verdict:
    ones = OneWayTVD().score(c)
    pairs = between(c, PairwiseTVD.name)
    kept, why, unclear = None, "", False
    try:
        kept = RelationsKept().score(c).value
    except MetricError as error:
        why = str(error)
        unclear = "relations" in c.scores and bool(c.scores["relations"].pairs)
    means, fixed = moved.means(c), moved_columns.fixed(c)
    empty = {p.column for p in profiles(c) if p.synthetic.distinct == 0}
    still = empty | {x.column for x in fixed}
    correlations = moved.correlations(c)
    shares, groups = moved.shares(c), moved.groups(c)
    dates, days, blanks = moved_columns.dates(c), moved_columns.days(c), moved_columns.blanks(c)
    calm = not (correlations or means or shares or groups or dates or days or blanks or fixed)
    if not calm:  # what is named need not be beyond chance with all others together
        means = moved.means(c, sure=moved.SURE)
    named = sorted([*shares, *groups], key=lambda x: -x.distance)
    others = of_other_people(c)
    level = grade(ones, pairs, kept, calm=calm, others=others)
    if level == "bins" and pairs and pairs.score.value < APART * shuffled_score(c, PairwiseTVD()):
        level = "shares"
    out = Verdict(
        grade="unclear" if unclear and level == "none" else level,
        relations_kept=kept,
        why_none=why,
        ones=ones,
        pairs=pairs,
        correlations=[x for x in correlations if still.isdisjoint(x.columns)][:NAMED],
        means=[x for x in means if x.column not in still][:NAMED],
        groups=[x for x in named if still.isdisjoint((x.column, x.category))][:NAMED],
        dates=[x for x in dates if x.column not in still][:NAMED],
        days=[x for x in days if x.column not in still][:NAMED],
        blanks=blanks[:NAMED],
        fixed=fixed,
        lost=lost(c, correlations, still),
        n=c.n,
        whole=bool(fixed) and all(p.synthetic.distinct <= 1 for p in profiles(c)),
        m=c.m,
    )
    listed = findings(c, out)
    if out.praises and any(f.weight >= (IMPOSSIBLE if f.impossible else WRONG) for f in listed):
        out = replace(out, grade="kept")
    return replace(out, findings=listed)


def grade(ones: Score, pairs: Between | None, kept: float | None, *, calm: bool, others: float = 1.0) -> Grade:
    """Which sentence fits.

    Args:
        ones: of single columns.
        pairs: of pairs, with its floors.
        kept: share of the relations.
        calm: no correlation, mean or group has moved.
        others: the share of the relations that a fresh sample of other people keeps.
    """
    right = ones.value <= max(FAIR, NEAR * (ones.floor or 0.0))
    if not right:
        return "few" if kept is not None else "few_alone"
    if pairs is None:
        return "alone"
    if kept is None:
        return "none"
    if kept <= GONE:
        return "gone"
    if kept < HALF:
        return "weak"
    no_better = pairs.unrelated > pairs.fresh and pairs.score.value >= pairs.unrelated
    if no_better and pairs.score.value > NEAR * pairs.fresh:  # where two samples are as far apart, it is no loss
        return "bins"  # in few groups there are relations, value by value there are none
    small = ones.value <= max(SMALL, NEAR * (ones.floor or 0.0))
    if calm and small and kept >= ALL_KEPT - (1 - others):
        if pairs.score.value <= NEAR * pairs.fresh:
            return "near"
        if pairs.score.value <= SMALL:
            return "good"
    return "kept"


def lost(c: Comparison, correlations: list[moved.MovedPair], still: set[str]) -> list[Lost]:
    """The three rank correlations that moved most, then the pairs that lost most of their relation.

    still: columns that were left with one value or with none.
    """
    try:
        found = relations(c)
        gone = found.lost
        values = [i for i, blank in enumerate(found.blank) if not blank]
        share = {frozenset(found.pairs[i]): float(found.kept[i]) for i in values}
        amount = found.distance - found.fresh
        order = sorted((i for i in values if gone[i]), key=lambda i: -amount[i])
        pairs = [found.pairs[i] for i in order]
    except MetricError:
        share, pairs = {}, []
    out = [
        Lost(
            columns=p.columns,
            measure="rank correlation",
            real=p.real,
            synthetic=p.synthetic,
            kept=share.get(frozenset(p.columns)),
        )
        for p in correlations[:NAMED]
    ]
    names = {frozenset(x.columns) for x in out}
    ranked = {frozenset(p.columns): p for p in correlations}
    for pair in pairs:
        if len(out) >= LISTED:
            break
        if frozenset(pair) in names:
            continue
        rank = ranked.get(frozenset(pair))
        measure, real, synthetic = (
            _measured(c, pair) if rank is None else ("rank correlation", rank.real, rank.synthetic)
        )
        if abs(synthetic) > abs(real) + STRONGER:
            continue
        out.append(
            Lost(
                columns=(pair[0], pair[1]), measure=measure, real=real, synthetic=synthetic, kept=share[frozenset(pair)]
            )
        )
    counts: Measure = "Cramer's V less chance"  # is 0 where there is a single value
    return [x if still.isdisjoint(x.columns) or x.measure == counts else replace(x, synthetic=None) for x in out]


def _measured(c: Comparison, pair: AttributeSet) -> tuple[Measure, float, float]:
    """The strength of a relation that is not one of ranks, in both tables."""
    numbers = [
        n for n in pair if n in {**c.real_values, **c.real_dates} and n in {**c.synthetic_values, **c.synthetic_dates}
    ]
    words = [n for n in pair if not c.readable(n)]
    if len(numbers) == 1 and len(words) == 1:
        a, i = c.domain[words[0]], c.domain.index(words[0])
        sides = zip(c.exact(numbers[0]), (c.truth[i], c.synthetic[i]), strict=True)
        values = a.size - int(c.words(words[0])[-1] == MISSING)  # "(other)" is a value in the file
        real, synthetic = (moved.correlation_ratio(x, codes, values) for x, codes in sides)
        return "correlation ratio", real, synthetic
    tables = ((c.real_counter, c.truth), (c.synthetic_counter, c.synthetic))
    real, synthetic = (corrected_v(occupied_cells(k, codes, c.domain, [pair])[0]) for k, codes in tables)
    return "Cramer's V less chance", real, synthetic
