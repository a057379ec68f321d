"""References for scores of links: a fresh sample of roots, and children handed out by chance. Private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.evaluate import GROUPS
from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.comparison import FIXED, children_apart, children_words, given
from dpsyn_core.runs.trees.forest import Forest
from dpsyn_core.runs.trees.keys import distinct_keys, places_of_keys
from dpsyn_core.schema import CodedAttribute, Link, LinkedSchema

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkVerdict:
    """One score of a link between its two references.

    value: of the synthetic tables. fresh: what a fresh sample of as many roots would score. unattached: what the real
    tables score after their children were handed out to parents by chance. kept: the share of the way from unattached
    to fresh; None where the two lie too close together to say. sentence, worst, columns: of the score.
    """

    scope: str
    metric: str
    value: float
    fresh: float
    unattached: float
    kept: float | None
    sentence: str
    worst: float | None = None
    columns: tuple[str, ...] = ()

    @property
    def ends(self) -> dict[str, str]:
        """The two tables of the link, as sentences name them."""
        return dict(zip(("parent", "child"), self.scope.split(" > "), strict=True))


APART = 0.01  # of total variation: where the two references are nearer, nothing was there to keep
FARTHER = 1.4  # times the distance of a fresh sample, beyond which children by chance have lost a relation
EXPECTED = 5  # records that a cell of an unrelated pair holds on average
Pairs = dict[tuple[str, ...], tuple[Ints, Ints]]  # codes of the two columns, by their names


def link_verdicts(
    schema: LinkedSchema, synthetic: Mapping[str, Any], real: Mapping[str, Any], *, rng: Generator
) -> list[LinkVerdict]:
    """The scores of all links between their references, for the owner alone.

    Relations are those of columns in a few groups of about equal size, less what each column says by itself, as in
    `evaluate/relations`; pairs that hang together no more than chance has it are left out.

    Args:
        schema: of both.
        synthetic: pyarrow tables by name; of one file, that file by each of its two names.
        real: the same.
        rng: draws the fresh sample and hands out children.

    Raises:
        TableError: a table or a column is missing.
    """
    sides = (real, synthetic, fresh_tables(schema, real, rng), unattached_tables(schema, real, rng))
    forests = [bounded(schema, given(schema, tables), key=FIXED)[0] for tables in sides]
    out = []
    for number, link in enumerate(schema.links):
        scope = f"{link.parent} > {link.child}"
        value, fresh, apart = (children_apart(link, number, f, forests[0]) for f in forests[1:])
        out.append(
            LinkVerdict(scope=scope, metric="children", value=value, fresh=fresh, unattached=apart, kept=None,
                        sentence=children_words(value))
        )  # fmt: skip
        for metric, pairs_of, words in (("parent x child", _across, ACROSS), ("siblings", _of_siblings, SIBLINGS)):
            judged = _judged(schema, link, [pairs_of(schema, link, number, f) for f in forests])
            if judged is not None:
                worst = " with ".join(judged[4])
                sentence = words.format(mean=judged[0], worst=judged[3], columns=worst)
                out.append(
                    LinkVerdict(scope=scope, metric=metric, value=judged[0], fresh=judged[1], unattached=judged[2],
                                kept=judged[5], sentence=sentence, worst=judged[3], columns=judged[4])
                )  # fmt: skip
    return out


OFF = "are off by {mean:.1%} on average, at most by {worst:.1%} ({columns})."
ACROSS = f"Relations of a parent's and a child's column {OFF}"
SIBLINGS = f"Relations of a column in consecutive siblings {OFF}"


def _across(schema: LinkedSchema, link: Link, number: int, forest: Forest) -> Pairs:
    children = forest.children[number]
    roots, kids = forest.parent_codes(number)[:, children.parents], children.codes
    return {
        (p.name, c.name): (roots[i], kids[j])
        for i, p in enumerate(schema[link.parent].coded)
        for j, c in enumerate(schema[link.child].coded)
    }


def _of_siblings(schema: LinkedSchema, link: Link, number: int, forest: Forest) -> Pairs:
    children = forest.children[number]
    now = np.flatnonzero(~children.first)
    return {
        (c.name,): (children.rest[j, now - 1], children.rest[j, now]) for j, c in enumerate(schema[link.child].coded)
    }


def _judged(
    schema: LinkedSchema, link: Link, sides: Sequence[Pairs]
) -> tuple[float, float, float, float, tuple[str, ...], float | None] | None:
    """Means over pairs of the three distances, the largest one with its columns, and the share that is kept."""
    names = list(sides[0])
    if not names or not all(len(side[names[0]][0]) for side in sides):
        return None
    n = len(sides[0][names[0]][0])
    most = int(np.clip(np.sqrt(n / EXPECTED), 2, GROUPS))
    off = np.empty((3, len(names)))
    for k, pair in enumerate(names):
        tables = (link.parent, link.child) if len(pair) == 2 else (link.child, link.child)
        maps = [
            _groups(next(a for a in schema[t].coded if a.name == name).coded_attribute(), sides[0][pair][i], most)
            for i, (t, name) in enumerate(zip(tables, (pair[0], pair[-1]), strict=True))
        ]
        real, *others = (_beyond(side[pair], maps) for side in sides)
        off[:, k] = [np.abs(x - real).sum() / 2 for x in others]
    related = (off[2] > FARTHER * off[1]) & (off[2] - off[1] > max(APART, n**-0.5))
    counted = off[:, related] if related.any() else off
    value, fresh, apart = (float(x) for x in counted.mean(axis=1))
    worst = int(np.argmax(np.where(related, off[0], -1.0) if related.any() else off[0]))
    kept = min(1.0, max(0.0, (apart - value) / (apart - fresh))) if related.any() else None
    return value, fresh, apart, float(off[0, worst]), names[worst], kept


def _groups(a: CodedAttribute, real: Ints, most: int) -> Ints:
    """The group of each code: by order, or the commonest values and all others; special codes stay by themselves."""
    counts = np.bincount(real, minlength=a.size)
    plain = a.size - a.special
    out = np.arange(a.size)
    if plain > most:
        if a.ordered:
            middle = np.cumsum(counts[:plain]) - counts[:plain] / 2
            out[:plain] = np.minimum(most * middle / max(1, counts[:plain].sum()), most - 1)
        else:
            out[:plain] = most - 1
            out[np.argsort(-counts[:plain], kind="stable")[: most - 1]] = np.arange(most - 1)
        out[plain:] = most + np.arange(a.special)
    return out


def _beyond(codes: tuple[Ints, Ints], maps: Sequence[Ints]) -> NDArray[np.float64]:
    """Shares of pairs of groups, less the product of the shares of each."""
    width, height = (int(m.max()) + 1 for m in maps)
    cells = maps[0][codes[0]] * height + maps[1][codes[1]]
    shares = np.bincount(cells, minlength=width * height).reshape(width, height) / len(cells)
    return np.asarray(shares - shares.sum(axis=1, keepdims=True) * shares.sum(axis=0))


def fresh_tables(schema: LinkedSchema, tables: Mapping[str, Any], rng: Generator) -> dict[str, Any]:
    """Half as many roots, drawn with replacement, with all that hangs on them and new keys.

    Half of n roots drawn from n differ from these with the variance 2 / n, as do two samples of n from one population.
    """
    root = tables[schema.root.name]
    keys, rows = distinct_keys(root, schema.root_key)
    drawn = rng.integers(0, max(1, len(rows)), (len(rows) + 1) // 2)
    out = {schema.root.name: _renamed(root.take(rows[drawn]), schema.root_key)}
    parents = {schema.root.name: (keys, drawn)}
    for i in schema.downward:
        link = schema.links[i]
        parents_of, chosen = parents[link.parent]
        table = tables[link.child]
        taken, parent = _hanging(places_of_keys(table, link.key, parents_of), chosen, len(parents_of))
        children = table.take(taken).set_column(
            table.column_names.index(link.key), link.key, [np.char.mod("%d", parent + 1)]
        )
        key = schema[link.child].key
        if key is not None:
            names, _ = distinct_keys(table, key)
            place = places_of_keys(table, key, names)
            parents[link.child] = (names, place[taken])
            children = _renamed(children, key)
        out[link.child] = children
    return out


def unattached_tables(schema: LinkedSchema, tables: Mapping[str, Any], rng: Generator) -> dict[str, Any]:
    """The same records, with the children of each link handed out to its parents by chance.

    Each parent keeps its number of children, of each single role and, where no two share it, of each order.
    """
    return dict(tables) | {link.child: _handed_out(link, tables[link.child], rng) for link in schema.links}


def _handed_out(link: Link, table: Any, rng: Generator) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    within = link.roles.column if link.roles is not None else link.order if link.distinct else None
    group = np.zeros(table.num_rows, dtype=np.int64)
    if within is not None:
        codes = pc.dictionary_encode(table.column(within).combine_chunks().cast(pa.string())).indices
        group = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    where = np.argsort(group, kind="stable")
    shuffled = np.lexsort((rng.random(table.num_rows), group))
    order = np.empty(table.num_rows, dtype=np.int64)
    order[where] = shuffled
    place = table.column_names.index(link.key)
    return table.set_column(place, link.key, table.column(link.key).take(order))


def _hanging(place: Ints, chosen: Ints, parents: int) -> tuple[Ints, Ints]:
    """Rows of the children of the chosen parents, and for each of them the number of its parent among the chosen."""
    rows = np.argsort(place, kind="stable")
    rows = rows[place[rows] >= 0]
    counts = np.bincount(place[rows], minlength=parents)
    starts = np.cumsum(counts) - counts
    sizes = counts[chosen]
    parent = np.repeat(np.arange(len(chosen)), sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows[starts[chosen][parent] + within], parent


def _renamed(table: Any, key: str) -> Any:
    """The table with keys that count from 1."""
    return table.set_column(table.column_names.index(key), key, [np.char.mod("%d", np.arange(1, table.num_rows + 1))])


def separate_tables(schema: LinkedSchema, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Tables by the names of the schema: the file of a panel becomes persons, of one row each, and rows."""
    if not schema.one_file:
        return {table.name: tables[table.name] for table in schema.tables}
    (file,) = tables.values()
    _, rows = distinct_keys(file, schema.root_key)
    return {schema.root.name: file.take(rows), schema.links[0].child: file}
