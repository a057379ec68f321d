"""The decoder's layout: which of its outputs tilt which block's released shares, and the same in padded arrays.

Logits of a block are the logarithm of its released shares plus what the network says: one output a coarse value, or
for numbers of many values the coefficients of a curve over the normal scores. A network that says nothing thus draws
every attribute independently with its released shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.systems.deep.features import Block, Space
from dpsyn_core.systems.deep.mixture import Components

Floats = NDArray[np.float64]
NEVER = -40.0  # logit of a place that no value has: e^-40 is nothing beside any share, and no denormal number
LEAST_LEFT = 0.1  # least part of a number's variance that components leave to chance at the start
ROUNDS = 4  # of setting the shares of drawn values
LEAST_WITHIN = 0.25  # the same for latent values within a category


@dataclass(frozen=True, kw_only=True)
class BlockGroup:
    """Blocks of one kind, padded to the largest of them.

    attributes: positions of the blocks. outputs: positions of their outputs in the network's, (blocks, outputs).
    logs: logarithms of shares (blocks, values), NEVER where padded. curves: (blocks, values, CURVES), or None when
    each value has an output; then `real` says which places hold one, (blocks, values).
    """

    attributes: NDArray[np.intp]
    logs: Floats
    real: NDArray[np.bool_]
    first: int
    last: int
    curves: Floats | None


@dataclass(frozen=True, kw_only=True)
class DecoderLayout:
    """All groups, and the number of outputs."""

    groups: tuple[BlockGroup, ...]
    outputs: int


def layout_of(space: Space, only: Sequence[int] | None = None) -> DecoderLayout:
    """Blocks by kind: those of curves lie behind the others.

    only: positions of the blocks that are decoded; None for all.
    """
    chosen_blocks = range(len(space.blocks)) if only is None else only
    plain = [i for i in chosen_blocks if space.blocks[i].curves is None]
    curved = [i for i in chosen_blocks if space.blocks[i].curves is not None]
    groups, at = [], 0
    for chosen in (plain, curved):
        if not chosen:
            continue
        blocks = [space.blocks[i] for i in chosen]
        widest = max(b.size for b in blocks)
        logs = np.full((len(blocks), widest), NEVER)
        for row, b in zip(logs, blocks, strict=True):
            row[: b.size] = np.log(b.shares)
        curves = None
        if chosen is curved:
            curves = np.zeros((len(blocks), widest, blocks[0].outputs))
            for table, b in zip(curves, blocks, strict=True):
                table[: b.size] = b.curves
        used = sum(b.outputs for b in blocks)
        groups.append(
            BlockGroup(
                attributes=np.array(chosen), logs=logs, real=logs > NEVER / 2, first=at, last=at + used, curves=curves
            )
        )
        at += used
    return DecoderLayout(groups=tuple(groups), outputs=at)


def probabilities(group: BlockGroup, outputs: Floats, offsets: Floats | float = 0.0) -> Floats:
    """Softmax a block, (records, blocks, values), for the network's outputs (records, outputs)."""
    mine = outputs[:, group.first : group.last]
    logits = np.tile(group.logs + offsets, (len(mine), 1, 1))
    if group.curves is None:
        logits[:, group.real] += mine
    else:
        coefficients = mine.reshape(len(mine), len(group.attributes), -1)
        logits += np.matmul(coefficients.transpose(1, 0, 2), group.curves.transpose(0, 2, 1)).transpose(1, 0, 2)
    logits -= logits.max(axis=2, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=2, keepdims=True)
    return logits


def settled(group: BlockGroup, outputs: Floats, rounds: int = ROUNDS) -> Floats:
    """Offsets (blocks, values) with which the network's outputs (records, outputs) together give released shares."""
    shares = np.where(group.real, np.exp(group.logs), 1.0)
    offsets = np.zeros_like(shares)
    for _ in range(rounds):
        got = probabilities(group, outputs, offsets).mean(axis=0)
        change = np.log(shares / np.maximum(got, 1e-12))
        offsets += np.where(group.real, np.clip(change, -3, 3), 0.0)
    return offsets


def drawn(group: BlockGroup, outputs: Floats, offsets: Floats, rng: Generator) -> NDArray[np.intp]:
    """Coarse values (records, blocks), by chance, for the network's outputs (records, outputs)."""
    p = probabilities(group, outputs, offsets)
    np.cumsum(p, axis=2, out=p)
    at = (p < rng.random(p.shape[:2])[:, :, None]).sum(axis=2)
    out: NDArray[np.intp] = np.minimum(at, group.real.sum(axis=1) - 1)
    return out


def linear_start(space: Space, layout: DecoderLayout, found: Components) -> Floats:
    """Weights (k + 1, outputs) of the linear part that the components imply; the last row is the constant.

    Released values alone decide: with z of unit variance, a number's score s has the covariance m with z and the
    variance v = 1 - |m|^2 beside it, so that its logits get s (m z) / v - s^2 (1 / v - 1) / 2; a category's values are
    distinguished by the means of z within them, as in linear discriminant analysis.
    """
    loadings = found.vectors * found.deviations * space.radius  # covariance of features with z
    out = np.zeros((loadings.shape[1] + 1, layout.outputs))
    for group in layout.groups:
        at = group.first
        for i in group.attributes:
            block = space.blocks[i]
            mine = loadings[space.places[i]] / block.weight
            out[:, at : at + block.outputs] = _start(block, mine)
            at += block.outputs
    return out


def _start(block: Block, loadings: Floats) -> Floats:
    """One block's weights (k + 1, outputs) from the covariance of its features with z, (columns, k)."""
    k = loadings.shape[1]
    out = np.zeros((k + 1, block.outputs))
    if block.scores is not None and block.ranked > 1:
        m = loadings[0]
        left = max(1 - float(m @ m), LEAST_LEFT)
        if block.curves is not None:
            out[:k, 0] = m / left
            out[k, 1] = -(1 / left - 1) / 2
        else:
            ranked = slice(0, block.ranked)
            out[:k, ranked] = np.outer(m, block.scores[ranked]) / left
            out[k, ranked] = -(block.scores[ranked] ** 2) * (1 / left - 1) / 2
        return out
    if block.size < 2:
        return out
    centred = np.eye(block.size) - block.shares
    spread = max(float(block.shares @ (centred**2).sum(axis=1)), 0.3)
    means = loadings * np.sqrt(spread) / np.maximum(block.shares, 0.01)[:, None]  # of z within each value
    lengths = np.linalg.norm(means, axis=1)
    means *= np.minimum(1, 2.5 / np.maximum(lengths, 1e-9))[:, None]
    between = (means * block.shares[:, None]).T @ means
    values, vectors = np.linalg.eigh(np.eye(k) - between)
    within = (vectors / np.maximum(values, LEAST_WITHIN)) @ vectors.T
    out[:k] = within @ means.T
    out[k] = -0.5 * np.einsum("vi,ij,vj->v", means, within, means)
    return out
