"""Questions that a schema suggests, from the names and kinds of its columns alone; nothing is read from data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsyn_core.errors import DPSynError
from dpsyn_core.questions.document import Questions
from dpsyn_core.questions.forms import Question
from dpsyn_core.questions.meaning import numeric
from dpsyn_core.questions.validity import check
from dpsyn_core.schema import Schema, is_year

# looked for in this order, without regard to case and punctuation
INCOME = ("incwage", "wageincome", "income", "wage", "wages", "salary", "earnings", "pay",
          "einkommen", "gehalt", "lohn", "verdienst")  # fmt: skip
MONEY = (*INCOME, "price", "cost", "amount", "revenue", "sales", "budget", "fee", "charge", "payment", "fare", "rent",
         "premium", "value", "bill", "preis", "kosten", "betrag", "beitrag", "umsatz", "miete", "abschlag")  # fmt: skip
GROUP = ("city", "region", "county", "state", "area", "statefip", "workclass", "occupation", "education", "stadt",
         "bundesland", "beruf")  # fmt: skip
SPLIT = ("sex", "gender", "geschlecht")
# numbers whose mean tells nothing; years are told apart by their values too
WEIGHTS = ("weight", "wt", "gewicht")  # of a survey's records as often as of a body
PLACES = ("zip", "zipcode", "plz", "postleitzahl", "postcode", "postalcode", "lat", "latitude", "lon", "longitude")
TARGET = ("income", "income50k", "target", "label", "class", "outcome", "y")
FIRST_SIDE = ("male", "m", "man", "men")
FEW = 100  # values that groups have at most
SHORT = 20  # values of a category that is read at a glance
EACH = 3  # questions of one role
MOST = 14  # questions that are offered
PERIODS = (("year", 3650), ("quarter", 1095), ("month", 60), ("day", 0))  # of dates that range over this many days
YES_OR_NO = ({"no", "yes"}, {"n", "y"}, {"false", "true"}, {"nein", "ja"})
MANY = 10  # values from which on a number is one that people take means of


def key(name: str) -> str:
    """A name without case and punctuation."""
    return "".join(c for c in name.lower() if c.isalnum())


def find(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    """The column named by the first word that is a name; else by the first that begins or ends one."""
    keys = {key(n): n for n in reversed(names)}
    for w in wanted:
        if w in keys:
            return keys[w]
    for w in wanted:
        for words, name in keys.items():
            if len(w) > 3 and (words.startswith(w) or words.endswith(w)):
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """A question that may be declared as it is, and why it is offered."""

    question: Question
    why: str


def templates(schema: Schema) -> list[Template]:
    """Questions to offer, the likeliest first; each fits the schema and has a unique name."""
    columns = {a.name: a for a in schema.coded}
    numbers = [n for n, a in columns.items() if numeric(a) and _plain(a) >= MANY and not _names_a_time_or_place(a)]
    numbers.sort(key=lambda n: key(n) in WEIGHTS)
    income = find(INCOME, numbers)
    groups = [n for n, a in columns.items() if not numeric(a) and 2 <= _plain(a) <= FEW]
    split = find(SPLIT, [n for n, a in columns.items() if 2 <= _plain(a) <= 10])
    group = find(GROUP, [n for n in groups if n != split])
    money = find(MONEY, numbers)
    measure = income or money or (numbers[0] if numbers else None)
    drafts: list[tuple[dict[str, Any], str]] = []
    if measure is not None:
        by, of = ([], "") if group is None else ([group], f" by {group}")
        groups_too = f" and {group} names groups" if group else ""
        if split is not None:
            gap = {"kind": "gap", "of": measure, "by": by, "between": {split: _sides(columns[split])}}
            drafts.append(
                (
                    {"name": f"gap of {measure} by {split}{of.replace(' by', ' and')}"} | gap,
                    f"{measure} can be compared between two values of {split}",
                )
            )
        forms = [
            ("mean", "mean", f"{measure} is a number{groups_too}"),
            ("median", "quantile", "a median tells what a few large values hide"),
        ]
        if income is not None:
            forms.append(("inequality of", "gini", f"{measure} is called as incomes are"))
        drafts += [
            ({"name": f"{word} {measure}{of}", "kind": kind, "of": measure, "by": by}, why) for word, kind, why in forms
        ]
    target = _target(columns)
    if target is not None and len(columns) > 1:
        why = f"{target} is called as targets are, or has two values"
        drafts.append(({"name": f"predict {target}", "kind": "predict", "of": target}, why))
    if group is not None and split is not None:
        age = find(("age",), numbers)
        names = [group, split, *([age] if age is not None and age != measure else [])]
        table: dict[str, Any] = {"name": " x ".join(names), "kind": "table", "of": names}
        if age in names and columns[str(age)].binning is not None:
            table["bins"] = {age: {"width": 10}}
        drafts.append((table, "people ask how groups are made up"))
    drafts += _by_roles(columns, numbers, measure, [g for g in groups if _plain(columns[g]) <= SHORT])
    out: list[Template] = []
    for document, why in drafts:
        try:
            [question] = Questions.of([document]).questions
            check(question, schema)
        except DPSynError:
            continue  # a suggestion that does not fit this schema is none
        if question.name not in {template.question.name for template in out}:
            out.append(Template(question=question, why=why))
    return out[:MOST]


def _by_roles(
    columns: dict[str, Any], numbers: list[str], measure: str | None, short: list[str]
) -> list[tuple[dict[str, Any], str]]:
    """What people ask of columns in a role: money by short categories, rates, counts by time, the top categories."""
    out: list[tuple[dict[str, Any], str]] = []
    money = find(MONEY, numbers)
    of, role = (money, "is called as amounts of money are") if money else (measure, "is a number")
    plain = [g for g in short if not _is_yes_or_no(columns[g])] or short
    for group in plain[:EACH] if of else ():
        why = f"{of} {role}, and {group} has few values"
        out.append(({"name": f"mean {of} by {group}", "kind": "mean", "of": of, "by": [group]}, why))
    for name in [n for n in short if _is_yes_or_no(columns[n])][:EACH]:
        by = next((g for g in plain if g != name), None)
        if by is not None:
            asked: dict[str, Any] = {"name": f"{name} x {by}", "kind": "table", "of": [name, by]}
            out.append((asked, f"{name} is yes or no, and {by} has few values"))
    for name in [n for n, a in columns.items() if is_rate(a)][:EACH]:
        by = next((g for g in short if g != name), None)
        asked = {"kind": "mean", "of": name, "by": [by]} if by else {"kind": "mean", "of": name}
        out.append(({"name": f"rate of {name}{f' by {by}' if by else ''}"} | asked, f"{name} is 0 or 1"))
    for name, a in columns.items():
        if a.dated:
            every = next(period for period, days in PERIODS if _days(a) >= days)
            asked = {"kind": "table", "of": [name], "bins": {name: {"every": every}}}
            out.append(({"name": f"{name} by {every}"} | asked, f"{name} is a date"))
    listed = {n: a for n, a in columns.items() if a.listed and not numeric(a)}
    long = [n for n, a in listed.items() if _plain(a) > SHORT]
    out += [({"name": f"most frequent {n}", "kind": "table", "of": [n]}, f"{n} has many values") for n in long[:EACH]]
    return out


def is_rate(attribute: Any) -> bool:
    """Whether it is declared as 0 and 1."""
    return attribute.listed and {*map(str, attribute.keys)} == {"0", "1"}


def _names_a_time_or_place(attribute: Any) -> bool:
    numbers = attribute.numbers()
    ends = () if numbers is None else (float(np.nanmin(numbers)), float(np.nanmax(numbers)))
    return find(PLACES, [attribute.name]) is not None or is_year(attribute.name, *ends)


def _is_yes_or_no(attribute: Any) -> bool:
    """Whether it is declared as yes and no, in English or German."""
    return attribute.listed and {str(k).lower() for k in attribute.keys} in YES_OR_NO


def _days(attribute: Any) -> int:
    ends = (int(attribute.binning.starts[0]), attribute.binning.last)
    return int((ends[1] - ends[0]) * attribute.unit_seconds // 86_400)


def _plain(attribute: Any) -> int:
    return int(attribute.plain)


def _sides(attribute: Any) -> list[Any]:
    """The two values that are compared, as the schema writes them."""
    words = attribute.labels()[: _plain(attribute)]
    written = attribute.single_values or words
    return [written[i] for i in two_sides(words)]


def _target(columns: dict[str, Any]) -> str | None:
    """A column that is called a target; else the last one of two values."""
    keys = {key(n): n for n, a in reversed(columns.items()) if 2 <= _plain(a) <= MANY}
    for word in TARGET:
        if word in keys:
            return keys[word]
    binary = [n for n, a in columns.items() if _plain(a) == 2 and find(SPLIT, [n]) is None]
    return binary[-1] if binary else None
