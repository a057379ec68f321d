"""What the words of a question mean in a schema: which codes a value names, which numbers cells stand for."""

from __future__ import annotations

import math
import re
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import QuestionError
from dpsyn_core.estimate import Coarsening
from dpsyn_core.questions.forms import (
    Bins,
    GroupBins,
    PeriodBins,
    QuestionCountBins,
    QuestionEdgeBins,
    Value,
    WidthBins,
)
from dpsyn_core.schema import Schema, ends_of
from dpsyn_core.tables import Clause, canonical, clauses, unquoted

Floats = NDArray[np.float64]
RANK = re.compile(r"^\d{1,3}$")  # of a bin of dates, as documents named them before dates could be written


def attribute_of(schema: Schema, name: str) -> Any:
    """The coded attribute of this name. Raises QuestionError for an unknown one, or one that is not synthesized."""
    names = [a.name for a in schema.coded]
    if name in names:
        return schema[name]
    some = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    if any(a.name == name for a in schema.attributes):
        msg = f"'{name[:80]}' is not synthesized, so nothing can be asked of it; the columns that are: {some}"
        raise QuestionError(msg)
    msg = f"'{name[:80]}' is no column of the schema; it has {some}{unquoted(name, names)}"
    raise QuestionError(msg)


def code_of(attribute: Any, value: Value) -> int:
    """The code of a value, which is written as the schema writes it or as figures label it. Raises QuestionError."""
    words = [*attribute.keys, *attribute.labels()[len(attribute.keys) :]] if attribute.listed else attribute.labels()
    text = canonical(value)
    for spelled in (words, attribute.labels()):
        if text in spelled:
            return int(spelled.index(text))
    some = ", ".join(words[:8]) + (", ..." if len(words) > 8 else "")
    msg = f"'{text[:80]}' is no value of '{attribute.name}' in the schema; its values are {some}"
    raise QuestionError(msg)


def numbers_of(attribute: Any) -> Floats:
    """The number that each cell stands for, NaN for cells without one, shape (size,). Raises QuestionError.

    Middles of bins, listed values that are numbers; dates have none that can be added up.
    """
    values = attribute.numbers()
    if values is None:
        msg = f"'{attribute.name}' holds no numbers, so it has no mean, sum or quantile; name a numeric column"
        raise QuestionError(msg)
    out: Floats = np.asarray(values, dtype=np.float64)
    return out


def spans(attribute: Any) -> tuple[Floats, Floats]:
    """Lower and upper end of each cell of a number, between which its records are taken to be spread evenly.

    A listed value is a point, and so is a bin that holds one multiple of the step: half of the fines are 0, not .14.
    """
    numbers = numbers_of(attribute)
    if attribute.binning is None:
        return numbers, numbers
    alone = np.append(attribute.binning.alone(), np.zeros(attribute.special, dtype=bool))
    ends = (np.append(np.asarray(b, dtype=np.float64), np.zeros(attribute.special)) for b in attribute.binning.bounds())
    low, high = (np.where(alone, numbers, end) for end in ends)
    return low, high


def ranked(attribute: Any) -> int:
    """How many codes at the front have an order; 0 where none have."""
    return int(attribute.size - attribute.special) if attribute.in_order else 0


def numeric(attribute: Any) -> bool:
    """Whether its cells stand for numbers."""
    return attribute.numbers() is not None


def interval_ends(attribute: Any, clause: Clause) -> tuple[float, float]:
    """The two ends of an interval, which both lie in it. Raises QuestionError."""
    return ends_of(attribute, clause)


def within(attribute: Any, clause: Clause) -> Floats:
    """The share of each cell that meets a condition, shape (size,): 0, 1, or part of a bin that an end cuts.

    Numbers and dates are taken to be spread evenly inside their bin. Ordered values that are no numbers count as their
    ranks, and so do dates where both ends are small whole numbers.
    """
    out = _within(attribute, clause)
    return 1.0 - out if clause.negated else out


def _within(attribute: Any, clause: Clause) -> Floats:
    if not clause.interval:
        out = np.zeros(attribute.size)
        for value in clause.values:
            out = np.maximum(out, _equal(attribute, clause.attribute, value))
        return out
    share = np.zeros(attribute.size)
    binning = attribute.binning
    by_rank = attribute.dated and all(RANK.match(v) for v in clause.values)
    if binning is None or by_rank:
        low, high = (float(v) for v in clause.values) if by_rank else interval_ends(attribute, clause)
        middles = attribute.middles() if numeric(attribute) else np.arange(ranked(attribute), dtype=np.float64)
        places = np.asarray(middles[: attribute.size], dtype=np.float64)
        share[: len(places)] = (places >= low) & (places <= high)
        return share
    low, high = interval_ends(attribute, clause)
    first, last = (np.asarray(b, dtype=np.float64) for b in binning.bounds())
    if attribute.whole:
        low = math.ceil(low) if math.isfinite(low) else low
        last, high = last + 1.0, math.floor(high) + 1.0 if math.isfinite(high) else high
    width = np.where(last > first, last - first, 1.0)
    share[: len(first)] = np.clip((np.minimum(last, high) - np.maximum(first, low)) / width, 0.0, 1.0)
    point = (last == first) & (first >= low) & (first <= high)
    share[: len(first)][point] = 1.0
    return share


def conditions(where: str, schema: Schema) -> dict[str, Floats]:
    """For each attribute of the conditions the share of each of its cells that meets all of them, shape (size,)."""
    out: dict[str, Floats] = {}
    for clause in clauses(where):
        passes = within(schema[clause.attribute], clause)
        out[clause.attribute] = out.get(clause.attribute, np.ones(len(passes))) * passes
    return out


def groups_of(attribute: Any, bins: Bins | None) -> tuple[Coarsening, list[str]]:
    """The groups that a column is broken down into, in bins or value by value, and labels. Raises QuestionError."""
    if bins is None:
        return Coarsening.identity(int(attribute.size)), list(attribute.labels())
    return coarse_of(attribute, bins)


def coarse_of(attribute: Any, bins: Bins) -> tuple[Coarsening, list[str]]:
    """A public coarsening and one label a coarse code. Raises QuestionError.

    Cells without order (missing, special values) keep a coarse code each.
    """
    plain = attribute.size - attribute.special
    if isinstance(bins, GroupBins):
        return _grouped(attribute, bins)
    if not ranked(attribute) and not numeric(attribute):
        msg = f"'{attribute.name}' has no order, so it has no bins of numbers; write {{'groups': [['a', 'b'], ...]}}"
        raise QuestionError(msg)
    labels = attribute.labels()
    if isinstance(bins, QuestionCountBins):
        key = Coarsening.even(attribute, bins.count).map[:plain]
        names = [_span(labels, np.flatnonzero(key == k)) for k in range(int(key.max(initial=-1)) + 1)]
    elif isinstance(bins, PeriodBins):
        key, names = _periods(attribute, bins)
    elif attribute.dated:
        msg = f"'{attribute.name}' holds dates; give them bins by {{'every': 'month'}} (day, month, quarter or year)"
        raise QuestionError(msg)
    else:
        numbers = numbers_of(attribute)[:plain]
        if isinstance(bins, WidthBins):
            raw = np.floor(numbers / float(bins.width)).astype(np.int64)
        elif isinstance(bins, QuestionEdgeBins):
            raw = np.searchsorted(np.asarray(bins.edges, dtype=np.float64), numbers, side="right")
        kept, first = np.unique(raw, return_index=True)
        key = np.searchsorted(kept, raw)
        order = first if len(first) else np.zeros(0, dtype=np.intp)
        names = [_named(bins, int(kept[k]), labels[int(order[k])]) for k in range(len(kept))]
    rest = np.arange(attribute.special) + len(names)
    return Coarsening.of(np.concatenate([key, rest])), [*names, *labels[plain:]]


def _periods(attribute: Any, bins: PeriodBins) -> tuple[NDArray[np.intp], list[str]]:
    """Which period each bin of dates begins in, and the periods as 2020-01-31, 2020-01, 2020-Q1 or 2020."""
    if not attribute.dated:
        msg = f"'{attribute.name}' holds no dates; give it bins by {{'width': 10}}, {{'count': 8}} or {{'edges': [..]}}"
        raise QuestionError(msg)
    starts = attribute.binning.starts.astype(f"datetime64[{'s' if attribute.precise else 'D'}]")
    if bins.every == "quarter":
        quarters = starts.astype("datetime64[M]").astype(np.int64) // 3
        names, key = np.unique(quarters, return_inverse=True)
        return key.astype(np.intp), [f"{1970 + q // 4}-Q{q % 4 + 1}" for q in names.tolist()]
    code: Literal["D", "M", "Y"] = {"day": "D", "month": "M", "year": "Y"}[bins.every]  # type: ignore[assignment]
    periods, key = np.unique(starts.astype(f"datetime64[{code}]"), return_inverse=True)
    return key.astype(np.intp), [str(p) for p in periods]


def _grouped(attribute: Any, bins: GroupBins) -> tuple[Coarsening, list[str]]:
    key = np.full(attribute.size, -1, dtype=np.intp)
    names = []
    for number, group in enumerate(bins.groups):
        for value in group:
            code = code_of(attribute, value)
            if key[code] >= 0:
                msg = f"the value '{canonical(value)[:80]}' of '{attribute.name}' stands in two groups; list it once"
                raise QuestionError(msg)
            key[code] = number
        names.append(" or ".join(canonical(v) for v in group))
    if (key < 0).any():
        key[key < 0] = len(names)
        names.append("(all others)")
    if len(set(names)) < len(names):
        names = [f"{i + 1}: {n}" for i, n in enumerate(names)]
    return Coarsening.of(key), names


def _named(bins: Bins, number: int, label: str) -> str:
    if isinstance(bins, WidthBins):
        return f"{canonical(number * bins.width)} to under {canonical((number + 1) * bins.width)}"
    if isinstance(bins, QuestionEdgeBins):
        edges = bins.edges
        if number == 0:
            return f"under {canonical(edges[0])}"
        if number == len(edges):
            return f"{canonical(edges[-1])} and more"
        return f"{canonical(edges[number - 1])} to under {canonical(edges[number])}"
    return label


def _span(labels: list[str], codes: NDArray[np.intp]) -> str:
    return labels[int(codes[0])] if len(codes) == 1 else f"{labels[int(codes[0])]} to {labels[int(codes[-1])]}"


def _equal(attribute: Any, name: str, text: str) -> Floats:
    """The share of each cell that equals a value: that of its label, or of a whole number inside a bin."""
    try:
        out: Floats = np.eye(attribute.size)[code_of(attribute, text)]
    except QuestionError:
        if attribute.dated:
            return _within(attribute, Clause(attribute=name, values=(text, text), interval=True))
        if not numeric(attribute) or attribute.listed:
            raise
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not attribute.whole or not float(attribute.min) <= value <= float(attribute.max):
            raise
        return _within(attribute, Clause(attribute=name, values=(text, text), interval=True))
    return out
