"""What scores of links are held against: a fresh sample of roots, and children handed out by chance. Private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpsyn_core.linked.compare import LinkedScore, compare_links
from dpsyn_core.linked.document import Link, LinkedSchema
from dpsyn_core.linked.keys import distinct_keys, places_of_keys

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


APART = 0.01  # of total variation: where the two references are nearer, nothing was there to keep


def link_verdicts(
    schema: LinkedSchema, synthetic: Mapping[str, Any], real: Mapping[str, Any], *, rng: Generator
) -> list[LinkVerdict]:
    """The scores of all links between their references, for the owner alone.

    Args:
        schema: of both.
        synthetic: pyarrow tables by name; of one file, that file by each of its two names.
        real: the same.
        rng: draws the fresh sample and hands out children.

    Raises:
        TableError: a table or a column is missing.
    """
    fresh = {(s.scope, s.metric): s for s in compare_links(schema, fresh_tables(schema, real, rng), real)}
    apart = {(s.scope, s.metric): s for s in compare_links(schema, unattached_tables(schema, real, rng), real)}
    out = []
    for score in compare_links(schema, synthetic, real):
        at = (score.scope, score.metric)
        low, high = (_value(found.get(at)) for found in (fresh, apart))
        if score.value is None or low is None or high is None:
            continue
        kept = None if high - low < APART else (high - score.value) / (high - low)
        out.append(
            LinkVerdict(
                scope=score.scope, metric=score.metric, value=score.value, fresh=low, unattached=high,
                kept=None if kept is None else min(1.0, max(0.0, kept)), sentence=score.sentence,
                worst=score.worst, columns=score.columns,
            )
        )  # fmt: skip
    return out


def _value(score: LinkedScore | None) -> float | None:
    return None if score is None else score.value


def fresh_tables(schema: LinkedSchema, tables: Mapping[str, Any], rng: Generator) -> dict[str, Any]:
    """Half as many roots, drawn with replacement, with all that hangs on them and keys of their own.

    Half of n roots drawn from n differ from these with the variance 2 / n, as do two samples of n from one population.
    """
    root = tables[schema.root.name]
    own, rows = distinct_keys(root, schema.root_key)
    drawn = rng.integers(0, max(1, len(rows)), (len(rows) + 1) // 2)
    out = {schema.root.name: _renamed(root.take(rows[drawn]), schema.root_key)}
    parents = {schema.root.name: (own, drawn)}
    for i in schema.downward:
        link = schema.links[i]
        known, chosen = parents[link.parent]
        table = tables[link.child]
        taken, parent = _hanging(places_of_keys(table, link.key, known), chosen, len(known))
        made = table.take(taken).set_column(
            table.column_names.index(link.key), link.key, [np.char.mod("%d", parent + 1)]
        )
        key = schema[link.child].key
        if key is not None:
            names, _ = distinct_keys(table, key)
            place = places_of_keys(table, key, names)
            parents[link.child] = (names, place[taken])
            made = _renamed(made, key)
        out[link.child] = made
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
