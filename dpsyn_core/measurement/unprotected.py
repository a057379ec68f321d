"""A gate without noise, for systems that promise nothing: teaching, and the most that a family of systems can reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.counting.features import VectorMap
from dpsyn_core.counting.sums import SumRule
from dpsyn_core.errors import EngineError
from dpsyn_core.measurement.gate import Gate, Released, ReleasedSum, SampledSums
from dpsyn_core.measurement.released import Request
from dpsyn_core.measurement.sums import check_maps, check_rule, counter_of, released
from dpsyn_core.privacy.charge import Charge
from dpsyn_core.privacy.cost import Cost

STATED = 0.1  # counts, or steps of the grid of sums: what systems divide by where they expect noise


class UnprotectedGate(Gate):
    """Hands out exact tables and sums, and books nothing: whatever follows is NOT PRIVATE, and a run says so.

    Only what the systems without a promise ask for is there; the other ways of the gate are refused.
    """

    def release_tables(
        self, requests: Sequence[Request], count: Callable[[], Sequence[NDArray[np.int64]]]
    ) -> list[Released]:
        """The exact values. Costs and sensitivities are not looked at."""
        out = []
        for w, table in zip(requests, count(), strict=True):
            values = np.asarray(table)
            if values.size != w.cells:
                msg = f"'{w.name}' must be counted as {w.cells} integers"
                raise EngineError(msg)
            charge = _exact(w.name, w.kind, w.cells)
            out.append(Released(values=values.astype(np.int64), sigma=STATED, charge=charge))
        return out

    def release_sum(
        self, name: str, counter: Counter, maps: VectorMap | Sequence[VectorMap], *, rule: SumRule, kind: str = "sum",
        cost: Cost,
    ) -> ReleasedSum:  # fmt: skip
        """The exact sum of clipped vectors. cost: not looked at."""
        summing = counter_of(name, counter)
        given = [maps] if callable(maps) else list(maps)
        check_maps(name, given, rule, summing.domain)
        return released(summing.vector_sum(rule, given), rule, _exact(name, kind, len(given) * rule.cells))

    def release_sampled_sum(
        self, name: str, counter: Counter, *, rule: SumRule, rate: float, steps: int, kind: str = "training",
        cost: Cost, delta: float,
    ) -> SampledSums:  # fmt: skip
        """The exact sums of `steps` Poisson samples. cost, delta: not looked at."""
        from dpsyn_core.noise.chance import on_grid

        summing, chance = counter_of(name, counter), on_grid(rate)
        cells = check_rule(name, rule, summing.domain) * rule.cells
        charge = _exact(name, kind, cells, steps)

        def step(maps: Sequence[VectorMap]) -> ReleasedSum:
            return released(summing.vector_sum(rule, maps, partial(self._noise.chance, chance)), rule, charge)

        return SampledSums(charge, step, lambda: True)

    def release_sparse(self, name: str, *_: Any, **__: Any) -> Any:
        """Refused."""
        raise _unknown(name)

    def dirichlet(self, name: str, *_: Any, **__: Any) -> Any:
        """Refused."""
        raise _unknown(name)

    def select(self, name: str, *_: Any, **__: Any) -> Any:
        """Refused."""
        raise _unknown(name)

    def partitions(self, name: str, *_: Any, **__: Any) -> Any:
        """Refused."""
        raise _unknown(name)


def _exact(name: str, kind: str, cells: int, steps: int = 1) -> Charge:
    """What stands in the place of a charge; it is never booked."""
    return Charge(name=name, mechanism="gaussian", sensitivity=1.0, scale=STATED, cells=cells, steps=steps, kind=kind)


def _unknown(name: str) -> EngineError:
    return EngineError(f"'{name}' asks for a mechanism that a run without a promise does not have")
