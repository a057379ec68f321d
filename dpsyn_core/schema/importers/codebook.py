"""Codebooks and data dictionaries as schemas.

Reads codebook.cbk as IPUMS writes it with an extract: what every code of a column means, in public words.

Imports a data dictionary: a table with one line a column, as statistical offices and survey teams write them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.tables import read_table

SECTION = re.compile(r"^ ?([A-Z][A-Z0-9_]*)(?:\t+| {2,})(\S.*)$")
CODE = re.compile(r"^ ?(-?\d+)(?:\t+| {2,})(\S.*)$")
SPECIAL = re.compile(r"^\s*(-?\d+)\s*=\s*(\S.*)$")  # in the prose of a column of numbers: 999998 = Missing
PLACE = re.compile(r"^[A-Za-z]\s+\d")  # a line of the table of columns: SEX  P  71  1  X
TOP = re.compile(r"top[- ]?cod|or more\b|and over\b|\d\+", re.IGNORECASE)
NEAR_TOP = 0.99  # listed codes from this share of the largest on are special codes of a number
SMALL = 50  # up to this largest code, a list of codes is a list whatever it holds


@dataclass(frozen=True, kw_only=True, slots=True)
class CodebookEntry:
    """One column. label: its words. codes: the words of every listed code. special: of codes explained in prose."""

    label: str
    codes: Mapping[int, str] = field(default_factory=dict)
    special: Mapping[int, str] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether most listed codes are numbers that mean themselves, as ages do (035 is 35)."""
        lines = sum(re.match(rf"0*{code}\b", text) is not None for code, text in self.codes.items())
        return 2 * lines > len(self.codes)

    def is_list(self, low: int, high: int) -> bool:
        """Whether the codes are all that the column holds, rather than the special ones of a number in low..high."""
        inside = [c for c in self.codes if low <= c <= high]
        return bool(inside) and (high <= SMALL or any(c != 0 and c < NEAR_TOP * high for c in inside))

    def special_codes(self, low: int, high: int) -> dict[int, str]:
        """Codes of a number in low..high that stand for something else, ascending; zero keeps its place in the range.

        The top code is not among them: see `top_code`.
        """
        texts = {**self.codes, **self.special}
        top = self.top_code(low, high)
        return {c: texts[c] for c in sorted(texts) if low <= c <= high and c not in (0, top)}

    def top_code(self, low: int, high: int) -> int | None:
        """The code that stands for everything from itself on, by its words; None without one."""
        codes = [c for c, text in {**self.codes, **self.special}.items() if TOP.search(text) and low < c <= high]
        return max(codes, default=None)


Codebook = dict[str, CodebookEntry]


def read_codebook(path: str | Path) -> Codebook:
    """Reads a codebook.cbk: sections `NAME<tab>label`, each followed by lines `code<tab>words`.

    Lines `code = words` in the prose of a section are special codes. Headings without a code, the table of columns
    and case selections are passed over; zeros in front of a code do not count.

    Raises:
        SchemaError: the file cannot be read, or no line of it opens a section.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        msg = f"the codebook '{path}' cannot be read ({error.strerror}); check the path"
        raise SchemaError(msg) from error
    return codebook_of(raw, str(path))


def codebook_of(raw: bytes, what: str) -> Codebook:
    """The codebook in the bytes of a file; `what` is its name in messages. Raises SchemaError when it is none."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    codebook = parse_codebook(text)
    if not codebook:
        msg = f"'{what}' is no codebook: no line opens with a column's name, a tab and its label, as in SEX<tab>Sex"
        raise SchemaError(msg)
    return codebook


def parse_codebook(text: str) -> Codebook:
    """The sections of a codebook's text; a column described twice keeps its first words and all codes."""
    labels: dict[str, str] = {}
    codes: dict[str, dict[int, str]] = {}
    special: dict[str, dict[int, str]] = {}
    here = ""
    for line in text.splitlines():
        opened, code, aside = SECTION.match(line), CODE.match(line), SPECIAL.match(line)
        if opened and not PLACE.match(opened[2]):
            here = opened[1]
            labels.setdefault(here, opened[2].strip())
        elif here and aside:
            special.setdefault(here, {}).setdefault(int(aside[1]), aside[2].strip())
        elif here and code:
            codes.setdefault(here, {}).setdefault(int(code[1]), code[2].strip())
    return {n: CodebookEntry(label=w, codes=codes.get(n, {}), special=special.get(n, {})) for n, w in labels.items()}


def in_codes(table: Any, codebook: Codebook) -> Any:
    """A pyarrow table whose cells hold the codebook's words, with codes in their place; codes and other columns stay.

    Raises:
        SchemaError: a listed column holds words that the codebook does not have; it names the column, never the cell.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, name in enumerate(table.column_names):
        entry = codebook.get(name)
        if entry is None or not entry.codes:
            continue
        words = {str(c): c for c in entry.codes} | {w: c for c, w in reversed(list(entry.codes.items()))}
        cells = pc.cast(table.column(at), pa.string())
        place = pc.index_in(cells, value_set=pa.array(list(words), pa.string()))
        if place.null_count > cells.null_count:
            msg = f"column '{name}' holds words that its codebook does not list; add them to the codebook"
            raise SchemaError(msg)
        listed = pa.chunked_array([pa.array(list(words.values()), pa.int64())])
        table = table.set_column(at, name, listed.take(place))
    return table


# what a dictionary may call its own columns, in lower case with spaces for punctuation
HEADERS = {
    "name": ("name", "column", "column name", "variable", "variable name", "field", "field name", "attribute"),
    "kind": ("kind", "type", "data type", "dtype", "variable type", "format"),
    "values": (
        "values", "levels", "categories", "codes", "allowed values", "valid values", "value labels", "response options",
        "range", "choices",
    ),
    "min": ("min", "minimum", "lower", "low", "from"),
    "max": ("max", "maximum", "upper", "high", "to"),
    "bins": ("bins", "number of bins"),
    "step": ("step", "increment", "precision", "resolution"),
    "decimals": ("decimals", "decimal places", "digits after the point"),
    "missing": ("missing", "missing allowed", "nullable", "may be blank", "optional"),
    "description": ("description", "label", "meaning", "definition", "variable label", "question"),
}  # fmt: skip
RANGE = r"^\s*(-?\d+(?:\.\d+)?)\s*(?:-|\.\.+|–|to)\s*(-?\d+(?:\.\d+)?)\s*$"
DAYS = r"^\d{4}(-\d{2}(-\d{2})?)?([T ].*)?$"
YES = ("yes", "y", "true", "1", "allowed", "optional")
NO = ("no", "n", "false", "0", "not allowed", "required")


def import_dictionary(path: str | Path, *, name: str | None = None) -> Schema:
    """A schema from a data dictionary in CSV, TSV or Excel.

    One line a column, with headers such as name, type, values, min, max, bins, step (or decimals), missing
    and description. Values are
    separated by ; or | (or by commas alone) and may carry labels: `1=Male; 2=Female`. `0-99` is a range. Where the
    dictionary does not say whether a column may be blank, the column is given a missing cell.

    Raises:
        SchemaError: no column of names, or a line that gives no attribute; it names the line's column.
        TableError: the file cannot be read.
    """
    table = read_table(path)
    headers = _headers(table.column_names)
    if "name" not in headers:
        msg = f"'{path}' is no data dictionary: no header says name, column or variable"
        raise SchemaError(msg)
    lines = table.rename_columns([str(i) for i in range(table.num_columns)]).to_pylist()
    picked = [{key: line[str(at)].strip() for key, at in headers.items()} for line in lines]
    attributes = [_attribute(line) for line in picked if line["name"]]
    identifiers = [a["name"] for a in attributes if a["kind"] == "identifier"]
    unit = {"identifier": identifiers[0] if len(identifiers) == 1 else None}
    return Schema.of({"version": 1, "name": name or Path(path).stem, "unit": unit, "attributes": attributes})


def _headers(names: list[str]) -> dict[str, int]:
    plain = [re.sub(r"[\W_]+", " ", n).strip().lower() for n in names]
    out: dict[str, int] = {}
    for key, spellings in HEADERS.items():
        for spelling in spellings:
            if spelling in plain and plain.index(spelling) not in out.values():
                out[key] = plain.index(spelling)
                break
    return out


def _attribute(line: dict[str, str]) -> dict[str, Any]:
    out: dict[str, Any] = {"name": line["name"]}
    if line.get("description"):
        out["description"] = line["description"]
    kind, values = line.get("kind", "").lower(), line.get("values", "")
    if kind in ("id", "identifier", "key"):
        return out | {"kind": "identifier"}
    if kind in ("ignored", "ignore", "free text", "comment") or (kind in ("text", "string") and not values):
        return out | {"kind": "ignored"}
    missing = {"missing": _yes(line.get("missing", ""), line["name"])}
    low, high = line.get("min", ""), line.get("max", "")
    span = re.match(RANGE, values)
    if span and not (low or high):
        low, high = span.groups()
    elif values and not re.match(RANGE, values):
        return out | {"kind": "categorical"} | _values(values) | missing
    if not (low and high):
        msg = f"column '{line['name']}' of the dictionary has neither values nor min and max; add one of them"
        raise SchemaError(msg)
    if "date" in kind or "time" in kind or (re.match(DAYS, low) and "-" in low[1:]):
        return out | {"kind": "datetime", "min": low, "max": high} | _calendar(line) | missing
    return out | _numeric(line, low, high, kind) | missing


def _numeric(line: dict[str, str], low: str, high: str, kind: str) -> dict[str, Any]:
    try:
        ends = [float(low), float(high)]
    except ValueError as error:
        msg = f"column '{line['name']}' of the dictionary has a min or max that is no number"
        raise SchemaError(msg) from error
    real = any(word in kind for word in ("float", "real", "decimal", "double", "continuous"))
    whole = all(e.is_integer() for e in ends) and not real
    limits: list[float] = [int(e) for e in ends] if whole else ends
    bins, dtype = _bins(line), "integer" if whole else "float"
    out: dict[str, Any] = {"kind": "numeric", "dtype": dtype, "min": limits[0], "max": limits[1]}
    return out | ({} if bins is None else {"bins": {"count": bins}}) | _step(line, whole=whole)


def _step(line: dict[str, str], *, whole: bool) -> dict[str, Any]:
    """The distance of neighbouring values, where the dictionary names it or how many digits they have."""
    text, digits = line.get("step", ""), line.get("decimals", "")
    if not text and re.match(r"^\d{1,2}$", digits) and not whole:
        return {"decimals": int(digits)}
    if not text:
        return {}
    if not re.match(r"^\d+(\.\d+)?$", text):
        msg = f"column '{line['name']}' of the dictionary has a step that is no number; write 1, 0.01 or 50"
        raise SchemaError(msg)
    return {"step": int(float(text)) if float(text).is_integer() else float(text)}


def _bins(line: dict[str, str]) -> int | None:
    text = line.get("bins", "")
    if not text:
        return None
    if not re.match(r"^\d{1,7}$", text):
        msg = f"column '{line['name']}' of the dictionary has bins that are no whole number"
        raise SchemaError(msg)
    return int(text)


def _calendar(line: dict[str, str]) -> dict[str, Any]:
    text = line.get("bins", "").lower()
    if text in ("day", "month", "year"):
        return {"bins": {"every": text}}
    bins = _bins(line)
    return {} if bins is None else {"bins": {"count": bins}}


def _values(text: str) -> dict[str, Any]:
    """The listed values and, under notes, their labels."""
    separator = next((s for s in ("|", ";", "\n") if s in text), ",")
    items = [i.strip() for i in text.split(separator) if i.strip()]
    pairs = [re.split(r"\s*[=:]\s*", i, maxsplit=1) for i in items]
    labelled = all(len(p) == 2 and p[0] for p in pairs)
    codes = [p[0] for p in pairs] if labelled else items
    numbers = all(re.match(r"^-?(0|[1-9]\d{0,17})$", c) for c in codes)
    out: dict[str, Any] = {"values": [int(c) for c in codes] if numbers else codes}
    if labelled:
        out["notes"] = {"labels": {p[0]: p[1] for p in pairs}}
    return out


def _yes(text: str, name: str) -> bool:
    plain = text.strip().lower()
    if plain in NO:
        return False
    if plain in ("", *YES):
        return True
    msg = f"column '{name}' of the dictionary says {plain[:40]!r} on missing cells; write yes or no"
    raise SchemaError(msg)
