"""The language of conditions: `age in [20, 35] and sex = female and "home town" in {"Paris, Texas", Lyon}`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dpsyn_core.errors import QuestionError

QUOTED = r'"(?:[^"]|"")*"'
HEAD = re.compile(rf'\s*({QUOTED}|[^"\[{{=]+?)\s*(?:(?<=[\s"])in\s*([\[{{])|=)')
VALUE = re.compile(rf'\s*({QUOTED}|[^,}}\]"]+?)\s*([,}}\]])')
SINGLE = re.compile(rf'\s*({QUOTED}|[^",{{}}\[\]]+?)(?=\s*$|\s+and\b)')
AND = re.compile(r"\s+and\b")
LANGUAGE = (
    "write conditions as 'attribute in [low, high]', 'attribute in {value, value}' or 'attribute = value', joined by "
    "'and'"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """One condition as it is written: an interval of two texts, or a list of values."""

    attribute: str
    values: tuple[str, ...]
    interval: bool = False


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
            msg = f"the query cannot be read from '{text[at : at + 30].strip()}' on; {LANGUAGE}"
            raise QuestionError(msg)
        name = _unquoted(head[1])
        if head[2] is None:
            single = SINGLE.match(text, head.end())
            if single is None:
                msg = f"the query has no value after '{text[max(0, head.end() - 20) : head.end()].strip()}'; {LANGUAGE}"
                raise QuestionError(msg)
            values, at = [_unquoted(single[1])], single.end()
        else:
            values, at = _values(text, head.end(), "]" if head[2] == "[" else "}")
        out.append(Clause(attribute=name, values=tuple(values), interval=head[2] == "["))
        if not text[at:].strip():
            return tuple(out)
        joint = AND.match(text, at)
        if joint is None:
            msg = f"the query cannot be read from '{text[at : at + 30].strip()}' on; {LANGUAGE}"
            raise QuestionError(msg)
        at = joint.end()


def _values(text: str, at: int, closing: str) -> tuple[list[str], int]:
    values = []
    while True:
        found = VALUE.match(text, at)
        if found is None or found[2] not in (",", closing):
            msg = f"the query has no '{closing}' after '{text[max(0, at - 20) : at].strip()}'; {LANGUAGE}"
            raise QuestionError(msg)
        values.append(_unquoted(found[1]))
        at = found.end()
        if found[2] == closing:
            return values, at


def _unquoted(token: str) -> str:
    token = token.strip()
    return token[1:-1].replace('""', '"') if token.startswith('"') else token
