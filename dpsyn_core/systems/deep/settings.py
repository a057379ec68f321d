"""Settings that the deep systems share."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import Literal

from dpsyn_core.errors import SettingError
from dpsyn_core.privacy import SHARE, Budget
from dpsyn_core.schema import Domain
from dpsyn_core.systems.base import Guarantee, MethodConfig, Task
from dpsyn_core.systems.deep.network import EXTRA, device, installed, require_torch
from dpsyn_core.systems.deep.training import Schedule
from dpsyn_core.systems.settings import Estimate, Size, estimate_of, setting

GUARANTEE = Guarantee(
    text="(epsilon, delta)-DP: Gaussian noise on sums of clipped vectors; samples by privacy loss distributions",
    pure=False,
)
MOST_ATTRIBUTES = 2000
USUAL_STEPS = 200  # of a network that begins at random
TORCH_MB = 260  # of the library
MB_PER_MILLION_WEIGHTS = 250  # of a decoder: gradients of a sample, Adam and averages (measured with paper-isolet)
MOST_WEIGHTS = 8_000_000  # 1,000 hidden units for the 617 numbers of ISOLET take 4.1 million


class DeepSettings(MethodConfig, ABC):
    """What is seen of records, how long is trained, and how records are drawn."""

    trains = True

    values: int = setting(
        64,
        "Values per column",
        "Number of coarse values per column, roughly: neighbouring bins and rare values of the released "
        "one-ways share one. The schema's own bins come back at the end, by the released one-way.",
        between=(2, 1000),
    )
    hidden: int = setting(
        100,
        "Hidden units",
        "Units of the decoder's hidden layer, added to its linear part. 0 leaves the linear part alone.",
        between=(0, 2000),
    )
    steps: int | None = setting(
        None,
        "Training steps",
        "Each is one noisy sum over a fresh sample. Empty: 200; for p3gm, whose decoder begins where its "
        "components put it, 100, and none beyond 50 columns, where training under noise adds nothing to that. What "
        "predicts one column from the others takes as many steps.",
        between=(0, 40_000),
        unit="steps",
    )
    sampling: float = setting(
        0.05,
        "Sampling rate",
        "Probability with which a record is in the sample of a step. It must not be computed from the "
        "number of records where that is private.",
        gt=0,
        le=1,
    )
    clip: float = setting(
        1.0, "Clip norm", "A record's gradient is shortened to this length. The noise grows with it.", gt=0, le=1e6
    )
    learning_rate: float = setting(
        0.02, "Learning rate", "Of Adam's first step; it falls to 0 as half a cosine.", gt=0, le=1
    )
    averaging: float = setting(
        0.95,
        "Averaging of weights",
        "How much of the running mean of the weights stays at a step; records are drawn from that mean.",
        ge=0,
        lt=1,
    )
    one_way_share: float = setting(
        0.08,
        "Share of one-ways",
        "Part of the budget for one-way marginals, from which coarse values and their shares are read. "
        "Where p3gm trains nothing, all parts grow in proportion, and this one counts twice.",
        gt=0,
        lt=1,
    )
    device: Literal["cpu", "cuda"] = setting(
        "cpu", "Device", "Where the networks are computed. cuda needs a CUDA device and a build of torch for it."
    )

    @classmethod
    def missing(cls) -> str:
        """The extra, where torch is not there."""
        return "" if installed() else f"install dpsyn-studio[{EXTRA}]"

    def check(self, task: Task) -> None:
        """As for all systems; and the library, the target and the number of columns."""
        super().check(task)
        require_torch(self.name)
        if self.device != "cpu":
            device(self.device, self.name)  # refused here, where nothing is charged yet
        if len(task.domain) > MOST_ATTRIBUTES:
            msg = (
                f"{self.name} takes at most {MOST_ATTRIBUTES} columns, and the schema has {len(task.domain)}; use 'rls'"
            )
            raise SettingError(msg)
        self.aim(task.domain)

    def aim(self, domain: Domain) -> int | None:
        """Position of the column to predict; None where a system knows of none."""
        del domain
        return None

    def steps_for(self, domain: Domain) -> int:
        """How many steps are taken, from public facts."""
        return self._usual(len(domain))

    def target_steps(self, domain: Domain) -> int:
        """How many steps the head that predicts the target takes, from public facts; 0 without a head."""
        del domain
        return 0

    def schedule(self, steps: int) -> Schedule:
        """Of a training."""
        return Schedule(
            steps=steps, rate=self.sampling, clip=self.clip, learning=self.learning_rate, averaging=self.averaging
        )

    def spared(self, budget: Budget, domain: Domain) -> float:
        """Part of delta that is kept for the samples."""
        trained = self.steps_for(domain) or self.target_steps(domain)
        return SHARE * budget.delta if trained and not self.unprotected else 0.0

    def estimate(self, size: Size) -> Estimate:
        """The library torch and the networks beside the rest; no pairs are counted."""
        base = estimate_of(self.seconds(size), replace(size, cells=0.0))
        weights = (self.hidden + 30) * features(size) / 1e6
        return Estimate(seconds=base.seconds, megabytes=base.megabytes + TORCH_MB + MB_PER_MILLION_WEIGHTS * weights)

    def _usual(self, columns: int) -> int:
        """Steps for so many columns."""
        del columns
        return USUAL_STEPS if self.steps is None else self.steps

    def seconds(self, size: Size) -> float:
        """Torch's start, passes over all records, the steps, and the drawing.

        Fitted to processor seconds of one thread, drawing included: p3gm on Adult (43,957 x 14) took 12,
        on 18,000 x 100 numbers 7; dp-vae took 18 on Adult; samples of 100 in paper-credit 43 ms a step.
        """
        width = features(size)
        sample = max(size.records * self.sampling, 64)
        per_step = 0.002 + sample * (6e-6 + 1.05e-9 * (self.hidden + 30) * width)
        training = self._usual(size.attributes) * per_step
        base: float = 2.0 + 1e-9 * size.records * width**1.5 + training + 1.3 * size.values
        return base + self.head_seconds(size)

    def head_seconds(self, size: Size) -> float:
        """Of the head that predicts the target; 0 without one."""
        del size
        return 0.0


def features(size: Size) -> int:
    """About how many features and outputs a network has, for forecasts."""
    return min(size.attributes * 12, 2500)


class TargetSettings(DeepSettings, ABC):
    """Settings of the systems that do something for a column to predict."""

    target: str = setting(
        "",
        "Column to predict",
        "Column that models of the synthetic table will predict, named without looking at the table: it "
        "counts more in the components, p3gm decodes it last, from all others, and dp-gm can train a network for each "
        "of its values. Empty: none.",
    )

    def aim(self, domain: Domain) -> int | None:
        """Position of the column to predict. Raises SettingError for a column that does not exist."""
        if not self.target:
            return None
        if self.target not in domain.names:
            msg = f"target of {self.name} is '{self.target}', which is no column; name one, or leave it empty"
            raise SettingError(msg)
        return domain.index(self.target)
