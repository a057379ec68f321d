"""Queries: what the rules of `tables.query_grammar` took in, and how it is written anew for the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.tables.sql_words import DIALECTS, Dialect


@dataclass(frozen=True, slots=True)
class Name:
    """A column or a table as a query names it. exact: between quotation marks."""

    text: str
    exact: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One column of the result: an expression, in pieces of SQL and names of columns; or every column, without any."""

    pieces: tuple[str | Name, ...] = ()
    alias: str | None = None

    @property
    def plain(self) -> bool:
        """Whether it is a column as it is."""
        return len(self.pieces) == 1 and isinstance(self.pieces[0], Name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What the rules took in. table: its name, with that of its schema before it where there is one."""

    items: tuple[Item, ...]
    table: tuple[Name, ...]
    where: tuple[str | Name, ...] = ()
    order: tuple[tuple[Name | int, str], ...] = ()

    @property
    def computed(self) -> tuple[Name, ...]:
        """Columns of which something is computed or compared."""
        made = [p for i in self.items if not i.plain for p in i.pieces]
        return tuple(p for p in (*made, *self.where) if isinstance(p, Name))


def whole(*table: str) -> Query:
    """The query for all columns and records of a table."""
    return Query(items=(Item(),), table=tuple(Name(part) for part in table))


def ascii_lower(text: str) -> str:
    """Small letters for A to Z alone, as databases fold names."""
    return "".join(c.lower() if c.isascii() else c for c in text)


def quoted(name: str) -> str:
    """A name between quotation marks."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A SELECT for the database, and the names of its columns. tried: it holds expressions in TRY."""

    sql: str
    columns: tuple[str, ...]
    tried: bool = False


class NoColumnError(LookupError):
    """The table has no column of this name."""


def write(query: Query, source: str, columns: Sequence[str], system: str) -> Written:
    """The query as SQL, on a source of SQL that has these columns. Raises NoColumnError."""
    dialect = DIALECTS[system]
    made: list[str] = []
    names: list[str] = []
    for item in query.items:
        if not item.pieces:
            made += [quoted(c) for c in columns]
            names += columns
            continue
        text = _text(item.pieces, columns, dialect)
        name = item.alias
        if name is None:
            name = _found(item.pieces[0], columns, dialect)
        wrapped = f"TRY({text})" if dialect.tried and not item.plain else text
        made.append(wrapped if wrapped == quoted(name) else f"{wrapped} AS {quoted(name)}")
        names.append(name)
    sql = f"SELECT {', '.join(made)} FROM {source}"  # noqa: S608 names in quotation marks, and what the rules took in
    if query.where:
        condition = _text(query.where, columns, dialect)
        sql += f" WHERE {f'TRY({condition})' if dialect.tried else condition}"
    if query.order:
        by = [str(b) if isinstance(b, int) else quoted(_found(b, [*names, *columns], dialect)) for b, _ in query.order]
        sql += " ORDER BY " + ", ".join(f"{b} {way}" for b, (_, way) in zip(by, query.order, strict=True))
    tried = dialect.tried and (bool(query.where) or any(i.pieces and not i.plain for i in query.items))
    return Written(sql=sql, columns=tuple(names), tried=tried)


def meant(name: Name, columns: Sequence[str], system: str) -> str:
    """The column that a name means, as it is written in the database. Raises NoColumnError."""
    return _found(name, columns, DIALECTS[system])


def _text(pieces: Sequence[str | Name], columns: Sequence[str], dialect: Dialect) -> str:
    return " ".join(p if isinstance(p, str) else quoted(_found(p, columns, dialect)) for p in pieces)


def _found(name: str | Name, columns: Sequence[str], dialect: Dialect) -> str:
    """The column that is meant, as it is written in the database."""
    if isinstance(name, str):
        raise NoColumnError
    if dialect.folded:
        wanted = name.text if name.exact else ascii_lower(name.text)
        found = [c for c in columns if c == wanted]
    else:
        found = [c for c in columns if ascii_lower(c) == ascii_lower(name.text)]
    if not found:
        raise NoColumnError
    return found[0]
