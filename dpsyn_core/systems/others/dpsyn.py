"""DPSyn: all two-way marginals, their consistency, and records that follow them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import Measurement, ReleasedTables
from dpsyn_core.measure import Counter, Gate, measure_marginals
from dpsyn_core.privacy import Budget, Cost, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.others.record_settings import RecordConfig, records_from
from dpsyn_core.systems.question_sets import asked_of
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import Size, setting
from dpsyn_core.systems.steps import Step, even

MAX_PAIRS = 20_000  # of 200 attributes: each is a release of its own


@register("dpsyn")
class DPSynConfig(RecordConfig):
    """Settings of DPSyn 2020."""

    summary = "All two-way marginals, made consistent, then records by gradual updates."
    guarantee = Guarantee(
        text="(epsilon, delta)-DP by exact Gaussian accounting, or epsilon-DP with Laplace noise where that is less"
    )
    takes_questions = True

    max_cells: int = setting(
        50_000_000,
        "Cell cap",
        "Refuses a domain whose two-way marginals have more cells than this in all.",
        ge=1,
        unit="cells",
    )

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.8 + 1.4 * size.values

    def build(self, task: Task) -> Synthesizer:
        """Chooses the noise. Raises SizeError when all pairs together are above the cap."""
        return DPSyn(self, task)


class DPSyn(Synthesizer):
    """Calibrated: an even split over all pairs."""

    def __init__(self, config: DPSynConfig, task: Task) -> None:
        """Lists the pairs (the single attribute when there is one) and picks Laplace or Gaussian noise."""
        self.config = config
        self.task = task
        self.domain = task.domain
        check_pairs(task.domain, MAX_PAIRS)
        self.sets: list[AttributeSet] = self.domain.subsets(min(2, len(self.domain)))
        self.asked = asked_of(task, config.name)
        self.more = [s for s in self.asked.sets if s not in self.sets]
        cells = pair_cells(task.domain) + sum(task.domain.cells(s) for s in self.more)
        if cells > config.max_cells:
            msg = (
                f"all two-way marginals have {cells} cells, above the cap of {config.max_cells}; "
                "use coarser bins, or the method 'privsyn', which measures a selection"
            )
            raise SizeError(msg)
        self.cost = cheaper_noise(task.budget, task.unit, len(self.sets) + len(self.more))

    def steps(self, n_records: float) -> list[Step]:
        """Exactly: one release a pair; with questions, a dry run tells all."""
        if self.asked.sets:
            return []
        count = len(self.sets)
        cells = [self.domain.cells(s) for s in self.sets]
        kind = f"{min(2, len(self.domain))}-way"
        return [even(kind, self.cost, self.cost, self.task.unit, parts=(count, count), cells=cells)] if count else []

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> list[Measurement]:
        """One charge a pair, which costs more where a question needs it; then the larger tables of questions."""
        for_pairs, for_questions = self.asked.beside(self.cost, len(self.sets))
        tables: dict[AttributeSet, float] = {}
        for names, cost in [
            *zip(self.sets, [] if for_pairs is None else for_pairs.split([1.0] * len(self.sets)), strict=False),
            *zip(
                self.asked.sets,
                [] if for_questions is None else self.asked.costs(for_questions, self.domain),
                strict=False,
            ),
        ]:
            tables[names] = tables.get(names, 0.0) + (cost.epsilon if cost.pure else cost.rho)
        measured: list[Measurement] = []
        for i, (names, amount) in enumerate(tables.items()):
            cost = self.cost.scaled(amount / (self.cost.epsilon if self.cost.pure else self.cost.rho))
            kind = "question" if names in self.more else None
            measured += measure_marginals(counter, [names], [cost], gate=gate, kind=kind)
            progress("measure", i + 1, len(tables))
        return measured

    def restored(self, released: ReleasedTables) -> ReleasedTables:
        """The very tables."""
        return released

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Consistency, GUM, polish."""
        return records_from(
            measured,
            self.domain,
            n_records,
            self.config.update,
            n_public=self.task.n_public,
            rng=rng,
            progress=progress,
        )


def check_pairs(domain: Domain, most: int) -> None:
    """Raises SizeError for more pairs than a system can hold."""
    pairs = len(domain) * (len(domain) - 1) // 2
    if pairs > most:
        msg = (
            f"{len(domain)} attributes have {pairs} pairs, above the cap of {most}; "
            "leave attributes out of the schema, or use the method 'independent'"
        )
        raise SizeError(msg)


def pair_cells(domain: Domain) -> int:
    """Cells of all two-way marginals, without listing them; of the attribute itself when there is only one."""
    sizes = domain.sizes
    return (sum(sizes) ** 2 - sum(s * s for s in sizes)) // 2 if len(sizes) > 1 else sum(sizes)


def cheaper_noise(budget: Budget, unit: Unit, marginals: int) -> Cost:
    """The cost, pure or Gaussian, whose noise on that many equal marginals has the smaller standard deviation.

    Laplace: b = k theta / epsilon by basic composition. Gaussian: sigma = theta sqrt(k) / mu by exact accounting.
    Both scale with theta, so that the crossing in k does not depend on it. A delta of 0 leaves Laplace only.
    """
    pure = budget.pure()
    if budget.delta == 0:
        return pure
    gaussian = budget.gaussian()
    k = max(1, marginals)
    laplace_sd = 2**0.5 * unit.l1(k) / budget.epsilon
    return pure if laplace_sd < gaussian.sigma(unit.l2(k)) else gaussian
