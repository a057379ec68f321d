"""The words of reports and figures in a language, from the catalogue of the app: `assets/text`.

An entry that a language lacks is taken from English. A language is available once it has a file
`<language>.report.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

Words = Mapping[str, str]
SHARE = re.compile(r"(?<=\d) ?%")
MARKS = str.maketrans(",.", ".,")
DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
MONTH = re.compile(r"(?<![\d-])(\d{4})-(\d\d)(?![\d-])")
DAYS = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d) … (\d\d)-(\d\d)(?!\d)")  # of one year, merged
PACKAGE = Path(__file__).resolve().parents[1]
# in an installation the app lies inside the package, in a clone next to it
TEXTS = next(p for p in (PACKAGE / "_app" / "assets" / "text", PACKAGE.parent / "assets" / "text") if p.is_dir())
PARTS = ("report", "engine", "certificate")  # files of a language that a report needs


def flattened(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Entries of nested tables as (key, sentence), with keys such as "page.title"."""
    for key, value in node.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value).strip("\n")


def read_text(file: Path) -> dict[str, str]:
    """All entries of one file of the catalogue."""
    return dict(flattened(tomllib.loads(file.read_text("utf-8"))))


def languages() -> list[str]:
    """Codes of the languages in which reports can be written."""
    return sorted(p.name.partition(".")[0] for p in TEXTS.glob("*.report.toml"))


@cache
def words(language: str = "en") -> Words:
    """Words of reports in a language: those of figures by their names, others as "page.title" or "engine.metric.nist".

    The entry "language" holds the code.
    """
    out = read_text(TEXTS / "en.report.toml")
    if language != "en":
        for part in PARTS:
            out |= read_text(TEXTS / f"{language}.{part}.toml")
    return MappingProxyType({key.removeprefix("figure."): word for key, word in out.items()} | {"language": language})


ENGLISH = words()


def local(number: str, words: Words) -> str:
    """A number as the language writes it: 1,234.5% is 1.234,5 % where the mark of decimals is a comma."""
    return SHARE.sub("\u00a0%", number.translate(MARKS)) if words["decimal_mark"] == "," else number


def dated(text: str, words: Words) -> str:
    """Dates of ISO 8601 in a text as the language writes them: 2023-12-31 is 31.12.2023, and 2023-12 is 12/2023."""
    if words["decimal_mark"] != ",":
        return text
    text = DAYS.sub(r"\3.\2.–\5.\4.\1", text)
    return MONTH.sub(r"\2/\1", DAY.sub(r"\3.\2.\1", text))


def part(key: str, english: str, words: Words) -> str:
    """The name of a part of the engine, such as a metric or a unit; the English name where a language has none."""
    return words.get(f"engine.{key}", english)
