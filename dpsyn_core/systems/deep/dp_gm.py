"""DP-GM: the records are divided into parts, with one autoencoder per part. Acs et al. 2018.

Every record belongs to one part, so its gradient is zero for the networks of all others: the gradients of all networks
are one vector whose length is that of a single one, and one noisy sum trains them all. That is parallel composition
without its conditions: nothing is asked of the parts, and an individual may have records in several of them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError
from dpsyn_core.measure import Counter, Gate
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress
from dpsyn_core.systems.base import Synthesizer, Task
from dpsyn_core.systems.deep.decoder import layout_of
from dpsyn_core.systems.deep.dp_vae import LearnedSettings, learned_shape
from dpsyn_core.systems.deep.features import Space
from dpsyn_core.systems.deep.mixture import Components, Mixture
from dpsyn_core.systems.deep.model import ReleasedModels, Seen, Trained
from dpsyn_core.systems.deep.network import Objective, first_weights
from dpsyn_core.systems.deep.p3gm import SEED
from dpsyn_core.systems.deep.settings import GUARANTEE, TargetSettings
from dpsyn_core.systems.deep.system import Deep
from dpsyn_core.systems.deep.training import LatentEncoding, Team
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import setting

Floats = NDArray[np.float64]
MOST_LABELS = 20


@register("dp-gm")
class DPGMConfig(LearnedSettings, TargetSettings):
    """The settings."""

    summary = (
        "One autoencoder for each part of the records: parts found by noisy clustering as published, or one for each "
        "value of the column to predict. For comparisons; take p3gm or rls for a table that will be used."
    )
    guarantee = GUARANTEE

    divide: Literal["clusters", "target"] = setting(
        "clusters",
        "Parts",
        "clusters: found in noisy components, as published. target: the values of the column to predict.",
    )
    clusters: int = setting(3, "Clusters", "Parts, where they are found.", between=(1, 20))
    iterations: int = setting(5, "Iterations", "Of the clustering; each releases one noisy sum.", between=(1, 100))
    components: int = setting(10, "Components", "Most dimensions in which clusters are looked for.", between=(1, 200))
    cluster_share: float = setting(
        0.14,
        "Share of the clustering",
        "Part of the budget for the components and the clusters, where they are found.",
        gt=0,
        lt=1,
    )

    def build(self, task: Task) -> Synthesizer:
        """Refuses to divide by a target that nobody named, or that has too many values."""
        self._check_shares(self.one_way_share + self.cluster_share)
        aim = self.aim(task.domain)
        if self.divide == "target" and aim is None:
            msg = "dp-gm is to divide by the column to predict, and none is named; set target, or divide to 'clusters'"
            raise SettingError(msg)
        if self.divide == "target" and aim is not None and task.domain.sizes[aim] > MOST_LABELS:
            msg = (
                f"the target of dp-gm has {task.domain.sizes[aim]} values, and at most {MOST_LABELS} can have a "
                "network of their own; set divide to 'clusters'"
            )
            raise SettingError(msg)
        return DPGM(self, task)


class DPGM(Deep[DPGMConfig]):
    """Calibrated."""

    @property
    def by_target(self) -> bool:
        """Whether the parts are the values of a column."""
        return self.config.divide == "target"

    def shares(self) -> dict[str, float]:
        """Clusters cost, values of a column do not: their shares are in its one-way."""
        c = self.config
        first = {"one-ways": c.one_way_share}
        if not self.by_target:
            first |= {"components": 0.4 * c.cluster_share, "mixture": 0.6 * c.cluster_share}
        if self.taken:
            return first | {"training": 1 - sum(first.values())}
        return {name: share / sum(first.values()) for name, share in first.items()}

    def sums(self) -> int:
        """The second moment, and one an iteration."""
        return 0 if self.by_target else 1 + self.config.iterations

    def modelled(
        self, counter: Counter, space: Space, *, costs: Mapping[str, Cost], gate: Gate, progress: Progress
    ) -> ReleasedModels:
        """The parts, and the training of all networks together."""
        c = self.config
        seen = Seen.of(space, self.domain)
        aim = self.config.aim(self.domain)
        if self.by_target and aim is not None:
            block = space.blocks[aim]
            shares, part = block.shares, functools.partial(_value, seen=seen, at=aim)
        else:
            components = self.found(counter, seen, c.components, cost=costs["components"], gate=gate)
            each = costs["mixture"].split([1.0] * c.iterations)
            mixture = self.mixed(counter, seen, components, c.clusters, each, tied=False, gate=gate, progress=progress)
            shares, part = mixture.weights, functools.partial(_cluster, seen=seen, found=components, mixture=mixture)
        members = len(shares)
        shape, prior = self.hidden_units(learned_shape(c, space), members), Mixture.standard(c.latent)
        objectives = [Objective(shape=shape, layout=layout_of(space), prior=prior)] * members
        team = Team(encoding=LatentEncoding(seen=seen, components=None), objectives=objectives, part=part)
        first = np.tile(first_weights(shape, None, SEED), (members, 1))
        got = self.trained(counter, team, first, gate=gate, progress=progress, shares=np.asarray(shares))
        model = Trained(
            space=space,
            shape=shape,
            weights=first[0],
            prior=prior,
            components=None,
            noisy=True,
            losses=got.losses,
            settled=False,
        )
        models = [replace(model, weights=w) for w in got.weights]
        if self.by_target and aim is not None:
            models = [replace(m, fixed=(aim, v)) for v, m in enumerate(models)]
        return ReleasedModels(models=tuple(models), shares=tuple(float(s) for s in shares), total=space.total)


def _value(block: Floats, *, seen: Seen, at: int) -> NDArray[np.intp]:
    """The target's coarse value of each record."""
    out: NDArray[np.intp] = seen.values(block)[:, at]
    return out


def _cluster(block: Floats, *, seen: Seen, found: Components, mixture: Mixture) -> NDArray[np.intp]:
    """The most likely cluster of each record."""
    out: NDArray[np.intp] = mixture.scores(found(seen.clipped(block))).argmax(axis=1)
    return out
