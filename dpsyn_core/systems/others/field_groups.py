"""Field groups: one thresholded Laplace histogram a public group of attributes; gardn999's 2018 entry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.errors import MethodError, SizeError
from dpsyn_core.estimate import Measurement, ReleasedTables
from dpsyn_core.measure import Counter, Gate, law_of, occupied
from dpsyn_core.privacy import Cost
from dpsyn_core.progress import Progress, silent
from dpsyn_core.schema import AttributeSet
from dpsyn_core.systems.base import Guarantee, Synthesizer, Task
from dpsyn_core.systems.few_values import FewValuesConfig
from dpsyn_core.systems.registry import register
from dpsyn_core.systems.settings import AttributeSets, Size, partition, setting

DENSE_CELLS = 1 << 20  # larger tables are never laid out
MAX_CELLS = 1 << 40


def threshold(scale: float, cells: int, cut: float) -> float:
    """Cut x b x log10(B): a bin below it is taken for noise. Source: gardn999's code, cut 1.9."""
    return cut * scale * math.log10(cells)


@register("field-groups")
class FieldGroupsConfig(FewValuesConfig):
    """Settings."""

    summary = "One Laplace histogram a public group of columns, small bins cut; groups are independent by design."
    guarantee = Guarantee(
        text="epsilon-DP: every group is one geometric histogram at epsilon / groups", approximate=False
    )

    groups: AttributeSets = setting(
        (),
        "Groups",
        "Groups of attributes kept together, as in 'age+sex, city+state'; empty: the groups of the schema. "
        "An attribute in no group is counted by itself.",
    )
    cut: float = setting(
        1.9,
        "Cut",
        "Bins below cut x noise scale x log10(bins of the group) are dropped. Higher cuts noise and rare "
        "combinations alike.",
        between=(0, 20),
    )

    def seconds(self, size: Size) -> float:
        """As measured; see `synthesizers.estimates`."""
        return 0.75 + 0.5 * size.values

    def build(self, task: Task) -> Synthesizer:
        """Refuses a table without groups, and groups with more than 2^40 bins."""
        groups = partition(self.groups, task.domain, setting="groups")
        if len(task.domain) > 1 and all(len(g) == 1 for g in groups):
            msg = (
                "field-groups found no group of attributes; give attributes a 'group' in the schema, set 'groups', "
                "or use the method 'independent'"
            )
            raise MethodError(msg)
        for group in groups:
            if task.domain.cells(group) > MAX_CELLS:
                msg = (
                    f"group {' + '.join(group)} has {task.domain.cells(group)} bins, above 2^40; split the group, or "
                    "use the method 'rls'"
                )
                raise SizeError(msg)
        return FieldGroups(self, task, groups)


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupTable:
    """The bins of a group that survived the cut. whole: all its bins, None where only the high ones were released."""

    attributes: AttributeSet
    indices: NDArray[np.int64]
    values: NDArray[np.int64]
    whole: Measurement | None

    @property
    def total(self) -> float | None:
        """Noisy number of records; None where it was not released."""
        return None if self.whole is None else float(self.whole.values.sum())


class FieldGroups(Synthesizer):
    """Calibrated."""

    def __init__(self, config: FieldGroupsConfig, task: Task, groups: list[AttributeSet]) -> None:
        """Every group has the same share of epsilon."""
        self.config, self.task, self.groups = config, task, groups
        self.cost: Cost = task.budget.pure()

    def measure(self, counter: Counter, *, gate: Gate, progress: Progress = silent) -> list[GroupTable]:
        """One charge a group; tables above DENSE_CELLS bins are drawn sparsely, with the same law."""
        out = []
        for i, (group, cost) in enumerate(zip(self.groups, self.cost.split([1.0] * len(self.groups)), strict=True)):
            out.append(self._table(counter, group, cost, gate))
            progress("measure", i + 1, len(self.groups))
        return out

    def _table(self, counter: Counter, group: AttributeSet, cost: Cost, gate: Gate) -> GroupTable:
        cells = self.task.domain.cells(group)
        lowest = self._lowest(cells, cost)
        name = "group " + " x ".join(group)
        if cells > DENSE_CELLS:
            got = gate.release_sparse(
                name, partial(occupied, counter, group), kind="group", cells=cells, threshold=lowest, cost=cost
            )
            return GroupTable(attributes=group, indices=got.indices, values=got.values, whole=None)
        table = gate.release(name, partial(counter.marginal, group), kind="group", cells=cells, cost=cost)
        values = table.values.reshape(self.task.domain.shape(group)).astype(np.float64)
        whole = Measurement(attributes=group, values=values, sigma=table.sigma, law=law_of(table.charge))
        return _cut(whole, lowest)

    def _lowest(self, cells: int, cost: Cost) -> int:
        """Records that a bin needs to be kept."""
        return max(1, math.ceil(threshold(cost.scale(self.task.unit.l1()), cells, self.config.cut)))

    def measurements(self, measured: list[GroupTable]) -> ReleasedTables:
        """Every group before the cut; of a group above DENSE_CELLS bins only the high ones were released."""
        return ReleasedTables(t.whole for t in measured if t.whole is not None)

    def restored(self, released: ReleasedTables) -> list[GroupTable]:
        """Every group, cut as the run cut it. Raises MethodError where only the high bins of one were released."""
        if [m.attributes for m in released] != self.groups:
            msg = "only the high bins of a group were released, and no table; name another method, such as 'rls'"
            raise MethodError(msg)
        costs = self.cost.split([1.0] * len(self.groups))
        return [_cut(m, self._lowest(m.cells, cost)) for m, cost in zip(released, costs, strict=True)]

    def synthesize(
        self, measured: Any, n_records: int | None, *, rng: Generator, progress: Progress = silent
    ) -> NDArray[np.unsignedinteger]:
        """The bin of each group drawn independently in proportion to its value; uniform where every bin was cut."""
        domain = self.task.domain
        n = self._n(measured) if n_records is None else n_records
        out = np.zeros((len(domain), n), dtype=np.min_scalar_type(max(domain.sizes) - 1))
        for i, table in enumerate(measured):
            if table.indices.size:
                bins = table.indices[rng.choice(table.indices.size, size=n, p=table.values / table.values.sum())]
            else:
                bins = rng.integers(0, domain.cells(table.attributes), size=n)
            for name, codes in zip(
                table.attributes, np.unravel_index(bins, domain.shape(table.attributes)), strict=True
            ):
                out[domain.index(name)] = codes
            progress("synthesize", i + 1, len(measured))
        return out

    def _n(self, measured: list[GroupTable]) -> int:
        """Public n; else the totals weighted by inverse variance (bins share one scale); else the fullest table."""
        if self.task.n_public is not None:
            return self.task.n_public
        totals = [(t.total, 1 / self.task.domain.cells(t.attributes)) for t in measured if t.total is not None]
        if totals:
            return max(0, round(float(np.average([t for t, _ in totals], weights=[w for _, w in totals]))))
        return int(max(t.values.sum() for t in measured))


def _cut(whole: Measurement, lowest: int) -> GroupTable:
    """The bins of a released group that hold enough."""
    flat = whole.values.ravel().astype(np.int64)
    kept = np.flatnonzero(flat >= lowest)
    return GroupTable(attributes=whole.attributes, indices=kept, values=flat[kept], whole=whole)
