"""What kind of file it is: by its first bytes where it contains headers, by its name where they are declared.

The first bytes of a text without headers are somebody's record, which must not decide how the others are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dpsyn_core.errors import TableError

Kind = Literal["text", "gzip", "parquet", "excel", "labelled"]
HEAD = 16  # bytes that tell a kind
MARKS: tuple[tuple[bytes, Kind], ...] = ((b"\x1f\x8b", "gzip"), (b"PAR1", "parquet"), (b"PK\x03\x04", "excel"))
ENDINGS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    ((".gz",), "gzip"),
    ((".parquet",), "parquet"),
    ((".xlsx", ".xlsm", ".ods"), "excel"),
    ((".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"), "labelled"),
)
# files with labels: how each kind begins, the program that writes it, and how its name ends
LABELLED_MARKS = {b"$FL2": "sav", b"$FL3": "sav", b"<stata_dta>": "dta", b"\0" * 12 + b"\xc2\xea\x81\x60": "sas7bdat"}
LABELLED_MARKS |= {b"HEADER RECORD***": "xport"}
PROGRAMS = {"sav": "SPSS", "dta": "Stata", "sas7bdat": "SAS", "xport": "SAS transport"}
LABELLED_ENDINGS = {".sav": "sav", ".zsav": "sav", ".dta": "dta", ".sas7bdat": "sas7bdat", ".xpt": "xport"}
OLDEST, NEWEST = 104, 119  # versions of Stata's format that can be read
DUCKDB = b"DUCK"  # behind a checksum of eight bytes, before the number of a version
OTHERS = (
    (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls), or one with a password; save it as .xlsx without one"),
    (b"BZh", "compressed by bzip2; inflate it first"),
    (b"\xfd7zXZ", "compressed by xz; inflate it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; inflate it first"),
    (b"ARROW1", "an Arrow file; save it as Parquet"),
    (b"SQLite", "an SQLite database; name one of its tables (--sql-table, or Database on the Data page)"),
    (DUCKDB, "a DuckDB database; name one of its tables (--sql-table, or Database on the Data page)"),
    (b"\x89PNG", "an image; give CSV, TSV, Parquet or Excel"),
    (b"%PDF", "a PDF; give CSV, TSV, Parquet or Excel"),
    (b"ASCII SPSS PORT", "a portable SPSS file (.por); save it as .sav"),
    (
        b"\0" * 12 + b"\xc2\xea\x81\x63",
        "a catalogue of SAS formats (.sas7bcat), which is not read; give the table itself (.sas7bdat) for its codes, "
        "and a codebook, or the table as an SPSS or Stata file, for their labels",
    ),
    (b"\x80\x04\x95", "a Python pickle, which is never opened; save the table as Parquet"),
    (b"\x80\x05\x95", "a Python pickle, which is never opened; save the table as Parquet"),
)


def kind_of(name: str, head: bytes, *, headed: bool = True) -> Kind:
    """The kind of a file; whatever is not recognised is text.

    Args:
        name: of the file, which is public.
        head: its first bytes.
        headed: whether it holds its headers. Where they are declared (`--header`), the name alone decides.

    Raises:
        TableError: a kind that is not read, or that always contains headers.
    """
    if headed:
        refuse_others(head)
        marked: Kind = next((kind for mark, kind in MARKS if head.startswith(mark)), "text")
        if marked == "text" and kind_of_labelled(name, head) is not None:
            return "labelled"
        return marked
    by_name: Kind = next((kind for endings, kind in ENDINGS if name.lower().endswith(endings)), "text")
    if by_name in ("parquet", "labelled"):
        what = "a Parquet file" if by_name == "parquet" else "a file of SPSS, Stata or SAS"
        msg = f"headers are given, and {what} has its own; leave --header out, or rename the file if it is text"
        raise TableError(msg)
    return by_name


def refuse_others(head: bytes) -> None:
    """Raises TableError for a file whose first bytes are of a recognised kind that is never read."""
    for mark, what in OTHERS:
        if head.startswith(mark) or (mark == DUCKDB == head[8:12] and head[14:16] == bytes(2)):
            msg = f"the file is {what}"
            raise TableError(msg)


def kind_of_labelled(name: str, head: bytes) -> str | None:
    """Whether the first bytes are of such a file; the name says which one it should have been.

    Raises:
        TableError: the name is that of such a file and the bytes are not, or they are of a version that is not read.
    """
    found = next((kind for mark, kind in LABELLED_MARKS.items() if head.startswith(mark)), None)
    if found is None and len(head) > 3 and head[1] in (1, 2) and head[2:4] in (b"\1\0", b"\1\1"):
        if not OLDEST <= head[0] <= NEWEST:
            msg = (
                f"the file is a Stata file of version {head[0]}, and versions {OLDEST} to {NEWEST} can be read; save "
                "it again with a newer Stata, or as CSV"
            )
            raise TableError(msg)
        found = "dta"
    named = LABELLED_ENDINGS.get(Path(name).suffix.lower())
    if named is not None and found is None:
        msg = f"'{Path(name).name}' is called {PROGRAMS[named]} by its ending, and its content is not; export it again"
        raise TableError(msg)
    return found
