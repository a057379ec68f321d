"""The world of an attack on linked tables: all roots that some run may get, with all that hangs on each.

One coin moves one root with all that hangs on it: the unit that the guarantee of linked tables is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.measure import draw_key
from dpsyn_core.runs.attacks.result import AttackSpec
from dpsyn_core.runs.attacks.world import (
    ALWAYS,
    FEWEST,
    World,
    check_enough,
    coins_of_canaries,
    coins_of_halves,
    text_of,
)
from dpsyn_core.runs.trees.bounding import Rows, bounded, bounded_rows
from dpsyn_core.runs.trees.forest import Forest, columns_of, shapes_of
from dpsyn_core.runs.trees.measurement import records_of
from dpsyn_core.runs.trees.real_tables import root_domain, stacked
from dpsyn_core.runs.trees.release import by_name, frames_of
from dpsyn_core.runs.trees.stages import Stage, parents_in
from dpsyn_core.schema import Codes, Domain, Encoded, Link, LinkedSchema, LinkedTable

MOST_SIBLINGS = 20  # of a canary by one link, not counting single roles, so that shadow runs stay quick


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeTable:
    """The records of one table: codes (attributes, n), and of each record the place of its parent's in its table, (n,).

    parent: position of the parent record; of a root record its position itself.
    """

    codes: Codes
    parent: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeWorld:
    """All roots that some run may get, with what hangs on them; private.

    tables: by name. coin: (roots,) number of the coin that decides about a root, or ALWAYS. side: (roots,) the value
    of that coin that puts the root into the tables. coins: how many there are. table_records: roots of the owner's.
    """

    tables: Mapping[str, TreeTable]
    coin: NDArray[np.int64]
    side: NDArray[np.bool_]
    coins: int
    table_records: int

    def drawn(self, tossed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which roots are in the tables of a run, from its coins (coins,)."""
        always = self.coin == ALWAYS
        return np.asarray(always | (tossed[np.maximum(self.coin, 0)] == self.side))

    @property
    def usual(self) -> int:
        """Roots that a run has on average."""
        return round(float(np.where(self.coin == ALWAYS, 1.0, 0.5).sum()))

    def roots_of(self, schema: LinkedSchema) -> dict[str, NDArray[np.int64]]:
        """Of each table the root of each record, (n,)."""
        out = {schema.root.name: np.arange(len(self.coin))}
        for i in schema.downward:
            link = schema.links[i]
            out[link.child] = out[link.parent][self.tables[link.child].parent]
        return out

    def forest(self, schema: LinkedSchema, there: NDArray[np.bool_]) -> Forest:
        """The tables of these roots (roots,), bounded as those of a run: by a key that is drawn anew."""
        root_of = self.roots_of(schema)

        def read(table: LinkedTable, _: str, own: bool) -> Rows:
            rows, here = self.tables[table.name], there[root_of[table.name]]
            names = text_of(rows.parent[here])
            encoded = Encoded(codes=np.ascontiguousarray(rows.codes[:, here]), identifiers=names)
            return encoded, text_of(np.flatnonzero(here)) if own else None, int(here.sum())

        return bounded_rows(schema, read, key=draw_key())[0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by names."""
        out: dict[str, NDArray[Any]] = {"coin": self.coin, "side": self.side}
        for name, table in self.tables.items():
            out |= {f"codes of {name}": table.codes, f"parent of {name}": table.parent}
        return out

    def facts(self) -> dict[str, Any]:
        """What is no array, as JSON values."""
        return {"coins": self.coins, "table_records": self.table_records, "tables": list(self.tables)}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> TreeWorld:
        """From `arrays` and `facts`."""
        tables = {n: TreeTable(codes=arrays[f"codes of {n}"], parent=arrays[f"parent of {n}"]) for n in facts["tables"]}
        return cls(
            tables=tables,
            coin=arrays["coin"],
            side=arrays["side"],
            coins=facts["coins"],
            table_records=facts["table_records"],
        )


def build_trees(tables: Any, schema: LinkedSchema, spec: AttackSpec, *, rng: Generator) -> TreeWorld:
    """The world of an attack on linked tables.

    What a run would leave out of the owner's tables is left out here, once; each shadow run bounds what stays anew.

    Args:
        tables: the owner's, by name: pandas, polars or pyarrow; of tables of one file, that one.
        schema: of the columns that are measured.
        spec: of the attack.
        rng: for the sample of roots, canaries and who is attacked.

    Raises:
        TableError: too few roots, or tables that do not fit the schema.
    """
    forest, _ = bounded(schema, frames_of(by_name(tables, schema)))
    whole = forest.n_roots
    world = TreeWorld(
        tables=_records(forest, schema),
        coin=np.full(whole, ALWAYS),
        side=np.zeros(whole, dtype=bool),
        coins=0,
        table_records=whole,
    )
    check_enough(whole)
    per = sum(t.codes.shape[1] for t in world.tables.values()) / whole
    most = max(FEWEST, int(spec.records / per))
    if whole > most:
        world = _only(world, schema, np.isin(np.arange(whole), rng.choice(whole, most, replace=False)))
    if spec.kind == "membership":
        return _with_canaries(world, schema, spec, rng)
    about = attacked_table(spec, schema)
    some = np.unique(world.roots_of(schema)[about])  # a root without a record there is in the tables of every run
    check_enough(len(some))
    place, sides, coins = coins_of_halves(len(some), schema.unit.neighbours, rng)
    coin, side = world.coin.copy(), world.side.copy()
    coin[some], side[some] = place, sides
    odd = np.isin(np.arange(len(coin)), some[place == ALWAYS])
    return _only(replace(world, coin=coin, side=side, coins=coins), schema, ~odd)


def _records(forest: Forest, schema: LinkedSchema) -> dict[str, TreeTable]:
    """The records of a forest by table, without the numbers of children, which are counted again."""
    out = {schema.root.name: TreeTable(codes=forest.roots, parent=np.arange(forest.n_roots))}
    for link, children in zip(schema.links, forest.children, strict=True):
        plain = len(schema[link.child].coded)
        out[link.child] = TreeTable(codes=children.codes[:plain], parent=children.parents)
    return out


def _only(world: TreeWorld, schema: LinkedSchema, stays: NDArray[np.bool_]) -> TreeWorld:
    """The world of some roots, (roots,)."""
    root_of, tables = world.roots_of(schema), {}
    place = {name: np.cumsum(stays[root]) - 1 for name, root in root_of.items()}  # of each record that stays
    above = {link.child: link.parent for link in schema.links}
    for name, table in world.tables.items():
        here = stays[root_of[name]]
        tables[name] = TreeTable(
            codes=np.ascontiguousarray(table.codes[:, here]), parent=place[above.get(name, name)][table.parent[here]]
        )
    return replace(world, tables=tables, coin=world.coin[stays], side=world.side[stays])


def _with_canaries(world: TreeWorld, schema: LinkedSchema, spec: AttackSpec, rng: Generator) -> TreeWorld:
    """Canaries: roots whose values are drawn evenly from the schema's, each with as many children as it may have.

    Children of a canary are equal but for single roles and distinct orders, and so are its grandchildren: in every
    table all of its weight lies in few cells. Without those in single roles there are `MOST_SIBLINGS` at most.
    Under replace neighbours each takes the place of a root of the tables.
    """
    count = len(world.coin)
    m = min(spec.canaries, count // 4)
    sizes = [a.coded_attribute().size for a in schema.root.coded]
    added = {schema.root.name: TreeTable(codes=_drawn(sizes, (m,), rng), parent=np.arange(m))}
    for i in schema.downward:
        link = schema.links[i]
        parents = added[link.parent].codes.shape[1]
        codes = _children(schema, link, m, rng)
        siblings = codes.shape[2]
        every = np.repeat(codes[:, :, None], parents // m, axis=2)  # the children of each parent of one canary
        added[link.child] = TreeTable(
            codes=every.reshape(len(codes), parents * siblings), parent=np.repeat(np.arange(parents), siblings)
        )
    tables = {}
    above = {link.child: link.parent for link in schema.links}
    for name, table in world.tables.items():
        more = added[name]
        first = world.tables[above.get(name, name)].codes.shape[1]
        kind = np.promote_types(table.codes.dtype, np.min_scalar_type(int(more.codes.max(initial=0))))
        tables[name] = TreeTable(
            codes=np.concatenate([table.codes, more.codes], axis=1).astype(kind),
            parent=np.concatenate([table.parent, more.parent + first]),
        )
    coin = coins_of_canaries(count, m, schema.unit.neighbours, rng)
    return replace(
        world,
        tables=tables,
        coins=m,
        coin=np.concatenate([coin, np.arange(m)]),
        side=np.concatenate([world.side, np.ones(m, dtype=bool)]),
    )


def _children(schema: LinkedSchema, link: Link, m: int, rng: Generator) -> Codes:
    """Codes (attributes, m, siblings) of the children that each parent of a canary has by a link."""
    shape = shapes_of(schema)[schema.links.index(link)]
    single = min(len(shape.single), link.max_children - 1)
    rest = min(link.max_children - single, MOST_SIBLINGS, shape.distinct or MOST_SIBLINGS)
    attributes = [a.coded_attribute() for a in schema[link.child].coded]
    alone = _drawn([a.size for a in attributes], (m, single + 1), rng)
    codes = alone[:, :, np.minimum(np.arange(single + rest), single)]
    if shape.role is not None:
        keys = schema[link.child].coded[shape.role].keys
        places = [keys.index(value) for value in shape.single]
        others = np.setdiff1d(np.arange(attributes[shape.role].size), places)
        codes[shape.role] = rng.choice(others, m)[:, None]
        codes[shape.role, :, :single] = places[:single]
    if shape.distinct and shape.order is not None:
        codes[shape.order] = np.arange(rest)
    return codes


def _drawn(sizes: list[int], shape: tuple[int, ...], rng: Generator) -> NDArray[Any]:
    """Codes drawn evenly, (attributes, *shape)."""
    out = np.zeros((len(sizes), *shape), dtype=np.uint16)
    for row, size in zip(out, sizes, strict=True):
        row[:] = rng.integers(0, size, shape)
    return out


# ---- the tables that an attack looks at


def attacked_table(spec: AttackSpec, schema: LinkedSchema) -> str:
    """The table whose records an attack is about, where it is about records."""
    return schema.links[0].child if spec.about is None else spec.about


def flat_domain(schema: LinkedSchema, table: str) -> Domain:
    """The columns of a table with those of what its records hang on; of the root with its numbers of children."""
    if table == schema.root.name:
        return root_domain(schema)
    link = next(one for one in schema.links if one.child == table)
    names = [schema.root.name, link.parent, table] if schema.above(link) is not None else [link.parent, table]
    return Domain(tuple(replace(a, name=f"{n}.{a.name}") for n in names for a in columns_of(schema, n)))


def flat_codes(forest: Forest, schema: LinkedSchema, table: str) -> tuple[Codes, NDArray[np.int64]]:
    """Codes (columns, n) of the records of a table on `flat_domain`, and the root of each, (n,)."""
    if table == schema.root.name:
        return stacked(forest, schema), np.arange(forest.n_roots)
    place = next(i for i, one in enumerate(schema.links) if one.child == table)
    children = forest.children[place]
    root = forest.root_of(place)[children.parents]
    standing = [] if forest.above[place] is None else [forest.roots[:, root]]
    return np.concatenate([*standing, forest.parent_codes(place)[:, children.parents], children.codes]), root


def views_of(
    forest: Forest, schema: LinkedSchema, stages: list[Stage]
) -> Iterator[tuple[Domain, Codes, NDArray[np.float64], NDArray[np.int64]]]:
    """The view of the roots and those of each stage: its columns, codes, weights of records, and their roots.

    The records of one root weigh 1 at most together, in each of them.
    """
    roots = np.arange(forest.n_roots)
    yield root_domain(schema), stacked(forest, schema), np.ones(forest.n_roots), roots
    for stage in stages:
        codes, weights = records_of(forest, stage, schema)
        root = forest.root_of(stage.link)[parents_in(forest.children[stage.link], stage)]
        yield stage.view.domain, np.stack(codes), weights / stage.view.unit, root


def world_of(
    codes: Codes, root: NDArray[np.int64], trees: TreeWorld, weights: NDArray[np.float64] | None = None
) -> World:
    """Records of all roots of a world, as the world of one table: they come and go with their root.

    The target of a coin is one record of the root whose side is 1; where that has none, it is a record of another.
    """
    coin, side = trees.coin[root], trees.side[root]
    target = np.zeros(trees.coins, dtype=np.int64)
    moved = np.flatnonzero((coin != ALWAYS) & side)
    target[coin[moved]] = moved
    return World(
        codes=codes,
        people=root,
        coin=coin,
        side=side,
        coins=trees.coins,
        target=target,
        table_records=trees.table_records,
        weight=weights,
    )
