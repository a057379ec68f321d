"""Steps: how a system will divide its budget, as far as that is fixed before it has seen anything."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.privacy import Cost, Unit

USUAL = 0.15  # of all records: mean L1 distance of a pair from independence in tables about people (Adult .15)
WEAK_STRONG = (0.5 * USUAL, 2 * USUAL)  # between which forecasts are made


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Releases of one kind, each number as (least, most) over everything that the data may hold.

    kind: total, 1-way, 2-way ... (tables of so many attributes); chosen (tables selected during the run); listed;
    scores; choice; cell; group; synthetic. parts: how many releases. share: of the whole cost. sigma: scale of the
    noise of one cell, as it is charged; None for scores and choices, which are no tables. cells: of one
    table. likely: how many releases tables of weak and of strong dependence lead to, where the data decide. about:
    shares and noise were computed for an assumed number of records or for the likely case; a run may differ. inside:
    attributes of the part of a design in which these tables lie; none where they may hold any attribute.
    """

    kind: str
    parts: tuple[int, int]
    share: tuple[float, float]
    sigma: tuple[float, float] | None = None
    cells: tuple[int, int] = (1, 1)
    likely: tuple[int, int] | None = None
    about: bool = False
    inside: tuple[str, ...] = ()

    def holds(self, kind: str) -> bool:
        """Whether a charge of this kind may be one of this step's."""
        return kind == self.kind or (self.kind in ("chosen", "listed") and kind.endswith("-way"))

    def reaches(self, names: Iterable[str]) -> bool:
        """Whether its tables may hold all these attributes."""
        return not self.inside or set(names) <= set(self.inside)


def noise_of(cost: Cost, unit: Unit) -> float:
    """Scale of the noise of one cell of a marginal that spends `cost`."""
    return cost.scale(unit.l1()) if cost.pure else cost.sigma(unit.l2())


def even(kind: str, cost: Cost, whole: Cost, unit: Unit, *, parts: tuple[int, int], cells: Iterable[int]) -> Step:
    """A step that splits `cost` evenly over its tables, of which there are between parts[0] (at least 1) and parts[1].

    When there may be none at all (parts[0] is 0), its cost may stay unspent.
    """
    share = share_of(cost, whole)
    fewest = max(1, parts[0])
    sizes = list(cells)
    return Step(
        kind=kind,
        parts=parts,
        share=(share if parts[0] else 0.0, share),
        sigma=(noise_of(cost.scaled(1 / fewest), unit), noise_of(cost.scaled(1 / parts[1]), unit)),
        cells=(min(sizes), max(sizes)),
    )


def share_of(cost: Cost, whole: Cost) -> float:
    """A part of a cost, as a share of the whole."""
    return cost.epsilon / whole.epsilon if whole.pure else cost.rho / whole.rho


def usual_gains(pairs: int, n_records: float, noise: float, usual: float) -> NDArray[np.float64]:
    """Noisy distances from independence, in records, of the pairs of an ordinary table: few strong, many weak ones.

    Exponential quantiles around `usual` plus normal quantiles of the scores' noise, each in an order that has nothing
    to do with the order of the pairs: an assumption for a forecast, which a run does not use.
    """
    count = max(pairs, 1)
    at = (np.arange(pairs) + 0.5) / count
    step = _step(count)
    gains = -np.log(at[np.arange(pairs) * step % count]) * usual * n_records
    normal = np.log(at / (1 - at)) / 1.702  # the logistic curve follows the normal one within 0.01
    out: NDArray[np.float64] = gains + noise * normal[np.arange(pairs) * step * step % count]
    return out


def _step(count: int) -> int:
    """About 0.618 of a count, and coprime to it, so that multiples visit every position."""
    step = max(1, round(0.618 * count))
    while math.gcd(step, max(count, 1)) != 1:
        step += 1
    return step
