"""Proposed lists of values: usual lists, whole numbers in steps, values that many records have."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsyn_core.schema import date_formats as written_dates
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.drafts.column import COMMON, RARE, mixed
from dpsyn_core.schema.drafts.missing_codes import standing_apart
from dpsyn_core.schema.drafts.proposal import Proposal, present
from dpsyn_core.schema.drafts.ranges import MANY, decades, outward
from dpsyn_core.schema.drafts.usual_values import ORDERED, RANGES, YEARS, usual
from dpsyn_core.schema.individuals import named_like_one
from dpsyn_core.tables import amounts
from dpsyn_core.tables import canonical_text as canonical

FEW, OWN = 20, 1 / 3  # more values than so many, and than this share of the records, are no list
LISTED = 40  # whole numbers up to which their list is proposed; more are a range


def listed(drafted: dict[str, Any], base: dict[str, Any], column: Any) -> Proposal:
    """The proposal for a list of values: dates, a usual list, whole numbers, or the values of many records.

    Args:
        drafted: entry of the draft, with the values that were read.
        base: the entry with which the proposal begins.
        column: pyarrow; its records decide which values are rare.
    """
    values = drafted["values"]
    counts = _counts(drafted, column)
    seen = {"what": "values", "values": values}
    keys = [canonical.canonical(v) for v in values]
    listed = present(_texts(keys))
    dates = written_dates.dates(drafted["name"], listed) if len(listed) >= written_dates.FEW else None
    if dates is not None:
        return Proposal(name=drafted["name"], seen=seen, why="written", document=dates)
    answers = usual(keys)
    if answers is not None:
        order = sorted(range(len(keys)), key=lambda i: answers.index(keys[i].lower()))
        document = base | {"values": [values[i] for i in order]} | ({"ordered": True} if answers in ORDERED else {})
        return Proposal(name=drafted["name"], seen=seen, why="usual", document=document)
    # what is neither on a list of numbers nor blank comes back blank: it has no cell of its own where blanks have one,
    # and cells such as NA, which are no number, are blank as they are in other columns of numbers
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
    # a constant has none: its noise would come out as a value that nobody has
    other = len(values) > 1 and not (whole and base.get("missing"))
    if whole:
        apart = standing_apart(
            np.array(sorted(values), np.float64), np.array([counts.get(str(v), 0) for v in sorted(values)]), COMMON
        )  # which are no ends of a list
        codes = [int(c) for c in apart]
        kept = [v for v in values if v not in codes]
        low, high, step = min(kept), max(kept), math.gcd(*kept)
        base |= {"ordered": not codes}
        # doses of 5, 10 and 20: no dose of 18; of fines of 10, 15, 25, 40, 55 and 110 most steps are none
        if step > 1 and len(kept) > 2 and (high - low) // step < min(LISTED, 2 * len(kept)):
            document = base | {"values": [*range(low, high + 1, step), *codes], "other": other}
            return Proposal(name=drafted["name"], seen=seen, why="steps", document=document)
        first, last = _few(low, high, drafted["name"])
        if last - first < LISTED:
            document = base | {"values": [*range(first, last + 1), *codes], "other": other}
            return Proposal(name=drafted["name"], seen=seen, why="number", document=document)
        rare = sum(counts.get(k, 0) for k in keys if counts.get(k, 0) < COMMON)
        if rare > RARE * sum(counts.get(k, 0) for k in keys) and not named_like_one(drafted["name"]):
            return _range(drafted, kept, codes)
    if (ages := _with_ends(values, counts)) is not None:
        return Proposal(name=drafted["name"], seen=seen, why="number", document=base | ages | {"other": other})
    unread = sum(counts.get(k, 0) for k in keys if counts.get(k, 0) < COMMON) > RARE * sum(counts.values())
    if len(values) > FEW and unread and mixed(listed):  # nearly all of its numbers would come out as others
        return Proposal(name=drafted["name"], seen=seen, why="mixed", document=None)
    values, keys, base = _in_order(values, keys, base)
    common = [v for v, k in zip(values, keys, strict=True) if counts.get(k, 0) >= COMMON]
    if not common and len(values) > FEW and len(values) > OWN * len(column):
        # names of a small table: a list of them would be a list of its records
        why = "unique" if len(values) >= len(column) else "many"
        seen = {"what": "distinct", "count": len(values), "records": len(column)}
        return Proposal(name=drafted["name"], seen=seen, why=why, document=None)
    why, rare = ("common", len(values) - len(common)) if common else ("few", 0)
    document = base | {"values": common or list(values), "other": other}
    return Proposal(name=drafted["name"], seen=seen, why=why, document=document, rare=rare)


def _with_ends(values: list[Any], counts: Mapping[str, int]) -> dict[str, Any] | None:
    """All whole numbers between those of a list, with the ends that were cut off (90+, <5), in order; None for others.

    Only where numbers that few records have are so many that their records would become others.
    """
    texts = [str(v) for v in values]
    numbers = sorted(int(v) for v in texts if re.fullmatch(r"0|[1-9]\d{0,3}", v))
    below = [v for v in texts if re.match(r"[<≤]\s*\d", v)]
    above = [v for v in texts if re.match(r"[>≥]\s*\d|\d+\s*\+$", v)]
    rare = sum(counts.get(str(n), 0) for n in numbers if counts.get(str(n), 0) < COMMON)
    if not numbers or len(numbers) + len(below) + len(above) < len(texts) or not below + above:
        return None
    if rare <= RARE * sum(counts.values()) or numbers[-1] - numbers[0] >= MANY:
        return None
    return {"values": [*below, *map(str, range(numbers[0], numbers[-1] + 1)), *above], "ordered": True}


def _in_order(values: list[Any], keys: list[str], base: dict[str, Any]) -> tuple[list[Any], list[str], dict[str, Any]]:
    """Listed amounts (5%, 10%) in the order of their numbers, as an ordered list; others as they are."""
    form = amounts.recognised(_texts(keys).combine_chunks()) if values else None
    if form is None or form.clock:  # times would be taken for numbers of minutes
        return values, keys, base
    numbers = [float(n) for n in amounts.plain(_texts(keys).combine_chunks(), form).to_pylist()]
    order = sorted(range(len(keys)), key=numbers.__getitem__)
    return [values[i] for i in order], [keys[i] for i in order], base | {"ordered": True}


def _range(drafted: Mapping[str, Any], values: list[int], codes: list[int]) -> Proposal:
    """Whole numbers of which few occur, far apart: a range, for a list would be mostly of numbers that nobody has.

    codes: such as -9, which have separate cells.
    """
    name = drafted["name"]
    low, high = outward(min(values), max(values), name, whole=True)
    document = {"name": name, "kind": "numeric", "dtype": "integer", "min": low, "max": high, "source": "public"}
    document |= {k: drafted[k] for k in ("label", "description", "missing") if k in drafted}
    document |= {"special_values": codes} if codes else {}
    seen = {"what": "range", "low": min(values), "high": max(values)}
    return Proposal(name=name, seen=seen, why="rounded", document=document)


def _few(low: int, high: int, name: str) -> tuple[int, int]:
    """All whole numbers of a short list, from 0 or 1 where it begins near them, with a usual range by its header."""
    words = {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    for topic, first, last in RANGES:
        if words & topic and first <= low and high <= last and last - first < MANY:
            return first, last
    if low >= YEARS[0] and high <= YEARS[1]:
        return decades(low, high)
    return (min(low, 1) if 0 <= low <= 5 else low), high


def _counts(drafted: Mapping[str, Any], column: Any) -> dict[str, int]:
    """Records by value as canonical text; listed numbers in every spelling of them."""
    if any(isinstance(v, float) for v in drafted["values"]):
        listed = CategoricalAttribute.model_validate({"name": drafted["name"], "values": drafted["values"]})
        at = listed.match(column)[0]
        return dict(zip(listed.keys, np.bincount(at[at >= 0], minlength=len(listed.keys)).tolist(), strict=True))
    entries, index = canonical.uniques(column)
    texts = canonical.to_text(entries).to_pylist()
    counts = np.bincount(index[index >= 0], minlength=len(texts))
    return {canonical.canonical(k): int(c) for k, c in zip(texts, counts, strict=True)}


def _texts(values: list[str]) -> Any:
    import pyarrow as pa

    return pa.chunked_array([pa.array(values, pa.string())])
