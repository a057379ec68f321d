"""Code lists: labels for codes from a file or from pasted lines, as offices and survey teams publish them."""

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any

from dpsyn_core.errors import SchemaError

MOST = 5_000_000  # bytes
HEADER = {"code", "codes", "value", "values", "key", "from"}
HEADER |= {"label", "labels", "meaning", "description", "name", "text"}
COLUMN = {"column", "variable", "field", "attribute", "question"}
SPLIT = re.compile(r"\s*(?:\t|=|;|\||,|:\s)\s*")

CodeList = dict[str, dict[str, str]]  # by column ("" where the list names none): word by code


def read(raw: bytes, file_name: str) -> CodeList:
    """A list of codes in CSV, TSV or JSON: two columns (code, word), or three (column, code, word).

    Raises:
        SchemaError: the file cannot be read as such a list; it says why.
    """
    if len(raw) > MOST:
        msg = f"'{file_name}' has {len(raw):,} bytes; a list of codes may have {MOST:,}; choose another file"
        raise SchemaError(msg)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    if file_name.lower().endswith(".json") or text.lstrip()[:1] in ("{", "["):
        return _json(text, file_name)
    return _lines(text, file_name)


def pasted(text: str) -> dict[str, str]:
    """Lines such as `1 = Male`, `1, Male` or two columns of a spreadsheet. Raises SchemaError."""
    out: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        parts = SPLIT.split(line.strip(), maxsplit=1)
        if len(parts) != 2 or not parts[0]:
            msg = f"the line '{line.strip()[:40]}' does not say what a code means; write it as 1 = Male"
            raise SchemaError(msg)
        out[parts[0]] = parts[1]
    return out


def _lines(text: str, file_name: str) -> CodeList:
    first = text.split("\n", 1)[0]
    delimiter = max("\t;|,", key=first.count)
    rows = [[c.strip() for c in r] for r in csv.reader(io.StringIO(text), delimiter=delimiter) if any(r)]
    if not rows or not all(len(r) in (2, 3) and len(r) == len(rows[0]) for r in rows):
        msg = f"'{file_name}' is no list of codes; it needs two columns (code, word) or three (column, code, word)"
        raise SchemaError(msg)
    head = [c.lower() for c in rows[0]]
    if set(head) & (HEADER | COLUMN) and len(rows) > 1:
        rows = rows[1:]
    return _collected(rows)


def _collected(rows: Iterable[list[str]]) -> CodeList:
    out: CodeList = {}
    for row in rows:
        *column, code, word = row
        out.setdefault(column[0] if column else "", {})[code] = word
    return out


def _json(text: str, file_name: str) -> CodeList:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f'\'{file_name}\' is no JSON; write it as {{"1": "Male", "2": "Female"}}'
        raise SchemaError(msg) from error
    if isinstance(document, dict) and document and all(isinstance(v, dict) for v in document.values()):
        if all(_plain(w) for v in document.values() for w in v.values()):
            return {c: {k: _text(w) for k, w in v.items()} for c, v in document.items()}
    elif isinstance(document, dict) and document and all(_plain(v) for v in document.values()):
        return {"": {k: _text(v) for k, v in document.items()}}
    elif isinstance(document, list) and document:
        rows = [list(r.values()) if isinstance(r, dict) else r for r in document]
        if all(isinstance(r, list) and len(r) in (2, 3) and all(map(_plain, r)) for r in rows):
            return _collected([_text(c) for c in r] for r in rows)
    msg = f'\'{file_name}\' is no list of codes; write it as {{"1": "Male", "2": "Female"}}'
    raise SchemaError(msg)


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
