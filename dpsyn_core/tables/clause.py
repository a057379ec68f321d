"""The language of conditions: `age >= 20 and not sex = female and since between 2019-05 and 2020-01-31`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from dpsyn_core.errors import QuestionError
from dpsyn_core.tables.cells import instants

QUOTED = r'"(?:[^"]|"")*+"'
BRACKET = r"\]"


def _words(signs: str) -> str:
    """As few words as can be, of other letters than these signs: none is divided, which would take forever."""
    return rf"[^{signs}\s]++(?:\s++[^{signs}\s]++)*?"


HEAD = re.compile(
    rf"""\s*+(?P<no>not\s++)?(?P<name>{QUOTED}|{_words('"[{=<>!')})\s*+
    (?:(?<=[\s"])(?P<none>not\s++)?(?:in\s*+(?P<open>[\[{{])|(?P<between>between)\b)|(?P<sign>>=|<=|!=|<>|=|>|<))""",
    re.VERBOSE,
)
VALUE = re.compile(rf"""\s*+({QUOTED}|{_words(',}"' + BRACKET)})\s*+([,}}\]])""")
SINGLE = re.compile(rf"""\s*+({QUOTED}|{_words('",{}[' + BRACKET)})(?=\s*+$|\s++and\b)""")
HARD = re.compile(r"[\[{=<>!\"]|^not\s")  # in names that need quotation marks
AND = re.compile(r"\s+and\b")
LANGUAGE = (
    "write conditions as 'attribute in [low, high]', 'attribute in {value, value}', 'attribute = value' (or !=, <, <=, "
    ">, >=), 'attribute between low and high', each with 'not' before it where that is meant, joined by 'and', and "
    "names or values that hold one of these signs in quotation marks"
)
PERIOD = re.compile(r"^(\d{4})(?:-(\d{2}))?$")  # a year, or a month of one
DAY = re.compile(r"^\d{4}-\d{2}-\d{2}$")
SIDES = {">": ("{}", "inf"), ">=": ("{}", "inf"), "<": ("-inf", "{}"), "<=": ("-inf", "{}")}
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """One condition as it is written: an interval of two texts, or a list of values.

    outside: the ends are not in the interval themselves (those of > and <). negated: met where the rest is not, also
    by a blank cell.
    """

    attribute: str
    values: tuple[str, ...]
    interval: bool = False
    outside: bool = False
    negated: bool = False


def clauses(text: str) -> tuple[Clause, ...]:
    """Splits a conjunction into its conditions; names and values are texts without outer spaces or quotes.

    Raises:
        QuestionError: other text; it says where.
    """
    out = []
    at = 0
    while True:
        head = HEAD.match(text, at)
        if head is None:
            raise _unread(text, at)
        clause, at = _clause(text, head)
        out.append(clause)
        if not text[at:].strip():
            return tuple(out)
        at = _joint(text, at)


def _clause(text: str, head: re.Match[str]) -> tuple[Clause, int]:
    name, negated = _unquoted(head["name"]), bool(head["no"]) != bool(head["none"])
    if head["open"]:
        values, at = _values(text, head.end(), "]" if head["open"] == "[" else "}")
        return Clause(attribute=name, values=tuple(values), interval=head["open"] == "[", negated=negated), at
    first, at = _single(text, head.end())
    if head["between"]:
        last, at = _single(text, _joint(text, at))
        return Clause(attribute=name, values=(first, last), interval=True, negated=negated), at
    sign = OPPOSITE.get(head["sign"], head["sign"]) if negated else head["sign"]
    if sign in SIDES:
        low, high = (side.format(first) for side in SIDES[sign])
        return Clause(attribute=name, values=(low, high), interval=True, outside=sign in "<>"), at
    return Clause(attribute=name, values=(first,), negated=negated != (sign in ("!=", "<>"))), at


def written(clause: Clause) -> str:
    """A condition as text, with names and values in quotation marks."""
    name, *values = (f'"{t.replace(chr(34), chr(34) * 2)}"' for t in (clause.attribute, *clause.values))
    if clause.outside:
        below = clause.values[0] == "-inf"
        return f"{name} {'<' if below else '>'} {values[1 if below else 0]}"
    opening, closing = "[]" if clause.interval else "{}"
    return f"{'not ' if clause.negated else ''}{name} in {opening}{', '.join(values)}{closing}"


def unquoted(name: str, known: Iterable[str]) -> str:
    """What to add to the sentence about a name that is no column: one that is there and needs quotation marks."""
    meant = next((k for k in known if name in k and HARD.search(k)), None)
    return "" if meant is None else f'; a column with such a name stands in quotation marks: "{_marked(meant)}"'


def _marked(name: str) -> str:
    return name.replace('"', '""')


@lru_cache(maxsize=1000)  # of conditions, which are public; a rule is asked of many tables
def moment(text: str, unit: int, *, last: bool) -> float:
    """The first, or the last, day or second of a date, a time, a month or a year; NaN for other text."""
    period = PERIOD.match(text)
    length = 86_400 if last and DAY.match(text) else unit
    if last and period:
        year, month = int(period[1]), int(period[2] or 12)
        text, length = f"{year + month // 12:04d}-{month % 12 + 1:02d}", 0  # the month after it
    seconds = instants.parse_one(text)
    if seconds is None:
        return math.nan
    return float((seconds + length) // unit - 1) if last else float(seconds // unit)


def _joint(text: str, at: int) -> int:
    joint = AND.match(text, at)
    if joint is None:
        raise _unread(text, at)
    return joint.end()


def _single(text: str, at: int) -> tuple[str, int]:
    match = SINGLE.match(text, at)
    if match is None:
        msg = f"the query has no value after '{text[max(0, at - 20) : at].strip()}'; {LANGUAGE}"
        raise QuestionError(msg)
    return _unquoted(match[1]), match.end()


def _values(text: str, at: int, closing: str) -> tuple[list[str], int]:
    values = []
    while True:
        match = VALUE.match(text, at)
        if match is None or match[2] not in (",", closing):
            msg = f"the query has no '{closing}' after '{text[max(0, at - 20) : at].strip()}'; {LANGUAGE}"
            raise QuestionError(msg)
        values.append(_unquoted(match[1]))
        at = match.end()
        if match[2] == closing:
            return values, at


def _unread(text: str, at: int) -> QuestionError:
    return QuestionError(f"the query cannot be read from '{text[at : at + 30].strip()}' on; {LANGUAGE}")


def _unquoted(token: str) -> str:
    token = token.strip()
    return token[1:-1].replace('""', '"') if token.startswith('"') else token
