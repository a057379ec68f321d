"""DenseMarg and combination: which marginals to measure, decided from released scores alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import AttributeSet, Domain

Array = NDArray[np.float64]
MAX_CLIQUES = 100_000


def allocation(cells: Sequence[int]) -> list[float]:
    """Shares of rho in proportion to cells^(2/3), which minimise the total expected L1 noise."""
    raw = np.asarray(cells, dtype=np.float64) ** (2 / 3)
    return [float(x) for x in raw / raw.sum()]


def noise_error(cells: Sequence[int], rho: float, sensitivity: float = 1.0) -> float:
    """Expected L1 noise of all marginals under that allocation: (sum c^(2/3))^(3/2) / sqrt(pi rho).

    Args:
        cells: cells of each marginal.
        rho: zCDP budget of all of them.
        sensitivity: L2 sensitivity of one marginal.
    """
    total = float(np.sum(np.asarray(cells, dtype=np.float64) ** (2 / 3)))
    return float(sensitivity * total**1.5 / np.sqrt(np.pi * rho))


def dense_marginals(
    scores: Array, cells: Sequence[int], rho: float, *, sensitivity: float = 1.0, gap: float = 0.0
) -> list[int]:
    """Greedy choice: adds the marginal that lowers noise plus dependence error most, until none does.

    Args:
        scores: released dependence of each candidate, in counts; what is lost by leaving it out.
        cells: cells of each candidate.
        rho: budget for all that will be chosen.
        sensitivity: L2 sensitivity of one marginal.
        gap: a candidate must gain more than this, in counts.

    Returns:
        Positions in the order of choice.

    Source: Zhang et al. 2021 (PrivSyn), Algorithm 1.
    """
    weight = np.asarray(cells, dtype=np.float64) ** (2 / 3)
    scale = sensitivity / np.sqrt(np.pi * rho)
    open_ = np.ones(weight.size, dtype=bool)
    chosen: list[int] = []
    total = 0.0
    while open_.any():
        gain = np.where(open_, scores - scale * ((total + weight) ** 1.5 - total**1.5), -np.inf)
        best = int(np.argmax(gain))
        if not gain[best] > gap:
            break
        chosen.append(best)
        open_[best] = False
        total += float(weight[best])
    return chosen


def combine(
    pairs: Sequence[AttributeSet], domain: Domain, *, max_cells: int = 5000, max_shared: int = 2, max_size: int = 12
) -> list[AttributeSet]:
    """Replaces pairs that form cliques by larger sets.

    Largest cliques first: one is taken when it has fewer than `max_cells` cells and shares at most `max_shared`
    attributes with each of those taken before. The pairs inside go; the others stay.

    Source: Zhang et al. 2021 (PrivSyn), section 4.4.
    """
    taken: list[frozenset[str]] = []
    order = {n: i for i, n in enumerate(domain.names)}
    cliques = _cliques(pairs, domain, max_cells, max_size)
    for clique in sorted(cliques, key=lambda s: (-len(s), [order[n] for n in s])):
        members = frozenset(clique)
        if all(len(members & other) <= max_shared for other in taken):
            taken.append(members)
    left = [p for p in pairs if not any(t.issuperset(p) for t in taken)]
    return [domain.ordered_set(t) for t in taken] + left


def _cliques(pairs: Sequence[AttributeSet], domain: Domain, max_cells: int, max_size: int) -> list[AttributeSet]:
    """Cliques of three or more attributes under the cell cap; at most 100,000, in domain order."""
    edges = {frozenset(p) for p in pairs if len(p) == 2}
    order = {n: i for i, n in enumerate(domain.names)}
    later: dict[str, list[str]] = {n: [] for n in domain.names}
    for edge in edges:
        a, b = sorted(edge, key=order.__getitem__)
        later[a].append(b)
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    out: list[AttributeSet] = []
    stack: list[tuple[AttributeSet, int, list[str]]] = [
        ((n,), sizes[n], sorted(later[n], key=order.__getitem__)) for n in reversed(domain.names)
    ]
    while stack and len(out) < MAX_CLIQUES:
        clique, cells, candidates = stack.pop()
        if len(clique) >= 3:
            out.append(clique)
        if len(clique) == max_size:
            continue
        for i, name in enumerate(candidates):
            if cells * sizes[name] < max_cells:
                common = [c for c in candidates[i + 1 :] if frozenset((name, c)) in edges]
                stack.append(((*clique, name), cells * sizes[name], common))
    return out
