"""What became of rows and columns before tables were compared or shown: left out, cut, renamed, read in another way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from dpsyn_core.schema import Codec, RuleBreaks


@dataclass(frozen=True, kw_only=True, slots=True)
class Intake:
    """Private, but for what it says of the synthetic table.

    rows: of the real table. limited: those of them beyond the most records of one individual. misfits: those that the
    schema has no place for. ignored: real columns that the schema leaves out. lacking: columns that the synthetic table
    does not have. unreadable: its columns of which no cell could be read. renamed: its columns that were recognised
    under another name. further: its columns that the schema does not name. reformed: its columns whose dates were
    written in another form. reworded: its columns whose words were written in another form. blanked: its columns with
    the share of cells that could not be read and count as blank. proposed: rules that the headers propose and that are
    not in the schema, with what breaks them. texts: of a column of numbers, a real cell as the file has it. again:
    columns that the schema leaves out, of which no two real records share a value, with the share of the synthetic
    records that have that of an earlier one. unlisted: the one value of a column that the schema does not list, where
    the synthetic table has one such value alone.
    """

    rows: int = 0
    limited: int = 0
    misfits: int = 0
    ignored: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    reformed: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    blanked: dict[str, float] = field(default_factory=dict)
    proposed: tuple[tuple[Any, RuleBreaks], ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    again: dict[str, float] = field(default_factory=dict)
    unlisted: dict[str, str] = field(default_factory=dict)


def all_codes(codec: Codec, table: Any) -> NDArray[Any]:
    """Codes (k, n) of every record, for those who may look at the table.

    Raises:
        TableError: a record has a cell without a place, or there is none; it names the column, never the cell.
    """
    codes = codec.encode(table, individuals=False).codes
    lost = codes.shape[1] < max(1, table.num_rows)
    return codec.encode(table, individuals=False, strict=True).codes if lost else codes
