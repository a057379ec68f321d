"""The language of questions and the names in it.

Which columns are likely to be incomes, groups, sides or targets, from their names alone. Public.

The language of conditions: `age in [20, 35] and sex = female and "home town" in {"Paris, Texas", Lyon}`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpsyn_core.errors import QuestionError

# looked for in this order, without regard to case and punctuation
INCOME = ("incwage", "wageincome", "income", "wage", "wages", "salary", "earnings", "pay")
GROUP = ("city", "region", "county", "state", "area", "statefip", "workclass", "occupation", "education")
SPLIT = ("sex", "gender")
TARGET = ("income", "income50k", "target", "label", "class", "outcome", "y")
FIRST_SIDE = ("male", "m", "man", "men")


def key(name: str) -> str:
    """A name without case and punctuation."""
    return "".join(c for c in name.lower() if c.isalnum())


def find(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    """The first wanted word that is a name; else the first that begins or ends one."""
    keys = {key(n): n for n in reversed(names)}
    for w in wanted:
        if w in keys:
            return keys[w]
    for w in wanted:
        for known, name in keys.items():
            if len(w) > 3 and (known.startswith(w) or known.endswith(w)):
                return name
    return None


def two_sides(labels: Sequence[str]) -> tuple[int, int]:
    """Which two of at least two labels are compared: male with what is not, else the last two of a 0/1/2 code."""
    words = [key(w) for w in labels]
    for word in FIRST_SIDE:
        if word in words:
            first = words.index(word)
            second = next((i for i, w in enumerate(words) if w in (f"fe{word}", "f", "woman", "women")), None)
            return first, second if second is not None else next(i for i in range(len(words)) if i != first)
    return (1, 2) if len(words) == 3 else (0, 1)


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
