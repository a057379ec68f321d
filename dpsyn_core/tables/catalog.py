"""Opens tables by their names: each from a separate file, or from one database or workbook that holds several."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dpsyn_core.errors import TableError
from dpsyn_core.tables import excel
from dpsyn_core.tables.batches import Batches
from dpsyn_core.tables.databases.connection import REMEDY
from dpsyn_core.tables.databases.database import Database
from dpsyn_core.tables.kinds import HEAD
from dpsyn_core.tables.read import Source, open_table
from dpsyn_core.tables.read_form import ReadForm
from dpsyn_core.tables.write import sheet_name

OF_SEVERAL = (
    "of several tables the command takes no word for a view: name a table instead, or in Python open the view with "
    "open_table(place, ReadForm.of(sql_table=NAME, query_vouched=True)); the manifest then says so"
)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Says of which of several tables a TableError is."""
    try:
        yield
    except TableError as error:
        msg = f"table '{name}': {error}"
        raise TableError(msg) from error


def open_named(named: Mapping[str, Path | str], form: ReadForm, *, apart: bool) -> dict[str, Batches]:
    """Tables by name; what several names stand for alike is opened once.

    Args:
        named: the place of each.
        form: how they are read.
        apart: whether a database or a workbook holds a table or sheet for each name; else all are one table.
    """
    out: dict[str, Batches] = {}
    opened: list[tuple[Path | str, ReadForm, Batches]] = []
    for name, path in named.items():
        with naming(name):
            one_form = form_in(path, form, name) if apart else form
        same = [batches for at, as_read, batches in opened if (at, as_read) == (path, one_form)]
        with naming(name):
            try:
                out[name] = same[0] if same else open_table(path, one_form)
            except TableError as error:
                if one_form is form or not str(error).endswith(REMEDY):
                    raise
                msg = str(error).removesuffix(REMEDY) + OF_SEVERAL  # the flag is for a table or query that is named
                raise TableError(msg) from error
        opened.append((path, one_form, out[name]))
    return out


def form_in(place: Source, form: ReadForm, name: str) -> ReadForm:
    """The form that reads the table of this name, where a place holds several: a database, or sheets of a workbook.

    Raises TableError where there is no such table.
    """
    if form.of_database or form.sheet is not None or isinstance(place, bytes):
        return form
    if "://" not in str(place):
        path = Path(place)
        if not path.is_file():
            return form
        with path.open("rb") as file:
            head = file.read(HEAD)
        if head.startswith(b"PK") and path.suffix.lower() in (".xlsx", ".ods"):
            sheet = next((s for s in (name, sheet_name(name)) if s in excel.sheets(path.read_bytes())), None)
            return form if sheet is None else form.model_copy(update={"sheet": sheet})
        if not (head.startswith(b"SQLite format 3") or head[8:12] == b"DUCK"):
            return form
    names = Database.of(os.fspath(place)).tables()
    if name not in names:
        msg = f"the database has no table '{name}'; give each by its name there: {', '.join(names) or 'none'}"
        raise TableError(msg)
    return form.model_copy(update={"sql_table": name})
