"""Which table is the root, how others hang on it, and which roles a parent has once, from public names alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dpsyn_core.schema.linked import DEPTH, MOST_SINGLES

KEYS = ("id", "key", "nr", "no", "uuid")  # as a table's own key is often called where it does not say whose it is
SURELY = ("id", "key", "uuid")  # of these, what is never a number of records in their order, as a visit's nr is

ROLE = re.compile(r"(?i)(^|[\W_])(role|relation(ship)?|rolle|beziehung|stellung|verwandtschaft)s?($|[\W_])")
ONCE = re.compile(
    r"(?i)(head|householder|reference person|spouse|husband|wife|partner"
    r"|haushaltsvorstand|bezugsperson|ehepartner(in)?|ehefrau|ehemann|partner(in)?)( of (the )?house(hold)?)?"
)

Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class GuessedLinks:
    """root: its name. keys: key column of each table that has one. parents: of each other table, and the key's column.

    A column is an empty text where no header tells it.
    """

    root: str
    keys: dict[str, str] = field(default_factory=dict)
    parents: dict[str, tuple[str, str]] = field(default_factory=dict)


def guessed_links(columns: Columns) -> GuessedLinks:
    """Root, keys and links.

    A column that is named after a table (order_id, order) holds its key. A table hangs on the deepest of those that it
    names so. Without such names, the key is a column that most tables share, and the root the table in which it stands
    first.

    Args:
        columns: headers of each table, by its name.
    """
    above = {table: _named_by(table, columns) for table in columns}
    depths = {table: _depth(table, above, ()) for table in columns}
    parents = {t: max(ups, key=lambda p: depths[p]) for t, ups in above.items() if ups and 1 < depths[t] <= DEPTH}
    reached = {table: _top(table, parents) for table in columns}
    tops = [t for t in columns if t not in parents]
    if not parents or not tops:
        return _by_shared_column(columns)
    root = max(tops, key=lambda top: sum(end == top for end in reached.values()))
    keys = {p: above[t][p][0] for t, p in parents.items()}
    links = {t: (p, above[t][p][1]) for t, p in parents.items()}
    keys |= {t: key for t in columns if t not in keys and (key := _own(t, columns[t], links.get(t, ("", ""))[1]))}
    shared = keys.get(root, "")
    links |= {t: (root, shared if shared in columns[t] else "") for t in tops if t != root}
    return GuessedLinks(root=root, keys=keys, parents=links)


def _named_by(table: str, columns: Columns) -> dict[str, tuple[str, str]]:
    """Tables after which a column of this one is named: the key of each, and that column."""
    out = {}
    for parent, names in columns.items():
        named = [c for c in columns[table] if after(parent, c)]
        if parent == table or not named:
            continue
        same = [c for c in named if c in names]
        keys = [c for c in names if c.lower() in KEYS]
        if same:
            out[parent] = (same[0], same[0])
        elif keys and not any(after(parent, c) for c in names):
            out[parent] = (keys[0], named[0])
    return out


def _own(table: str, names: Sequence[str], parent_key: str) -> str:
    """The column that numbers the records of a table on which no other hangs; an empty text where no header says so."""
    named = (c for c in names if c.lower() in SURELY or (after(table, c) and c.lower().endswith(SURELY)))
    return next((c for c in named if c != parent_key), "")


def _depth(table: str, above: Mapping[str, Mapping[str, object]], below: tuple[str, ...]) -> int:
    """How many tables stand from the top to this one; what goes round in a circle ends where it began."""
    if table in below:
        return 0
    return 1 + max((_depth(p, above, (*below, table)) for p in above[table]), default=0)


def _top(table: str, parents: Mapping[str, str]) -> str:
    seen = {table}
    while table in parents and parents[table] not in seen:
        table = parents[table]
        seen.add(table)
    return table


def _by_shared_column(columns: Columns) -> GuessedLinks:
    """All tables hang on one by a column that most of them share."""
    shared: dict[str, int] = {}
    for names in columns.values():
        for name in names:
            shared[name] = shared.get(name, 0) + 1
    most = max(shared.values(), default=0)
    first = next(iter(columns))
    if most < 2:
        return GuessedLinks(root=first, parents={n: (first, "") for n in columns if n != first})
    candidates = [n for n, count in shared.items() if count == most]
    named = [(table, key) for key in candidates for table in columns if key in columns[table] and after(table, key)]
    key = named[0][1] if named else candidates[0]
    holders = [table for table in columns if key in columns[table]]
    begins = [table for table in holders if columns[table][0] == key]
    root = named[0][0] if named else (begins or holders)[0]
    links = {n: (root, key if key in columns[n] else "") for n in columns if n != root}
    return GuessedLinks(root=root, keys={root: key}, parents=links)


def after(table: str, column: str) -> bool:
    """Whether a column of keys is named after a table: household_id or household after households."""
    stem = re.sub(r"(ies|es|s)$", "", table.lower())
    rest = column.lower()[len(stem) :] if column.lower().startswith(stem) else None
    ends = "|".join(KEYS)
    return (
        len(stem) > 1 and rest is not None and re.fullmatch(rf"(y|e|s)?[ _.-]?({ends}|number|code)?", rest) is not None
    )


def guessed_roles(values: Columns) -> tuple[str, tuple[str, ...]] | None:
    """The column of roles, and the values of it that one child of a parent has at most; None where no name says so.

    Args:
        values: declared ones of each categorical column of a child table.
    """
    for column, listed in values.items():
        once = tuple(v for v in listed if ONCE.fullmatch(v.strip()))
        if once and len(once) < len(listed) and ROLE.search(column):
            return column, once[:MOST_SINGLES]
    return None
