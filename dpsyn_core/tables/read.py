"""Opens tables: files, several files of one table, uploads, databases; every cell of a text stays as written."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dpsyn_core.errors import DPSynError, TableError
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import MAX_FILE, WHOLE, Batches, Share
from dpsyn_core.tables.confines import steady
from dpsyn_core.tables.kinds import HEAD, kind_of
from dpsyn_core.tables.notices import Notice
from dpsyn_core.tables.places import files_at
from dpsyn_core.tables.read_form import AS_FOUND, ReadForm
from dpsyn_core.tables.text import table as text
from dpsyn_core.tables.text.batches import divisible, text_batches

MAX_UPLOAD = 200 << 20  # bytes, through a browser
MAX_TEXT = 16 << 30  # bytes after inflating
PART = 1 << 26  # bytes of a file that one process reads
NOTHING = "__HIVE_DEFAULT_PARTITION__"  # how a folder says that a value is missing

Source = str | os.PathLike[str] | bytes


def read_table(source: Source, **said: Any) -> Any:
    """A table in memory, as pyarrow: `open_table` at once. Keywords are the fields of `ReadForm`."""
    return open_table(source, ReadForm.of(**said)).whole()


def open_table(
    place: Source,
    form: ReadForm = AS_FOUND,
    *,
    name: str = "",
    counted: bool = False,
    most: int | None = None,
    seconds: int | None = None,
) -> Batches:
    """What lies at a place, whose head is read now and whose records when they are asked for; no cell is recast.

    A folder is all Parquet, or all CSV and TSV files below it, in the order of their names; names that begin with a
    dot or an underscore are left out. Sub-folders that are called column=value add that column. Headers that repeat
    get numbers (`headers.named`).

    Guarantee: what a record becomes depends on that record and the public form alone: the header, and what is declared
    (docs/proofs/encoding.md). A cell that does not decode holds U+FFFD there; a line that has another number of cells
    than the header, or breaks the rules of quotation marks, becomes a record of which no cell is read. LF, CR LF and CR
    each end a line. Below the headers a blank line is a record with a blank cell in a text of one column, and no record
    in one of several. Where headers are declared the first line is a record, and decides nothing about how the file is
    read: its name does.

    Args:
        place: a CSV, TSV (gzip too), Parquet, Excel, SPSS, Stata or SAS file, a folder, a pattern such as
            'parts/*.parquet', the bytes of an upload, or a database, of which the form names a table or a query.
        form: what is declared about how it is read.
        name: of the file of an upload, for its ending.
        counted: let a database count the records first, which takes as long as it takes.
        most: records of a database above which it is not read whole.
        seconds: after which a PostgreSQL server gives up to be read whole.

    Raises:
        TableError: nothing there, too large, not a table, blank headers, damaged or nested files, files of several
            kinds or with different columns, what `database_batches` refuses; with `form.strict`, the above and
            repeated headers, now or when records are read. No cell is shown.
    """
    if form.of_database or isinstance(place, bytes):
        return _one(place, form, name=name, counted=counted, most=most, seconds=seconds)
    files, root, what = files_at(place)
    return _one(files[0], form) if what is None else _together(files, root, form, what)


def _one(place: Source, form: ReadForm, share: Share = WHOLE, *, name: str = "", **limits: Any) -> Batches:
    """One file (or a share of it), upload or database: every table that is opened comes from here."""
    if form.of_database:
        from dpsyn_core.tables.databases.batches import database_batches

        out = database_batches(place, form, **limits)
    elif isinstance(place, bytes):
        out = _whole(memoryview(place), name, MAX_UPLOAD, form)
    else:
        out = _file(Path(place), form, share)
    return out


def _file(path: Path, form: ReadForm, share: Share) -> Batches:
    """A file, by its kind."""
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
    if kind in ("excel", "labelled"):
        return _mapped(path, form)
    if kind == "parquet":
        from dpsyn_core.tables.parquet_pages import parquet_batches

        batches = parquet_batches(path, strict=form.strict, share=share)
    else:
        batches = text_batches(path, form, share=share)

    def load() -> Any:
        table = _mapped(path, form)
        batches.odd.extend(s for s in table.odd if s not in batches.odd)
        return table.whole()

    return replace(batches, load=load) if share == WHOLE else batches


def _mapped(path: Path, form: ReadForm) -> Batches:
    """A file that is read at once."""
    try:
        size = path.stat().st_size
        _check_size(size, MAX_FILE, headed=form.header is None)
        if size == 0:  # which cannot be mapped
            return _whole(memoryview(b""), path.name, MAX_FILE, form)
        with steady(path) as here:
            with here.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # freed with its last view
            return _whole(memoryview(mapped), path.name, MAX_FILE, form, text.File(path=here, pages=mapped))
    except (OSError, ValueError) as error:
        if isinstance(error, DPSynError):
            raise
        reason = getattr(error, "strerror", None) or "no reason given"
        msg = f"'{path}' cannot be read ({reason}); check the path"
        raise TableError(msg) from error


def _check_size(size: int, cap: int, *, headed: bool) -> None:
    if size == 0 and headed:  # without the headers that the file should hold; where they are given it has no record
        msg = "the file is empty (0 bytes); give a table with a header line and at least one record"
        raise TableError(msg)
    if size > cap:
        msg = f"the file is too large (for the owner only), the limit is {cap} bytes; give a smaller one, or Parquet"
        raise TableError(msg)


def _whole(data: memoryview, name: str, cap: int, form: ReadForm, file: text.File | None = None) -> Batches:
    """The bytes of a file as a table in memory, by their kind."""
    headed = form.header is None
    _check_size(len(data), cap, headed=headed)
    kind = kind_of(name, bytes(data[:HEAD]), headed=headed)
    if kind == "gzip":
        from dpsyn_core.tables.text import inflation as inflate

        plain = inflate.gunzip(data, min(MAX_TEXT, inflate.MAX_RATIO * cap))
        _check_size(len(plain), MAX_TEXT, headed=headed)
        return text.parse(memoryview(plain), name.removesuffix(".gz"), form)
    if kind == "parquet":
        from dpsyn_core.tables import parquet as columnar

        return columnar.parse(data, strict=form.strict)
    if kind == "excel":
        from dpsyn_core.tables import excel

        return excel.parse(data, form)
    if kind == "labelled":
        from dpsyn_core.tables import labelled

        return labelled.parse(data, form)
    return text.parse(data, name, form, file)


def _written(files: Sequence[Path], form: ReadForm) -> Sequence[Path]:
    """The files of a folder without those of 0 bytes: a part without records, into which no headers were written."""
    return [f for f in files if f.stat().st_size] if form.header is None else files


def _together(files: Sequence[Path], root: Path, form: ReadForm, what: str) -> Batches:
    """Files with the same columns, one after the other."""
    files = _written(files, form)
    if not files:
        msg = f"{what} holds no table; it must hold Parquet, CSV or TSV files"
        raise TableError(msg)
    kinds = {f.suffix.lower() == ".parquet" for f in files}
    if len(kinds) > 1:
        msg = f"{what} holds Parquet files and text files; name those of one kind by a pattern"
        raise TableError(msg)
    parts = [_with_folders(_one(f, form), f.relative_to(root)) for f in files]
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
    sizes = [p.records for p in parts]
    assumed = list(dict.fromkeys(notice for p in parts for notice in p.notices))
    return Batches(
        columns=names,
        read=read,
        size=sum(p.size for p in parts),
        records=sum(n for n in sizes if n is not None) if None not in sizes else None,
        notices=(Notice("files", place=what.split(" ", 2)[2], files=len(files)), *assumed),
        odd=odd,
        kind=parts[0].kind,
        form=form,
        header_hint=parts[0].header_hint,
        headless=any(p.headless for p in parts),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What one process reads of a place: a share of one file. columns: of the whole table, in their order."""

    path: str
    root: str
    share: Share
    columns: tuple[str, ...]
    form: ReadForm

    def read(self) -> Iterator[Any]:
        """Tables of these columns. What a record becomes is what it becomes where the whole place is read."""
        path, root = Path(self.path), Path(self.root)
        out = _with_folders(_one(path, self.form, share=self.share), path.relative_to(root))
        at = headers.locate(out.columns, self.columns)
        for table in out.read():
            yield table.select(at).rename_columns(list(self.columns))


def parts_of(place: str | os.PathLike[str], form: ReadForm) -> tuple[Batches, list[Part]]:
    """A place, and the parts that together hold each of its records once: about PART bytes each.

    A file is cut by its groups of rows (Parquet) or by lines; what cannot be cut is one part.

    Raises:
        TableError: as `open_table`; an Excel file, which one process has to read whole.
    """
    batches = open_table(place, form)
    files, root, _ = files_at(place)
    files = list(_written(files, form))
    return batches, [
        Part(
            path=str(path.absolute()),
            root=str(root.absolute()),
            share=Share(number, of),
            columns=batches.columns,
            form=form,
        )
        for path in files
        for of in [max(1, min(-(-path.stat().st_size // PART), _most_shares(path, form)))]
        for number in range(of)
    ]


def _most_shares(path: Path, form: ReadForm) -> int:
    """Into how many shares a file may be cut."""
    with steady(path) as here, here.open("rb") as file:
        kind = kind_of(path.name, file.read(HEAD), headed=form.header is None)
    if kind in ("excel", "labelled"):
        what = "an Excel file" if kind == "excel" else "a file of SPSS, Stata or SAS"
        msg = f"'{path.name}' is {what}, which cannot be read in parts; save it as CSV or Parquet"
        raise TableError(msg)
    if kind == "parquet":
        from dpsyn_core.tables.parquet_pages import row_groups

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

    def wider(table: Any) -> Any:
        for name, value in zip(names, values, strict=True):
            table = table.append_column(name, pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
        return table

    return part.mapped(wider, (*part.columns, *names))
