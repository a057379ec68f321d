"""DeclaredColumn: what a codebook, or a labelled file beside its records, says of one column; how tables carry it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Value = bool | int | float | str
Kind = Literal["", "integer", "float", "text", "boolean", "date", "datetime", "identifier", "ignored"]
KEY = b"dpsyn.declared"  # of the metadata of an Arrow field


@dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredColumn:
    """One column, in public words. What a document does not say has the value that is given here.

    kind: of the cells. label: a short name. description: what it means. values: all that the column may hold. words:
    what codes mean, by their canonical text. codes_missing: codes that stand for an absent answer, such as 99. listed:
    whether the codes with words are all that the column holds (nominal) or not (a scale); None: undeclared. blank:
    whether cells may be blank; None: undeclared. low, high: of numbers, or of dates in ISO 8601. step, decimals: of
    numbers. formats: how dates are written. shown: how SPSS, Stata or SAS shows cells (F8.2). also: other headers under
    which a table may have it. counted: whether its range may have been computed from the records.
    """

    name: str
    kind: Kind = ""
    label: str = ""
    description: str = ""
    values: tuple[Value, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    codes_missing: tuple[Value, ...] = ()
    listed: bool | None = None
    ordered: bool = False
    blank: bool | None = None
    low: int | float | str | None = None
    high: int | float | str | None = None
    step: int | float | None = None
    decimals: int | None = None
    formats: tuple[str, ...] = ()
    shown: str = ""
    also: tuple[str, ...] = ()
    counted: bool = False


def carried(table: Any, columns: Iterable[DeclaredColumn]) -> Any:
    """The pyarrow table with what its file declares of each column; the columns of both are the same."""
    import pyarrow as pa

    fields = [
        f.with_metadata({**(f.metadata or {}), KEY: json.dumps(asdict(c), ensure_ascii=False).encode()})
        for f, c in zip(table.schema, columns, strict=True)
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))


def declared_in(table: Any) -> dict[str, DeclaredColumn]:
    """What the file of a pyarrow table declared of its columns, by name; empty for tables that declare nothing."""
    return {f.name: _made(json.loads(f.metadata[KEY]), f.name) for f in table.schema if KEY in (f.metadata or {})}


def _made(document: dict[str, Any], name: str) -> DeclaredColumn:
    """A column from its JSON, under the name that it has now."""
    lists = {key: tuple(value) for key, value in document.items() if isinstance(value, list)}
    return replace(DeclaredColumn(**(document | lists)), name=name)
