"""A schema of linked tables, drafted from them: links from headers alone, columns from the data. Not private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.linked.document import LinkedSchema
from dpsyn_core.linked.guessing import guessed_links, guessed_roles
from dpsyn_core.schema.document import Schema
from dpsyn_core.suggest.drafting import draft
from dpsyn_core.tables.frames import to_arrow

CHILDREN = 10  # max_children until a person chooses: a round number, the same for all tables


def draft_linked(
    tables: Mapping[str, Any],
    name: str | None = None,
    *,
    links: Mapping[str, tuple[str, str, str]] | None = None,
    max_children: Mapping[str, int] | None = None,
) -> LinkedSchema:
    """A schema that fits tables that hang together, for a person to correct. Reads the data: not private.

    Args:
        tables: pandas, polars or pyarrow, by name.
        name: of the tables together; None: that of the root.
        links: of child tables: the column with the parent's key, the parent, and the parent's own key; other links are
            guessed from headers.
        max_children: of child tables; others get CHILDREN.

    Returns:
        A schema whose entries of columns all have source "data"; a run with it is stamped NOT PRIVATE.

    Raises:
        SchemaError: a link is not told by headers, or what was given does not fit.
    """
    frames = {n: to_arrow(t) for n, t in tables.items()}
    if len(frames) < 2:
        msg = f"linked tables are two or more, and {len(frames)} is given; add --table, or draft the one without a name"
        raise SchemaError(msg)
    said, most = links or {}, max_children or {}
    for child in (*said, *most):
        if child not in frames:
            msg = f"there is no table '{child[:80]}'; those given are {', '.join(frames)}"
            raise SchemaError(msg)
    for child, (column, parent, key) in said.items():
        for table, wanted in ((child, column), (parent, key)):
            if table not in frames or wanted not in frames[table].column_names:
                there = frames[table].column_names if table in frames else frames
                what = (
                    f"table '{table[:80]}' has no column '{wanted[:80]}'"
                    if table in frames
                    else (f"there is no table '{table[:80]}'")
                )
                msg = f"{what}, which --link {child}.{column}={parent}.{key} names; there are {', '.join(there)}"[:400]
                raise SchemaError(msg)
    found = guessed_links({n: f.column_names for n, f in frames.items()})
    told = {child: link for child, link in found.parents.items() if link[1]}
    parents = told | {child: (parent, column) for child, (column, parent, _) in said.items()}
    keys = found.keys | {parent: key for _, parent, key in said.values()}
    tops = [n for n in frames if n not in parents]
    if not tops:
        msg = f"the links of {', '.join(frames)} go round in a circle; leave out one --link, for the root has no parent"
        raise SchemaError(msg)
    root = found.root if found.root in tops else tops[0]
    lost = next((n for n in tops if n != root), None)
    if lost is not None:
        msg = (
            f"no header of '{lost}' says which record of which table it hangs on; name its column after that table, "
            f"such as {root}_id, or say it: --link {lost}.COLUMN={root}.KEY"
        )
        raise SchemaError(msg)
    listed: list[dict[str, Any]] = []
    once: dict[str, tuple[str, tuple[str, ...]] | None] = {}
    for table in [root, *(n for n in frames if n != root)]:
        own = [keys[table]] if table in keys else []
        held = own + ([parents[table][1]] if table in parents else [])
        columns = with_keys(draft(frames[table], table), held)
        made = {} if columns is None else {"schema": columns.document()}
        once[table] = None if columns is None else proposed_roles(columns)
        listed.append({"name": table} | ({"key": own[0]} if own else {}) | made)
    hanging: list[dict[str, Any]] = [
        {"parent": parent, "child": child, "key": column, "max_children": most.get(child, CHILDREN)}
        for child, (parent, column) in parents.items()
    ]
    for link in hanging:
        if (roles := once.get(link["child"])) is not None:
            link["roles"] = {"column": roles[0], "single": list(roles[1])}
    return LinkedSchema.of({"version": 2, "name": name or root, "tables": listed, "links": hanging})


def proposed_roles(columns: Schema) -> tuple[str, tuple[str, ...]] | None:
    """Roles that a parent has once, as the names of columns and of declared values say; see `guessed_roles`."""
    return guessed_roles({a.name: [str(v) for v in a.keys] for a in columns.coded if a.kind == "categorical"})


def with_keys(columns: Schema, keys: Sequence[str]) -> Schema | None:
    """A table's schema for a linked run: keys are not synthesized, and it has no unit of its own.

    What was read from the data about its columns stays marked; that it proposed a person's column does not matter any
    more, for the root's key takes its place. None for a table of keys alone.
    """
    document = columns.document()
    for name in ("unit", "questions", "n_records", "dataset"):
        document.pop(name, None)
    document["attributes"] = [
        {"name": a["name"], "kind": "identifier", "source": "public"} if a["name"] in keys else a
        for a in document["attributes"]
    ]
    if all(a["kind"] in ("identifier", "ignored") for a in document["attributes"]):
        return None
    return Schema.of(document)
