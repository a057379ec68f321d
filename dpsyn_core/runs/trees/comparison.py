"""How near synthetic linked tables are to real ones, by table and by link. Reads private data: for the owner alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import compare_tables, compute
from dpsyn_core.runs.trees.bounding import bounded, check_names
from dpsyn_core.runs.trees.forest import Forest
from dpsyn_core.runs.trees.release import by_name
from dpsyn_core.schema import Link, LinkedSchema
from dpsyn_core.tables import naming, to_arrow

BY_TABLE = ("tvd-1way", "tvd-2way")
FIXED = bytes(32)  # siblings without an order stand in that of hashes with this key: a report says the same each time
LARGEST = 50_000_000  # cells of a table of two columns


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedScore:
    """One figure. scope: a table's name, or parent > child of a link. value: None where it cannot be computed.

    worst: of a mean over columns, the largest one. columns: whose it is.
    """

    scope: str
    metric: str
    value: float | None
    sentence: str
    worst: float | None = None
    columns: tuple[str, ...] = ()


def compare_linked(
    schema: LinkedSchema, synthetic: Mapping[str, Any] | Any, real: Mapping[str, Any] | Any
) -> list[LinkedScore]:
    """Scores of each table by itself, then of each link.

    Args:
        schema: of both.
        synthetic: tables by name; of one file, that file.
        real: the same.

    Raises:
        TableError: a table or a column is missing.
    """
    synthetic_tables, private = given(schema, synthetic), given(schema, real)
    out = []
    for table in schema.tables:
        if table.columns is not None:
            with naming(table.name):
                comparison = compare_tables(table.columns, synthetic_tables[table.name], private[table.name])
            listed = [n for n in BY_TABLE if len(table.coded) > 1 or n == "tvd-1way"]
            for name, score in compute(comparison, listed).items():
                value = None if isinstance(score, MetricError) else score.value
                sentence = str(score) if isinstance(score, MetricError) else score.sentence
                out.append(LinkedScore(scope=table.name, metric=name, value=value, sentence=sentence))
    return out + compare_links(schema, synthetic_tables, private)


def given(schema: LinkedSchema, tables: Mapping[str, Any] | Any) -> dict[str, Any]:
    """Arrow tables by name. Raises TableError where one is missing."""
    frames = {n: to_arrow(t) for n, t in by_name(tables, schema).items()}
    check_names(schema, frames)
    return frames


def compare_links(
    schema: LinkedSchema, synthetic: Mapping[str, Any] | Any, real: Mapping[str, Any] | Any
) -> list[LinkedScore]:
    """Scores of each link alone; see `compare_linked`."""
    out: list[LinkedScore] = []
    forests = [bounded(schema, given(schema, tables), key=FIXED)[0] for tables in (synthetic, real)]
    for number, link in enumerate(schema.links):
        out += _of_link(schema, link, number, *forests)
    return out


def children_apart(link: Link, number: int, made: Forest, real: Forest) -> float:
    """How far the number of children of a parent is off, in total variation."""
    return _distance([sizes(forest, number) for forest in (made, real)], link.max_children + 1)


def sizes(forest: Forest, number: int) -> NDArray[np.int64]:
    """How many children each parent of a link has, (parents,)."""
    children = forest.children[number]
    return np.asarray(sum(there.astype(np.int64) for there, _ in children.singles) + children.counts)


def children_words(apart: float) -> str:
    """The same as a sentence."""
    return f"The number of children of a parent is off by {apart:.1%} (total variation distance)."


def _of_link(schema: LinkedSchema, link: Link, number: int, made: Forest, real: Forest) -> list[LinkedScore]:
    scope = f"{link.parent} > {link.child}"
    apart = children_apart(link, number, made, real)
    scores = [LinkedScore(scope=scope, metric="children", value=apart, sentence=children_words(apart))]
    parents = [a.coded_attribute() for a in schema[link.parent].coded]
    attributes = [a.coded_attribute() for a in schema[link.child].coded]
    columns = [_columns(f, number) for f in (made, real)]
    across = {
        (p.name, c.name): _distance([roots[i] * c.size + kids[j] for roots, kids in columns], p.size * c.size)
        for i, p in enumerate(parents)
        for j, c in enumerate(attributes)
        if p.size * c.size <= LARGEST
    }
    if across:
        worst = max(across, key=lambda pair: across[pair])
        mean = float(np.mean(list(across.values())))
        scores.append(
            LinkedScore(
                scope=scope,
                metric="parent x child",
                value=mean,
                sentence=f"Tables of a parent's and a child's column are off by {mean:.1%} on average, at most by "
                f"{across[worst]:.1%} ({worst[0]} with {worst[1]}).",
                worst=across[worst],
                columns=worst,
            )
        )
    return scores + _of_siblings(scope, number, attributes, made, real)


def _of_siblings(scope: str, number: int, own: list[Any], made: Forest, real: Forest) -> list[LinkedScore]:
    """Consecutive children: each column with itself."""
    pairs = []
    for forest in (made, real):
        children = forest.children[number]
        now = np.flatnonzero(~children.first)
        pairs.append((children.rest[:, now - 1].astype(np.int64), children.rest[:, now].astype(np.int64)))
    if not min(before.shape[1] for before, _ in pairs):
        return []
    off = {
        a.name: _distance([before[j] * a.size + now[j] for before, now in pairs], a.size**2)
        for j, a in enumerate(own)
        if a.size**2 <= LARGEST
    }
    if not off:
        return []
    worst, mean = max(off, key=lambda n: off[n]), float(np.mean(list(off.values())))
    text = f"Tables of a column in consecutive siblings are off by {mean:.1%} on average, at most by {off[worst]:.1%}"
    text = f"{text} ({worst})."
    return [LinkedScore(scope=scope, metric="siblings", value=mean, sentence=text, worst=off[worst], columns=(worst,))]


def _columns(forest: Forest, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes of all children of a link, with those of their parents."""
    children = forest.children[number]
    return forest.parent_codes(number)[:, children.parents].astype(np.int64), children.codes.astype(np.int64)


def _distance(both: Sequence[NDArray[np.int64]], size: int) -> float:
    """Half the L1 distance of the shares of codes below `size`; 1 where one of the two has no records."""
    if not min(map(len, both)):
        return float(max(map(len, both)) > 0)
    p, q = (np.bincount(codes, minlength=size) / len(codes) for codes in both)
    return float(np.abs(p - q).sum() / 2)
