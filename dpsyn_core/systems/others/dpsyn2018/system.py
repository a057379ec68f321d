"""DPSyn 2018: random views or engineered marginals at one noise level, compressed attributes, separate and join."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import ValidationError, field_validator

from dpsyn_core.errors import SizeError
from dpsyn_core.estimate import (
    Compressed,
    JointTable,
    Measurement,
    Recodes,
    ReleasedTables,
    coarsen,
    components,
    compress,
    compressed_one_way,
    on_compressed,
)
from dpsyn_core.measure import Counter, Gate, measure_marginals
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, CodedAttribute, Domain
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.others.dpsyn import cheaper_noise
from dpsyn_core.systems.others.dpsyn2018 import views
from dpsyn_core.systems.others.dpsyn2018.design import Design, check_at_every_budget, check_design, with_schema_groups
from dpsyn_core.systems.others.dpsyn2018.lifting import Listed, lift, resolve
from dpsyn_core.systems.others.dpsyn2018.parts import PartsBudget, join_parts, over_attributes
from dpsyn_core.systems.others.dpsyn2018.work_tables import Working, measure, members_of, working_attributes
from dpsyn_core.systems.others.record_settings import RecordConfig, RecordSettings, consistent_tables, updates
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import Size, setting
from dpsyn_core.systems.steps import Step, even

# of the budget, for the first releases beside all pairs and triples of parts, hundreds of which have equal noise: with
# less, too many values are taken for rare
FIRST_INSIDE = 0.15
RAW_CELLS = 20_000_000  # of one marginal before its attributes are compressed: 160 MB while it is counted


@register("dpsyn-2018")
class DPSyn2018Config(RecordConfig):
    """Settings of DPSyn 2018."""

    summary = "Random views under a cell cap, or marginals engineered in public, on compressed columns."
    guarantee = Guarantee(
        text="(epsilon, delta)-DP by exact Gaussian accounting, or epsilon-DP with Laplace noise where that is less"
    )

    views: int = setting(
        50, "Views", "How many attribute sets are drawn at random, where the design has no parts.", between=(1, 10_000)
    )
    view_size: int = setting(8, "Attributes per view", "Attributes drawn for each set.", between=(2, 20))
    view_cells: int = setting(
        10_000,
        "Cells per view",
        "A drawn attribute that would bring its set above this many cells is left out of it; pairs and "
        "triples inside the parts of a design that have more are not measured.",
        between=(2, 10_000_000),
        unit="cells",
    )
    view_seed: int = setting(0, "Seed of the views", "Public: the views are drawn without looking at the data.", ge=0)
    rare_sigmas: float = setting(
        4.5,
        "Rare below, in noise",
        "Values whose noisy count is below this many standard deviations share one cell.",
        between=(0, 100),
        unit="sigma",
    )
    rare_share: float = setting(
        0.0012,
        "Rare below, in records",
        "Values below this share of all records share one cell; the original has 800 of 662,000.",
        ge=0,
        lt=1,
        unit="share",
    )
    most_values: int = setting(
        0,
        "Values kept",
        "Keep at most this many values of an attribute and merge the others; 0 keeps all frequent ones.",
        ge=0,
    )
    update: RecordSettings = updates(alpha=0.2, decay=1.0, sweeps=100)
    schema_groups: bool = setting(
        False,
        "Groups of the schema",
        "Attributes that the schema puts into one group are counted as one, over their product.",
    )
    design: Design = setting(
        Design(),
        "Marginal engineering",
        "A public JSON document: groups, patterns, bins, hierarchies, functional, parts, marginals with weights, "
        "and how they change with epsilon. Without a list of marginals, all pairs and triples inside the parts are "
        "measured; without parts, views that are drawn at random.",
        json_schema_extra={"widget": "json"},
    )

    @field_validator("design", mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            try:
                return Design.model_validate_json(value) if value.strip() else Design()
            except ValidationError as error:
                first = error.errors()[0]
                msg = f"{'.'.join(str(p) for p in first['loc'])}: {first['msg']}"
                raise ValueError(msg) from error
        return value

    def recodes(self, domain: Domain) -> Recodes:
        """None: its design says which values are counted together, and rare ones are by what is released."""
        return {}

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.9 + 1.7 * size.values

    def build(self, task: Task) -> Synthesizer:
        """Checks the design against the domain, which is all it may depend on, and takes what the budget calls for."""
        check_at_every_budget(self.design, task.domain)
        design = self.design.at(task.budget.epsilon)
        if self.schema_groups:
            design = with_schema_groups(design, task.domain)
            check_design(design, task.domain)
        return DPSyn2018(self.model_copy(update={"design": design}), task)


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured2018:
    """What was released.

    fine: one-ways of single attributes. one_ways: one-ways of working attributes. compressed: how those are
    counted. marginals: over compressed working attributes. alone: listed sets with members of groups alone, with
    what was measured of them. functional: two-ways (source, target).
    """

    fine: dict[str, Measurement]
    one_ways: dict[str, Measurement]
    compressed: dict[str, Compressed]
    marginals: list[Measurement]
    alone: list[tuple[Measurement, Listed]]
    functional: dict[str, Measurement]


class DPSyn2018(Synthesizer):
    """Calibrated: every release has the same noise, as in the original, but for the weights of listed sets."""

    def __init__(self, config: DPSyn2018Config, task: Task) -> None:
        """Counts the releases, which the domain and the design decide. Raises SizeError for a group above the cap."""
        self.config = config
        self.task = task
        self.domain = task.domain
        design = config.design
        self.working = {w.name: w for w in working_attributes(task.domain, design)}
        for w in self.working.values():
            if w.size > RAW_CELLS:
                msg = (
                    f"the group '{w.name}' has {w.size} cells, above the cap of {RAW_CELLS}; "
                    "split it, or put bins on its members"
                )
                raise SizeError(msg)
        asked = None if design.one_ways is None else set(design.one_ways)
        # single attributes are measured finely and summed into their bins, which saves a release
        single = [m for w in self.working.values() for m in w.members if len(w.members) == 1 or m in w.maps]
        if asked is not None:
            grouped = [m for w in self.working.values() if len(w.members) > 1 for m in w.members if m not in w.maps]
            single = [m for m in [*single, *grouped] if m in asked]
        self.fine = single
        several = [w for w in self.working.values() if len(w.members) > 1]
        self.grouped = [w for w in several if asked is None or w.name in asked]
        self.listed = None
        if design.marginals:
            sets = design.marginals[0].sets
            self.listed = [resolve(s.attributes, s.weight, self.working) for s in sets]
            for listed in self.listed:
                self._check_raw(listed)
        if self.listed is not None:
            weights = [s.weight for s in self.listed]
        elif design.parts:
            views.check_parts(design.parts)
            weights = [1.0] * max(1, sum(map(len, self._inside(self._raw()))))  # those that fit the cap in any case
        else:
            weights = [1.0] * config.views
        first = len(self.fine) + len(self.grouped) + len(design.functional)
        # that many equal releases spread the budget as widely as these weights do
        spread = (first + sum(weights)) ** 2 / (first + sum(w * w for w in weights))
        self.cost = cheaper_noise(task.budget, task.unit, math.ceil(spread - 1e-9))
        least = FIRST_INSIDE if design.parts and self.listed is None and first else 0.0
        self.first_share = max(first / (first + sum(weights)), least)

    def _check_raw(self, listed: Listed) -> None:
        cells = max(math.prod(w.size for w in listed.parts), listed.lifted_cells(self.working) if listed.lifted else 0)
        if cells > RAW_CELLS:
            msg = (
                f"the marginal of {' x '.join(w.name for w in listed.parts)} has {cells} cells before compression, "
                f"above the cap of {RAW_CELLS}; name fewer attributes or add bins"
            )
            raise SizeError(msg)

    def _halves(self) -> tuple[Cost | None, Cost]:
        """What the first releases cost, if there are any, and what the marginals do."""
        if self.first_share == 0:
            return None, self.cost
        first, rest = self.cost.split([self.first_share, 1 - self.first_share])
        return first, rest

    def steps(self, n_records: float) -> list[Step]:
        """First what the design names, exactly; then the list, what parts hold, or as many random views as differ."""
        unit, functional = self.task.unit, self.config.design.functional
        first, rest = self._halves()
        out = []
        if first is not None:
            count = len(self.fine) + len(self.grouped) + len(functional)
            cells = [self.domain[n].size for n in self.fine] + [w.size for w in self.grouped]
            cells += [self.domain.cells((f.source, f.target)) for f in functional]
            kind = "listed" if self.grouped or functional else "1-way"
            out.append(even(kind, first, self.cost, unit, parts=(count, count), cells=cells))
        within, cap = self.config.design.parts, self.config.view_cells
        spent = PartsBudget(
            parts=within, rest=rest, whole=self.cost, unit=unit, working=self.working, domain=self.domain
        )
        if self.listed is not None:
            return out + spent.listed(self.listed)
        if within:
            return out + spent.inside(self._inside(self._raw()), self._inside(None), cap=cap)
        number = (1, max(self.config.views, len(self.working)))
        cells = [1, max(cap, *(w.size for w in self.working.values()))]
        return [*out, even("chosen", rest, self.cost, unit, parts=number, cells=cells)]

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Measured2018:
        """One-ways, then compression from what they released, then the marginals."""
        functional = self.config.design.functional
        first, rest = self._halves()
        count = len(self.fine) + len(self.grouped) + len(functional)
        each = first.split([1.0] * count) if first is not None else []
        singles = measure_marginals(counter, [(n,) for n in self.fine], each[: len(self.fine)], gate=gate)
        fine = dict(zip(self.fine, singles, strict=True))
        alone = [w for w in self.working.values() if self._told(w)]
        one_ways = {w.name: _coarse(fine[w.members[0]], w) for w in alone}
        each = each[len(self.fine) :]
        for w, cost in zip(self.grouped, each, strict=False):
            one_ways[w.name] = measure(counter, [w], {}, cost, gate)
        derived = {}
        for f, cost in zip(functional, each[len(self.grouped) :], strict=True):
            derived[f.target] = measure_marginals(counter, [(f.source, f.target)], [cost], gate=gate)[0]
        compressed = {n: self._compress(m) for n, m in one_ways.items()}
        sets = self._sets(compressed)
        tables: list[tuple[Measurement, Listed]] = []
        for i, (s, cost) in enumerate(zip(sets, rest.split([s.weight for s in sets]), strict=True)):
            tables.append((measure(counter, s.parts, compressed, cost, gate), s))
            progress("measure", i + 1, len(sets))
        return Measured2018(
            fine=fine,
            one_ways=one_ways,
            compressed=compressed,
            functional=derived,
            marginals=[m for m, s in tables if not s.lifted],
            alone=[(m, s) for m, s in tables if s.lifted],
        )

    def measurements(self, measured: Measured2018) -> ReleasedTables:
        """One-ways, two-ways of derived attributes, groups, and the marginals on compressed codes."""
        packed = measured.compressed
        tables = [
            over_attributes(measured.one_ways[w.name], [w], {}, self.domain)
            for w in self.grouped
            if w.name in measured.one_ways
        ]
        tables += [
            over_attributes(m, [self.working[n] for n in m.attributes], packed, self.domain) for m in measured.marginals
        ]
        tables += [over_attributes(m, s.parts, packed, self.domain) for m, s in measured.alone]
        plain = [m for m in tables if isinstance(m, Measurement)]
        out = ReleasedTables([*measured.fine.values(), *measured.functional.values(), *plain])
        out.joint = tuple(m for m in tables if isinstance(m, JointTable))
        return out

    def _compress(self, m: Measurement) -> Compressed:
        total = max(0.0, float(m.values.sum()))
        threshold = max(self.config.rare_sigmas * m.sigma, self.config.rare_share * total)
        return compress(m.values, threshold, limit=self.config.most_values or None)

    def _sets(self, compressed: dict[str, Compressed]) -> list[Listed]:
        """The listed sets, those inside parts, or random ones that fit the cap after compression; each set once."""
        if self.listed is not None:
            return self.listed
        sizes = {n: compressed[n].size if n in compressed else raw for n, raw in self._raw().items()}
        config = self.config
        if config.design.parts:
            sets_of = [s for sets in self._inside(sizes) for s in sets]
        else:
            sets_of = views.drawn(
                self._raw(),
                sizes,
                count=config.views,
                width=config.view_size,
                cells=config.view_cells,
                most_raw=RAW_CELLS,
                seed=config.view_seed,
            )
        return [resolve(s, 1.0, self.working) for s in sets_of or [(n,) for n in self.working]]

    def _raw(self) -> dict[str, int]:
        """Values of every working attribute before compression."""
        return {n: w.size for n, w in self.working.items()}

    def _inside(self, sizes: Mapping[str, int] | None) -> list[list[AttributeSet]]:
        """For each part the sets that are measured when attributes are counted in so many values; None: in one."""
        one_ways = {*(w.name for w in self.grouped), *(w.name for w in self.working.values() if self._told(w))}
        return views.inside(
            self.config.design.parts,
            self._raw(),
            dict.fromkeys(self.working, 1) if sizes is None else sizes,
            cells=self.config.view_cells,
            most_raw=RAW_CELLS,
            alone=[n for n in self.working if n not in one_ways],
        )

    def _told(self, w: Working) -> bool:
        """Whether the first releases hold the one-way of an attribute of one member."""
        return len(w.members) == 1 and w.members[0] in self.fine

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Consistency, records part by part, join, then every attribute back to codes of the domain."""
        packed = measured.compressed
        inner = Domain(
            tuple(
                CodedAttribute(name=n, size=packed[n].size if n in packed else w.size) for n, w in self.working.items()
            )
        )
        order = {n: i for i, n in enumerate(self.working)}
        tables = [compressed_one_way(m, packed[n]) for n, m in measured.one_ways.items()]
        tables += on_compressed(measured.marginals, packed)
        released = {n: m.values for n, m in measured.one_ways.items()}
        tables += on_compressed(lift(measured.alone, self.working, released, packed), packed)
        tables, n = consistent_tables(
            tables, n_records, self.config.update, n_public=self.task.n_public, progress=progress
        )
        within = self.config.design.parts or components([m.attributes for m in tables], inner.names)
        codes = join_parts(tables, inner, within, n, self.config.update, rng=rng, progress=progress)
        columns: dict[str, NDArray[np.intp]] = {}
        for w in self.working.values():
            column = codes[order[w.name]].astype(np.intp)
            if w.name in packed:
                column = packed[w.name].restore(column, rng=rng)
            columns |= members_of(column, w, measured.fine, self.domain, rng=rng)
        for name in self.config.design.unmeasured:
            plain = self.domain[name].size - self.domain[name].special
            columns[name] = rng.integers(0, max(plain, 1), n)
        for target, m in measured.functional.items():
            source = m.attributes[0] if m.attributes[1] == target else m.attributes[1]
            table = m.values if m.attributes[0] == source else m.values.T
            columns[target] = table.argmax(axis=1)[columns[source]]
        for h in self.config.design.hierarchies:
            columns[h.general] = np.array(h.codes, dtype=np.intp)[columns[h.detailed]]
        dtype = np.min_scalar_type(max(self.domain.sizes, default=1) - 1)
        return np.array([columns[a] for a in self.domain.names], dtype=dtype).reshape(len(self.domain), n)


def _coarse(m: Measurement, w: Working) -> Measurement:
    """The one-way of a working attribute of one member, summed into its bins."""
    return Measurement(attributes=(w.name,), values=coarsen(m.values, m.attributes, w.maps), sigma=m.sigma)
