"""Reads codebook.cbk as IPUMS writes it with an extract: what every code of a column means, in public words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpsyn_core.errors import SchemaError

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
        own = sum(re.match(rf"0*{code}\b", text) is not None for code, text in self.codes.items())
        return 2 * own > len(self.codes)

    def is_list(self, low: int, high: int) -> bool:
        """Whether the codes are all that the column holds, rather than the special ones of a number in low..high."""
        inside = [c for c in self.codes if low <= c <= high]
        return bool(inside) and (high <= SMALL or any(c != 0 and c < NEAR_TOP * high for c in inside))

    def special_codes(self, low: int, high: int) -> dict[int, str]:
        """Codes of a number in low..high that stand for something else, ascending; zero keeps its place in the range.

        The top code is not among them: see `top_code`.
        """
        found = {**self.codes, **self.special}
        top = self.top_code(low, high)
        return {c: found[c] for c in sorted(found) if low <= c <= high and c not in (0, top)}

    def top_code(self, low: int, high: int) -> int | None:
        """The code that stands for everything from itself on, by its words; None without one."""
        found = [c for c, text in {**self.codes, **self.special}.items() if TOP.search(text) and low < c <= high]
        return max(found, default=None)


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
    found = parse_codebook(text)
    if not found:
        msg = f"'{what}' is no codebook: no line opens with a column's name, a tab and its label, as in SEX<tab>Sex"
        raise SchemaError(msg)
    return found


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
