"""Queries of SQL that name one table, and the words they may use.

Words of SQL: how a query is cut into them, and which functions and types a query may name in each database.

Queries: what the rules of `tables.query_grammar` took in, and how it is written anew for the database.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.errors import TableError

_TOKEN = re.compile(
    r"""\s+
    | (?P<comment>--|/\*)
    | (?P<string>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")+")
    | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w$])
    | (?P<word>[^\W\d]\w*+)(?!['"$])
    | (?P<mark>!~~\*|~~\*|!~~|~~|<>|<=|>=|!=|==|::|->>|->|\|\||&&|@>|<@|!~\*|!~|~\*|[-+*/%=<>(),.;:\[\]{}~@#&|^!?])""",
    re.VERBOSE,
)
REMEDY = (
    "a query must read each record by itself: SELECT columns FROM one table WHERE a condition on that record. Take it "
    "out, or give your word that the query reads each record by itself (--query-vouched, or the box on the Data page); "
    "the manifest then says so"
)


@dataclass(frozen=True, slots=True)
class Token:
    """kind: string, quoted, number, word, mark or end. text: as it stands in the query."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The word in capitals; empty for everything that is no plain word."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def name(self) -> str:
        """What a name between quotation marks says; a plain word as it stands."""
        return self.text[1:-1].replace('""', '"') if self.kind == "quoted" else self.text


END = Token("end", "")


def words(text: str) -> frozenset[str]:
    """A set of words that are written with blanks between them."""
    return frozenset(text.split())


class NotByRecordError(TableError):
    """A query, or a view, that does more than read each record by itself."""

    def __init__(self, what: str, *, where: str = "the query") -> None:
        """what: it has. where: the query, or a view that it reads."""
        super().__init__(f"{where} has {what}; {REMEDY}")
        self.what = what


def tokens(text: str) -> list[Token]:
    """The words of a query. Raises TableError for what the three databases would cut in different ways.

    Comments, escapes (E'...', $$...$$) and quotation marks of one database alone are refused: what this program takes
    for text could be a part of the query there.
    """
    found, at = [], 0
    while at < len(text):
        got = _TOKEN.match(text, at)
        if got is None or "\0" in got[0]:
            what = "a sign that cannot be read here, or a quotation mark that is left open"
            raise NotByRecordError(what)
        at = got.end()
        if got.lastgroup == "comment":
            what = "a comment"
            raise NotByRecordError(what)
        if got.lastgroup is not None:
            found.append(Token(got.lastgroup, got[0]))
    while found and found[-1].text == ";":
        found.pop()
    if any(t.text == ";" for t in found):
        msg = "the query must be one SELECT, without a semicolon inside"
        raise TableError(msg)
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """What one database may be asked for each record.

    Nothing here fails on one record: a run that one record can stop tells that the record is there.

    functions: which give a value of their arguments alone. arithmetic: signs that calculate. casts: whether any type
    may be made of any value. tried: expressions are wrapped in TRY, so that what fails in a record is missing there.
    folded: names without quotation marks are in small letters.
    """

    functions: frozenset[str]
    arithmetic: frozenset[str]
    casts: bool
    tried: bool = False
    folded: bool = False


_EVERYWHERE = frozenset({
    "coalesce", "nullif", "lower", "upper", "trim", "ltrim", "rtrim", "length", "replace", "round",
})  # fmt: skip
_CALCULATING = frozenset({"+", "-", "*", "/", "%", "||"})

DIALECTS = {
    # a sum that is too large becomes a real number, and what is divided by zero is missing
    "sqlite": Dialect(
        functions=_EVERYWHERE | {"ifnull", "iif", "substr", "substring", "instr", "typeof"},
        arithmetic=_CALCULATING,
        casts=True,
    ),
    "duckdb": Dialect(
        functions=_EVERYWHERE
        | {
            "ifnull", "substr", "substring", "left", "right", "concat", "abs", "floor", "ceil", "ceiling", "greatest",
            "least", "year", "month", "day", "contains", "starts_with", "ends_with",
        },
        arithmetic=_CALCULATING,
        casts=True,
        tried=True,
    ),
    # a sum of integers may be too large for its type, a division be by zero, a text be no number: each is an error
    "postgresql": Dialect(
        functions=_EVERYWHERE
        | {"btrim", "char_length", "left", "right", "concat", "floor", "ceil", "ceiling", "greatest", "least"},
        arithmetic=frozenset({"||"}),
        casts=False,
        folded=True,
    ),
}  # fmt: skip
TEXTS = frozenset({"TEXT", "VARCHAR", "CHARACTER VARYING"})  # types that every value can be written as
TYPES = words(
    "TEXT VARCHAR CHAR CHARACTER VARYING STRING INTEGER INT BIGINT SMALLINT TINYINT HUGEINT INT2 INT4 INT8 NUMERIC "
    "DECIMAL REAL FLOAT FLOAT4 FLOAT8 DOUBLE PRECISION BOOLEAN BOOL DATE TIME TIMESTAMP TIMESTAMPTZ INTERVAL UUID "
    "WITHOUT WITH ZONE"
)

# with the owner's word a query may do more with the tables of its database, and still reach nothing else: no file, no
# other server, no sequence, no setting
_VOUCHED = frozenset().union(*(d.functions for d in DIALECTS.values())) | words(
    "count sum total avg min max median mode stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop "
    "covar_samp bool_and bool_or string_agg group_concat array_agg list percentile_cont percentile_disc quantile_cont "
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value "
    "sqrt exp ln log log10 power pow mod sign trunc sin cos tan pi random hex extract date_part date_trunc date_diff "
    "datediff date datetime strftime julianday to_char to_date to_timestamp make_date age quarter week hour minute "
    "second dayofweek position strpos split_part lpad rpad repeat reverse initcap concat_ws regexp_replace "
    "regexp_matches json_extract unnest generate_series range cast try_cast try"
)
_BEFORE_A_BRACKET = TYPES | words(
    "SELECT FROM WHERE IN VALUES AS AND OR NOT ON USING OVER BY HAVING WHEN THEN ELSE CASE ANY ALL SOME EXISTS "
    "DISTINCT FILTER UNION EXCEPT INTERSECT EXCLUDE MATERIALIZED ROW LIMIT OFFSET FETCH TOP SETS ROLLUP CUBE LATERAL "
    "JOIN LIKE BETWEEN IS QUALIFY GROUP WITHIN ARRAY"
)


def vouched(text: str) -> str:
    """A query for which its owner gives their word: any one SELECT that reaches nothing but tables of its database.

    Raises TableError for anything else, and for functions that are not known to stay inside the database.
    """
    found = tokens(text)
    if not found or found[0].word not in ("SELECT", "WITH", "FROM", "TABLE", "VALUES"):
        msg = "the query must be one SELECT, without a semicolon inside"
        raise TableError(msg)
    for before, token, after in zip([END, *found], found, [*found[1:], END], strict=False):
        if after.text != "(" or token.kind not in ("word", "quoted"):
            continue
        named = before.word in ("WITH", "RECURSIVE", "AS")  # the columns of a table that the query itself makes
        known = token.kind == "word" and before.text != "." and token.text.lower() in _VOUCHED
        if not (known or named or token.word in _BEFORE_A_BRACKET):
            msg = (
                f"the query calls {called(token)}, which is not known to stay inside the database; also with your word "
                "a query may use the usual functions on its tables alone"
            )
            raise TableError(msg)
    return text.strip().rstrip("; \t\r\n")


def called(token: Token) -> str:
    """A function in a sentence."""
    return f"the function {token.text.lower()}()" if token.kind == "word" else "a function named in quotation marks"


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
