"""Delimited text in batches: CSV and TSV (gzip too), cut where a record ends, each piece read as a table of its own.

The form of the file (encoding, delimiter, decimal mark, headers) follows from its first line or from what is declared,
as where it is read whole; so a record reads the same in whatever piece it stands.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from dpsyn_core.errors import TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import WHOLE, Batches, Share
from dpsyn_core.tables.cells.canonical import COMMA, UNREADABLE
from dpsyn_core.tables.confines import steady
from dpsyn_core.tables.kinds import HEAD, kind_of
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text import encodings as sniffing
from dpsyn_core.tables.text import lines
from dpsyn_core.tables.text import table as delimited

PIECE = 1 << 23  # bytes of a batch, about: it grows until a record ends
LEAST_HEAD = 4 * sniffing.SAMPLE  # bytes of a file that are looked at: a letter may have four of them


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """The public form of one file.

    names: what columns are called. records: the byte where records begin; right where line ends are those of ASCII.
    facts: as of `delimited`.
    """

    encoding: sniffing.Encoding
    top: delimited.Top
    names: list[str]
    comma: bool
    records: int
    facts: dict[str, Any]


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
    notices: list[Notice] = []
    odd: list[str] = []
    found = _form(_start(raw, form), path.name, form, notices, odd)

    def read() -> Iterator[Any]:
        if share == WHOLE:
            records = lines.below(_text(raw(), found.encoding, strict=form.strict), found.top.lines)
            return _tables(records, found, form, odd, before=found.top.lines)
        part = _lines(path, share, piece, found.records)
        return _tables(_text(part, replace(found.encoding, skip=0), strict=False), found, form, odd)

    return Batches(
        columns=tuple(found.names), read=read, size=path.stat().st_size, notices=tuple(notices), odd=odd, **found.facts
    )  # fmt: skip


def divisible(path: Path, form: ReadForm) -> bool:
    """Whether shares of a file can be read apart: its lines are its records, and begin behind a byte that ends one.

    Not with `form.strict`, whose refusals name the line of the file.
    """
    if form.multiline or form.strict:
        return False
    with steady(path) as here, here.open("rb") as file:
        head = file.read(sniffing.SAMPLE)
    headed = form.header is None
    if kind_of(path.name, head, headed=headed) != "text":
        return False
    encoding = sniffing.find_encoding(memoryview(head), form.encoding, headed=headed).name
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
            found = sniffing.find_encoding(memoryview(head), form.encoding, headed=form.header is None)
            if delimited.holds_headers(_decoded(bytes(head), found), form):
                break
    return bytes(head)


def _decoded(head: bytes, found: sniffing.Encoding) -> memoryview:
    """The head of a file as `lines.normalised` text."""
    decoder = codecs.getincrementaldecoder(found.name)("replace")
    return lines.normalised(memoryview(decoder.decode(head[found.skip :]).encode("utf-8", "replace")))


def _form(head: bytes, name: str, form: ReadForm, notices: list[Notice], odd: list[str]) -> _Found:
    """The public form, by the rules of `text.table`."""
    data = memoryview(head)
    found = sniffing.find_encoding(data, form.encoding, headed=form.header is None)
    if form.strict and not found.name.startswith(("utf-16", "utf-32")):
        sniffing.refuse_binary(data)
    notices += [found.notice] if found.notice else []
    text = _decoded(head, found)
    top = delimited.top_of(text, name.removesuffix(".gz"), form, notices)
    names, said = headers.named(top.written, strict=form.strict)
    notices += said
    return _Found(
        encoding=found, top=top, names=names, comma=delimited.decimal_comma(text[top.size :], top.delimiter, form, odd),
        records=lines.behind(head, top.lines), facts=delimited.facts(text, top, found.name, form),
    )  # fmt: skip


def _tables(
    records: Iterator[bytes], found: _Found, form: ReadForm, odd: list[str], *, before: int = 0
) -> Iterator[Any]:  # fmt: skip
    """The records as text columns, piece by piece; sentences about the whole file are added to `odd` at the end.

    There is one piece at least, also where there is no record. before: lines of the file above the records.
    """
    broken, first, unreadable, nothing = 0, None, False, True
    for data in _pieces(records, found, form):
        if found.encoding.name != "utf-8":
            unreadable = unreadable or UNREADABLE.encode() in data
        elif sniffing.first_invalid(memoryview(data), "utf-8", 0) is not None:
            data, unreadable = data.decode("utf-8", "replace").encode("utf-8"), True  # noqa: PLW2901
        table, faults = _cells(data, found, form, before)
        if faults is not None and faults.first is not None:
            broken += len(faults)
            first = faults.first.moved(before) if first is None else first
        before, nothing = before + data.count(b"\n"), False
        yield table
    if nothing:
        yield _cells(b"", found, form, before)[0]
    odd += [s for s in _said(found, form, broken, first, unreadable) if s not in odd]


def _cells(data: bytes, found: _Found, form: ReadForm, before: int) -> tuple[Any, lines.Faults | None]:
    """A piece as a table, and what was wrong with it."""
    table, faults = delimited.cells_of(
        memoryview(data), found.top.written, found.top.delimiter, multiline=form.multiline, strict=form.strict,
        before=before,
    )  # fmt: skip
    table = table.rename_columns(found.names)
    return table.replace_schema_metadata(COMMA) if found.comma else table, faults


def _text(raw: Iterator[bytes], encoding: sniffing.Encoding, *, strict: bool) -> Iterator[bytes]:
    """The text as whole lines of UTF-8 that end in LF; see `_utf8`."""
    return lines.whole_lines(_utf8(raw, encoding, strict=strict))


def _utf8(raw: Iterator[bytes], encoding: sniffing.Encoding, *, strict: bool) -> Iterator[bytes]:
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


def _pieces(records: Iterator[bytes], found: _Found, form: ReadForm) -> Iterator[bytes]:
    """Whole lines; where cells may hold line ends, as many as end where a record does."""
    held = b""
    for data in records:
        held += data
        end = len(held)
        if form.multiline:
            end = lines.record_end(memoryview(held), found.top.delimiter, first=False)
        if end:
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def _said(
    found: _Found, form: ReadForm, broken: int, first: lines.Fault | None, unreadable: bool
) -> list[Notice]:  # fmt: skip
    out = []
    if unreadable:
        out.append(Notice("undecoded", encoding=found.encoding.name.upper()))
    if first is not None:
        out.append(delimited.unfit(broken, first, len(found.names), multiline=form.multiline))
    return out
