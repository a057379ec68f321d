"""Rules that headers, kinds and ranges let expect, in English and German: proposals for a person, who knows the table.

No record is read, and a proposal is in force only when somebody adds it to the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.attributes.categorical import CategoricalAttribute
from dpsyn_core.schema.attributes.datetime import DatetimeAttribute
from dpsyn_core.schema.attributes.numeric import NumericAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.rules.base import Rule
from dpsyn_core.schema.rules.columns import range_of
from dpsyn_core.schema.rules.impossible import ImpossibleRule
from dpsyn_core.schema.rules.order import OrderRule
from dpsyn_core.schema.rules.registry import check_rule, rule_of
from dpsyn_core.schema.rules.usual_words import (
    AGE,
    ALTOGETHER,
    ALWAYS_DATES,
    ALWAYS_NUMBERS,
    ALWAYS_PARTS,
    APART,
    BLANKS,
    BMI,
    BORN,
    BOUNDS,
    CLOSE,
    CLOSE_TIMES,
    DIED,
    ENDS,
    FILLING,
    FINISHED,
    FIRSTS,
    FOLLOWS,
    HEIGHT,
    IN_MONTHS,
    LENGTHS,
    LOWS,
    MALE,
    MARITAL,
    NAMES,
    NEUTRAL,
    NO,
    OF_DATES,
    OLDEST_CHILD,
    OWN,
    PARTS,
    PENDING,
    PLAIN,
    RATES,
    RATIOS,
    SEX,
    SPANS,
    STATUS,
    STAYING,
    TOTAL,
    UNITS,
    VISIT,
    WED,
    WEIGHT,
    WHOLE_DAYS,
    YES,
    Words,
)
from dpsyn_core.schema.rules.zeros import KnownZeros

PIECES = re.compile(r"[^\W\d_]+|\d+")
CAMEL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
COMPOUND = re.compile(  # Aufnahmedatum: aufnahme, datum
    r"^(\w{3,}?)s?(datum|tag|zeit|date|time|beginn|anfang|ende|start|betrag|preis|kosten|umsatz|lohn|einkommen|gewicht|groesse"
    r"|alter|jahr|monat|quartal|stunde|dauer|duration|stimmen|punkte)$|^(gesamt|netto|brutto|mindest|hoechst|end|t(?=min$|max$|avg$))(\w{3,})$"
)
MOST = 40  # proposals: a person reads them one by one


def propose_rules(schema: Schema) -> list[Rule]:
    """Rules that are likely to hold, which the schema does not have yet; of those that it could have alone."""
    coded = {a.name: a for a in schema.coded}
    named = {n: words_of(n) for n in coded}
    existing = {str(r) for r in schema.rules}
    out: list[Rule] = []
    for document in _proposed(coded, named):
        rule = rule_of(document)
        if str(rule) in existing:
            continue
        existing.add(str(rule))
        try:
            check_rule(len(out) + 1, rule, coded)
        except SchemaError:  # the columns do not fit it: nothing is said of them by their names
            continue
        if not any(_says_as_much(older, rule, coded) for older in schema.rules):
            out.append(rule)
    return out[:MOST]


def named_close(lower: str, upper: str, *, precise: bool) -> bool:
    """Whether headers of two dates say that they lie close together. precise: whether they hold times of day."""
    named = {n: words_of(n) for n in (lower, upper)}
    return any((lower, upper) in _differing(named, list(named), ends) for ends in (CLOSE_TIMES if precise else CLOSE))


def holds_by_nature(rule: Rule, schema: Schema) -> bool:
    """Whether headers say an order that no record can break: an end not before its start, a part within its total."""
    if not isinstance(rule, OrderRule):
        return False
    low, high = rule.columns
    named = {n: words_of(n) for n in rule.columns}
    if schema[low].dated:
        return any((low, high) in _differing(named, list(named), ends) for ends in ALWAYS_DATES)
    parts = any(named[low] & part and named[high] & whole for part, whole in ALWAYS_PARTS)
    return parts or any((low, high) in _differing(named, list(named), ends) for ends in ALWAYS_NUMBERS)


def _says_as_much(held: Rule, rule: Rule, coded: Mapping[str, Any]) -> bool:
    """Whether one rule on impossible combinations already rules out all cells of another."""
    if not (isinstance(held, ImpossibleRule) and isinstance(rule, ImpossibleRule)) or held.columns != rule.columns:
        return False
    attributes = {n: coded[n] for n in rule.columns}
    ours, theirs = (KnownZeros([r], attributes).cells(rule.columns) for r in (held, rule))
    return ours is not None and theirs is not None and bool((ours | ~theirs).all())


def words_of(name: str) -> Words:
    """The words of a header in lower case, umlauts written out; neighbours joined too: at_bats, AtBats."""
    plain = CAMEL.sub(" ", name)
    parts = PIECES.findall(plain)
    whole = [_folded(p) for p in parts]
    parts = " ".join(_split(p) for p in whole).split()
    return frozenset([*parts, *whole, *("_".join(p) for p in pairwise(parts)), "".join(parts)])


def _folded(text: str) -> str:
    """In lower case, umlauts written out."""
    return text.lower().translate({ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue", ord("ß"): "ss"})


def _split(word: str) -> str:
    """A German compound as two words."""
    match = COMPOUND.match(word)
    return word if match is None else " ".join(p for p in match.groups() if p)


def _proposed(coded: Mapping[str, Any], named: Mapping[str, Words]) -> Iterator[dict[str, Any]]:
    pairs = list(dict.fromkeys(_ends(coded, named)))
    yield from _times_between(coded, named, pairs)
    yield from ({"kind": "order", "lower": low, "upper": high} for low, high in pairs)
    numbers = [n for n, a in coded.items() if isinstance(a, NumericAttribute)]
    yield from _counts(named, numbers)
    yield from _sums(coded, named, numbers)
    yield from _ratios(coded, named, numbers)
    yield from _conditions(coded, named)
    listed = [n for n, a in coded.items() if isinstance(a, CategoricalAttribute)]
    yield from _parts_of_dates(coded, named, [*numbers, *listed])
    for detail, general in FOLLOWS:
        sources = [n for n in listed if named[n] & detail]
        for column in (n for n in listed if named[n] & general and not named[n] & detail and len(sources) == 1):
            # "state of mind" is no region, and a question about the state is none either
            if _rest(column, detail | general, PLAIN) == _rest(sources[0], detail | general, PLAIN):
                yield {"kind": "follows", "column": column, "of": sources}


def _ends(coded: Mapping[str, Any], named: Mapping[str, Words]) -> Iterator[tuple[str, str]]:
    """Pairs of headers that differ in the words for both ends alone."""
    dates = [n for n, a in coded.items() if isinstance(a, DatetimeAttribute)]
    numbers = [n for n, a in coded.items() if isinstance(a, NumericAttribute) and not named[n] & NAMES]
    staying = any(words & STAYING for words in named.values())
    for ends in SPANS:
        pair = _differing(named, dates, ends)
        # a train departs before it arrives, a guest the other way round, and so do their columns follow each other
        either = ends is not VISIT or staying
        yield from (p for p in pair if either or (not coded[p[0]].precise and dates.index(p[0]) < dates.index(p[1])))
    for ends in ENDS:
        pair = _differing(named, [*numbers, *dates], ends)
        yield from (p for p in pair if ends is not LOWS or all(_says_bound(n) for n in p))


def _differing(
    named: Mapping[str, Words], names: Sequence[str], ends: tuple[Words, Words]
) -> Iterator[tuple[str, str]]:
    lows, highs = ends
    for low in (n for n in names if named[n] & lows and not named[n] & highs):
        fits = [n for n in names if named[n] & highs and not named[n] & lows and _rest(low, lows) == _rest(n, highs)]
        alike = [n for n in fits if _rest(low, lows, ()) == _rest(n, highs, ())]
        yield from ((low, high) for high in alike or fits)


def _says_bound(name: str) -> bool:
    """Whether low, high, upper or lower are about a number, and not about a limb: they stand last, or name a bound."""
    words = [_folded(w) for w in PIECES.findall(CAMEL.sub(" ", name))]
    return words[-1] in LOWS[0] | LOWS[1] or bool(set(words) & BOUNDS)


def _rest(name: str, taken: Iterable[str], filling: Iterable[str] = FILLING) -> Words:
    """The single words of a header without some, and without those that say nothing."""
    words, listed = words_of(name), [_folded(p) for p in PIECES.findall(CAMEL.sub(" ", name))]
    joined = set() if "".join(listed) in taken else set(listed)
    single = {part for word in joined - set(taken) for part in _split(word).split()}
    gone = {part for word in taken if word in words for part in word.split("_")} | set(taken)
    return frozenset(single - gone - set(filling))


def _times_between(
    coded: Mapping[str, Any], named: Mapping[str, Words], pairs: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    dates = {n for n, a in coded.items() if isinstance(a, DatetimeAttribute)}
    ends = [p for p in pairs if set(p) <= dates and not named[p[0]] & BORN]
    numbers = [n for n, a in coded.items() if isinstance(a, NumericAttribute)]
    lengths = [n for n in numbers if named[n] & LENGTHS and not named[n] & AGE]
    if len(ends) == 1 and len(lengths) == 1:
        unit = next((u for u, words in UNITS.items() if named[lengths[0]] & words), None)
        precise, days = coded[ends[0][0]].precise, bool(named[lengths[0]] & WHOLE_DAYS)
        options = {"unit": unit or "days"} if unit or precise else {}
        if unit or days or not precise:  # between times of day, a duration without a unit may be anything
            yield {"kind": "difference", "column": lengths[0], "of": ends[0][1], "minus": ends[0][0], **options}
    born = [n for n in dates if named[n] & BORN and not named[n] & DIED]
    others = [n for n in dates if not named[n] & (BORN | DIED)]
    seen = [n for n in dict.fromkeys(low for low, _ in ends) if n not in {high for _, high in ends}] or others
    for age in (n for n in numbers if named[n] & AGE):
        unit, most = ("completed-months", 1560) if named[age] & IN_MONTHS else ("completed-years", 130)
        whole = coded[age].dtype == "integer"
        if range_of(coded[age])[1] > most or not (whole or unit == "completed-years"):
            continue
        dead = [n for n in dates if named[n] & DIED] if named[age] & DIED else seen
        if len(born) == 1 and len(dead) == 1 and _rest(age, AGE, OWN | DIED | FIRSTS) == _rest(born[0], BORN, OWN):
            unit = unit if whole else "years"
            yield {"kind": "difference", "column": age, "of": dead[0], "minus": born[0], "unit": unit}
            return
    if len(born) == 1 and not _rest(born[0], BORN, OWN):
        yield from ({"kind": "order", "lower": born[0], "upper": n} for n in others)


def _parts_of_dates(
    coded: Mapping[str, Any], named: Mapping[str, Words], others: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The year of an admission: of the only date with the other words of the header, or of the only date."""
    dates = [n for n, a in coded.items() if isinstance(a, DatetimeAttribute)]
    for part, words in OF_DATES.items():
        for column in (n for n in others if named[n] & words):
            rest = _rest(column, words)
            fits = [n for n in dates if not rest or rest == _rest(n, ())]
            if len(fits) == 1:
                yield {"kind": "follows", "column": column, "of": fits, "part": part}


def _counts(named: Mapping[str, Words], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
    for part, whole in PARTS:
        for small in (n for n in numbers if named[n] & part and not named[n] & RATES):
            large = [n for n in numbers if n != small and named[n] & whole and not named[n] & part]
            rest = _rest(small, part | whole, FILLING | NEUTRAL)
            large = [n for n in large if _rest(n, part | whole, FILLING | NEUTRAL) == rest]
            if len(large) == 1:
                yield {"kind": "order", "lower": small, "upper": large[0]}


def _sums(coded: Mapping[str, Any], named: Mapping[str, Words], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
    for column in (n for n in numbers if named[n] & TOTAL and not named[n] & RATES - {"score"}):
        rest, parts = _rest(column, TOTAL), []
        for n in numbers:
            if n != column and rest and rest < _rest(n, ()) and range_of(coded[n])[1] <= range_of(coded[column])[1]:
                parts.append(n)
        if len(parts) < 2:
            parts = _adding_up(coded, numbers, column) or _amounts(coded, named, numbers, column)
        if len(parts) > 1:
            yield {"kind": "sum", "column": column, "parts": parts}
    for whole, members in ALTOGETHER:
        members_of = [[n for n in numbers if named[n] & words and not named[n] & RATES] for words in (whole, *members)]
        if not (all(len(f) == 1 for f in members_of) and len({f[0] for f in members_of}) == len(members_of)):
            continue
        rests = [_rest(f[0], words, FILLING | NEUTRAL) for f, words in zip(members_of, (whole, *members), strict=True)]
        if all(r in (rests[0], frozenset()) for r in rests) and rests[0] in rests[1:]:
            yield {"kind": "sum", "column": members_of[0][0], "parts": [f[0] for f in members_of[1:]]}


def _adding_up(coded: Mapping[str, Any], numbers: Sequence[str], column: str) -> list[str]:
    """The most columns next to a total, all before or after it, whose declared ranges add up to its range; or none."""
    at, ends = numbers.index(column), range_of(coded[column])
    for beside in (numbers[:at][::-1], numbers[at + 1 :]):
        for n in range(len(beside), 1, -1):
            sums = [sum(range_of(coded[name])[i] for name in beside[:n]) for i in (0, 1)]
            if all(abs(s - e) < 1e-9 * max(1, abs(e)) for s, e in zip(sums, ends, strict=True)):
                return [name for name in numbers if name in beside[:n]]
    return []


def _amounts(coded: Mapping[str, Any], named: Mapping[str, Words], numbers: Sequence[str], column: str) -> list[str]:
    """All columns directly before a total with cents that have cents too, where ranges leave room for their sum."""
    whole, parts = coded[column], list[str]()
    for n in numbers[: numbers.index(column)][::-1]:
        a = coded[n]
        if (a.step, a.decimals) != (whole.step, whole.decimals) or named[n] & (RATES | APART):
            break
        parts.insert(0, n)
    low, high = range_of(whole)
    ranges = [range_of(coded[n]) for n in parts]
    cents = whole.dtype == "float" and (whole.step or whole.decimals)
    fits = low >= 0 and all(r[0] >= 0 and r[1] <= high for r in ranges) and high <= sum(r[1] for r in ranges)
    return parts if cents and fits else []


def _ratios(coded: Mapping[str, Any], named: Mapping[str, Words], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
    def only(words: Words) -> str | None:
        fitting = [n for n in numbers if named[n] & words]
        return fitting[0] if len(fitting) == 1 else None

    bmi, weight = only(BMI), only(WEIGHT)
    height = only(HEIGHT)
    if bmi and weight and height:
        top = range_of(coded[height])[1]
        if top <= 3 or 100 <= top <= 300:  # metres, or centimetres
            times = 1 if top <= 3 else 10_000
            yield {"kind": "ratio", "column": bmi, "of": weight, "by": [height, height], "times": times}
    for column, of, by in RATIOS:
        columns = [only(words) for words in (column, of, by)]
        if all(columns) and len(set(columns)) == 3:
            yield {"kind": "ratio", "column": columns[0], "of": columns[1], "by": [columns[2]]}


def _conditions(coded: Mapping[str, Any], named: Mapping[str, Words]) -> Iterator[dict[str, Any]]:
    """Blank cells where something does not apply, and combinations that cannot be."""
    listed = {n: a for n, a in coded.items() if isinstance(a, CategoricalAttribute)}
    for words, blanks in BLANKS:
        for asked, attribute in ((n, a) for n, a in listed.items() if named[n] & words):
            no = [k for k in attribute.keys if _folded(k) in NO]
            for column in (n for n, a in coded.items() if n != asked and named[n] & blanks and a.missing):
                if len(no) == 1 and len(attribute.keys) < 4:
                    yield {"kind": "blank", "column": column, "where": f"{quoted(asked)} = {quoted(no[0])}"}
    for status, attribute in ((n, a) for n, a in listed.items() if named[n] & STATUS):
        pending = [k for k in attribute.keys if _folded(k) in PENDING]
        for column in (n for n, a in coded.items() if named[n] & FINISHED and a.missing and n not in listed):
            if len(pending) == 1 and isinstance(coded[column], DatetimeAttribute):
                yield {"kind": "blank", "column": column, "where": f"{quoted(status)} = {quoted(pending[0])}"}
    for sex, attribute in ((n, a) for n, a in listed.items() if named[n] & SEX):
        male = [k for k in attribute.keys if _folded(k) in MALE]
        for asked in (n for n in listed if named[n] & BLANKS[0][0]):
            yes = [k for k in listed[asked].keys if _folded(k) in YES]
            if male and yes:
                where = f"{quoted(sex)} = {quoted(male[0])} and {quoted(asked)} = {quoted(yes[0])}"
                yield {"kind": "impossible", "where": where}
    ages = [n for n, a in coded.items() if isinstance(a, NumericAttribute) and named[n] & AGE]
    for column in (n for n in listed if named[n] & MARITAL):
        wed = [k for k in listed[column].keys if words_of(k) & WED and "never" not in k.lower()]
        for age in ages:
            least = range_of(coded[age])[0]
            if wed and least <= OLDEST_CHILD:
                values = ", ".join(map(quoted, wed))
                yield {
                    "kind": "impossible",
                    "where": f"{quoted(age)} in [{least:g}, {OLDEST_CHILD}] and {quoted(column)} in {{{values}}}",
                }


def quoted(text: str) -> str:
    """A name or value as conditions are written, in quotation marks where it needs them."""
    plain = re.fullmatch(r"\w+", text) and text.lower() not in ("and", "not", "in")
    return text if plain else '"' + text.replace('"', '""') + '"'
