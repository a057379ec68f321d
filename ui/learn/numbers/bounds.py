"""Labs on limits: what a release does not hide, what it breaks, and what theorems allow or forbid.

Lab 22: a long watch for one alarm, by the sparse vector and by noise on every day.
Source: Dwork, Naor, Reingold, Rothblum, Vadhan 2009.

Lab 25: a conclusion about everybody reaches those who stayed out too. Source: Kasiviswanathan, Smith 2014.

Lab 26: synthetic stays in hospital whose end lies before their beginning.

Lab 30: MWEM as its theorem has it and as it is used, beside the bound of the theorem. Noise is numpy's, with a seed.
Source: Hardt, Ligett, McSherry 2012, Theorem 2.2.

Lab 31: at which errors results of impossibility speak. Source: Kasiviswanathan, Rudelson, Smith, Ullman 2010 (marginals
that are too exact give the table away); its factors for one case by Qardaji, Yang, Li 2014, as in section 6.1 of Li,
Zhang, Wang 2021; Bun, Ullman, Vadhan 2014 (fingerprinting codes).
"""

import itertools
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy import Budget
from ui.learn.numbers.choosing import above_mark
from ui.learn.numbers.pairs import sample_codes

Floats = NDArray[np.float64]
SEED = 26
STAYS, YEAR = 2_000, 365
Kept = Literal["alone", "pairs", "rule"]
NODES = 2001  # of the integral over the noise of the mark
COLUMNS = ("SEX", "MARST", "EMPSTAT", "CLASSWKR", "OWNERSHP")  # of lab 30, as what follows
RECORDS = (100, 1_000, 10_000, 100_000, 1_000_000)
ROUNDS = (1, 2, 4, 8, 16, 32)
REPLAYS, DRAWS = 8, 3
Variant = Literal["basic", "practical"]
VARIANTS: tuple[Variant, ...] = ("basic", "practical")
WORKED_OUT = (6, 45, 1_000_000)  # attributes of a marginal, yes/no columns, records: the one case with all its factors
THRESHOLD = 1e-64  # of that case: the error of a count, as a share, below which its marginals give the table away
DELTA = 1e-9  # of both lines of lab 31


def found_by_sparse(days: int, gap: float, epsilon: float) -> float:
    """Chance that the sparse vector stays silent on all days but the last, and names that one.

    gap: by how many people quiet days lie below the mark, and the last one above it.
    """
    scores = np.append(np.full(days - 1, -gap), gap)
    return float(above_mark(scores, 0.0, epsilon, 1.0, nodes=NODES)[days - 1])


def found_by_each(days: int, gap: float, epsilon: float) -> float:
    """The same when every day's count gets Laplace noise and all of them share epsilon."""
    wrong = 0.5 * math.exp(-gap * Budget(epsilon=epsilon / days, delta=0.0).epsilon)
    return (1 - wrong) ** days


def conclusion(people: int, ill: float, epsilon: float) -> tuple[float, float, float]:
    """The share of ill smokers that is released with Ann among them and without her, and its standard deviation.

    Ann is ill. The number of smokers is public; two-sided geometric noise on the count of the ill.
    """
    with_ann = round(people * ill) / people
    without = max(0.0, (round(people * ill) - 1) / (people - 1))
    a = math.exp(-Budget(epsilon=epsilon, delta=0.0).epsilon)
    return with_ann, without, math.sqrt(2 * a) / ((1 - a) * people)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stays:
    """Days of admission and discharge (n,), counted from the first of January, and the length that stands beside."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    length: NDArray[np.int64]

    @property
    def backwards(self) -> NDArray[np.bool_]:
        """Stays that end before they begin."""
        return np.asarray(self.end < self.start)

    @property
    def wrong_length(self) -> NDArray[np.bool_]:
        """Stays whose length is not the difference of their days."""
        return np.asarray(self.length != self.end - self.start)


@lru_cache(maxsize=1)
def stays() -> Stays:
    """Invented stays: any day of a year, six nights on average."""
    rng = np.random.default_rng(SEED)
    start = rng.integers(0, YEAR, STAYS)
    length = rng.geometric(1 / 7, STAYS) - 1
    return Stays(start=start, end=start + length, length=length)


@lru_cache(maxsize=64)
def synthetic(kept: Kept, width: int) -> Stays:
    """Synthetic stays of a table that noise did not touch, so that what breaks is the logic alone.

    alone: every column is right by itself. pairs: the three pairs of columns too, in classes of `width` days, and
    values anywhere inside them. rule: as pairs; then the day of discharge is admission plus length.
    """
    rng, real = np.random.default_rng((SEED, width)), stays()
    columns = (real.start, real.end, real.length)
    if kept == "alone":
        start, end, length = map(rng.permutation, columns)
        return Stays(start=start, end=end, length=length)
    start, end, length = (column // width * width + rng.integers(0, width, STAYS) for column in columns)
    return Stays(start=start, end=start + length if kept == "rule" else end, length=length)


@cache
def people() -> tuple[Floats, NDArray[np.bool_]]:
    """The sample's shares of all cells of COLUMNS, (cells,), and the queries, each cell of a pair: (queries, cells)."""
    codes, shape = sample_codes(COLUMNS)
    share = np.bincount(np.ravel_multi_index(tuple(codes), shape), minlength=math.prod(shape)) / codes.shape[1]
    places = np.indices(shape).reshape(len(shape), -1)
    queries = [
        (places[i] == a) & (places[j] == b)
        for i, j in itertools.combinations(range(len(shape)), 2)
        for a, b in itertools.product(range(shape[i]), range(shape[j]))
    ]
    return share, np.array(queries)


def allowed(records: int, epsilon: float, rounds: int) -> float:
    """The largest error of a query, as a share of the records, that the theorem allows to D cells and Q queries.

    2 sqrt(log D / T) + 10 T log Q / (epsilon n) after T rounds, but for a chance of 2 T / Q.
    """
    share, queries = people()
    return 2 * math.sqrt(math.log(share.size) / rounds) + 10 * rounds * math.log(len(queries)) / (epsilon * records)


@lru_cache(maxsize=512)
def largest(variant: Variant, records: int, epsilon: float, rounds: int) -> float:
    """The largest error of a query, as a share of the records, that MWEM makes; mean over DRAWS.

    A round spends epsilon / (2 T) on choosing the query that is furthest off, and as much on its count.
    """
    share, queries = people()
    real = queries @ share
    scale = 2 * rounds / (Budget(epsilon=epsilon, delta=0.0).epsilon * records)
    worst = []
    for draw in range(DRAWS):
        rng = np.random.default_rng((30, records, rounds, draw))
        p = np.full(share.size, 1 / share.size)
        mean, asked = p / (rounds + 1), []
        for _ in range(rounds):
            at = int(np.argmax(np.abs(queries @ p - real) + rng.gumbel(0, 2 * scale, len(real))))
            asked.append((queries[at], real[at] + rng.laplace(0, scale)))
            for _ in range(REPLAYS if variant == "practical" else 1):
                for query, said in asked if variant == "practical" else asked[-1:]:
                    p = p * np.exp(query * (np.clip(said - p[query].sum(), -1, 1) / 2))
                    p /= p.sum()
            mean += p / (rounds + 1)
        worst.append(np.abs(queries @ (mean if variant == "basic" else p) - real).max())
    return float(np.mean(worst))


@lru_cache(maxsize=64)
def plain(records: int, epsilon: float) -> float:
    """The largest error of a query when all pairs are counted with Laplace noise, without any theorem's help."""
    _, queries = people()
    tables = len(COLUMNS) * (len(COLUMNS) - 1) // 2
    noise = np.random.default_rng(30).laplace(0, tables / (epsilon * records), (200, len(queries)))
    return float(np.abs(noise).max(axis=1).mean())


def errors(k: int, columns: int, records: int, epsilon: float) -> dict[str, float]:
    """Errors of one count as shares of the records: what theorems speak of, and what tables have. Orders of magnitude.

    published: below it, all k-way marginals of yes/no columns give most of the table away, with all factors of the
    proof; there in the case that was worked out alone. rebuild: the same without constants and logarithms,
    min(root n, d^((k - 1) / 2)) of n records. fingerprint: below it, no method has all shares of single columns at this
    epsilon, up to constants and logarithms. noise: Gaussian noise on all k-way marginals. fresh: chance alone, a
    fresh sample.
    """
    sigma = Budget(epsilon=epsilon, delta=DELTA).gaussian().sigma(math.sqrt(math.comb(columns, k)))
    return ({"published": THRESHOLD} if (k, columns, records) == WORKED_OUT else {}) | {
        "rebuild": min(math.sqrt(records), columns ** ((k - 1) / 2)) / records,
        "fingerprint": math.sqrt(columns) / (epsilon * records),
        "noise": sigma / records,
        "fresh": 0.5 / math.sqrt(records),
    }


def records_for(error: float = THRESHOLD) -> float:
    """Records at which a fresh sample is off by this much."""
    return (0.5 / error) ** 2
