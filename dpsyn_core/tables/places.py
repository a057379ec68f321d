"""Places: a file, a folder or a pattern of files as one table in batches; every file has the same columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dpsyn_core.errors import TableError
from dpsyn_core.tables import confines, headers
from dpsyn_core.tables.batches import WHOLE, Batches, Share, of_frame
from dpsyn_core.tables.confines import steady
from dpsyn_core.tables.kinds import HEAD, kind_of
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.parquet_batches import parquet_batches, row_groups
from dpsyn_core.tables.read import ADDRESS, read
from dpsyn_core.tables.text_batches import TextForm, divisible, text_batches

ENDINGS = (".parquet", ".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".tab.gz")  # of the files of a folder
PATTERN = re.compile(r"[*?\[]")
PART = 1 << 26  # bytes of a file that one process reads
NOTHING = "__HIVE_DEFAULT_PARTITION__"  # how a folder says that a value is missing


def place_batches(place: str | os.PathLike[str], form: TextForm, *, sheet: str | None = None) -> Batches:
    """What lies at a place, in batches.

    A folder is all Parquet, or all CSV and TSV files below it, in the order of their names; names that begin with a
    dot or an underscore are left out. Sub-folders that are called column=value add that column.

    Args:
        place: a CSV, TSV (gzip too), Parquet or Excel file, a folder, or a pattern such as 'parts/*.parquet'.
        form: what is declared about delimited files.
        sheet: of an Excel file.

    Raises:
        TableError: nothing there, files of several kinds or with different columns, and what single files are
            refused for.
    """
    files, root, what = files_at(place)
    return _file(files[0], form, sheet) if what is None else _together(files, root, form, what)


def files_at(place: str | os.PathLike[str]) -> tuple[list[Path], Path, str | None]:
    """The files of a place, the folder below which their folders name columns, and what to call them; None: one file.

    Raises TableError where nothing is there, or where a file lies outside what this process may read.
    """
    if ADDRESS.match(os.fspath(place)):  # which may hold a password, so that nothing of it is shown
        msg = "this is the address of a database, not a file; name a table or a query of it (--sql-table, --sql-query)"
        raise TableError(msg)
    path = Path(place)
    fixed = Path(*_before_pattern(path))
    # before anything is looked for, so that not even what is there is told
    confines.check(fixed)
    confines.check(path if ".." not in path.parts[len(fixed.parts) :] else Path("/"))
    if path.is_file():
        return [path], path.parent, None
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file() and _wanted(p.relative_to(path)))
        _check_each(files)
        return files, path, f"the folder '{path}'"
    if PATTERN.search(os.fspath(place)):
        files = sorted(p for p in fixed.glob(str(path.relative_to(fixed))) if p.is_file())
        _check_each(files)
        return files, fixed, f"the pattern '{place}'"
    msg = f"'{path}' does not exist; name a file, a folder or a pattern such as 'parts/*.parquet'"
    raise TableError(msg)


def _check_each(files: Sequence[Path]) -> None:
    for file in files:
        confines.check(file)


def _before_pattern(path: Path) -> Iterator[str]:
    for part in path.parts:
        if PATTERN.search(part):
            return
        yield part


def _wanted(path: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.parts)
    return not hidden and path.name.lower().endswith(ENDINGS)


def _file(path: Path, form: TextForm, sheet: str | None = None, share: Share = WHOLE) -> Batches:
    """One file, by its kind, or a share of it."""
    try:
        with steady(path) as here, here.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        msg = f"'{path}' cannot be read ({error.strerror}); check the path"
        raise TableError(msg) from error
    headed = form.header is None
    if not head and headed:
        msg = f"'{path}' is empty (0 bytes); give a table with a header line and at least one record"
        raise TableError(msg)
    kind = kind_of(path.name, head, headed=headed)
    if kind == "parquet":
        return parquet_batches(path, strict=form.strict, share=share)
    if kind == "excel":
        got = read(path, sheet=sheet, strict=form.strict, header=form.header)
        whole = of_frame(got.table)
        return Batches(
            columns=whole.columns, read=whole.read, size=whole.size, records=whole.records, notices=got.notices,
            odd=list(got.odd),
        )  # fmt: skip
    return text_batches(path, form, share=share)


def _written(files: Sequence[Path], form: TextForm) -> Sequence[Path]:
    """The files of a folder without those of 0 bytes: a part without records, into which no headers were written."""
    return [f for f in files if f.stat().st_size] if form.header is None else files


def _together(files: Sequence[Path], root: Path, form: TextForm, what: str) -> Batches:
    """Files with the same columns, one after the other."""
    files = _written(files, form)
    if not files:
        msg = f"{what} holds no table; it must hold Parquet, CSV or TSV files"
        raise TableError(msg)
    kinds = {f.suffix.lower() == ".parquet" for f in files}
    if len(kinds) > 1:
        msg = f"{what} holds Parquet files and text files; name those of one kind by a pattern"
        raise TableError(msg)
    parts = [_with_folders(_file(f, form), f.relative_to(root)) for f in files]
    names = parts[0].columns
    keys = sorted(map(headers.composed, names))
    for file, part in zip(files, parts, strict=True):
        if sorted(map(headers.composed, part.columns)) != keys:
            msg = (
                f"'{file.name}' has other columns than '{files[0].name}'; the files of one table must have the same "
                "headers"
            )
            raise TableError(msg)

    def read() -> Iterator[Any]:
        for file, part in zip(files, parts, strict=True):
            at = headers.locate(part.columns, names)
            for table in part.read():
                yield table.select(at).rename_columns(list(names))
            said = (Notice("of_file", file=file.name, sentence=s) for s in part.odd)
            odd.extend(s for s in said if s not in odd)

    odd: list[str] = []
    known = [p.records for p in parts]
    assumed = list(dict.fromkeys(notice for p in parts for notice in p.notices))
    return Batches(
        columns=names, read=read, size=sum(p.size for p in parts),
        records=sum(n for n in known if n is not None) if None not in known else None,
        notices=(Notice("files", place=what.split(" ", 2)[2], files=len(files)), *assumed), odd=odd,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What one process reads of a place: a share of one file. columns: of the whole table, in their order."""

    path: str
    root: str
    share: Share
    columns: tuple[str, ...]
    form: TextForm

    def read(self) -> Iterator[Any]:
        """Tables of these columns. What a record becomes is what it becomes where the whole place is read."""
        path, root = Path(self.path), Path(self.root)
        found = _with_folders(_file(path, self.form, share=self.share), path.relative_to(root))
        at = headers.locate(found.columns, self.columns)
        for table in found.read():
            yield table.select(at).rename_columns(list(self.columns))


def parts_of(place: str | os.PathLike[str], form: TextForm) -> tuple[Batches, list[Part]]:
    """A place, and the parts that together hold each of its records once: about PART bytes each.

    A file is cut by its groups of rows (Parquet) or by lines; what cannot be cut is one part.

    Raises:
        TableError: as `place_batches`; an Excel file, which one process has to read whole.
    """
    batches = place_batches(place, form)
    files, root, _ = files_at(place)
    files = list(_written(files, form))
    return batches, [
        Part(
            path=str(path.absolute()), root=str(root.absolute()), share=Share(number, of), columns=batches.columns,
            form=form,
        )
        for path in files
        for of in [max(1, min(-(-path.stat().st_size // PART), _most_shares(path, form)))]
        for number in range(of)
    ]  # fmt: skip


def _most_shares(path: Path, form: TextForm) -> int:
    """Into how many shares a file may be cut."""
    with steady(path) as here, here.open("rb") as file:
        kind = kind_of(path.name, file.read(HEAD), headed=form.header is None)
    if kind == "excel":
        msg = f"'{path.name}' is an Excel file, which cannot be read in parts; save it as CSV or Parquet"
        raise TableError(msg)
    if kind == "parquet":
        return row_groups(path)
    return path.stat().st_size if divisible(path, form) else 1


def _with_folders(part: Batches, path: Path) -> Batches:
    """The file with the columns that the names of its folders give it."""
    import pyarrow as pa

    given = [folder.split("=", 1) for folder in path.parts[:-1] if "=" in folder[1:]]
    if not given:
        return part
    names = [unquote(name) for name, _ in given]
    headers.check([*part.columns, *names])
    values = [None if value == NOTHING else unquote(value) for _, value in given]

    def read() -> Iterator[Any]:
        for table in part.read():
            wider = table
            for name, value in zip(names, values, strict=True):
                wider = wider.append_column(name, pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
            yield wider

    return Batches(
        columns=(*part.columns, *names), read=read, size=part.size, records=part.records, notices=part.notices,
        odd=part.odd,
    )  # fmt: skip
