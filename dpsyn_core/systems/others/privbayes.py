"""PrivBayes: a Bayesian network chosen privately, and noisy tables of each attribute with its parents."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.estimate import Measurement, ReleasedTables, make_consistent
from dpsyn_core.measure import (
    Counter,
    Gate,
    filled,
    independence_gap,
    independence_gap_sensitivity,
    measure_marginals,
    mutual_information,
    mutual_information_sensitivity,
)
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.few_values import FewValuesConfig
from dpsyn_core.systems.others.graphical.model import draw_within
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import Size, setting
from dpsyn_core.systems.steps import Step, noise_of


@register("privbayes")
class PrivBayesConfig(FewValuesConfig):
    """Settings. Defaults are the paper's."""

    summary = "A Bayesian network found by the exponential mechanism, and Laplace tables of columns with parents."
    guarantee = Guarantee(
        text="epsilon-DP for tables of a public number of records, one individual exchanged",
        neighbours=("replace",),
        approximate=False,
        needs_public_n=True,
        one_record=True,
    )

    measures = ("difference",)  # without one of two dates its network gives the other parents that are noise

    structure_share: float = setting(
        0.3,
        "Share of the network",
        "Part of epsilon for choosing the network (beta of the paper); the rest measures its tables.",
        gt=0,
        lt=1,
    )
    usefulness: float = setting(
        4.0,
        "Usefulness",
        "The cells of a table are limited so that the average count is this many times its noise (theta of the paper).",
        gt=0,
        le=1000,
    )
    score: Literal["r", "mutual-information"] = setting(
        "r",
        "Score",
        "What makes good parents: r is the distance from independence, with little noise; mutual "
        "information is the original, with more.",
    )
    consistent: bool = setting(
        True,
        "Consistent tables",
        "Tables agree on shared attributes and lose negative cells by norm_sub; off: negative cells are "
        "set to zero, as published.",
    )
    max_parents: int = setting(4, "Most parents", "No attribute gets more parents than this.", between=(0, 10))
    max_candidates: int = setting(
        50_000,
        "Most candidates",
        "Parent sets scored in the whole run; fewer parents are allowed when there would be more.",
        between=(1, 10_000_000),
    )

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.7 + 0.01 * size.attributes + 0.4 * size.values

    def build(self, task: Task) -> Synthesizer:
        """Plans the search from public facts alone."""
        return PrivBayes(self, task)


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """An attribute and its parents, in the order in which records are sampled."""

    child: str
    parents: AttributeSet


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """Released families and tables; every family lies inside one of the tables."""

    families: list[Family]
    tables: list[Measurement]


class PrivBayes(Synthesizer):
    """Calibrated."""

    def __init__(self, config: PrivBayesConfig, task: Task) -> None:
        """Keeps the plan: cap on cells and on parents."""
        self.config, self.domain, self.unit = config, task.domain, task.unit
        self.n = task.known_n
        self.cost: Cost = task.budget.pure()
        d = len(self.domain)
        epsilon_tables = self.cost.epsilon * (1 - config.structure_share)
        # average count n / cells against the noise 2 theta d / epsilon_2 of a cell
        self.cap = self.n * epsilon_tables / (2 * self.unit.max_records * d * config.usefulness)
        self.most = max(
            (k for k in range(config.max_parents + 1) if _candidates(d, k) <= config.max_candidates), default=0
        )

    def steps(self, n_records: float) -> list[Step]:
        """Choices, of which the last may have one option and be free; then the tables of the largest families."""
        d, sizes = len(self.domain), self.domain.sizes
        network = self.config.structure_share if d > 1 else 0.0
        certain = network * max(0, d - 2) / max(1, d - 1)
        fewest = math.ceil(d / (1 + self.most))
        largest = max(*sizes, min(math.floor(self.cap), self.domain.cells(self.domain.names)))
        sigma = (
            noise_of(self.cost.scaled((1 - certain) / fewest), self.unit),
            noise_of(self.cost.scaled((1 - network) / d), self.unit),
        )
        out = [Step(kind="choice", parts=(max(0, d - 2), d - 1), share=(certain, network))] if d > 1 else []
        tables = Step(
            kind="chosen", parts=(fewest, d), share=(1 - network, 1 - certain), sigma=sigma, cells=(min(sizes), largest)
        )
        return [*out, tables]

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> Network:
        """The network, one choice an attribute, then its largest tables."""
        names = self.domain.names
        families = [Family(child=names[0], parents=())]
        step = self.config.structure_share / max(1, len(names) - 1)
        left = 1.0  # share of the budget that is still there; a choice with one option costs nothing
        scores = _Scores(self, counter)
        while len(families) < len(names):
            options = self._options(tuple(f.child for f in families))
            chosen = 0
            if len(options) > 1:
                chosen = gate.select(
                    f"parents of attribute {len(families) + 1}",
                    scores.of(options),
                    sensitivity=self._sensitivity(options),
                    cost=self.cost.scaled(step),
                )
                left -= step
            families.append(options[chosen])
            progress("choose the network", len(families), len(names))
        sets = _largest([self.domain.ordered_set((f.child, *f.parents)) for f in families])
        rest = self.cost.scaled(left * (1 - 1e-12))
        measured = measure_marginals(counter, sets, rest.split([1.0] * len(sets)), gate=gate)
        progress("measure tables", 1, 1)
        return Network(families=families, tables=measured)

    def measurements(self, measured: Network) -> ReleasedTables:
        """The tables of attributes with their parents, as they were released: counts, not conditional shares."""
        return ReleasedTables(measured.tables)

    def _options(self, placed: Sequence[str]) -> list[Family]:
        """Every open attribute with its maximal parent sets of at most `cap` cells, and of `most` parents."""
        out = []
        for child in self.domain.names:
            if child in placed:
                continue
            room = self.cap / self.domain[child].size
            sizes = {n: self.domain[n].size for n in placed}
            out += [Family(child=child, parents=p) for p in maximal_sets(sizes, room, self.most)]
        return out

    def _sensitivity(self, options: Sequence[Family]) -> float:
        if self.config.score == "r":
            return float(independence_gap_sensitivity(self.n, self.unit.max_records))
        binary = all(self.domain[f.child].size <= 2 or self.domain.cells(f.parents) <= 2 for f in options)
        return self.unit.max_records * mutual_information_sensitivity(self.n, binary=binary)

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """Attributes drawn one after the other, each given its parents; rows without mass are uniform."""
        n = self.n if n_records is None else n_records
        tables = measured.tables
        if self.config.consistent:
            tables = make_consistent(tables, total=float(self.n))
        out = np.zeros((len(self.domain), n), dtype=np.min_scalar_type(max(self.domain.sizes) - 1))
        for i, family in enumerate(measured.families):
            table = _conditional(tables, family, self.domain)
            shape = self.domain.shape(family.parents)
            rows = tuple(out[self.domain.index(p)].astype(np.intp) for p in family.parents)
            groups = np.ravel_multi_index(rows, shape) if rows else np.zeros(n, dtype=np.intp)
            out[self.domain.index(family.child)] = draw_within(table, groups, rng=rng)
            progress("sample", i + 1, len(measured.families))
        return out


class _Scores:
    """Exact scores, each counted once. Private: it is only ever called by the gate."""

    def __init__(self, system: PrivBayes, counter: Counter) -> None:
        self.system, self.counter = system, counter
        self.known: dict[Family, float] = {}

    def of(self, options: Sequence[Family]) -> Callable[[], NDArray[Any]]:
        """A function that scores the options."""
        return lambda: self._score(options)

    def _score(self, options: Sequence[Family]) -> NDArray[Any]:
        fresh = [f for f in options if f not in self.known]
        domain = self.system.domain
        sets = [domain.ordered_set((f.child, *f.parents)) for f in fresh]
        for start in range(0, len(fresh), 1000):
            tables = self.counter.marginals(sets[start : start + 1000])
            for family, names, table in zip(fresh[start:], sets[start:], tables, strict=False):
                flat = np.moveaxis(table, names.index(family.child), 0).reshape(domain[family.child].size, -1)
                if self.system.config.score == "r":
                    self.known[family] = independence_gap(flat, self.system.n)
                else:
                    self.known[family] = mutual_information(filled(flat, self.system.n))
        dtype = np.int64 if self.system.config.score == "r" else np.float64
        return np.array([self.known[f] for f in options], dtype=dtype)


def _candidates(d: int, most: int) -> int:
    """Families scored in all steps together when all parent sets have `most` members (each is counted once)."""
    return sum((d - k) * math.comb(k - 1, most - 1) for k in range(most, d)) if most else d


def maximal_sets(sizes: dict[str, int], room: float, most: int) -> list[AttributeSet]:
    """Sets of at most `most` names whose sizes multiply to at most `room` and to which no further name can be added.

    The empty set when nothing fits. Source: Zhang et al. 2017, maximal parent sets without taxonomies.
    """
    names = list(sizes)
    fitting = [
        s
        for k in range(1, min(most, len(names)) + 1)
        for s in itertools.combinations(names, k)
        if math.prod(sizes[n] for n in s) <= room
    ]
    if not fitting:
        return [()]
    out = []
    for s in fitting:
        cells = math.prod(sizes[n] for n in s)
        if len(s) == most or not any(cells * sizes[n] <= room for n in names if n not in s):
            out.append(s)
    return out


def _largest(sets: Sequence[AttributeSet]) -> list[AttributeSet]:
    """The sets that lie in no other one."""
    unique = list(dict.fromkeys(sets))
    return [s for s in unique if not any(set(s) < set(t) for t in unique)]


def _conditional(tables: Sequence[Measurement], family: Family, domain: Domain) -> NDArray[np.float64]:
    """Positive part of a family's table, shape (cells of the parents, size of the child)."""
    members = {family.child, *family.parents}
    holder = next(m for m in tables if members <= set(m.attributes))
    kept = np.clip(holder.values, 0, None)
    kept = kept.sum(axis=tuple(i for i, n in enumerate(holder.attributes) if n not in members))
    names = [n for n in holder.attributes if n in members]
    order = [names.index(n) for n in (*family.parents, family.child)]
    return np.asarray(kept.transpose(order).reshape(-1, domain[family.child].size))
