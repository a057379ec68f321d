"""Measures marginals through the gate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate import NO_RECODES, MeanTable, Measurement, Recodes, coarse_shape
from dpsyn_core.measure.gate import Gate
from dpsyn_core.measure.releases import Request, law_of
from dpsyn_core.privacy import Cost, table_kind
from dpsyn_core.schema import AttributeSet

if TYPE_CHECKING:
    from dpsyn_core.measure.counting.base import Counter

BATCH = 4_000_000  # cells that are counted in one reading of the records
MEANS, MEAN = "mean", "mean marginal of "  # the kind of a charge of `measure_mean`, and what its name begins with


def measure_marginals(
    counter: Counter,
    sets: Sequence[AttributeSet],
    costs: Sequence[Cost],
    *,
    gate: Gate,
    recodes: Recodes | Sequence[Recodes] = NO_RECODES,
    kind: str | None = None,
) -> list[Measurement]:
    """One noisy marginal per set, each at the cost given for it. Guarantee: the gate's; one charge per marginal.

    Marginals are charged, counted and released many at a time, so that records on disk or on a cluster are read once
    for all of them.

    Args:
        counter: exact counts.
        sets: attribute sets.
        costs: of each.
        gate: through which they are released.
        recodes: of attributes that are counted coarsely: one for all sets, or one per set.
        kind: of the charges; default by the number of attributes.
    """
    maps = [recodes] * len(sets) if isinstance(recodes, Mapping) else list(recodes)
    used = [{n: maps_of[n] for n in names if n in maps_of} for names, maps_of in zip(sets, maps, strict=True)]
    shapes = [coarse_shape(counter.domain, names, maps_of) for names, maps_of in zip(sets, used, strict=True)]
    cells = [int(np.prod(shape, dtype=object)) if shape else 1 for shape in shapes]
    requests = [
        Request(
            name="marginal " + " x ".join(names) if names else "total",
            kind=kind or table_kind(len(names)),
            cells=size,
            cost=cost,
        )
        for names, size, cost in zip(sets, cells, costs, strict=True)
    ]
    out: list[Measurement] = []
    for part in _batches(cells):
        got = gate.release_tables(requests[part], _Counts(counter, sets[part], maps[part]))
        out += [
            Measurement(
                attributes=names,
                values=g.values.reshape(shape).astype(np.float64),
                sigma=g.sigma,
                recodes=maps_of,
                law=law_of(g.charge),
            )
            for names, shape, maps_of, g in zip(sets[part], shapes[part], used[part], got, strict=True)
        ]
    return out


def measure_mean(
    counter: Counter, pairs: Sequence[tuple[str, str]], *, recodes: Recodes, cost: Cost, gate: Gate
) -> MeanTable:
    """The noisy mean of the marginals of several pairs, for the cost of one of them. Guarantee: the gate's; one charge.

    The sum of m marginals moves by at most m times what one of them does, in L1 and in L2 (triangle inequality), and is
    divided by m after it was released: docs/proofs/scores.md, S9.

    Args:
        counter: exact counts.
        pairs: attribute of the rows and of the columns of each; all of one shape.
        recodes: of attributes that are counted coarsely.
        cost: what the table may spend.
        gate: through which it is released.
    """
    m, domain, unit = len(pairs), counter.domain, gate.unit
    shape = tuple(recodes[n].size if n in recodes else domain[n].size for n in pairs[0])

    def summed() -> NDArray[np.int64]:
        tables = counter.marginals([domain.ordered_set(p) for p in pairs], recodes)
        turned = [t if domain.index(a) < domain.index(b) else t.T for (a, b), t in zip(pairs, tables, strict=True)]
        return np.asarray(np.sum(turned, axis=0, dtype=np.int64))

    got = gate.release(
        f"{MEAN}{m}: {' x '.join(pairs[0])}",
        summed,
        kind=MEANS,
        cells=math.prod(shape),
        cost=cost,
        l1=float(m * unit.l1()),
        l2=m * unit.l2(),
    )
    values = got.values.reshape(shape) / m
    return MeanTable(pairs=tuple(pairs), values=values, sigma=got.sigma / m, recodes=recodes, law=law_of(got.charge))


def averaged(name: str) -> int | None:
    """Of how many marginals a charge of `measure_mean` is, by its name; None for other charges."""
    count = name.removeprefix(MEAN).partition(":")[0] if name.startswith(MEAN) else ""
    return int(count) if count.isdecimal() else None


class _Counts:
    """Exact marginals, counted when it is called; those of one coarse map are counted together."""

    def __init__(self, counter: Counter, sets: Sequence[AttributeSet], maps: Sequence[Recodes]) -> None:
        self._counter, self._sets, self._maps = counter, sets, maps

    def __call__(self) -> list[NDArray[np.int64]]:
        """In the order of the sets."""
        together: dict[int, list[int]] = {}
        for i, maps in enumerate(self._maps):
            together.setdefault(id(maps), []).append(i)
        counts: dict[int, NDArray[np.int64]] = {}
        for places in together.values():
            tables = self._counter.marginals([self._sets[i] for i in places], self._maps[places[0]])
            counts.update(zip(places, tables, strict=True))
        return [counts[i] for i in range(len(self._sets))]


def _batches(cells: Sequence[int]) -> Iterator[slice]:
    """Consecutive tables of at most BATCH cells together, or one larger one."""
    start, filled = 0, 0
    for i, size in enumerate(cells):
        if i > start and filled + size > BATCH:
            yield slice(start, i)
            start, filled = i, 0
        filled += size
    if start < len(cells):
        yield slice(start, len(cells))
