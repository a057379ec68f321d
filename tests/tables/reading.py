"""What a test looks at of a table that is read whole."""

from types import SimpleNamespace

from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm


def read(source, *, name="", **said):
    """The table in memory, how it was read, and what was said about it."""
    found = open_table(source, ReadForm.of(**said), name=name)
    table = found.whole()  # before what could not be read is looked at
    return SimpleNamespace(
        **{f: getattr(found.form, f) for f in ReadForm.model_fields}, table=table, kind=found.kind,
        sheets=found.sheets, notices=found.notices, odd=tuple(found.odd), header_hint=found.header_hint,
        headless=found.headless, batches=found,
    )  # fmt: skip


def of_database(*, table=None, query=None, vouched=False):
    """What is asked of a database."""
    return ReadForm.of(sql_table=table, sql_query=query, query_vouched=vouched)
