"""Words that are values in a table and that pandas reads as blank cells, such as NA: said next to figures and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ui.shared.text import t
from ui.shared.theme import note

if TYPE_CHECKING:
    from dpsyn_core.schema import Schema

# what pandas.read_csv takes for nothing unless it is asked not to (its documentation, na_values)
WORDS = frozenset({
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
    "NaN", "None", "n/a", "nan", "null",
})  # fmt: skip
NAMED = 5  # values that the sentence names


def blank_words(schema: Schema) -> list[tuple[str, str]]:
    """Columns and their declared values of this kind; public knowledge alone."""
    return [(a.name, key) for a in schema.coded for key in a.keys if key in WORDS]


def point_out_blank_words(schema: Schema) -> None:
    """Says which values a pandas user will not find, and how to find them; nothing where there is none."""
    found = blank_words(schema)
    if found:
        cells = ", ".join(f"{name}: {value}" for name, value in found[:NAMED])
        note(t("blank_words.said", cells=cells + (" ..." if len(found) > NAMED else "")), "warning")
