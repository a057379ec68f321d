"""Headers that name a person or a thing of a person's: `python -m benchmarks.headers`.

How many of those in seven languages are known, on the half of each language on which the grammar was written, on the
half on which nothing was tuned and on headers of public database schemas, and how many ordinary headers of public
tables are taken for one. Prints Markdown.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from benchmarks.header_lists import IDENTIFYING, LATER, ORDINARY, SCHEMAS, TABLES, THIRD
from benchmarks.process import table as markdown
from dpsyn_core.schema.individuals import named_like_one


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """Of so many headers, those that are taken for identifying, or are not although they are."""

    headers: int
    wrong: tuple[str, ...]


def listed(text: str) -> list[str]:
    """The headers of a list."""
    return [h.strip() for h in text.split(",") if h.strip()]


def missed(headers: list[str]) -> Count:
    """Of identifying headers, those that are not known."""
    return Count(headers=len(headers), wrong=tuple(h for h in headers if not named_like_one(h)))


def alarms(headers: list[str]) -> Count:
    """Of ordinary headers, those that are taken for identifying."""
    return Count(headers=len(headers), wrong=tuple(h for h in headers if named_like_one(h)))


def of_tables() -> tuple[Count, Count]:
    """Of all public tables: ordinary headers, and identifying ones."""
    split = [text.partition("|") for text in TABLES.values()]
    ordinary, naming = ([h for part in split for h in listed(part[i])] for i in (0, 2))
    return alarms(ordinary), missed(naming)


def main() -> None:
    """Prints the tables."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    rows = []
    for half, name in enumerate(("written on", "held out")):
        counts = {language: missed(listed(halves[half])) for language, halves in IDENTIFYING.items()}
        rows += [[k, name, f"{c.headers - len(c.wrong)} of {c.headers}", ", ".join(c.wrong)] for k, c in counts.items()]
        total, wrong = (sum(x) for x in zip(*((c.headers, len(c.wrong)) for c in counts.values()), strict=True))
        rows.append(["all", name, f"{total - wrong} of {total}", ""])
    for name, schemas in (("public schemas", SCHEMAS), ("more public schemas", LATER), ("third half", THIRD)):
        c = missed(listed(schemas[0]))
        rows.append(["all", name, f"{c.headers - len(c.wrong)} of {c.headers}", ", ".join(c.wrong)])
    print(markdown(["language", "half", "known", "not known"], rows))
    found, left = of_tables()
    beside, others = alarms(listed(ORDINARY)), alarms(listed(SCHEMAS[1]) + listed(LATER[1]))
    third = alarms(listed(THIRD[1]))
    ordinary: list[list[object]] = [
        [f"ordinary, of {len(TABLES)} public tables", found.headers, len(found.wrong), ", ".join(found.wrong)],
        ["ordinary, made to mislead", beside.headers, len(beside.wrong), ", ".join(beside.wrong)],
        ["ordinary, of public schemas", others.headers, len(others.wrong), ", ".join(others.wrong)],
        ["ordinary, third half", third.headers, len(third.wrong), ", ".join(third.wrong)],
    ]
    print("\n" + markdown(["headers", "number", "false alarms", "which"], ordinary))
    known = left.headers - len(left.wrong)
    print(f"\nOf these tables' headers that do name one, {known} of {left.headers} are known.")


if __name__ == "__main__":
    main()
