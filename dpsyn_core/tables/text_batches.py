"""Delimited text in batches: CSV and TSV (gzip too), cut where a record ends, each piece read as a file of its own.

The form of the file (encoding, delimiter, decimal mark, headers) follows from its first line alone, as where it is read
whole; so a record reads the same in whatever piece it stands.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from dpsyn_core.errors import TableError
from dpsyn_core.tables import delimited, headers, inflate, scanning, sniffing
from dpsyn_core.tables.batches import WHOLE, Batches, Share
from dpsyn_core.tables.canonical import UNREADABLE
from dpsyn_core.tables.confines import steady
from dpsyn_core.tables.notices import Notice

PIECE = 1 << 23  # bytes of a batch, at least: it grows until a record ends


@dataclass(frozen=True, kw_only=True, slots=True)
class TextForm:
    """What a person said about a delimited file; see `tables.read.read`."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    multiline: bool = False
    strict: bool = False
    header: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """The public form of one file. written: headers as they stand; names: what columns are called."""

    encoding: sniffing.Encoding
    delimiter: str
    written: list[str]
    names: list[str]
    comma: bool


def text_batches(path: Path, form: TextForm, *, piece: int | None = None, share: Share = WHOLE) -> Batches:
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
    raw = _raw(path, piece)
    notices: list[Notice] = []
    odd: list[str] = []
    found = _form(_start(raw), path.name, form, notices, odd)

    def read() -> Iterator[Any]:
        headed = form.header is None
        if share == WHOLE:
            return _tables(raw, found, form, piece, odd, headed=headed)
        first = share.number == 0
        form_here = found if first else replace(found, encoding=replace(found.encoding, skip=0))
        return _tables(partial(_lines, path, share, piece), form_here, form, piece, odd, headed=headed and first)

    return Batches(
        columns=tuple(found.names), read=read, size=path.stat().st_size, notices=tuple(notices), odd=odd
    )  # fmt: skip


def divisible(path: Path, form: TextForm) -> bool:
    """Whether shares of a file can be read apart: its lines are its records, and begin behind a byte that ends one.

    Not with `form.strict`, whose refusals name the line of the file.
    """
    if form.multiline or form.strict:
        return False
    with steady(path) as here, here.open("rb") as file:
        head = file.read(sniffing.SAMPLE)
    if head.startswith(b"\x1f\x8b"):
        return False
    return not sniffing.find_encoding(memoryview(head), form.encoding).name.startswith(("utf-16", "utf-32"))


def _lines(path: Path, share: Share, piece: int) -> Iterator[bytes]:
    """The bytes of the lines that begin in the share."""
    part = share.slice(path.stat().st_size)
    try:
        with steady(path) as here, here.open("rb") as file:
            start, stop = _line_start(file, part.start), _line_start(file, part.stop)
            file.seek(start)
            while start < stop and (data := file.read(min(piece, stop - start))):
                start += len(data)
                yield data
    except OSError as error:
        msg = f"'{path}' cannot be read ({error.strerror}); check the path"
        raise TableError(msg) from error


def _line_start(file: BinaryIO, at: int) -> int:
    """The first byte from here on that begins a line, or the size of the file."""
    if at == 0:
        return 0
    start = at - 1  # the byte before may end a line
    file.seek(start)
    while data := file.read(1 << 16):
        ends = [i for i in (data.find(b"\n"), data.find(b"\r")) if i >= 0]
        if ends:
            end = start + min(ends)
            file.seek(end)
            return end + (2 if file.read(2) == b"\r\n" else 1)
        start += len(data)
    return start


def _raw(path: Path, piece: int) -> Callable[[], Iterator[bytes]]:
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
        return inflated if file.read(2) == b"\x1f\x8b" else plain


def _start(raw: Callable[[], Iterator[bytes]]) -> bytes:
    """The head of the file: the first line, and enough below it to tell the person how cells look."""
    head = b""
    for data in raw():
        head += data
        line = head.lstrip(b"\r\n")
        if len(head) > sniffing.HEADER_LIMIT or (
            len(head) >= sniffing.SAMPLE and (b"\n" in line or b"\r" in line)
        ):  # fmt: skip
            break
    return head


def _form(head: bytes, name: str, form: TextForm, notices: list[Notice], odd: list[str]) -> _Found:
    """The public form, by the rules of `tables.delimited`."""
    data = memoryview(head)
    found = sniffing.find_encoding(data, form.encoding, headed=form.header is None)
    if form.strict and not found.name.startswith(("utf-16", "utf-32")):
        sniffing.refuse_binary(data)
    notices += [found.notice] if found.notice else []
    decoder = codecs.getincrementaldecoder(found.name)("replace")
    body = decoder.decode(head[found.skip :]).encode("utf-8", "replace")
    if form.header is not None:
        body = delimited.header_line(form.header) + body
        notices.append(Notice("headers_given"))
    text = sniffing.sample_lines(body[: sniffing.SAMPLE].decode("utf-8", "ignore"), len(body) <= sniffing.SAMPLE)
    if not text.strip("\r\n"):
        msg = "the file holds no text; give a table with a header line"
        raise TableError(msg)
    written, chosen = delimited.names_of(
        memoryview(body), name.removesuffix(".gz"), form.delimiter, form.multiline, notices
    )
    names, said = headers.named(written, strict=form.strict)
    notices += said
    mark = delimited.decimal_of(sniffing.rows_of(text, chosen, 200), chosen, form.decimal, odd)
    comma = mark == "," or (form.decimal is None and chosen != ",")
    return _Found(encoding=found, delimiter=chosen, written=written, names=names, comma=comma)


def _tables(
    raw: Callable[[], Iterator[bytes]], found: _Found, form: TextForm, piece: int, odd: list[str],
    *, headed: bool = True,
) -> Iterator[Any]:  # fmt: skip
    """The records as text columns, piece by piece; sentences about the whole file are added to `odd` at the end.

    headed: whether the bytes begin with the headers.
    """
    lines, broken, first, unreadable = 0, 0, None, False
    for number, data in enumerate(_pieces(_utf8(raw, found.encoding, strict=form.strict), found, form, piece)):
        if found.encoding.name != "utf-8":
            unreadable = unreadable or UNREADABLE.encode() in data
        elif sniffing.first_invalid(memoryview(data), "utf-8", 0) is not None:
            data, unreadable = data.decode("utf-8", "replace").encode("utf-8"), True  # noqa: PLW2901
        if not number and headed:  # blank lines above the headers
            top = len(data) - len(data.lstrip(b"\r\n"))
            lines += data[:top].count(b"\n") + data[:top].count(b"\r") - data[:top].count(b"\r\n")
            data = data[top:]  # noqa: PLW2901
        before = lines - 1 if number or not headed else lines  # lines of the file above this piece and its headers
        table, faults = delimited.cells_of(
            memoryview(_headed(data, found) if number or not headed else data), found.written, found.delimiter,
            multiline=form.multiline, strict=form.strict, before=before,
        )  # fmt: skip
        if faults is not None and faults.first is not None:
            broken += len(faults)
            first = faults.first.moved(before) if first is None else first
        lines += data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
        table = table.rename_columns(found.names)
        yield table.replace_schema_metadata({b"dpsyn.decimal": b","}) if found.comma else table
    odd += [s for s in _said(found, form, broken, first, unreadable) if s not in odd]


def _utf8(raw: Callable[[], Iterator[bytes]], encoding: sniffing.Encoding, *, strict: bool) -> Iterator[bytes]:
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

    for part in raw():
        data, skip, at = part[skip:], max(0, skip - len(part)), at + min(skip, len(part))
        if strict and not wide and 0 in data:
            msg = f"byte {at + data.find(0)} is NUL, which no text table holds; repair the file, or name its encoding"
            raise TableError(msg)
        yield data if encoding.name == "utf-8" and not strict else decoded(data, final=False)
        at += len(data)
    yield b"" if encoding.name == "utf-8" and not strict else decoded(b"", final=True)


def _pieces(text: Iterator[bytes], found: _Found, form: TextForm, piece: int) -> Iterator[bytes]:
    """The text cut behind line ends that end a record. The first piece is there even where the file holds no record."""
    held = b""
    for data in text:
        held += data
        if len(held) < piece:
            continue
        end = scanning.last_end(memoryview(held), found.delimiter, multiline=form.multiline)
        if end:
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def _said(
    found: _Found, form: TextForm, broken: int, first: scanning.Fault | None, unreadable: bool
) -> list[Notice]:  # fmt: skip
    out = []
    if unreadable:
        out.append(Notice("undecoded", encoding=found.encoding.name.upper()))
    if first is not None:
        out.append(delimited.unfit(broken, first, len(found.names), multiline=form.multiline))
    return out


def _headed(data: bytes, found: _Found) -> bytes:
    """A piece from the middle of the file with the headers before it, so that it is a file of its own."""
    special = ('"', "\r", "\n", found.delimiter)
    cells = (
        '"' + name.replace('"', '""') + '"' if any(mark in name for mark in special) else name for name in found.written
    )
    end = b"\n" if b"\n" in data or b"\r" not in data else b"\r"
    return found.delimiter.join(cells).encode() + end + data
