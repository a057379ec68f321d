"""Settings that systems share when they turn consistent marginals into records."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import model_validator

from dpsyn_core.estimate import Measurement, NonNegativeRule, UpdateSettings, make_consistent
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import Domain
from dpsyn_core.systems.few_values import FewValuesConfig
from dpsyn_core.systems.settings import SettingsGroup, setting

Preset = Literal["measured", "2018"]
# of Li, Zhang, Wang 2021: the rate of section 5.5, removal and copies of appendix A.2, the fall in steps of A.3, whose
# appending, separating and start from one-ways records have in any case. The number of sweeps is the system's.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "2018": {"alpha": 0.2, "decay_curve": "step", "decay": 0.84, "removal": "share", "fill": "close", "polish": 0}
}


class RecordSettings(UpdateSettings, SettingsGroup):
    """Settings of consistency and of record synthesis; all of it is post-processing."""

    preset: Preset = setting(
        "measured",
        "Preset of the updates",
        "measured: the other values, which came out best or as good as any. 2018: as the authors describe it: a "
        "rate of 0.2 that falls in steps, removal by share, copies only when close, no polish. How far each step "
        "falls is that of PrivSyn. A value that is set as well wins.",
    )
    nonnegativity: NonNegativeRule = setting(
        "norm_sub",
        "Negative cells",
        "norm_sub moves every cell by the same amount and clips; norm_cut removes the smallest cells; ripple takes "
        "a deficit from neighbouring cells; none leaves negative cells to the records, which read them as 0.",
    )
    consistency_rounds: int = setting(
        1,
        "Consistency rounds",
        "Rounds of agreeing on overlaps and removing negative cells, before records follow the tables. After one, "
        "tables still disagree, and records come out closer than from tables that agree, since they average over "
        "them. Marginals that are read off released tables are made to agree in any case.",
        between=(1, 1000),
    )

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, values: Any) -> Any:
        return with_preset(values) if isinstance(values, dict) else values

    def changed(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The preset's values stand between these and those that are given."""
        return super().changed(with_preset(given))


def with_preset(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The preset's values where none is given."""
    if "preset" not in values:
        return values
    name = str(values["preset"])  # the command reads 2018 as a number
    return {**PRESETS.get(name, {}), **values, "preset": name}


def updates(**usual: Any) -> Any:
    """A field of a system's config with these default values."""
    description = "How marginals are made consistent, and how records follow them."
    return setting(RecordSettings(**usual), "Records", description)


class RecordConfig(FewValuesConfig, ABC):
    """Settings of a system whose records follow consistent marginals."""

    update: RecordSettings = updates()


def records_from(
    measured: Sequence[Measurement],
    domain: Domain,
    n_records: int | None,
    settings: RecordSettings,
    *,
    n_public: int | None,
    separate: bool = True,
    append: bool = True,
    rng: Generator,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Consistency, then records: codes (n_attributes, n).

    Args:
        measured: released tables at the resolution of `domain`.
        domain: attributes and sizes.
        n_records: number of records asked for; None takes the public or the released total.
        settings: see RecordSettings.
        n_public: the number of records when it is public.
        separate: see `fit_to_marginals`.
        append: see `fit_to_marginals`.
        rng: post-processing randomness.
        progress: reports rounds, sweeps and passes.
    """
    from dpsyn_core.estimate import fit_to_marginals  # numba is heavy

    tables, n = consistent_tables(measured, n_records, settings, n_public=n_public, progress=progress)
    return fit_to_marginals(tables, domain, n, settings, separate=separate, append=append, rng=rng, progress=progress)


def consistent_tables(
    measured: Sequence[Measurement],
    n_records: int | None,
    settings: RecordSettings,
    *,
    n_public: int | None,
    progress: Progress = silent,
) -> tuple[list[Measurement], int]:
    """Consistent tables and the number of records to make: asked for, else public, else released."""
    total = None if n_public is None else float(n_public)
    rounds, rule = settings.consistency_rounds, settings.nonnegativity
    tables = make_consistent(measured, rule=rule, rounds=rounds, total=total, scaled=False, progress=progress)
    released = float(tables[0].values.sum()) if tables else 0.0
    n = n_records if n_records is not None else n_public if n_public is not None else max(0, round(released))
    return tables, n
