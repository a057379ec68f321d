"""Refusals of the engine in the visitor's language: found by their English sentences, with what those name."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

TEXTS = Path(__file__).resolve().parents[2] / "assets" / "text"
NAMED = re.compile(r"\{(\w+)\}")


@lru_cache(maxsize=4)
def refusals(language: str) -> dict[str, str]:
    """By the English sentence, with {names} in both; empty for a language without a file of them."""
    file = TEXTS / f"refusals.{language}.toml"
    return {k: str(v) for k, v in tomllib.loads(file.read_text("utf-8")).items()} if file.exists() else {}


@lru_cache(maxsize=4)
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(_pattern(english), re.DOTALL), said) for english, said in refusals(language).items()]


def _pattern(english: str) -> str:
    parts, seen = NAMED.split(english), set[str]()
    out = []
    for i, part in enumerate(parts):
        out.append(re.escape(part) if i % 2 == 0 else rf"(?P={part})" if part in seen else rf"(?P<{part}>.+?)")
        seen |= {part} if i % 2 else set()
    return "".join(out)


def translated(message: str, language: str) -> str:
    """The message in a language, or as it is where that language does not say it."""
    for pattern, said in _patterns(language):
        found = pattern.fullmatch(message)
        if found is not None:
            return said.format(**found.groupdict())
    return message
