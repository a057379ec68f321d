"""Ways past the noise, for runs that are stamped NOT PRIVATE.

Raw columns before a schema exists: contribution bounding and counts of distinct values, as discovery needs them.

A gate without noise, for systems that promise nothing: teaching, and the most that a family of systems can reach.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import EngineError
from dpsyn_core.measure.counting.base import Counter
from dpsyn_core.measure.counting.sums import SumRule, VectorMap
from dpsyn_core.measure.gate import Gate, Released, ReleasedSum
from dpsyn_core.measure.releases import Request
from dpsyn_core.measure.sources.bounding import kept, record_hashes
from dpsyn_core.measure.sums import SampledSums, check_maps, check_rule, counter_of, released
from dpsyn_core.privacy import Charge, Cost
from dpsyn_core.schema import Encoded, SchemaUnit, identifiers
from dpsyn_core.tables import canonical_text as canonical
from dpsyn_core.tables import locate


def bounded(table: Any, unit: SchemaUnit) -> Any:
    """At most unit.max_records rows of each individual, by a keyed hash of the row's content. Private.

    Without an identifier every row is a separate individual, or the owner vouches for max_records: all rows are
    kept.
    Rows without a name are left out: nobody can say whose they are.
    """
    if unit.identifier is None:
        return table
    key = os.urandom(32)
    names = named(table, unit.identifier)
    table, names = table.filter(names.is_valid()), names.filter(names.is_valid())
    nothing = np.zeros((0, table.num_rows), dtype=np.uint64)
    content = [
        record_hashes(Encoded(codes=nothing, identifiers=_texts(table.column(i))), key)
        for i in range(table.num_columns)
    ]
    hashes = record_hashes(Encoded(codes=np.stack(content), identifiers=names), key)
    groups = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return table.filter(kept(groups, hashes, unit.max_records))


def named(table: Any, identifier: str) -> Any:
    """The names of individuals, as `identifiers` gives them."""
    return identifiers(table.column(locate(table.column_names, [identifier])[0]), identifier)


def distinct_counts(table: Any, name: str, unit: SchemaUnit) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct non-blank texts of a column and how many individuals (or records) have each. Private."""
    column = _texts(table.column(locate(table.column_names, [name])[0]))
    index = column.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if unit.identifier is not None:
        owners = named(table, unit.identifier).indices.to_numpy(zero_copy_only=False).astype(np.int64)
        index = np.unique(np.stack([owners, index]), axis=1)[1]
    keys = column.dictionary.to_pylist()
    counts = np.bincount(index, minlength=len(keys)).astype(np.int64)
    return [k for k in keys if k != ""], counts[[i for i, k in enumerate(keys) if k != ""]]


def _texts(column: Any) -> Any:
    """A column as a dictionary array of canonical texts, as a schema's values are compared; blanks are ''."""
    import pyarrow as pa
    import pyarrow.compute as pc

    entries, index = canonical.uniques(column)
    texts = canonical.to_text(entries)
    blank = pa.array(canonical.blanks(texts))
    texts = pc.utf8_normalize(pc.if_else(blank, "", texts), "NFC").cast(pa.large_string())
    texts = pa.concat_arrays([texts, pa.array([""], pa.large_string())])
    at = np.where(index < 0, len(texts) - 1, index)
    unique, inverse = np.unique(np.asarray(texts.to_pylist(), dtype=object), return_inverse=True)
    return pa.DictionaryArray.from_arrays(
        pa.array(inverse.reshape(-1)[at].astype(np.int64)), pa.array(unique.tolist(), pa.large_string())
    )


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
        self,
        name: str,
        counter: Counter,
        maps: VectorMap | Sequence[VectorMap],
        *,
        rule: SumRule,
        kind: str = "sum",
        cost: Cost,
    ) -> ReleasedSum:
        """The exact sum of clipped vectors. cost: not looked at."""
        summing = counter_of(name, counter)
        given = [maps] if callable(maps) else list(maps)
        check_maps(name, given, rule, summing.domain)
        return released(summing.vector_sum(rule, given), rule, _exact(name, kind, len(given) * rule.cells))

    def release_sampled_sum(
        self,
        name: str,
        counter: Counter,
        *,
        rule: SumRule,
        rate: float,
        steps: int,
        kind: str = "training",
        cost: Cost,
        delta: float,
    ) -> SampledSums:
        """The exact sums of `steps` Poisson samples. cost, delta: not looked at."""
        from dpsyn_core.privacy import on_grid

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
