"""Names of datasets: the one that a file gives by default, and which names look like one and the same table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_ENDING = re.compile(
    r"\.(csv|tsv|txt|tab|dat|parquet|xlsx?|ods|json|z?sav|dta|sas7bdat|xpt|duckdb|sqlite3?|db)(\.(gz|zip|bz2|xz|zst))?$",
    re.IGNORECASE,
)
_LONGEST = 200


def dataset_name(file: str) -> str:
    """The default name of a table that came from a file of this name (no folder): without its ending, trimmed.

    The command and the app both take it from here, and the schema keeps it.
    """
    name = unicodedata.normalize("NFC", file).strip()
    stem = "".join(c for c in _ENDING.sub("", name) if c.isprintable()).strip()
    return stem[:_LONGEST] or "table"


def near(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Known names other than this one that differ from it by case, ending, blanks, marks or Unicode form alone."""
    mine = _key(name)
    return tuple(k for k in known if k != name and _key(k) == mine)


def near_sentence(name: str, others: Iterable[str]) -> str:
    """What to say before a run under a name that looks like others on the ledger."""
    shown = ", ".join(f"'{o}'" for o in others)
    return (
        f"this run will be booked on dataset '{name}', and the ledger knows {shown}: if that is the same table, "
        "its runs add up only under one name"
    )


def _key(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return re.sub(r"[\W_]+", "-", _ENDING.sub("", folded.strip())).strip("-") or folded
