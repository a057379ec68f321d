"""Labs 30 and 31: what theorems allow or forbid, beside what is measured.

Lab 30: MWEM as its theorem has it and as it is used, beside the bound of the theorem. Noise is numpy's, with a seed.
Source: Hardt, Ligett, McSherry 2012, Theorem 2.2.

Lab 31: at which errors results of impossibility speak. Source: Ullman, Vadhan 2011 (no quick program makes
synthetic tables with the right pairs of every real one); Bun, Ullman, Vadhan 2014 (fingerprinting codes).
"""

from __future__ import annotations

import itertools
import math
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.lessons.pairs import sample_codes
from dpsyn_core.privacy.budget import Budget

Floats = NDArray[np.float64]
COLUMNS = ("SEX", "MARST", "EMPSTAT", "CLASSWKR", "OWNERSHP")
RECORDS = (100, 1_000, 10_000, 100_000, 1_000_000)
ROUNDS = (1, 2, 4, 8, 16, 32)
REPLAYS, DRAWS = 8, 3
Variant = Literal["basic", "practical"]
VARIANTS: tuple[Variant, ...] = ("basic", "practical")


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


THRESHOLD = 1e-64  # error of a pair below which the hardness of synthetic tables speaks, by the notes on the document
DELTA = 1e-9


def errors(records: float, columns: int, epsilon: float) -> dict[str, float]:
    """Errors of one count as shares of the records: what theorems speak of, and what tables have. Orders of magnitude.

    hardness: below it no quick program makes synthetic tables of every real one. fresh: chance alone, a fresh sample.
    noise: Gaussian noise on all pairs of the columns. fingerprint: below it, the shares of so many columns cannot all
    be told at this epsilon, up to constants and logarithms.
    """
    pairs = columns * (columns - 1) // 2
    return {
        "hardness": THRESHOLD,
        "fresh": 0.5 / math.sqrt(records),
        "noise": Budget(epsilon=epsilon, delta=DELTA).gaussian().sigma(math.sqrt(pairs)) / records,
        "fingerprint": math.sqrt(columns) / (epsilon * records),
    }


def records_for(error: float = THRESHOLD) -> float:
    """Records at which a fresh sample is off by this much."""
    return (0.5 / error) ** 2
