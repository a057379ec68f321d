"""Amounts: numbers written with a currency, a unit, a percent sign or marks between thousands, and times (`clocks`).

How they are written is public: an example such as `$1,234.56`, `12.5 %` or `00:12:33` declares it. Each cell is read
by itself, as the example says.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import SchemaError
from dpsyn_core.tables.cells import clocks

MOST = 15  # digits after the mark that an example may have: a double tells no more apart
SEEN = 6  # digits after the mark of a form that is read from cells: a millionth of a currency or a unit is the finest
# that tables of amounts are kept in, and beyond it one person's cell would say how all of them are written
ALWAYS = 30  # cells with exactly three digits behind the mark
MOSTLY = 0.5  # of the cells have the unit or currency of a form; what fewer have marks some, as in 12.5 b (estimated)
GROUPED = 3  # digits between two marks of thousands
LONGEST = 12  # letters of a currency or a unit
SPACES = " \u00a0\u202f\u2009"  # plain, no-break, narrow no-break and thin
_NO_CENTS = "(?:--|[-–—])"  # in place of them, behind the mark: 1.200,- is 1200
_GAP = rf"[\s{SPACES}]*"
_WORD = (
    rf"[^\s{SPACES}\d.,'’()+\-" "\u2212" r"=@|\"\\;:!?#*/&<>{}\[\]~^`]"
)  # letters, currency signs, percent and degree signs
_UNIT = rf"(?:{_WORD}{{1,{LONGEST}}}(?:/{_WORD}{{1,{LONGEST}}})?)?"  # also mmol/L and km/h
_EXAMPLE = re.compile(
    rf"^(?P<open>[(\u2212]?)(?P<prefix>{_WORD}{{0,{LONGEST}}})(?P<before>[{SPACES}]?)(?P<inner>[-\u2212]?)"
    rf"(?P<number>\d[\d.,'’{SPACES}]*\d|\d)"
    rf"(?P<after>[{SPACES}]?)(?P<suffix>{_UNIT})(?P<close>[-\u2212)]?)$"
)
_GROUPED = re.compile(
    rf"^[1-9]\d{{0,2}}(?:(?P<group>[.,'’{SPACES}])\d{{3}})(?:(?P=group)\d{{3}})*(?:(?P<mark>[.,])(?P<digits>\d+))?$"
)
_PAIRED = re.compile(r"^[1-9]\d?(?P<group>,)(?:\d\d,)+\d{3}(?:(?P<mark>\.)(?P<digits>\d+))?$")  # 12,34,567.89, Indian
_PLAIN = re.compile(r"^\d+(?:(?P<mark>[.,])(?P<digits>\d+))?$")
# fmt: off
_CURRENCIES = frozenset({
    "kr", "Kr", "zł", "Kč", "Ft", "lei", "Fr", "Rs", "TL", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR",
    "GBP", "INR", "JPY", "KRW", "MXN", "NOK", "PLN", "RUB", "SEK", "TRY", "USD", "ZAR",
})
# fmt: on


MINUS = ("-", "", "")  # what a negative amount has before all of it, before its digits and behind it: -$5
MINUSES = (
    MINUS,
    ("\u2212", "", ""),
    ("", "-", ""),
    ("", "\u2212", ""),
    ("", "", "-"),
    ("", "", "\u2212"),
    ("(", "", ")"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class AmountFormat:
    """How numbers are written: what stands before and after them, the mark between thousands, and the decimal mark.

    prefix, suffix: with the gap towards the number. group: empty without one. pairs: it stands between thousands, and
    above them between hundreds, as in 12,34,567. digits: after the decimal mark. minus: one of `MINUSES`; the example
    is negative where it is not `MINUS`.
    clock: an example of a time (`clocks`), which has none of the others. A schema holds the form as its `example`,
    which declares each of these fields: without digits the mark is the one that the group leaves.
    """

    prefix: str
    suffix: str
    group: str
    mark: str
    digits: int
    pairs: bool = False
    minus: tuple[str, str, str] = MINUS
    clock: str = ""

    def example(self) -> str:
        """A number written so, which `form` reads as this form again: 12,56 and 0,567, for 12,567 is whole."""
        if self.clock:
            return self.clock
        whole = f"1{self.group}234" if self.group else "0" if self.digits == GROUPED else "12"
        whole = "12,34,567" if self.pairs else whole
        fraction = self.mark + "567890123456789"[: self.digits] if self.digits else ""
        first, inner, last = self.minus if self.minus != MINUS else ("", "", "")
        return f"{first}{self.prefix}{inner}{whole}{fraction}{self.suffix}{last}"


@cache
def form(example: str) -> AmountFormat:
    """The form that an example declares.

    Raises:
        SchemaError: it is no number with a currency, a unit or marks in it.
    """
    if clocks.EXAMPLE.match(example.strip()):
        return _of_clock(example.strip())
    match = _EXAMPLE.match(example.strip())
    number = match["number"] if match else ""
    paired = _PAIRED.match(number)
    parts = paired or _GROUPED.match(number) or _PLAIN.match(number)
    group = parts.groupdict().get("group") or "" if parts else ""
    digits = len(parts["digits"] or "") if parts else 0
    minus = (match["open"], match["inner"], match["close"]) if match else MINUS
    minus = minus if any(minus) else MINUS
    bad = minus not in MINUSES or (minus[1] and not (match and match["prefix"]))  # -5 is plain
    if match is None or parts is None or parts["mark"] == group != "" or digits > MOST or bad:
        msg = (
            f"'{example[:40]}' does not show how numbers are written; write one of them, such as $1,234.56, 12.5 %, "
            "1.234,5 € or 00:12:33"
        )
        raise SchemaError(msg)
    return AmountFormat(
        prefix=match["prefix"] + (match["before"] if match["prefix"] else ""),
        suffix=(match["after"] if match["suffix"] else "") + match["suffix"],
        group=group,
        mark=parts["mark"] or ("," if group == "." else "."),
        digits=digits,
        pairs=paired is not None,
        minus=minus,
    )


def _of_clock(example: str) -> AmountFormat:
    return AmountFormat(prefix="", suffix="", group="", mark=".", digits=0, clock=example)


def plain(texts: Any, how: AmountFormat) -> Any:
    """Cells as plain numerals (-1234.5); what is not written in the form stays as it is.

    The currency or unit may be left away; a minus stands before or behind, or brackets stand around. An apostrophe at
    the start is passed over: it keeps a spreadsheet from running the cell (`write.escape`).

    Args:
        texts: pyarrow string array.
        how: the form.
    """
    import pyarrow.compute as pc

    if how.clock:
        return clocks.plain(texts, how.clock)
    pattern = _pattern(how)
    text = pc.replace_substring(pc.utf8_trim_whitespace(texts), "\N{MINUS SIGN}", "-")
    parts = pc.extract_regex(text, pattern)
    valid = parts.is_valid()

    def part(name: str) -> Any:
        return pc.fill_null(pc.struct_field(parts, name), "")

    opened, closed = (pc.equal(part(name), mark) for name, mark in (("open", "("), ("close", ")")))
    whole, fraction = part("whole"), part("fraction")
    if how.group:
        whole = pc.replace_substring_regex(whole, _class(how.group), "")
    filled = pc.greater(pc.add(pc.utf8_length(whole), pc.utf8_length(fraction)), 0)
    valid = pc.and_(pc.and_(valid, filled), pc.equal(opened, closed))
    minus = opened
    for name in ("first", "second", "third"):
        minus = pc.or_(minus, pc.equal(part(name), "-"))
    number = pc.binary_join_element_wise(pc.if_else(minus, "-", ""), whole, "")
    number = pc.if_else(pc.equal(fraction, ""), number, pc.binary_join_element_wise(number, fraction, "."))
    return pc.if_else(pc.fill_null(valid, False), number, text)


def _pattern(how: AmountFormat) -> str:
    """A regular expression of pyarrow's engine, whose groups all have names."""
    whole = rf"[1-9]\d{{0,2}}(?:{_class(how.group)}\d{{3}})+|\d*" if how.group else r"\d*"
    whole = r"[1-9]\d?(?:,\d{2})*,\d{3}|\d*" if how.pairs else whole
    before, after = (re.escape(s.strip(SPACES)) for s in (how.prefix, how.suffix))
    cents = rf"{re.escape(how.mark)}(?:{_NO_CENTS}|(?P<fraction>\d*))"
    return (
        rf"^'?(?P<open>\(?)(?P<first>[+-]?){_GAP}(?:{before})?{_GAP}(?P<second>[+-]?){_GAP}(?P<whole>{whole})"
        rf"(?:{cents})?{_GAP}(?:{after})?{_GAP}(?P<third>-?)(?P<close>\)?)$"
    )


def _class(group: str) -> str:
    """What stands between thousands: one kind of space or apostrophe is as good as another."""
    if group in SPACES:
        return f"[{SPACES}]"
    return "['’]" if group in "'’" else re.escape(group)


def written(values: NDArray[Any], how: AmountFormat, mask: NDArray[np.bool_] | None) -> Any:
    """Numbers (n,) as a pyarrow array of text in a form, rounded to its digits; null where `mask` is True.

    Those that have nothing but a decimal comma stay numbers, which text files write with it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if how.clock:
        if mask is None:
            return clocks.written(values, how.clock)
        text = clocks.written(np.where(mask, 0, values), how.clock)
        return pc.if_else(pa.array(mask), pa.scalar(None, pa.string()), text)
    if how.mark == "," and how.minus == MINUS and not (how.prefix or how.suffix or how.group):
        return pa.array(np.round(values, how.digits), mask=mask)
    if values.dtype.kind == "f":
        scaled = np.rint(np.clip(np.abs(values), 0, 9e18 / 10**how.digits) * 10.0**how.digits).astype(np.int64)
    else:
        scaled = np.abs(values.astype(np.int64)) * 10**how.digits
    whole, fraction = np.divmod(scaled, 10**how.digits)
    rest, text = whole // 1000, pa.array(whole if not how.group else whole % 1000).cast(pa.string())
    if how.group:
        text = pc.if_else(pa.array(rest > 0), _padded(whole % 1000, 3), text)
        size, width = (100, 2) if how.pairs else (1000, 3)
        while (rest > 0).any():
            last = rest % size
            more = pc.if_else(pa.array(rest >= size), _padded(last, width), pa.array(last).cast(pa.string()))
            text = pc.if_else(pa.array(rest > 0), pc.binary_join_element_wise(more, text, how.group), text)
            rest = rest // size
    if how.digits:
        text = pc.binary_join_element_wise(text, _padded(fraction, how.digits), how.mark)
    negative = pa.array((values < 0) & (scaled > 0))
    first, inner, last = (pc.if_else(negative, mark, "") if mark else "" for mark in how.minus)
    out = pc.binary_join_element_wise(first, how.prefix, inner, text, how.suffix, last, "")
    return out if mask is None else pc.if_else(pa.array(mask), pa.scalar(None, pa.string()), out)


def _padded(numbers: NDArray[np.int64], width: int) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")


def recognised(texts: Any, *, points: bool = False) -> AmountFormat | None:
    """The form in which every one of these cells is written; None where there is none, or where they are plain numbers.

    Reads the data, and one cell can change what it finds: what follows from it is read from the data, until a person
    types or confirms the form.

    Args:
        texts: pyarrow string array of distinct cells, none of them blank.
        points: whether a point with three digits behind it stands between thousands for certain.
    """
    import pyarrow.compute as pc

    if clock := clocks.recognised(texts):
        return _of_clock(clock)
    text = pc.replace_substring(pc.utf8_trim_whitespace(texts), "\N{MINUS SIGN}", "-")
    text = pc.replace_substring_regex(text, rf"(\d)[.,]{_NO_CENTS}", r"\1")
    word = rf"{_WORD}{{0,{LONGEST}}}"
    parts = pc.extract_regex(
        text,
        rf"^(?P<open>\(?[+-]?)(?P<prefix>{word})(?P<before>{_GAP})(?P<inner>[+-]?)"
        rf"(?P<number>\d[\d.,'’{SPACES}]*\d|\d)(?P<after>{_GAP})(?P<suffix>{_UNIT})(?P<close>-?\)?)$",
    )
    if len(text) == 0 or parts.null_count or shares_beside_percent(text):
        return None
    prefixes, suffixes, before_all, after_all = (
        _commonest(pc.struct_field(parts, name)) for name in ("prefix", "suffix", "before", "after")
    )
    if len(prefixes) > 1 or len(suffixes) > 1 or (prefixes and not _currency(prefixes[0])):
        return None
    for found, name in ((prefixes, "prefix"), (suffixes, "suffix")):
        if found and pc.mean(pc.equal(pc.struct_field(parts, name), found[0]).cast("int8")).as_py() < MOSTLY:
            return None
    prefix, suffix, before, after = ((found or [""])[0] for found in (prefixes, suffixes, before_all, after_all))
    numbers = pc.struct_field(parts, "number")
    if suffix.isalpha() and pc.all(pc.match_substring_regex(numbers, r"^\d{4,}$")).as_py():
        return None  # numbers that all have the same letters behind them and many digits: codes
    marks, minus = _marks(numbers, thousands=points or _currency(prefix) or _currency(suffix)), _minus(texts, parts)
    if marks is None or not (prefix or suffix or marks[0] or marks[1] == "," or minus != MINUS):
        return None
    group, mark, digits, pairs = marks
    return AmountFormat(
        prefix=prefix + (_space(before) if prefix else ""),
        suffix=(_space(after) if suffix else "") + suffix,
        group=group,
        mark=mark,
        digits=digits,
        pairs=pairs,
        minus=minus,
    )


def shares_beside_percent(texts: Any) -> bool:
    """Whether fractions (0.12) stand next to percentages (12 %), so that nobody can tell how much 0.5 is."""
    import pyarrow.compute as pc

    percent, share = (pc.match_substring_regex(texts, p) for p in (r"[%‰]\s*$", r"^\s*[+-]?0?[.,]\d+\s*$"))
    return bool(pc.any(percent).as_py() and pc.any(share).as_py())


def _commonest(cells: Any) -> list[str]:
    """The different ones of a pyarrow array of texts but for blank ones, the commonest first."""
    import pyarrow.compute as pc

    counted = pc.value_counts(cells.filter(pc.not_equal(cells, ""))).to_pylist()
    return [one["values"] for one in sorted(counted, key=lambda one: (-one["counts"], one["values"]))]


def _space(gap: str) -> str:
    return gap[:1] if gap[:1] in SPACES else " "


def _minus(texts: Any, parts: Any) -> tuple[str, str, str]:
    """How most of the negative cells are marked; `MINUS` where none is."""
    import pyarrow.compute as pc

    signs = [pc.struct_field(parts, name) for name in ("open", "inner", "close")]
    signs.append(pc.if_else(pc.match_substring(texts, "\N{MINUS SIGN}"), "\N{MINUS SIGN}", "-"))
    seen: dict[tuple[str, str, str], int] = {MINUS: 0}  # first, so that it wins a tie
    for one in pc.value_counts(pc.binary_join_element_wise(*signs, ",")).to_pylist():
        *marks, sign = one["values"].split(",")
        first, inner, last = (mark.replace("-", sign) for mark in marks)
        minus = (first, inner, last)
        seen[minus] = seen.get(minus, 0) + one["counts"] * (minus in MINUSES)
    return max(seen, key=seen.__getitem__)


def _currency(word: str) -> bool:
    return word in _CURRENCIES or any(unicodedata.category(c) == "Sc" for c in word)


def _marks(numbers: Any, *, thousands: bool) -> tuple[str, str, int, bool] | None:
    """What reads all numbers: group, mark, digits (up to `SEEN`) and pairs of a form; None where nothing does.

    thousands: three digits behind each point are thousands, as in amounts of money, 1.250 €. Others are where some have
    no mark and `ALWAYS` have three digits, of which decimals would end on 0 now and then, and not be written.
    """
    import pyarrow.compute as pc

    def all_match(pattern: str) -> bool:
        return bool(pc.all(pc.match_substring_regex(numbers, pattern)).as_py())

    def any_match(pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(numbers, pattern)).as_py())

    if any_match(r"^0\d"):
        return None  # leading zeros: codes
    grouped = pc.sum(pc.match_substring(numbers, ".")).as_py()
    if ((thousands and grouped) or ALWAYS <= grouped < len(numbers)) and all_match(r"^[1-9]\d{0,2}(\.\d{3})*$|^0$"):
        return ".", ",", 0, False
    for group, mark in ((",", "."), (".", ","), (" ", ","), (" ", "."), ("'", "."), ("'", ","), (",,", ".")):
        pairs, between = len(group) > 1, _class(group[0])
        whole = r"[1-9]\d?(,\d\d)*,\d{3}" if pairs else rf"[1-9]\d{{0,2}}({between}\d{{3}})+"
        if all_match(rf"^({whole}|\d+)({re.escape(mark)}\d+)?$"):
            tail = pc.struct_field(pc.extract_regex(numbers, rf"{re.escape(mark)}(?P<digits>\d+)$"), "digits")
            digits = pc.max(pc.fill_null(pc.utf8_length(tail), 0)).as_py()
            seen = any_match(rf"\d{between}\d")
            alone = "," if seen and group == "." else "."  # the mark that an example without digits declares
            groups = pc.struct_field(pc.extract_regex(numbers, rf"\d(?P<group>{between})\d"), "group").drop_null()
            return (_commonest(groups)[0] if seen else ""), (mark if digits else alone), min(digits, SEEN), pairs
    return None
