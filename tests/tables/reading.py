"""What a test looks at of a table that is read whole."""

from types import SimpleNamespace

from dpsyn_core.tables.databases.batches import database_batches
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.read_form import ReadForm


def read(source, *, name="", **said):
    """The table in memory, how it was read, and what was said about it."""
    found = open_table(source, ReadForm.of(**said), name=name)
    table = found.whole()  # before what could not be read is looked at
    return SimpleNamespace(
        **{f: getattr(found.form, f) for f in ReadForm.model_fields},
        table=table,
        kind=found.kind,
        sheets=found.sheets,
        notices=found.notices,
        odd=tuple(found.odd),
        header_hint=found.header_hint,
        headless=found.headless,
        batches=found,
    )


def of_database(*, table=None, query=None, vouched=None, columns=None, where=None):
    """What is asked of a database; a query has its owner's word unless it is refused."""
    vouched = query is not None if vouched is None else vouched
    return ReadForm.of(sql_table=table, sql_query=query, query_vouched=vouched, sql_columns=columns, sql_where=where)


def read_database(database, *, most=None, seconds=None, **asked):
    """What is asked of a database, read whole."""
    return database_batches(database, of_database(**asked), most=most, seconds=seconds).whole()
