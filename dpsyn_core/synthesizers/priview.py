"""PriView: a few wide views that cover all pairs or triples, and any marginal from them by maximum entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from dpsyn_core.consistency.overlap import make_consistent
from dpsyn_core.consistency.simplex import Rule
from dpsyn_core.counting.base import Counter
from dpsyn_core.errors import SizeError
from dpsyn_core.marginals.covering import views
from dpsyn_core.marginals.maxent import Reconstruction, reconstruct
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.measurement.measure import measure_marginals
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema.domain import Domain
from dpsyn_core.synthesizers.base import Guarantee, Synthesizer, Task
from dpsyn_core.synthesizers.dpsyn import cheaper_noise
from dpsyn_core.synthesizers.estimates import Size
from dpsyn_core.synthesizers.record_settings import RecordSettings, records_from
from dpsyn_core.synthesizers.registry import register

MARGINAL_ROUNDS = 10  # a marginal is read off one table, so that the tables must agree; records average over them


@register("priview")
class PriViewConfig(RecordSettings):
    """Settings of PriView."""

    summary = "Wide views that cover all pairs or triples; any k-way marginal from them by maximum entropy."
    guarantee = Guarantee(
        text="(epsilon, delta)-DP by exact Gaussian accounting, or epsilon-DP with Laplace noise where that is less"
    )

    view_size: int = Field(
        8, ge=2, le=20, title="Attributes a view", description="A view holds at most this many attributes."
    )
    cover: Literal[2, 3] = Field(
        2, title="Coverage", description="Every set of this many attributes lies in one view: 2 pairs, 3 triples."
    )
    view_cells: int = Field(
        256,
        ge=2,
        le=10_000_000,
        title="Cells a view",
        description="A view grows up to this many cells; a pair or triple that alone has more is a view of its own.",
        json_schema_extra={"unit": "cells"},
    )
    max_cells: int = Field(
        50_000_000,
        ge=1,
        title="Cell cap",
        description="Refuses a domain whose views have more cells than this in all.",
        json_schema_extra={"unit": "cells"},
    )
    nonnegativity: Rule = Field(
        "ripple",
        title="Negative cells",
        description="ripple takes a deficit from neighbouring cells; norm_sub and norm_cut look at values alone.",
    )

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.8 + 0.03 * size.attributes + 0.6 * size.values

    def build(self, task: Task) -> Synthesizer:
        """Chooses views and noise from the domain alone."""
        return PriView(self, task)


@dataclass(frozen=True, kw_only=True, slots=True)
class Views:
    """Released views and the domain they were taken from."""

    domain: Domain
    measured: list[Measurement]


class PriView(Synthesizer):
    """Calibrated: an even split over the views."""

    def __init__(self, config: PriViewConfig, task: Task) -> None:
        """Builds the covering design. Raises SizeError when the views are above the cap."""
        self.config = config
        self.task = task
        self.domain = task.domain
        self.views = views(
            self.domain,
            t=min(config.cover, max(1, len(self.domain))),
            k=config.view_size,
            max_cells=config.view_cells,
        )
        cells = sum(self.domain.cells(v) for v in self.views)
        if cells > config.max_cells:
            msg = (
                f"the views have {cells} cells, above the cap of {config.max_cells}; "
                "use coarser bins, or the method 'privsyn'"
            )
            raise SizeError(msg)
        self.cost = cheaper_noise(task.budget, task.unit, len(self.views))

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Views:
        """One charge a view."""
        costs = self.cost.split([1.0] * len(self.views))
        measured: list[Measurement] = []
        for i, (names, cost) in enumerate(zip(self.views, costs, strict=True)):
            measured += measure_marginals(counter, [names], [cost], gate=gate)
            progress("measure", i + 1, len(self.views))
        return Views(domain=self.domain, measured=measured)

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Consistency with ripple, then records that follow the views."""
        return records_from(
            measured.measured, self.domain, n_records, self.config, n_public=self.task.n_public, rng=rng,
            progress=progress,
        )  # fmt: skip

    def marginal(self, measured: Views, names: tuple[str, ...]) -> Reconstruction:
        """Any marginal from the released views; free to repeat. See `reconstruct_from_views`."""
        return reconstruct_from_views(measured, names, self.config, n_public=self.task.n_public)


def reconstruct_from_views(
    measured: Views, names: tuple[str, ...], config: PriViewConfig, *, n_public: int | None = None
) -> Reconstruction:
    """Consistent views, then projection where one view holds all attributes, else maximum entropy.

    Args:
        measured: released views.
        names: attributes of the domain; the axes of the result follow the domain's order.
        config: the rule for negative cells.
        n_public: the number of records when it is public.
    """
    total = None if n_public is None else float(n_public)
    tables = make_consistent(measured.measured, rule=config.nonnegativity, rounds=MARGINAL_ROUNDS, total=total)
    return reconstruct(tables, measured.domain, measured.domain.ordered_set(names))
