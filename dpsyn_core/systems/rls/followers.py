"""Finds with budget which columns follow from others, as a country from a city, and measures their tables.

A noisy number of exceptions (`score_exceptions`) says of likely pairs of columns whether one follows from the other.
Where it does, the table of both is measured with all of their values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, compress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import NO_RECODES, Coarsening, Follower, Measurement, Together
from dpsyn_core.measure import Gate, exceptions_noise, measure_marginals, score_exceptions
from dpsyn_core.privacy import Cost
from dpsyn_core.systems.rls.budget import Noise
from dpsyn_core.systems.rls.evidence import RlsEvidence
from dpsyn_core.systems.rls.hierarchies import entropy

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter

Floats = NDArray[np.float64]
SPECIAL = ("special", "zero")  # kinds of values that may be decided in one column alone
MOST = 12  # columns of a group that are scored together


@dataclass(frozen=True, kw_only=True, slots=True)
class LikelyFollower:
    """A column that may follow from another one. alone: exceptions, in records, if they did not depend: at least."""

    name: str
    of: str
    alone: float


def candidates(view: RlsEvidence) -> list[LikelyFollower]:
    """Pairs in which one column may follow from the other by public sizes and released counts, the clearest first.

    What follows is no more varied than what it follows from, its values hold the whole values of the finer column, and
    its exceptions would be many if it did not follow. Post-processing.
    """
    t, domain, total = view.tuning.followers, view.domain, max(view.total, 1.0)
    counts = [np.maximum(c, 0.0) for c in view.one_ways]
    varied = [entropy(c) for c in counts]
    order = sorted(range(len(domain)), key=lambda i: (-varied[i], i))
    out = []
    for i, j in combinations(order, 2):
        fine, coarse = domain.attributes[i], domain.attributes[j]
        if view.agreements.marks(domain.ordered_set((fine.name, coarse.name))) is not None:
            continue
        if coarse.size < 2 or fine.size * coarse.size > t.most_cells:
            continue
        alone = _exceptions_alone(counts[i], counts[j])
        noise = math.hypot(view.counted[i], view.counted[j])
        if alone > t.least * total and _may_hold(counts[i], counts[j], t.away * noise, t.few):
            out.append(LikelyFollower(name=coarse.name, of=fine.name, alone=alone))
    return sorted(out, key=lambda c: -c.alone)


def measure_followers(
    counter: Counter, view: RlsEvidence, *, cost: Cost, noise: Noise, gate: Gate
) -> tuple[list[Measurement], tuple[Follower, ...], Cost]:
    """Scores the likely pairs, measures the tables of those that follow, and says what is left of the cost.

    As many pairs are scored as `FollowerChoice.score` of the cost can distinguish; where these need less, less is
    spent, and nothing where no pair is likely. Those that seem to follow are scored once more for as much, which says
    how many exceptions there are.
    """
    t, total = view.tuning.followers, max(view.total, 1.0)
    likely, most = candidates(view), cost.scaled(t.score)
    while likely and exceptions_noise(len(likely), most, noise.unit) > likely[-1].alone / t.clear:
        likely.pop()
    if not likely:
        return [], (), cost

    def scored(of: Sequence[LikelyFollower], cost: Cost) -> tuple[Floats, float]:
        sets = [view.domain.ordered_set((c.name, c.of)) for c in of]
        whole = [NO_RECODES] * len(sets)
        return score_exceptions(counter, sets, [c.of for c in of], whole, cost=cost, gate=gate)

    needed = 2 * t.clear * exceptions_noise(len(likely), most, noise.unit) / likely[-1].alone
    first = most.scaled(min(1.0, needed ** (1 / noise.root)))
    cost = cost.less(first)
    scores, sigma = scored(likely, first)
    near = [
        c
        for c, s in zip(likely, scores, strict=True)
        if s - t.apart * sigma <= t.exceptions * total and s + t.apart * sigma <= t.part * c.alone
    ]
    if not near:
        return [], (), cost
    cost = cost.less(most)
    scores, sigma = scored(near, most)
    usual = _usual(view, cost, noise)
    best = {c.name: min(float(s) for d, s in zip(near, scores, strict=True) if d.name == c.name) for c in near}
    shares = {
        (c.of, c.name): float(s) / total if s > t.seen * sigma else 0.0
        for c, s in zip(near, scores, strict=True)
        if s - t.apart * sigma <= t.exceptions * total
        and s <= best[c.name] + t.apart * sigma
        and max(float(s), 0.0) + t.apart * sigma <= t.worth * view.domain.cells((c.name, c.of)) * usual
        and s <= t.part_marks * t.worth * view.domain.cells((c.name, c.of)) * usual
    }
    if not shares:
        return [], (), cost
    followers = tuple(_followers(shares, view))
    parts = [_part(view, f, cost, noise) for f in followers]
    parts = [p * min(1.0, t.tables / sum(parts)) for p in parts]
    clear = [_wrong(view, f, cost.scaled(p), noise) <= t.wrong for f, p in zip(followers, parts, strict=True)]
    followers, parts = tuple(compress(followers, clear)), list(compress(parts, clear))
    if not followers:
        return [], (), cost
    *costs, left = cost.split([*parts, 1 - sum(parts)])
    tables = measure_marginals(counter, [view.domain.ordered_set((f.name, f.of)) for f in followers], costs, gate=gate)
    return tables, followers, left


def _usual(view: RlsEvidence, cost: Cost, noise: Noise) -> float:
    """Noise of a cell, were its table one of a pair like others."""
    return noise.of_cell(cost.scaled(1 / (2 * len(view.domain))))


def _followers(exceptions: Mapping[tuple[str, str], float], view: RlsEvidence) -> Iterator[Follower]:
    """Each column that follows, from the least varied of those that it follows from: its map is the surest.

    exceptions: share of the records, by (fine column, the one that follows). Those of a chain are of its root, which
    says more than the column in between, where it was scored.
    """
    varied = {n: entropy(np.maximum(c, 0.0)) for n, c in zip(view.domain.names, view.one_ways, strict=True)}
    of = {name: min((f for f, n in exceptions if n == name), key=varied.__getitem__) for _, name in exceptions}
    for name, parent in of.items():
        root = parent
        while root in of:
            root = of[root]
        yield Follower(name=name, of=parent, exceptions=exceptions.get((root, name), exceptions[parent, name]))


def _wrong(view: RlsEvidence, follower: Follower, cost: Cost, noise: Noise) -> float:
    """Share of the records that get a wrong value from the table of a follower at this cost, at most."""
    counts = np.maximum(view.one_ways[view.domain.index(follower.of)], 0.0)
    away = counts / (2 * noise.of_cell(cost))  # of two cells, over the root of 2
    others = view.domain[follower.name].size - 1
    wrong = counts @ np.minimum(1.0, others * np.array([math.erfc(a) / 2 for a in away]))
    return float(wrong) / max(view.total, 1.0)


def _part(view: RlsEvidence, follower: Follower, cost: Cost, noise: Noise) -> float:
    """Of the cost, for the table of a follower: records with a wrong value against what pairs lose."""
    t, d = view.tuning.followers, len(view.domain)

    def lost(part: float) -> float:
        wrong = _wrong(view, follower, cost.scaled(part), noise)
        return wrong * (1 + t.others * (d - 1)) + part * t.pairs * d * (d - 1) / 4

    return min(t.parts, key=lost)


def _exceptions_alone(fine: Floats, coarse: Floats) -> float:
    """Exceptions, in records, that two independent columns with these counts have, at least about."""
    share = float(coarse.max()) / max(float(coarse.sum()), 1e-9)
    spread = math.sqrt(2 * math.log(len(coarse)) * share * (1 - share))
    return float((fine - np.minimum(fine, fine * share + spread * np.sqrt(fine))).sum())


def _sums(counts: Floats) -> Floats:
    """Of all subsets of these counts."""
    out = np.zeros(1)
    for count in counts:
        out = np.concatenate([out, out + count])
    return out


def _may_hold(fine: Floats, coarse: Floats, noise: float, few: int) -> bool:
    """Whether the values of the finer column can be divided among those of the other one, up to this much noise.

    Of few values that stand out of noise, all sums are tried.
    """
    if coarse.max() < fine.max() - noise:
        return False
    large = fine[fine > noise / 2]
    if len(large) > few:
        return True
    sums, slack = _sums(large), float(fine.sum() - large.sum())
    away = noise * math.sqrt(max(len(large) / 2, 1.0))
    return all(bool(((sums <= c + away) & (sums >= c - away - slack)).any()) for c in coarse if c > noise)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A value of a column that may stand for "not asked", or 0: its code, and the released number of its records."""

    name: str
    code: int
    count: float
    sigma: float

    def recode(self, size: int) -> Coarsening:
        """This value, and all others."""
        return Coarsening.of((np.arange(size) == self.code).astype(np.intp))


def _marks(view: RlsEvidence) -> dict[tuple[object, ...], list[Mark]]:
    """Values that may stand for "not asked", by what makes them alike: special values, zeros, ends of equal lists."""
    t, out = view.tuning.followers, dict[tuple[object, ...], list[Mark]]()
    for a, counts, sigma in zip(view.domain.attributes, view.one_ways, view.counted, strict=True):
        plain = a.size - a.special
        codes: dict[int, tuple[object, ...]] = {c: ("special", a.size - c) for c in range(plain, a.size)}
        codes |= {0: ("zero",)} if a.number else {c: (a.size, c) for c in (0, plain - 1) if plain > 2}
        for code, key in codes.items():
            if t.least * view.total < counts[code] < (1 - t.least) * view.total:
                out.setdefault(key, []).append(Mark(name=a.name, code=code, count=float(counts[code]), sigma=sigma))
    return out


def _alike(marks: Sequence[Mark], away: float) -> Iterator[list[Mark]]:
    """Runs of values of which no count differs from the mean of those below it by more than their noise.

    In the order of the domain.
    """
    order = {m.name: i for i, m in enumerate(marks)}
    run: list[Mark] = []
    for m in sorted(marks, key=lambda m: m.count):
        if run:
            mean, noise = sum(r.count for r in run) / len(run), run[0].sigma / math.sqrt(len(run))
            if m.count - mean > away * math.hypot(m.sigma, noise):
                yield sorted(run, key=lambda m: order[m.name])
                run = []
        run.append(m)
    yield sorted(run, key=lambda m: order[m.name])


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Whether values of several columns stand in the same records; by: whether this column decides a value."""

    marks: Sequence[Mark]
    alone: float
    by: str | None = None


def measure_together(
    counter: Counter, view: RlsEvidence, *, cost: Cost, noise: Noise, gate: Gate
) -> tuple[tuple[Together, ...], Cost]:
    """Values that columns have in the same records, the columns that decide them, and what is left of the cost.

    Values of several columns with the same released count are scored as one group, by the records in which not all
    agree, and once more where these may be few. Then columns of few values are scored for deciding a group, or a zero
    or a special value of one column, where some of their counts add up to it.
    """
    t, total = view.tuning.followers, max(view.total, 1.0)
    score = partial(_agreeing, counter, view, noise=noise, gate=gate)
    marks = _marks(view)
    runs = [run for listed in marks.values() for run in _alike(listed, t.seen) if len(run) > 1]
    parts = [np.array([m.count for m in run]) / total for run in runs]
    apart = [total * float(1 - p.prod() - (1 - p).prod()) for p in parts]
    asked = [Question(marks=r, alone=a) for r, a in zip(runs, apart, strict=True)]
    agree, cost = score(sorted(asked, key=lambda q: -q.alone), cost=cost, share=t.runs)
    agree, cost = score([a.question for a in agree], cost=cost, share=t.runs, before=agree)
    groups: list[list[Mark]] = []
    for one in agree:
        free = [m for m in one.question.marks if all(m.name != n.name for g in groups for n in g)]
        groups += [free] if len(free) > 1 else []
    inside = {m.name for g in groups for m in g}
    single = [[m] for key, listed in marks.items() if key[0] in SPECIAL for m in listed if m.name not in inside]
    out: list[Together] = []
    for listed, share in ((groups, t.groups), (single, t.score)):
        likely = [(rank, q) for g in listed for rank, q in enumerate(_deciding(view, g))]
        likely.sort(key=lambda x: (x[0], -x[1].alone))
        decided, cost = score([q for _, q in likely], cost=cost, share=share)
        by = {d.question.marks[0]: d.question.by for d in reversed(decided)}
        for group in listed:
            codes: dict[str, tuple[int, ...]] = {m.name: (m.code,) for m in group}
            name = by.get(group[0])
            if name is not None:
                part = cost.scaled(t.marks)
                cost = cost.less(part)
                codes = _which(view, name, group, counter, part, gate) | codes
            out += [Together(codes=codes)] if len(codes) > 1 else []
    return tuple(out), cost


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreed:
    """A question whose exceptions are few: their noisy number, and the standard deviation of its noise."""

    question: Question
    exceptions: float
    sigma: float


def _agreeing(
    counter: Counter,
    view: RlsEvidence,
    questions: Sequence[Question],
    *,
    cost: Cost,
    noise: Noise,
    gate: Gate,
    share: float,
    before: Sequence[Agreed] = (),
) -> tuple[list[Agreed], Cost]:
    """Those with few enough exceptions, and what is left of the cost; the first ones where not all can be scored.

    States of people in one wave and the next have nearly equal counts, and some records change. Where there may be more
    than few exceptions, or surely are some, a table of the columns must have more error than these.

    Args:
        counter: exact counts.
        view: the released one-ways.
        questions: to score.
        cost: of pairs.
        noise: of this run.
        gate: through which the scores are released.
        share: of the cost, for these scores.
        before: what was found of the same questions; both scores count then, and decide: exceptions must be fewer than
            a part of what a table would be off by, for they stay in all tables of the columns.
    """
    t, domain, total = view.tuning.followers, view.domain, max(view.total, 1.0)
    most, asked = cost.scaled(share), list(questions)

    def noisy() -> float:
        """Noise of a score, over what the least of them may have."""
        return exceptions_noise(len(asked), most, noise.unit) * t.clear_marks / max(min(q.alone for q in asked), 1e-9)

    while asked and not before and noisy() > 1:
        asked.pop()
    if not asked:
        return [], cost
    sets = [domain.ordered_set([*(m.name for m in q.marks[:MOST]), *([q.by] if q.by else [])]) for q in asked]
    usual = t.worth * _usual(view, cost, noise)
    errors = [usual * math.prod(sorted(domain[n].size for n in names)[:2]) for names in sets]
    scores, sigma = score_exceptions(
        counter,
        sets,
        [q.by for q in asked],
        [{m.name: m.recode(domain[m.name].size) for m in q.marks[:MOST]} for q in asked],
        cost=most,
        gate=gate,
    )
    if before:
        precise = sigma**-2 + before[0].sigma ** -2
        scores = (scores * sigma**-2 + np.array([b.exceptions / b.sigma**2 for b in before])) / precise
        sigma = precise**-0.5
    away = t.apart * sigma
    few = [
        s <= t.part_marks * min(q.alone, error)
        if before
        else s - away <= t.exceptions * total
        and s + away <= max(t.few_marks * q.alone, min(t.part_marks * q.alone, error))
        and s <= max(t.seen * sigma, error)
        for q, error, s in zip(asked, errors, scores, strict=True)
    ]
    found = [Agreed(question=q, exceptions=float(s), sigma=sigma) for q, s in zip(asked, scores, strict=True)]
    return list(compress(found, few)), cost.less(most)


def _deciding(view: RlsEvidence, group: Sequence[Mark]) -> list[Question]:
    """Columns that may decide a group: some of their counts add up to it; first those where chance does so least."""
    t, mark, rest = view.tuning.followers, group[0], view.total - group[0].count
    names, likely = {m.name for m in group}, []
    for a, counts, sigma in zip(view.domain.attributes, view.one_ways, view.counted, strict=True):
        mass, noise = np.maximum(counts, 0.0), math.hypot(sigma, mark.sigma)
        if a.name in names or not 1 < a.size <= t.few:
            continue
        if _may_hold(mass, np.array([mark.count, rest]), t.away * noise, t.few):
            sums = _sums(mass[mass > noise])
            likely.append((len(sums) * (float(np.abs(sums - mark.count).min()) + noise), a.name))
    alone = max(min(mark.count, rest), 0.0)
    return [Question(marks=group[:1], by=name, alone=alone) for _, name in sorted(likely)[: t.deciding]]


def _which(
    view: RlsEvidence, name: str, group: Sequence[Mark], counter: Counter, cost: Cost, gate: Gate
) -> dict[str, tuple[int, ...]]:
    """The values of a column whose records have the mark of a group, by the noisy table of its first column.

    Nothing where all values have it, or none, or where their released counts do not add up to that of each mark: most
    of the dead of a wave were dead two waves before, but that others died since is no exception.
    """
    mark = group[0]
    pair = view.domain.ordered_set((name, mark.name))
    recodes = {mark.name: mark.recode(view.domain[mark.name].size)}
    (m,) = measure_marginals(counter, [pair], [cost], gate=gate, recodes=recodes)
    values = m.values if pair[0] == name else m.values.T
    codes = tuple(int(i) for i in np.flatnonzero(values[:, 1] - values[:, 0] > view.tuning.followers.apart * m.sigma))
    place, away = view.domain.index(name), view.tuning.followers.away
    count, sigma = float(view.one_ways[place][list(codes)].sum()), view.counted[place] * math.sqrt(len(codes))
    agrees = all(abs(count - m.count) <= away * math.hypot(sigma, m.sigma) for m in group)
    return {name: codes} if 0 < len(codes) < len(values) and agrees else {}
