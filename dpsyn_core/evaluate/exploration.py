"""Pairs, triples and questions worth declaring, from a table that is declared public.

One-ways and the dependence of every pair of a table that is declared public.

Exact counts leave here without noise, so nothing of it may be computed on a private table. The caller passes the
owner's word that the table is public (a simulated sample, or an earlier release of the same survey).

Which three columns of a public table hold more than their three pairs say.

Questions that a public table suggests: those that the schema's names suggest, and tables that pairs do not hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import DPSynError, InputError
from dpsyn_core.evaluate.intake import all_codes
from dpsyn_core.measure import MemoryCounter
from dpsyn_core.questions import Questions, check, templates
from dpsyn_core.schema import AttributeSet, Codec, Domain, Schema

Floats = NDArray[np.float64]
MOST_PAIR_CELLS = 4_000_000  # of one pair of columns; larger ones are named and left out
BATCH_CELLS = 20_000_000  # cells of pairs that are counted at a time: 160 MB
REFUSED = (
    "exploring shows exact counts, so it takes a public table only; say that this one is public (a simulated sample or "
    "an earlier release), or buy knowledge about a private one with budget (dpsyn schema draft --buy)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependence:
    """How far a pair is from independence.

    indif: half the L1 distance of the pair's frequencies from the product of both columns' frequencies, in [0, 1].
    by_chance: the mean of the same for independent columns with these frequencies and as many records.
    """

    pair: AttributeSet
    indif: float
    by_chance: float
    cells: int

    @property
    def excess(self) -> float:
        """What is left of the distance without the part that chance explains, at least 0."""
        return max(self.indif - self.by_chance, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Exploration:
    """What a public table shows.

    codes: (n_attributes, n_records). one_ways: counts of each attribute. pairs: the strongest dependence first.
    left_out: pairs with too many cells to look at.
    """

    schema: Schema
    domain: Domain
    codes: NDArray[np.unsignedinteger]
    one_ways: dict[str, NDArray[np.int64]]
    pairs: list[Dependence]
    left_out: list[AttributeSet]

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.codes.shape[1])

    def counter(self) -> MemoryCounter:
        """Counts the records."""
        return MemoryCounter(self.codes, self.domain)


def explore(table: Any, schema: Schema, *, public: bool) -> Exploration:
    """Looks at a public table.

    Guarantee: none. The counts are exact.

    Args:
        table: pyarrow.
        schema: of the table; need not be confirmed.
        public: the owner's word that the table may be published as it is.

    Raises:
        InputError: the table is not declared public, has no records, or does not fit its schema.
    """
    if not public:
        raise InputError(REFUSED)
    codec = Codec(schema)
    domain = codec.domain
    codes = all_codes(codec, table)
    if not codes.shape[1]:
        msg = "the table has no records, so it shows nothing; give a public table with at least one record"
        raise InputError(msg)
    counter = MemoryCounter(codes, domain)
    ones = dict(zip(domain.names, counter.marginals(domain.singletons()), strict=True))
    size = {p: math.prod(domain.shape(p)) for p in domain.subsets(2)}
    small = [p for p in size if size[p] <= MOST_PAIR_CELLS]
    out: list[Dependence] = []
    start = 0
    while start < len(small):
        stop, cells = start, 0
        while stop < len(small) and (stop == start or cells + size[small[stop]] <= BATCH_CELLS):
            cells += size[small[stop]]
            stop += 1
        tables = counter.marginals(small[start:stop])
        out += [_dependence(p, t) for p, t in zip(small[start:stop], tables, strict=True)]
        start = stop
    out.sort(key=lambda d: (-d.excess, d.pair))
    left_out = [p for p in size if size[p] > MOST_PAIR_CELLS]
    return Exploration(schema=schema, domain=domain, codes=codes, one_ways=ones, pairs=out, left_out=left_out)


def _dependence(pair: AttributeSet, counts: NDArray[np.int64]) -> Dependence:
    """Distance of one pair from independence, and its mean by chance, where counts are Poisson."""
    n = float(counts.sum())
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    distance = float(np.abs(counts - expected).sum()) / (2 * n)
    # mean absolute deviation of a Poisson count: that of a normal one, or twice the mean where that is smaller
    chance = float(np.minimum(np.sqrt(2 * expected / np.pi), 2 * expected).sum()) / (2 * n)
    return Dependence(pair=pair, indif=distance, by_chance=chance, cells=counts.size)


LOOKED_AT = 10  # columns whose triples are looked at, those with the strongest pairs: 120 triples
COARSE = 12  # values of a column in order that are told apart; more say little about a table of three columns
MOST_VALUES = 60  # of a column without order; a longer list leaves too few records in a cell
ROUNDS = 25  # of iterative proportional fitting; tables of this size agree to a few parts in a thousand by then


@dataclass(frozen=True, kw_only=True, slots=True)
class Interaction:
    """How far three columns are from what their pairs say together.

    distance: half the L1 distance of the triple's frequencies from those of the table that has the same pairs and no
    interaction of all three, in [0, 1]. by_chance: about the mean of the same where there is none.
    """

    triple: AttributeSet
    distance: float
    by_chance: float

    @property
    def excess(self) -> float:
        """What is left of the distance without the part that chance explains, at least 0."""
        return max(self.distance - self.by_chance, 0.0)


def interactions(found: Exploration) -> list[Interaction]:
    """The triples of the columns with the strongest pairs, the strongest interaction first."""
    strength = dict.fromkeys(found.domain.names, 0.0)
    for d in found.pairs:
        for name in d.pair:
            strength[name] += d.excess
    few = [a.name for a in found.domain.attributes if a.size >= 2 and (a.ordered or a.size <= MOST_VALUES)]
    chosen = sorted(few, key=lambda name: -strength[name])[:LOOKED_AT]
    ordered = sorted((n for n in chosen if strength[n] > 0), key=found.domain.index)
    columns = {name: _coarse(found, name) for name in ordered}
    rows = [_interaction(triple, [columns[n] for n in triple]) for triple in combinations(ordered, 3)]
    return sorted(rows, key=lambda i: (-i.excess, i.triple))


def _coarse(found: Exploration, name: str) -> tuple[NDArray[np.intp], int]:
    """Codes (n_records,) of a column, at most COARSE runs of neighbours where it has an order; and their number."""
    attribute = found.domain.attributes[found.domain.index(name)]
    codes = found.codes[found.domain.index(name)].astype(np.intp)
    ranked = attribute.size - attribute.special
    if not attribute.ordered or ranked <= COARSE:
        return codes, attribute.size
    counts = np.bincount(codes, minlength=attribute.size)[:ranked]
    middle = (np.cumsum(counts) - counts / 2) / max(int(counts.sum()), 1)
    runs = np.minimum((middle * COARSE).astype(np.intp), COARSE - 1)
    special = COARSE + np.arange(attribute.special)
    return np.concatenate([runs, special])[codes], COARSE + attribute.special


def _interaction(triple: AttributeSet, columns: list[tuple[NDArray[np.intp], int]]) -> Interaction:
    shape = tuple(size for _, size in columns)
    cells = np.ravel_multi_index(tuple(codes for codes, _ in columns), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(float)
    n = counts.sum()
    fitted = _without_interaction(counts)
    distance = float(np.abs(counts - fitted).sum()) / (2 * n)
    # mean absolute deviation of Poisson counts, less what fitting the pairs takes away
    free = np.prod([max(s - 1, 0) for s in shape]) / counts.size
    deviation = np.minimum(np.sqrt(2 * fitted / np.pi), 2 * fitted).sum() * np.sqrt(free)
    return Interaction(triple=triple, distance=distance, by_chance=float(deviation) / (2 * n))


def _without_interaction(counts: Floats) -> Floats:
    """The table of the largest entropy with the same three pairs, by iterative proportional fitting."""
    fitted = np.full(counts.shape, counts.sum() / counts.size)
    for _ in range(ROUNDS):
        for axis in range(3):
            now = fitted.sum(axis=axis, keepdims=True)
            fitted *= np.divide(counts.sum(axis=axis, keepdims=True), now, out=np.zeros_like(now), where=now > 0)
    return fitted


INTERACTS = 0.02  # excess distance from which on a table of three columns is worth declaring
MOST_TABLES = 3  # tables that are proposed; each further question leaves the others less of the budget


def proposed_questions(found: Exploration) -> Questions:
    """Questions to declare before a run on the private table; public, as the explored table was.

    The schema's templates come first. A table of three columns follows where all three together are further than
    chance from what their pairs say, because systems measure pairs by default.
    """
    made: list[Any] = [t.question for t in templates(found.schema)]
    names = {q.name for q in made}
    asked = {frozenset(q.attributes) for q in made}
    tables = 0
    for one in interactions(found):
        if one.excess < INTERACTS or tables == MOST_TABLES:
            break
        name = " x ".join(one.triple)
        if frozenset(one.triple) in asked or name in names:
            continue
        ordered = [found.domain.attributes[found.domain.index(n)] for n in one.triple]
        bins = {a.name: {"count": COARSE} for a in ordered if a.ordered and a.size - a.special > COARSE}
        [question] = Questions.of(
            [{"name": name, "kind": "table", "of": list(one.triple), **({"bins": bins} if bins else {})}]
        ).questions
        try:
            check(question, found.schema)
        except DPSynError:
            continue  # more cells than a question may have
        made.append(question)
        tables += 1
    return Questions(version=1, questions=tuple(made))
