"""OpenDocument spreadsheets (.ods): the rows of one sheet, by the XML parser of the standard library."""

from __future__ import annotations

import contextlib
import datetime
import io
import re
import zipfile
from typing import Any
from xml.parsers import expat

from dpsyn_core.errors import TableError
from dpsyn_core.tables.text.inflation import FREE, MAX_RATIO

CONTENT, MIMETYPE = "content.xml", b"application/vnd.oasis.opendocument.spreadsheet"
PIECE = 1 << 20
DURATION = re.compile(r"^PT(\d{1,9})H(\d{1,2})M(\d{1,2})(?:[.,]\d*)?S$")


def is_spreadsheet(archive: zipfile.ZipFile) -> bool:
    """Whether a zip archive is one; other documents of this family have the same members."""
    with archive.open("mimetype") as file:
        return file.read(len(MIMETYPE) + 1) == MIMETYPE


class Sheet:
    """One sheet: as it is parsed, `rows` fills with cells (numbers, booleans, dates, durations, text, None for blank).

    Blank rows take no place, nor do those that have no cell beside merged ones of rows above: a record over merged
    rows is one record. Cells that are merged downwards all hold what the uppermost shows.
    """

    def __init__(self, raw: bytes, wanted: str | None) -> None:
        """Parses; wanted: a sheet's name, None: the first that is not hidden. Raises TableError."""
        self.names: list[str] = []
        self.name, self.rows = wanted, list[tuple[Any, ...]]()
        self._hidden, self._style, self._inside = set[str](), "", False
        self._row: list[Any] = []
        self._filled = False
        self._spans: dict[int, tuple[int, Any]] = {}
        self._at, self._cell, self._text, self._aside = 0, dict[str, str](), list[str](), 0
        self._left = max(FREE, MAX_RATIO * len(raw))  # cells that may come out
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = _refuse
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        try:
            with zipfile.ZipFile(io.BytesIO(raw)) as archive, archive.open(CONTENT) as file:
                while piece := file.read(PIECE):
                    parser.Parse(piece, False)
                parser.Parse(b"", True)
        except TableError:
            raise
        except Exception as error:  # zipfile and expat raise errors of many kinds
            msg = "the .ods file is damaged or has a password; save it again without one, or as CSV"
            raise TableError(msg) from error

    def _start(self, tag: str, of: dict[str, str]) -> None:
        if tag == "style:style":
            self._style = of.get("style:name", "")
        elif tag == "style:table-properties" and of.get("table:display") == "false":
            self._hidden.add(self._style)
        elif tag == "table:table":
            name, hidden = of.get("table:name", ""), of.get("table:style-name") in self._hidden
            self.names.append(name)
            self._inside = name == self.name or (self.name is None and not hidden)
            self.name = name if self._inside else self.name
        elif self._inside and tag == "table:table-row":
            self._row, self._at, self._filled = [], 0, False
            self._repeat = _count(of, "table:number-rows-repeated")
        elif self._inside and tag in ("table:table-cell", "table:covered-table-cell"):
            self._cell, self._text = of, []
        elif tag == "office:annotation":
            self._aside += 1
        elif tag == "text:p" and self._text:
            self._characters("\n")
        elif tag == "text:s":
            self._characters(" " * min(_count(of, "text:c"), FREE))
        elif tag in ("text:tab", "text:line-break"):
            self._characters("\t" if tag == "text:tab" else "\n")

    def _characters(self, text: str) -> None:
        if self._inside and not self._aside:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        if tag == "office:annotation":
            self._aside -= 1
        elif tag == "table:table":
            self._inside = False
        elif self._inside and tag in ("table:table-cell", "table:covered-table-cell"):
            self._put(covered=tag == "table:covered-table-cell")
        elif self._inside and tag == "table:table-row" and self._filled:
            self._take(len(self._row) * self._repeat)
            self.rows += [tuple(self._row)] * self._repeat

    def _put(self, *, covered: bool) -> None:
        value, times = self._value(), _count(self._cell, "table:number-columns-repeated")
        rows, width = (_count(self._cell, f"table:number-{what}-spanned") for what in ("rows", "columns"))
        if rows > 1 and width == 1:
            self._spans[self._at] = (rows - 1, value)
        elif covered and value is None and self._spans.get(self._at, (0, None))[0]:
            left, above = self._spans[self._at]
            self._spans[self._at] = (left - self._repeat, above)
            self._place(above, times)
        if value is not None:
            self._filled = True
            self._place(value, times)
        self._at += times

    def _place(self, value: Any, times: int) -> None:
        if value is not None:
            self._take(self._at + times - len(self._row))
            self._row += [None] * (self._at - len(self._row)) + [value] * times

    def _take(self, cells: int) -> None:
        self._left -= cells
        if self._left < 0:
            msg = f"the .ods file has more than {MAX_RATIO} cells for each of its bytes; save it as CSV"
            raise TableError(msg)

    def _value(self) -> Any:
        """What a cell holds; where that is no value of its type, such as a day after the year 9999, what it shows."""
        of, kind = self._cell, self._cell.get("office:value-type")
        with contextlib.suppress(ValueError, KeyError):
            if kind in ("float", "percentage", "currency"):
                return float(of["office:value"])
            if kind == "boolean":
                return of["office:boolean-value"] == "true"
            if kind == "date":
                day = datetime.datetime.fromisoformat(of["office:date-value"][:26])
                return day if "T" in of["office:date-value"] else day.date()
            if kind == "time" and (parts := DURATION.match(of.get("office:time-value", ""))):
                hours, minutes, seconds = map(int, parts.groups())
                return datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return of.get("office:string-value") or "".join(self._text) or None


def _count(of: dict[str, str], name: str) -> int:
    return max(1, int(of.get(name, "1")[:9]))


def _refuse(*_: object) -> None:
    msg = "the .ods file declares a document type or entities, which are not read; save it again, or as CSV"
    raise TableError(msg)
