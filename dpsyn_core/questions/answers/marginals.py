"""Any marginal from released ones: these are adjusted to agree, then projected or reconstructed. Blind."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from dpsyn_core.errors import TableError
from dpsyn_core.estimate import (
    APART,
    Coarsening,
    Measurement,
    Recodes,
    Reconstruction,
    ReconstructionRule,
    check_query,
    coarsen,
    disagreement,
    estimate_total,
    make_consistent,
    merged,
    probabilities,
    project,
    proper,
    reconstruct,
)
from dpsyn_core.estimate import NonNegativeRule as NonNegativity
from dpsyn_core.schema import AttributeSet, Domain

Array = NDArray[np.float64]
WHOLE = 500_000  # cells, at all values, of tables that agree as a whole before a marginal is read off one of them


class ReadingSettings(BaseModel):
    """How a marginal is read off released tables; all of it is post-processing, free to change and to repeat."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reconstruction: ReconstructionRule = Field(
        default="maximum-entropy",
        title="Reconstruction",
        description=(
            "How a marginal that no released table holds is found: the flattest table that agrees with the released "
            "ones, the one of least norm, or one of least disagreement by a linear program."
        ),
    )
    nonnegativity: NonNegativity = Field(
        default="ripple",
        title="Negative cells",
        description="ripple takes a deficit from neighbouring cells; norm_sub and norm_cut read each cell on its own.",
    )
    rounds: int = Field(
        default=10,
        ge=1,
        le=1000,
        title="Consistency rounds",
        description="At most this many rounds of agreeing on overlaps and removing negative cells. What is left apart "
        "after them is scaled away.",
    )
    sweeps: int = Field(
        default=1000,
        ge=1,
        le=100_000,
        title="Sweeps",
        description="At most this many rounds of fitting; it stops early.",
    )


class Reader:
    """Reads any number of marginals off the released tables of one run, of whatever system."""

    def __init__(
        self,
        measured: Sequence[Measurement],
        domain: Domain,
        settings: ReadingSettings,
        *,
        n_public: int | None = None,
        as_measured: bool = False,
    ) -> None:
        """Keeps the tables; nothing is computed yet.

        Args:
            measured: released tables, perhaps of coarse values.
            domain: of the schema.
            settings: how they are read.
            n_public: the number of records where it is public.
            as_measured: a table over exactly the attributes of the query is returned as released.

        Raises:
            TableError: there is no table.
        """
        self.domain, self.settings = domain, settings
        self.total = None if n_public is None else float(n_public)
        self.tables = merged(measured)
        self._as_measured = as_measured
        self._columns: dict[str, Reconstruction] = {}
        self._groups: dict[int, tuple[list[Measurement], float]] = {}
        if not self.tables:
            msg = "there are no released marginals to read from; give the file of a run that measured some"
            raise TableError(msg)

    def check(self, names: Sequence[str]) -> AttributeSet:
        """The attributes in domain order. Raises SchemaError, SizeError, or TableError where one was never measured."""
        check_query(self.domain, names)
        names_in = {n for t in self.tables for n, size in zip(t.attributes, t.values.shape, strict=True) if size > 1}
        names_in |= {a.name for a in self.domain.attributes if a.size == 1}  # there is nothing to tell apart
        lacking = [n for n in names if n not in names_in]
        if lacking:
            msg = (
                f"no released marginal holds '{lacking[0]}', so that nothing is known of its counts; ask for marginals "
                f"of {', '.join(n for n in self.domain.names if n in names_in) or 'another release'}"
            )
            raise TableError(msg)
        return self.domain.ordered_set(names)

    def read(self, names: Sequence[str]) -> Reconstruction:
        """The marginal over some attributes; its axes follow the domain's order. Raises as `check` does."""
        asked = self.check(names)
        exact = [m for m in self.tables if m.attributes == asked] if self._as_measured else []
        if exact:
            return self._reconstructed(exact, 0.0, asked)
        if not self._coarse:
            return self._reconstructed(*self._whole, asked)
        return self._column(*asked) if len(asked) == 1 else self._of_columns(asked)

    def _reconstructed(self, tables: Sequence[Measurement], apart: float, asked: AttributeSet) -> Reconstruction:
        rule, sweeps = self.settings.reconstruction, self.settings.sweeps
        return replace(reconstruct(tables, self.domain, asked, rule=rule, sweeps=sweeps), apart=apart)

    @cached_property
    def _coarse(self) -> bool:
        return any(proper(r) is not None for m in self.tables for r in m.recodes.values())

    @cached_property
    def _whole(self) -> tuple[list[Measurement], float]:
        """All tables, adjusted to agree with each other; they are at one resolution."""
        return self._consistent([replace(m, recodes={}) for m in self.tables])

    def _consistent(self, tables: Sequence[Measurement]) -> tuple[list[Measurement], float]:
        """Tables that agree, and by how many counts they still differ where they do not."""
        rule, rounds = self.settings.nonnegativity, self.settings.rounds
        agreed = make_consistent(tables, rule=rule, rounds=rounds, total=self._number if self._coarse else self.total)
        apart = disagreement(agreed)
        return agreed, apart if apart > APART else 0.0

    def _column(self, name: str) -> Reconstruction:
        """The marginal of one column, the same for every marginal that has the column."""
        if name not in self._columns:
            whole = [m for m in self._seen((name,)) if m.attributes]
            if not whole:  # the column has one value
                whole = [Measurement(attributes=(name,), values=np.array([self._number]), sigma=0.0)]
            tables, apart = self._agreed(whole, {name: self._shares(name, whole)})
            self._columns[name] = self._reconstructed(tables, apart, (name,))
        return self._columns[name]

    def _of_columns(self, wanted: AttributeSet) -> Reconstruction:
        """A marginal of several columns that agrees with that of each, and with others of its group of tables."""
        alone = [self._column(n) for n in wanted]
        tables, apart, wide = self._joint(wanted)
        apart = max([apart, *(c.apart for c in alone)])
        return replace(self._reconstructed([*map(_exactly, alone), *tables], apart, wanted), wide=wide)

    def _joint(self, wanted: AttributeSet) -> tuple[list[Measurement], float, bool]:
        """What tables of several columns say of a query, each at its resolution: agreed, still so far apart, and wide.

        Tables that share two columns, in turn, are a group, which agrees as a whole where it has few cells. Else, its
        tables agree once they are summed to the columns of the query: another query may say something else of a pair.
        """
        near = [i for i, m in enumerate(self.tables) if len(set(wanted) & set(m.attributes)) > 1]
        found: list[Measurement] = []
        apart, wide = 0.0, []
        for g in dict.fromkeys(self._group[i] for i in near):
            group = [m for m, of in zip(self.tables, self._group, strict=True) if of == g]
            sizes = [m.cells if _common(group) is not None else self.domain.cells(m.attributes) for m in group]
            if sum(sizes) > WHOLE:
                wide += [s for m in group if len((s := self._onto(m, wanted)).attributes) > 1]
                continue
            if g not in self._groups:
                self._groups[g] = self._with_columns(group)
            tables, left = self._groups[g]
            found += [s for m in tables if len((s := self._onto(m, wanted)).attributes) > 1]
            apart = max(apart, left)
        if wide:
            found, apart = self._with_columns(merged([*found, *wide]))
        return found, apart, bool(wide)

    def _with_columns(self, tables: Sequence[Measurement]) -> tuple[list[Measurement], float]:
        """Tables that agree with each other and with the marginals of their columns."""
        names = list(dict.fromkeys(n for m in tables for n in m.attributes))
        alone = [_exactly(self._column(n)) for n in names]
        if (common := _common(tables)) is not None:  # no table need be spread
            alone = [replace(c, values=coarsen(c.values, c.attributes, common)) for c in alone]
            agreed, apart = self._consistent([*alone, *(replace(m, recodes={}) for m in tables)])
            agreed[len(alone) :] = [
                replace(a, recodes=m.recodes) for a, m in zip(agreed[len(alone) :], tables, strict=True)
            ]
        else:
            agreed, apart = self._agreed([*alone, *tables], {c.attributes[0]: c.values for c in alone})
        return agreed[len(alone) :], apart

    @cached_property
    def _group(self) -> list[int]:
        """For each table the first one of its group: those that share two columns with it, or with one of them."""
        group = list(range(len(self.tables)))
        first: dict[AttributeSet, int] = {}
        for i, m in enumerate(self.tables):
            for pair in itertools.combinations(m.attributes, 2):
                low, high = sorted((group[i], group[first.setdefault(pair, i)]))
                if low != high:
                    group = [low if g == high else g for g in group]
        return group

    def _agreed(self, seen: Sequence[Measurement], shares: dict[str, Array]) -> tuple[list[Measurement], float]:
        """Tables of coarse values that agree, at their coarse values; and by how many counts they still differ.

        They are compared where each is spread over all values: inside a coarse one by what is released of that column
        alone. Afterwards they are summed again, so that nothing is taken for measured that was not.
        """
        agreed, apart = self._consistent([self._spread(m, shares) for m in seen])
        summed = zip(seen, agreed, strict=True)
        return [replace(m, values=coarsen(c.values, m.attributes, m.recodes)) for m, c in summed], apart

    def _seen(self, wanted: AttributeSet) -> list[Measurement]:
        """All tables summed to the attributes of the query, each at its resolution."""
        return merged([self._onto(m, wanted) for m in self.tables])

    @cached_property
    def _number(self) -> float:
        """The number of records, one for all marginals."""
        return estimate_total(self.tables) if self.total is None else self.total

    def _onto(self, m: Measurement, wanted: AttributeSet) -> Measurement:
        """A table summed over all attributes that are not of the query."""
        shared = tuple(n for n in wanted if n in m.attributes)
        values = project(m.values, m.attributes, shared)
        recodes = {n: r for n in shared if (r := proper(m.recodes.get(n))) is not None}
        summed = m.values.size / max(values.size, 1)
        return replace(m, attributes=shared, values=values, sigma=m.sigma * summed**0.5, recodes=recodes)

    def _shares(self, name: str, seen: Sequence[Measurement]) -> Array:
        """Shares of a column's values by the table that tells them with the least noise; even where none does."""
        best, least = np.ones(self.domain[name].size), np.inf
        for m in seen:
            if name in m.attributes and name not in m.recodes:
                values = project(m.values, m.attributes, (name,))
                noise = m.sigma * (m.values.size / values.size) ** 0.5
                if noise < least:
                    best, least = values, noise
        return probabilities(best)

    def _spread(self, m: Measurement, shares: dict[str, Array]) -> Measurement:
        """A table at all values of its columns; the noise of its sum stays what it is."""
        values = m.values
        for axis, name in enumerate(m.attributes):
            if name not in m.recodes:
                continue
            inside = m.recodes[name].within(shares[name])
            shape = [1] * values.ndim
            shape[axis] = len(inside)
            values = m.recodes[name].expand(values, axis) * inside.reshape(shape)
        sigma = m.sigma * (m.values.size / max(values.size, 1)) ** 0.5
        return replace(m, values=values, sigma=sigma, recodes={})


def _exactly(found: Reconstruction) -> Measurement:
    """A marginal that all others follow."""
    return Measurement(attributes=found.attributes, values=found.values, sigma=0.0)


def _common(tables: Sequence[Measurement]) -> Recodes | None:
    """How coarse each column is, the same on all tables that have it; None where it is not."""
    common: dict[str, Coarsening] = {}
    for m in tables:
        for n, size in zip(m.attributes, m.values.shape, strict=True):
            recode = m.recodes.get(n) or Coarsening.identity(size)
            if common.setdefault(n, recode) != recode:
                return None
    return common
