"""Reads the inputs of a comparison or a report: tables, schema, roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.estimate import Measurement
from dpsyn_core.evaluate import Comparison, Roles, compare_tables
from dpsyn_core.schema import Schema
from dpsyn_core.tables import Batches, ReadForm, at_most, open_table, read_table

BASE, CELL = 600 * 10**6, 24  # bytes of a report: in any case, and for each cell of the tables it reads
FEWEST = 10_000  # records that any report may read


def parse_roles(
    schema: Schema,
    *,
    income: str | None = None,
    groups: str | None = None,
    split: str | None = None,
    not_applicable: float | None = None,
    target: str | None = None,
) -> Roles:
    """Roles from the words of a command line; `split` is NAME or NAME:A,B with two values of that attribute."""
    name, sign, sides = (split or "").partition(":")
    if split is not None and split in {a.name for a in schema.coded}:
        name, sign = split, ""  # a name that holds a colon
    values = None
    if sign:
        words = list(schema[name].labels())
        given = [w.strip() for w in sides.split(",")]
        if len(given) != 2 or not set(given) <= set(words):
            msg = f"--split '{split}' needs two values of '{name}', for example {name}:{words[0]},{words[-1]}"
            raise MetricError(msg)
        values = (words.index(given[0]), words.index(given[1]))
    return Roles(
        income=income,
        group=groups,
        split=name or None,
        split_values=values,
        not_applicable=not_applicable,
        target=target,
    )


def read_comparisons(
    schema: Schema,
    real: Path | str | None,
    synthetic: Mapping[str, Path],
    *,
    held_out: Path | None = None,
    roles: Roles,
    measurements: Sequence[Sequence[Measurement]] = (),
    read_real: Callable[[Path | str], Batches] | None = None,
    most: int | None = None,
) -> dict[str, Comparison]:
    """A comparison by name of each synthetic table; private unless `real` is None.

    Args:
        schema: of all tables.
        real: the real table, or None for what reads released values alone.
        synthetic: path by name.
        held_out: real records that the synthesizer never saw.
        roles: who is the income, the group, the sides, the target.
        measurements: what was released for each synthetic table, in their order; or nothing.
        read_real: reads the real table; None: a file that needs no words about how it is read, as the others are.
        most: records of a table above which so many are drawn from it; None: all are read.
    """
    looked = None if real is None else _looked(real, most) if read_real is None else read_real(real)
    truth = None if looked is None else looked.whole()
    unseen = None if held_out is None else read_table(held_out)
    out: dict[str, Comparison] = {}
    first: Comparison | None = None
    for i, (name, path) in enumerate(synthetic.items()):
        given = _looked(path, most, multiline=True)  # released: nobody is harmed by what one record does to others
        released = measurements[i] if measurements else ()
        made = compare_tables(
            schema,
            given.whole(),
            truth,
            held_out=unseen,
            roles=roles,
            measurements=released,
            real_of=None if looked is None else looked.drawn_from,
            synthetic_of=given.drawn_from,
        )
        # one copy of the real table, and of what is learnt from it
        if first is not None and first.domain == made.domain:
            made = replace(made, real=first.real, held_out=first.held_out, shared=first.shared)
        first = first or made
        made.resolved  # noqa: B018 a role that does not fit is refused before anything is scored
        out[name] = made
    return out


def most_records(memory: int, columns: int, tables: int) -> int:
    """How many records of each of so many tables a report may read, in so much memory."""
    return max(FEWEST, (memory - BASE) // (CELL * max(1, columns) * tables))


def _looked(place: Path | str, most: int | None, *, multiline: bool = False) -> Batches:
    """The records at a place, or some of them."""
    table = open_table(place, ReadForm(multiline=multiline))
    return table.holding(table.whole()) if most is None else at_most(table, most, rng=np.random.default_rng())


def names_of(paths: list[Path]) -> dict[str, Path]:
    """A short distinct name for each file: its stem, with a number where stems repeat."""
    out: dict[str, Path] = {}
    for path in paths:
        stem = path.name.split(".")[0] or path.name
        name, k = stem, 2
        while name in out:
            name, k = f"{stem} ({k})", k + 1
        out[name] = path
    return out
