"""DP-VAE: a variational autoencoder whose encoder and decoder are both trained under noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from dpsyn_core.counting.base import Counter
from dpsyn_core.errors import SettingError
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.progress import Progress
from dpsyn_core.synthesizers.base import Synthesizer, Task
from dpsyn_core.synthesizers.deep.decoder import layout_of
from dpsyn_core.synthesizers.deep.features import Space
from dpsyn_core.synthesizers.deep.mixture import Mixture
from dpsyn_core.synthesizers.deep.network import Objective, Shape, first_weights
from dpsyn_core.synthesizers.deep.p3gm import SEED
from dpsyn_core.synthesizers.deep.seen import Seen
from dpsyn_core.synthesizers.deep.settings import GUARANTEE, DeepSettings
from dpsyn_core.synthesizers.deep.system import Deep
from dpsyn_core.synthesizers.deep.trained import ReleasedModels, Trained
from dpsyn_core.synthesizers.deep.training import LatentEncoding, Team
from dpsyn_core.synthesizers.registry import register


class LearnedSettings(DeepSettings):
    """Settings of the systems whose encoder is learned."""

    latent: int = Field(
        10, ge=1, le=200, title="Latent dimensions", description="Of the space between encoder and decoder."
    )
    encoder_hidden: int = Field(
        50,
        ge=0,
        le=2000,
        title="Hidden units of the encoder",
        description="Units of the encoder's hidden layer, added to its linear part.",
    )

    def _check_shares(self, taken: float) -> None:
        if taken >= 1:
            msg = f"the shares of {self.name} add up to 1 or more; leave a part for the training"
            raise SettingError(msg)


class TrainedWhole(LearnedSettings):
    """Settings of one network for all records."""

    def build(self, task: Task) -> Synthesizer:
        """All but the one-ways goes to the training."""
        return DPVAE(self, task)


@register("dp-vae")
class DPVAEConfig(TrainedWhole):
    """The settings."""

    summary = (
        "A variational autoencoder trained by noisy gradients alone: the baseline that P3GM was made to improve on. "
        "For comparisons; take p3gm or rls for a table that will be used."
    )
    guarantee = GUARANTEE


class DPVAE(Deep[TrainedWhole]):
    """Calibrated."""

    def shares(self) -> dict[str, float]:
        """One-ways and training; one-ways alone without steps."""
        first = self.config.one_way_share
        return {"one-ways": first, "training": 1 - first} if self.taken else {"one-ways": 1.0}

    def modelled(
        self, counter: Counter, space: Space, *, costs: Mapping[str, Cost], gate: Gate, progress: Progress
    ) -> ReleasedModels:  # fmt: skip
        """One training."""
        del costs  # what is left trains it
        c = self.config
        seen = Seen.of(space, self.domain)
        shape, prior = self.hidden_units(learned_shape(c, space)), Mixture.standard(c.latent)
        objective = Objective(shape=shape, layout=layout_of(space), prior=prior)
        team = Team(encoding=LatentEncoding(seen=seen, components=None), objectives=[objective])
        got = self.trained(counter, team, first_weights(shape, None, SEED)[None, :], gate=gate, progress=progress)
        model = Trained(
            space=space, shape=shape, weights=np.asarray(got.weights[0]), prior=prior, components=None, noisy=True,
            losses=got.losses,
        )  # fmt: skip
        return ReleasedModels(models=(model,), shares=(1.0,), total=space.total)


def learned_shape(config: LearnedSettings, space: Space) -> Shape:
    """Of a network with a learned encoder."""
    return Shape(
        latent=config.latent, hidden=config.hidden, outputs=layout_of(space).outputs, inputs=space.width,
        seen=config.encoder_hidden,
    )  # fmt: skip
