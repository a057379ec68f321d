"""Settings that systems share when they turn consistent marginals into records."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, model_validator

from dpsyn_core.consistency.overlap import make_consistent
from dpsyn_core.consistency.simplex import Rule
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.progress import Progress, silent
from dpsyn_core.records.settings import Decay, Fill, FitSettings, GumSettings, Removal, Updater
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.few_values import FewValuesConfig

Preset = Literal["measured", "2018"]
# what the authors of the entry to the NIST 2018 challenge say that they did (appendices A.2 and A.3)
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "2018": {"alpha": 0.2, "decay": 1.0, "sweeps": 100, "removal": "share", "fill": "close", "polish": 0},
}


class RecordSettings(FewValuesConfig, ABC):
    """How marginals are made consistent and how records follow them; all of it is post-processing."""

    preset: Preset = Field(
        "measured",
        title="Preset of the updates",
        description=(
            "measured: the values below, which came out best or as good as any. 2018: what the authors describe, for "
            "comparison: update rate 0.2 without decay, at most 100 sweeps, removal by share, copies only when close, "
            "no polish; a value below that is set to something else wins."
        ),
    )
    nonnegativity: Rule = Field(
        "norm_sub",
        title="Negative cells",
        description=(
            "norm_sub moves every cell by the same amount and clips; norm_cut removes the smallest cells; ripple takes "
            "a deficit from neighbouring cells; none leaves negative cells to the records, which read them as 0."
        ),
    )
    consistency_rounds: int = Field(
        1,
        ge=1,
        le=1000,
        title="Consistency rounds",
        description=(
            "Rounds of agreeing on overlaps and removing negative cells. The original systems alternate 30 to 500 "
            "times; records follow tables that went through it once more closely."
        ),
    )
    updater: Updater = Field(
        "gum",
        title="Record updater",
        description="gum moves records gradually; mcf (min-cost flow) is the simpler method that it improves on.",
    )
    sweeps: int = Field(
        30, ge=0, le=1000, title="Sweeps", description="At most this many updates of every marginal; it stops early."
    )
    alpha: float = Field(
        0.2,
        gt=0,
        le=10,
        title="Update rate",
        description=(
            "Share of its count by which a cell may grow in one update. The authors of GUM used 0.2 in 2018, always "
            "below 1, and 1 in PrivSyn."
        ),
    )
    decay: float = Field(
        0.84, gt=0, le=1, title="Rate decay", description="The update rate is multiplied by this at every step."
    )
    decay_every: int = Field(
        20, ge=1, le=1000, title="Sweeps a step", description="Sweeps between two steps of the decay."
    )
    decay_curve: Decay = Field(
        "step",
        title="Decay curve",
        description=(
            "How the rate falls from sweep to sweep: in steps, or as e^(-kt), 1/(1+kt) or 1/sqrt(1+kt) with the k at "
            "which the second meets the steps."
        ),
    )
    removal: Removal = Field(
        "proportional",
        title="Removal",
        description=(
            "Over-full cells give records in proportion to their excess, or the same share of their count, but no more "
            "than their excess, which is what the authors describe. Neither is better on most tables."
        ),
    )
    fill: Fill = Field(
        "s5",
        title="Filling",
        description=(
            "How a cell gains records: duplicate copies whole records, replace rewrites records on the marginal only, "
            "half does half of each, s5 alternates half of each and copies only; close rewrites at first and copies "
            "once the records are close to the tables, as the authors of 2018 advise, and is no better on most tables."
        ),
    )
    polish: int = Field(
        50,
        ge=0,
        le=10_000,
        title="Polish proposals",
        description="Single-cell moves proposed for every record after the sweeps; 0 leaves the result of the sweeps.",
        json_schema_extra={"unit": "per record"},
    )

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, values: Any) -> Any:
        """The preset's values where none is given."""
        if not isinstance(values, dict) or "preset" not in values:
            return values
        name = str(values["preset"])  # the command reads 2018 as a number
        return {**PRESETS.get(name, {}), **values, "preset": name}

    def fit_settings(self) -> FitSettings:
        """The settings in the form the record floor takes."""
        moves = GumSettings(
            sweeps=self.sweeps, alpha=self.alpha, decay=self.decay, decay_every=self.decay_every,
            decay_curve=self.decay_curve, removal=self.removal, fill=self.fill,
        )  # fmt: skip
        return FitSettings(updater=self.updater, gum=moves, polish=self.polish)


def records_from(
    measured: Sequence[Measurement],
    domain: Domain,
    n_records: int | None,
    config: RecordSettings,
    *,
    n_public: int | None,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Consistency, then records: codes (n_attributes, n).

    Args:
        measured: released tables at the resolution of `domain`.
        domain: attributes and sizes.
        n_records: number of records asked for; None takes the public or the released total.
        config: settings.
        n_public: the number of records when it is public.
        rng: post-processing randomness.
        progress: reports rounds, sweeps and passes.
    """
    from dpsyn_core.records.fit import fit_records  # numba is heavy

    tables, n = consistent_tables(measured, n_records, config, n_public=n_public, progress=progress)
    return fit_records(tables, domain, n, config.fit_settings(), rng=rng, progress=progress)


def consistent_tables(
    measured: Sequence[Measurement],
    n_records: int | None,
    config: RecordSettings,
    *,
    n_public: int | None,
    progress: Progress = silent,
) -> tuple[list[Measurement], int]:
    """Consistent tables and the number of records to make: asked for, else public, else released."""
    total = None if n_public is None else float(n_public)
    tables = make_consistent(
        measured, rule=config.nonnegativity, rounds=config.consistency_rounds, total=total, progress=progress
    )
    released = float(tables[0].values.sum()) if tables else 0.0
    n = n_records if n_records is not None else n_public if n_public is not None else max(0, round(released))
    return tables, n
