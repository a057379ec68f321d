"""Proposals for a schema from the columns of a table.

Which numbers crowd into one bin: private shares of records, for the owner's warnings.

Proposes what could be public about columns that a draft read from the data, for a person to agree with or to change.

A draft holds the exact smallest and largest values, which are somebody's. A proposal rounds ranges outward, knows usual
lists of codes, and leaves values that few records have to a cell for others. It still depends on the data: it becomes
public knowledge when a person says that they know it without them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import date_formats as written_dates
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import READ, Schema
from dpsyn_core.schema.draft.draft import COMMON, RARE, absent, mixed
from dpsyn_core.schema.draft.missing_codes import standing_apart
from dpsyn_core.schema.individuals import named_like_one
from dpsyn_core.tables.cells import amounts, canonical, clocks
from dpsyn_core.tables.cells import numbers as casting

MOST = 100_000  # records that are looked at


def crowded(schema: Schema, table: Any) -> dict[str, float]:
    """For every number and date, the share of its records in the fullest bin. Reads the data: private.

    Args:
        schema: declares the bins.
        table: pyarrow; of a larger one, so many records spread over it are looked at.
    """
    if table.num_rows == 0:
        return {}
    if table.num_rows > MOST:
        table = table.take(np.linspace(0, table.num_rows - 1, MOST).astype(np.int64))
    codes = Codec(schema).encode(table).codes
    at = [i for i, a in enumerate(schema.coded) if a.is_number]
    numbers = [schema.coded[i] for i in at]
    return fullest([codes[i] for i in at], [(a.name, a.size, a.special) for a in numbers])


def fullest(codes: Sequence[NDArray[Any]], columns: list[tuple[str, int, int]]) -> dict[str, float]:
    """The same from codes; columns: (name, size, special cells) of the numbers, whose rows `codes` holds in order."""
    out = {}
    for row, (name, size, special) in zip(codes, columns, strict=True):
        counts = np.bincount(row, minlength=size)[: size - special]
        if counts.size > 1 and counts.sum():
            out[name] = float(counts.max() / counts.sum())
    return out


MANY = 200  # values of a list that is proposed
FEW, OWN = 20, 1 / 3  # more values than so many, and than this share of the records, are no list
LONG = 10**6  # whole numbers of so many digits that are not round may be names of things
LISTED = 40  # whole numbers up to which their list is proposed; more are a range
YEARS = (1500, 2200)
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)

# usual lists of answers, whose order means something: (values as text in lower case, in that order)
ORDERED: tuple[tuple[str, ...], ...] = (
    ("low", "medium", "high"), ("never", "sometimes", "often", "always"),
    ("poor", "fair", "good", "very good", "excellent"),
    *(("strongly disagree", "disagree", middle, "agree", "strongly agree")
      for middle in ("neutral", "neither", "neither agree nor disagree")),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("niedrig", "mittel", "hoch"), ("nie", "selten", "manchmal", "oft", "immer"),
    ("stimme gar nicht zu", "stimme eher nicht zu", "teils/teils", "stimme eher zu", "stimme völlig zu"),
    ("stimme überhaupt nicht zu", "stimme nicht zu", "neutral", "stimme zu", "stimme voll und ganz zu"),
    ("trifft gar nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu", "trifft voll zu"),
    ("sehr unzufrieden", "unzufrieden", "neutral", "zufrieden", "sehr zufrieden"),
)  # fmt: skip
# usual code lists; the spelling of the table is kept
LISTS: tuple[tuple[str, ...], ...] = (
    *ORDERED, ("no", "yes"), ("n", "y"), ("false", "true"), ("0", "1"), ("m", "f"), ("male", "female"), ("f", "m", "x"),
    ("man", "woman"), ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
     "december"),
    ("nein", "ja"), ("m", "w"), ("m", "w", "d"), ("männlich", "weiblich"), ("männlich", "weiblich", "divers"),
    ("mo", "di", "mi", "do", "fr", "sa", "so"),
    ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
    ("januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november",
     "dezember"),
    ("ledig", "verheiratet", "geschieden", "verwitwet"), ("single", "married", "divorced", "widowed"),
    ("north", "east", "south", "west"),
)  # fmt: skip
# ends of usual scales: answers, marks, shares, degrees, hours; proposed where a column has just these ends
SCALES = frozenset({
    (0, 1), (0, 4), (0, 5), (0, 6), (0, 10), (0, 20), (0, 24), (0, 100), (0, 360), (1, 4), (1, 5), (1, 6), (1, 7),
    (1, 10), (1, 12), (1, 20), (1, 31), (1, 100), (-1, 1), (-2, 2), (-3, 3), (-5, 5), (-10, 10), (-90, 90),
    (-100, 100), (-180, 180),
})  # fmt: skip
HUNDRED = 100
NEAR_DAYS, NEAR_MONTHS = 3, 92  # times of so few days get whole days as their ends, and of a season whole months: a
# range is cut into a thousand bins, and of a year they are nine hours wide
MARKS = 20  # the largest one that is given
# whole numbers with a usual range: words of the header, first, last
RANGES: tuple[tuple[frozenset[str], int, int], ...] = (
    (frozenset({"age", "ages", "alter", "edad"}), 0, 120),
    (frozenset({"month", "mon", "mnth"}), 1, 12),
    (frozenset({"weekday", "dow"}), 0, 7),
    (frozenset({"hour", "hr"}), 0, 24),
    (frozenset({"percent", "pct", "percentage"}), 0, 100),
)
# the same of numbers with decimals: German marks, which end at 6, and American ones
AVERAGES: tuple[tuple[frozenset[str], float, float], ...] = (
    (frozenset({"note", "noten", "notenschnitt", "durchschnittsnote", "abschlussnote", "abiturnote", "zensur"}), 1, 6),
    (frozenset({"gpa"}), 0, 4),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """What is proposed for one column. `document`: the attribute as public knowledge, or None where nothing is.

    seen: what the draft saw, in words; private. why: how the proposal was made, one of the words of the page's
    catalogue (`rounded`, `scale`, `usual`, `steps`, `common`, `few`, `calendar`, `months`, `days`, `written`, `number`,
    `many`, `unique`, `person`, `blank`).
    rare: values that few records have and that go to the others; private.
    """

    name: str
    seen: Mapping[str, Any]
    why: str
    document: dict[str, Any] | None
    rare: int = 0


def propose(schema: Schema, table: Any) -> list[Proposal]:
    """A proposal for every column of a draft that nobody has confirmed. Reads the data: private.

    Args:
        schema: with columns whose source is the data.
        table: pyarrow; the one that was drafted.
    """
    have = {n: i for i, n in enumerate(table.column_names)}
    return [
        _one(a.document(), table.column(have[a.name]), table.num_rows)
        for a in schema.attributes
        if a.source in READ and a.name in have
    ]


def _one(drafted: dict[str, Any], column: Any, records: int) -> Proposal:
    name, kind = drafted["name"], drafted["kind"]
    base = {k: v for k, v in drafted.items() if k != "source"} | {"source": "public"}
    if kind == "numeric" and drafted["dtype"] == "integer" and named_like_one(name):
        seen = {"what": "range", "low": drafted["min"], "high": drafted["max"]}
        return Proposal(name=name, seen=seen, why="person", document=None)
    if kind == "numeric" and drafted["dtype"] == "integer" and (dates := _numbers_of_days(drafted, column)) is not None:
        seen = {"what": "range", "low": drafted["min"], "high": drafted["max"]}
        return Proposal(name=name, seen=seen, why="written", document=dates)
    if (codes := _numbers_of_things(drafted, column)) is not None:
        listed = {k: v for k, v in base.items() if k in ("name", "source", "label", "description", "missing")}
        told = {"kind": "categorical", "values": codes, "ordered": False}
        return _categories(drafted | told, listed | told, column)
    if kind == "numeric":
        marks, clock = _marks(drafted), _clock(drafted)
        low, high = (
            marks or clock or _outward(drafted["min"], drafted["max"], name, whole=drafted["dtype"] == "integer")
        )
        low, high = _on_grid(low, high, drafted.get("step"))
        base.pop("bins", None)
        made = base | {"min": low, "max": high} | _bins(drafted, low, high)
        seen = {"what": "range", "low": drafted["min"], "high": drafted["max"]}
        why = "scale" if marks or {(drafted["min"], drafted["max"]), (low, high)} <= SCALES else "rounded"
        why = "clock" if clock else why
        return Proposal(name=name, seen=seen, why=why, document=made)
    if kind == "datetime":
        shown = drafted.get("formats")
        low, high = _seen_dates(column, shown[0]) if shown else (drafted["min"], drafted["max"])
        seen = {"what": "range", "low": low, "high": high}
        timed = len(low) == len("2024-01-31T12:00:00")  # of such a form the draft has whole years
        first, last, ends = _calendar(*((low, high) if timed else (drafted["min"], drafted["max"])))
        why = "written" if shown else ends
        return Proposal(name=name, seen=seen, why=why, document=base | {"min": first, "max": last})
    if kind == "categorical":
        return _categories(drafted, base, column)
    return _left_out(drafted, column, records)


def _seen_dates(column: Any, way: str) -> tuple[str, str]:
    """The first and the last date of a column that the draft gave whole years."""
    texts = canonical.to_text(canonical.uniques(column)[0])
    return written_dates.ends(_present(texts.filter(_not(canonical.blanks(texts)))), way)


def _numbers_of_days(drafted: Mapping[str, Any], column: Any) -> dict[str, Any] | None:
    """Whole numbers that are dates without marks, such as 20240131; None for others."""
    if drafted.get("written") or not 10**5 <= drafted["max"] < 10**8:
        return None
    texts = canonical.to_text(canonical.uniques(column)[0])
    texts = _present(texts.filter(_not(canonical.blanks(texts))))
    found = written_dates.dates(drafted["name"], texts) if len(texts) >= written_dates.FEW else None
    return None if found is None else found | {"missing": bool(drafted.get("missing"))}


def _numbers_of_things(drafted: Mapping[str, Any], column: Any) -> list[int] | None:
    """A few long whole numbers that nearly all records share, as of shops or doctors; None for amounts and others."""
    if drafted["kind"] != "numeric" or drafted["dtype"] != "integer" or drafted.get("written") or drafted["min"] < LONG:
        return None
    values, valid = casting.to_numbers(column, whole=True)
    found, counts = np.unique(values[valid], return_counts=True)
    few = len(found) <= MANY and counts[counts < COMMON].sum() <= RARE * counts.sum()
    return found.tolist() if few and np.gcd.reduce(found) % 10 else None


def _outward(low: float, high: float, name: str, *, whole: bool) -> tuple[Any, Any]:
    """A usual range where the header names one that holds the values, else ends on round numbers beyond them."""
    words = {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    if whole:
        for known, first, last in RANGES:
            if words & known and first <= low and high <= last:
                return first, last
        if low >= YEARS[0] and high <= YEARS[1] and words & {"year", "yr"}:
            return _decades(low, high)
    for named, least, most in () if whole else AVERAGES:
        if words & named and least <= low and high <= most:
            return float(least), float(most)
    if (low, high) in SCALES:
        return low, high
    if low >= 0 and high == HUNDRED:  # points of a hundred, whatever the fewest were
        return type(high)(0), high
    if not whole and low >= 0 and high <= 1:
        return 0.0, 1.0
    step = _step(max(high - low, abs(high) * 1e-3, 1.0 if whole else 1e-9) / 10)
    step = max(step, 1.0) if whole else step
    one = whole and low == 1  # what is counted begins at 1 where it does not begin at 0
    down = (
        1.0 if one else 0.0 if 0 <= low < step else step * (math.ceil(low / step) - 1)
    )  # beyond the value, also where it is round
    up = 0.0 if -step < high <= 0 else step * (math.floor(high / step) + 1)
    if whole:
        return math.floor(down), math.ceil(up)
    digits = max(0, -math.floor(math.log10(step)) + 1)
    return round(down, digits), round(up, digits)


def _marks(drafted: Mapping[str, Any]) -> tuple[float, float] | None:
    """Ends of marks with halves or quarters, such as 1 to 5 by .5, which nobody goes beyond; None for other numbers."""
    low, high = float(drafted["min"]), float(drafted["max"])
    if drafted.get("step") not in (0.25, 0.5) or not 0 <= low <= 1 < high <= MARKS or not high.is_integer():
        return None
    return low, high


def _clock(drafted: Mapping[str, Any]) -> tuple[int, int] | None:
    """Ends of times: a whole day where some are late in it, else from 0; None for other numbers."""
    marks = str(drafted.get("written") or "").count(":")
    if not marks or drafted["min"] < 0:
        return None
    day = clocks.DAY[marks]
    return (0, day - 1) if day / 2 <= drafted["max"] < day else (0, _outward(0, drafted["max"], "", whole=True)[1])


def _decades(low: float, high: float) -> tuple[int, int]:
    return 10 * math.floor((low - 1) / 10), 10 * math.ceil((high + 1) / 10)


def _step(size: float) -> float:
    """The round number (1, 2, 2.5 or 5 times a power of ten) from a size on."""
    power = 10.0 ** math.floor(math.log10(size))
    return next(n * power for n in NICE if n * power >= size * (1 - 1e-12))


def _bins(drafted: Mapping[str, Any], low: Any, high: Any) -> dict[str, Any]:
    """Bins of the draft for the wider range; none where range and step decide."""
    bins = drafted.get("bins")
    if not bins:
        return {}
    if "edges" in bins:
        return {"bins": {"count": len(bins["edges"])}}
    return {"bins": dict(bins)}


def _on_grid(low: Any, high: Any, step: float | None) -> tuple[Any, Any]:
    """Ends moved outward to multiples of the step."""
    if not step:
        return low, high
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if isinstance(low, int) and float(step).is_integer():
        return first * int(step), last * int(step)
    digits = max(0, -math.floor(math.log10(step)) + 1)
    return round(first * step, digits), round(last * step, digits)


def _calendar(first: str, last: str) -> tuple[str, str, str]:
    """Whole years around two days or times, written as they are; months or days around times that lie closer. Why."""
    low, high = np.datetime64(first[:10]), np.datetime64(last[:10])
    near = (high - low).astype(int) if first[10:] else math.inf  # days
    unit, why = ("D", "days") if near <= NEAR_DAYS else ("M", "months") if near <= NEAR_MONTHS else ("Y", "calendar")
    start = low.astype(f"datetime64[{unit}]").astype("datetime64[D]")
    end = (high.astype(f"datetime64[{unit}]") + 1).astype("datetime64[D]") - 1
    if not first[10:]:
        return str(start), str(end), why
    zone = "Z" if first.endswith("Z") else ""
    return f"{start}T00:00:00{zone}", f"{end}T23:59:59{zone}", why


def _categories(drafted: dict[str, Any], base: dict[str, Any], column: Any) -> Proposal:
    values = drafted["values"]
    counts = _counts(drafted, column)
    seen = {"what": "values", "values": values}
    keys = [canonical.canonical(v) for v in values]
    listed = _present(_texts(keys))
    dates = written_dates.dates(drafted["name"], listed) if len(listed) >= written_dates.FEW else None
    if dates is not None:
        return Proposal(name=drafted["name"], seen=seen, why="written", document=dates)
    usual = _usual(keys)
    if usual is not None:
        order = sorted(range(len(keys)), key=lambda i: usual.index(keys[i].lower()))
        made = base | {"values": [values[i] for i in order]} | ({"ordered": True} if usual in ORDERED else {})
        return Proposal(name=drafted["name"], seen=seen, why="usual", document=made)
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
            made = base | {"values": [*range(low, high + 1, step), *codes], "other": other}
            return Proposal(name=drafted["name"], seen=seen, why="steps", document=made)
        first, last = _few(low, high, drafted["name"])
        if last - first < LISTED:
            made = base | {"values": [*range(first, last + 1), *codes], "other": other}
            return Proposal(name=drafted["name"], seen=seen, why="number", document=made)
        rare = sum(counts.get(k, 0) for k in keys if counts.get(k, 0) < COMMON)
        if rare > RARE * sum(counts.get(k, 0) for k in keys) and not named_like_one(drafted["name"]):
            return _range(drafted, kept, codes)
    values, keys, base = _in_order(values, keys, base)
    common = [v for v, k in zip(values, keys, strict=True) if counts.get(k, 0) >= COMMON]
    if not common and len(values) > FEW and len(values) > OWN * len(column):
        # names of a small table: a list of them would be a list of its records
        why = "unique" if len(values) >= len(column) else "many"
        seen = {"what": "distinct", "count": len(values), "records": len(column)}
        return Proposal(name=drafted["name"], seen=seen, why=why, document=None)
    why, rare = ("common", len(values) - len(common)) if common else ("few", 0)
    made = base | {"values": common or list(values), "other": other}
    return Proposal(name=drafted["name"], seen=seen, why=why, document=made, rare=rare)


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

    codes: such as -9, which have cells of their own.
    """
    name = drafted["name"]
    low, high = _outward(min(values), max(values), name, whole=True)
    made = {"name": name, "kind": "numeric", "dtype": "integer", "min": low, "max": high, "source": "public"}
    made |= {k: drafted[k] for k in ("label", "description", "missing") if k in drafted}
    made |= {"special_values": codes} if codes else {}
    seen = {"what": "range", "low": min(values), "high": max(values)}
    return Proposal(name=name, seen=seen, why="rounded", document=made)


def _few(low: int, high: int, name: str) -> tuple[int, int]:
    """All whole numbers of a short list, from 0 or 1 where it begins near them, with a usual range by its header."""
    words = {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    for known, first, last in RANGES:
        if words & known and first <= low and high <= last and last - first < MANY:
            return first, last
    if low >= YEARS[0] and high <= YEARS[1]:
        return _decades(low, high)
    return (min(low, 1) if 0 <= low <= 5 else low), high


def _usual(keys: list[str]) -> tuple[str, ...] | None:
    """The usual list that these values are of; more than one of them, and none beside."""
    got = {k.lower() for k in keys}
    if len(got) < len(keys) or len(got) < 2:
        return None
    return next((known for known in LISTS if got <= set(known) and len(got) >= len(known) - 1), None)


def _counts(drafted: Mapping[str, Any], column: Any) -> dict[str, int]:
    """Records by value as canonical text; listed numbers in every spelling of them."""
    if any(isinstance(v, float) for v in drafted["values"]):
        listed = CategoricalAttribute.model_validate({"name": drafted["name"], "values": drafted["values"]})
        at = listed.match(column)[0]
        return dict(zip(listed.keys, np.bincount(at[at >= 0], minlength=len(listed.keys)).tolist(), strict=True))
    entries, index = canonical.uniques(column)
    texts = canonical.to_text(entries).to_pylist()
    found = np.bincount(index[index >= 0], minlength=len(texts))
    return {canonical.canonical(k): int(c) for k, c in zip(texts, found, strict=True)}


def _left_out(drafted: dict[str, Any], column: Any, records: int) -> Proposal:
    """Why a column was left out, and how to bring it in where it is a date that is written in another way."""
    name = drafted["name"]
    entries, _ = canonical.uniques(column)
    texts = canonical.to_text(entries)
    filled = texts.filter(_not(canonical.blanks(texts)))
    seen = {"what": "distinct", "count": len(filled), "records": records}
    if len(filled) == 0:
        return Proposal(name=name, seen=seen, why="blank", document=None)
    dates = written_dates.dates(name, _present(filled))
    if dates is not None:
        return Proposal(name=name, seen=seen, why="written", document=dates)
    why = "unique" if len(filled) >= records else "codes" if _codes(filled) else "mixed" if mixed(filled) else "many"
    return Proposal(name=name, seen=seen, why=why, document=None)


def _texts(values: list[str]) -> Any:
    import pyarrow as pa

    return pa.chunked_array([pa.array(values, pa.string())])


def _present(texts: Any) -> Any:
    """The texts without the usual words for a value that is not there."""
    return texts.filter(_not(absent(texts)))


def _not(mask: Any) -> Any:
    import pyarrow as pa

    return pa.array(~mask)


def _codes(texts: Any) -> bool:
    """Whether texts look like postcodes or other short codes: of one length, with digits."""
    import pyarrow.compute as pc

    sizes = pc.unique(pc.utf8_length(texts))
    digits = pc.all(pc.match_substring_regex(texts, r"\d")).as_py()
    return bool(digits) and len(sizes) <= 2 and pc.max(sizes).as_py() <= 8


def agreed(schema: Schema, proposals: list[Proposal]) -> Schema:
    """The schema with proposals taken as what a person knows; columns without one are left out, as public knowledge."""
    documents = {p.name: p.document or {"name": p.name, "kind": "ignored", "source": "public"} for p in proposals}
    whole = schema.document()
    whole["attributes"] = [documents.get(a["name"], a) for a in whole["attributes"]]
    return Schema.of(whole)
