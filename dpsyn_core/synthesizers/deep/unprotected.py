"""PGM and VAE: P3GM and DP-VAE without any noise. They promise nothing; for teaching, and to see what noise costs."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from dpsyn_core.errors import MethodError
from dpsyn_core.synthesizers.base import Guarantee, MethodConfig, Task
from dpsyn_core.synthesizers.deep.dp_vae import LearnedSettings, TrainedWhole
from dpsyn_core.synthesizers.deep.p3gm import PhasedSettings
from dpsyn_core.synthesizers.registry import register

NOTHING = Guarantee(text="none: no noise is added, and the table is NOT PRIVATE rather than DP", pure=False)


class Unprotected(MethodConfig):
    """What systems without a promise share: they run only where somebody says that they know it."""

    unprotected = True
    guarantee = NOTHING

    not_private: bool = Field(
        False,
        title="NOT PRIVATE",
        description="Say true to run a system that adds no noise. Its table may hold real records unchanged: it is for "
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

    clip: float = Field(
        10.0, gt=0, le=1e6, title="Clip norm", description=PhasedSettings.model_fields["clip"].description
    )


@register("vae")
class VAEConfig(Unprotected, TrainedWhole):
    """The settings."""

    summary = (
        "A variational autoencoder trained without noise. For lessons and as a ceiling for dp-vae; its table is "
        "NOT PRIVATE."
    )
    one_way_share: ClassVar[float] = LearnedSettings.model_fields["one_way_share"].default  # type: ignore[misc]

    clip: float = Field(
        10.0, gt=0, le=1e6, title="Clip norm", description=LearnedSettings.model_fields["clip"].description
    )
