"""Grammar of queries that read each record by itself: a small grammar of SELECT, and what it took in written anew.

A query is taken in by rules for what is allowed, not by a list of what is not: SELECT columns and values made of the
columns of one record, FROM one table, WHERE a condition on that record. What no rule takes in is refused. ORDER BY is
refused too: to sort, a database writes whole results down, and fails on a record that is too long for that. Nothing of
the text itself goes to the database: it gets what the rules took in, every name between quotation marks and known as a
column, so that no word can mean more there than it meant here.
"""

from __future__ import annotations

from dpsyn_core.errors import TableError
from dpsyn_core.tables.databases.vouched_query import DIALECTS, END, Item, Name, NotByRecordError, Query, Token, tokens
from dpsyn_core.tables.query_expressions import LONGEST, RESERVED, Expressions


def parse(text: str, system: str) -> Query:
    """The query of one of the systems sqlite, duckdb and postgresql.

    Raises:
        TableError: it does anything but read each record by itself, or nothing here knows that it does not.
    """
    return _Statement(tokens(text), DIALECTS[system], system).query()


def view_body(text: str) -> list[Token]:
    """The words of the SELECT in CREATE VIEW name AS SELECT ... Raises TableError for any other form."""
    found = tokens(text)
    words = [t.word for t in found[:12]]
    if words[:1] == ["CREATE"] and "VIEW" in words[:4] and "AS" in words:
        at = words.index("AS")
        if not any(t.text == "(" for t in found[:at]):
            return found[at + 1 :]
    what = "a view whose definition cannot be read here"
    raise NotByRecordError(what)


def parse_view(text: str, system: str) -> Query:
    """As `parse`, of the definition of a view: a SELECT, or the statement that made the view."""
    found = tokens(text)
    body = view_body(text) if found[:1] and found[0].word == "CREATE" else found
    return _Statement(body, DIALECTS[system], system).query()


class _Statement(Expressions):
    """Takes in SELECT items FROM table WHERE condition, and nothing else."""

    __slots__ = ()

    def query(self) -> Query:
        """The whole statement."""
        if sum(len(token.text) for token in self.words) > LONGEST:
            what = f"more than {LONGEST} characters"
            raise NotByRecordError(what)
        items: list[Item] = []
        if self.met("SELECT"):
            items = self.items()
        elif self.next.word != "FROM" or self.system != "duckdb":
            if self.next.word in ("WITH", "VALUES", "TABLE", "FROM"):
                raise self.odd()
            msg = "the query must be one SELECT, without a semicolon inside"
            raise TableError(msg)
        self.need("FROM")
        table = [self.name()]
        if self.met("."):
            table.append(self.name())
        if self.next.text == "(":
            what = "a function in the place of its table"
            raise NotByRecordError(what)
        known = [table[-1]]
        if self.met("AS") or self.next.kind == "quoted" or (self.next.word and self.next.word not in RESERVED):
            known = [self.name()]
        if not items and self.met("SELECT"):  # DuckDB takes the table first
            items = self.items()
        where: tuple[str | Name, ...] = ()
        if self.met("WHERE"):
            where = self.apart()
        if self.next.text == ",":
            what = "a second table"
            raise NotByRecordError(what)
        if self.next is not END:
            raise self.odd()
        for name in self.qualified:
            if name.text.lower() not in {k.text.lower() for k in known}:
                what = "a column of another table than the one after FROM"
                raise NotByRecordError(what)
        return Query(items=tuple(items) or (Item(),), table=tuple(table), where=where)

    def items(self) -> list[Item]:
        """What stands between SELECT and FROM."""
        if self.next.word in ("DISTINCT", "TOP", "ALL"):
            raise self.odd()
        found = []
        while True:
            found.append(self.item())
            if not self.met(","):
                return found

    def item(self) -> Item:
        """A column, every column, or a value with a name."""
        if self.met("*"):
            return Item()
        if self.ahead().text == "." and self.ahead(2).text == "*":
            self.qualified.append(self.name())
            self.at += 2
            return Item()
        pieces = self.apart()
        if self.met("AS"):
            alias = self.name()
            return Item(pieces=pieces, alias=alias.text if alias.exact else self.folded(alias.text))
        item = Item(pieces=pieces)
        if not item.plain:
            if self.next.text not in (",", "") and self.next.word != "FROM":
                raise self.odd()
            msg = "the query computes a column without a name; name it: SELECT ... AS name"
            raise TableError(msg)
        return item
