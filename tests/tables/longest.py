"""Every function, sign and construct that the grammar of queries takes in, on a record with the longest cell.

What is made of a record is no longer than its longest cell, the query, or NUMBER; and no record keeps a query from
running that runs on an empty table: otherwise whoever asks would learn that the record is there.
"""

import itertools

from dpsyn_core.errors import TableError
from dpsyn_core.tables import query_grammar
from dpsyn_core.tables.databases import vouched_query as queries
from dpsyn_core.tables.databases.vouched_query import DIALECTS

NUMBER = 400  # letters that a number, a date or a truth value has at most
TYPES = ("text", "varchar", "text[]", "varchar(3)", "integer", "double precision", "date", "boolean")
TABLE = {name: frozenset() for name in ("id", "long", "other", "age")}
ARGUMENTS = ("long", "other", "age", "'x'", "1")
# what was taken in once, and what somebody may think of: each must be refused, or keep the two bounds
GROWING = (
    "replace(long, 'x', 'xxxxxxxxxx')", "replace(long, 'x', long)", "repeat(long, 9)", "lpad(long, 1000000000)",
    "rpad(long, 999999999, 'x')", "long || long", "long || '!'", "other || long", "concat(long, long)",
    "concat_ws(',', long, long)", "printf('%s%s', long, long)", "format('{}{}', long, long)", "hex(long)",
    "quote(long)", "to_hex(long)", "encode(long)", "base64(long)", "char(long)", "translate(long, 'x', 'yy')",
    "lower(long)", "upper(long)", "trim(long)", "trim(other, long)", "ltrim(long, long)", "rtrim(long)",
    "btrim(long)", "initcap(long)", "reverse(long)", "md5(long)", "substr(long, 1)", "left(long, 5)",
    "regexp_replace(long, 'x', 'yy')", "string_to_array(long, 'x')", "split(long, 'x')", "json_array(long)",
    "list_value(long, long)", "array_agg(long)", "zeroblob(age)", "randomblob(age)", "power(age, age)", "exp(age)",
    "factorial(age)", "age << 62", "CAST(long AS text[])", "long::varchar[]", "CAST(long AS blob)",
    "long ILIKE '%x%'", "to_char(age, long)",
)  # fmt: skip


def expressions(system):
    """Each of what the grammar can make, with arguments of every kind."""
    dialect = DIALECTS[system]
    for name in sorted(dialect.functions):
        for many in (1, 2, 3):
            yield from (f"{name}({', '.join(given)})" for given in itertools.product(ARGUMENTS, repeat=many))
    for sign in (*sorted(dialect.arithmetic), "=", "<", ">=", "IS DISTINCT FROM"):
        yield from (f"({a} {sign} {b})" for a, b in itertools.product(ARGUMENTS, repeat=2))
    yield from (f"CAST({a} AS {kind})" for a, kind in itertools.product(ARGUMENTS, TYPES))
    yield from (f"(long {sign} '%x_x%')" for sign in ("LIKE", "NOT LIKE", "GLOB", "ILIKE", "~~", "~~*"))
    yield from ("(long IN (other, 'x'))", "(other IN (long, long))", "(long BETWEEN other AND long)", "(-long IS NULL)")
    yield from ("CASE WHEN long = other THEN long ELSE other END", "CASE long WHEN other THEN 1 ELSE 2 END")
    yield from GROWING


def check(system, source, table, empty, faults, *, given, expected):
    """Runs each on the empty table and on the record; returns how many ran.

    given: the query's form, with {} for the expression. expected: letters of the longest cell.
    """
    ran = 0
    for made in expressions(system):
        text = given.format(made)
        try:
            query = query_grammar.parse(text, system)
            sql = queries.write(query, source, TABLE, system).sql
        except TableError:
            continue
        try:
            empty.execute(sql).fetchall()
        except faults:
            continue  # nonsense to the database, whatever is in the table
        for cell in itertools.chain.from_iterable(table.execute(sql).fetchall()):
            assert len(str(cell)) <= max(expected, len(text), NUMBER), text
        ran += 1
    return ran


def refused(system):
    """Which of GROWING are refused."""
    found = []
    for made in GROWING:
        try:
            query = query_grammar.parse(f"SELECT {made} AS a FROM people", system)
            queries.write(query, "people", TABLE, system)
        except TableError:
            found.append(made)
    return tuple(found)
