"""Grouping: charges that differ by name alone, written as one entry of a manifest; no charge and no name is lost.

A table of 500 columns has thousands of marginals, of few different sizes and hence of few different noises. An entry of
a group has the fields of its charges, `count`, and either `names`, or `marginals`: their columns by place in the
manifest's `columns`, from 0. "0 x 3 7-9, 1 x 2" are the marginals of the columns 0 and 3, 0 and 7, 0 and 8, 0 and 9,
1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpsyn_core.privacy.charge_record import ChargeRecord

MOST_CHARGES = 1_000_000  # of one manifest that is read: more than all pairs of 1,000 columns
_MARGINAL, _BETWEEN = "marginal ", " x "

Places = tuple[int, ...]


def columns_of(charges: Iterable[ChargeRecord]) -> tuple[str, ...]:
    """The columns of all charged marginals, each once.

    Those with fewer values come first, so that columns whose marginals have the same noise have places in a row.
    """
    cells: dict[str, int] = {}
    for charge in charges:
        columns = _columns(charge.name)
        for column in columns:
            cells.setdefault(column, charge.cells if len(columns) == 1 else 0)
    return tuple(sorted(cells, key=lambda column: cells[column]))


def in_groups(charges: Sequence[ChargeRecord], columns: Sequence[str]) -> list[list[ChargeRecord]]:
    """Charges that differ by name alone, together: step by step, a step being charges of one kind in a row."""
    place = {column: i for i, column in enumerate(columns)}
    out = []
    for _, step in groupby(charges, key=lambda c: (c.kind, c.mechanism)):
        alike: dict[tuple[Any, ...], list[ChargeRecord]] = {}
        for charge in step:
            alike.setdefault(tuple(v for field, v in charge.__dict__.items() if field != "name"), []).append(charge)
        for group in alike.values():
            places = _all_places([c.name for c in group], place)
            if places is None:
                out.append(group)
            else:  # the order of a document, so that it is the same again after it was read
                order = sorted(range(len(group)), key=lambda i: (len(places[i]), places[i]))
                out.append([group[i] for i in order])
    return out


def grouped_entries(charges: Sequence[ChargeRecord], columns: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of a manifest's document, one for each group of charges that are equal but for the name."""
    out = []
    place = {column: i for i, column in enumerate(columns)}
    for group in in_groups(charges, columns):
        first = group[0].model_dump(mode="json")
        if len(group) > 1:
            names = [c.name for c in group]
            places = _all_places(names, place)
            what = {"names": names} if places is None else {"marginals": _text(places)}
            first = {"count": len(group), **what, **{k: v for k, v in first.items() if k != "name"}}
        out.append(first)
    return out


def listed_entries(entries: Sequence[Any], columns: Sequence[str]) -> list[Any]:
    """The charges, one by one, of entries as `grouped_entries` makes them; what is no group is left as it is.

    Raises:
        ValueError: an entry that names other than `count` charges, or columns that there are not.
    """
    out: list[Any] = []
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or "count" not in entry:
            out.append(entry)
            continue
        common = {k: v for k, v in entry.items() if k not in ("count", "names", "marginals")}
        names = _names(entry, columns, MOST_CHARGES - len(out), f"charges.{i}")
        out += [{"name": name, **common} for name in names]
    return out


def _names(entry: dict[str, Any], columns: Sequence[str], most: int, where: str) -> list[str]:
    count, listed, marginals = (entry.get(k) for k in ("count", "names", "marginals"))
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most:
        msg = f"{where}.count must be a whole number of charges, from 1 to {most}"
        raise ValueError(msg)
    if (listed is None) == (marginals is None) or "name" in entry:
        msg = f"{where} must have a name, or a count with names or marginals"
        raise ValueError(msg)
    names = listed if marginals is None else _read(marginals, columns, count, where)
    if not isinstance(names, list) or len(names) != count or not all(isinstance(n, str) for n in names):
        msg = f"{where} must name as many charges as it counts"
        raise ValueError(msg)
    return names


def _columns(name: str) -> list[str]:
    return name.removeprefix(_MARGINAL).split(_BETWEEN) if name.startswith(_MARGINAL) else []


def _all_places(names: Sequence[str], place: dict[str, int]) -> list[Places] | None:
    """Where the columns of each marginal stand; None where a name is no marginal of these columns."""
    columns = [_columns(n) for n in names]
    if not all(c and place.keys() >= set(c) for c in columns):
        return None
    return [tuple(place[c] for c in some) for some in columns]


def _text(marginals: Sequence[Places]) -> str:
    """Marginals in order, those that differ by their last column alone side by side."""
    parts = []
    for (_, head), some in groupby(marginals, key=lambda p: (len(p), p[:-1])):
        parts.append(_BETWEEN.join([*map(str, head), _ranges([p[-1] for p in some])]))
    return ", ".join(parts)


def _ranges(places: Sequence[int]) -> str:
    """Ascending numbers, with 7-9 for 7 8 9."""
    out: list[list[int]] = []
    for p in places:
        if out and p == out[-1][-1] + 1:
            out[-1][1:] = [p]
        else:
            out.append([p])
    return " ".join("-".join(map(str, ends)) for ends in out)


def _read(text: Any, columns: Sequence[str], count: int, where: str) -> list[str]:
    """The names behind `_text`; at most one more than `count`."""
    names: list[str] = []
    try:
        for part in text.split(", "):
            *head, last = part.split(_BETWEEN)
            start = [columns[_place(p)] for p in head]
            for ends in last.split(" "):
                low, dash, high = ends.partition("-")
                for p in range(_place(low), _place(high if dash else low) + 1):
                    names.append(_MARGINAL + _BETWEEN.join([*start, columns[p]]))
                    if len(names) > count:
                        return names
    except (AttributeError, IndexError, ValueError) as error:
        msg = f"{where}.marginals must be places among the manifest's columns, for example '0 x 3 7-9, 1 x 2'"
        raise ValueError(msg) from error
    return names


def _place(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(text)
    return int(text)
