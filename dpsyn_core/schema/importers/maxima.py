"""Specifications of the NIST 2018 challenge, {"COLUMN": {"type": "enum", "maxval": M}}, as schemas; and back again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.importers.codebook import Codebook, CodebookEntry

LISTED = 65_535  # an enumeration up to this many codes is a list: with a missing cell, what 16 bits hold in rls
SINGLE = 1000  # whole numbers up to this distance from zero keep a cell each
WIDTH = 0.01  # relative width of the bins beyond
KEPT = "parameters"  # key under which an entry is kept as it was written


def import_maxima(document: Mapping[str, Any], codebook: Codebook | None = None, *, name: str = "imported") -> Schema:
    """A specification as a schema in which no code is lost.

    An enumeration stays the list of its codes 0..M; with a codebook that lists its codes, of those that both have,
    with their words. A column of which the codebook lists no codes, or special ones alone, is a number: zero, the
    special codes and the top code have a cell each, see `fine_bins` for the rest. Without a codebook only an
    enumeration of more than 65,535 codes is taken for a number, with M as its special code.

    Raises:
        SchemaError: an entry has no type or limit that is recognised, or the codebook lists none of its codes.
    """
    attributes = []
    for column, entry in document.items():
        words = (codebook or {}).get(column)
        attribute = _attribute(column, entry, words, described=bool(codebook))
        attributes.append(attribute | _words(words, attribute))
    out = Schema.of({"version": 1, "name": name, "attributes": attributes})
    if codebook is not None and not any(n in codebook for n in document):
        msg = "the codebook describes no column of the specification; check that both are of the same extract"
        raise SchemaError(msg)
    return out


def _attribute(
    column: str, entry: Mapping[str, Any], words: CodebookEntry | None, *, described: bool
) -> dict[str, Any]:
    kind, low, high = _limits(column, entry)
    out: dict[str, Any] = {"name": column, "missing": bool(entry.get("optional", False))}
    notes = {"notes": {KEPT: dict(entry)}}
    if kind == "float":
        cut = {"kind": "numeric", "dtype": "float", "min": low, "max": high}
        return out | cut | notes
    small = high - low < LISTED
    if words is not None and words.is_list(low, high):
        kept = [c for c in sorted(words.codes) if low <= c <= high]
        listed = {"kind": "categorical", "values": kept, "ordered": words.counts}
        labels = {str(c): words.codes[c] for c in kept}
        return out | listed | {"notes": {KEPT: dict(entry), "labels": labels}}
    if kind == "enum" and small and not (described and words is not None):
        return out | {"kind": "categorical", "values": list(range(low, high + 1))} | notes
    return out | number(low, high, words, top_is_special=kind == "enum") | notes


def number(low: int, high: int, words: CodebookEntry | None, *, top_is_special: bool) -> dict[str, Any]:
    """Whole numbers in low..high: special codes and the top code have separate cells, the rest is cut finely."""
    special = list(words.special_codes(low, high)) if words is not None else []
    top = words.top_code(low, high) if words is not None else None
    if top is None and not special and top_is_special and high - low >= LISTED:
        special = [high]
    if top is not None:
        special, high = [top, *special], top - 1
    while high in special and high > low:  # special codes at the end of the range are not part of it
        high -= 1
    out = {"kind": "numeric", "dtype": "integer", "min": low, "max": high, "bins": fine_bins(low, high)}
    return out | {"special_values": special}


def fine_bins(low: int, high: int) -> dict[str, Any]:
    """Bins of whole numbers: single ones up to 1,000 from zero, beyond it bins 1 % wide.

    A number drawn uniformly in a bin 1 % wide is .3 % off on average, so that means and Gini indices stay.
    """
    if low >= -SINGLE and high <= SINGLE:
        return {"count": high - low + 1}
    near = range(max(low, -SINGLE), min(high, SINGLE) + 1)
    up = _rising(max(low, SINGLE + 1), high)
    down = [1 - e for e in reversed(_rising(max(-high, SINGLE + 1), -low))] if low < -SINGLE else []
    starts = sorted(s for s in {low, *down, *near, *up} if s <= high)
    # the last bin is closed at the end of the range
    return {"edges": starts[:-1] if starts[-1] == high > low else starts}


def _rising(start: int, last: int) -> list[int]:
    out = []
    while start <= last:
        out.append(start)
        start += max(1, math.floor(WIDTH * start))
    return out


def _limits(column: str, entry: Mapping[str, Any]) -> tuple[str, int, int]:
    """Type, smallest and largest value of an entry. Raises SchemaError."""
    kind = str(entry.get("type", "enum")).lower()
    top = entry.get("maxval", entry.get("max"))
    low = entry.get("min", 0)
    kinds = {"enum": "enum", "integer": "integer", "int": "integer", "float": "float"}
    whole = kinds.get(kind) != "float"
    fits = all(isinstance(v, int if whole else int | float) and not isinstance(v, bool) for v in (low, top))
    if kind not in kinds or not fits or low > top:
        msg = (
            f"column '{column}' of the specification needs a type (enum, integer or float) and a maxval of at least "
            f"its min (0 where it names none), got {dict(entry)}"
        )
        raise SchemaError(msg)
    return kinds[kind], low, top


def _words(words: CodebookEntry | None, made: Mapping[str, Any]) -> dict[str, Any]:
    return {} if words is None or "description" in made else {"description": words.label}


def export_maxima(schema: Schema) -> dict[str, Any]:
    """The specification that a schema was imported from, entry by entry. Raises SchemaError for other schemas."""
    out = {a.name: a.notes.get(KEPT) for a in schema.attributes}
    for name, entry in out.items():
        if not isinstance(entry, dict) or not ("maxval" in entry or "max" in entry):
            msg = f"attribute '{name}' was not imported from a specification with maxval; export the schema instead"
            raise SchemaError(msg)
    return out


def binned(schema: Schema) -> list[str]:
    """One sentence for every attribute in which a cell holds several values, so that nothing is rounded unsaid."""
    return [
        f"'{a.name}' from {a.min} to {a.max} is binned into {a.binning.size} cells{_alone(a)}"
        for a in schema.coded
        if a.binning is not None and (a.dated or not (a.whole and a.binning.single))
    ]


def _alone(attribute: Any) -> str:
    """The numbers that have a separate cell, in words."""
    alone = [str(v) for v in attribute.single_values]
    if attribute.whole and not attribute.dated:
        first, last = attribute.binning.bounds()
        alone = [*(["0"] if ((first == 0) & (last == 0)).any() else []), *alone]
    return f"; {', '.join(alone)} alone" if alone else ""
