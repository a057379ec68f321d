"""Small linked schemas of every shape, and random tables for them."""

import numpy as np
import pyarrow as pa

from dpsyn_core.linked.document import LinkedSchema


def listed(name, count, **more):
    return {"name": name, "kind": "categorical", "values": [str(v) for v in range(count)], **more}


def number(name, count):
    bins = {"count": count}
    return {"name": name, "kind": "numeric", "dtype": "integer", "min": 0, "max": count - 1, "bins": bins}


def schema_of(link, *, root=(listed("a", 2),), child=(listed("r", 3), number("t", 6)), theta=3, **more):
    tables = [
        {"name": "roots", "key": "id", "schema": {"version": 1, "name": "roots", "attributes": list(root)}},
        {"name": "kids", "schema": {"version": 1, "name": "kids", "attributes": list(child)}},
    ]
    link = {"parent": "roots", "child": "kids", "key": "root", "max_children": theta} | link
    return LinkedSchema.of({"version": 2, "name": "small", "tables": tables, "links": [link]} | more)


SCHEMAS = {
    "plain": schema_of({}),
    "roles": schema_of({"roles": {"column": "r", "single": ["0", "1"]}}),
    "ordered": schema_of({"order": "t"}),
    "distinct": schema_of({"order": "t", "distinct": True}, theta=6),
    "one child": schema_of({}, theta=1),
    "many": schema_of({}, theta=20),
    "replace": schema_of({"order": "t"}, unit={"neighbours": "replace"}),
    "ruled": schema_of(
        {
            "roles": {"column": "r", "single": ["0", "1"]},
            "rules": [
                {"kind": "count", "where": "r = 0", "least": 1},
                {"kind": "order", "lower": "t", "upper": "0.t", "where": "r = 2"},
                {"kind": "count", "where": "t > 1", "least": 1, "given": "t = 0"},
            ],
        }
    ),
}


def tables(roots, most, seed, first=0):
    """Random roots named from `first` on, with up to `most` children each."""
    rng = np.random.default_rng(seed)
    names = np.arange(first, first + roots)
    of = np.repeat(names, rng.integers(0, most + 1, roots))
    return {
        "roots": pa.table({"id": names.astype(str), "a": rng.integers(0, 2, roots).astype(str)}),
        "kids": pa.table(
            {
                "root": of.astype(str),
                "r": rng.integers(0, 3, len(of)).astype(str),
                "t": rng.integers(0, 6, len(of)).astype(str),
            }
        ),
    }


def together(*parts):
    """Tables one below the other."""
    return {name: pa.concat_tables([p[name] for p in parts]) for name in parts[0]}
