"""The real tables of a run: forests of different roots, whole or part by part, and counters of all of them. Private."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.counting.base import Counter
from dpsyn_core.counting.memory import MemoryCounter
from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.linked.forest import Children, Forest, shapes_of
from dpsyn_core.linked.stages import Stage, root_columns
from dpsyn_core.linked.views import counter_of, sibling_counter
from dpsyn_core.marginals.coarsening import NO_RECODES, Recodes
from dpsyn_core.schema.domain import AttributeSet, Domain


class SummedCounter:
    """Counts records that lie in several parts: sums of what counters of the parts count. See `Counter`."""

    def __init__(self, domain: Domain, parts: Sequence[Callable[[], Counter]]) -> None:
        """parts: each makes the counter of a part anew, so that no two are in memory at a time."""
        self.domain, self._parts = domain, parts

    def marginal(self, attributes: AttributeSet, recodes: Recodes = NO_RECODES) -> NDArray[np.int64]:
        """Exact sums, one axis an attribute."""
        return self.marginals([attributes], recodes)[0]

    def marginals(self, sets: Sequence[AttributeSet], recodes: Recodes = NO_RECODES) -> list[NDArray[np.int64]]:
        """Many, in one pass through the parts."""
        out: list[NDArray[np.int64]] = []
        for made in self._parts:
            found = made().marginals(sets, recodes)
            out = [a + b for a, b in zip(out, found, strict=True)] if out else found
        return out


class RealForests:
    """Forests that hold different roots. What is counted of all is the sum over them, in whatever order they come."""

    def __init__(self, schema: LinkedSchema, parts: Sequence[Callable[[], Forest]], roots: Counter) -> None:
        """parts: each gives a forest when it is called. roots: counts the root table, with the numbers of children."""
        self._schema, self._parts, self.roots = schema, parts, roots

    @classmethod
    def whole(cls, forest: Forest, schema: LinkedSchema) -> RealForests:
        """One forest in memory."""
        return cls(schema, [lambda: forest], MemoryCounter(stacked(forest, schema), root_domain(schema)))

    def children(self, stage: Stage) -> Counter:
        """Counts the children of a stage."""
        return self._summed(stage.view.domain, lambda part: counter_of(part(), stage, self._schema))

    def siblings(self, stage: Stage) -> Counter | None:
        """Counts consecutive siblings of a stage; None: it has none."""
        if stage.siblings is None:
            return None
        return self._summed(stage.siblings.domain, lambda part: sibling_counter(part(), stage))

    def _summed(self, domain: Domain, made: Callable[[Callable[[], Forest]], Any]) -> Counter:
        if len(self._parts) == 1:
            counter: Counter = made(self._parts[0])
            return counter
        return SummedCounter(domain, [partial(made, part) for part in self._parts])


def root_domain(schema: LinkedSchema) -> Domain:
    """The attributes of the root, with the shapes of its links."""
    return Domain(tuple(replace(a, name=f"{schema.root.name}.{a.name}") for a in root_columns(schema)))


def stacked(forest: Forest, schema: LinkedSchema) -> Any:
    """The root's codes with its shapes below them, in the narrowest unsigned type that holds all of them."""
    rows = [*forest.roots, *(forest.shapes[i] for i in schema.below(schema.root.name))]
    most = max((a.size for a in root_columns(schema)), default=1)
    return np.stack(rows).astype(np.min_scalar_type(most - 1))


class StoredForest:
    """A forest in a private file, each array in a narrow type; called, it is read back."""

    def __init__(self, forest: Forest, schema: LinkedSchema, file: BinaryIO) -> None:
        """Writes it to the end of the file."""
        self._schema, self._above, self._file = schema, forest.above, file
        self._at: list[tuple[int, Any, tuple[int, ...]]] = []  # of each array: where it begins, its type and shape
        arrays: list[NDArray[Any]] = [forest.roots, *forest.shapes]
        for children in forest.children:
            arrays += [a for single in children.singles for a in single] + [children.rest, children.counts]
        file.seek(0, 2)
        for array in arrays:
            kind = array.dtype if array.dtype == bool else np.min_scalar_type(int(array.max(initial=0)))
            self._at.append((file.tell(), kind, array.shape))
            file.write(np.ascontiguousarray(array, dtype=kind).data)

    def __call__(self) -> Forest:
        """The forest."""
        found = iter([self._read(*at) for at in self._at])
        roots = next(found)
        shapes = tuple(next(found).astype(np.int64) for _ in self._schema.links)
        children = []
        for shape in shapes_of(self._schema):
            singles = tuple((next(found), next(found)) for _ in shape.single)
            children.append(Children(singles=singles, rest=next(found), counts=next(found).astype(np.int64)))
        return Forest(roots=roots, shapes=shapes, children=tuple(children), above=self._above)

    def _read(self, start: int, kind: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        self._file.seek(start)
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        return np.frombuffer(self._file.read(size), dtype=kind).reshape(shape)
