"""Words that a reader of English stumbles over: how often page texts, messages and documents still have them.

CONTRIBUTING.md says what to write in their place. A limit is what is left: lower it when you remove one.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_EACH = "person|individual|record|column|attribute|cell|pair|table|system|run|sweep|file|line|row|value|query|question"
_EACH += "|marginal|step|view|side|day|visitor|group|part|thread|core|second|metric|page|round|triple|block|bin|charge"
_COUNTED = (
    r"one|once|twice|[\d.]+\d|rows|bytes|seconds|cells|values|proposals|records|points|files?|lines?|noise|sweeps"
)
_COUNTED += r"|charges|releases|widgets|times|ms|MB|draws|bins|count|iterations|attributes"
# what stands in the table of CONTRIBUTING.md: where it is meant, and at most how often it is left
# in (page texts, messages, documents)
WORDS = {
    "so many": (r"\bso (?:many|much|few)\b", (0, 4, 0)),
    "such": (r"\bsuch\b(?= ?(?:[.,;:)]|is\b|are\b|has\b|have\b))", (0, 0, 0)),
    "as it is": (r"\bas (?:it is|they are)\b", (0, 1, 0)),
    "told": (r"\btold\b", (0, 3, 0)),
    "held": (r"\bheld\b(?! out| back|-out)", (0, 1, 0)),
    "unasked": (r"\bunasked\b", (0, 0, 0)),
    "look": (r"\b(?:a|one|each|every|first|second|third|further|free|direct|\d+) looks?\b(?! the same)", (0, 0, 0)),
    "beside": (r"\bbeside\b(?!-others)", (0, 5, 2)),
    "settle": (r"\bsettl(?:e|es|ed|ing)\b", (0, 3, 0)),  # headers of other people
    "a": (
        rf"(?<!how many )(?<!however many )\b(?:{_COUNTED}) an? (?:{_EACH})\b(?! (?:needs|has|may|changes|is|of))",
        (1, 9, 0),
    ),
    "from ... on": (
        r"\bfrom (?:an? |about |epsilon )?(?!now\b)[\w.]+(?: (?:bins|records|people|run))? on\b(?! Adult| the| disk)",
        (0, 0, 0),
    ),
    "the safe side": (r"\b(?:careful|safe|unsafe) side\b", (0, 0, 0)),
    "level": (r"\b(?:is|are|was|were) level\b", (0, 0, 0)),
}


def strings_of(tree):
    """The text that a program shows: string literals of several words, without docstrings."""
    hidden = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            hidden.update(id(v) for v in node.values)
            yield "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in hidden and " " in str(node.value):
            yield str(node.value)


def pages():
    for path in sorted((ROOT / "assets/text").glob("en*.toml")):
        for line in path.read_text("utf-8").splitlines():
            if not line.startswith("#"):
                yield path.name, line.split("=", 1)[-1]


def messages():
    for folder in ("dpsyn_core", "ui", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for text in strings_of(ast.parse(path.read_text("utf-8"))):
                yield path.relative_to(ROOT).as_posix(), text


def documents():
    for path in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        yield path.relative_to(ROOT).as_posix(), re.sub(r"```.*?```|`[^`]*`", " ", path.read_text("utf-8"), flags=re.S)


KINDS = {"pages": pages, "messages": messages, "documents": documents}


@cache
def texts(kind):
    return [(where, re.sub(r"\s+", " ", text)) for where, text in KINDS[kind]()]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_private_word_stands_no_more_often_than_it_did(kind, word):
    pattern, most = WORDS[word]
    found = [
        f"{where}: {text[max(0, m.start() - 40) : m.end() + 30]}"
        for where, text in texts(kind)
        for m in re.finditer(pattern, text, re.IGNORECASE)
    ]
    limit = most[list(KINDS).index(kind)]
    assert len(found) <= limit, f"{found}: say it as the table in CONTRIBUTING.md does"


def test_the_table_in_contributing_names_every_word():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Style")[1].split("\n## ")[0]
    listed = re.findall(r"^\| \*(.+?)\* \| .+ \|$", page, re.MULTILINE)
    assert listed == list(WORDS)
