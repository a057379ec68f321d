"""What the deep systems do in the private phase: one-ways, second moment, mixture, training; and drawing records."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError
from dpsyn_core.estimate import Measurement, ReleasedTables, merged
from dpsyn_core.measure import (
    Counter,
    Gate,
    Outer,
    VectorMap,
    check_widest,
    measure_marginals,
    sampled_charge,
    sum_charge,
)
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.systems.base import Synthesizer, Task
from dpsyn_core.systems.deep import mixture as mixtures
from dpsyn_core.systems.deep.features import Space, space_of
from dpsyn_core.systems.deep.mixture import Components, Mixture, components
from dpsyn_core.systems.deep.model import ReleasedModels, Seen
from dpsyn_core.systems.deep.network import Shape, device, single_blas
from dpsyn_core.systems.deep.settings import MOST_WEIGHTS, DeepSettings
from dpsyn_core.systems.deep.training import Result, Team, rule_of, train
from dpsyn_core.systems.steps import Step, noise_of, share_of

Floats = NDArray[np.float64]
S = TypeVar("S", bound=DeepSettings)
# what is released in a training, and what its progress is called
STAGES = {"training": ("gradients", "training"), "target": ("gradients of the head", "learning the target")}


class Deep(Synthesizer, Generic[S]):
    """Calibrated. A system says how it splits its budget, and what it measures beside one-ways."""

    def __init__(self, config: S, task: Task) -> None:
        """Gaussian noise throughout; a part of delta is kept for the samples of the training."""
        self.config, self.task, self.domain = config, task, task.domain
        self.taken = config.steps_for(task.domain)
        self.headed = config.target_steps(task.domain)
        self.failure = config.spared(task.budget, task.domain)
        self.cost: Cost = task.budget.gaussian(spare_delta=self.failure)
        shares = self.shares()
        self.costs = dict(zip(shares, self.cost.split(list(shares.values())), strict=True))
        self.one_ways = self.costs["one-ways"].split([1.0] * len(self.domain))
        if config.unprotected:
            return
        for rest in (c for n, c in self.costs.items() if n != "one-ways"):
            check_widest(sum_charge("sum", rest, task.unit, kind="sum", cells=1, norm=1 << 24).scale)
        for name, taken in self.trainings().items():
            self._training_charge(name, taken)

    @abstractmethod
    def shares(self) -> dict[str, float]:
        """Parts of the budget by what they pay for, in the order of the releases; they add up to 1."""

    @abstractmethod
    def modelled(
        self, counter: Counter, space: Space, *, costs: Mapping[str, Cost], gate: Gate, progress: Progress
    ) -> ReleasedModels:
        """All that follows the one-ways. costs: what each release may spend."""

    def looked_again(
        self, counter: Counter, ones: list[Measurement], *, gate: Gate
    ) -> tuple[list[Measurement], Mapping[str, Cost]]:
        """One-ways that are measured once more, where that pays, and what the other releases may spend then."""
        del counter, ones, gate
        return [], self.costs

    def again(self) -> Cost | None:
        """What a second look at a one-way may cost; None where nothing is looked at twice."""
        return None

    def sums(self) -> int:
        """How many sums over all records are released."""
        return 0

    def trainings(self) -> dict[str, int]:
        """Steps of each training: of the networks, and of the head that predicts the target."""
        return {name: taken for name, taken in (("training", self.taken), ("target", self.headed)) if taken}

    def failing(self) -> float:
        """Part of delta for the samples of one training."""
        return self.failure / max(len(self.trainings()), 1)

    def _training_charge(self, name: str, taken: int) -> None:
        """Refuses here, where nothing is spent, what cannot be accounted or drawn."""
        charge = sampled_charge(
            name,
            self.costs[name],
            self.task.unit,
            kind="training",
            cells=1,
            norm=1 << 24,
            rate=self.config.sampling,
            steps=taken,
            delta=self.failing(),
        )
        check_widest(charge.scale)

    def steps(self, n_records: float) -> list[Step]:
        """Known before the run, charge by charge."""
        d, sizes = len(self.domain), self.domain.sizes
        share, again = share_of(self.costs["one-ways"], self.cost), self.again()
        second = 0.0 if again is None else share_of(again, self.cost)
        noises = [noise_of(cost, self.task.unit) for cost in (again, self.one_ways[0]) if cost is not None]
        out = [
            Step(
                kind="1-way",
                parts=(d, d + (again is not None)),
                share=(share, share + second),
                sigma=(min(noises), max(noises)),
                cells=(min(sizes), max(sizes)),
            )
        ]
        trained = [self.costs[n] for n in self.trainings()]
        summed = [c for n, c in self.costs.items() if n != "one-ways" and n not in self.trainings()]
        # where the column to predict has few records of a value, its sum takes what would pay its training
        moved = share_of(self.costs["target"], self.cost) if self.headed else 0.0
        if summed:
            share = sum(share_of(c, self.cost) for c in summed)
            out.append(
                Step(kind="sum", parts=(self.sums(),) * 2, share=(share - second, share + moved), cells=(1, 2**40))
            )
        if trained:
            share = sum(share_of(c, self.cost) for c in trained)
            # a hair less is charged where the least noise that pays is found by search
            least, parts = (share - moved) * 0.999, (len(trained) - bool(moved), len(trained))
            out.append(Step(kind="training", parts=parts, share=(least, share), cells=(1, 2**40)))
        return out

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> ReleasedModels:
        """One-ways first: what the networks see of records follows from them."""
        with single_blas():
            return self._measured(counter, gate=gate, progress=progress)

    def _measured(self, counter: Counter, *, gate: Gate, progress: Progress) -> ReleasedModels:
        first = measure_marginals(counter, self.domain.singletons(), self.one_ways, gate=gate)
        again, costs = self.looked_again(counter, first, gate=gate)
        ones = merged([*first, *again])
        progress("measure one-ways", 1, 1)
        aim = self.config.aim(self.domain)
        weights = {} if aim is None else {self.domain.names[aim]: self.weight()}
        space = space_of(self.domain, ones, self.task.n_public, values=self.config.values, weights=weights)
        released = self.modelled(counter, space, costs=costs, gate=gate, progress=progress)
        return replace(released, one_ways=(*first, *again))

    def measurements(self, measured: ReleasedModels) -> ReleasedTables:
        """The one-ways; the sums of vectors are no marginals. Nothing of a system that adds no noise."""
        return ReleasedTables(() if self.config.unprotected else measured.one_ways)

    def weight(self) -> float:
        """Of the target's features."""
        return 1.0

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Records of the trained models."""
        released: ReleasedModels = measured
        with single_blas():
            return released.draw(n_records, rng=rng, progress=progress)

    # ---- the releases that systems are made of

    def found(self, counter: Counter, seen: Seen, most: int, *, cost: Cost, gate: Gate) -> Components:
        """Components of the records: one sum of x x', whose length is that of x squared."""
        width = seen.space.width

        def products(block: Floats) -> list[Outer]:
            x = seen.unclipped(block) / seen.space.radius
            return [Outer(left=x, right=x)]

        got = gate.release_sum(
            "second moment of features", counter, products, rule=rule_of(seen, 1.0, width * width), cost=cost
        )
        second = got.values.reshape(width, width)
        return components(second, max(seen.space.total, 1.0), got.sigma, most)

    def mixed(
        self,
        counter: Counter,
        seen: Seen,
        found: Components,
        parts: int,
        costs: Sequence[Cost],
        *,
        tied: bool,
        gate: Gate,
        progress: Progress,
    ) -> Mixture:
        """A mixture fitted to the components, one sum an iteration."""
        k = found.vectors.shape[1]
        reach = min(1.5 * float(np.sqrt(k)), found.longest)
        mixture = Mixture.first(parts, k)

        def one(block: Floats, now: Mixture) -> list[Floats]:
            return [mixtures.statistics(now, found(seen.clipped(block)), reach, tied=tied)]

        for i, cost in enumerate(costs):
            got = gate.release_sum(
                f"mixture, iteration {i + 1}",
                counter,
                functools.partial(one, now=mixture),
                rule=rule_of(seen, 1.0, mixtures.cells(parts, k, tied=tied)),
                cost=cost,
            )
            mixture = mixtures.maximised(got.values.ravel(), mixture, reach, tied=tied)
            progress("fitting the mixture", i + 1, len(costs))
        return mixture

    def trained(
        self,
        counter: Counter,
        team: Team,
        first: Floats,
        *,
        gate: Gate,
        progress: Progress,
        shares: Floats | None = None,
        name: str = "training",
        longer: float = 1.0,
        faster: float = 1.0,
    ) -> Result:
        """The weights after all steps.

        name: of the training that pays. longer: factor of the clip norm. faster: of the first rate.
        """
        taken = self.trainings().get(name, 0)
        if not taken:
            return Result(weights=first, losses=())
        seen, c = team.encoding.seen, self.config
        schedule = replace(c.schedule(taken), clip=c.clip * longer, learning=c.learning_rate * faster)
        sums = gate.release_sampled_sum(
            STAGES[name][0],
            counter,
            rule=rule_of(seen, schedule.clip, team.cells),
            rate=c.sampling,
            steps=taken,
            cost=self.costs[name],
            delta=self.failing(),
        )

        def take(vectors: VectorMap) -> tuple[Floats, float]:
            got = sums.step(vectors)
            return got.values.ravel(), got.sigma

        return train(
            team,
            first,
            take,
            schedule=schedule,
            total=seen.space.total,
            device=device(c.device, c.name),
            progress=progress,
            shares=shares,
            stage=STAGES[name][1],
        )

    def hidden_units(self, shape: Shape, members: int = 1) -> Shape:
        """The shape, refused when its weights are too many."""
        if shape.size * members > MOST_WEIGHTS:
            msg = (
                f"the networks of {self.config.name} would have {shape.size * members:,} weights, above the cap of "
                f"{MOST_WEIGHTS:,}; lower hidden ({self.config.hidden}) or values ({self.config.values})"
            )
            raise SettingError(msg)
        return shape
