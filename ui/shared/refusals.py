"""What the engine says in English, in the visitor's language: refusals, with what they name, and names of settings."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

TEXTS = Path(__file__).resolve().parents[2] / "assets" / "text"
NESTED = ("why", "kind", "part", "error")  # what is filled in and said in the visitor's language too
NAMED = re.compile(r"\{(\w+)\}")


@lru_cache(maxsize=4)
def refusals(language: str) -> dict[str, str]:
    """By the English sentence, with {names} in both; empty for a language without a file of them."""
    return _read("refusals", language)


@lru_cache(maxsize=4)
def settings(language: str) -> dict[str, str]:
    """Names, units and explanations of settings, by the English ones."""
    return _read("settings", language)


def setting(words: str, language: str) -> str:
    """The words of a setting in a language, or as they are where that language does not say them."""
    return settings(language).get(words, words)


def _read(what: str, language: str) -> dict[str, str]:
    file = TEXTS / f"{what}.{language}.toml"
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
    """The message in a language, with the messages inside it, or as it is where that language does not say it."""
    for pattern, said in _patterns(language):
        found = pattern.fullmatch(message)
        if found is not None:
            named = found.groupdict()  # why a rule cannot be is a sentence with its own translation, kinds have words
            return said.format(**{k: translated(v, language) if k in NESTED else v for k, v in named.items()})
    return message
