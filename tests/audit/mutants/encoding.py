"""Seeded bugs that read one record's cells by another's, for the layers that start from raw tables."""

import tempfile
from pathlib import Path

import pyarrow as pa

from dpsyn_core.errors import TableError
from dpsyn_core.schema import codec
from dpsyn_core.schema.codec import Codec
from dpsyn_core.tables import excel, read
from dpsyn_core.tables import parquet as columnar
from dpsyn_core.tables.cells import instants
from dpsyn_core.tables.cells import numbers as casting
from dpsyn_core.tables.cells import objects as cells
from dpsyn_core.tables.cells.canonical_text import COMMA
from dpsyn_core.tables.text import encodings, lines, records
from dpsyn_core.tables.text import table as whole
from tests.audit import raw
from tests.audit.lines import lines_fuzzed
from tests.audit.mutants.base import mutant, replacing
from tests.audit.recordwise import recordwise


def fuzz(kind, seeds=6):
    """The fuzz harness on a reader, as many pools as it takes at most."""

    def check():
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(seeds):
                recordwise(kind, seed, Path(folder))

    return check


def fuzz_lines(*readers):
    """The fuzz harness of lines on some readers."""

    def check():
        with tempfile.TemporaryDirectory() as folder:
            lines_fuzzed(range(4), Path(folder), readers=readers)

    return check


@mutant("a column of objects takes the type that fits all its cells", "T2 raw", lambda: raw.t2_raw("pandas objects"))
def typing_by_column():
    def column(values):
        try:
            return pa.array(values)
        except (pa.ArrowException, OverflowError):
            return pa.array([None if v is None else str(v) for v in values], pa.string())

    with replacing((cells, "column", column)):
        yield


@mutant("the encoding is guessed from the whole file", "T2 raw", lambda: raw.t2_raw("csv"))
def guessing_by_file():
    def find(data, wanted, *, headed=True):
        valid = [n for n in ("utf-8", "cp1252", "latin-1") if encodings.first_invalid(data, n, 0) is None]
        return encodings.Encoding(name=valid[0])

    with replacing((encodings, "find_encoding", find)):
        yield


@mutant("people without a name are one individual", "T2 raw", lambda: raw.t2_nameless("csv"))
def lumping_blanks():
    with replacing((codec, "identifiers", named_by(""))):
        yield


def named_by(word):
    """Reads names as the codec does, and gives those who have none a name."""
    real = codec.identifiers

    def identifiers(*args, **kwargs):
        return real(*args, **kwargs).cast(pa.string()).fill_null(word).dictionary_encode()

    return identifiers


@mutant("NaN in a column of numbers is the name of an individual", "T2 raw", lambda: raw.t2_nameless("pandas"))
def nan_is_a_name():
    with replacing((codec, "identifiers", named_by("nan"))):
        yield


@mutant("a value outside its list refuses the table", "T1 raw", lambda: raw.t1_raw("sqlite"))
def refusing_by_value():
    real = Codec.encode
    with replacing((Codec, "encode", lambda self, table, **kw: real(self, table, **kw | {"strict": True}))):
        yield


@mutant("a line with another number of cells refuses the file", "T1 raw", lambda: raw.t1_raw("csv"))
def refusing_by_line():
    real = records.table_of

    def table_of(text, dialect, form, **kw):
        return real(text, dialect, form.model_copy(update={"strict": True}), **kw)

    with replacing((records, "table_of", table_of)):
        yield


@mutant("an open quotation mark swallows the lines after it", "fuzz", fuzz("text"))
def swallowing():
    real = records.table_of

    def table_of(text, dialect, form, **kw):
        return real(text, dialect, form.model_copy(update={"multiline": True}), **kw)

    with replacing((records, "table_of", table_of)):
        yield


@mutant("whole numbers of 19 digits go through a float next to a cell that is no number", "fuzz", fuzz("pyarrow"))
def through_a_float():
    with replacing((casting, "_whole", lambda text, floats: casting._floor(floats))):
        yield


@mutant("dates next to text are read by the declared formats alone", "T2 raw", lambda: raw.t2_raw("pandas objects"))
def formats_alone():
    with replacing((instants, "CANONICAL", "^$a"), (instants, "confused", lambda formats: False)):
        yield


@mutant("the widest row decides how many columns a sheet has", "fuzz", fuzz("excel"))
def widest_row():
    real = excel._table

    def table(rows, pa):
        headers = sum(name is not None for name in rows[0])
        if any(cell is not None for row in rows for cell in row[headers:]):
            msg = "a column has a blank header"
            raise TableError(msg)
        return real(rows, pa)

    with replacing((excel, "_table", table)):
        yield


@mutant("numbers have a decimal comma where the first lines show one", "T2 raw", raw.t2_decimal_comma)
def comma_by_sight():
    real = whole.parse

    def parse(*args, **kwargs):
        found = real(*args, **kwargs)
        seen = any(getattr(notice, "key", "") == "decimal_comma" for notice in found.odd)
        return found.holding(found.whole().replace_schema_metadata(COMMA if seen else None))

    with replacing((whole, "parse", parse)):
        yield


@mutant("text that is not UTF-8 refuses a Parquet file", "T2 raw", raw.t2_damaged_text)
def refusing_parquet():
    def readable(table, *, strict=False):
        table.validate(full=True)
        return table

    with replacing((columnar, "readable", readable)):
        yield


@mutant("the first bytes of a file without headers say what kind it is", "fuzz", fuzz_lines("bytes"))
def known_by_the_first_record():
    real = read.kind_of
    with replacing((read, "kind_of", lambda name, head, *, headed=True: real(name, head))):
        yield


@mutant("a faulty line takes the line end of its neighbour along", "fuzz", fuzz_lines("bytes", "pieces"))
def ends_joined():
    with replacing((lines, "normalised", lambda text: text)):
        yield
