"""The dialect of a text: its delimiter, its decimal mark and its headers, by rules that look at the header alone."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field, replace
from typing import Any

from dpsyn_core.errors import TableError
from dpsyn_core.tables.headers import named, over
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.read_form import TEXT, ReadForm
from dpsyn_core.tables.text import lines
from dpsyn_core.tables.text.encodings import SAMPLE, Encoding

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
SEP = re.compile(rb'"?sep=([ -~\t])"?\s*', re.IGNORECASE)  # a first line in which Excel names the delimiter
BLANK, R_HEADERS = (
    " ",
    re.compile(r'"[^"]*"( "[^"]*")+'),
)  # of R's write.table, which names rows and gives them no header
SURVEY, KEY = 4, '{"ImportId"'  # the line up to which exports of surveys have keys, and how their cells begin
NEARLY = 0.8  # of the cells of most lines, which headers fill: some stand above a column of their own alone
LOOKED = 30  # lines that are looked at for headers below a title
NUMBER, YEAR = re.compile(r"[-+]?[.,]*+\d[\d.,]*+"), re.compile(r"((1[89]|20)\d\d|2100)")
DECIMAL = re.compile(r"[-+]?(0,\d+|\d*,(\d{1,2}|\d{4,})|\d{4,},\d+)")  # with a comma that stands for no thousands
JSON = re.compile(r"\s*(\[\s*$|\[?\s*\{\s*($|\}|\".*\"\s*:))")
MARKUP = re.compile(r"\s*<(\?xml|!doctype|html|head|body|table|svg|[a-z][\w:]*( [^<>]*)?>\s*($|<))", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """The public form of a text.

    written: the headers as they stand. start, size: bytes above the headers, and above the records. lines: those above
    the records. names: what columns are called. comma: whether a comma is a decimal mark. facts: of `Batches`, by name:
    how the text was read, and what else its first lines look like.
    """

    written: list[str]
    delimiter: str
    start: int = 0
    size: int = 0
    lines: int = 0
    names: tuple[str, ...] = ()
    comma: bool = False
    facts: dict[str, Any] = field(default_factory=dict)


def dialect_of(text: memoryview, name: str, form: ReadForm, encoding: Encoding, odd: list[str]) -> Dialect:
    """The dialect of a text.

    Args:
        text: `lines.normalised`, at least to the end of the headers.
        name: of the file, for its ending.
        form: what is declared about it.
        encoding: that of the text.
        odd: gets a sentence where the first records have a decimal mark that was not declared.
    """
    notices = [] if encoding.notice is None else [encoding.notice]
    top = _top(text, name, form, notices)
    names, renamed = named(top.written, strict=form.strict)
    first = form.header is None and form.header_row == form.header_lines == 1
    shown = rows_of(_head(text[top.start :]), top.delimiter, LOOKED) if first else []
    facts = {
        "kind": TEXT,
        "form": form.model_copy(update={"delimiter": top.delimiter, "encoding": encoding.name}),
        "header_hint": header_hint(shown) if first else None,
        "headless": first and looks_like_a_record(top.written),
        "notices": (*notices, *renamed),
    }
    comma = _decimal_comma(text[top.size :], top.delimiter, form, odd)
    return replace(top, names=tuple(names), comma=comma, facts=facts)


def _top(text: memoryview, name: str, form: ReadForm, notices: list[Notice]) -> Dialect:
    """What stands above the records, which is public: the headers, blank lines above them, and a title.

    A form may say that the text has no headers: then all of it is records. `notices` gets what was assumed.
    """
    if form.header is not None:
        notices.append(Notice("headers_given"))
        line = memoryview(form.header.encode() + b"\n")
        written, chosen, _ = _names_of(line, name, form.delimiter, form.multiline, notices)
        return Dialect(written=written, delimiter=chosen)
    match = SEP.fullmatch(lines.first_line(text))
    start, above = lines.above(text, max(2, form.header_row) if match else form.header_row)
    delimiter = form.delimiter
    if match and delimiter is None:
        delimiter = match[1].decode()
        notices.append(Notice("by_sep", delimiter="\\t" if delimiter == "\t" else delimiter))
    written, chosen, size = _names_of(text[start:], name, delimiter, form.multiline, notices)
    if delimiter is None and chosen == BLANK:
        written = ["", *written]
    if form.header_lines > 1:
        rows = [written]
        for _ in range(form.header_lines - 1):
            if not lines.first_line(text[start + size :]):
                msg = f"the headers are said to take {form.header_lines} lines, and the file has fewer; say how many"
                raise TableError(msg)
            size += lines.above(text[start + size :], 1)[0]
            more, _, taken = _names_of(text[start + size :], name, chosen, form.multiline, notices)
            rows.append(more)
            size += taken
        written = over(rows)
    first = bytes(text[start : start + size])
    return Dialect(
        written=written,
        delimiter=chosen,
        start=start,
        size=start + size,
        lines=above + first.count(b"\n") + (not first.endswith(b"\n")),
    )


def _names_of(
    text: memoryview, name: str, delimiter: str | None, multiline: bool, notices: list[Notice]
) -> tuple[list[str], str, int]:
    """The headers, the delimiter, and how many bytes the headers take with their line end.

    They are the first line of the text, which is not blank. Where the table is read as multiline, a quoted line end
    may prolong it.
    """
    line = lines.first_line(text)
    refuse_markup(line[:SAMPLE].decode("utf-8", "replace"))
    chosen = _delimiter(line.decode("utf-8", "replace"), name, delimiter, notices)
    size = len(line) + 1
    if b'"' in line:  # a header can be broken by its quotation marks alone
        size = _quoted_size(text, chosen) if multiline else size
        fault = lines.first_fault(text[:size], chosen, 0, multiline=multiline)
        if fault is not None:
            raise fault.error(0)
    rows = rows_of(bytes(text[:size]).decode("utf-8", "replace"), chosen, 1)
    if not rows:
        msg = "the headers cannot be read; give a table whose first line holds short column names"
        raise TableError(msg)
    return rows[0], chosen, min(size, len(text))


def _quoted_size(text: memoryview, delimiter: str) -> int:
    """Bytes of headers whose cells may hold line ends. Raises TableError where they have no end for 32 MiB."""
    size = lines.record_end(text[: lines.HEADER_LIMIT], delimiter, first=True)
    if not size and len(text) > lines.HEADER_LIMIT:
        msg = "the header is longer than 32 MiB; give a table whose first line holds the headers"
        raise TableError(msg)
    return size or len(text)


def _delimiter(header: str, name: str, wanted: str | None, notices: list[Notice]) -> str:
    if wanted is not None:
        return wanted
    if R_HEADERS.fullmatch(header.strip()):
        notices.append(Notice("by_blank"))
        return BLANK
    prefer = "\t" if name.lower().endswith((".tsv", ".tab")) else ","
    chosen = find_delimiter(header, prefer=prefer)
    if chosen != prefer:
        notices.append(Notice(f"by_{DELIMITERS[chosen]}"))
    return chosen


def find_delimiter(header: str, *, prefer: str = ",") -> str:
    """The delimiter that splits the header line into the most cells; `prefer` among equals, or when none splits it.

    Args:
        header: the first line of the file, which is public; no record is looked at.
        prefer: by the ending of the file's name.
    """
    widths = {d: max(map(len, rows_of(header, d, 1)), default=1) for d in (prefer, *DELIMITERS)}
    return max(widths, key=lambda d: widths[d])


def refuse_markup(line: str) -> None:
    """Raises TableError where the first line is one of JSON, XML or HTML: its text would be taken for headers."""
    if JSON.match(line):
        msg = (
            "the file is JSON, not a table of cells; save it as CSV or Parquet, in Python by "
            "pandas.read_json('file.json').to_csv('file.csv', index=False), with lines=True for one record a line"
        )
        raise TableError(msg)
    if MARKUP.match(line):
        msg = "the file is XML or HTML, not a table of cells; save it as CSV, Parquet or Excel"
        raise TableError(msg)


def _decimal_comma(records: memoryview, delimiter: str, form: ReadForm, odd: list[str]) -> bool:
    """Whether a comma is read as a decimal mark; `odd` gets a sentence where one is seen and none was declared.

    Never by looking at the cells: one odd cell must not change how those of other individuals are read.
    """
    if form.decimal is not None:
        return form.decimal == ","
    if delimiter != "," and uses_decimal_comma(rows_of(_head(records), delimiter, 200)):
        odd.append(Notice("decimal_comma"))
    return delimiter != ","


def uses_decimal_comma(rows: list[list[str]]) -> bool:
    """Whether a cell of these records is a number such as 12,5, not 1,234: then a notice names how it is read."""
    return any(DECIMAL.fullmatch(c.strip()) for row in rows for c in row)


def holds_headers(text: memoryview, form: ReadForm) -> bool:
    """Whether the end of the line of the headers stands in the beginning of a text."""
    if form.header is not None:
        return True
    lines_in = [line for line in bytes(text).split(b"\n")[:-1] if line]
    return len(lines_in) - bool(lines_in and SEP.fullmatch(lines_in[0])) >= form.header_row + form.header_lines - 1


def _head(body: memoryview) -> str:
    """The first lines as text, cut at a line's end: to tell the person about, for nothing else."""
    text = bytes(body[:SAMPLE]).decode("utf-8", errors="ignore")
    return sample_lines(text, len(body) <= SAMPLE)


def sample_lines(text: str, whole: bool) -> str:
    """The text cut after its last complete line, unless it is the whole file."""
    if whole:
        return text
    end = max(text.rfind("\n"), text.rfind("\r"))
    return text[: end + 1] if end >= 0 else text


def rows_of(text: str, delimiter: str, limit: int) -> list[list[str]]:
    """The first rows of a text as lists of cells, blank lines left out."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) >= limit:
                break
    except csv.Error:  # a cell above the csv module's cap: what was read so far decides
        return rows
    return rows


def header_hint(rows: list[list[str]]) -> tuple[int, int, bool] | None:
    """Where headers may be that are not the first line alone: private, for it looks at records.

    Args:
        rows: the first lines as cells, blank ones left out.

    Returns:
        Their line, counted from 1, how many they take, and whether their cells hold line ends: the first line with
        nearly as many cells as most, none a number but years among words, and headings over its cells; or names above
        questions of a survey.
    """
    for number, row in enumerate(rows[1:SURVEY], start=2):
        if row and all(c.lstrip().startswith(KEY) for c in row):
            return 1, number, any("\n" in c for above in rows[:number] for c in above)
    filled = [[c.strip() for c in row if c.strip()] for row in rows]
    widths = [len(row) for row in filled]
    if len(rows) < 4 or widths[0] >= max(widths):
        return None
    usual = max(set(widths[1:]), key=lambda w: (widths[1:].count(w), w))
    for i, row in enumerate(filled):
        if not _words_and_years(rows[i], rows[i + 1] if i + 1 < len(rows) else []):
            continue
        if 2 <= len(row) < NEARLY * usual and i + 1 < len(rows) and _go_on(rows[i], rows[i + 1], usual):
            return i + 1, 2, False
        if len(row) >= max(2, NEARLY * usual):
            marks = sorted(_places(rows[i - 1]))
            if i and 1 < len(marks) < min(len(row), marks[-1] - marks[0] + 1):  # headings, and a gap between them
                return i, 2, False
            if i > 1 and len(marks) == 1 and marks[0] > min(_places(rows[i - 2]), default=marks[0]):  # one, not a title
                return i, 2, False
            return (i + 1, 1, False) if i and len(row) > widths[0] else None
    return None


def _words_and_years(row: list[str], below: list[str]) -> bool:
    """Whether no cell is a number, or some are years, each once, beside a word: not over a year as those of records."""
    numbers = {k: c.strip() for k, c in enumerate(row) if NUMBER.fullmatch(c.strip())}
    if len(set(numbers.values())) < len(numbers) or not all(YEAR.fullmatch(n) for n in numbers.values()):
        return False
    if not numbers:
        return True
    of_records = not below or any(YEAR.fullmatch(c.strip()) for k, c in enumerate(below) if k in numbers)
    return not of_records and len(_places(row)) > len(numbers)


def _places(row: list[str]) -> set[int]:
    return {k for k, c in enumerate(row) if c.strip()}


def _go_on(above: list[str], below: list[str], usual: int) -> bool:
    """Whether a line with gaps and the next one are headers together: groups, and their columns or years."""
    numbers = [c.strip() for c in below if NUMBER.fullmatch(c.strip())]
    upper, lower = _places(above), _places(below)
    apart = len(lower) < NEARLY * usual or any(above[k] == below[k] for k in upper & lower)
    return apart and len(upper | lower) >= NEARLY * usual and all(YEAR.fullmatch(n) for n in numbers)


def looks_like_a_record(cells: list[str]) -> bool:
    """Whether a first line is more likely a record than headers: a third of its cells or more are numbers, not years.

    Only the owner sees a notice of it, since the line may be a record.
    """
    numbers = [c.strip() for c in cells if NUMBER.fullmatch(c.strip())]
    return bool(numbers) and 3 * len(numbers) >= len(cells) and not all(YEAR.fullmatch(n) for n in numbers)
