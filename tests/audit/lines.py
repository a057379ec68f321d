"""Is a line read by itself? Fuzzing of line ends, blank lines and first records in delimited text.

A file is made of lines of one to three columns. What each line becomes alone is worked out once, from a plain file with
a header line. A file must become the sum of its lines, and so must its neighbour, in which one line was changed or
added; that is compared directly too: all other records stay as they are. The lines of a file are found by a regular
expression here, not by the code under test. Line ends are LF, CR, CR LF or mixed; the header stands in the file or is
declared; the encoding is declared or not; the file is read whole (bytes, path, gzip), in pieces and shares of several
sizes, and in the parts that executors of Spark read.
"""

import gzip
import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from unittest import mock

import pyarrow as pa

from dpsyn_core.tables import read as opening
from dpsyn_core.tables.batches import Share
from dpsyn_core.tables.read import open_table, parts_of
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.text.batches import divisible, text_batches
from tests.audit.gates import Alarm
from tests.audit.layers import alarm
from tests.tables.reading import read

ENDS = {"LF": [b"\n"], "CR": [b"\r"], "CRLF": [b"\r\n"], "mixed": [b"\n", b"\r", b"\r\n"]}
READERS = ("bytes", "path", "gzip", "gzip pieces", "pieces", "shares", "place", "parts")
# beginnings by which other kinds of files are known, and bytes that are no text
MARKS = [
    b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"%PDF-1.7", b"SQLite format 3\0", b"BZh9",
    b"ARROW1", b"\xd0\xcf\x11\xe0", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf", b"\xef\xbb\xbf" * 2,
    b"\0\0\xfe\xff", b"a\0b\0", b"\0a\0b", b"{", b'{"a": 1}', b"<html>", b"<?xml version='1.0'?>", b"[1]",
]  # fmt: skip
CELLS = [
    b"1", b"x", b"", b"", b" ", b"\t", b'""', b'"q"', b'"', b'"x', b'x"', b'"a"b', b"\xe9", "é".encode(), b"\x81",
    b"\0", b"\x0b", b"\x0c", b"\x1a", b"\x85", "\u2028".encode(), "\ufeff".encode(), b"0.5", b"1,5", b";", b"a;b",
]  # fmt: skip


@dataclass
class Tally:
    """Files that were read, and what was wrong: a sentence for each kind of failure, with how often and one case."""

    files: int = 0
    failed: Counter = field(default_factory=Counter)
    example: dict = field(default_factory=dict)

    def wrong(self, what, data):
        self.failed[what] += 1
        self.example.setdefault(what, data)


def line(rng, columns, *, first):
    """The bytes of a line, without its end: blank, ordinary, torn, or like the beginning of another kind of file."""
    way = rng.random()
    if way < 0.3:
        return b""
    cells = [rng.choice(CELLS if rng.random() < 0.5 else CELLS[:3]) for _ in range(columns)]
    if way < 0.4:
        cells = cells[:-1] if rng.random() < 0.5 else [*cells, b"z"]
    out = b",".join(cells)
    return rng.choice(MARKS) + out if rng.random() < (0.4 if first else 0.05) else out


@dataclass
class File:
    """Lines with their ends; the first is the header, unless that is declared."""

    columns: int
    declared: bool
    lines: list
    ends: list
    closed: bool  # whether the last line has an end
    encoding: str | None  # declared, or not
    mark: bytes  # before a header line

    @property
    def names(self):
        return ["a", "b", "c"][: self.columns]

    @property
    def header(self):
        return ",".join(self.names)

    def records(self):
        """The bytes below the header, and those of the header with its end."""
        body = b"".join(text + end for text, end in zip(self.lines, self.ends, strict=True))
        if not self.closed and self.lines:
            body = body[: len(body) - len(self.ends[-1])]
        return body

    def bytes(self, end):
        """All of the file; `end` is that of the header."""
        return self.records() if self.declared else self.mark + self.header.encode() + end + self.records()


def split(data):
    """The lines of a text by the rule of the guarantee, by a regular expression: LF, CR LF and CR each end one."""
    out = re.split(rb"\r\n|\n|\r", data)
    return out if out[-1] else out[:-1]


def made(rng, kind):
    """A file of a kind of line ends."""
    columns = rng.randint(1, 3)
    size = rng.choice([0, 1, 1, 2, 3, 5, 8])
    lines = [line(rng, columns, first=i == 0) for i in range(size)]
    ends = [rng.choice(ENDS[kind]) for _ in lines]
    encoding = rng.choice([None, None, None, "utf-8", "latin-1"])
    mark = rng.choice([b"", b"", b"\xef\xbb\xbf"]) if encoding != "latin-1" else b""
    return File(columns, rng.random() < 0.5, lines, ends, rng.random() < 0.7, encoding, mark)


def neighbour(rng, file, kind):
    """The file with one line changed, or one more line."""
    lines, ends = list(file.lines), list(file.ends)
    if lines and rng.random() < 0.5:
        i = rng.randrange(len(lines))
        lines[i] = line(rng, file.columns, first=i == 0)
    else:
        i = rng.randint(0, len(lines))
        lines.insert(i, line(rng, file.columns, first=i == 0))
        ends.insert(i, rng.choice(ENDS[kind]))
    return replace(file, lines=lines, ends=ends)


class Lone:
    """What lines become alone, each worked out once: between two plain lines of a plain file with a header."""

    def __init__(self):
        self._known = {}

    def __call__(self, text, columns, encoding):
        key = (text, columns, encoding)
        if key not in self._known:
            plain = b",".join([b"k"] * columns)
            data = b"\n".join([b",".join([b"a", b"b", b"c"][:columns]), plain, text, plain, b""])
            found = counted(read(data, name="t.csv", delimiter=",", encoding=encoding).table)
            found.subtract([("k",) * columns] * 2)
            self._known[key] = +found
        return self._known[key]


def counted(table):
    """The records of a table as a multiset."""
    return Counter(zip(*(c.to_pylist() for c in table.columns), strict=True))


def taken(reader, data, file, path, rng):
    """What one reader makes of the bytes of a file."""
    said = {"delimiter": ",", "encoding": file.encoding, "header": file.header if file.declared else None}
    if reader == "bytes":
        return counted(read(data, name="t.csv", **said).table)
    packed = reader.startswith("gzip")
    place = path / ("t.csv.gz" if packed else "t.csv")
    place.write_bytes(gzip.compress(data, 1) if packed else data)
    if reader in ("path", "gzip"):
        return counted(read(place, **said).table)
    form = ReadForm(**said)
    piece = rng.choice([1, 2, 3, 5, 8, 13, 40])
    if reader == "place":
        parts = [open_table(place, form)]
    elif reader == "parts":
        with mock.patch.object(opening, "PART", piece):
            parts = parts_of(place, form)[1]
    elif reader == "shares" and divisible(place, form):
        of = rng.randint(2, 4)
        parts = [text_batches(place, form, piece=piece, share=Share(i, of)) for i in range(of)]
    else:
        parts = [text_batches(place, form, piece=piece)]
    return counted(pa.concat_tables([t for part in parts for t in part.read()]))


def expected(file, lone):
    """The sum of what the lines become alone."""
    found = Counter()
    for text in split(file.records()):
        found.update(lone(text, file.columns, file.encoding))
    return found


def fuzz(tally, seed, path, lone, *, pairs=1, readers=None):
    """Makes so many neighbours with every kind of line ends, and reads both files of each; adds to the tally."""
    rng = random.Random(seed)
    for _ in range(pairs):
        for kind, choices in ENDS.items():
            one = made(rng, kind)
            two = neighbour(rng, one, kind)
            end = rng.choice(choices)
            if not one.declared and end == b"\r" and b"\n" in (one.records()[:1], two.records()[:1]):
                end = b"\r\n"  # CR and LF would be one end
            reader = rng.choice(readers or READERS)
            what = f"{kind}, {one.columns} columns, header {'declared' if one.declared else 'written'}, {reader}"
            both = []
            for file in (one, two):
                data = file.bytes(end)
                tally.files += 1
                try:
                    both.append(taken(reader, data, file, path, rng))
                except Exception as error:  # noqa: BLE001  (a refusal tells as much as a failure)
                    tally.wrong(f"{what}: refused", (data, f"{type(error).__name__}: {error}"))
                    continue
                if both[-1] != expected(file, lone):
                    tally.wrong(f"{what}: not the sum of its lines", (data, both[-1]))
            lines = [Counter(split(file.records())) for file in (one, two)]
            if len(both) == 2 and _apart(*lines) <= 1 and _apart(*both) > 1:  # ends that join make two lines one
                tally.wrong(f"{what}: neighbours differ in several records", (one.bytes(end), two.bytes(end)))


def _apart(one, two):
    """How many records have to be changed, added or taken away to make one multiset of the other."""
    return max((one - two).total(), (two - one).total())


def lines_fuzzed(seeds, path, *, pairs=25, readers=None):
    """Runs so many seeds; the number of files. Raises Alarm with the first failure."""
    tally, lone = Tally(), Lone()
    for seed in seeds:
        fuzz(tally, seed, path, lone, pairs=pairs, readers=readers)
        for what in tally.failed:
            raise Alarm(f"seed {seed}: {what}: {tally.example[what]!r}")
    alarm(tally.files < 8 * pairs * len(seeds), "fewer files were read than were made")
    return tally.files
