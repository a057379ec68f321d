"""What kind of file it is: by its first bytes where it has headers of its own, by its name where they are declared.

The first bytes of a text without headers are somebody's record, which must not decide how the others are read.
"""

from __future__ import annotations

from typing import Literal

from dpsyn_core.errors import TableError

Kind = Literal["text", "gzip", "parquet", "excel"]
HEAD = 8  # bytes that tell a kind
MARKS: tuple[tuple[bytes, Kind], ...] = ((b"\x1f\x8b", "gzip"), (b"PAR1", "parquet"), (b"PK\x03\x04", "excel"))
ENDINGS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    ((".gz",), "gzip"), ((".parquet",), "parquet"), ((".xlsx", ".xlsm"), "excel"),
)  # fmt: skip
OTHERS = (
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel file (.xls), or one with a password; save it as .xlsx without one",
    ),
    (b"BZh", "compressed by bzip2; inflate it first"),
    (b"\xfd7zXZ", "compressed by xz; inflate it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; inflate it first"),
    (b"ARROW1", "an Arrow file; save it as Parquet"),
    (b"SQLite", "an SQLite database; name one of its tables as the source"),
    (b"\x89PNG", "an image; give CSV, TSV, Parquet or Excel"),
    (b"\xff\xd8\xff", "an image; give CSV, TSV, Parquet or Excel"),
    (b"GIF8", "an image; give CSV, TSV, Parquet or Excel"),
    (b"%PDF", "a PDF; give CSV, TSV, Parquet or Excel"),
)


def kind_of(name: str, head: bytes, *, headed: bool = True) -> Kind:
    """The kind of a file; whatever is not known is text.

    Args:
        name: of the file, which is public.
        head: its first bytes.
        headed: whether it holds its headers. Where they are declared (`--header`), the name alone decides.

    Raises:
        TableError: a kind that is not read, or that always has headers of its own.
    """
    if headed:
        for mark, what in OTHERS:
            if head.startswith(mark):
                msg = f"the file is {what}"
                raise TableError(msg)
        known: Kind = next((kind for mark, kind in MARKS if head.startswith(mark)), "text")
        return known
    found: Kind = next((kind for endings, kind in ENDINGS if name.lower().endswith(endings)), "text")
    if found == "parquet":
        msg = "headers are given, and a Parquet file has its own; leave --header out, or rename the file if it is text"
        raise TableError(msg)
    return found
