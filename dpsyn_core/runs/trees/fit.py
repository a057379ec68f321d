"""Makes forests of what is released of a tree: the root as one table, then the children stage by stage.

What is measured of a stage rests on records synthesized before it, which give only expected counts of context columns:
post-processing. Forests of a release that is at hand measure nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from dpsyn_core.errors import EngineError
from dpsyn_core.estimate import Measurement, ReleasedTables, noisy_total, redrawn
from dpsyn_core.measure import Gate
from dpsyn_core.privacy import Budget, Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.runs.trees.allowed_counts import only_permitted, permitted, without_forbidden
from dpsyn_core.runs.trees.division import Costs, noise_of
from dpsyn_core.runs.trees.forest import Forest, shapes_of
from dpsyn_core.runs.trees.measurement import Standing, ViewRelease, measure_view, root_system
from dpsyn_core.runs.trees.pair_choice import ViewEvidence
from dpsyn_core.runs.trees.real_tables import RealForests, root_domain
from dpsyn_core.runs.trees.stages import Columns, Stage, View, context_columns, in_root, stages_of
from dpsyn_core.runs.trees.synthesis import empty_forest, make_stage, with_grandchildren
from dpsyn_core.schema import LinkedSchema
from dpsyn_core.systems import MethodConfig, PublicTable, Rls, RlsConfig, Task


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeRelease:
    """All that a run on linked tables released: enough to make further tables at no budget.

    root: of the root table. views: of each stage, in their order: of its children, and of consecutive siblings (None
    where it has none). questions: the table of each declared question. headers: columns of the tables, by name.
    """

    root: ReleasedTables
    views: tuple[tuple[ViewRelease, ViewRelease | None], ...]
    questions: tuple[Measurement, ...] = ()
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """The released number of roots."""
        return noisy_total(self.root)

    def redrawn(self, *, pure: bool, rng: Generator) -> TreeRelease:
        """The same with noise drawn once more on top; see `estimate.marginals.types.redrawn`."""

        def again(view: ViewRelease) -> ViewRelease:
            return replace(view, tables=view.tables.like(redrawn(view.tables, pure=pure, rng=rng)))

        views = tuple((again(children), None if pairs is None else again(pairs)) for children, pairs in self.views)
        return replace(self, root=self.root.like(redrawn(self.root, pure=pure, rng=rng)), views=views)


class TreeFit:
    """Makes forests; each stage of what was released of it, or measures it first where it was not."""

    def __init__(
        self, schema: LinkedSchema, *, config: MethodConfig, budget: Budget, costs: Costs, rng: Generator,
        public: PublicTable | None = None, progress: Progress = silent,
    ) -> None:  # fmt: skip
        """Keeps what is public.

        Args:
            schema: of the columns that are measured.
            config: the system.
            budget: of the run.
            costs: its parts.
            rng: of the post-processing.
            public: records like the roots, of a table that is public; None: there is none.
            progress: receives the stages.
        """
        self._costs, self._schema, self._config = costs, schema, config
        self._rng, self._progress = rng, progress
        self._task = Task.of(schema[schema.links[0].child].columns, budget)  # type: ignore[arg-type]
        self._public = public
        self._stages = stages_of(schema, pairs=isinstance(config, RlsConfig))
        self._settings = config if isinstance(config, RlsConfig) else RlsConfig()
        self._real: RealForests | None = None
        self._gate: Gate | None = None
        self._evidence: list[tuple[ViewEvidence, ViewEvidence | None]] = []  # of each stage, once the first was made
        self.root = ReleasedTables()
        self.views: list[tuple[ViewRelease, ViewRelease | None]] = []

    def measure_root(self, real: RealForests, gate: Gate) -> None:
        """Measures the root through the gate, and the stages when the first forest is synthesized."""
        self._real, self._gate = real, gate
        measured = self._root_system().measure(real.roots, gate=gate)
        self.root = measured if isinstance(measured, ReleasedTables) else ReleasedTables(measured)
        self._progress("measuring the root", 1, 1)

    def take(self, released: TreeRelease) -> None:
        """Makes forests of what was released before, and measures nothing."""
        self.root, self.views = released.root, list(released.views)

    def forget(self) -> None:
        """Drops the real tables: all that follows is post-processing."""
        self._real = self._gate = None

    def _root_system(self) -> Any:
        unit = self._schema.unit.counting(1)
        task = replace(self._task, public=self._public)
        return root_system(self._config, root_domain(self._schema), cost=self._costs.root, task=task, unit=unit)

    def forests(self, n_roots: int | None, *, most: int | None = None) -> Iterator[Forest]:
        """Forests of so many roots together (None: the released number), at most `most` in each."""
        schema, rng, progress = self._schema, self._rng, self._progress
        domain = root_domain(schema)
        system = self._root_system()
        plain = len(schema.root.coded)
        from_root = schema.below(schema.root.name)
        names = domain.names[plain:]
        shapes = [(n, shapes_of(schema)[i], schema.links[i]) for n, i in zip(names, from_root, strict=True)]
        fits = [permitted(schema, link, shape) for _, shape, link in shapes]
        measured: Any = self.root
        for (name, _, _), fit in zip(shapes, fits, strict=True):
            measured = measured if fit.all() else without_forbidden(measured, name, fit)
        total = system.view(measured).total if isinstance(system, Rls) else noisy_total(measured)
        for number in _parted(max(round(total), 0) if n_roots is None else n_roots, most):
            codes = system.synthesize(measured, number, rng=rng, progress=progress)
            numbers = [
                only_permitted(c.astype(np.int64), fit, shape.numbers, rng)
                for c, fit, (_, shape, _) in zip(codes[plain:], fits, shapes, strict=True)
            ]
            forest = empty_forest(codes[:plain], numbers, schema)
            scale = total / max(forest.n_roots, 1)
            counted = set(from_root)
            for place, stage in enumerate(self._stages):
                if stage.link not in counted:
                    forest = with_grandchildren(forest, stage.link, schema, rng)
                    counted.add(stage.link)
                evidence, pairs = self._released(forest, place, scale)
                effort = self._settings.effort
                make_stage(forest, stage, schema, evidence, pairs, effort=effort, rng=rng, progress=progress)
            yield forest

    def _released(self, made: Forest, place: int, scale: float) -> tuple[ViewEvidence, ViewEvidence | None]:
        """The released tables of a stage, with one-ways of its context columns in the first synthetic forest."""
        if place < len(self._evidence):
            return self._evidence[place]
        stage, cost = self._stages[place], self._costs.stages[place]
        standing = context_columns(made, stage, self._schema)
        weights = scale * stage.view.unit / in_root(made, stage)
        one_ways = _known(stage.view, standing, weights, self._noise_of(stage.view, cost))
        total, measures = float(weights.sum()), place == len(self.views)
        if measures:
            real, gate = self._private()
            tables = measure_view(
                stage.view, real.children(stage), one_ways, total=total, cost=cost, task=self._task, gate=gate,
                standing=Standing(columns=standing, weights=weights), config=self._settings,
            )  # fmt: skip
            self.views.append((tables, None))
        evidence, siblings = self.views[place][0].evidence(stage.view, one_ways, total), None
        for_siblings = self._costs.siblings[place]
        if stage.siblings is not None and for_siblings is not None:
            sigma = self._noise_of(stage.siblings, for_siblings)
            among, whole = _known_of_siblings(made, stage, evidence, scale, sigma)
            if measures:
                real, gate = self._private()
                pairs = measure_view(
                    stage.siblings, real.siblings(stage, stage.siblings), among, total=whole, cost=for_siblings,
                    task=self._task, gate=gate, config=self._settings,
                )  # fmt: skip
                self.views[place] = (self.views[place][0], pairs)
            pairs_of_stage = self.views[place][1]
            siblings = None if pairs_of_stage is None else pairs_of_stage.evidence(stage.siblings, among, whole)
        if measures:
            self._progress("measuring children", 1, 1)
        self._evidence.append((evidence, siblings))
        return self._evidence[place]

    def _noise_of(self, view: View, cost: Cost) -> float:
        return noise_of(cost, self._schema.unit.counting(view.unit))

    def _private(self) -> tuple[RealForests, Gate]:
        if self._real is None or self._gate is None:
            msg = "a stage is to be measured, and no real tables are at hand"
            raise EngineError(msg)
        return self._real, self._gate


def _parted(number: int, most: int | None) -> list[int]:
    """So many roots in as few nearly equal parts as hold at most `most` each."""
    parts = 1 if most is None else max(-(-number // most), 1)
    return [number * (i + 1) // parts - number * i // parts for i in range(parts)]


def _known(view: View, columns: Columns, weights: Any, sigma: float) -> list[Measurement]:
    """One-ways of the columns that stand."""
    return [
        Measurement(
            attributes=(c.attribute.name,),
            values=np.bincount(codes, weights, minlength=c.attribute.size).astype(np.float64),
            sigma=sigma,
        )
        for c, codes in zip(view.columns, columns, strict=False)
    ]


def _known_of_siblings(
    made: Forest, stage: Stage, evidence: ViewEvidence, scale: float, sigma: float
) -> tuple[list[Measurement], float]:
    """What each of consecutive siblings looks like by itself, which follows from the stage; and their weight."""
    view = stage.siblings
    several = made.root_of(stage.link)[made.children[stage.link].counts > 1]
    total = float(len(np.unique(several))) * scale * (0 if view is None else view.unit)
    alone = {n: p / max(p.sum(), 1e-300) * total for n, p in zip(evidence.domain.names, evidence.one_ways, strict=True)}
    one_ways = [
        Measurement(attributes=(c.attribute.name,), values=alone[c.attribute.name.removesuffix(" before")], sigma=sigma)
        for c in (() if view is None else view.columns)
        if c.kind in ("before", "own")
    ]
    return one_ways, total
