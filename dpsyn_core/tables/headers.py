"""Headers: every column has a name of its own; names are found whether accents are composed or not."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from dpsyn_core.errors import TableError

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # OWASP: how a cell begins that a spreadsheet reads as a formula


def check(names: Sequence[str]) -> None:
    """Raises TableError for a table without columns, with blank headers or with headers that repeat."""
    if not names:
        msg = "the table has no columns; its first line must hold the headers"
        raise TableError(msg)
    seen: dict[str, int] = {}
    for i, name in enumerate(names, start=1):
        if not name.strip():
            msg = f"column {i} has a blank header; give every column a name"
            raise TableError(msg)
        key = composed(name)
        if key in seen:
            msg = f"columns {seen[key]} and {i} have the same header '{short(name)}'; give every column its own name"
            raise TableError(msg)
        seen[key] = i


ROWS, OTHERWISE = "row", "row number"  # what a first column without a header is called; where the first is taken


def first_named(names: Sequence[str]) -> tuple[list[str], str | None]:
    """Names a first column without a header, which is where R and pandas write row numbers; no other blank one.

    Returns:
        The headers, and a sentence where one was given. Both follow from the header line alone.
    """
    out = list(names)
    if len(out) < 2 or out[0].strip() or not all(n.strip() for n in out[1:]):
        return out, None
    taken = {composed(n) for n in out}
    out[0] = ROWS if ROWS not in taken else OTHERWISE
    return out, f"the first column has no header, as R and pandas write row numbers; it is called '{out[0]}'"


def locate(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Position of each wanted column. Raises TableError that lists those the table lacks.

    A header such as =SUM(A1) is found behind the apostrophe, too, that our own CSV files have before it
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
