"""Tables that others published with noise: a CSV of their cells, each with its count and the sigma of its noise.

One row is one cell. Its values stand under the names of the columns; a column that is blank takes no part in the table,
so that the rows that fill the same columns are one table. All cells of a table have to be there, with one sigma.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SettingError, SizeError, TableError
from dpsyn_core.estimate import Measurement, ReleasedFile, ReleasedTables
from dpsyn_core.privacy import Budget
from dpsyn_core.questions import code_of
from dpsyn_core.runs.refits.refit import Published, Reusable, check_noise
from dpsyn_core.schema import Schema
from dpsyn_core.tables import read_table

COUNT, SIGMA = "count", "sigma"
MOST_BYTES = 1 << 28  # of the file
MOST_CELLS = 20_000_000  # rows of it


def published_tables(path: Path, schema: Schema, whose: Published) -> Reusable:
    """Reads the tables of others, ready for `refit`.

    Args:
        path: CSV or Parquet: a column for each attribute, `count` and `sigma`. See docs/reference/refit.md.
        schema: public metadata of the columns; what is not in it is refused.
        whose: who published them, and what they state.

    Raises:
        TableError: a cell is not one of the schema, is missing or stands twice, or has no count or sigma.
        SettingError, BudgetError: whose they are, or the promise, is missing.
        SizeError: the file is larger than is read.
    """
    Budget(epsilon=whose.epsilon, delta=whose.delta)
    if not whose.by.strip():
        msg = "say who published the tables: their promise is named in the manifest"
        raise SettingError(msg)
    if not path.is_file():
        msg = f"cannot read '{path}': it is no file; name a CSV or Parquet file of cells"
        raise TableError(msg)
    size = path.stat().st_size
    if size > MOST_BYTES:
        msg = f"'{path.name}' has {size >> 20} MB, above the cap of {MOST_BYTES >> 20}; leave the largest tables out"
        raise SizeError(msg)
    content = read_table(path)
    if content.num_rows > MOST_CELLS:
        msg = f"'{path.name}' has {content.num_rows:,} cells, above the cap of {MOST_CELLS:,}; leave large tables out"
        raise SizeError(msg)
    names_in = {a.name for a in schema.coded}
    names = [n for n in content.column_names if n not in (COUNT, SIGMA)]
    lacking = [c for c in (COUNT, SIGMA) if c not in content.column_names]
    unknown = [n for n in names if n not in names_in]
    if lacking or unknown:
        what = (
            f"has no column '{lacking[0]}'" if lacking else f"has the column '{unknown[0]}', which the schema has not"
        )
        msg = f"'{path.name}' {what}; it needs columns of the schema, '{COUNT}' and '{SIGMA}'"
        raise TableError(msg)
    released = ReleasedFile(measurements=_tables(content, names, schema, path.name), schema=schema)
    check_noise(released, path.name)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Reusable(released=released, paid=whose, columns=schema.output_names, sha256=digest)


def _tables(content: Any, names: list[str], schema: Schema, file: str) -> ReleasedTables:
    """Every table, in the order in which they begin."""
    counts, sigmas = (_numbers(content, n, file) for n in (COUNT, SIGMA))
    if not len(counts):
        msg = f"'{file}' has no rows; each is one cell of a table"
        raise TableError(msg)
    codes = {n: _codes(content, n, schema, file) for n in names}
    filled = np.stack([codes[n] >= 0 for n in names]) if names else np.zeros((0, len(counts)), dtype=bool)
    sets, first, which = np.unique(filled, axis=1, return_index=True, return_inverse=True)
    domain, out = schema.domain(), ReleasedTables()
    for number in np.argsort(first):
        of = domain.ordered_set([n for n, used in zip(names, sets[:, number], strict=True) if used])
        rows = np.flatnonzero(which.ravel() == number)
        what = f"the table of {' x '.join(of) or 'the total'} in '{file}'"
        if domain.cells(of) != len(rows):
            msg = f"{what} has {len(rows)} cells, and by the schema it has {domain.cells(of)}; list each once"
            raise TableError(msg)
        flat = np.ravel_multi_index([codes[n][rows] for n in of], domain.shape(of)) if of else np.zeros(1, np.intp)
        if len(np.unique(flat)) != len(flat):
            msg = f"{what} lists a cell twice; list each once"
            raise TableError(msg)
        if len(np.unique(sigmas[rows])) > 1:
            msg = f"{what} has cells of different sigma; a table has one, so list it as several or state the largest"
            raise TableError(msg)
        values = np.empty(len(rows))
        values[flat] = counts[rows]
        out.append(Measurement(attributes=of, values=values.reshape(domain.shape(of)), sigma=float(sigmas[rows[0]])))
    return out


def _numbers(content: Any, name: str, file: str) -> NDArray[np.float64]:
    """A column of finite numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(content.column(name), pa.float64()).to_numpy()
    except pa.ArrowInvalid as error:
        msg = f"the column '{name}' of '{file}' holds something that is no number; write 1234.5"
        raise TableError(msg) from error
    out = np.asarray(numbers, dtype=np.float64)
    if not np.isfinite(out).all() or (np.abs(out) > 1e15).any():
        msg = f"the column '{name}' of '{file}' has a blank or infinite cell; every cell of a table needs a number"
        raise TableError(msg)
    return out


def _codes(content: Any, name: str, schema: Schema, file: str) -> NDArray[np.intp]:
    """The code of each cell of a column, -1 where it is blank."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = pc.dictionary_encode(pc.cast(content.column(name), pa.string())).combine_chunks()
    words, attribute = coded.dictionary.to_pylist(), schema[name]
    try:
        codes = [-1 if not (w or "").strip() else code_of(attribute, w) for w in words]
    except ValueError as error:
        msg = f"'{file}': {error}"
        raise TableError(msg) from error
    at = coded.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
    out: NDArray[np.intp] = np.array([*codes, -1], dtype=np.intp)[at]
    return out
