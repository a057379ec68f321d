"""SPSS, Stata and SAS files: their records as codes, and what they declare of each column.

Codes are read and not their labels: a label may be missing, repeat, or change between waves of a survey. Codes that a
file declares as missing (9, or .a in Stata and SAS) are read as they stand, and a blank is blank. What a record becomes
depends on that record and the header of the file alone.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.child import Child
from dpsyn_core.errors import TableError
from dpsyn_core.extras import require
from dpsyn_core.platforms import physical_mb
from dpsyn_core.tables import headers
from dpsyn_core.tables.batches import Batches, of_table
from dpsyn_core.tables.cells.canonical_text import canonical, to_text
from dpsyn_core.tables.declarations import DeclaredColumn, Kind, carried, declared_in
from dpsyn_core.tables.kinds import HEAD, PROGRAMS, kind_of_labelled
from dpsyn_core.tables.read_form import LABELLED, ReadForm
from dpsyn_core.tables.text.inflation import FREE, MAX_RATIO

MAX_COLUMNS = 32_767
HERE = "DPSYN_READ_HERE"  # set in a process that reads for another one, and may end with a file
SAID = 3  # exit status of the reader that has said what is wrong
SECONDS = 3600  # for a file; one of ten million records takes some minutes
SHORT = 100  # missing codes of a range that are listed one by one
EPOCH = {"sav": "1582-10-14", "dta": "1960-01-01", "sas7bdat": "1960-01-01", "xport": "1960-01-01"}
# how each program calls the format of a day and of a time; numbers are counted from the epoch in the unit given
DAYS = {
    "sav": (re.compile(r"(A|E|S|J)?DATE\d|(MO|Q|WK)YR\d"), 86_400),
    "dta": (re.compile(r"%-?t?d"), 1),
    "sas": (
        re.compile(r"(DATE|DAY|DDMMYY|MMDDYY|YYMMDD|JULIAN|MONYY|YYMM|YYQ|WORDDATE|WEEKDATE|[EB]8601DA)(?!TIME)"),
        1,
    ),
}
MOMENTS = {
    "sav": (re.compile(r"DATETIME|YMDHMS"), 1),
    "dta": (re.compile(r"%-?tc", re.IGNORECASE), 1000),
    "sas": (re.compile(r"DATETIME|DATEAMPM|[EB]8601DT"), 1),
}
FAR = 1 << 40  # seconds from 1970 beyond which no date is written: about the year 36,000


def parse(data: memoryview, form: ReadForm) -> Batches:
    """Reads such a file. Raises TableError."""
    table = _apart(data, form, records=True)
    names, notices = headers.named(table.column_names, strict=form.strict)
    return of_table(table.rename_columns(names), kind=LABELLED, form=form, notices=tuple(notices))


def declared_by(data: memoryview, form: ReadForm) -> list[DeclaredColumn]:
    """What such a file declares of its columns; no record is read. Raises TableError."""
    table = _apart(data, form, records=False)
    names, _ = headers.named(table.column_names, strict=form.strict)
    return list(declared_in(table.rename_columns(names)).values())


def _apart(data: memoryview, form: ReadForm, *, records: bool) -> Any:
    """The table, read by a child process, since a damaged file can crash its reader. Nothing is put on disk."""
    import pyarrow as pa

    library()
    if os.environ.get(HERE):
        return _table(data, form.encoding, records=records)
    pipe = subprocess.PIPE
    task = json.dumps({"encoding": form.encoding, "records": records})
    child = Child.module("dpsyn_core.tables.labelled", task, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        status, out, errors = child.answer(data, SECONDS)
    except subprocess.TimeoutExpired as error:
        msg = (
            f"the file is not read after {SECONDS} seconds; it is damaged, or has to be cut; export it again, or as CSV"
        )
        raise TableError(msg) from error
    if status == 0:
        return pa.ipc.open_stream(out).read_all()
    if status == SAID:
        raise TableError(errors.decode("utf-8", "replace").strip().splitlines()[-1])
    msg = "the file crashed the reader: it is damaged, or needs more memory than there is; export it again, or as CSV"
    raise TableError(msg)


def main() -> int:
    """Reads the file on the standard input for `_apart`, and writes the table on the standard output."""
    import pyarrow as pa

    Child.begin(memory_mb=physical_mb(), seconds=SECONDS)
    given = json.loads(sys.argv[1])
    try:
        table = _table(memoryview(sys.stdin.buffer.read()), given["encoding"], records=given["records"])
    except TableError as error:
        sys.stderr.write(str(error))
        return SAID
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)
    return 0


def library() -> Any:
    """The library that reads and writes these files. Raises ExtraError where it is not installed."""
    require("codebooks", "a file of SPSS, Stata or SAS")
    import pyreadstat

    return pyreadstat


def _table(data: memoryview, encoding: str | None, *, records: bool) -> Any:
    """The records with what the header declares, or the header alone; sizes are checked before records are read."""
    import pandas as pd
    import pyarrow as pa

    kind = kind_of_labelled("", bytes(data[:HEAD])) or ""
    read: Callable[..., Any] = getattr(library(), f"read_{kind}")
    if kind == "xport" and len(data) % 80:  # the format counts no records: their number would only be smaller
        msg = "the SAS transport file is cut short: it is no whole number of lines of 80 bytes; export it again"
        raise TableError(msg)
    options: dict[str, Any] = {"encoding": _encoding(encoding), "disable_datetime_conversion": True}
    options |= {} if kind == "xport" else {"user_missing": True}  # which has no such codes
    try:
        frame, meta = read(io.BytesIO(data), metadataonly=True, **options)
        own = list(meta.column_names)
        columns = [pa.nulls(0)] * len(own)
        if records:
            _check(meta, len(data))
            frame, meta = read(io.BytesIO(data), **options)
            # of whole numbers, pyreadstat 1.3.7 gives for a blank behind a letter what lies in memory; not as lists
            whole = meta.readstat_variable_types
            again = [n for i, n in enumerate(own) if whole[n].startswith("int") and frame.dtypes.iloc[i].kind == "O"]
            lists = read(io.BytesIO(data), **options, usecols=again, output_format="dict")[0] if again else {}
            cells = [pd.Series(lists[n], dtype=object) if n in lists else frame.iloc[:, i] for i, n in enumerate(own)]
            columns = [_column(c, kind, meta, n) for c, n in zip(cells, own, strict=True)]
        names = [name or "" for name in own]
        if names:
            return carried(pa.table(columns, names=names), [_declared_of(kind, meta, name) for name in own])
    except TableError:
        raise
    except MemoryError as error:
        msg = f"the {PROGRAMS[kind]} file asks for more memory than there is; it is damaged, or has to be cut"
        raise TableError(msg) from error
    except Exception as error:  # whatever the library says of a file that is damaged; its words may show a cell
        text = "convert" in str(error) or isinstance(error, UnicodeError)
        why = (
            "it holds text that is not in the encoding that it names; say which with --encoding"
            if text
            else ("it is damaged, cut short or protected; export it again, or as CSV")
        )
        msg = f"the {PROGRAMS[kind]} file cannot be read: {why}"
        raise TableError(msg) from error
    msg = f"the {PROGRAMS[kind]} file has no columns; export it again, or as CSV"
    raise TableError(msg)


def _encoding(name: str | None) -> str | None:
    """The name of an encoding as the library spells it. Raises TableError for one that there is not."""
    if name is None:
        return None
    try:
        return codecs.lookup(name).name
    except LookupError as error:
        msg = f"the encoding '{name}' is not known; name one such as utf-8, cp1252 or latin-1"
        raise TableError(msg) from error


def _check(meta: Any, size: int) -> None:
    """Refuses a header that declares more cells than the file can hold."""
    columns, records = len(meta.column_names), int(meta.number_rows or 0)
    if columns > MAX_COLUMNS:
        msg = f"the file declares {columns:,} columns, and {MAX_COLUMNS:,} are read; export fewer"
        raise TableError(msg)
    if records * columns > max(FREE, MAX_RATIO * size):
        msg = f"the file declares more than {MAX_RATIO} cells for each of its bytes: it is damaged; export it again"
        raise TableError(msg)


def _clock(kind: str, meta: Any, name: str) -> tuple[Kind, int]:
    """Whether a column of numbers holds days or times, by its declared format; and how many units a day or second has.

    A week, month or quarter of Stata is counted in that unit and stays a number.
    """
    form = str(meta.original_variable_types.get(name) or "")
    of = kind if kind in DAYS else "sas"
    for kind_of, (pattern, unit) in (("datetime", MOMENTS[of]), ("date", DAYS[of])):
        if pattern.match(form):
            return kind_of, unit  # type: ignore[return-value]
    return "", 1


def _column(cells: Any, kind: str, meta: Any, name: str) -> Any:
    """A pyarrow array: text, numbers, days or times, by the header alone.

    Letters of missing codes (.a to .z) turn it into text, in which every other cell has the canonical text that it has
    without them.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    if meta.readstat_variable_types[name] == "string":
        return pa.array(cells.to_numpy(object), pa.string(), from_pandas=True)
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
    clock, unit = _clock(kind, meta, name)
    if clock:
        out = _instants(numbers, clock, unit, EPOCH[kind])
    elif meta.readstat_variable_types[name] == "float":  # 0.1 of 32 bits is 0.1, and not 0.10000000149
        out = pa.array(numbers.astype(np.float32), from_pandas=True)
    else:
        out = pa.array(numbers, from_pandas=True)
    letters = cells.notna().to_numpy() & np.isnan(numbers)
    if not letters.any():
        return out
    missing = pc.binary_join_element_wise(".", pa.array(cells[letters], pa.string()), "")
    return pc.replace_with_mask(to_text(out), pa.array(letters), missing)


def _instants(numbers: NDArray[np.float64], clock: Kind, unit: int, epoch: str) -> Any:
    """Days or times; what lies beyond all calendars is blank."""
    import pyarrow as pa

    step = 86_400 if clock == "date" else 1
    start = np.datetime64(epoch, "s").astype(np.int64) // step
    with np.errstate(invalid="ignore"):
        whole = np.floor(numbers / unit)
        there = np.isfinite(whole) & (np.abs(whole) < FAR / step)
    values = np.where(there, whole, 0).astype(np.int64) + start
    if clock == "date":
        return pa.array(values.astype(np.int32), mask=~there).cast(pa.date32())
    return pa.array(values, mask=~there).cast(pa.timestamp("s"))


def _declared_of(kind: str, meta: Any, own: str) -> DeclaredColumn:
    """What the header says of one column."""
    text = meta.readstat_variable_types[own] == "string"
    words = {_code(c, text=text): str(w) for c, w in meta.variable_value_labels.get(own, {}).items()}
    # of letters, those with a label alone: which others there are, only the records say
    missing = [] if text else [c for c in words if re.match(r"^\.[a-z]$", c)]
    for span in meta.missing_ranges.get(own, ()):
        low, high = span["lo"], span["hi"]
        if low == high:
            missing.append(_code(low, text=text))
        elif not text and float(low).is_integer() and float(high).is_integer() and high - low <= SHORT:
            missing += [canonical(float(c)) for c in range(int(low), int(high) + 1)]
        else:  # of a long range, or one without an end, those that have words
            missing += [c for c in words if _number(c) is not None and low <= (_number(c) or 0.0) <= high]
    measure = meta.variable_measure.get(own, "unknown")
    clock, _ = _clock(kind, meta, own)
    return DeclaredColumn(
        name=own or "",
        kind="text" if text else clock or _numbers(meta, own),
        label=str(meta.column_names_to_labels.get(own) or ""),
        words=words,
        codes_missing=tuple(dict.fromkeys(_value(c, text=text) for c in missing)),
        listed={"nominal": True, "ordinal": True, "scale": False}.get(measure),
        ordered=measure == "ordinal",
        shown="" if text else str(meta.original_variable_types.get(own) or ""),
    )


def _numbers(meta: Any, name: str) -> Kind:
    """Whether numbers are whole by their declared type or format (F8.0); their decimals are how they are shown."""
    form = str(meta.original_variable_types.get(name) or "")
    if meta.readstat_variable_types[name].startswith("int") or re.match(r"^[FN]\d+(\.0)?$", form):
        return "integer"
    return ""


def _code(code: object, *, text: bool) -> str:
    """A code as canonical text: 1 for 1.0, .a for the letter of a missing number, a text as it stands."""
    if isinstance(code, str):
        return code if text else f".{code}"
    return canonical(code) if isinstance(code, int | float) else str(code)


def _number(code: str) -> float | None:
    try:
        return float(code)
    except ValueError:
        return None


def _value(code: str, *, text: bool) -> int | float | str:
    """A code as the value that it is: a number where its column holds numbers."""
    number = None if text else _number(code)
    if number is None:
        return code
    return int(number) if number.is_integer() else number


if __name__ == "__main__":
    sys.exit(main())
