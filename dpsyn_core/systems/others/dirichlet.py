"""Dirichlet-multinomial: a contingency table of synthetic records, pure DP without added noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError, SizeError
from dpsyn_core.estimate import spread
from dpsyn_core.measure import Counter, Gate
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet, Domain
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.few_values import FewValuesConfig
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import AttributeSets, Size, partition, setting


@register("dirichlet-multinomial")
class DirichletMultinomialConfig(FewValuesConfig):
    """Settings."""

    summary = "A synthetic contingency table drawn from a Dirichlet posterior; two codes give the beta-binomial."
    guarantee = Guarantee(
        text="epsilon-DP for tables of a public number of records, one individual exchanged",
        neighbours=("replace",),
        approximate=False,
        needs_public_n=True,
    )

    tables: AttributeSets = setting(
        (),
        "Tables",
        "Disjoint contingency tables, as in 'age+sex, city'; empty: the groups of the schema, or one table "
        "of everything when it has none. Attributes in no table get their own. Tables share epsilon.",
    )
    exposures: str = setting(
        "",
        "Exposures",
        "Public numbers of inhabitants, one for each value of an attribute, as in 'town=800/1500/20000': "
        "cells of a table that holds it get a prior count in proportion, and none less than before. These are the "
        "counts of the Gamma-Poisson model. Empty: all cells alike.",
    )
    records: int | None = setting(
        None,
        "Records",
        "Records drawn for a table; empty: the public number of records. Fewer records need less prior, "
        "hence less distortion.",
        ge=0,
    )
    replicates: int = setting(
        1,
        "Replicates",
        "Independent synthetic copies; they share epsilon and are stacked in the output.",
        between=(1, 100),
    )
    max_cells: int = setting(
        65_536,
        "Largest table",
        "Tables with more cells are refused: every cell, empty or not, receives the same prior count.",
        between=(1, 1 << 24),
        unit="cells",
    )

    @property
    def no_marginals(self) -> str:
        """Its tables are drawn, not counted with noise."""
        return "dirichlet-multinomial draws its tables from a posterior, whose noise has no known size on a cell"

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.75 + 0.5 * size.values

    def build(self, task: Task) -> Synthesizer:
        """Refuses tables above the cap."""
        if self.tables or any(a.group is not None for a in task.domain.attributes):
            tables = partition(self.tables, task.domain, setting="tables")
        else:
            tables = [task.domain.names]
        for table in tables:
            cells = task.domain.cells(table)
            if cells > self.max_cells:
                msg = (
                    f"dirichlet-multinomial has a table of {len(table)} attributes and {cells} cells, above max_cells "
                    f"{self.max_cells}; set 'tables' to smaller ones, or use the method 'field-groups' or 'rls'"
                )
                raise SizeError(msg)
        return DirichletMultinomial(self, task, tables, exposures_of(self.exposures, task.domain))


def exposures_of(text: str, domain: Domain) -> tuple[str, NDArray[np.float64]] | None:
    """The attribute and the number for each of its values; None where nothing is set.

    Raises:
        SettingError: it names no attribute, or not one number above 0 for each value.
    """
    if not text:
        return None
    name, _, listed = (part.strip() for part in text.partition("="))
    if name not in domain.names:
        msg = f"setting 'exposures' names '{name}', which is no attribute; known are {', '.join(domain.names)}"
        raise SettingError(msg)
    try:
        values = np.array([float(x) for x in listed.split("/")])
    except ValueError:
        values = np.zeros(0)
    size = domain.shape((name,))[0]
    if len(values) != size or not (np.isfinite(values) & (values > 0)).all():
        msg = (
            f"setting 'exposures' has '{listed}' for '{name}'; give a number above 0 for each of its {size} values, "
            "with '/' between them"
        )
        raise SettingError(msg)
    return name, values


@dataclass(frozen=True, kw_only=True, slots=True)
class SyntheticTable:
    """Synthetic counts of one table: int64 (replicates, cells), every row of the same sum."""

    attributes: AttributeSet
    counts: NDArray[np.int64]


class DirichletMultinomial(Synthesizer):
    """Calibrated."""

    def __init__(
        self,
        config: DirichletMultinomialConfig,
        task: Task,
        tables: list[AttributeSet],
        exposures: tuple[str, NDArray[np.float64]] | None,
    ) -> None:
        """Tables and replicates share epsilon evenly."""
        self.config, self.domain, self.tables, self.exposures = config, task.domain, tables, exposures
        self.cost = task.budget.pure()
        self.draws = task.known_n if config.records is None else config.records

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> list[SyntheticTable]:
        """One charge a table and replicate."""
        copies = self.config.replicates
        costs = iter(self.cost.split([1.0] * (len(self.tables) * copies)))
        out = []
        for i, table in enumerate(self.tables):
            cells = self.domain.cells(table)
            name = "synthetic table " + " x ".join(table)
            rows = [
                gate.dirichlet(
                    name,
                    partial(counter.marginal, table),
                    cells=cells,
                    draws=self.draws,
                    cost=next(costs),
                    exposures=self._exposures(table),
                ).values
                for _ in range(copies)
            ]
            out.append(SyntheticTable(attributes=table, counts=np.stack(rows)))
            progress("measure", i + 1, len(self.tables))
        return out

    def _exposures(self, table: AttributeSet) -> NDArray[np.float64] | None:
        """That of each cell; None where the table does not hold the attribute."""
        if self.exposures is None or self.exposures[0] not in table:
            return None
        name, numbers = self.exposures
        return np.broadcast_to(spread(numbers, (name,), table), self.domain.shape(table)).ravel().copy()

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """The drawn records, shuffled; fewer are a sample without replacement, further ones drawn with it."""
        drawn = self.draws * self.config.replicates
        n = drawn if n_records is None else n_records
        out = np.zeros((len(self.domain), n), dtype=np.min_scalar_type(max(self.domain.sizes) - 1))
        for i, table in enumerate(measured):
            bins = self._bins(table.counts, n, rng)
            shape = self.domain.shape(table.attributes)
            for name, codes in zip(table.attributes, np.unravel_index(bins, shape), strict=True):
                out[self.domain.index(name)] = codes
            progress("synthesize", i + 1, len(measured))
        return out

    @staticmethod
    def _bins(counts: NDArray[np.int64], n: int, rng: Generator) -> NDArray[np.int64]:
        """Counts of records per bin; replicates stay separate blocks when all records are asked for."""
        cells = counts.shape[1]
        rows = np.concatenate([rng.permutation(np.repeat(np.arange(cells), c)) for c in counts])
        if n == rows.size:
            return rows
        if n < rows.size:
            return rng.choice(rows, size=n, replace=False)
        extra = n - rows.size
        fill = rng.choice(rows, size=extra) if rows.size else rng.integers(0, cells, size=extra)
        return np.concatenate([rows, fill])
