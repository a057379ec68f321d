"""T4: a black-box attacker who sees synthetic records alone, and what its success proves about epsilon."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from dpsyn_core.measure.counting.memory import MemoryCounter
from dpsyn_core.measure.gate import Gate
from dpsyn_core.privacy.account import Account
from dpsyn_core.privacy.noise.system import SystemNoise
from dpsyn_core.privacy.unit import Unit
from tests.audit.layers import alarm
from tests.audit.world import DOMAIN, Pair, calibrated, main_offer, pairs, served, table


@dataclass(frozen=True)
class Bound:
    """What was proved about one pair: epsilon is at least `lower`, with the given chance of being wrong."""

    pair: str
    runs: int
    lower: float


def tiny_pairs(neighbours):
    """No record against one, and one against two (or one record exchanged)."""
    one, two = [2, 0, 3, 2], [0, 1, 1, 0]
    unit = Unit(neighbours=neighbours)
    if neighbours == "replace":
        return [
            Pair("one record exchanged", table([two]), table([one]), unit),
            Pair("one of two exchanged", table([two, two]), table([two, one]), unit),
        ]
    return [
        Pair("n = 0 and 1", table([]), table([one]), unit),
        Pair("n = 1 and 2", table([two]), table([two, one]), unit),
    ]


def features(codes):
    """Number of records, one-way and two-way counts of synthetic records: (66,)."""
    out = [np.array([codes.shape[1]], dtype=float)]
    wide = codes.astype(np.int64)
    sizes = DOMAIN.sizes
    for i in range(len(sizes)):
        out.append(np.bincount(wide[i], minlength=sizes[i]))
        for j in range(i + 1, len(sizes)):
            out.append(np.bincount(wide[i] * sizes[j] + wide[j], minlength=sizes[i] * sizes[j]))
    return np.concatenate(out)


def outputs(name, pair, runs, *, epsilon, delta):
    """Features of synthetic tables of either side: two arrays (runs, n_features)."""
    system = calibrated(name, pair.unit, epsilon=epsilon, delta=delta)
    rng, noise = np.random.default_rng(), SystemNoise()
    sides = []
    for codes in (pair.left, pair.right):
        counter, rows = MemoryCounter(codes, DOMAIN), []
        for _ in range(runs):
            gate = Gate(account=Account(system.cost, delta=system.failure), noise=noise, unit=pair.unit)
            rows.append(features(system.synthesize(system.measure(counter, gate=gate), None, rng=rng)))
        sides.append(np.array(rows))
    return sides


def scores_of(left, right, train):
    """Scores of every run by several attackers: each feature alone, and a linear discriminant fitted on `train` runs.

    Features are scaled by their spread on training runs; one that never varies counts at twenty times its change.
    """
    both = np.concatenate([left[:train] - left[:train].mean(0), right[:train] - right[:train].mean(0)])
    scale = both.std(0) + 0.05
    a, b, both = left / scale, right / scale, both / scale
    weights = np.linalg.solve(both.T @ both / len(both) + 0.05 * np.eye(len(scale)), (b - a[: len(b)])[:train].mean(0))
    return np.column_stack([a @ weights, a]), np.column_stack([b @ weights, b])


def lower_bound(left, right, delta, chance):
    """Lower bound on epsilon from features of both sides: attackers are chosen on one half, counted on the other.

    Source: Jagielski, Ullman, Oprea 2020. chance: of a bound above the truth, over both directions of the ratio.
    """
    train = min(len(left), len(right)) // 2
    a, b = scores_of(left, right, train)
    best = 0.0
    for high, low in ((b, a), (-a, -b)):
        cuts = np.quantile(np.concatenate([high[:train], low[:train]]), np.linspace(0.02, 0.98, 49), axis=0)
        share_high = (high[:train, None, :] > cuts).mean(0)
        share_low = (low[:train, None, :] > cuts).mean(0)
        error = np.sqrt((1 - share_high) / (share_high * train + 1) + (1 - share_low) / (share_low * train + 1))
        gain = np.log((share_high + 1 / train) / (share_low + 1 / train)) - 2 * error
        cut, attacker = np.unravel_index(np.argmax(gain), gain.shape)
        hits = int((high[train:, attacker] > cuts[cut, attacker]).sum())
        misses = int((low[train:, attacker] > cuts[cut, attacker]).sum())
        n, m = len(high) - train, len(low) - train
        p = beta.ppf(chance / 4, hits, n - hits + 1) if hits else 0.0
        q = beta.ppf(1 - chance / 4, misses + 1, m - misses) if misses < m else 1.0
        if p > delta:
            best = max(best, math.log((p - delta) / q))
    return best


def t4(name, runs=20_000, epsilon=1.0, chance=1e-3 / 20):
    """Bounds on epsilon for six pairs; `runs` is shared by pairs and sides. Raises Alarm when one is above epsilon."""
    neighbours, delta = main_offer(name)
    every = served(name, [*pairs(neighbours), *tiny_pairs(neighbours)])
    each = max(200, runs // (2 * len(every)))
    found = []
    for pair in every:
        left, right = outputs(name, pair, each, epsilon=epsilon, delta=delta)
        bound = lower_bound(left, right, delta, chance / len(every))
        found.append(Bound(pair.name, 2 * each, bound))
        alarm(bound > epsilon, f"{name}, {pair.name}: epsilon is at least {bound:.2f}, promised {epsilon}")
    return found
