"""What a text file is: its encoding, its delimiter and its decimal mark, found from the bytes and told in notices."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass

from dpsyn_core.errors import TableError

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
STEP = 1 << 24
SAMPLE = 1 << 16
BINARY = bytes(set(range(32)) - {9, 10, 12, 13})  # control bytes that no text table holds


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoding:
    """name: of Python's codec; skip: bytes of a mark at the start; notice: what to tell, or empty."""

    name: str
    skip: int = 0
    notice: str = ""


def find_encoding(data: memoryview, wanted: str | None) -> Encoding:
    """Encoding of a text file. Raises TableError that names the byte which no encoding explains.

    Args:
        data: the whole file.
        wanted: the person's choice, or None to detect UTF-8, UTF-16 and Latin-1 (as Windows-1252).
    """
    head = bytes(data[:4096])
    if wanted is not None:
        return _chosen(data, head, wanted)
    if head.startswith(codecs.BOM_UTF8):
        _require(data, "utf-8", 3)
        return Encoding(name="utf-8", skip=3)
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark) and not head.startswith(codecs.BOM_UTF32_LE):
            _require(data, name, 2)
            return Encoding(name=name, skip=2, notice="read as UTF-16")
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if even + odd and len(head) >= 4:
        for zeros, others, name in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
            if zeros > 0.4 * (len(head) // 2) and others == 0:
                _require(data, name, 0)
                return Encoding(name=name, notice="read as UTF-16 (no byte order mark)")
    _refuse_binary(data)
    bad = first_invalid(data, "utf-8", 0)
    if bad is None:
        return Encoding(name="utf-8")
    at, truncated = bad
    if truncated or _mostly_utf8(data):
        msg = f"byte {at} is not valid UTF-8 in a file that otherwise is; repair the file, or name its encoding"
        raise TableError(msg)
    name = "cp1252" if first_invalid(data, "cp1252", 0) is None else "latin-1"
    return Encoding(
        name=name, notice="not UTF-8: read as Latin-1 (Western European); choose another if letters look wrong"
    )


def _chosen(data: memoryview, head: bytes, wanted: str) -> Encoding:
    try:
        name = codecs.lookup(wanted).name
    except LookupError as error:
        msg = f"unknown encoding '{wanted}'; try utf-8, latin-1, cp1252 or utf-16"
        raise TableError(msg) from error
    if name == "utf-16":
        big = head.startswith(codecs.BOM_UTF16_BE)
        marked = big or head.startswith(codecs.BOM_UTF16_LE)
        name, skip = ("utf-16-be" if big else "utf-16-le"), (2 if marked else 0)
    else:
        name = "utf-8" if name == "utf-8-sig" else name
        skip = 3 if name == "utf-8" and head.startswith(codecs.BOM_UTF8) else 0
    _require(data, name, skip)
    return Encoding(name=name, skip=skip)


def _require(data: memoryview, name: str, skip: int) -> None:
    bad = first_invalid(data, name, skip)
    if bad is not None:
        msg = f"byte {bad[0]} is not valid {name.upper()}; repair the file, or name another encoding"
        raise TableError(msg)


def _refuse_binary(data: memoryview) -> None:
    head = bytes(data[:SAMPLE])
    odd = len(head) - len(head.translate(None, BINARY))
    if odd > max(1, len(head) // 200):
        msg = "the file is not a text table (it holds binary bytes); give CSV, TSV, Parquet or Excel"
        raise TableError(msg)


def first_invalid(data: memoryview, name: str, skip: int) -> tuple[int, bool] | None:
    """Offset of the first byte that does not decode, and whether the file ends inside a character; None: all do."""
    decoder = codecs.getincrementaldecoder(name)()
    for start in range(skip, max(len(data), skip + 1), STEP):
        part = data[start : start + STEP]
        kept = len(decoder.getstate()[0])
        try:
            decoder.decode(bytes(part), final=start + STEP >= len(data))
        except UnicodeDecodeError as error:
            return start - kept + error.start, error.reason == "unexpected end of data"
        except UnicodeError:
            return start, False
    return None


def _mostly_utf8(data: memoryview) -> bool:
    """Whether more characters beyond ASCII are valid UTF-8 than are not, in the first 16 MiB."""
    text = bytes(data[:STEP]).decode("utf-8", errors="replace")
    beyond = len(text) - len(text.encode("ascii", errors="ignore"))
    wrong = text.count("\ufffd")
    return beyond - wrong > wrong


def find_nul(data: memoryview) -> int | None:
    """Offset of the first NUL byte, or None."""
    for start in range(0, len(data), STEP):
        at = bytes(data[start : start + STEP]).find(0)
        if at >= 0:
            return start + at
    return None


def sample_lines(text: str, whole: bool) -> str:
    """The text cut after its last complete line, unless it is the whole file."""
    if whole:
        return text
    end = max(text.rfind("\n"), text.rfind("\r"))
    return text[: end + 1] if end >= 0 else text


def find_delimiter(text: str, *, prefer: str = ",") -> str:
    """The delimiter under which the most lines have as many cells as the first one; `prefer` when none splits it.

    Args:
        text: the first lines of the file.
        prefer: taken when candidates are as good, or none splits the header.
    """
    best, score = prefer, (0.0, 0)
    for delimiter in (prefer, *(d for d in DELIMITERS if d != prefer)):
        rows = rows_of(text, delimiter, 200)
        width = len(rows[0]) if rows else 1
        if width < 2:
            continue
        agree = sum(len(r) == width for r in rows) / len(rows)
        if (agree, width) > score and not (agree < 0.5 and score[0] > 0):
            best, score = delimiter, (agree, width)
    return best


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


def uses_decimal_comma(rows: list[list[str]]) -> bool:
    """Whether some cell below the headers is a number such as 12,5: then the person is told how it is read."""
    cells = (c.strip().lstrip("+-") for row in rows[1:] for c in row)
    return any("," in c and c.replace(",", "", 1).isdigit() for c in cells)
