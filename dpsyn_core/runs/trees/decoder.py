"""From a synthetic forest to tables with fresh keys, in which no root breaks a rule. Post-processing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.runs.tables import table_of
from dpsyn_core.runs.trees.allowed_counts import permitted
from dpsyn_core.runs.trees.forest import Forest, columns_of, shapes_of
from dpsyn_core.runs.trees.link_repair import above_of, mended_table
from dpsyn_core.runs.trees.selection import gathered, meeting, parent_of
from dpsyn_core.runs.trees.synthesis import empty_forest, with_grandchildren
from dpsyn_core.schema import LinkedSchema, check_rules

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Tables = dict[str, Any]
TRIED = 512  # roots that are made from the schema alone, to see whether rules contradict each other


def decoded(
    forest: Forest,
    schema: LinkedSchema,
    headers: Mapping[str, tuple[str, ...]],
    *,
    rng: Generator,
    measured: LinkedSchema | None = None,
    where: str | None = None,
) -> dict[str, Any]:
    """Synthetic tables (pyarrow) by name, with fresh keys: roots count from 1, and so do children that have a key.

    Args:
        forest: codes.
        schema: public metadata.
        headers: names of the columns of each given table, whose order is kept.
        rng: for places inside bins, and for what is mended.
        measured: the schema of the codes (`measured_schema`); None: the same.
        where: a condition on roots; those that do not meet it are left out with all that hangs on them.
    """
    out = kept(_tables(forest, schema, headers, rng, measured or schema), schema, headers, rng)
    out = meeting(out, schema, where)
    if schema.one_file:
        link = schema.links[0]
        return {schema.name: _joined(out[schema.root.name], out[link.child], link.key, headers[schema.root.name])}
    return {t.name: out[t.name] for t in schema.tables}


def check_linked_rules(schema: LinkedSchema) -> None:
    """Raises SchemaError where rules of tables or links contradict each other, or the schema; reads no data."""
    for table in schema.tables:
        if table.columns is not None:
            check_rules(table.columns)
    if any(link.rules for link in schema.links):
        _spare(schema, {t.name: () for t in schema.tables})


def kept(tables: Tables, schema: LinkedSchema, headers: Mapping[str, tuple[str, ...]], rng: Generator) -> Tables:
    """The tables with few cells changed, so that no root breaks a rule of its links."""
    if not any(link.rules for link in schema.links):
        return tables
    tables, bad = _mended(tables, schema, rng)
    if not bad.any():
        return tables
    if bad.all():
        spare = _spare(schema, headers)
        first = len(bad)
        sizes = {n: t.num_rows for n, t in tables.items()}
        tables = {n: _below(tables[n], spare[n], schema, n, sizes) for n in tables}
        bad = np.append(bad, np.zeros(spare[schema.root.name].num_rows, dtype=bool))
        return gathered(tables, schema, rng.choice(np.flatnonzero(~bad), first))
    return gathered(tables, schema, alike_of(_hanging(tables, schema), bad, rng))


def _hanging(tables: Tables, schema: LinkedSchema) -> Ints:
    """Of each root how many records hang on it."""
    n = tables[schema.root.name].num_rows
    root_of, out = {schema.root.name: np.arange(n)}, np.zeros(n, dtype=np.int64)
    for i in schema.downward:
        link = schema.links[i]
        root_of[link.child] = root_of[link.parent][parent_of(tables, link)]
        out += np.bincount(root_of[link.child], minlength=n)
    return out


def alike_of(sizes: Ints, bad: Bools, rng: Generator) -> Ints:
    """Of each root itself or, where it is bad, another of about its size: large ones break more, and would get rare."""
    fine = rng.permutation(np.flatnonzero(~bad))
    fine = fine[np.argsort(sizes[fine], kind="stable")]
    first, last = (np.searchsorted(sizes[fine], sizes[bad], side) for side in ("left", "right"))
    source = np.arange(len(bad))
    source[bad] = fine[np.minimum(rng.integers(first, np.maximum(last, first + 1)), len(fine) - 1)]
    return source


def _mended(tables: Tables, schema: LinkedSchema, rng: Generator) -> tuple[Tables, Bools]:
    """Children that keep their rules, and the roots that break one still."""
    out, bad = dict(tables), np.zeros(tables[schema.root.name].num_rows, dtype=bool)
    root_of = {schema.root.name: np.arange(len(bad))}
    for i in schema.downward:
        link = schema.links[i]
        parent = parent_of(tables, link)
        root_of[link.child] = root_of[link.parent][parent]
        if link.rules:
            above = above_of(out, schema, link, root_of[link.parent])
            out[link.child], broken = mended_table(
                schema, link, tables[link.child], parent, tables[link.parent].num_rows, above, rng
            )
            bad[root_of[link.parent][broken]] = True
    return out, bad


def _spare(schema: LinkedSchema, headers: Mapping[str, tuple[str, ...]]) -> Tables:
    """Tables that keep all rules, drawn from the public schema alone with a fixed seed. Raises SchemaError."""
    rng = default_rng(0)
    shapes = {}
    for i, (link, shape) in enumerate(zip(schema.links, shapes_of(schema), strict=True)):
        fits = np.flatnonzero(permitted(schema, link, shape))
        if not len(fits):
            msg = (
                f"no number of children of '{link.parent}' keeps the rules of the link to '{link.child}': "
                f"{'; '.join(map(str, link.rules))[:400]}; change or remove one"
            )
            raise SchemaError(msg)
        shapes[i] = rng.choice(fits, TRIED).astype(np.int64)
    roots = np.stack([rng.integers(0, a.size, TRIED) for a in schema.root.coded] or [np.zeros(TRIED, dtype=np.int64)])
    at_root = [shapes[i] for i in schema.below(schema.root.name)]
    forest = empty_forest(roots[: len(schema.root.coded)].astype(np.uint16), at_root, schema)
    for number in schema.downward:
        link, shape = schema.links[number], shapes_of(schema)[number]
        forest = with_grandchildren(forest, number, schema, rng)
        children = forest.children[number]
        coded = columns_of(schema, link.child)
        for codes in (*(codes for _, codes in children.singles), children.rest):
            for i, a in enumerate(coded):
                if i != shape.role or codes is children.rest:
                    codes[i] = rng.integers(0, a.size - a.special, codes.shape[1])
        if shape.role is not None:
            keys = schema[link.child].coded[shape.role].keys
            others = [c for c, key in enumerate(keys) if key not in shape.single]
            children.rest[shape.role] = rng.choice(others, children.rest.shape[1])
        if shape.order is not None:
            drawn = shape.orders(forest.shapes[number]) if shape.distinct else np.sort(children.rest[shape.order])
            children.rest[shape.order] = drawn
    tables, bad = _mended(_tables(forest, schema, headers, rng, schema), schema, rng)
    if bad.all():
        rules = "; ".join(str(r) for link in schema.links for r in link.rules)[:500]
        msg = (
            f"no root was found that keeps these rules of links together: {rules}; they contradict each other or the "
            "declared domain, so change or remove one"
        )
        raise SchemaError(msg)
    return gathered(tables, schema, np.flatnonzero(~bad))


def _below(table: Any, other: Any, schema: LinkedSchema, name: str, sizes: Mapping[str, int]) -> Any:
    """Two tables of one name, one below the other; keys of the second follow those of the first, of these sizes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for link in schema.links:
        if link.child == name:
            at = other.column_names.index(link.key)
            other = other.set_column(at, link.key, pc.add(other.column(at), sizes[link.parent]))
    return pa.concat_tables([table, other.select(table.column_names).cast(table.schema)])


def _tables(
    forest: Forest, schema: LinkedSchema, headers: Mapping[str, tuple[str, ...]], rng: Generator, measured: LinkedSchema
) -> Tables:
    """The tables of a forest by name, children of one parent together and in their order."""
    keys = {schema.root.name: np.arange(1, forest.n_roots + 1)}
    out = {
        schema.root.name: _table(
            schema, schema.root.name, forest.roots, {schema.root_key: keys[schema.root.name]}, headers, rng, measured
        )
    }
    for i in schema.downward:
        link, children = schema.links[i], forest.children[i]
        parent = keys[link.parent][children.parents]
        together = children.codes[: len(measured[link.child].coded)]
        # single roles first; those of one parent stay together and in their order
        order = np.argsort(parent, kind="stable")
        named, numbers = {link.key: parent[order]}, np.arange(1, len(order) + 1)
        key = schema[link.child].key
        if key is not None:
            named[key] = numbers
        keys[link.child] = np.empty_like(numbers)
        keys[link.child][order] = numbers
        out[link.child] = _table(schema, link.child, together[:, order], named, headers, rng, measured)
    return out


def _joined(roots: Any, children: Any, key: str, order: tuple[str, ...]) -> Any:
    """Tables of one file as one: each child with the columns of its root, whose keys count from 1."""
    import pyarrow as pa

    place = pa.array(children.column(key).to_numpy() - 1)
    both = {n: roots.column(n).take(place) for n in roots.column_names}
    both |= {n: children.column(n) for n in children.column_names}
    return pa.table({n: both[n] for n in [*(n for n in order if n in both), *(n for n in both if n not in order)]})


def _names(schema: LinkedSchema, measured: LinkedSchema, name: str) -> list[str] | None:
    """The columns that codes are of; None where they are all of the schema, so that no rule computes one."""
    if measured[name] is schema[name]:
        return None
    return [a.name for a in measured[name].coded]


def _table(
    schema: LinkedSchema,
    name: str,
    codes: Any,
    keys: Mapping[str, Any],
    headers: Mapping[str, tuple[str, ...]],
    rng: Generator,
    measured: LinkedSchema,
) -> Any:
    """One table with its keys, in the order of the private table's columns."""
    import pyarrow as pa

    columns = schema[name].columns
    order = headers[name]
    arrays = {key: pa.array(values) for key, values in keys.items()}
    if columns is not None:
        table = table_of(codes, columns, columns=order, rng=rng, measured=_names(schema, measured, name))
        arrays |= {n: table.column(n) for n in table.column_names}
    first = [n for n in order if n in arrays]
    return pa.table({n: arrays[n] for n in [*first, *(n for n in arrays if n not in first)]})
