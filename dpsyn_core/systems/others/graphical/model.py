"""Graphical models: their junction trees and beliefs.

Junction trees: which attributes a graphical model must hold in one table, and how the tables hang together.

A fitted graphical model: the probabilities of a junction tree's cliques, and what can be read from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.schema import AttributeSet


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
    maximal = elimination_cliques(sets, sizes)
    left = set(range(1, len(maximal)))
    order, parents = [0], [-1]
    best = {i: (len(maximal[i] & maximal[0]), 0) for i in left}
    while left:
        i = max(left, key=lambda k: (best[k][0], -k))
        left.discard(i)
        order.append(i)
        parents.append(best[i][1])
        here = len(order) - 1
        for k in left:
            shared = len(maximal[k] & maximal[i])
            if shared > best[k][0]:
                best[k] = (shared, here)
    cliques = tuple(tuple(sorted(maximal[i], key=place.__getitem__)) for i in order)
    separators = tuple(
        () if p < 0 else tuple(n for n in c if n in set(cliques[p])) for c, p in zip(cliques, parents, strict=True)
    )
    return JunctionTree(cliques=cliques, parents=tuple(parents), separators=separators)


Array = NDArray[np.float64]


def reduce_axes(source: Sequence[str], target: Sequence[str]) -> tuple[int, ...]:
    """Axes of a table over `source` that are summed away to reach `target`."""
    kept = set(target)
    return tuple(i for i, n in enumerate(source) if n not in kept)


def spread(names: Sequence[str], over: Sequence[str], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Shape that lets a table over `names` broadcast against one over `over`."""
    inside = set(names)
    return tuple(sizes[n] if n in inside else 1 for n in over)


@cache
def _blocks(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[tuple[int, bool], ...]:
    """Neighbouring axes that share their fate, merged: (size, whether it is summed away)."""
    out: list[tuple[int, bool]] = []
    for i, size in enumerate(shape):
        dropped = i in axes
        if out and out[-1][1] == dropped:
            out[-1] = (out[-1][0] * size, dropped)
        else:
            out.append((size, dropped))
    return tuple(out)


def sum_axes(x: Array, axes: tuple[int, ...]) -> Array:
    """x.sum(axis=axes), as products with ones where tables are large: numpy's sum is slow over short axes."""
    if x.size < 2000 or not axes:
        return np.asarray(x.sum(axis=axes)) if axes else x
    kept = tuple(s for i, s in enumerate(x.shape) if i not in axes)
    blocks = _blocks(x.shape, axes)
    y = np.ascontiguousarray(x).reshape([b for b, _ in blocks])
    for axis in range(len(blocks) - 1, -1, -1):
        size, dropped = blocks[axis]
        if not dropped:
            continue
        before, after = y.shape[:axis], y.shape[axis + 1 :]
        if after:
            y = np.matmul(np.ones((1, size)), y.reshape(-1, size, int(np.prod(after))))
        else:
            y = y.reshape(-1, size) @ np.ones(size)
        y = y.reshape(before + after)
    return y.reshape(kept)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Probabilities of every clique, each table summing to 1, agreeing on separators.

    sizes: names and sizes in domain order. total: number of records that it stands for, at least 1.
    """

    tree: JunctionTree
    sizes: Mapping[str, int]
    total: float
    tables: Sequence[Array]

    def project(self, names: AttributeSet) -> Array:
        """Expected counts of a marginal, one axis a name in domain order, by variable elimination on the tree."""
        requested = set(names)
        holder = next((i for i, c in enumerate(self.tree.cliques) if requested <= set(c)), None)
        if holder is not None:
            table = self.tables[holder]
            return np.asarray(table.sum(axis=reduce_axes(self.tree.cliques[holder], names)) * self.total)
        factors = self._path_factors(requested)
        while len(factors) > 1:  # leaves first: every product keeps one clique's rest and the wanted names
            child_names, child, parent = factors.pop()
            host_names, host, host_parent = factors[parent]
            later = {n for f in factors[:parent] for n in f[0]}
            later.update(n for i, f in enumerate(factors) if i != parent and f[2] == parent for n in f[0])
            joint = [n for n in self.sizes if n in {*host_names, *child_names}]
            keep = tuple(n for n in joint if n in requested or n in later)
            table = _contract(host_names, host, child_names, child, keep)
            factors[parent] = (keep, table, host_parent)
        names_left, table, _ = factors[0]
        return np.asarray(table.sum(axis=reduce_axes(names_left, names)) * self.total)

    def _path_factors(self, wanted: set[str]) -> list[tuple[AttributeSet, Array, int]]:
        """The smallest subtree that covers the names, as a root table and conditionals, parents first."""
        parents, cliques = self.tree.parents, self.tree.cliques
        needed = [bool(wanted & set(c)) for c in cliques]
        seen: set[str] = set()
        keep = [False] * len(cliques)
        for i, c in enumerate(cliques):  # the clique nearest the root that holds a name stands for it
            if needed[i] and not (wanted & set(c)) <= seen:
                seen |= wanted & set(c)
                keep[i] = True
        below = list(keep)
        for i in range(len(cliques) - 1, 0, -1):
            if below[i]:
                below[parents[i]] = True
        root = 0
        while True:  # walk down while everything wanted hangs below one child
            children = [i for i in range(len(cliques)) if parents[i] == root and below[i]]
            if keep[root] or len(children) != 1:
                break
            root = children[0]
        index = {root: 0}
        factors: list[tuple[AttributeSet, Array, int]] = []
        for i in range(root, len(cliques)):
            if i == root:
                factors.append((cliques[i], self.tables[i], -1))
            elif below[i] and parents[i] in index:
                index[i] = len(factors)
                factors.append((cliques[i], self._conditional(i), index[parents[i]]))
        return [self._shrunk(f, j, factors, wanted) for j, f in enumerate(factors)]

    def _shrunk(
        self,
        factor: tuple[AttributeSet, Array, int],
        position: int,
        factors: list[tuple[AttributeSet, Array, int]],
        wanted: set[str],
    ) -> tuple[AttributeSet, Array, int]:
        """Sums out what neither the requested names nor the neighbours in the tree need."""
        names, table, parent = factor
        around = set(wanted)
        for j, other in enumerate(factors):
            if other[2] == position or (j == parent and parent >= 0):
                around.update(other[0])
        kept = tuple(n for n in names if n in around)
        return kept, np.asarray(table.sum(axis=reduce_axes(names, kept))), parent

    def _conditional(self, i: int) -> Array:
        """Probability of a clique given its separator; 0 where the separator has none."""
        table = self.tables[i]
        given = table.sum(axis=reduce_axes(self.tree.cliques[i], self.tree.separators[i]), keepdims=True)
        return np.asarray(np.divide(table, given, out=np.zeros_like(table), where=given > 0))

    def sample(self, n: int, *, rng: Generator) -> NDArray[np.intp]:
        """Records of shape (attributes, n), drawn by stratified rounding down the tree (less variance than iid)."""
        out = np.zeros((len(self.sizes), n), dtype=np.intp)
        place = {name: i for i, name in enumerate(self.sizes)}
        for i, clique in enumerate(self.tree.cliques):
            given = self.tree.separators[i]
            rest = tuple(c for c in clique if c not in given)
            if not rest:
                continue
            order = [clique.index(c) for c in (*given, *rest)]
            table = self.tables[i].transpose(order)
            rest_shape = table.shape[len(given) :]
            table = table.reshape(-1, int(np.prod(rest_shape)))
            if given:
                groups = np.ravel_multi_index(tuple(out[place[g]] for g in given), tuple(self.sizes[g] for g in given))
            else:
                groups = np.zeros(n, dtype=np.intp)
            drawn = draw_within(table, groups, rng=rng)
            for name, codes in zip(rest, np.unravel_index(drawn, rest_shape), strict=True):
                out[place[name]] = codes
        return out


def _contract(a: AttributeSet, x: Array, b: AttributeSet, y: Array, keep: AttributeSet) -> Array:
    """Sum over all names but `keep` of the product of a table over `a` and one over `b`."""
    letter = {n: chr(0x61 + i) if i < 26 else chr(0x41 + i - 26) for i, n in enumerate(dict.fromkeys((*a, *b)))}
    left, right, out = ("".join(letter[n] for n in names) for names in (a, b, keep))
    return np.asarray(np.einsum(f"{left},{right}->{out}", x, y))


def draw_within(table: Array, groups: NDArray[np.intp], *, rng: Generator) -> NDArray[np.intp]:
    """One column index a record, in proportion to the row of `table` that its group names.

    Stratified: the k records of a group take one draw from each k-th part of the distribution, in random order.
    Rows without mass are uniform.
    """
    n = groups.size
    mass = table.sum(axis=1, keepdims=True)
    p = np.where(mass > 0, table / np.where(mass > 0, mass, 1), 1 / table.shape[1])
    edges = np.cumsum(p, axis=1)
    edges /= edges[:, -1:]
    edges += np.arange(table.shape[0])[:, None]
    shuffled = rng.permutation(n)
    rows = shuffled[np.argsort(groups[shuffled], kind="stable")]
    ordered = groups[rows]
    counts = np.bincount(ordered, minlength=table.shape[0])
    rank = np.arange(n) - (np.cumsum(counts) - counts)[ordered]
    u = (rank + rng.random(n)) / np.maximum(counts[ordered], 1)
    at = np.searchsorted(edges.ravel(), ordered + np.minimum(u, 1 - 1e-12), side="right")
    out = np.empty(n, dtype=np.intp)
    out[rows] = np.minimum(at - ordered * table.shape[1], table.shape[1] - 1)
    return out
