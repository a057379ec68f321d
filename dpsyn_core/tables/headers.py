"""Headers: every column has a unique name; names match whether accents are composed or not."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import count, zip_longest

from dpsyn_core.errors import TableError
from dpsyn_core.tables.notices import Notice

# How a cell begins that a spreadsheet may run (OWASP, CSV injection): the marks of a formula, also of full width, as
# Japanese and Chinese keyboards give them; white space that is taken away before the cell is read; and the byte order
# mark, which is taken away at the start of a file.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufeff")
BEGINS = "([" + "".join(rf"\x{{{ord(c):X}}}" for c in FORMULA) + "])"  # as a regular expression of pyarrow's engine


def check(names: Sequence[str]) -> None:
    """Raises TableError for a table without columns, with blank headers or with headers that repeat."""
    if not names:
        msg = "the table has no columns; its first line must hold the headers"
        raise TableError(msg)
    seen: dict[str, int] = {}
    for i, name in enumerate(names, start=1):
        if not name.strip():
            msg = f"column {i} has a blank header; give every column a name, or say in which lines the headers are"
            raise TableError(msg)
        key = composed(name)
        if key in seen:
            msg = f"columns {seen[key]} and {i} have the same header '{short(name)}'; give every column its own name"
            raise TableError(msg)
        seen[key] = i


ROWS, OTHERWISE = "row", "row number"  # what a first column without a header is called; where the first is taken
SHOWN = 5  # new names in a notice


def named(names: Sequence[str], *, strict: bool = False) -> tuple[list[str], list[Notice]]:
    """What columns are called: as their headers say, with a name for a blank end and for headers that repeat.

    A first column without a header is where R and pandas write row numbers; a last one is what a delimiter at the end
    of every line makes. A header that stands on several columns names the first of them, and the others get a number:
    `age`, `age (2)`. All of it follows from the header line alone, so that no record changes what a column is called.

    Args:
        names: the headers as they stand.
        strict: headers that repeat are refused.

    Returns:
        The names, and a sentence for each rule that was used.

    Raises:
        TableError: no column, another blank header, or with `strict` headers that repeat.
    """
    out, odd = _ends_named(names)
    if not strict:
        out, more = _repeats_named(out)
        odd += more
    check(out)
    return out, odd


def _ends_named(names: Sequence[str]) -> tuple[list[str], list[Notice]]:
    """A name for the only blank header, where that is the first one, or the last one of three or more."""
    out = list(names)
    blank = [i for i, name in enumerate(out) if not name.strip()]
    taken = {composed(n) for n in out}
    if len(out) >= 2 and blank == [0]:
        out[0] = ROWS if ROWS not in taken else OTHERWISE
        return out, [Notice("first_unnamed", name=out[0])]
    if len(out) >= 3 and blank == [len(out) - 1]:
        out[-1] = f"column {len(out)}"
        return out, [Notice("last_unnamed", name=out[-1])]
    return out, []


def _repeats_named(names: list[str]) -> tuple[list[str], list[Notice]]:
    """Every header but the first of its kind with the next free number behind it."""
    taken = {composed(n) for n in names}
    if len(taken) == len(names):
        return names, []
    out: list[str] = []
    numbers: dict[str, Iterator[int]] = {}
    given: dict[str, list[str]] = {}
    for name in names:
        key = composed(name)
        if key not in numbers or not name.strip():
            numbers[key] = count(2)
            out.append(name)
            continue
        new = next(n for i in numbers[key] if composed(n := f"{name} ({i})") not in taken)
        taken.add(composed(new))
        given.setdefault(key, []).append(new)
        out.append(new)
    return out, [_repeated(name, new) for name, new in given.items()]


def _repeated(name: str, new: list[str]) -> Notice:
    listed = ", ".join(f"'{short(n)}'" for n in new[:SHOWN]) + (", ..." if len(new) > SHOWN else "")
    return Notice("repeated", header=short(name), columns=len(new) + 1, names=listed)


def locate(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Position of each requested column. Raises TableError that lists those the table lacks.

    A header such as =SUM(A1) also matches with the apostrophe before it that our CSV files have
    (`tables/write.escape`).
    """
    at = {composed(n): i for i, n in enumerate(names)}
    keys = [composed(w) for w in wanted]
    keys = [f"'{k}" if k not in at and f"'{k}" in at and k.startswith(FORMULA) else k for k in keys]
    lacking = [w for w, k in zip(wanted, keys, strict=True) if k not in at]
    if lacking:
        shown = ", ".join(f"'{short(n)}'" for n in lacking[:5]) + (", ..." if len(lacking) > 5 else "")
        msg = f"the table lacks the column {shown} that the schema declares; check the headers, or change the schema"
        raise TableError(msg)
    return [at[k] for k in keys]


def composed(name: str) -> str:
    """A name with composed accents: how names are compared."""
    return unicodedata.normalize("NFC", name)


def short(name: str) -> str:
    """A header for messages: on one line and at most 80 characters."""
    plain = "".join(c if c.isprintable() else "?" for c in name[:81])
    return plain if len(plain) <= 80 else plain[:77] + "..."


def over(lines: Sequence[Sequence[str]]) -> list[str]:
    """What columns are called whose headers stand in several lines.

    Where the first line names every column, and no two alike, it holds the names, and what stands below it tells
    about them, as in the exports of surveys. Otherwise the lines are joined: a heading holds for the columns to its
    right that have none, as merged cells do, and the last line names the columns below it.

    Args:
        lines: cells of each line, the uppermost first.

    Returns:
        One name a column; empty where no line has one.
    """
    columns = [[" ".join(cell.split()) for cell in column] for column in zip_longest(*lines, fillvalue="")]
    first = [column[0] for column in columns]
    if all(first) and len(set(first)) == len(first):
        return list(lines[0])
    group = [""] * len(lines)
    out = []
    for column in columns:
        for i, cell in enumerate(column[:-1]):
            if cell:  # a new heading ends those below the old one
                group[i:] = [cell, *[""] * (len(group) - i - 1)]
        out.append(" / ".join(dict.fromkeys(filter(None, [*group[:-1], column[-1]]))))
    return out
