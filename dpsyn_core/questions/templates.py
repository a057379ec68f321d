"""Questions that a schema suggests, from the names and kinds of its columns alone; nothing is read from data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpsyn_core.errors import DPSynError
from dpsyn_core.questions.check import check
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.forms import Question
from dpsyn_core.questions.language import GROUP, INCOME, SPLIT, TARGET, find, key, two_sides
from dpsyn_core.questions.meaning import numeric
from dpsyn_core.schema.document import Schema

FEW = 100  # values that groups have at most
MANY = 10  # values from which on a number is one that people take means of


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """A question that may be declared as it is, and why it is offered."""

    question: Question
    why: str


def templates(schema: Schema) -> list[Template]:
    """Questions to offer, the likeliest first; each fits the schema and has a name of its own."""
    columns = {a.name: a for a in schema.coded}
    numbers = [n for n, a in columns.items() if numeric(a) and _plain(a) >= MANY]
    income = find(INCOME, numbers)
    groups = [n for n, a in columns.items() if not numeric(a) and 2 <= _plain(a) <= FEW]
    split = find(SPLIT, [n for n, a in columns.items() if 2 <= _plain(a) <= 10])
    group = find(GROUP, [n for n in groups if n != split])
    measure = income or (numbers[0] if numbers else None)
    wanted: list[tuple[dict[str, Any], str]] = []
    if measure is not None:
        by, of = ([], "") if group is None else ([group], f" by {group}")
        groups_too = f" and {group} names groups" if group else ""
        if split is not None:
            gap = {"kind": "gap", "of": measure, "by": by, "between": {split: _sides(columns[split])}}
            wanted.append(
                ({"name": f"gap of {measure} by {split}{of.replace(' by', ' and')}"} | gap,
                 f"{measure} can be compared between two values of {split}")
            )  # fmt: skip
        forms = [("mean", "mean", f"{measure} is a number{groups_too}"),
                 ("median", "quantile", "a median tells what a few large values hide")]  # fmt: skip
        if income is not None:
            forms.append(("inequality of", "gini", f"{measure} is called as incomes are"))
        wanted += [({"name": f"{word} {measure}{of}", "kind": kind, "of": measure, "by": by}, why)
                   for word, kind, why in forms]  # fmt: skip
    target = _target(columns)
    if target is not None and len(columns) > 1:
        why = f"{target} is called as targets are, or has two values"
        wanted.append(({"name": f"predict {target}", "kind": "predict", "of": target}, why))
    if group is not None and split is not None:
        age = find(("age",), numbers)
        names = [group, split, *([age] if age is not None and age != measure else [])]
        table: dict[str, Any] = {"name": " x ".join(names), "kind": "table", "of": names}
        if age in names and hasattr(columns[str(age)], "binning"):
            table["bins"] = {age: {"width": 10}}
        wanted.append((table, "people ask how groups are made up"))
    out: list[Template] = []
    for document, why in wanted:
        try:
            [question] = Questions.of([document]).questions
            check(question, schema)
        except DPSynError:
            continue  # a suggestion that does not fit this schema is none
        out.append(Template(question=question, why=why))
    return out


def _plain(attribute: Any) -> int:
    return int(attribute.size - attribute.special)


def _sides(attribute: Any) -> list[Any]:
    """The two values that are compared, as the schema writes them."""
    words = attribute.labels()[: _plain(attribute)]
    written = getattr(attribute, "values", words)
    return [written[i] for i in two_sides(words)]


def _target(columns: dict[str, Any]) -> str | None:
    """A column that is called a target; else the last one of two values."""
    keys = {key(n): n for n, a in reversed(columns.items()) if 2 <= _plain(a) <= MANY}
    for word in TARGET:
        if word in keys:
            return keys[word]
    binary = [n for n, a in columns.items() if _plain(a) == 2 and find(SPLIT, [n]) is None]
    return binary[-1] if binary else None
