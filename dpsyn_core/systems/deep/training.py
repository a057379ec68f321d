"""Private training: per-example clipping, noise and the optimiser.

Adam with a falling rate for gradients with given noise, and the running mean of the weights that it visits.

Training by noisy sums of clipped gradients; the loss that is shown comes out of the same sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.measure import Outer, Part, SumRule, VectorMap
from dpsyn_core.progress import Progress
from dpsyn_core.systems.deep.discriminant import Others
from dpsyn_core.systems.deep.mixture import Components
from dpsyn_core.systems.deep.model import Seen
from dpsyn_core.systems.deep.network import Machine, Objective, Shape

Floats = NDArray[np.float64]
FIRST, SECOND = 0.9, 0.999  # what stays of the running moments at a step


class Optimiser:
    """Takes noisy mean gradients and moves the weights of several networks, (members, size). Post-processing.

    A layer moves in proportion to the share of its running gradient that is more than noise: where a budget buys
    noise alone, the weights stay where they were instead of wandering. Source: Kingma, Ba 2015, Algorithm 1; Polyak,
    Juditsky 1992; the rate falls as half a cosine.
    """

    def __init__(
        self, weights: Floats, *, rate: float, steps: int, averaging: float, groups: Sequence[int] | None = None
    ) -> None:
        """rate: of the first step. averaging: how much of the running mean stays at a step, in [0, 1).

        groups: lengths of the layers in the order of the weights; None takes all weights as one layer.
        """
        self.weights = weights.copy()
        self._rate, self._steps, self._averaging = rate, steps, averaging
        self._ends = np.cumsum([weights.shape[-1]] if groups is None else [g for g in groups if g])
        self._first, self._second = np.zeros_like(weights), np.zeros_like(weights)
        self._mean = np.zeros_like(weights)
        self._noise = 0.0  # of the running gradient's variance, as a share of one step's
        self._done = 0

    def step(self, gradient: Floats, sigma: Floats | float = 0.0) -> None:
        """One step. sigma: standard deviation of the noise in each number, one a network.

        Raises EngineError for a gradient that is not finite: no table may follow from it.
        """
        if not np.isfinite(gradient).all():
            msg = "a training step gave numbers that are not finite; the run is given up"
            raise EngineError(msg)
        self._done += 1
        rate = self._rate * (1 + math.cos(math.pi * (self._done - 1) / self._steps)) / 2
        self._first += (1 - FIRST) * (gradient - self._first)
        self._second += (1 - SECOND) * (gradient**2 - self._second)
        self._noise = FIRST**2 * self._noise + (1 - FIRST) ** 2
        first = self._first / (1 - FIRST**self._done)
        second = self._second / (1 - SECOND**self._done)
        noise = self._noise / (1 - FIRST**self._done) ** 2 * np.broadcast_to(np.square(sigma), len(gradient))
        move = rate * first / (np.sqrt(second) + 1e-8)
        start = 0
        for end in self._ends:
            power = (first[:, start:end] ** 2).mean(axis=1)
            spread = math.sqrt(2 / max(end - start, 1))  # of the mean square of so many draws
            share = 1 - noise * (1 + 2 * spread) / np.maximum(power, 1e-300)
            self.weights[:, start:end] -= np.clip(share, 0, 1)[:, None] * move[:, start:end]
            start = int(end)
        self._mean = self._averaging * self._mean + (1 - self._averaging) * self.weights

    @property
    def averaged(self) -> Floats:
        """The running mean of the weights; the first weights when no step was taken."""
        if not self._done:
            return self.weights
        mean: Floats = self._mean / (1 - self._averaging**self._done)
        return mean


LOSS_PART = 0.1  # of the clip norm: the coordinate in which a record reports its loss
LOSS_RANGE = 2.0  # a record's loss counts up to so many times that of a decoder that knows nothing
EPOCHS = 20  # values that progress shows of a training


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """rate: of a record to be in a step's sample. clip: largest length of a record's gradient. learning: first rate."""

    steps: int
    rate: float
    clip: float
    learning: float
    averaging: float


@dataclass(frozen=True, kw_only=True)
class LatentEncoding:
    """Where latent values come from: fixed components, or the features themselves for a learned encoder.

    of_record: the features stand behind the latent values, for the variances to follow from them.
    """

    seen: Seen
    components: Components | None
    of_record: bool = False

    def __call__(self, block: Floats) -> Floats:
        """Latent values, or inputs of the encoder, (records, width)."""
        clipped = self.seen.clipped(block)
        features = clipped * self.seen.space.radius
        if self.components is None:
            return features
        latent = self.components(clipped)
        return np.concatenate([latent, features], axis=1) if self.of_record else latent


@dataclass(frozen=True, kw_only=True)
class OthersSeen:
    """What the head of a column sees of a record: the features of all others."""

    seen: Seen
    others: Others

    def __call__(self, block: Floats) -> Floats:
        """Inputs (records, width)."""
        return self.others(self.seen.unclipped(block))


@dataclass(frozen=True, kw_only=True)
class Team:
    """One or several networks of one shape, each for its part of the records: every record teaches one of them.

    part: the network of each record of a block, (records,); None with a single network. The gradients of all
    networks are one vector, zero outside that of the record's network, so that its length is that of one network's
    gradient.
    """

    encoding: LatentEncoding | OthersSeen
    objectives: Sequence[Objective]
    part: Callable[[Floats], NDArray[np.intp]] | None = None

    @property
    def shape(self) -> Shape:
        """Of each network."""
        return self.objectives[0].shape

    @property
    def members(self) -> int:
        """How many networks."""
        return len(self.objectives)

    @property
    def cells(self) -> int:
        """Of the vector of one record: all weights, and a loss a network."""
        return self.members * (self.shape.size + 1)

    @property
    def ignorant(self) -> float:
        """Loss of a decoder that knows nothing, nats a record."""
        blocks = self.encoding.seen.space.blocks
        decoded = (i for g in self.objectives[0].layout.groups for i in g.attributes)
        known_nothing: float = max(sum(blocks[int(i)].entropy for i in decoded), 0.1)
        return known_nothing

    def split(self, flat: Floats) -> Floats:
        """Weights of each network (members, size) of a flat vector in the order of the parts' cells."""
        out = np.empty((self.members, self.shape.size))
        at = here = 0
        for _, (rows, columns) in self.shape.parts:
            each = flat[at : at + rows * columns * self.members].reshape(rows, self.members, columns)
            out[:, here : here + rows * columns] = each.transpose(1, 0, 2).reshape(self.members, -1)
            at += rows * columns * self.members
            here += rows * columns
        return out

    def map(self, machines: Sequence[Machine], weights: Floats, step: int, clip: float) -> VectorMap:
        """From a block of records to their gradients, and their losses on a scale of the clip norm."""
        import torch

        on_device = [torch.as_tensor(w, device=m.device) for w, m in zip(weights, machines, strict=True)]
        noisy = self.objectives[0].noisy
        jitter = self.encoding.seen.jitter(step, self.shape.latent) if noisy else None
        widths = [columns for _, (_, columns) in self.shape.parts]
        unit = LOSS_PART * clip / (LOSS_RANGE * self.ignorant)

        def vectors(block: Floats) -> list[Part]:
            latent, values = self.encoding(block), self.encoding.seen.values(block)
            shaken = None if jitter is None else jitter(block)
            part = np.zeros(len(block), dtype=np.intp) if self.part is None else self.part(block)
            lefts: list[Floats | None] = [None] * len(widths)
            rights = [np.zeros((len(block), self.members, width)) for width in widths]
            losses = np.zeros((len(block), self.members))
            for k in range(self.members):
                # all rows go through every network, so that arithmetic does not depend on who else is in the part
                lost, pairs = machines[k].factors(on_device[k], latent, values, shaken)
                rows = part == k
                losses[rows, k] = np.clip(_array(lost)[rows], 0, LOSS_RANGE * self.ignorant) * unit
                for i, (inputs, slopes) in enumerate(pairs):
                    rights[i][rows, k] = _array(slopes)[rows]
                    if inputs is not None:
                        outputs = _array(inputs)
                        kept = lefts[i]
                        lefts[i] = outputs if kept is None else np.where(rows[:, None], outputs, kept)
            flat = [r.reshape(len(block), -1) for r in rights]
            _shorten(lefts, flat, clip * math.sqrt(1 - LOSS_PART**2))
            parts: list[Part] = [
                right if left is None else Outer(left=left, right=right)
                for left, right in zip(lefts, flat, strict=True)
            ]
            return [*parts, losses]

        return vectors


def _shorten(lefts: Sequence[Floats | None], rights: Sequence[Floats], most: float) -> None:
    """Shortens gradients to `most`, so that clipping them together with the loss leaves the loss as it is."""
    squares = [
        np.einsum("ij,ij->i", r, r) * (1.0 if left is None else np.einsum("ij,ij->i", left, left))
        for left, r in zip(lefts, rights, strict=True)
    ]
    scale = most / np.maximum(np.sqrt(np.sum(squares, axis=0)), most)
    for right in rights:
        np.multiply(right, scale[:, None], out=right)


def _array(tensor: Any) -> Floats:
    out: Floats = tensor.cpu().numpy()
    return out


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """weights: (members, size). losses: mean over the records, nats, one value an epoch."""

    weights: Floats
    losses: tuple[float, ...]


def train(
    team: Team,
    first: Floats,
    take: Callable[[VectorMap], tuple[Floats, float]],
    *,
    schedule: Schedule,
    total: float,
    device: Any,
    progress: Progress,
    shares: Floats | None = None,
    stage: str = "training",
) -> Result:
    """Moves the weights step by step. Everything that it reads came out of the gate.

    Args:
        team: the networks.
        first: weights (members, size).
        take: one noisy sum for a map, with the standard deviation of its noise.
        schedule: of the steps.
        total: released number of records.
        device: of torch.
        progress: receives the mean loss of each epoch, as it was released.
        shares: of the records that each network is for; None for one network.
        stage: what progress calls it.
    """
    machines = [Machine(o, device) for o in team.objectives]
    optimiser = Optimiser(
        first,
        rate=schedule.learning,
        steps=max(schedule.steps, 1),
        averaging=schedule.averaging,
        groups=[rows * columns for _, (rows, columns) in team.shape.parts],
    )
    divisor = max(total, 1.0) * schedule.rate
    each = divisor * np.maximum(np.ones(team.members) if shares is None else shares, 1e-3)
    per_loss = LOSS_RANGE * team.ignorant / (LOSS_PART * schedule.clip)
    losses: list[float] = []
    recent: list[float] = []
    for step in range(schedule.steps):
        values, sigma = take(team.map(machines, optimiser.weights, step, schedule.clip))
        gradient = team.split(values[: -team.members])
        optimiser.step(gradient / each[:, None], sigma / each)
        recent.append(float(values[-team.members :].sum()) / divisor * per_loss)
        if (step + 1) * EPOCHS // schedule.steps > step * EPOCHS // schedule.steps:
            losses.append(float(np.clip(np.mean(recent), 0, LOSS_RANGE * team.ignorant)))
            recent = []
        progress(stage, step + 1, schedule.steps, losses[-1] if losses else None)
    return Result(weights=optimiser.averaged, losses=tuple(losses))


def rule_of(seen: Seen, clip: float, cells: int) -> SumRule:
    """What a sum of vectors of the records as they are seen depends on."""
    return SumRule(features=seen.features, clip=clip, cells=cells)
