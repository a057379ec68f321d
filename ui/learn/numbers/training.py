"""Lab 19: a model learnt by noisy sums of clipped gradients over samples (DP-SGD), and what every step costs.

The model is logistic regression on invented people, small enough to be trained while somebody waits; the deep systems
train their networks in the same way. Privacy is accounted as the engine does it. Noise here is numpy's, with a seed.
Source: Abadi et al. 2016; Mironov, Talwar, Zhang 2019 (Renyi); Doroshenko et al. 2022 (privacy loss distributions).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ui.learn.numbers.systems import results

Floats = NDArray[np.float64]
SEED = 19
PEOPLE = 2_000
COLUMNS = 30
DELTA = 1e-5
LEARNING = 0.15  # every step moves the weights by this times the mean gradient of the sample
CLIPS = (0.1, 0.3, 1.0, 3.0, 10.0)
NOISES = (0.7, 1.0, 1.5, 2.0, 3.0, 5.0)  # in units of the clip norm
BATCHES = (20, 60, 200, 600)  # expected people in a sample
STEPS = (25, 50, 100, 200, 400, 800)
PLACES = 40  # at which the loss of a run is kept
RUNS = ("free", "clipped", "first", "second")  # nothing; clipping alone; clipping and noise, twice


@dataclass(frozen=True)
class People:
    """x: (people, columns + 1), the last a constant. y: 0 or 1."""

    x: Floats
    y: Floats


@lru_cache(maxsize=2)
def people(which: int = 0) -> People:
    """Invented people: 0 those who are learnt from, 1 others, on whom the model is tried.

    Most have numbers near the middle, a few are far out: their gradients are long.
    """
    rng = np.random.default_rng((SEED, which))
    slope = np.random.default_rng((SEED, 7)).normal(size=COLUMNS)
    far = np.exp(0.6 * rng.normal(size=(PEOPLE, 1)))
    x = rng.normal(size=(PEOPLE, COLUMNS)) * far
    score = 1.6 * x @ slope / np.linalg.norm(slope) - 0.5
    y = (rng.random(PEOPLE) < 1 / (1 + np.exp(-score))).astype(np.float64)
    return People(x=np.concatenate([x, np.ones((PEOPLE, 1))], axis=1), y=y)


def loss(weights: Floats, group: People) -> float:
    """Mean logistic loss, in nats."""
    score = group.x @ weights
    return float(np.mean(np.logaddexp(0, score) - group.y * score))


def right(weights: Floats, group: People) -> float:
    """Share of people whose answer is predicted."""
    return float(((group.x @ weights > 0) == (group.y > 0.5)).mean())


def gradients(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Gradient of each person's loss, (people, columns + 1)."""
    out: Floats = (1 / (1 + np.exp(-(x @ weights))) - y)[:, None] * x
    return out


def lengths(weights: Floats | None = None) -> Floats:
    """Length of each person's gradient, by default at the start of the training."""
    w = np.zeros(COLUMNS + 1) if weights is None else weights
    group = people()
    return np.asarray(np.linalg.norm(gradients(w, group.x, group.y), axis=1))


def shortened(vectors: Floats, clip: float) -> Floats:
    """Vectors (records, cells), the longer ones brought to the length `clip`; none moves a sum by more."""
    return np.asarray(vectors * (clip / np.maximum(np.linalg.norm(vectors, axis=1), clip))[:, None])


@dataclass(frozen=True)
class TrainingRun:
    """at: steps at which the loss was looked at. losses: there, on other people. weights: at the end."""

    at: NDArray[np.int64]
    losses: Floats
    weights: Floats


@lru_cache(maxsize=64)
def trained(clip: float | None, noise: float, batch: int, steps: int, turn: int = 0) -> TrainingRun:
    """One training from weights of zero.

    Each step draws a sample (every person with chance batch / PEOPLE, whoever else is in), sums the clipped gradients,
    adds Gaussian noise of `noise` clip norms to each number, and divides by the expected number of people.

    Args:
        clip: the clip norm; None: gradients as they are, and no noise.
        noise: the noise multiplier.
        batch: expected people in a sample.
        steps: how many.
        turn: tells draws of the noise apart; all runs see the same samples.
    """
    group, others = people(), people(1)
    samples, drawn = np.random.default_rng((SEED, 1)), np.random.default_rng((SEED, 2, turn))
    weights = np.zeros(COLUMNS + 1)
    at = np.unique(np.linspace(0, steps, PLACES + 1).astype(np.int64))
    losses: list[float] = []
    for step in range(steps + 1):
        if step == at[len(losses)]:
            losses.append(loss(weights, others))
        if step == steps:
            break
        taken = samples.random(PEOPLE) < batch / PEOPLE
        own = gradients(weights, group.x[taken], group.y[taken])
        if clip is None:
            total = own.sum(axis=0)
        else:
            total = shortened(own, clip).sum(axis=0) + drawn.normal(0, noise * clip, weights.size)
        weights = weights - LEARNING * total / batch
    return TrainingRun(at=at, losses=np.array(losses), weights=weights)


def runs(clip: float, noise: float, batch: int, steps: int) -> dict[str, TrainingRun]:
    """The four runs of the figure, by the names of RUNS."""
    return {
        "free": trained(None, 0.0, batch, steps),
        "clipped": trained(clip, 0.0, batch, steps),
        "first": trained(clip, noise, batch, steps, 1),
        "second": trained(clip, noise, batch, steps, 2),
    }


def spent(noise: float, batch: int, steps: int) -> tuple[float, float]:
    """Epsilon at DELTA of so many steps, by Renyi divergences and by privacy loss distributions.

    From 20 to 600 milliseconds; `epsilons` has what the lab shows.
    """
    from dpsyn_core.privacy import Charge, Sampling, gdp_epsilon, profiles, renyi_epsilon

    rate = batch / PEOPLE
    charge = Charge(
        name="training", mechanism="sampled-gaussian", sensitivity=1.0, scale=noise, cells=1, sampling=rate, steps=steps
    )
    renyi = renyi_epsilon([charge], DELTA)
    sampling = Sampling(rate=rate, multiplier=noise, steps=steps)
    found = gdp_epsilon(sampling.unsampled_mu, DELTA)
    exact = [float(grid[np.argmax(delta <= DELTA)]) for grid, delta in profiles(sampling) if delta[-1] <= DELTA]
    if exact:
        found = min(found, max(0.0, *exact))
    return (math.inf if renyi is None else renyi), found


def epsilons(noise: float, batch: int) -> tuple[Floats, Floats]:
    """The same after each of STEPS, as `python -m benchmarks.lessons` found them."""
    kept = results("training")["epsilons"]
    both = kept[NOISES.index(noise)][BATCHES.index(batch)]
    return np.asarray(both[0], dtype=np.float64), np.asarray(both[1], dtype=np.float64)


def systems() -> dict[str, Any]:
    """`epsilons`, and for each system AUROC on real people (epsilons, repeats), on Adult.

    Figure 4 of Takagi et al. 2021 has Credit. `real` is what models reach that learn from the real
    records; `paper` what Table VI states for Adult at epsilon 1.
    """
    return dict(results("training")["systems"])
