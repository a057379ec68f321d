"""Delimited text in batches: CSV and TSV (gzip too), cut where a record ends, each piece read as a separate table.

The form of the file (encoding, delimiter, decimal mark, headers) follows from its first line or from what is declared,
as where it is read whole; so a record reads the same in whatever piece it stands.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from dpsyn_core.errors import TableError
from dpsyn_core.tables.batches import WHOLE, Batches, Share
from dpsyn_core.tables.cells.canonical_text import UNREADABLE
from dpsyn_core.tables.confines import steady
from dpsyn_core.tables.kinds import HEAD, kind_of
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text import encodings, lines, records
from dpsyn_core.tables.text.dialect import Dialect, dialect_of, holds_headers
from dpsyn_core.tables.text.encodings import SAMPLE, Encoding

PIECE = 1 << 23  # bytes of a batch, about: it grows until a record ends
LEAST_HEAD = 4 * SAMPLE  # bytes of a file that are looked at: a letter may have four of them


def text_batches(path: Path, form: ReadForm, *, piece: int | None = None, share: Share = WHOLE) -> Batches:
    """A delimited file in batches; reads its head now, and the records when asked.

    Args:
        path: CSV or TSV, or either compressed by gzip.
        form: what is declared about it.
        piece: about so many bytes make a batch; None: PIECE.
        share: of the lines, by where they begin; for files of which `divisible` holds.

    Raises:
        TableError: no text, blank headers, damaged compression; with `form.strict`, what `read` says.
    """
    piece = PIECE if piece is None else piece
    raw = _raw(path, piece, form)
    odd: list[str] = []
    head = _start(raw, form)
    encoding = encodings.find_encoding(memoryview(head), form.encoding, headed=form.header is None)
    dialect = _dialect(head, path.name, form, encoding, odd)
    first = lines.behind(head, dialect.lines)  # the byte where records begin, where line ends are those of ASCII

    def read() -> Iterator[Any]:
        if share == WHOLE:
            text = lines.below(_text(raw(), encoding, strict=form.strict), dialect.lines)
            return _tables(text, dialect, form, encoding, odd, before=dialect.lines)
        part = _lines(path, share, piece, first)
        return _tables(_text(part, replace(encoding, skip=0), strict=False), dialect, form, encoding, odd)

    return Batches(columns=dialect.names, read=read, size=path.stat().st_size, odd=odd, **dialect.facts)


def divisible(path: Path, form: ReadForm) -> bool:
    """Whether shares of a file can be read apart: its lines are its records, and begin behind a byte that ends one.

    Not with `form.strict`, whose refusals name the line of the file.
    """
    if form.multiline or form.strict:
        return False
    with steady(path) as here, here.open("rb") as file:
        head = file.read(SAMPLE)
    headed = form.header is None
    if kind_of(path.name, head, headed=headed) != "text":
        return False
    encoding = encodings.find_encoding(memoryview(head), form.encoding, headed=headed).name
    return "\r\n".encode(encoding) == b"\r\n"


def _lines(path: Path, share: Share, piece: int, first: int) -> Iterator[bytes]:
    """The bytes of the lines that begin in the share of what stands from byte `first` on."""
    part = share.slice(path.stat().st_size - first)
    try:
        with steady(path) as here, here.open("rb") as file:
            start, stop = (_line_start(file, first + at) if at else first for at in (part.start, part.stop))
            file.seek(start)
            while start < stop and (data := file.read(min(piece, stop - start))):
                start += len(data)
                yield data
    except OSError as error:
        msg = f"'{path}' cannot be read ({error.strerror}); check the path"
        raise TableError(msg) from error


def _line_start(file: BinaryIO, at: int) -> int:
    """The first byte from here on, behind the first, that begins a line; the size of the file where there is none."""
    start = at - 1  # the byte before may end a line
    file.seek(start)
    while data := file.read(1 << 16):
        found = lines.END.search(data)
        if found:
            end = start + found.start()
            file.seek(end)
            return end + (2 if file.read(2) == b"\r\n" else 1)
        start += len(data)
    return start


def _raw(path: Path, piece: int, form: ReadForm) -> Callable[[], Iterator[bytes]]:
    """The bytes of the file, inflated, from its start at every call."""

    def plain() -> Iterator[bytes]:
        try:
            with steady(path) as here, here.open("rb") as file:
                while data := file.read(piece):
                    yield data
        except OSError as error:
            msg = f"'{path}' cannot be read ({error.strerror}); check the path"
            raise TableError(msg) from error

    def inflated() -> Iterator[bytes]:
        from dpsyn_core.tables.text import inflation as inflate

        most = max(inflate.FREE, inflate.MAX_RATIO * path.stat().st_size)
        try:
            with steady(path) as here, gzip.open(here, "rb") as file:
                while data := file.read(piece):
                    most -= len(data)
                    if most < 0:
                        msg = (
                            f"the compressed file inflates to more than {inflate.MAX_RATIO} times its compressed "
                            "size; inflate it yourself and give the plain file"
                        )
                        raise TableError(msg)
                    yield data
        except EOFError as error:
            msg = "the compressed file is cut short; fetch it again"
            raise TableError(msg) from error
        except (zlib.error, OSError) as error:
            msg = "the compressed file is damaged; fetch it again"
            raise TableError(msg) from error

    with steady(path) as here, here.open("rb") as file:
        head = file.read(HEAD)
    return inflated if kind_of(path.name, head, headed=form.header is None) == "gzip" else plain


def _start(raw: Callable[[], Iterator[bytes]], form: ReadForm) -> bytes:
    """The head of the file: the headers, and enough below them to tell the person how cells look."""
    least = 2 * lines.HEADER_LIMIT if form.multiline and form.header is None else LEAST_HEAD
    head = bytearray()
    for data in raw():
        head += data
        if len(head) > 2 * lines.HEADER_LIMIT:
            break
        if len(head) >= least:
            encoding = encodings.find_encoding(memoryview(head), form.encoding, headed=form.header is None)
            if holds_headers(_decoded(bytes(head), encoding), form):
                break
    return bytes(head)


def _decoded(head: bytes, found: Encoding) -> memoryview:
    """The head of a file as `lines.normalised` text."""
    decoder = codecs.getincrementaldecoder(found.name)("replace")
    return lines.normalised(memoryview(decoder.decode(head[found.skip :]).encode("utf-8", "replace")))


def _dialect(head: bytes, name: str, form: ReadForm, encoding: Encoding, odd: list[str]) -> Dialect:
    """The dialect, by the head of the file."""
    if form.strict and not encoding.name.startswith(("utf-16", "utf-32")):
        encodings.refuse_binary(memoryview(head))
    return dialect_of(_decoded(head, encoding), name.removesuffix(".gz"), form, encoding, odd)


def _tables(
    text: Iterator[bytes], dialect: Dialect, form: ReadForm, encoding: Encoding, odd: list[str], before: int = 0
) -> Iterator[Any]:
    """The records as text columns, piece by piece; sentences about the whole file are added to `odd` at the end.

    There is one piece at least, also where there is no record. before: lines of the file above the records.
    """
    broken, first, unreadable, nothing = 0, None, False, True
    for data in _pieces(text, dialect, form):
        if encoding.name != "utf-8":
            unreadable = unreadable or UNREADABLE.encode() in data
        elif encodings.first_invalid(memoryview(data), "utf-8", 0) is not None:
            data, unreadable = data.decode("utf-8", "replace").encode("utf-8"), True  # noqa: PLW2901
        table, faults = records.table_of(memoryview(data), dialect, form, before=before)
        if faults is not None and faults.first is not None:
            broken += len(faults)
            first = faults.first.moved(before) if first is None else first
        before, nothing = before + data.count(b"\n"), False
        yield table
    if nothing:
        yield records.table_of(memoryview(b""), dialect, form, before=before)[0]
    notices = [Notice("undecoded", encoding=encoding.name.upper())] if unreadable else []
    if first is not None:
        notices.append(records.unfit(broken, first, len(dialect.names), multiline=form.multiline))
    odd += [notice for notice in notices if notice not in odd]


def _text(raw: Iterator[bytes], encoding: Encoding, *, strict: bool) -> Iterator[bytes]:
    """The text as whole lines of UTF-8 that end in LF; see `_utf8`."""
    return lines.whole_lines(_utf8(raw, encoding, strict=strict))


def _utf8(raw: Iterator[bytes], encoding: Encoding, *, strict: bool) -> Iterator[bytes]:
    """The text as UTF-8 without its mark; bytes that do not decode stay in UTF-8 files, and are U+FFFD in others.

    With `strict` such bytes are refused, and NUL bytes.
    """
    skip, at = encoding.skip, 0
    decoder = codecs.getincrementaldecoder(encoding.name)("strict" if strict else "replace")
    wide = encoding.name.startswith(("utf-16", "utf-32"))

    def decoded(data: bytes, *, final: bool) -> bytes:
        kept = len(decoder.getstate()[0])
        try:
            return decoder.decode(data, final=final).encode("utf-8", "replace")
        except UnicodeError as error:
            place = at - kept + (error.start if isinstance(error, UnicodeDecodeError) else 0)
            msg = f"byte {place} is not valid {encoding.name.upper()}; repair the file, or name another encoding"
            raise TableError(msg) from error

    for part in raw:
        data, skip, at = part[skip:], max(0, skip - len(part)), at + min(skip, len(part))
        if strict and not wide and 0 in data:
            msg = f"byte {at + data.find(0)} is NUL, which no text table holds; repair the file, or name its encoding"
            raise TableError(msg)
        yield data if encoding.name == "utf-8" and not strict else decoded(data, final=False)
        at += len(data)
    yield b"" if encoding.name == "utf-8" and not strict else decoded(b"", final=True)


def _pieces(text: Iterator[bytes], dialect: Dialect, form: ReadForm) -> Iterator[bytes]:
    """Whole lines; where cells may hold line ends, as many as end where a record does."""
    rest = b""
    for data in text:
        rest += data
        end = len(rest)
        if form.multiline:
            end = lines.record_end(memoryview(rest), dialect.delimiter, first=False)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest
