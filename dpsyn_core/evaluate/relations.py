"""Relations between columns: how much of them a synthetic table keeps, between two floors.

Every pair of columns is counted in a few groups of about equal size, over the records that have both values; which
cells are blank counts as a separate relation. Numbers that moved as a whole, such as amounts all a third larger, keep
their relations as they keep their rank correlations: they are put into groups by ranks in the table that holds them.
What a pair says beyond its two columns is its table of shares less the product of its margins. The distance of these
between real and synthetic records stands between two that follow in closed form: of a fresh sample of the people, and
of columns that were shuffled one by one. Pairs that are not related in the real table beyond chance have nothing to
lose and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.base import Metric, Score, register
from dpsyn_core.evaluate.comparison import Codes, Comparison, Floats
from dpsyn_core.evaluate.correlations import rank_correlations
from dpsyn_core.evaluate.dependent_rows import rows_as_one
from dpsyn_core.evaluate.shifts import sure_of
from dpsyn_core.schema import AttributeSet, CodedAttribute, Domain

GROUPS = 8  # of one column at most: finer ones hold noise, coarser ones miss what is not a straight line
WIDE, GROUPS_OF_WIDE = 100, 5  # columns above which fewer groups serve, so that all pairs are counted in seconds
EXPECTED = 5  # records that the emptiest cell of an unrelated pair holds on average, as chi-square needs it
FALSE = 0.01  # expected share of pairs that are called related and are not (Benjamini and Hochberg 1995)
FEW_RECORDS = 1000  # below which ranks are looked at as well, since columns have few groups
BATCH = 2048  # pairs counted at a time
MOST_COUNTED = 4_000_000_000  # records times pairs that are counted: some 20 s; more records are drawn from
HALF = 0.5  # share of a relation below which it counts as lost
SURE = 3.0  # standard deviations up to which a table is as good as a fresh sample, and as bad as a shuffled one
DRAWS = 20  # fresh samples by which the spread of their distances is found: pairs with a column in common move together
MOST_DRAWN = 20_000  # real records that these are drawn from, fewer where pairs are many; the spread is scaled
CELLS_DRAWN = 40_000_000  # records times pairs of one draw
WORST = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Relations:
    """The related pairs; arrays of shape (len(pairs),). Private.

    pairs: of attributes. blank: "" for the values of a pair, else the attribute whose blank cells are meant. distance:
    of the synthetic table; fresh, unrelated: what a fresh sample of the people and shuffled columns would score on
    average. deviations: of the distance in a fresh sample. bands: how far below 1 a fresh sample, and how far above 0 a
    shuffled table lies by chance.
    tested: how many were looked at. records: real and synthetic ones that were counted.
    """

    pairs: list[AttributeSet]
    blank: list[str]
    distance: Floats
    fresh: Floats
    unrelated: Floats
    deviations: Floats
    bands: tuple[float, float]
    tested: int
    records: tuple[int, int]

    @property
    def kept(self) -> Floats:
        """Share of the way from unrelated columns (0) to a fresh sample (1), by pair; not clipped."""
        return np.asarray((self.unrelated - self.distance) / (self.unrelated - self.fresh))

    @property
    def raw(self) -> float:
        """The same over all pairs, stronger relations counting more; below 0: worse than unrelated columns."""
        return float((self.unrelated - self.distance).sum() / (self.unrelated - self.fresh).sum())

    @property
    def share(self) -> float:
        """The same from 0 to 1: 1 and 0 also where it differs no more from them than fresh or shuffled tables do."""
        one, none = self.bands
        if self.raw <= none:
            return 0.0
        return 1.0 if self.raw >= 1 - one and not self.lost.any() else min(1.0, self.raw)

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Pairs that keep less than half, by more than chance makes of any of them now and then (Bonferroni)."""
        sure = sure_of(len(self.pairs)) * self.deviations
        return np.asarray((self.kept < HALF) & (self.distance > self.fresh + sure))

    @property
    def clear(self) -> bool:
        """Whether there are relations, and the table could not be a fresh sample and a shuffled one alike."""
        one, none = self.bands
        return len(self.pairs) > 0 and not 1 - one <= self.raw <= none


@register(9)
@dataclass(frozen=True, kw_only=True)
class RelationsKept(Metric):
    """On exact values in groups of about equal size; blank cells are left out, and their pattern counts by itself."""

    name = "relations"
    title = "Relations that are kept"
    question = "How much of the relations between columns is kept: 1 as in a fresh sample, 0 as if shuffled?"
    goal = "high"
    minimum = 0.0
    maximum = 1.0
    unit = "share of the way"
    on = "exact values"

    def compute(self, comparison: Comparison) -> Score:
        """From 0 to 1; the details have it unclipped, and the pairs that lost most."""
        pairs = relations(comparison)
        kept = pairs.kept
        share = pairs.share
        lost = int(pairs.lost.sum())
        order = np.argsort((pairs.distance - pairs.fresh) * -1, kind="stable")
        return Score(
            metric=self.name,
            value=share,
            floor=1.0,
            sentence=f"{share:.0%} of the relations between columns are kept (100%: as in a fresh sample of the same "
            f"people, 0%: as if every column were shuffled); of {len(kept):,} related pairs {lost:,} keep less than "
            "half.",
            details={
                "unclipped": pairs.raw,
                "tested": pairs.tested,
                "related": len(kept),
                "lost": lost,
                "records": {"real": pairs.records[0], "synthetic": pairs.records[1]},
                "worst": [
                    {"attributes": list(pairs.pairs[i]), "blanks_of": pairs.blank[i] or None, "kept": float(kept[i])}
                    for i in order[:WORST].tolist()
                    if kept[i] < 1
                ],
            },
        )


def relations(c: Comparison) -> Relations:
    """The related pairs with their distances, once per comparison. Raises MetricError where no pair is related."""
    if "relations" not in c.scores:
        c.scores["relations"] = _relations(c)
    out: Relations = c.scores["relations"]
    if out.clear:
        return out
    if len(out.pairs):
        msg = f"{out.records[0]:,} real records are too few to tell relations that are kept from lost ones"
    elif len(c.domain) < 2:
        msg = "a single column has no relation to another one"
    elif not out.tested:
        msg = f"{out.records[0]:,} real records are too few, or too much alike, to show a relation between columns"
    else:
        msg = "the real table shows no relation between its columns beyond chance, so that none can be lost"
    raise MetricError(msg)


def _relations(c: Comparison) -> Relations:
    drawn = [_drawn(k, len(c.domain)) for k in (c.n, c.m)]
    pairs, blank, all_of, (n, m) = _described(c, drawn)
    if n < FEW_RECORDS:
        all_of[3] = _of_ranks(c, pairs, blank, all_of[3])
    at = np.flatnonzero(_beyond_chance(all_of[3]) & (all_of[2] > all_of[1]))
    named = [pairs[i] for i in at], [blank[i] for i in at]
    distance, fresh, unrelated, _, spread, alone = all_of[:, at]
    deviations, one = np.sqrt(spread), math.sqrt(spread.sum())
    way = (unrelated - fresh).sum()
    if len(at):
        deviations, one = _of_fresh_samples(c, named, (n, m), deviations)
    bands = (float(one / way), float(SURE * math.sqrt(alone.sum()) / way)) if len(at) else (0.0, 0.0)
    return Relations(
        pairs=named[0],
        blank=named[1],
        distance=distance,
        fresh=fresh,
        unrelated=unrelated,
        deviations=deviations,
        bands=bands,
        tested=len(pairs),
        records=(n, m),
    )


def _of_fresh_samples(
    c: Comparison, named: tuple[list[AttributeSet], list[str]], records: tuple[int, int], usual: Floats
) -> tuple[Floats, float]:
    """The spread of distances of fresh samples: the deviation of each pair, and how far their sum goes now and then.

    Fresh samples are drawn from the real records and measured as the synthetic table is. usual: deviations of pairs
    that the draws do not have, as rare blank cells among fewer records.
    """
    rng = np.random.default_rng(0)
    n, m = records
    most = max(FEW_RECORDS, CELLS_DRAWN // max(1, len(c.domain) * (len(c.domain) - 1) // 2))
    size = min(n, MOST_DRAWN, most)
    size_made = max(1, min(m, round(size * m / n), MOST_DRAWN, most))
    far = np.full((DRAWS, len(usual)), np.nan)
    for k in range(DRAWS):
        kept = rng.permutation(c.n)[:size] if size < c.n else np.arange(c.n)
        pairs, blank, rows, _ = _described(_redrawn(c, kept, rng.choice(kept, size_made)), only=set(named[0]))
        place = {key: i for i, key in enumerate(zip(pairs, blank, strict=True))}
        at = np.array([place.get(key, -1) for key in zip(*named, strict=True)], dtype=np.intp)
        far[k] = np.where(at < 0, np.nan, (rows[0] - rows[1])[at] if len(pairs) else np.nan)
    far *= np.sqrt([rows_as_one(c, *pair) for pair in named[0]])
    scale = math.sqrt(size_made / m)
    seen = ~np.isnan(far).any(axis=0)
    deviations = np.where(seen, scale * np.nan_to_num(far).std(axis=0, ddof=1), usual)
    together = scale * far[:, seen].sum(axis=1)
    others = usual[~seen]
    spread = math.sqrt(float(together.var(ddof=1)) + float((others**2).sum()))
    return deviations, max(0.0, float(together.mean())) + SURE * spread


def _redrawn(c: Comparison, kept: NDArray[np.intp], drawn: NDArray[np.intp]) -> Comparison:
    """Real records in place of both tables."""

    def of(values: Mapping[str, Floats], at: NDArray[np.intp]) -> dict[str, Floats]:
        return {name: x[at] for name, x in values.items()}

    out = replace(
        c,
        real=c.truth[:, kept],
        synthetic=c.truth[:, drawn],
        real_values=of(c.real_values, kept),
        synthetic_values=of(c.real_values, drawn),
        real_dates=of(c.real_dates, kept),
        synthetic_dates=of(c.real_dates, drawn),
        measurements=(),
        held_out=None,
        persons=None,
        shared={},
    )
    out.scores["dependent rows"] = None  # drawn one by one
    return out


def _described(
    c: Comparison, drawn: Sequence[NDArray[np.intp] | None] = (None, None), *, only: Set[AttributeSet] | None = None
) -> tuple[list[AttributeSet], list[str], Floats, tuple[int, int]]:
    """Pairs (of these alone), whose blank cells are meant, the rows of `distances`, and the numbers of records."""
    n, m = (k if d is None else len(d) for k, d in zip((c.n, c.m), drawn, strict=True))
    real, synthetic, sizes = groups(c, drawn[0], drawn[1], by_rank=True)
    usable = np.flatnonzero(np.array(sizes) > 1)
    names = [c.domain.names[i] for i in usable]
    pairs: list[AttributeSet] = []
    blank: list[str] = []
    rows: list[NDArray[np.float64]] = []
    if len(usable) > 1:
        for sets, tables, others in _tables(real[usable], synthetic[usable], names, only):
            as_one = np.array([rows_as_one(c, *pair) for pair in sets])
            for which, parts in _distances(tables, others, (m / n, as_one), math.sqrt(EXPECTED * n)):
                at = np.flatnonzero(~np.isnan(parts[3]))
                pairs += [sets[i] for i in at]
                blank += ["" if which < 0 else sets[i][which] for i in at]
                rows.append(parts[:, at])
    all_of = np.concatenate(rows, axis=1) if rows else np.zeros((6, 0))
    return pairs, blank, all_of, (n, m)


def _of_ranks(c: Comparison, pairs: list[AttributeSet], blank: list[str], chance: Floats) -> Floats:
    """Chances that a rank correlation lowers: few records make few groups, in which chi-square misses a clear slope.

    The smaller of two chances counts twice (Bonferroni). A rank correlation r of n records has the chance of Student's
    t with r sqrt((n - 2) / (1 - r^2)).
    """
    from scipy.stats import t as student

    names = c.sortable
    if len(names) < 2:
        return chance
    columns = [c.exact(name)[0] for name in names]
    matrix, at = rank_correlations(columns), {name: i for i, name in enumerate(names)}
    valid = np.array([~np.isnan(x) for x in columns], dtype=float)
    both = valid @ valid.T
    ranked = [k for k, (a, b) in enumerate(pairs) if not blank[k] and a in at and b in at]
    i, j = (np.array([at[pairs[k][side]] for k in ranked], dtype=np.intp) for side in (0, 1))
    free, r = np.maximum(both[i, j] - 2, 1), np.clip(matrix[i, j], -1 + 1e-12, 1 - 1e-12)
    out = np.array(chance)
    slope = 2 * student.sf(np.abs(r) * np.sqrt(free / (1 - r**2)), free)
    out[ranked] = np.minimum(1, 2 * np.minimum(out[ranked], slope))
    return out


def _drawn(n: int, columns: int) -> NDArray[np.intp] | None:
    """Which records are counted, where all would take minutes; None: all."""
    most = max(10_000, MOST_COUNTED // max(1, columns * (columns - 1) // 2))
    if n <= most:
        return None
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False, shuffle=False))


def groups(
    c: Comparison, of_real: NDArray[np.intp] | None, of_synthetic: NDArray[np.intp] | None, *, by_rank: bool = False
) -> tuple[Codes, Codes, list[int]]:
    """Both tables in groups, uint8 (n_attributes, records), the last group of all for blank cells; groups a column.

    The groups follow from the real table: stretches between its quantiles, or its commonest values and the others,
    which are cut into several groups where they are many. Each holds enough records for two unrelated columns to have
    EXPECTED of them in each cell. by_rank: synthetic numbers are cut at synthetic quantiles where that gives groups
    of more nearly the real sizes.
    """
    kept = [slice(None) if d is None else d for d in (of_real, of_synthetic)]
    n = c.n if of_real is None else len(of_real)
    m = c.m if of_synthetic is None else len(of_synthetic)
    most = GROUPS if len(c.domain) <= WIDE else GROUPS_OF_WIDE
    real, synthetic = np.zeros((len(c.domain), n), np.uint8), np.zeros((len(c.domain), m), np.uint8)
    sizes = []
    for i, a in enumerate(c.domain.attributes):
        if c.numeric(a.name):
            pair = [x[k] for x, k in zip(c.exact(a.name), kept, strict=True)]
            codes, size = _stretches(pair, most, n, by_rank=by_rank)
        else:
            codes, size = _commonest([c.truth[i][kept[0]], c.synthetic[i][kept[1]]], a, most, n)
        real[i], synthetic[i] = codes
        sizes.append(size)
    return real, synthetic, sizes


def _stretches(pair: list[Floats], most: int, n: int, *, by_rank: bool) -> tuple[list[Codes], int]:
    valid = pair[0][~np.isnan(pair[0])]
    count = min(most, int(len(valid) / math.sqrt(EXPECTED * n)))
    if count < 2:
        return [np.where(np.isnan(x), GROUPS, 0).astype(np.uint8) for x in pair], 1 + _some_blank(pair[0], n)
    edges = np.unique(np.quantile(valid, np.arange(1, count) / count, method="inverted_cdf"))
    edges = edges[edges < valid.max()]
    cut = [edges, _own_edges(valid, pair[1], edges) if by_rank else edges]
    out = [
        np.where(np.isnan(x), GROUPS, np.searchsorted(e, x)).astype(np.uint8) for x, e in zip(pair, cut, strict=True)
    ]
    return out, len(edges) + 1 + _some_blank(pair[0], n)


def _own_edges(real: Floats, synthetic: Floats, edges: Floats) -> Floats:
    """Edges for synthetic numbers: synthetic quantiles, or the real ones where these leave groups of like sizes."""
    synth = np.sort(synthetic[~np.isnan(synthetic)])
    if not len(synth):
        return edges
    below = np.searchsorted(np.sort(real), edges, side="right") / len(real)
    at = synth[np.minimum((below * len(synth)).astype(np.intp), len(synth) - 1)]
    ends = np.stack([np.searchsorted(synth, at, side=side) for side in ("left", "right")]) / len(synth)
    inside = np.abs(ends[1] - below) <= np.abs(ends[0] - below)  # ties stay together, on the nearer side
    edge = np.where(inside, at, np.nextafter(at, -np.inf))
    shares = [np.diff(np.searchsorted(synth, e, side="right") / len(synth), prepend=0, append=1) for e in (edges, edge)]
    far = [np.abs(s - np.diff(below, prepend=0, append=1)).sum() for s in shares]
    return edge if far[1] < far[0] else edges


def _some_blank(x: Floats, n: int) -> int:
    return int(int(np.isnan(x).sum()) >= math.sqrt(EXPECTED * n))


def _commonest(pair: list[Codes], a: CodedAttribute, most: int, n: int) -> tuple[list[Codes], int]:
    counts = np.bincount(pair[0], minlength=a.size)
    plain = counts[: a.size - a.special]
    least = math.sqrt(EXPECTED * n)
    order = np.argsort(-plain, kind="stable")
    large = order[plain[order] >= least]
    rest = int(plain.sum() - plain[large].sum())
    if len(large) > most or (len(large) == most and rest >= least):
        large = large[: most - 1]
    elif len(large) > 1 and 0 < rest < least:
        large = large[:-1]  # too few others for a group of their own: they go with the smallest one
    code = np.full(a.size, len(large), dtype=np.uint8)
    code[large] = np.arange(len(large))
    small = np.setdiff1d(np.arange(len(plain)), large)
    kept = plain[small]
    parts = min(most - len(large), int(kept.sum() / (2 * least)))  # twice: no part then has less than one value needs
    if parts > 1:  # such as 150 shops, none of which is common: neighbours in the list go together
        code[small] += np.minimum((np.cumsum(kept) - kept / 2) * parts / kept.sum(), parts - 1).astype(np.uint8)
    code[a.size - a.special :] = GROUPS
    groups = len(large) + max(parts, int(kept.any()))
    return [code[x] for x in pair], groups + int(counts[a.size - a.special :].sum() >= least)


def _tables(
    real: Codes, synthetic: Codes, names: list[str], only: Set[AttributeSet] | None
) -> Iterator[tuple[list[AttributeSet], NDArray[np.int64], NDArray[np.int64]]]:
    """Counts of all pairs, some at a time: (pairs, GROUPS + 1, GROUPS + 1) of both tables, blank cells last."""
    from dpsyn_core.measure import MemoryCounter  # compiles kernels

    domain = Domain(tuple(CodedAttribute(name=n, size=GROUPS + 1) for n in names))
    counters = [MemoryCounter(codes, domain) for codes in (real, synthetic)]
    pairs = [pair for pair in domain.subsets(2) if only is None or pair in only]
    for start in range(0, len(pairs), BATCH):
        sets = pairs[start : start + BATCH]
        first, second = (np.stack(k.marginals(sets)) for k in counters)
        yield sets, first, second


def _distances(
    real: NDArray[np.int64], synthetic: NDArray[np.int64], counted: tuple[float, Floats], least: float
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """(-1, of the values of the pairs), then of the blank cells of their first and of their second columns."""
    ratio, as_one = counted
    yield -1, distances(real[:, :GROUPS, :GROUPS], synthetic[:, :GROUPS, :GROUPS], ratio, as_one)
    for which in (0, 1):
        first, second = (t if which == 0 else t.transpose(0, 2, 1) for t in (real, synthetic))
        blanks = first[:, GROUPS].sum(axis=1)
        some = (blanks >= least) & (first.sum(axis=(1, 2)) - blanks >= least)
        if some.any():
            out = np.full((6, len(first)), np.nan)
            halves = [np.stack([t[some, :GROUPS].sum(axis=1), t[some, GROUPS]], axis=1) for t in (first, second)]
            out[:, some] = distances(halves[0], halves[1], ratio, as_one[some])
            yield which, out


def distances(
    real: NDArray[np.int64], synthetic: NDArray[np.int64], ratio: float, as_one: Floats | float = 1.0
) -> NDArray[np.float64]:
    """Of tables of counts (pairs, r, c), six rows that describe their distance.

    The distance, its mean in a fresh sample and in shuffled columns, a p-value, and its variance in these two. The
    p-value is that of the chi-square test of independence on the real table, NaN where a column is constant. The
    distance is half the sum over the cells of |D - E|, D and E being shares less products of margins. In a fresh
    sample of m records E is D plus noise of variance E[((1_a - p_a)(1_b - p_b))^2] / m - D^2 / m; in shuffled columns
    it is noise of variance p_a (1 - p_a) p_b (1 - p_b) / m.

    Args:
        real: counts.
        synthetic: counts.
        ratio: synthetic records by real ones, which says how large a fresh sample is.
        as_one: rows of the real table that count as one, by pair.
    """
    from scipy.stats import chi2

    n, got = (np.maximum(t.sum(axis=(1, 2)), 1).astype(float) for t in (real, synthetic))
    p, q = real / n[:, None, None], synthetic / got[:, None, None]
    a, b = p.sum(axis=2)[:, :, None], p.sum(axis=1)[:, None, :]
    whole = p - a * b
    synth = q - q.sum(axis=2)[:, :, None] * q.sum(axis=1)[:, None, :]
    m = (n * ratio)[:, None, None]
    fourth = (
        p * (1 - a) ** 2 * (1 - b) ** 2
        + (a - p) * (1 - a) ** 2 * b**2
        + (b - p) * a**2 * (1 - b) ** 2
        + (1 - a - b + p) * a**2 * b**2
    )
    sampled = np.sqrt(np.maximum(fourth - whole**2, 0) / m * np.reshape(as_one, (-1, 1, 1)))
    alone = np.sqrt(np.maximum(a * (1 - a) * b * (1 - b), 0) / m)  # shares may add up to a little more than 1
    with np.errstate(invalid="ignore", divide="ignore"):
        square = np.nansum(np.where(a * b > 0, whole**2 / (a * b), 0.0), axis=(1, 2)) * n / as_one
    free = (np.count_nonzero(a, axis=(1, 2)) - 1) * (np.count_nonzero(b, axis=(1, 2)) - 1)
    chance = np.where(free > 0, chi2.sf(square, np.maximum(free, 1)), np.nan)
    cells = np.count_nonzero(a, axis=(1, 2)) * np.count_nonzero(b, axis=(1, 2))
    uneven = cells / np.maximum(free, 1) / 4  # the rows and columns of D sum to 0: its cells vary together
    mean = [_folded(np.zeros_like(whole), sampled), _folded(whole, alone)]
    square = [sampled**2, alone**2 + whole**2]
    return np.stack(
        [
            np.abs(whole - synth).sum(axis=(1, 2)) / 2,
            mean[0].sum(axis=(1, 2)) / 2,
            mean[1].sum(axis=(1, 2)) / 2,
            chance,
            (square[0] - mean[0] ** 2).sum(axis=(1, 2)) * uneven,
            (square[1] - mean[1] ** 2).sum(axis=(1, 2)) * uneven,
        ]
    )


def _folded(mean: Floats, deviation: Floats) -> Floats:
    """E|mean + deviation N(0, 1)|."""
    from scipy.special import ndtr

    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(deviation > 0, mean / deviation, 0.0)
    around = deviation * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) + mean * (2 * ndtr(z) - 1)
    return np.where(deviation > 0, around, np.abs(mean))


def _beyond_chance(chance: Floats) -> NDArray[np.bool_]:
    """Which p-values are small enough for at most FALSE of the chosen ones to be wrong, on average."""
    if not len(chance):
        return np.zeros(0, dtype=bool)
    ordered = np.sort(chance)
    below = np.flatnonzero(ordered <= FALSE * np.arange(1, len(ordered) + 1) / len(ordered))
    return chance <= (ordered[below[-1]] if len(below) else -1.0)
