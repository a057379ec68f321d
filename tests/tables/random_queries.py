"""Queries at random for the tests, of whatever the grammar takes in; and how their answers are compared."""

from dpsyn_core.tables import query_grammar
from dpsyn_core.tables.databases import vouched_query as queries
from dpsyn_core.tables.databases.vouched_query import DIALECTS
from tests.tables.query_cases import ROWS

# least and largest values, texts that are numbers and dates, blanks: what conversions and sums fail on
HARD = [*ROWS, (5, "7", -2147483648, 1e308), (6, "", 0, -0.0), (7, "2020-01-01", None, float("inf"))]
COLUMNS = ("id", "town", "age", "pay", "people.age")
CONSTANTS = ("0", "1", "-1", "2147483647", "9223372036854775807", "1.5", "1e308", "'a'", "''", "'7'", "'2020-01-01'",
             "NULL", "TRUE", "'%a_'")  # fmt: skip
KINDS = {system: {c: frozenset() for c in ("id", "town", "age", "pay")} for system in DIALECTS}
KINDS["postgresql"]["pay"] = queries.group_of("DOUBLE")
TYPES = ("text", "varchar", "integer", "smallint", "bigint", "date", "double precision", "numeric(5, 2)", "boolean",
         "timestamp")  # fmt: skip


class Maker:
    """Makes queries out of random numbers."""

    def __init__(self, system, rng):
        self.rng, self.dialect = rng, DIALECTS[system]
        self.functions, self.signs = sorted(self.dialect.functions), sorted(self.dialect.arithmetic)

    def query(self):
        deep = self.rng.randint(0, 2)
        where = f" WHERE {self.condition(deep)}" if self.rng.random() < 0.7 else ""
        return f"SELECT {self.value(deep)} AS a FROM people{where}"

    def value(self, deep):
        pick, which = self.rng.choice, self.rng.random()
        if deep <= 0 or which < 0.25:
            return pick(COLUMNS) if self.rng.random() < 0.7 else pick(CONSTANTS)
        if which < 0.5:
            name = pick(self.functions)
            values = ", ".join(self.value(deep - 1) for _ in range(1 if "length" in name else pick([1, 1, 1, 2, 2, 3])))
            return f"{name}({values})"
        if which < 0.7 and self.signs:
            return f"({self.value(deep - 1)} {pick(self.signs)} {self.value(deep - 1)})"
        if which < 0.8:
            return f"CAST({self.value(deep - 1)} AS {pick(TYPES) if self.dialect.casts else 'text'})"
        if which < 0.9:
            return f"CASE WHEN {self.condition(deep - 1)} THEN {self.value(deep - 1)} ELSE {self.value(deep - 1)} END"
        return f"({self.condition(deep - 1)})"

    def condition(self, deep):
        pick, which, value = self.rng.choice, self.rng.random(), self.value
        if which < 0.4:
            return f"{value(deep)} {pick(['=', '<>', '<', '>=', '<=', '>'])} {value(deep)}"
        if which < 0.5:
            return f"{value(deep)} IS {pick(['', 'NOT '])}NULL"
        if which < 0.6:
            return f"{value(deep)} {pick(['', 'NOT '])}IN ({value(deep - 1)}, {value(deep - 1)})"
        if which < 0.7:
            return f"{value(deep)} BETWEEN {value(deep - 1)} AND {value(deep - 1)}"
        if which < 0.85:
            sign = pick(["LIKE '%a%'", "NOT LIKE '_'", "LIKE ''", "IS DISTINCT FROM pay"])
            return f"{value(deep)} {sign}"
        return f"{pick(['NOT ', ''])}({self.condition(deep - 1)}) {pick(['AND', 'OR'])} ({self.condition(deep - 1)})"


def answer(system, connection, query, faults):
    """The records that a database gives, in any order; the word 'refused' where it takes the query for nonsense."""
    source = '"public"."people"' if system == "postgresql" else '"people"'
    sql = queries.write(query, source, KINDS[system], system).sql
    try:
        return sorted(map(repr, connection.execute(sql).fetchall()))
    except faults:
        if system == "postgresql":
            connection.rollback()
        return "refused"


def check_additive(system, maker, many, *, whole, alone, none, faults):
    """The answer on a table is that on each of its records alone, put together; a refusal is that of any table.

    Returns how many queries had an answer.
    """
    answered = 0
    for _ in range(many):
        text = maker.query()
        query = query_grammar.parse(text, system)
        together, empty = answer(system, whole, query, faults), answer(system, none, query, faults)
        apart = [answer(system, one, query, faults) for one in alone]
        if isinstance(together, str):
            assert {empty, *apart} == {together}, text
            continue
        assert empty == [], text
        assert sorted(record for found in apart for record in found) == together, text
        answered += 1
    return answered
