"""ReadForm: how a table is read, as a person declares it; flags, forms and documents follow from its fields.

A field is a flag of the sub-commands, a widget of the app's Data page, an entry of a job and a keyword of `read_table`.
"""

from __future__ import annotations

import csv
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dpsyn_core.errors import TableError

# what a rule is for; the page asks for those of the loaded kind
TEXT, EXCEL, LABELLED, DATABASE = "text", "excel", "labelled", "database"


def _rule(default: Any, *of: str, help: str, metavar: str | None = None, example: str | None = None) -> Any:
    return Field(
        default=default, description=help, json_schema_extra={"of": list(of), "metavar": metavar, "example": example}
    )


class ReadForm(BaseModel):
    """What a person says about how a table is read; None is what the header and the name of the file say.

    All of it is public, and decides nothing by the records: what a record becomes depends on that record and on this
    form alone (docs/proofs/encoding.md).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    delimiter: str | None = _rule(None, TEXT, help="one character; default by the header (comma, semicolon, tab, pipe)")
    encoding: str | None = _rule(
        None,
        TEXT,
        LABELLED,
        help="default UTF-8, or what the header line says (UTF-16, Windows-1252); of SPSS, Stata and SAS what they say",
    )
    decimal: Literal[".", ","] | None = _rule(None, TEXT, help="decimal mark; default either, unless commas separate")
    sheet: str | None = _rule(
        None, EXCEL, metavar="NAME", help="of an Excel file; default the first that is not hidden"
    )
    header_row: int = _rule(
        1,
        TEXT,
        EXCEL,
        metavar="N",
        help="line or row of the headers where a title stands above, blank ones not counted; default the first",
    )
    header_lines: int = _rule(
        1,
        TEXT,
        EXCEL,
        metavar="N",
        help="lines that the headers take: 2 where headings stand over groups of columns, 3 in exports of surveys "
        "with the questions below the names; default 1",
    )
    header: str | None = _rule(
        None,
        TEXT,
        EXCEL,
        metavar="LINE",
        example="age,sex,income",
        help="the headers, for a file that has none, with its delimiter between them: 'age,sex,income'. Its name says "
        "what it is (.xlsx, .ods, .gz, else text), and its encoding is UTF-8 unless --encoding is given",
    )
    multiline: bool = _rule(
        False,
        TEXT,
        help="quoted cells may hold line ends; then a quotation mark left open swallows the records after it",
    )
    strict: bool = _rule(
        False,
        help="refuse a table with cells that cannot be read or that the schema has no place for; "
        "a refusal is an exact answer about private data, for the owner only",
    )
    sql_table: str | None = _rule(
        None, DATABASE, metavar="NAME", help="TABLE is a DuckDB, SQLite or PostgreSQL database"
    )
    sql_columns: str | None = _rule(
        None,
        DATABASE,
        metavar="NAMES",
        example="age,sex",
        help="columns of the table of a database, with commas between them; default all",
    )
    sql_where: str | None = _rule(
        None,
        DATABASE,
        metavar="CONDITION",
        example="age >= 20 and sex = f",
        help="records of the table of a database: a condition that each one meets or not by its own cells, such as "
        "'age >= 20 and not sex = f'; default all",
    )
    sql_query: str | None = _rule(
        None,
        DATABASE,
        metavar="SELECT",
        help="a query in SQL instead of a table; that it reads each record by itself is your word (--query-vouched)",
    )
    query_vouched: bool = _rule(
        False,
        DATABASE,
        help="you give your word that the query, or the view, reads each record by itself, which is not checked; "
        "the manifest says so",
    )

    @classmethod
    def of(cls, **said: Any) -> ReadForm:
        """A form from what a person typed. Raises TableError, in one sentence."""
        try:
            return cls(**said)
        except ValidationError as error:
            first = error.errors()[0]
            given = first.get("ctx", {}).get("error")
            where = ".".join(map(str, first["loc"]))
            raise TableError(str(given) if given else f"'{where}' of how the table is read: {first['msg']}") from error

    @property
    def of_database(self) -> bool:
        """Whether the place is a database, of which one table or query is read."""
        return self.sql_table is not None or self.sql_query is not None

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of `sql_columns`; none where all are read. A name with a comma stands in quotation marks."""
        return tuple(next(csv.reader([self.sql_columns or ""], skipinitialspace=True), []))

    @field_validator("delimiter")
    @classmethod
    def _one_character(cls, wanted: str | None) -> str | None:
        if wanted is not None and (len(wanted) != 1 or wanted in '"\r\n' or not wanted.isascii()):
            msg = f"the delimiter {wanted!r} must be one character other than a quotation mark or line end"
            raise ValueError(msg)
        return wanted

    @field_validator("decimal", mode="before")
    @classmethod
    def _mark(cls, wanted: Any) -> Any:
        if wanted not in (None, ".", ","):
            msg = f"the decimal mark {wanted!r} must be '.' or ','"
            raise ValueError(msg)
        return wanted

    @field_validator("header")
    @classmethod
    def _one_line(cls, line: str | None) -> str | None:
        text = None if line is None else line.strip("\r\n")
        if text is not None and (not text.strip() or "\n" in text or "\r" in text):
            msg = "the headers that the file lacks must be one line, with the delimiter of the file between the names"
            raise ValueError(msg)
        return text

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if min(self.header_row, self.header_lines) < 1:
            msg = f"headers in line {self.header_row} that take {self.header_lines} lines: both numbers begin at 1"
            raise ValueError(msg)
        if self.header is not None and (self.header_row, self.header_lines) != (1, 1):
            msg = "headers are given, and said to stand in lines of the file as well; say one of the two"
            raise ValueError(msg)
        if (self.sql_columns is not None or self.sql_where is not None) and self.sql_table is None:
            msg = "--sql-columns and --sql-where are for a table of a database; omit them, or add --sql-table"
            raise ValueError(msg)
        if self.sql_columns is not None and not all(name.strip() for name in self.column_names or ("",)):
            msg = f"the columns {self.sql_columns!r} must be names with commas between them, such as 'age,sex'"
            raise ValueError(msg)
        if self.query_vouched and not self.of_database:
            msg = "--query-vouched is for a query or a view of a database; omit it, or add --sql-query or --sql-table"
            raise ValueError(msg)
        return self


AS_FOUND = ReadForm()  # nothing is declared
