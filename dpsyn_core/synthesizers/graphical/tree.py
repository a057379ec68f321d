"""Junction trees: which attributes a graphical model must hold in one table, and how the tables hang together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpsyn_core.schema.domain import AttributeSet


@dataclass(frozen=True, kw_only=True, slots=True)
class JunctionTree:
    """Cliques with the running intersection property.

    cliques: attribute sets in domain order; the first is the root and every parent stands before its children.
    parents: index of the parent of each clique, -1 for the root. separators: what a clique shares with its parent
    (empty where two parts of the model are independent).
    """

    cliques: tuple[AttributeSet, ...]
    parents: tuple[int, ...]
    separators: tuple[AttributeSet, ...]


def elimination_cliques(sets: Iterable[Sequence[str]], sizes: Mapping[str, int]) -> list[frozenset[str]]:
    """Maximal cliques of a triangulation that greedily eliminates the attribute with the smallest table."""
    near: dict[str, set[str]] = {n: set() for n in sizes}
    for s in sets:
        for n in s:
            near[n].update(s)
    for n, others in near.items():
        others.discard(n)
    logs = {n: math.log2(s) for n, s in sizes.items()}
    weight = {n: logs[n] + math.fsum(logs[o] for o in near[n]) for n in near}
    cliques: list[frozenset[str]] = []
    while near:
        first = min(near, key=lambda n: weight[n])
        others = near.pop(first)
        clique = frozenset(others | {first})
        if not any(clique <= c for c in cliques):
            cliques.append(clique)
        for o in others:
            near[o].update(others)
            near[o] -= {first, o}
            weight[o] = logs[o] + math.fsum(logs[p] for p in near[o])
    return cliques


def model_cells(sets: Iterable[Sequence[str]], sizes: Mapping[str, int]) -> int:
    """Cells of all tables of the junction tree, in Python integers."""
    return sum(math.prod(sizes[n] for n in clique) for clique in elimination_cliques(sets, sizes))


def junction_tree(sets: Iterable[Sequence[str]], sizes: Mapping[str, int]) -> JunctionTree:
    """Junction tree of a model with these interactions. `sizes` is in domain order and names every attribute.

    The tree maximises the sizes of the separators (Jensen and Jensen 1994), which gives running intersection.
    """
    place = {n: i for i, n in enumerate(sizes)}
    found = elimination_cliques(sets, sizes)
    left = set(range(1, len(found)))
    order, parents = [0], [-1]
    best = {i: (len(found[i] & found[0]), 0) for i in left}
    while left:
        i = max(left, key=lambda k: (best[k][0], -k))
        left.discard(i)
        order.append(i)
        parents.append(best[i][1])
        here = len(order) - 1
        for k in left:
            shared = len(found[k] & found[i])
            if shared > best[k][0]:
                best[k] = (shared, here)
    cliques = tuple(tuple(sorted(found[i], key=place.__getitem__)) for i in order)
    separators = tuple(
        () if p < 0 else tuple(n for n in c if n in set(cliques[p])) for c, p in zip(cliques, parents, strict=True)
    )
    return JunctionTree(cliques=cliques, parents=tuple(parents), separators=separators)
