"""Labs 28 and 29: which pairs are worth a measurement, and what three tables of pairs tell of a triple.

Lab 28: dependence of pairs (InDif), what noise on them costs, and values that are too rare to have a cell of their own.
Exact figures of the bundled sample, which is invented. Source: Zhang et al. 2021 (PrivSyn), section 4.

Lab 29: maximum entropy, least norm and a linear program. Source: Qardaji, Yang, Li 2014 (PriView), section 4.6.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, ReconstructionRule, compress, make_consistent, reconstruct
from dpsyn_core.privacy import Budget
from dpsyn_core.schema import CodedAttribute, Domain

Floats = NDArray[np.float64]
DELTA = 1e-9
KEPT = (0, 1, 3, 5, 10, 15, 20, 30, 50, 91)  # pairs that are measured
RARE = (0.0, 0.01, 0.03, 0.1)  # values below this share of the records share a cell
HALF_NORMAL_MEAN = math.sqrt(2 / math.pi)


@cache
def _sample() -> tuple[tuple[str, ...], NDArray[np.int64], tuple[int, ...]]:
    """Names, codes and numbers of values of the bundled sample."""
    from dpsyn_core.schema import Codec, sample_schema, sample_table

    encoded = Codec(sample_schema()).encode(sample_table())
    domain = sample_schema().domain()
    return domain.names, encoded.codes.astype(np.int64), domain.sizes


def sample_codes(columns: tuple[str, ...]) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Codes (columns, records) of some columns of the bundled sample, and how many values each has."""
    names, codes, sizes = _sample()
    places = [names.index(c) for c in columns]
    return codes[places], tuple(sizes[i] for i in places)


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplePairs:
    """All pairs of the sample, those that depend most first. All but cells are shares of the records (TVD).

    dependence: from independence, half of InDif over the records. cells: with rare values together. lost: what rare
    values that share a cell lose, if each follows its column alone. noise: on a measured one, of one count's noise.
    """

    names: tuple[tuple[str, str], ...]
    dependence: Floats
    cells: NDArray[np.int64]
    lost: Floats
    records: int

    def noise(self, epsilon: float, kept: int) -> Floats:
        """Expected error of each pair by noise if this many share the budget evenly."""
        sigma = Budget(epsilon=epsilon, delta=DELTA).gaussian().sigma(math.sqrt(max(kept, 1)))
        return np.asarray(np.minimum(self.cells * sigma * HALF_NORMAL_MEAN / (2 * self.records), 1.0))

    def errors(self, epsilon: float, kept: int) -> Floats:
        """Of every pair if the first `kept` are measured and the others are taken to be independent."""
        own = np.minimum(self.noise(epsilon, kept) + self.lost, 1.0)
        return np.concatenate([own[:kept], self.dependence[kept:]])

    def best(self, epsilon: float) -> int:
        """How many of KEPT to measure for the least mean error."""
        return min(KEPT, key=lambda k: float(self.errors(epsilon, k).mean()))


@lru_cache(maxsize=16)
def pairs(rare: float = 0.0) -> SamplePairs:
    """All pairs, with values below this share of the records put together."""
    names, codes, sizes = _sample()
    n = codes.shape[1]
    one_ways = [np.bincount(c, minlength=s).astype(np.float64) for c, s in zip(codes, sizes, strict=True)]
    small = [compress(w, rare * n).recode for w in one_ways]
    found = []
    for a, b in itertools.combinations(range(len(names)), 2):
        table = np.bincount(codes[a] * sizes[b] + codes[b], minlength=sizes[a] * sizes[b]).reshape(sizes[a], sizes[b])
        apart = np.abs(table - np.outer(one_ways[a], one_ways[b]) / n).sum() / (2 * n)
        coarse = small[b].sum(small[a].sum(table, 0), 1)
        again = small[b].expand(small[a].expand(coarse, 0), 1).astype(np.float64)
        for axis, i in ((0, a), (1, b)):  # a value's part of its shared cell
            part = one_ways[i] / np.maximum(small[i].expand(small[i].sum(one_ways[i], 0), 0), 1)
            again = again * (part[:, None] if axis == 0 else part)
        found.append(((names[a], names[b]), apart, coarse.size, np.abs(again - table).sum() / (2 * n)))
    named, apart, cells, lost = zip(*sorted(found, key=lambda f: -f[1]), strict=True)
    return SamplePairs(names=named, dependence=np.array(apart), cells=np.array(cells), lost=np.array(lost), records=n)


Truth = Literal["sample", "chain", "parity"]
TRUTHS: tuple[Truth, ...] = ("sample", "chain", "parity")
RULES: tuple[ReconstructionRule, ...] = ("maximum-entropy", "least-norm", "linear-program")
COLUMNS = ("MARST", "EMPSTAT", "OWNERSHP")
PEOPLE, DRAWS, SWEEPS = 20_000, 5, 300


@cache
def truth(which: Truth) -> Floats:
    """A table of three attributes: of the sample; of a chain, where a third follows from each pair; of a parity."""
    if which == "sample":
        codes, shape = sample_codes(COLUMNS)
        flat = np.ravel_multi_index(tuple(codes), shape)
        return np.bincount(flat, minlength=math.prod(shape)).reshape(shape).astype(np.float64)
    rng = np.random.default_rng(29)
    if which == "chain":
        first, second, third = (rng.dirichlet(np.full(4, a), n) for a, n in ((1.0, 1), (0.7, 4), (1.0, 4)))
        return np.asarray(np.rint(PEOPLE * first[0][:, None, None] * second[:, :, None] * third[None]))
    at = np.indices((4, 4, 4)).sum(axis=0) % 2
    return np.asarray(np.where(at == 0, PEOPLE / 32, 0.0))


@lru_cache(maxsize=256)
def rebuilt(which: Truth, epsilon: float, draw: int = 0) -> dict[ReconstructionRule, Floats]:
    """The table by each rule, from its three pairs with noise, made to agree and to have no negative cell.

    epsilon: infinity for no noise.
    """
    real = truth(which)
    names = ("a", "b", "c")
    domain = Domain(tuple(CodedAttribute(name=n, size=s) for n, s in zip(names, real.shape, strict=True)))
    sigma = 0.0 if math.isinf(epsilon) else Budget(epsilon=epsilon, delta=DELTA).gaussian().sigma(math.sqrt(3))
    rng = np.random.default_rng((29, draw))
    views = []
    for i, j in itertools.combinations(range(3), 2):
        table = real.sum(axis=3 - i - j)
        noisy = table + np.rint(sigma * rng.normal(size=table.shape))
        views.append(Measurement(attributes=(names[i], names[j]), values=noisy, sigma=max(sigma, 1e-6)))
    agreed = make_consistent(views)
    return {r: reconstruct(agreed, domain, names, rule=r, sweeps=SWEEPS).values for r in RULES}


def off(which: Truth, epsilon: float, rule: ReconstructionRule) -> float:
    """Mean distance (TVD) of the rebuilt table from the real one, over DRAWS of the noise."""
    real = truth(which)
    times = 1 if math.isinf(epsilon) else DRAWS
    return float(
        np.mean([np.abs(rebuilt(which, epsilon, i)[rule] - real).sum() / (2 * real.sum()) for i in range(times)])
    )
