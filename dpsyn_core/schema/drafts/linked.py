"""A schema of linked tables, drafted from them (not private), and rules that their names let expect (no data is read).

Nothing is certain about a table because of its headers: a proposal is in force only when somebody adds it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from dpsyn_core.errors import SchemaError, SchemaWarning
from dpsyn_core.schema.document import Schema, SchemaUnit
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.drafts.draft import empty, entries_of
from dpsyn_core.schema.drafts.links import guessed_links, guessed_roles
from dpsyn_core.schema.drafts.proposals import rounded_entries
from dpsyn_core.schema.linked import Link, LinkedSchema
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.columns import range_of
from dpsyn_core.schema.rules.linked_rules import AnyLinkRule, LinkRule
from dpsyn_core.schema.rules.usual_rules import named_close, propose_rules, quoted, words_of
from dpsyn_core.schema.rules.usual_words import AGE, BORN, DIED, JOINED, OF_DATES, OLDEST_CHILD
from dpsyn_core.tables import headers, to_arrow

CHILDREN = 10  # max_children until a person chooses: a round number, the same for all tables
HEAD = re.compile(r"(?i)(head|householder|reference person|haushaltsvorstand|bezugsperson)( of (the )?household)?")
CHILD = re.compile(r"(?i)(own |natural |leibliches )?(child|son|daughter|kind|sohn|tochter)(ren)?")
CALENDAR = (1800, 2200)  # years: other numbers that are named so are lengths


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
        links: of child tables: the column with the parent's key, the parent, and the key of the parent; other links are
            guessed from headers.
        max_children: of child tables; others get CHILDREN.

    Returns:
        A schema whose entries of columns all have source "data"; a run with it is stamped NOT PRIVATE.

    Raises:
        SchemaError: a link does not follow from headers, or what was given does not fit.
    """
    frames = {n: to_arrow(t) for n, t in tables.items()}
    if len(frames) < 2:
        msg = f"linked tables are two or more, and {len(frames)} is given; add --table, or draft the one without a name"
        raise SchemaError(msg)
    declared, most = links or {}, max_children or {}
    for child in (*declared, *most):
        if child not in frames:
            msg = f"there is no table '{child[:80]}'; those given are {', '.join(frames)}"
            raise SchemaError(msg)
    for child, (column, parent, key) in declared.items():
        for table, required in ((child, column), (parent, key)):
            if table not in frames or required not in frames[table].column_names:
                there = frames[table].column_names if table in frames else frames
                what = (
                    f"table '{table[:80]}' has no column '{required[:80]}'"
                    if table in frames
                    else (f"there is no table '{table[:80]}'")
                )
                msg = f"{what}, which --link {child}.{column}={parent}.{key} names; there are {', '.join(there)}"[:400]
                raise SchemaError(msg)
    guesses = guessed_links({n: f.column_names for n, f in frames.items()})
    guessed = {child: link for child, link in guesses.parents.items() if link[1]}
    parents = guessed | {child: (parent, column) for child, (column, parent, _) in declared.items()}
    keys = guesses.keys | {parent: key for _, parent, key in declared.values()}
    tops = [n for n in frames if n not in parents]
    if not tops:
        msg = f"the links of {', '.join(frames)} go round in a circle; leave out one --link, for the root has no parent"
        raise SchemaError(msg)
    root = guesses.root if guesses.root in tops else tops[0]
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
        key_columns = [keys[table]] if table in keys else []
        excluded = key_columns + ([parents[table][1]] if table in parents else [])
        columns = _of_table(table, frames[table], excluded)
        document = {} if columns is None else {"schema": columns.document()}
        once[table] = None if columns is None else proposed_roles(columns)
        listed.append({"name": table} | ({"key": key_columns[0]} if key_columns else {}) | document)
    hanging: list[dict[str, Any]] = [
        {"parent": parent, "child": child, "key": column, "max_children": most.get(child, CHILDREN)}
        for child, (parent, column) in parents.items()
    ]
    for link in hanging:
        if (roles := once.get(link["child"])) is not None:
            link["roles"] = {"column": roles[0], "single": list(roles[1])}
    return LinkedSchema.of({"version": 2, "name": name or root, "tables": listed, "links": hanging})


def rounded_linked(schema: LinkedSchema, tables: Mapping[str, Any]) -> LinkedSchema:
    """The draft without exact ends and rare values, which are single persons'; see `rounded`. Roles stay as drafted.

    tables: pyarrow, by name; those that were drafted.
    """
    roles = {link.child: link.roles.column for link in schema.links if link.roles is not None}
    document = schema.document()
    for table, entry in zip(schema.tables, document["tables"], strict=True):
        if table.columns is not None:
            entries = rounded_entries(table.columns, to_arrow(tables[table.name]), besides=roles.get(table.name))
            entry["schema"]["attributes"] = entries
            if empty(entries):
                _warn_of_keys_alone(table.name)
                entry.pop("schema")
    return LinkedSchema.of(document)


def _of_table(table: str, frame: Any, keys: Sequence[str]) -> Schema | None:
    """What is drafted of one table but for its keys; None: nothing. Raises SchemaError."""
    entries = entries_of(frame, keys)
    if not empty(entries):
        return with_keys(Schema.of({"version": 1, "name": table, "attributes": entries}), keys)
    if any(e["name"] not in keys for e in entries):
        _warn_of_keys_alone(table)
    return None


def _warn_of_keys_alone(table: str) -> None:
    what = "no column but its keys has few enough values to be drafted, so that it keeps its keys alone"
    warnings.warn(f"table '{headers.short(table)}': {what}", SchemaWarning, stacklevel=3)


def confirm_linked(
    schema: LinkedSchema,
    names: Sequence[str] = (),
    *,
    unit: bool = False,
    rules: bool = False,
    everything: bool = False,
) -> LinkedSchema:
    """The schema in which the named entries are public, by a person's word. See `confirm`.

    Args:
        schema: with entries that were read from the data.
        names: of columns, as TABLE.COLUMN.
        unit: whether keys, links, limits, orders and roles are public knowledge too.
        rules: whether all rules are, of tables and of links.
        everything: claims that all of it could have been written down by somebody who has never seen the tables.

    Raises:
        SchemaError: nothing is named, or a column that no table has.
    """
    if not (names or unit or rules or everything):
        msg = "nothing is named to be confirmed; name columns as TABLE.COLUMN, or unit, rules, or everything"
        raise SchemaError(msg)
    rules_of: dict[str, list[str]] = {t.name: [] for t in schema.tables}
    for name in names:
        of = max((t for t in rules_of if name.startswith(f"{t}.")), key=len, default=None)
        if of is None:
            msg = f"'{name[:80]}' names no table; write TABLE.COLUMN, of one of {', '.join(rules_of)}"
            raise SchemaError(msg)
        rules_of[of].append(name.removeprefix(f"{of}."))
    tables = []
    for table in schema.tables:
        columns: Any = table.columns
        named = rules_of[table.name]
        if columns is None and named:
            msg = f"table '{table.name}' has nothing but its key, which --unit confirms; leave '{named[0]}' out"
            raise SchemaError(msg)
        if columns is not None and (named or rules or everything or unit):
            if named or rules or everything:
                columns = confirm(columns, named, unit=False, rules=rules, everything=everything)
            if unit or everything:
                columns = columns.model_copy(update={"unit": SchemaUnit(source="public")})
        tables.append(table.model_copy(update={"columns": columns}))
    changes: dict[str, object] = {"tables": tuple(tables)}
    if unit or everything:
        changes["unit"] = schema.unit.model_copy(update={"source": "public"})
    if rules or everything:
        confirmed = [tuple(r.known for r in link.rules) for link in schema.links]
        changes["links"] = tuple(
            link.model_copy(update={"rules": rules_of}) for link, rules_of in zip(schema.links, confirmed, strict=True)
        )
    return schema.model_copy(update=changes)


def proposed_roles(columns: Schema) -> tuple[str, tuple[str, ...]] | None:
    """Roles that a parent has once, as the names of columns and of declared values say; see `guessed_roles`."""
    return guessed_roles({a.name: [str(v) for v in a.keys] for a in columns.coded if a.listed})


def with_keys(columns: Schema, keys: Sequence[str]) -> Schema | None:
    """A table's schema for a linked run: keys are not synthesized, and it has no unit.

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


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkedProposal:
    """A rule, and as a schema has it. table: whose it is; of a link, the child table. across: whether of the link."""

    table: str
    across: bool
    rule: Rule | AnyLinkRule
    document: dict[str, Any]

    def added(self, schema: LinkedSchema) -> LinkedSchema:
        """The schema with this rule. Raises SchemaError where it does not fit."""
        document = schema.document()
        if self.across:
            holder = next(link for link in document["links"] if link["child"] == self.table)
        else:
            holder = next(table for table in document["tables"] if table["name"] == self.table)["schema"]
        holder["rules"] = [*holder.get("rules", []), self.document | {"source": "proposed"}]  # a person agreed
        return LinkedSchema.of(document)

    def __str__(self) -> str:
        """For people."""
        return f"{self.table}: {self.rule}"


def propose_linked_rules(schema: LinkedSchema) -> list[LinkedProposal]:
    """Rules that are likely to hold, which the schema does not have; of those that it could have alone."""
    out: list[LinkedProposal] = []
    for table in schema.tables:
        for rule in [] if table.columns is None else propose_rules(table.columns):
            document = rule.model_dump(mode="json")
            out.append(LinkedProposal(table=table.name, across=False, rule=rule, document=document))
    adapter: TypeAdapter[AnyLinkRule] = TypeAdapter(LinkRule)
    for link in schema.links:
        existing = {str(r) for r in link.rules}
        for document in _across(schema, link):
            one = adapter.validate_python(document)
            if str(one) not in existing:
                existing.add(str(one))
                out.append(LinkedProposal(table=link.child, across=True, rule=one, document=document))
    return [p for p in out if _fits(p, schema)]


def _fits(proposal: LinkedProposal, schema: LinkedSchema) -> bool:
    try:
        proposal.added(schema)
    except SchemaError:
        return False
    return True


def _across(schema: LinkedSchema, link: Link) -> Iterator[dict[str, Any]]:
    """Rules of a link as documents, most of which the schema could have."""
    child = schema[link.child].coded
    for table in dict.fromkeys([link.parent, schema.root.name]):
        above = schema[table].coded
        yield from (
            {"kind": "order", "lower": f"{table}.{low}", "upper": high}
            for low, high in _first(above, JOINED, child, BORN | DIED)
        )
        yield from (
            {"kind": "order", "lower": low, "upper": f"{table}.{high}"}
            for high, low in _first(above, DIED, child, BORN | DIED)
        )
        yield from (  # ordered and shipped, admitted and discharged
            {"kind": "order", "lower": f"{table}.{one.name}", "upper": a.name}
            for one in above
            if one.dated
            for a in child
            if a.dated and named_close(one.name, a.name, precise=a.precise)
        )
    if link.roles is not None:
        yield from _of_roles(child, link.roles.column, link.roles.single)


def _first(
    above: Sequence[Any], said: frozenset[str], child: Sequence[Any], other: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Pairs of a parent's date that is named by these words, and a child's that is named by none of the others.

    Years that are numbers count as dates.
    """
    for dated in (True, False):
        for one in (a for a in above if a.dated is dated and words_of(a.name) & said and _dated(a)):
            yield from (
                (one.name, a.name) for a in child if a.dated is dated and _dated(a) and not words_of(a.name) & other
            )


def _dated(attribute: Any) -> bool:
    if attribute.dated or attribute.limits is None:
        return bool(attribute.dated)
    low, high = range_of(attribute)
    return bool(words_of(attribute.name) & OF_DATES["year"]) and CALENDAR[0] <= low <= high <= CALENDAR[1]


def _of_roles(child: Sequence[Any], column: str, single: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One head; no head or spouse is a child; a child is younger than the head."""
    attribute = next(a for a in child if a.name == column)
    head = next((v for v in single if HEAD.fullmatch(v.strip())), None)
    young = [str(v) for v in attribute.keys if CHILD.fullmatch(str(v).strip())]
    if head is not None:
        yield {"kind": "count", "where": f"{quoted(column)} = {quoted(head)}", "least": 1, "most": 1}
    ages = [a for a in child if a.limits is not None and words_of(a.name) & AGE]
    for age in (a for a in ages if range_of(a)[0] <= OLDEST_CHILD):
        young_ages = f"{quoted(age.name)} in [{range_of(age)[0]:g}, {OLDEST_CHILD}]"
        once = ", ".join(map(quoted, single))
        yield {"kind": "impossible", "where": f"{young_ages} and {quoted(column)} in {{{once}}}"}
    born = [a for a in child if words_of(a.name) & BORN and _dated(a)]
    for value in young if head is not None else ():
        where = f"{quoted(column)} = {quoted(value)}"
        for a in ages:
            yield {"kind": "order", "lower": a.name, "upper": f"{head}.{a.name}", "strict": True, "where": where}
        for a in born:
            yield {"kind": "order", "lower": f"{head}.{a.name}", "upper": a.name, "strict": True, "where": where}
