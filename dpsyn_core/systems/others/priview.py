"""PriView: a few wide views that cover all pairs or triples, and any marginal from them by maximum entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.estimate import (
    Measurement,
    Reconstruction,
    ReconstructionRule,
    ReleasedTables,
    coefficient_sets,
    greedy_cover,
    marginal_from,
    random_views,
    signed_sum,
    view_noise,
    views,
)
from dpsyn_core.measure import Counter, Gate, law_of, measure_marginals
from dpsyn_core.privacy import Budget, Cost, Unit
from dpsyn_core.progress import Progress, silent
from dpsyn_core.questions import Reader, ReadingSettings
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.others.dpsyn import cheaper_noise
from dpsyn_core.systems.others.record_settings import RecordConfig, RecordSettings, records_from, updates
from dpsyn_core.systems.question_sets import asked_of, held, with_extra
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import AttributeSets, Size, known_sets, setting

Strategy = Literal["cover", "random", "direct", "fourier"]
SIZES = range(5, 12)  # views that are tried when they are chosen by the budget
BEARABLE = 0.003  # of the records: noise on a triple up to which triples are covered
TRIPLES = 20_000  # domains with more triples are covered by pairs without trying
MOST_COEFFICIENTS = 100_000  # each is a marginal of its own while it is counted


@register("priview")
class PriViewConfig(RecordConfig):
    """Settings of PriView."""

    summary = "Wide views that cover all pairs or triples; any k-way marginal from them by maximum entropy."
    guarantee = Guarantee(
        text="(epsilon, delta)-DP by exact Gaussian accounting, or epsilon-DP with Laplace noise where that is less"
    )

    takes_questions = True

    strategy: Strategy = setting(
        "cover",
        "Measured",
        "cover: views that hold all pairs or triples; random: as many drawn at random; direct: every marginal that "
        "is asked for, by itself; fourier: coefficients from which all marginals of binary attributes follow.",
    )
    queries: AttributeSets = setting(
        (), "Marginals", "For direct: the marginals to measure, as in 'age+sex, age+city'; empty: all of the coverage."
    )
    view_size: int = setting(8, "Attributes per view", "A view holds at most this many attributes.", between=(2, 20))
    cover: Literal[2, 3] = setting(
        2, "Coverage", "Every set of this many attributes lies in one view: 2 pairs, 3 triples."
    )
    choose: bool = setting(
        False,
        "Choose views by the budget",
        "Takes the size of the views, and pairs or triples, for which noise is least and triples still bearable; "
        "needs a public number of records, or a public guess.",
    )
    about: int = setting(
        0,
        "About how many records",
        "A guess from public knowledge, for choosing views; 0: the public number of records.",
        ge=0,
    )
    view_count: int = setting(
        0, "Random views", "How many are drawn; 0: as many as the covering has.", between=(0, 10_000)
    )
    view_seed: int = setting(0, "Seed of random views", "Public: views are drawn without looking at the data.", ge=0)
    view_cells: int = setting(
        256,
        "Cells per view",
        "A view grows up to this many cells; a pair or triple that alone has more is a view of its own.",
        between=(2, 10_000_000),
        unit="cells",
    )
    max_cells: int = setting(
        50_000_000, "Cell cap", "Refuses a domain whose views have more cells than this in all.", ge=1, unit="cells"
    )
    reconstruction: ReconstructionRule = setting(
        "maximum-entropy",
        "Reconstruction",
        "How a marginal that no view holds is found: the flattest table that agrees with the views, the one of "
        "least norm, or one of least disagreement by a linear program.",
    )
    update: RecordSettings = updates(nonnegativity="ripple")

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.8 + 0.03 * size.attributes + 0.6 * size.values

    def reading(self) -> ReadingSettings:
        """How marginals are read off the views."""
        return ReadingSettings(reconstruction=self.reconstruction, nonnegativity=self.update.nonnegativity)

    def build(self, task: Task) -> Synthesizer:
        """Chooses views and noise from the domain and the budget alone."""
        return Fourier(self, task) if self.strategy == "fourier" else PriView(self, task)


@dataclass(frozen=True, kw_only=True, slots=True)
class Views:
    """Released views and the domain they were taken from."""

    domain: Domain
    measured: list[Measurement]


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewChoice:
    """Size of views and what they cover; noise: expected distance that it adds to a covered set, at most about 1."""

    cover: Literal[2, 3]
    view_size: int
    views: int
    noise: float


def choose_views(domain: Domain, budget: Budget, unit: Unit, n: float) -> ViewChoice:
    """The views for a budget: triples where noise moves them by at most 3 records in 1,000, else pairs.

    Of views of 5 to 11 attributes the size with the least expected noise on a covered set is taken; the number of
    views follows from it, and more views share the budget.

    Args:
        domain: attributes and sizes.
        budget: of the run.
        unit: whom it protects.
        n: number of records, public or guessed in public.

    Source: Qardaji, Yang, Li 2014 (PriView), section 4.5, where noise of .1 to .3 per cent is the rule of thumb.
    """
    best: dict[int, ViewChoice] = {}
    options: tuple[Literal[2, 3], ...] = (2, 3) if len(domain) >= 3 and math.comb(len(domain), 3) <= TRIPLES else (2,)
    for t in options:
        for size in SIZES:
            design = greedy_cover(domain.sizes, min(t, max(1, len(domain))), size, 2**size)
            share = cheaper_noise(budget, unit, len(design)).split([1.0] * len(design))[0]
            sigma = math.sqrt(2) * share.scale(unit.l1()) if share.pure else share.sigma(unit.l2())
            noise = view_noise(design, domain.sizes, min(t, len(domain)), sigma) / (2 * max(n, 1.0))
            if t not in best or noise < best[t].noise:
                best[t] = ViewChoice(cover=t, view_size=size, views=len(design), noise=noise)
    return best[3] if 3 in best and best[3].noise <= BEARABLE else best[2]


def chosen(config: PriViewConfig, task: Task) -> PriViewConfig:
    """The settings with views chosen by the budget, where that is asked for."""
    if not config.choose:
        return config
    n = config.about or task.n_public
    if not n:
        msg = (
            "choosing views needs about how many records there are, from public knowledge; set 'about', or declare "
            "n_records in the schema"
        )
        raise SettingError(msg)
    views = choose_views(task.domain, task.budget, task.unit, float(n))
    sizes = {"cover": views.cover, "view_size": views.view_size, "view_cells": 2**views.view_size}
    return config.model_copy(update=sizes)


class PriView(Synthesizer):
    """Calibrated: an even split over the views."""

    def __init__(self, config: PriViewConfig, task: Task) -> None:
        """Builds the design. Raises SizeError when the views are above the cap."""
        self.task = task
        self.domain = task.domain
        self.config = chosen(config, task)
        self.asked = asked_of(task, config.name)
        self.views = self._views()
        self.views += [s for s in self.asked.sets if not held(s, self.views)]
        cells = sum(self.domain.cells(v) for v in self.views)
        if cells > config.max_cells:
            msg = (
                f"the views have {cells} cells, above the cap of {config.max_cells}; "
                "use coarser bins, or the method 'privsyn'"
            )
            raise SizeError(msg)
        self.cost = cheaper_noise(task.budget, task.unit, len(self.views))

    def _views(self) -> list[AttributeSet]:
        config, d = self.config, self.domain
        t = min(config.cover, max(1, len(d)))
        if config.strategy == "direct":
            asked = known_sets(config.queries, d, setting="queries")
            return list(dict.fromkeys(asked)) or d.subsets(t)
        covering = views(d, t=t, k=config.view_size, max_cells=config.view_cells)
        if config.strategy == "cover":
            return covering
        number = config.view_count or len(covering)
        drawn = random_views(d.sizes, number, config.view_size, config.view_cells, seed=config.view_seed)
        return [tuple(d.names[i] for i in block) for block in drawn]

    def _costs(self) -> list[Cost]:
        """An even split, of which the views that hold what questions need get the share of these."""
        if not self.asked.sets:
            return self.cost.split([1.0] * len(self.views))
        share = min(self.asked.share, 1 - 1e-6)  # every view is measured
        rest, questions = self.cost.split([1 - share, share])
        return with_extra(
            self.views, rest.split([1.0] * len(self.views)), self.asked, self.asked.costs(questions, self.domain)
        )

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Views:
        """One charge a view."""
        measured = measure_marginals(counter, self.views, self._costs(), gate=gate)
        progress("measure", 1, 1)
        return Views(domain=self.domain, measured=measured)

    def measurements(self, measured: Views) -> ReleasedTables:
        """The views."""
        return ReleasedTables(measured.measured)

    def restored(self, released: ReleasedTables) -> Views:
        """The views."""
        return Views(domain=self.domain, measured=released)

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Consistency with ripple, then records that follow the views."""
        return records_from(
            measured.measured,
            self.domain,
            n_records,
            self.config.update,
            n_public=self.task.n_public,
            rng=rng,
            progress=progress,
        )

    def marginal(self, measured: Views, names: tuple[str, ...]) -> Reconstruction:
        """Any marginal from the released views; free to repeat. See `Reader`."""
        reader = Reader(
            measured.measured,
            measured.domain,
            self.config.reading(),
            n_public=self.task.n_public,
            as_measured=self.config.strategy == "direct",
        )
        return reader.read(names)


class Fourier(PriView):
    """Calibrated: one release of all Fourier coefficients of sets of at most `cover` binary attributes."""

    def __init__(self, config: PriViewConfig, task: Task) -> None:
        """Lists the coefficients. Raises SettingError for attributes that are not binary."""
        wide = [a.name for a in task.domain.attributes if a.size != 2]
        if task.workload is not None:
            msg = "the strategy 'fourier' takes no questions; use 'cover', or set their share to 0"
            raise SettingError(msg)
        if wide:
            msg = f"the strategy 'fourier' needs attributes of two values, and '{wide[0]}' has another number of them"
            raise SettingError(msg)
        self.task, self.domain = task, task.domain
        self.config = chosen(config, task)
        self.order = min(self.config.cover, len(self.domain))
        self.views = self.domain.subsets(self.order)
        self.sets = coefficient_sets(self.domain.names, self.order)
        if len(self.sets) > MOST_COEFFICIENTS:
            msg = f"{len(self.sets)} coefficients are above the cap of {MOST_COEFFICIENTS}; use the strategy 'cover'"
            raise SizeError(msg)
        # a record adds 1 or -1 to every coefficient; replacing one moves each by at most 2; all are one release
        moved = task.unit.max_records * (2 if task.unit.neighbours == "replace" else 1)
        self.l1, self.l2 = float(moved * len(self.sets)), moved * math.sqrt(len(self.sets))
        self.cost = task.budget.pure()
        if task.budget.delta > 0:
            gaussian = task.budget.gaussian()
            if gaussian.sigma(self.l2) < math.sqrt(2) * self.cost.scale(self.l1):
                self.cost = gaussian

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Views:
        """One charge; then the marginals of `cover` attributes that the coefficients give."""

        def count() -> NDArray[np.int64]:
            return np.array([signed_sum(m) for m in counter.marginals(self.sets)], dtype=np.int64)

        got = gate.release(
            f"Fourier coefficients of sets of at most {self.order}",
            count,
            kind="coefficients",
            cells=len(self.sets),
            cost=self.cost,
            l1=self.l1,
            l2=self.l2,
        )
        progress("measure", 1, 1)
        coefficients = dict(zip(self.sets, got.values.astype(np.float64), strict=True))
        sigma = got.sigma / 2 ** (self.order / 2)  # a cell is the sum of 2^k signed coefficients over 2^k
        tables = [
            Measurement(
                attributes=s,
                values=marginal_from(coefficients, s),
                sigma=sigma,
                law=law_of(got.charge),
                shared=got.charge.name,
            )
            for s in self.views
        ]
        return Views(domain=self.domain, measured=tables)
