"""Notices: what a reader tells about a table, as English sentences that an interface can say in another language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsyn_core.errors import UNSEEN

ENGLISH: Mapping[str, str] = {
    # how the file is read
    "utf16": "read as UTF-16",
    "utf16_unmarked": "read as UTF-16 (no byte order mark)",
    "guessed": "the headers are not UTF-8: read as {encoding} by their letters; choose another if they look wrong",
    "latin": "the headers are not UTF-8: read as Latin-1 (Western European); choose another if letters look wrong",
    "by_comma": "cells are separated by a comma",
    "by_semicolon": "cells are separated by a semicolon",
    "by_tab": "cells are separated by a tab",
    "by_pipe": "cells are separated by a pipe",
    "by_sep": "the first line names the delimiter, '{delimiter}', as Excel does; the headers stand below it",
    "by_blank": "cells are separated by blanks and rows have names without a header, as R's write.table makes them; "
    "declare the delimiter ' ' where rows have none",
    "first_unnamed": "the first column has no header, as R and pandas write row numbers; it is called '{name}'",
    "last_unnamed": "the last column has no header; it is called '{name}'",
    "repeated": "{columns} columns have the header '{header}'; those after the first are called {names}",
    "headers_given": "the headers are those that were given; the first line is a record",
    "sheet": "read the sheet '{sheet}', one of {sheets}; the others are {others}",
    "nested": "the columns {columns} hold lists, structures, bytes or durations and are left out",
    "files": "{place} is read as one table of {files} files",
    # what could not be read
    "decimal_comma": "numbers are read with a decimal comma (12,5 is twelve and a half)",
    "undecoded": "some cells hold bytes that are not {encoding} and count as misfits; if the file has another "
    "encoding, choose it (cp1252, also called Latin-1, is the usual one of Western Europe)",
    "unfit": "{lines} of the lines do not fit the header, and no cell of them is read: {first}",
    "unfit_multiline": "{lines} of the lines do not fit the header, and no cell of them is read: {first}; if "
    "cells may hold line ends, say so where it is read (multiline)",
    "total": "record {record} looks like a total of the others ('{word}'); if it is one, remove it from the file and "
    "load it again, for it counts as a record",
    "note": "record {record} has words in one cell and no other, as a note or a source below a table has; if it is "
    "one, remove it from the file and load it again, for it counts as a record",
    "of_file": "{file}: {sentence}",
    # what is wrong with a line
    "unclosed": "line {line} opens a quotation mark that it does not close",
    "trailing": "line {line} has text after a closing quotation mark",
    "long": "line {line} is longer than 64 MiB",
    "ragged": "line {line} has {cells} cells and the header has {columns}",
    "ragged_one": "line {line} has 1 cell and the header has {columns}",
}


class Notice(str):
    """A sentence that knows its entry of `ENGLISH` and what is filled in: numbers, names, and other notices."""

    __slots__ = ("key", "values")

    key: str
    values: Mapping[str, Any]

    def __new__(cls, key: str, **values: Any) -> Notice:
        """The sentence of an entry. Raises KeyError for one that there is not."""
        notice = super().__new__(cls, ENGLISH[key].format(**values).translate(UNSEEN))
        notice.key, notice.values = key, values
        return notice

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles rebuild the notice from its document."""
        return made, (self.document(),)

    def document(self) -> dict[str, Any]:
        """The notice for JSON; `made` reads it."""
        values = {k: v.document() if isinstance(v, Notice) else v for k, v in self.values.items()}
        return {"notice": self.key, "values": values}


def made(document: Any) -> Any:
    """The notice that `Notice.document` wrote; whatever else it is given, as it stands."""
    if not isinstance(document, dict) or "notice" not in document:
        return document
    return Notice(document["notice"], **{k: made(v) for k, v in document["values"].items()})
