"""A query in SQL for which its owner gives their word: one SELECT that reaches nothing but tables of its database."""

from __future__ import annotations

import re
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
_ONE_SELECT = "the query must be one SELECT, without a semicolon inside"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# what stays inside the database: no file, no other server, no sequence, no setting
_FUNCTIONS = _words(
    "coalesce nullif ifnull iif typeof length char_length greatest least year month day contains starts_with ends_with "
    "count sum total avg min max median mode stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop "
    "covar_samp bool_and bool_or string_agg group_concat array_agg list percentile_cont percentile_disc quantile_cont "
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value "
    "sqrt exp ln log log10 power pow mod sign trunc sin cos tan pi random hex extract date_part date_trunc date_diff "
    "datediff date datetime strftime julianday to_char to_date to_timestamp make_date age quarter week hour minute "
    "lower upper trim btrim ltrim rtrim replace substr substring instr left right concat floor ceil ceiling round abs "
    "second dayofweek position strpos split_part lpad rpad repeat reverse initcap concat_ws regexp_replace "
    "regexp_matches json_extract unnest generate_series range cast try_cast try"
)
_BEFORE_A_BRACKET = _words(
    "TEXT VARCHAR CHAR CHARACTER VARYING STRING INTEGER INT BIGINT SMALLINT TINYINT HUGEINT INT2 INT4 INT8 NUMERIC "
    "DECIMAL REAL FLOAT FLOAT4 FLOAT8 DOUBLE PRECISION BOOLEAN BOOL DATE TIME TIMESTAMP TIMESTAMPTZ INTERVAL UUID "
    "WITHOUT WITH ZONE "
    "SELECT FROM WHERE IN VALUES AS AND OR NOT ON USING OVER BY HAVING WHEN THEN ELSE CASE ANY ALL SOME EXISTS "
    "DISTINCT FILTER UNION EXCEPT INTERSECT EXCLUDE MATERIALIZED ROW LIMIT OFFSET FETCH TOP SETS ROLLUP CUBE LATERAL "
    "JOIN LIKE BETWEEN IS QUALIFY GROUP WITHIN ARRAY"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word or sign of a query. kind: string, quoted, number, word, mark or end. text: as it stands there."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The word in capitals; empty for everything that is no plain word."""
        return self.text.upper() if self.kind == "word" else ""


END = Token("end", "")


def vouched_query(text: str) -> str:
    """The query without its last semicolon. Its effect on records is not checked: that is the owner's word.

    Raises TableError for anything but one SELECT, for functions that are not listed as staying inside the database, and
    for what databases cut into words in different ways.
    """
    query = tokens(text)
    if not query or query[0].word not in ("SELECT", "WITH", "FROM", "TABLE", "VALUES"):
        raise TableError(_ONE_SELECT)
    for before, token, after in zip([END, *query], query, [*query[1:], END], strict=False):
        if after.text != "(" or token.kind not in ("word", "quoted"):
            continue
        named = before.word in ("WITH", "RECURSIVE", "AS")  # the columns of a table that the query itself makes
        inside = token.kind == "word" and before.text != "." and token.text.lower() in _FUNCTIONS
        if not (inside or named or token.word in _BEFORE_A_BRACKET):
            function = (
                f"the function {token.text.lower()}()" if token.kind == "word" else "a function in quotation marks"
            )
            msg = (
                f"the query calls {function}, which is not known to stay inside the database; also with your word "
                "a query may use the usual functions on its tables alone"
            )
            raise TableError(msg)
    return text.strip().rstrip("; \t\r\n")


def tokens(text: str) -> list[Token]:
    """The words of a query. Raises TableError for what the three databases would cut in different ways.

    Comments, escapes (E'...', $$...$$) and quotation marks of one database alone are refused: what this program takes
    for text could be a part of the query there.
    """
    out, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or "\0" in match[0]:
            msg = "the query has a sign that cannot be read here, or a quotation mark that is left open; take it out"
            raise TableError(msg)
        at = match.end()
        if match.lastgroup == "comment":
            msg = "the query has a comment; take it out"
            raise TableError(msg)
        if match.lastgroup is not None:
            out.append(Token(match.lastgroup, match[0]))
    while out and out[-1].text == ";":
        out.pop()
    if any(t.text == ";" for t in out):
        raise TableError(_ONE_SELECT)
    return out
