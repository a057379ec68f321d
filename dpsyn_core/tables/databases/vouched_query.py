"""Queries of SQL that name one table, and the words they may use.

Words of SQL: how a query is cut into them, and which functions and types a query may name in each database.

Queries: what the rules of `tables.query_grammar` took in, and how it is written anew for the database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

    Nothing here fails on one record: a run that one record can stop tells that the record is there. So nothing makes a
    text either: a value is a cell as it stands, a constant of the query, or a number, a date or a truth value, as text
    where a cast says so. A longer text than the cells of its record could be longer than the database takes.

    functions: which give a value of their arguments alone, of these kinds. arithmetic: signs that calculate. casts:
    whether any type may be made of any value. tried: expressions are wrapped in TRY, so that what fails in a record is
    missing there. folded: names without quotation marks are in small letters.
    """

    functions: frozenset[str]
    arithmetic: frozenset[str]
    casts: bool
    tried: bool = False
    folded: bool = False


_EVERYWHERE = frozenset({"coalesce", "nullif", "length"})
_CALCULATING = frozenset({"+", "-", "*", "/", "%"})

DIALECTS = {
    # a sum that is too large becomes a real number, and what is divided by zero is missing
    "sqlite": Dialect(
        functions=_EVERYWHERE | {"ifnull", "iif", "typeof", "round"},
        arithmetic=_CALCULATING,
        casts=True,
    ),
    "duckdb": Dialect(
        functions=_EVERYWHERE
        | {
            "ifnull", "round", "abs", "floor", "ceil", "ceiling", "greatest", "least", "year", "month", "day",
            "contains", "starts_with", "ends_with",
        },
        arithmetic=_CALCULATING,
        casts=True,
        tried=True,
    ),
    # a sum of integers may be too large for its type, a division be by zero, a text be no number, a rounded numeric
    # have a digit too many: each is an error. What works on letters (lower, trim, ILIKE) needs up to eight times the
    # memory of a cell, and fails where that is above 1 GB
    "postgresql": Dialect(
        functions=_EVERYWHERE | {"char_length", "greatest", "least"},
        arithmetic=frozenset(),
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
    "lower upper trim btrim ltrim rtrim replace substr substring instr left right concat floor ceil ceiling round abs "
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


def whole(*table: str) -> Query:
    """The query for all columns and records of a table."""
    return Query(items=(Item(),), table=tuple(Name(part) for part in table))


def ascii_lower(text: str) -> str:
    """Small letters for A to Z alone, as databases fold names."""
    return "".join(c.lower() if c.isascii() else c for c in text)


def quoted(name: str) -> str:
    """A name between quotation marks."""
    return '"' + name.replace('"', '""') + '"'


Kinds = frozenset[tuple[str, str]]  # group and name of each type; two of one group must not be computed with together
ODD = ("odd", "")  # a type of which nothing is computed
Columns = Mapping[str, Kinds]  # in their order


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A SELECT for the database, and its columns. tried: it holds expressions in TRY."""

    sql: str
    columns: Columns
    tried: bool = False


class NoColumnError(LookupError):
    """The table has no column of this name."""


def write(query: Query, source: str, columns: Columns, system: str) -> Written:
    """The query as SQL, on a source of SQL that has these columns.

    Raises NoColumnError, and NotByRecordError for a column that stands in two items, or for types that one record can
    keep the database from computing with.
    """
    dialect = DIALECTS[system]
    made: list[str] = []
    given: dict[str, Kinds] = {}
    used: list[str] = []
    computed: Kinds = frozenset()
    for item in query.items:
        if not item.pieces:
            made += [quoted(c) for c in columns]
            given |= columns
            used += columns
            continue
        text = _text(item.pieces, columns, dialect)
        named = _named(item.pieces, columns, dialect)
        used += named
        kinds = _kinds(item.pieces, named, columns, system)
        name = item.alias
        if name is None:
            name = _found(item.pieces[0], columns, dialect)
        if not item.plain:
            computed |= kinds
        wrapped = f"TRY({text})" if dialect.tried and not item.plain else text
        made.append(wrapped if wrapped == quoted(name) else f"{wrapped} AS {quoted(name)}")
        given[name] = kinds
    if len(set(used)) < len(used):  # with it the result of one record could be longer than the record
        what = "a column that is given twice, or given and computed with"
        raise NotByRecordError(what)
    sql = f"SELECT {', '.join(made)} FROM {source}"  # noqa: S608 names in quotation marks, and what the rules took in
    if query.where:
        condition = _text(query.where, columns, dialect)
        sql += f" WHERE {f'TRY({condition})' if dialect.tried else condition}"
        computed |= _kinds(query.where, _named(query.where, columns, dialect), columns, system)
    if ODD in computed:
        what = "a condition on a column whose type is not one of the usual ones"
        raise NotByRecordError(what)
    if len({group for group, _ in computed}) < len(computed):
        what = f"types that are converted into each other ({', '.join(sorted(n for _, n in computed))})"
        raise NotByRecordError(what)
    tried = dialect.tried and (bool(query.where) or any(i.pieces and not i.plain for i in query.items))
    return Written(sql=sql, columns=given, tried=tried)


# PostgreSQL converts a value of one type of a group where it stands beside another, and fails on values out of range
_GROUPS = {
    "NUMERIC": ("numbers", "numeric"), "DECIMAL": ("numbers", "numeric"), "REAL": ("numbers", "float"),
    "FLOAT": ("numbers", "float"), "FLOAT4": ("numbers", "float"), "FLOAT8": ("numbers", "float"),
    "DOUBLE": ("numbers", "float"), "DATE": ("times", "date"), "TIMESTAMP": ("times", "timestamp"),
    "TIMESTAMPTZ": ("times", "timestamp with time zone"), "TIMESTAMP WITH": ("times", "timestamp with time zone"),
}  # fmt: skip


def _kinds(pieces: Sequence[str | Name], named: Sequence[str], columns: Columns, system: str) -> Kinds:
    """Kinds of the columns of an expression, and of its constants that name a type."""
    found = frozenset().union(*(columns[c] for c in named))
    if system != "postgresql":
        return found
    after = [*pieces[1:], ""]
    typed = ["TIMESTAMP WITH" if pair == ("TIMESTAMP", "WITH") else pair[0] for pair in zip(pieces, after, strict=True)]
    return found | {_GROUPS[p] for p in typed if isinstance(p, str) and p in _GROUPS}


def group_of(type_name: str) -> Kinds:
    """Kinds of a column of PostgreSQL by the name of its type."""
    return frozenset({_GROUPS[type_name]}) if type_name in _GROUPS else frozenset()


def _named(pieces: Sequence[str | Name], columns: Columns, dialect: Dialect) -> list[str]:
    """The columns of an expression, each once."""
    return list({_found(p, columns, dialect): None for p in pieces if isinstance(p, Name)})


def _text(pieces: Sequence[str | Name], columns: Columns, dialect: Dialect) -> str:
    return " ".join(p if isinstance(p, str) else quoted(_found(p, columns, dialect)) for p in pieces)


def _found(name: str | Name, columns: Columns, dialect: Dialect) -> str:
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
