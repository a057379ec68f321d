"""Measures marginals through the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.marginals.types import NO_RECODES, Measurement
from dpsyn_core.measurement.gate import Gate
from dpsyn_core.privacy.charge import table_kind
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.schema.domain import AttributeSet


def measure_marginals(
    counter: Counter,
    sets: Sequence[AttributeSet],
    costs: Sequence[Cost],
    *,
    gate: Gate,
    recodes: Mapping[str, NDArray[np.intp]] = NO_RECODES,
    kind: str | None = None,
) -> list[Measurement]:
    """One noisy marginal a set, each at its own cost. Guarantee: the gate's; one charge a marginal.

    kind: of the charges; default by the number of attributes.
    """
    out: list[Measurement] = []
    for names, cost in zip(sets, costs, strict=True):
        used = {n: recodes[n] for n in names if n in recodes}
        shape = tuple(int(used[n].max()) + 1 if n in used else counter.domain[n].size for n in names)
        cells = int(np.prod(shape, dtype=object)) if shape else 1
        name = "marginal " + " x ".join(names) if names else "total"
        got = gate.release(
            name, partial(counter.marginal, names, used), kind=kind or table_kind(len(names)), cells=cells, cost=cost
        )
        values = got.values.reshape(shape).astype(np.float64)
        out.append(Measurement(attributes=names, values=values, sigma=got.sigma, recodes=used))
    return out
