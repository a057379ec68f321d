"""A real panel from a file as linked tables: persons with what never changes, and their waves. For work only.

What is public about it is read from the file, so that its releases are no private ones: the schema says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.linked_tables import Shaped, linked, listed

FEW = 12  # values of a whole number up to which each is listed
BINS = 20  # of other numbers
FRESH = 900  # seeds from here on ask for a table of persons drawn again


def attribute(name: str, column: Any) -> dict[str, Any]:
    """As a list of values where there are few, else as a number in bins."""
    values = np.unique(column)
    if len(values) <= FEW:
        return listed(name, 0, ordered=True) | {"values": [v.item() for v in values]}
    whole = bool((values == np.round(values)).all())
    bins = min(BINS, int(values[-1] - values[0]) + 1) if whole else BINS
    return {
        "name": name, "kind": "numeric", "dtype": "integer" if whole else "float", "min": values[0].item(),
        "max": values[-1].item(), "bins": {"count": bins},
    }  # fmt: skip


def panel_of(path: Path, person: str, wave: str, columns: Sequence[str]) -> Callable[..., Shaped]:
    """A shape as in `benchmarks.linked_tables`: the file's own tables, or for seeds from FRESH on persons drawn again.

    Args:
        path: CSV.
        person: column that names persons.
        wave: column that orders a person's rows.
        columns: of it; those that never change within a person are the person's.
    """
    table = pd.read_csv(path)[[person, wave, *columns]]
    constant = [n for n in columns if (table.groupby(person)[n].nunique() == 1).all()]
    changing = [n for n in columns if n not in constant]
    waves = int(table[wave].nunique())
    schema = linked(
        path.stem,
        {
            "persons": (person, [attribute(n, table[n]) for n in constant]),
            "waves": (None, [attribute(n, table[n]) for n in (wave, *changing)]),
        },
        [{"parent": "persons", "child": "waves", "key": person, "max_children": waves, "order": wave,
          "distinct": True}],
        unit={"source": "data"},
    )  # fmt: skip

    def shape(seed: int, roots: int | None = None) -> Shaped:
        names = table[person].unique()
        found = table
        if seed >= FRESH or roots is not None:
            drawn = np.random.default_rng(seed).choice(names, len(names) if roots is None else roots)
            of = table.groupby(person).indices
            rows = [of[name] for name in drawn]
            found = table.iloc[np.concatenate(rows)].copy()
            found[person] = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
        persons = found.drop_duplicates(person)[[person, *constant]]
        return Shaped(
            tables={
                "persons": pa.Table.from_pandas(persons, preserve_index=False),
                "waves": pa.Table.from_pandas(found[[person, wave, *changing]], preserve_index=False),
            },
            schema=schema,
        )

    return shape
