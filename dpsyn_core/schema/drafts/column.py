"""The entry that a draft makes of one column, by reading its cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.schema import date_formats as written_dates
from dpsyn_core.schema.drafts.missing_codes import MOST, standing_apart
from dpsyn_core.schema.grids import FINE
from dpsyn_core.schema.importers.declared import attribute_of, listed_values, worded
from dpsyn_core.schema.individuals import names_persons
from dpsyn_core.schema.rhythm import found_in, found_in_times
from dpsyn_core.tables import LETTER, DeclaredColumn, amounts, headers, instants
from dpsyn_core.tables import canonical_text as canonical
from dpsyn_core.tables import numbers as casting

FEW = 20  # numbers with at most so many distinct values are listed
COMMON = 10  # a value that fewer records have is rare
RARE = 0.05  # of the records may have such a value where a list of numbers is drafted or proposed; more make it a range
SPARSE = 0.5  # of the decimals from the least to the largest, by their step: where no more occur, those are listed
THIRDS, THIN = 100, 0.1  # more decimals are listed, such as thirds, up to so many where they are so few of those steps
MANY = 200  # text with more distinct values is left out of the draft
NUMBERED, OWN = "every record has its own number", "every record has its own value"
TOO_MANY = f"more than {MANY} distinct values"
MIXED = (
    "most of its cells are numbers and some cannot be read like the others (<0.5, 0.12 next to 12 %, digits that are "
    "not 0 to 9); write all in one way, or leave those blank"
)
PERSONS = "its header speaks of persons, and a list or a range of its values would publish some"
UNSHARED = f"fewer than {COMMON} records share each of its values, and a list of them would publish those"
UNREAD, BLANK = "no cell could be read: give text, numbers or dates", "every cell is blank"
# why, read from the data: no description that a person gave
OF_MANY = (OWN, TOO_MANY, UNSHARED)  # which a public list, beginnings of codes or a purchase can keep
LEFT_OUT = (NUMBERED, OWN, TOO_MANY, UNSHARED, PERSONS, MIXED, UNREAD, BLANK)
COMPUTED, OFF = 1e-9, 0.01  # relative error of numbers that a program has computed, and the most of a step
LONG_TAIL = 100  # times the median positive number: from a largest one so far out on, bins grow with the numbers
SPIKE = 0.1  # share of records from which on the smallest number gets a cell of its own
LARGEST = 1e299
OFTEN = 0.5  # of the distinct numbers are not farther out than that where a column is drafted as numbers
ABSENT = (
    "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "\\n", "none", "nil", "missing", "unknown", "k.a.", "k. a.",
    "keine angabe", "?", "-", "--", ".", "..", "0000-00-00", "0000-00-00 00:00:00", "00.00.0000", "00/00/0000",
    "9999-12-31", "9999-12-31 00:00:00", "9999-12-31T00:00:00", "31.12.9999", "31/12/9999", "12/31/9999",
)  # fmt: skip
WORDS = ("missing", "unknown", "k.a.", "k. a.", "keine angabe")  # of them what people read; the others programs do
LONG = 10**11  # distinct whole numbers from here on name records; amounts of money rarely differ in every record
DATE_LIKE = r"^\s*\d{4}-\d{1,2}-\d{1,2}([T ].*)?$"
BOOLEAN = r"^\s*(?i:true|false)\s*$"
DECIMALS = r"^\D{0,8}\d[\d.]*,(\d{1,2}|\d{4,})\D{0,8}$"  # -12,50 and 1.234,56 EUR, not 1,234
PARTED = r"\.\d{1,2}\."  # 12.3.2024, which is no number
POINTS = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$"  # 163.671
BELOW_MILLION = r"^\s*[+-]?([1-9]\d{0,2}(\.\d{3})?|0)\s*$"  # 900 and 163.671; 1.234.567 is no decimal
THOUSANDS = r"^\s*[+-]?([1-9]\d{0,2}(,\d{3})+|\d{1,3})(\.\d+)?\s*$"  # 900 and 3,900, not 0,125 or 12,5
OTHER_DIGITS = r"^\s*[+-]?[\d.,٫٬]*[^\P{Nd}0-9][\p{Nd}.,٫٬]*\s*$"  # Arabic-Indic and others
PADDED, POWERS = r"^\s*[+-]?0\d", r"^\s*\d+E\d+\s*$"
STAMP, ENDLESS = r"^\d{12,20}$", r"^\s*[+-]?\d{19,}\s*$"  # digits that may be a time, and that no number can be


def entry_of(
    name: str, position: int, column: Any, comma: bool, points: bool, said: DeclaredColumn | None
) -> dict[str, Any]:
    """The entry of a column that is no key, without its name and source.

    Args:
        name: of the column.
        position: of the column in its table, from 0.
        column: pyarrow.
        comma: whether the table writes decimals with a comma.
        points: whether its whole numbers may have points between thousands.
        said: what the file declares of the column.
    """
    return _row_names(name, position, column) or _with_words(name, column, comma, points, said)


def _row_names(name: str, position: int, column: Any) -> dict[str, Any] | None:
    """A first column without a header, as R and pandas write row names, if every record has a unique name."""
    if position or name not in (headers.ROWS, headers.OTHERWISE):
        return None
    entries, index = canonical.uniques(column)
    if len(entries) < len(column) or (index < 0).any() or canonical.blanks(canonical.to_text(entries)).any():
        return None
    return {"kind": "identifier", "description": NUMBERED}


def _with_words(name: str, column: Any, comma: bool, points: bool, said: DeclaredColumn | None) -> dict[str, Any]:
    """The draft of a column, with what its file declares: codes with words are listed, missing codes are no numbers."""
    if said is None:
        return _beside_codes(name, column, comma, points)
    declared = attribute_of(said) or {}
    codes = [c for c in said.codes_missing if isinstance(c, int | float)]
    letters = _letters(column)
    drafted = _column(name, _without(column, [*codes, *letters]), comma, points) if letters else {}
    if drafted.get("kind") not in ("numeric", "datetime"):  # ranges lose letters to the missing cell, lists keep them
        letters = []
        drafted = _beside_codes(name, _without(column, codes) if codes else column, comma, points)
    missing = _blank(column) or bool(letters) if codes else bool(drafted.get("missing"))
    seen = list(drafted["values"]) if drafted["kind"] == "categorical" else []
    if declared.get("kind") == "numeric" and seen:  # few values of a declared scale
        inside = all(isinstance(v, int | float) and declared["min"] <= v <= declared["max"] for v in seen)
        inside &= not {canonical.canonical(v) for v in seen} <= {*said.words}  # all have words: a list with gaps
        drafted, seen = (declared, []) if inside else (drafted, seen)
    if seen or (declared.get("kind") == "categorical" and (drafted["kind"] != "numeric" or said.listed is True)):
        absent = tuple(dict.fromkeys([*said.codes_missing, *(v for v in seen if LETTER.match(str(v)))]))
        of = replace(said, values=listed_values(said) or tuple(seen), low=None, high=None, codes_missing=absent)
        document = attribute_of(of) or drafted
        keys = {canonical.canonical(v) for v in document["values"]}
        more = [v for v in seen if canonical.canonical(v) not in keys]
        return document | {"values": [*document["values"], *more], "missing": missing}
    if drafted["kind"] == "numeric" and codes:
        whole = drafted.get("dtype") == "integer"
        kept = [int(c) if whole else c for c in codes if not whole or float(c).is_integer()]
        drafted |= {"special_values": [*dict.fromkeys([*drafted.get("special_values", ()), *kept])], "missing": missing}
    return worded(drafted, said)


def _beside_codes(name: str, column: Any, comma: bool, points: bool) -> dict[str, Any]:
    """The draft of a column whose file declares nothing; codes such as -9999 have cells apart from its numbers."""
    drafted = _column(name, column, comma, points)
    group = amounts.form(drafted.get("written", "0")).group if drafted["kind"] == "numeric" else ""
    if drafted["kind"] != "numeric" or group == "." or (points and group):
        return drafted
    entries, index = canonical.uniques(column)
    numbers, valid = casting.to_numbers(entries, whole=False, comma=comma)
    valid &= np.abs(numbers) <= LARGEST
    distinct, at = np.unique(numbers[valid], return_inverse=True)
    records = np.bincount(index[index >= 0], minlength=len(entries))[valid]
    codes = standing_apart(distinct, np.bincount(at, records, len(distinct)).astype(np.int64), COMMON)
    if not codes:
        return drafted
    kept = ~(valid & np.isin(numbers, codes))
    inner = _column(name, entries.take(_places(np.where(kept[index], index, -1))), comma, points)
    whole = inner.get("dtype", drafted["dtype"]) == "integer"
    apart = [int(c) if whole and c.is_integer() else c for c in codes]
    if inner.get("ordered"):  # of few numbers: a list, with the codes in it
        return inner | {"values": sorted([*inner["values"], *apart]), "missing": drafted["missing"]}
    if inner["kind"] != "numeric":
        return drafted
    return inner | {"special_values": [*inner.get("special_values", ()), *apart], "missing": drafted["missing"]}


def _places(index: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return pa.array(index, mask=index < 0)


def _blank(column: Any) -> bool:
    """Whether a cell of the column is blank."""
    entries, index = canonical.uniques(column)
    return bool((index < 0).any() or canonical.blanks(canonical.to_text(entries)).any())


def _letters(column: Any) -> list[str]:
    """The missing codes .a to .z of Stata and SAS that a column holds."""
    texts = canonical.to_text(canonical.uniques(column)[0]).to_pylist()
    return [t for t in texts if t is not None and LETTER.match(t)]


def _without(column: Any, codes: Sequence[int | float | str]) -> Any:
    """The column with blank cells in place of these codes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    entries, index = canonical.uniques(column)
    texts = [canonical.canonical(c) for c in codes]
    gone = pc.is_in(canonical.to_text(entries), value_set=pa.array(texts, pa.string()))
    return pc.if_else(gone, pa.scalar(None, entries.type), entries).take(_places(index))


def _column(name: str, column: Any, comma: bool, points: bool) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    entries, index = canonical.uniques(column)
    text = canonical.to_text(entries)
    blank = canonical.blanks(text)
    missing = bool((index < 0).any() or blank.any())
    lost = pc.fill_null(pc.equal(text, canonical.UNREADABLE), False).to_numpy(zero_copy_only=False)
    filled = entries.filter(pa.array(~(blank | lost)))
    if len(filled) == 0:
        why = UNREAD if lost.any() else BLANK
        return {"kind": "ignored", "description": why}
    missing, blank = missing or bool(lost.any()), blank | lost  # what could not be read goes to the missing cell
    texts = canonical.to_text(filled)
    base: dict[str, Any] = {"missing": missing}
    if t.is_boolean(entries.type) or pc.all(pc.match_substring_regex(texts, BOOLEAN)).as_py():
        spelled = sorted(set(texts.to_pylist()) - {"true", "false"})  # such as TRUE and FALSE, which go back so
        as_they_are = canonical.is_text(entries.type) and len(spelled) == len(texts) == len({*map(str.lower, spelled)})
        return base | {"kind": "categorical", "values": spelled if as_they_are else [False, True]}
    counts = np.bincount(index[index >= 0], minlength=len(entries))[~blank]
    # cells such as NA are no number and no date: they go to the missing cell, and do not make a category of the rest
    present = ~absent(texts)
    some = pa.array(present)
    if present.any() and not present.all():
        word = _word(texts, np.where(present, 0, counts), len(column) - int(counts.sum()))
        filled, shown, counts, base = filled.filter(some), texts.filter(some), counts[present], {"missing": True} | word
    else:
        shown = texts
    dates = _dates(filled, shown)
    if dates is not None:
        return base | dates
    enough = len(shown) >= written_dates.FEW
    of_days = written_dates.dates(name, shown, counts) if enough and _all_match(shown, STAMP) else None
    grouped = comma and (_has_thousands(shown) or (points and _has_points(shown)))
    grouped |= canonical.is_text(entries.type) and _has_points_alone(shown)
    if of_days is None and grouped:
        numbers = _amounts(shown, counts, points=points)
    else:
        numbers = None if of_days else _numbers(filled, shown, comma, counts) or _amounts(shown, counts)
    if numbers is not None:
        if _numbered(numbers, len(shown), len(column)):
            return {"kind": "identifier", "description": NUMBERED}
        return base | numbers
    of_days = of_days or (written_dates.dates(name, shown, counts) if enough else None)
    if of_days is not None:
        return {k: v for k, v in of_days.items() if k not in ("name", "source")} | base
    base = {"missing": missing}
    if len(texts) > MANY or (len(texts) > FEW and amounts.shares_beside_percent(texts)):
        unique = len(texts) == len(column)
        why = OWN if unique else MIXED if mixed(texts) else TOO_MANY
        return {"kind": "identifier" if unique else "ignored", "description": why}
    if names_persons(name, texts):
        return {"kind": "ignored", "description": PERSONS}
    return base | {"kind": "categorical", "values": sorted(texts.to_pylist())}


def _word(texts: Any, counts: NDArray[np.int64], blanks: int) -> dict[str, Any]:
    """The word for no answer that most cells without one have, as `blank_word`; none where it is a mark of programs.

    counts: records of each text, 0 of those that are answers. blanks: records without a text.
    """
    commonest = int(np.argmax(counts))
    word = texts[commonest].as_py().strip()
    usual = word.lower() in WORDS and 2 * counts[commonest] > counts.sum() + blanks
    return {"blank_word": word} if usual else {}


def _all_match(texts: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def mixed(texts: Any) -> bool:
    """Whether most texts are numbers and some cannot be read like them, as a laboratory's results with <0.5 among them.

    Numbers in the digits of other scripts are never read, nor are fractions beside percentages.
    """
    import pyarrow.compute as pc

    found = pc.match_substring_regex(texts, f"{casting.NUMBER}|{casting.AMOUNT}")
    read = pc.sum(pc.and_not(found, pc.match_substring_regex(texts, PARTED))).as_py()
    numbers = read + pc.sum(pc.match_substring_regex(texts, OTHER_DIGITS)).as_py()
    return bool(len(texts) / 2 < numbers and (read < len(texts) or amounts.shares_beside_percent(texts)))


def _dates(filled: Any, texts: Any) -> dict[str, Any] | None:
    import pyarrow.compute as pc
    import pyarrow.types as t

    typed = t.is_date(filled.type) or t.is_timestamp(filled.type)
    if not typed and not _all_match(texts, DATE_LIKE):
        return None
    seconds, valid = instants.to_instants(filled, ())
    if not valid.all():
        return None
    way = {} if typed else written_dates.in_parts(texts, of_column=True)
    if way:
        seconds, _ = instants.to_instants(filled, tuple(way["formats"]))
    low, high = (int(np.clip(end, canonical.FIRST, canonical.LAST)) for end in (seconds.min(), seconds.max()))
    timed = (seconds % 86_400 != 0).any()
    zoned = t.is_timestamp(filled.type) and filled.type.tz is not None
    if way:
        zoned = bool(re.search("%H.*(Z|z|UTC)$", way["formats"][0]))
    elif not typed:
        zoned = bool(pc.any(pc.match_substring_regex(texts, instants.ZONED)).as_py())
    ends = [str(np.datetime64(s, "s"))[: 19 if timed or zoned else 10] + ("Z" if zoned else "") for s in (low, high)]
    out: dict[str, Any] = {"kind": "datetime", "min": ends[0], "max": ends[1]} | way
    rhythm = found_in_times(np.unique(seconds)) if timed or zoned else found_in(np.unique(seconds // 86_400))
    if rhythm is not None:
        return out | {"rhythm": rhythm}
    dates = seconds.astype("datetime64[s]")
    for every, unit in (("year", "Y"), ("month", "M")):  # cells that name years or months by their first day
        if low < high and (dates == dates.astype(f"datetime64[{unit}]")).all():
            return out | {"bins": {"every": every}}
    return out


def _has_thousands(texts: Any) -> bool:
    """Whether commas stand between thousands although the file may have decimal commas.

    Every comma has three digits behind it, and either a number has two of them or some number below 1,000 has none.
    """
    import pyarrow.compute as pc

    if not _all_match(texts, THOUSANDS):
        return False
    marked = pc.match_substring(texts, ",")
    twice = pc.any(pc.match_substring_regex(texts, r",\d{3},")).as_py()
    return bool(pc.any(marked).as_py() and (twice or not pc.all(marked).as_py()))


def has_decimals(column: Any) -> bool:
    """Whether most values of a column of text are numbers with a decimal comma."""
    import pyarrow.compute as pc

    entries, _ = canonical.uniques(column)
    if not canonical.is_text(entries.type):
        return False
    share = pc.mean(pc.match_substring_regex(entries, DECIMALS)).as_py()
    return share is not None and bool(share > OFTEN)


def _has_points(texts: Any) -> bool:
    """Whether points stand between thousands in a file of decimal commas: 900 and 163.671, not 12.5."""
    import pyarrow.compute as pc

    pointed = pc.match_substring(texts, ".")
    return bool(pc.any(pointed).as_py()) and _all_match(texts.filter(pointed), POINTS)


def _has_points_alone(texts: Any) -> bool:
    """Whether points stand between thousands although no decimal comma is in the file: 900, 1.250 and 163.671.

    Decimals of which so many have three digits would end on 0 and be written so, or have no 0 at the end; and what has
    no point among them would be a few codes.
    """
    import pyarrow.compute as pc

    pointed = pc.match_substring(texts, ".")
    few = pc.sum(pointed).as_py() < amounts.ALWAYS or pc.sum(pc.invert(pointed)).as_py() <= MOST
    return not few and _all_match(texts, BELOW_MILLION) and not _all_match(texts.filter(pointed), r"[1-9]\s*$")


def _numbers(filled: Any, texts: Any, comma: bool, counts: NDArray[np.int64]) -> dict[str, Any] | None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    if t.is_time(filled.type):
        return None
    if canonical.is_text(filled.type) and (
        pc.any(pc.match_substring_regex(texts, f"{PADDED}|{ENDLESS}")).as_py() or _all_match(texts, POWERS)
    ):
        return None  # leading zeros, more digits than any number keeps, or 1E1 and 2E10 alone: codes, not numbers
    floats, valid = casting.to_numbers(filled, whole=False, comma=comma)
    near = np.abs(floats) <= LARGEST  # others, such as inf, go to the ends of the range
    if not valid.all() or near.sum() <= OFTEN * len(near):
        return None
    filled, floats, counts = filled.filter(pa.array(near)), floats[near], counts[near]
    if _versions(texts, floats, comma):
        return None
    whole = bool((floats == np.floor(floats)).all()) and np.abs(floats).max() < 2.0**62
    if t.is_integer(filled.type) and not whole:
        return None  # names, as in text
    if not whole:
        low, high = float(floats.min()), float(floats.max())
        out: dict[str, Any] = {"kind": "numeric", "dtype": "float", "min": low, "max": high}
        step = _step(floats)
        if _few_decimals(floats, counts, step):
            listed = {"kind": "categorical", "values": np.unique(floats).tolist(), "ordered": True}
            return listed | _digits_behind(filled, comma)
        out |= _heavy(floats, counts) | ({} if step is None else {"step": step})
        if step is not None and comma and pc.any(pc.match_substring(texts, ",")).as_py():  # goes back as it came
            digits = next(d for d in range(1, amounts.SEEN + 1) if float(round(step, d)) == step)
            out["written"] = amounts.AmountFormat(prefix="", suffix="", group="", mark=",", digits=digits).example()
        out |= _digits_behind(filled, comma)
    else:
        values, _ = casting.to_numbers(filled, whole=True, comma=comma)
        low, high = int(values.min()), int(values.max())
        if len(values) <= FEW:
            places = _digits_behind(filled, comma)  # 3.00: such values are numbers with decimals
            listed = np.unique(floats if places else values).tolist()
            return {"kind": "categorical", "values": listed, "ordered": True} | places
        step = int(np.gcd.reduce(values))
        out = {"kind": "numeric", "dtype": "integer", "min": low, "max": high}
        out |= _heavy(floats, counts) | ({"step": step} if step > 1 else {})
        if places := _digits_behind(filled, comma):  # 1200.00: the cells have decimals, which are all 0
            out |= {"dtype": "float", "step": step} | places
    alone = step is not None and (low == 0 or (high - low) / step < FINE)
    if not alone and _spiked(floats == floats.min(), counts):  # such as amounts below a limit of detection
        out["special_values"] = [low]
    return out


def _digits_behind(cells: Any, comma: bool) -> dict[str, int]:
    """The digits after the mark where all cells (n,) have as many, so that some end on 0; empty otherwise."""
    import pyarrow.compute as pc

    if not canonical.is_text(cells.type):
        return {}
    mark = "," if comma and pc.any(pc.match_substring(cells, ",")).as_py() else "."
    if not pc.any(pc.match_substring_regex(cells, rf"[{mark}]\d*0\s*$")).as_py():
        return {}
    tails = pc.unique(pc.utf8_length(pc.struct_field(pc.extract_regex(cells, rf"[{mark}](?P<d>\d+)\s*$"), "d")))
    found = tails.to_pylist()
    return {"places": found[0]} if len(found) == 1 and found[0] and found[0] <= amounts.SEEN else {}


def _few_decimals(floats: NDArray[np.float64], counts: NDArray[np.int64], step: float | None) -> bool:
    """Whether a column takes only a few of the decimals between its ends, such as marks of 1.0, 1.3, 1.7 and 2.0."""
    distinct = np.unique(floats)
    steps = np.inf if step is None else round((distinct[-1] - distinct[0]) / step) + 1
    rare = counts[counts < COMMON].sum() > RARE * counts.sum()
    few = max(min(FEW, SPARSE * steps), min(THIRDS, THIN * steps))
    return bool(len(distinct) <= few and not rare)


def _versions(texts: Any, floats: NDArray[np.float64], comma: bool) -> bool:
    """Whether a few decimals are names, not numbers: 1.1 and 1.10 are two versions."""
    if len(texts) > FEW or len(texts) != len(floats) or len(np.unique(floats)) == len(floats):
        return False
    mark = "[.,]" if comma else "[.]"
    return _all_match(texts, rf"^\d+{mark}\d+$")


def _amounts(texts: Any, counts: NDArray[np.int64], *, points: bool = False) -> dict[str, Any] | None:
    """Numbers with a currency, a unit, a percent sign or marks between thousands; few of them are a list of texts."""
    import pyarrow as pa

    if len(texts) <= FEW:
        return None
    plain_texts = pa.array(texts.to_pylist(), pa.string()) if isinstance(texts, pa.ChunkedArray) else texts
    form = amounts.recognised(plain_texts, points=points)
    if form is None:
        return None
    numerals = amounts.plain(plain_texts, form)
    numbers = _numbers(numerals, numerals, False, counts)
    if numbers is None or numbers["kind"] != "numeric":
        return None
    if form.digits and numbers["dtype"] == "integer":  # 1,200.00: the cells have decimals, which are all 0
        numbers = {"step": 1} | numbers | {"dtype": "float"}
    return numbers | {"written": form.example()}


def _step(numbers: NDArray[np.float64]) -> float | None:
    """The distance of which all numbers are multiples, with at most `amounts.SEEN` digits; None: none."""
    for digits in range(1, amounts.SEEN + 1):
        exact = numbers * 10.0**digits
        places = np.round(exact)
        if np.abs(places).max() > 2.0**53:
            return None
        if (np.abs(exact - places) <= np.clip(COMPUTED * np.abs(places), COMPUTED, OFF)).all() and places.any():
            return float(int(np.gcd.reduce(places.astype(np.int64))) / 10**digits)
    return None


def _heavy(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> dict[str, Any]:
    """A logarithmic scale where the largest number is far beyond the median of those above 0; empty otherwise."""
    positive = np.flatnonzero(numbers > 0)
    if not len(positive) or (numbers < 0).any():
        return {}
    order = positive[np.argsort(numbers[positive])]
    upto = np.cumsum(counts[order])
    median = numbers[order[int(np.searchsorted(upto, upto[-1] / 2))]]
    return {"scale": "log"} if numbers.max() >= LONG_TAIL * median else {}


def absent(texts: Any) -> NDArray[np.bool_]:
    """Which texts are the usual words for a value that is not there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return np.asarray(pc.is_in(plain, pa.array(ABSENT)).to_numpy(zero_copy_only=False), dtype=bool)


def _numbered(numbers: dict[str, Any], distinct: int, records: int) -> bool:
    """Whether whole numbers number the records (1, 2, 3 ...), or are too long to be anything but names of them."""
    if distinct < records or records <= FEW or numbers.get("dtype") != "integer":
        return False
    return bool(numbers["max"] - numbers["min"] + 1 == records or numbers["max"] >= LONG)


def _spiked(lowest: NDArray[np.bool_], counts: NDArray[np.int64]) -> bool:
    """Whether the smallest value stands in so many records that it needs a separate cell."""
    return float(counts[lowest].sum()) >= SPIKE * float(counts.sum())
