"""Heads of a decoder, and the discriminant that draws a target.

The head: the column to predict is decoded last, by a network that sees the other columns of a record.

A decoder gives every column its values by the latent values alone, which blurs what the other columns together say
about the column to predict. The head is trained on real records under noise, and applied to drawn ones.

Where the head begins: what one released sum, of the other columns by the value of the target, says.

A training under noise looks a hundred times at a gradient that is mostly noise. The first of these gradients can be had
for a part of that budget with far less noise, and noise of a given size can be separated from the signal. With the
components it gives the rule of linear discriminant analysis (of linear regression for a number), from which the
training goes on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import shrink_differences
from dpsyn_core.systems.deep.decoder import BlockGroup, drawn, layout_of, settled
from dpsyn_core.systems.deep.features import Block, Space
from dpsyn_core.systems.deep.mixture import Components
from dpsyn_core.systems.deep.network import Shape, decoded

Floats = NDArray[np.float64]
ROUNDS = 20  # of setting the shares of the column's values: a rare one takes some
LONGEST = 1.5  # times the usual length: longer inputs are shortened


@dataclass(frozen=True, kw_only=True)
class Others:
    """Features of all columns but one, as the head sees them: columns of the features, and their greatest length."""

    columns: NDArray[np.intp]
    length: float

    @classmethod
    def of(cls, space: Space, at: int, *, bent: bool = True) -> Others:
        """All but the block at `at`; the usual length follows from the released shares.

        bent: with the squared scores of numbers, whose length makes the noise of a sum larger.
        """
        used = [(b, place) for i, (b, place) in enumerate(zip(space.blocks, space.places, strict=True)) if i != at]
        parts, square = [np.zeros(0, dtype=np.intp)], 0.0
        for block, place in used:
            columns = np.arange(place.start, place.stop)
            if not bent and block.bent:
                columns = np.delete(columns, 1)
            parts.append(columns)
            square += float(block.shares @ (block.features[:, columns - place.start] ** 2).sum(axis=1))
        return cls(columns=np.concatenate(parts), length=max(float(np.sqrt(square)), 0.1))

    def __call__(self, features: Floats) -> Floats:
        """Inputs (records, columns), each record by itself, for all features (records, width)."""
        chosen = features[:, self.columns]
        lengths = np.sqrt(np.einsum("ij,ij->i", chosen, chosen))
        out: Floats = chosen / np.maximum(lengths / (LONGEST * self.length), 1)[:, None]
        return out


@dataclass(frozen=True, kw_only=True)
class Head:
    """The trained network of the column at `at`. Post-processing only."""

    at: int
    shape: Shape
    weights: Floats

    def outputs(self, space: Space, coarse: NDArray[np.intp]) -> Floats:
        """Outputs (records, outputs) for the coarse values of records (records, attributes)."""
        return decoded(self.shape, self.weights, Others.of(space, self.at)(space.featured(coarse)))

    def offsets(self, space: Space, coarse: NDArray[np.intp]) -> Floats:
        """Offsets (1, values) with which these records together have the released shares."""
        return settled(self._group(space), self.outputs(space, coarse), ROUNDS)

    def draw(self, space: Space, coarse: NDArray[np.intp], offsets: Floats, rng: Generator) -> NDArray[np.intp]:
        """Coarse values of the column (records,), by chance, given those of the others."""
        return drawn(self._group(space), self.outputs(space, coarse), offsets, rng)[:, 0]

    def _group(self, space: Space) -> BlockGroup:
        return layout_of(space, [self.at]).groups[0]


REACH = 1.1  # times the usual length of the inputs: the vectors of longer ones are shortened
FARTHEST = 2.0  # standard deviations of a number to predict: scores beyond count as this
LEAST_OWN = 0.2  # least part of a feature's variance that components leave to itself
MOST_SAID = 0.75  # of the target's variance: more is not believed of a linear rule


@dataclass(frozen=True, kw_only=True)
class Classes:
    """The vectors whose sum is released, at most 1 long: what stands for the target, times the inputs of the head.

    table: what stands for each coarse value of the target, (values, rows): a number's score, or one indicator a
    value. others: the inputs of the head.
    """

    table: Floats
    others: Others

    @classmethod
    def of(cls, block: Block, others: Others) -> Classes:
        """Of the target's block."""
        scores = _scores(block)
        if scores is None:
            return cls(table=np.eye(block.size), others=others)
        return cls(table=np.clip(scores / FARTHEST, -1, 1)[:, None], others=others)

    @property
    def length(self) -> float:
        """By which inputs are divided."""
        return REACH * self.others.length

    @property
    def cells(self) -> int:
        """Of the sum."""
        return int(self.table.shape[1]) * len(self.others.columns)


def covered(block: Block, total: float, classes: Classes, noise: float) -> float:
    """Length of the noise in the differences of means, in standard deviations of an input.

    Of all values but the most frequent one, weighted by their shares; 0 for a number, infinite for a single value.
    Post-processing: computed before the sum is released.

    Args:
        block: the target's.
        total: released number of records.
        classes: what is summed.
        noise: standard deviation of each number of the sum.
    """
    if _scores(block) is not None:
        return 0.0
    if block.size < 2:
        return math.inf
    rarer = np.sort(block.shares)[:-1]
    length = noise * classes.length * math.sqrt(len(classes.others.columns))
    return float(len(rarer) * length / (max(total, 1.0) * rarer.sum()))


def linear_start(space: Space, at: int, classes: Classes, found: Components, summed: Floats, noise: float) -> Floats:
    """Weights (inputs + 1, outputs) of the head's linear part; the last row is the constant. Post-processing.

    Differences of means (covariances with a number) are shrunk as far as their noise asks, each by what all of them
    together look like.

    Args:
        space: the blocks, with the released shares.
        at: the target's position.
        classes: what was summed.
        found: the released components.
        summed: noisy sum of its vectors, (rows, inputs).
        noise: standard deviation of each number of it.
    """
    block, total = space.blocks[at], max(space.total, 1.0)
    inputs = _Inputs.of(space, classes.others, found)
    summed, noise = summed * classes.length, noise * classes.length
    scores = _scores(block)
    if scores is not None:
        each = total * max(float(block.shares @ (classes.table[:, 0] * scores)), 1e-3)
        return _regression(block, scores, _shrunk(summed[0] / each, noise / each, inputs.variances), inputs)
    counts = block.shares * total
    spreads = noise * np.sqrt(np.maximum(1 / counts**2 - 2 / (counts * total) + len(counts) / total**2, 1e-30))
    differences = summed / counts[:, None] - summed.sum(axis=0) / total
    most = (1 / block.shares - 1)[:, None] * inputs.variances  # the square of a difference that explains an input
    shrunk = [_shrunk(*each) for each in zip(differences, spreads, most, strict=True)]
    return _discriminant(block, np.stack(shrunk), inputs)


def _scores(block: Block) -> Floats | None:
    """Scores of a number; None for a block that has one output per value."""
    return block.scores if block.ranked > 1 else None


def _shrunk(values: Floats, noise: float, most: Floats) -> Floats:
    """Values of which noise takes what is its share; most: the largest square that each can have, (inputs,)."""
    out: Floats = noise * shrink_differences(values / noise) / (1 + noise**2 / np.maximum(most, 1e-12))
    return out


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    """Covariance of the inputs by the components: loadings (inputs, k), and what is left of the variances (inputs,)."""

    loadings: Floats
    own: Floats
    variances: Floats

    @classmethod
    def of(cls, space: Space, others: Others, found: Components) -> _Inputs:
        loadings = (found.vectors * found.deviations * space.radius)[others.columns]
        variances = np.concatenate([b.shares @ b.features**2 for b in space.blocks])[others.columns]
        variances = np.maximum(variances, 1e-6)
        unique = np.maximum(variances - (loadings**2).sum(axis=1), LEAST_OWN * variances)
        return cls(loadings=loadings, own=unique, variances=variances)

    def solved(self, rows: Floats) -> Floats:
        """The covariance's inverse times each row, (rows, inputs). Source: Woodbury's identity."""
        alone = rows / self.own
        inner = np.eye(self.loadings.shape[1]) + self.loadings.T @ (self.loadings / self.own[:, None])
        out: Floats = alone - np.linalg.solve(inner, (alone @ self.loadings).T).T @ self.loadings.T / self.own
        return out


def _regression(block: Block, scores: Floats, covariance: Floats, inputs: _Inputs) -> Floats:
    """Logits of a score s given its prediction p, which leaves the variance v: s p / v - s^2 (1 / v - 1) / 2."""
    out = np.zeros((len(covariance) + 1, block.outputs))
    slope = inputs.solved(covariance[None, :])[0]
    explained = float(slope @ covariance)
    slope = slope * min(1.0, MOST_SAID / max(explained, 1e-12))
    left = 1 - min(explained, MOST_SAID)
    if block.curves is not None:
        out[:-1, 0] = slope / left
        out[-1, 1] = -(1 / left - 1) / 2
    else:
        ranked = slice(0, block.ranked)
        out[:-1, ranked] = np.outer(slope, scores[ranked]) / left
        out[-1, ranked] = -(scores[ranked] ** 2) * (1 / left - 1) / 2
    return out


def _discriminant(block: Block, differences: Floats, inputs: _Inputs) -> Floats:
    """Logits a x - a d / 2 beside each value's share, d its difference and a = d / S, S the covariance within values.

    Within values the covariance is smaller than that of all records by what the differences take up; where they take
    up more than is plausible they are scaled down.
    """
    out = np.zeros((differences.shape[1] + 1, block.outputs))
    slopes = inputs.solved(differences)
    root = np.sqrt(block.shares)
    taken, vectors = np.linalg.eigh((slopes @ differences.T + differences @ slopes.T) / 2 * np.outer(root, root))
    believed = np.clip(taken, 0, MOST_SAID)
    smaller = (vectors * np.sqrt(believed / np.maximum(taken, 1e-12))) @ vectors.T * np.outer(1 / root, root)
    wider = (vectors / (1 - believed)) @ vectors.T * np.outer(1 / root, root)
    differences, slopes = smaller @ differences, wider @ smaller @ slopes
    out[:-1] = slopes.T
    out[-1] = -0.5 * np.einsum("vi,vi->v", slopes, differences)
    return out
