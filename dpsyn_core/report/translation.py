"""Sentences of other rooms in another language, by the English sentence with {names} for what it fills in.

In `assets/text`, files `said.<language>.toml` hold scores, receipts and labels, `refusals.<language>.toml` errors, and
`settings.<language>.toml` names and explanations of settings.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache

from dpsyn_core.report.wording import TEXTS, Words, local

NESTED = ("why", "kind", "part", "error")  # what an error fills in and is translated too
SAID = "said_"  # the beginning of what a sentence of `said` fills in and is translated too
NAMED = re.compile(r"\{(\w+)\}")
NUMBER = re.compile(r"[-+±]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?%?")


@cache
def sentences(kind: str, language: str) -> dict[str, str]:
    """Translations by the English sentence, with {names} in both; empty for a language without a file of that kind."""
    file = TEXTS / f"{kind}.{language}.toml"
    return {k: str(v) for k, v in tomllib.loads(file.read_text("utf-8")).items()} if file.exists() else {}


@cache
def _templates(kind: str, language: str) -> list[tuple[list[str], str]]:
    return [(NAMED.split(english), other) for english, other in sentences(kind, language).items()]


def _filled(parts: Sequence[str], text: str) -> dict[str, str] | None:
    """What a text fills into a sentence; None where it is another one.

    Each name is as short as it can be, so that one pass is enough: names come from files, and a regular expression
    would try all ways to divide a long one.

    Args:
        parts: what stands in the sentence and the names of what is filled in, in turn.
        text: a sentence.
    """
    at, values = len(parts[0]), dict[str, str]()
    if not text.startswith(parts[0]):
        return None
    for i in range(1, len(parts), 2):
        name, literal = parts[i : i + 2]
        if i + 2 == len(parts):
            end = len(text) - len(literal) if text.endswith(literal) else -1
        else:
            end = text.find(literal, at + 1)
        if end <= at or values.setdefault(name, text[at:end]) != text[at:end]:
            return None
        at = end + len(literal)
    return values if at == len(text) else None


def _match(kind: str, language: str, text: str) -> tuple[str, dict[str, str]] | None:
    """The translation of a sentence with what it fills in; None where that language has no such sentence."""
    for parts, other in _templates(kind, language):
        values = _filled(parts, text)
        if values is not None:
            return other, values
    return None


def translated(message: str, language: str) -> str:
    """An error in a language, with the errors inside it; unchanged where that language has no such sentence."""
    match = _match("refusals", language, message)
    if match is None:
        return message
    other, values = match  # why a rule cannot be is a sentence with its own translation, kinds have words
    return other.format(**{k: translated(v, language) if k in NESTED else v for k, v in values.items()})


def setting(text: str, language: str) -> str:
    """The name, unit or explanation of a setting in a language; unchanged where that language has none."""
    return sentences("settings", language).get(text, text)


def error(text: str, words: Words) -> str:
    """An error in the language of the words, also where several are joined."""
    whole = translated(text, words["language"])
    return whole if whole != text else "; ".join(translated(one, words["language"]) for one in text.split("; "))


def sentence(text: str, words: Words) -> str:
    """A sentence of a score, a receipt or a label in the language of the words, with the marks of its numbers."""
    match = _match("said", words["language"], text)
    if match is None:
        return text
    other, values = match
    return other.format(
        **{
            k: sentence(v, words) if k.startswith(SAID) else local(v, words) if NUMBER.fullmatch(v) else v
            for k, v in values.items()
        }
    )
