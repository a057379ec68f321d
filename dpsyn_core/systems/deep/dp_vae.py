"""DP-VAE: a variational autoencoder trained with noise, and without for comparison.

DP-VAE: a variational autoencoder whose encoder and decoder are both trained under noise.

PGM and VAE: P3GM and DP-VAE without any noise. They promise nothing; for teaching, and to see what noise costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from dpsyn_core.errors import MethodError, SettingError
from dpsyn_core.measure import Counter, Gate
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress
from dpsyn_core.systems.base import Guarantee, MethodConfig, Synthesizer, Task
from dpsyn_core.systems.deep.decoder import layout_of
from dpsyn_core.systems.deep.features import Space
from dpsyn_core.systems.deep.mixture import Mixture
from dpsyn_core.systems.deep.model import ReleasedModels, Seen, Trained
from dpsyn_core.systems.deep.network import Objective, Shape, first_weights
from dpsyn_core.systems.deep.p3gm import SEED, PhasedSettings
from dpsyn_core.systems.deep.settings import GUARANTEE, DeepSettings
from dpsyn_core.systems.deep.system import Deep
from dpsyn_core.systems.deep.training import LatentEncoding, Team
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import setting


class LearnedSettings(DeepSettings):
    """Settings of the systems whose encoder is learned."""

    latent: int = setting(10, "Latent dimensions", "Of the space between encoder and decoder.", between=(1, 200))
    encoder_hidden: int = setting(
        50,
        "Hidden units of the encoder",
        "Units of the encoder's hidden layer, added to its linear part.",
        between=(0, 2000),
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
    ) -> ReleasedModels:
        """One training."""
        del costs  # what is left trains it
        c = self.config
        seen = Seen.of(space, self.domain)
        shape, prior = self.hidden_units(learned_shape(c, space)), Mixture.standard(c.latent)
        objective = Objective(shape=shape, layout=layout_of(space), prior=prior)
        team = Team(encoding=LatentEncoding(seen=seen, components=None), objectives=[objective])
        got = self.trained(counter, team, first_weights(shape, None, SEED)[None, :], gate=gate, progress=progress)
        model = Trained(
            space=space,
            shape=shape,
            weights=np.asarray(got.weights[0]),
            prior=prior,
            components=None,
            noisy=True,
            losses=got.losses,
        )
        return ReleasedModels(models=(model,), shares=(1.0,), total=space.total)


def learned_shape(config: LearnedSettings, space: Space) -> Shape:
    """Of a network with a learned encoder."""
    return Shape(
        latent=config.latent,
        hidden=config.hidden,
        outputs=layout_of(space).outputs,
        inputs=space.width,
        seen=config.encoder_hidden,
    )


NOTHING = Guarantee(text="none: no noise is added, and the table is NOT PRIVATE rather than DP", pure=False)


class Unprotected(MethodConfig):
    """What systems without a promise share: they run only where somebody says that they know it."""

    unprotected = True
    guarantee = NOTHING

    not_private: bool = setting(
        False,
        "NOT PRIVATE",
        "Say true to run a system that adds no noise. Its table may hold real records unchanged: it is for "
        "tables that are public anyway, and is stamped NOT PRIVATE.",
    )

    def check(self, task: Task) -> None:
        """Refuses to run unless the setting says that nothing is promised."""
        if not self.not_private:
            msg = (
                f"{self.name} adds no noise and promises nothing; set not_private=true for a table that is public "
                "anyway, or use the method 'p3gm'"
            )
            raise MethodError(msg)
        super().check(task)  # asks for torch, which nobody should install for a run that is refused


@register("pgm")
class PGMConfig(Unprotected, PhasedSettings):
    """The settings."""

    few_columns: ClassVar[int] = 10**6
    # no settings here: without noise nothing depends on how a budget is divided
    one_way_share: ClassVar[float] = PhasedSettings.model_fields["one_way_share"].default  # type: ignore[misc]
    components_share: ClassVar[float] = PhasedSettings.model_fields["components_share"].default  # type: ignore[misc]
    mixture_share: ClassVar[float] = PhasedSettings.model_fields["mixture_share"].default  # type: ignore[misc]
    summary = (
        "P3GM without noise: what its components, mixture and decoder reach where nothing is protected. For lessons "
        "and as a ceiling for p3gm; its table is NOT PRIVATE."
    )

    clip: float = setting(10.0, "Clip norm", PhasedSettings.model_fields["clip"].description, gt=0, le=1e6)


@register("vae")
class VAEConfig(Unprotected, TrainedWhole):
    """The settings."""

    summary = (
        "A variational autoencoder trained without noise. For lessons and as a ceiling for dp-vae; its table is "
        "NOT PRIVATE."
    )
    one_way_share: ClassVar[float] = LearnedSettings.model_fields["one_way_share"].default  # type: ignore[misc]

    clip: float = setting(10.0, "Clip norm", LearnedSettings.model_fields["clip"].description, gt=0, le=1e6)
