"""Settings that the systems on graphical models share, and the step from measurements to records."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from dpsyn_core.estimate import Measurement, Recodes
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import Domain
from dpsyn_core.systems.base import MethodConfig
from dpsyn_core.systems.others.graphical.compress import coarse_sizes, decode, target
from dpsyn_core.systems.others.graphical.fit import Potentials, estimate_total, fit, fit_by_mbi
from dpsyn_core.systems.others.graphical.model import Model, model_cells

WORK = 300_000_000  # cells times iterations of a final fit: some ten seconds
LEAST = 200  # iterations


class ModelSettings(MethodConfig, ABC):
    """How a graphical model is fitted; all of it is post-processing."""

    engine: Literal["builtin", "mbi"] = Field(
        default="builtin",
        title="Inference",
        description="builtin: array code without compilation; mbi: the library mbi (extra 'pgm'), slower to start.",
    )
    iterations: int = Field(
        default=2000,
        ge=1,
        le=100_000,
        title="Iterations",
        description="At most this many steps of mirror descent for the last model; fewer for large models.",
    )
    rare: float = Field(
        default=3.0,
        ge=0,
        le=100,
        title="Rare codes",
        description="Codes whose noisy count is below this many deviations of its noise are measured together; "
        "0 keeps every code.",
        json_schema_extra={"unit": "sigma"},
    )
    max_model_size: float = Field(
        default=80.0,
        gt=0,
        le=4096,
        title="Largest model",
        description="Tables of the junction tree may take this much memory.",
        json_schema_extra={"unit": "MB"},
    )


def final_model(
    measured: Sequence[Measurement],
    recodes: Recodes,
    domain: Domain,
    config: ModelSettings,
    *,
    n_public: int | None,
    start: Potentials | None = None,
    step: float | None = None,
) -> Model:
    """The model that all measurements together make most likely."""
    targets = [target(m, recodes) for m in measured]
    sizes = coarse_sizes(domain, recodes)
    total = None if n_public is None else max(1.0, float(n_public))
    if config.engine == "mbi":
        return fit_by_mbi(targets, sizes, iterations=config.iterations, total=total)
    cells = model_cells([t.attributes for t in targets], sizes)
    iterations = min(config.iterations, max(LEAST, WORK // cells))
    return fit(targets, sizes, iterations=iterations, total=total, start=start, step=step).model


def records_of(
    measured: Sequence[Measurement],
    recodes: Recodes,
    domain: Domain,
    config: ModelSettings,
    n_records: int | None,
    *,
    n_public: int | None,
    rng: Generator,
    start: Potentials | None = None,
    step: float | None = None,
    progress: Progress = silent,
) -> NDArray[np.unsignedinteger]:
    """Fits the final model and samples it: codes (n_attributes, n).

    n_records None takes the public number of records, or the released estimate.
    """
    progress("fit", 0, 1)
    model = final_model(measured, recodes, domain, config, n_public=n_public, start=start, step=step)
    progress("fit", 1, 1)
    if n_records is None:
        n_records = (
            n_public if n_public is not None else max(0, round(estimate_total([target(m, recodes) for m in measured])))
        )
    ones = {m.attributes[0]: m for m in measured if len(m.attributes) == 1 and not m.recodes}
    codes = decode(model.sample(n_records, rng=rng), ones, domain, recodes, rng=rng)
    progress("sample", 1, 1)
    return codes
