"""How far synthetic linked tables are from real ones: by table, by link, and between siblings."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from dpsyn_core.runs.trees.bounding import bounded
from dpsyn_core.runs.trees.forest import Forest, shapes_of
from dpsyn_core.schema.linked import LinkedSchema

FEW = 8  # values of the coarse tables


def tvd(a: Any, b: Any, size: int) -> float:
    """Half the L1 distance of the shares of codes below `size`."""
    p, q = (np.bincount(x, minlength=size) / max(len(x), 1) for x in (a, b))
    return float(np.abs(p - q).sum() / 2)


def few(codes: Any, size: int) -> Any:
    """At most FEW runs of nearly equal length."""
    return codes.astype(np.int64) * min(FEW, size) // size


def mean(values: Any) -> float:
    """Of a list, which may be empty."""
    found = list(values)
    return float(np.mean(found)) if found else float("nan")


def pair(a: Any, b: Any, i: int, j: int, sizes: list[int], coarse: bool) -> float:
    """Distance of the table of two columns."""
    made = []
    for codes in (a, b):
        x, y = codes[i].astype(np.int64), codes[j].astype(np.int64)
        made.append(few(x, sizes[i]) * FEW + few(y, sizes[j]) if coarse else x * sizes[j] + y)
    return tvd(made[0], made[1], FEW * FEW if coarse else sizes[i] * sizes[j])


def flat(forest: Forest, link: int) -> tuple[Any, Any]:
    """All children of a link: codes of the parent of each, and own codes."""
    children = forest.children[link]
    return forest.parent_codes(link)[:, children.parents], children.codes


def scores(schema: LinkedSchema, real_tables: Any, made_tables: Any, link: int = 0) -> dict[str, float]:
    """Distances by table, by link and between siblings; none of the children is left out for the first two."""
    free = without_limits(schema)
    real, made = forest_of(free, real_tables), forest_of(free, made_tables)
    root_sizes = [a.size for a in schema.root.coded]
    child_sizes = [a.size for a in schema[schema.links[link].child].coded]
    d = len(root_sizes)
    out = {
        "root 1": mean(tvd(real.roots[i], made.roots[i], s) for i, s in enumerate(root_sizes)),
        "root 2": mean(pair(real.roots, made.roots, i, j, root_sizes, False) for i, j in combinations(range(d), 2)),
    }
    numbers = [
        sum(t.astype(np.int64) for t, _ in f.children[link].singles) + f.children[link].counts for f in (real, made)
    ]
    out["number"] = tvd(numbers[0], numbers[1], 1 + max(int(n.max(initial=0)) for n in numbers))
    (of_a, a), (of_b, b) = flat(real, link), flat(made, link)
    out["child 1"] = mean(tvd(a[i], b[i], s) for i, s in enumerate(child_sizes))
    ways = list(combinations(range(len(child_sizes)), 2))
    out["child 2"] = mean(pair(a, b, i, j, child_sizes, True) for i, j in ways)
    both_a, both_b, sizes = np.concatenate([of_a, a]), np.concatenate([of_b, b]), root_sizes + child_sizes
    across = [(i, d + j) for i in range(d) for j in range(len(child_sizes))]
    out["across"] = mean(pair(both_a, both_b, i, j, sizes, False) for i, j in across)
    out["across 8"] = mean(pair(both_a, both_b, i, j, sizes, True) for i, j in across)
    real, made = forest_of(schema, real_tables), forest_of(schema, made_tables)
    out |= siblings(real, made, link, child_sizes)
    shape = shapes_of(schema)[link]
    if len(shape.single) == 2:
        out |= couples(schema, real, made, link)
    return out


def siblings(real: Forest, made: Forest, link: int, sizes: list[int]) -> dict[str, float]:
    """Consecutive siblings: tables of each column with itself, and the largest gap of a correlation."""
    found, gaps = [], []
    for i, size in enumerate(sizes):
        tables, rs = [], []
        for forest in (real, made):
            children = forest.children[link]
            now = np.flatnonzero(~children.first)
            x, y = (children.rest[i][at].astype(np.int64) for at in (now - 1, now))
            tables.append(few(x, size) * FEW + few(y, size))
            rs.append(correlation(x, y))
        if min(map(len, tables)):
            found.append(tvd(tables[0], tables[1], FEW * FEW))
            gaps.append(abs(rs[0] - rs[1]))
    return {"siblings 8": mean(found), "sibling r off": mean(gaps)}


def couples(schema: LinkedSchema, real: Forest, made: Forest, link: int) -> dict[str, float]:
    """Ages of head and spouse, and of head and children."""
    names = [a.name for a in schema[schema.links[link].child].coded]
    age, role = names.index("age"), names.index("role")
    values = schema[schema.links[link].child].coded[role].keys
    size = schema[schema.links[link].child].coded[age].size
    two, down, rs = [], [], []
    for forest in (real, made):
        (head, h), (spouse, s) = forest.children[link].singles
        both = head & spouse
        x, y = h[age][both].astype(np.int64), s[age][both].astype(np.int64)
        two.append(few(x, size) * FEW + few(y, size))
        rs.append(correlation(x, y))
        rest, of = forest.children[link].rest, forest.children[link].of_parent
        child = (rest[role] == values.index("Child")) & head[of]
        down.append(few(h[age][of[child]], size) * FEW + few(rest[age][child], size))
    return {
        "head-spouse": tvd(two[0], two[1], FEW * FEW), "head-child": tvd(down[0], down[1], FEW * FEW),
        "r spouses": rs[1], "r real": rs[0],
    }  # fmt: skip


def correlation(x: Any, y: Any) -> float:
    """Of codes; 0 where one of them does not vary."""
    return float(np.corrcoef(x, y)[0, 1]) if len(x) > 1 and np.ptp(x) and np.ptp(y) else 0.0


def without_limits(schema: LinkedSchema) -> LinkedSchema:
    """The same tables with no role, no order, and as many children as there are."""
    document = schema.document()
    for link in document["links"]:
        link.pop("roles", None)
        link.pop("order", None)
        link.update(max_children=1000, distinct=False)
    return LinkedSchema.of(document)


def forest_of(schema: LinkedSchema, tables: dict[str, Any]) -> Forest:
    """The forest of any tables, real or synthetic."""
    return bounded(schema, tables, key=bytes(32))[0]
