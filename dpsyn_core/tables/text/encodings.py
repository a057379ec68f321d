"""Encodings: which one a text has, by its header line alone, and its bytes as UTF-8."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from dpsyn_core.errors import TableError
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.text import lines

STEP = 1 << 24
SAMPLE = 1 << 16
STATEFUL = ("2022", "hz", "utf7", "punycode", "idna", "escape")  # in names of encodings whose bytes change what follows
BINARY = bytes(set(range(32)) - {9, 10, 12, 13})  # control bytes that no text table holds


@dataclass(frozen=True, kw_only=True, slots=True)
class Encoding:
    """name: of Python's codec; skip: bytes of a mark at the start; notice: what to tell, or None."""

    name: str
    skip: int = 0
    notice: Notice | None = None


def find_encoding(data: memoryview, wanted: str | None, *, headed: bool = True) -> Encoding:
    """Encoding of a text file: the person's choice, or a public rule that looks at the header line alone.

    A mark at the start says UTF-8 or UTF-16, and so do zero bytes beside its first two letters; a header line that is
    not UTF-8 makes the file Windows-1252 (Western European), or where most of its letters are Japanese, Cyrillic or
    Greek ones, Shift JIS, Windows-1251 or Windows-1253. All other files are UTF-8. No record is looked at, so that
    no record decides how those of others are read.

    Args:
        data: the whole file.
        wanted: the declared encoding, or None for the rule.
        headed: whether the first line holds the headers; where it is a record, it decides nothing: the file is UTF-8
            unless another encoding is declared, and no mark is looked for.

    Raises:
        TableError: unknown or unfit encoding, or a header line with control bytes: the file is no text.
    """
    if not headed:
        return _declared(wanted)
    head = bytes(data[:4])
    if wanted is not None:
        return _chosen(head, wanted)
    if head.startswith(codecs.BOM_UTF8):
        return Encoding(name="utf-8", skip=3)
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark) and not head.startswith(codecs.BOM_UTF32_LE):
            return Encoding(name=name, skip=2, notice=Notice("utf16"))
    for low, high, name in ((head[0::2], head[1::2], "utf-16-le"), (head[1::2], head[0::2], "utf-16-be")):
        if high == b"\0\0" and 0 not in low:
            return Encoding(name=name, notice=Notice("utf16_unmarked"))
    line = lines.first_line(data)
    text = first_invalid(memoryview(line), "utf-8", 0) is None
    binary = len(line) > len(line.translate(None, BINARY))
    if not text and not binary:
        from dpsyn_core.tables.text.alphabets import of_letters

        if (guessed := of_letters(line)) is not None:
            return Encoding(name=guessed, notice=Notice("guessed", encoding=guessed))
    if binary or not (text or first_invalid(memoryview(line), "cp1252", 0) is None):
        msg = "the file is not a text table (its first line holds binary bytes); give CSV, TSV, Parquet or Excel"
        raise TableError(msg)
    if text:
        return Encoding(name="utf-8")
    return Encoding(name="cp1252", notice=Notice("latin"))


def _chosen(head: bytes, wanted: str) -> Encoding:
    try:
        name = codecs.lookup(wanted).name
        usable = wanted.isprintable() and "a,1\r\n".encode(name).decode(name) == "a,1\r\n"
    except (LookupError, ValueError) as error:
        msg = f"unknown encoding '{wanted[:40]}'; try utf-8, latin-1, cp1252 or utf-16"
        raise TableError(msg) from error
    if not usable or any(word in re.sub("[-_]", "", name) for word in STATEFUL):
        msg = f"the encoding '{name}' lets one line change how the next is read; save the file as UTF-8"
        raise TableError(msg)
    if name in ("utf-16", "utf-32"):
        unit = int(name[4:]) // 8
        big = head.startswith(getattr(codecs, f"BOM_UTF{name[4:]}_BE"))
        marked = big or head.startswith(getattr(codecs, f"BOM_UTF{name[4:]}_LE"))
        return Encoding(name=f"{name}-be" if big else f"{name}-le", skip=unit if marked else 0)
    name = "utf-8" if name == "utf-8-sig" else name
    return Encoding(name=name, skip=3 if name == "utf-8" and head.startswith(codecs.BOM_UTF8) else 0)


def _declared(wanted: str | None) -> Encoding:
    """The encoding of a file without a header line, whose first bytes are somebody's."""
    chosen = _chosen(b"", wanted or "utf-8")
    if wanted is not None and codecs.lookup(wanted).name in ("utf-16", "utf-32"):
        msg = (
            f"the encoding '{codecs.lookup(wanted).name}' takes its byte order from the first bytes, which are a "
            f"record where the headers are given; say '{chosen.name}' or '{chosen.name[:-2]}be'"
        )
        raise TableError(msg)
    return chosen


def refuse_binary(data: memoryview) -> None:
    """Raises TableError for a file whose first 64 KiB hold more control bytes than text does."""
    head = bytes(data[:SAMPLE])
    if len(head) - len(head.translate(None, BINARY)) > max(1, len(head) // 200):
        msg = "the file is not a text table (it holds binary bytes); give CSV, TSV, Parquet or Excel"
        raise TableError(msg)


def repaired(data: memoryview, name: str, skip: int) -> bytes | None:
    """The bytes as UTF-8, what does not decode replaced by U+FFFD; None when they are valid UTF-8 as they stand.

    What one cell holds changes no other one: a byte below 128 always ends what does not decode in UTF-8, single bytes
    are whole letters, and no other encoding that is allowed has a line end inside a letter.
    """
    if name == "utf-8" and first_invalid(data, name, skip) is None:
        return None
    decoder = codecs.getincrementaldecoder(name)("replace")
    parts = [
        decoder.decode(bytes(data[i : i + STEP]), final=i + STEP >= len(data)).encode("utf-8", "replace")
        for i in range(skip, len(data), STEP)
    ]
    return b"".join(parts)


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


def find_nul(data: memoryview) -> int | None:
    """Offset of the first NUL byte, or None."""
    for start in range(0, len(data), STEP):
        at = bytes(data[start : start + STEP]).find(0)
        if at >= 0:
            return start + at
    return None


def refuse_undecodable(data: memoryview, encoding: str, skip: int) -> None:
    """Raises TableError for the first byte that does not decode, or is NUL."""
    wide = encoding.startswith(("utf-16", "utf-32"))
    if not wide:
        refuse_binary(data)
    bad = first_invalid(data, encoding, skip)
    if bad is not None:
        msg = f"byte {bad[0]} is not valid {encoding.upper()}; repair the file, or name another encoding"
        raise TableError(msg)
    nul = None if wide else find_nul(data)
    if nul is not None:
        msg = f"byte {nul} is NUL, which no text table holds; repair the file, or name its encoding"
        raise TableError(msg)
