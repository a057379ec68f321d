"""Rules that headers, kinds and ranges let expect, in English and German: proposals for a person, who knows the table.

No record is read, and a proposal is in force only when somebody adds it to the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter

from dpsyn_core.errors import SchemaError
from dpsyn_core.schema.categorical import CategoricalAttribute
from dpsyn_core.schema.datetimes import DatetimeAttribute
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.formulas import range_of
from dpsyn_core.schema.numeric import NumericAttribute
from dpsyn_core.schema.rules import AnyRule, ImpossibleRule, Rule, check_rule
from dpsyn_core.schema.zeros import KnownZeros

Words = frozenset[str]
PIECES = re.compile(r"[^\W\d_]+|\d+")
CAMEL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
COMPOUND = re.compile(r"^(\w{4,}?)s?(datum|tag|zeit|date|time)$")
MOST = 40  # proposals: a person reads them one by one


def _words(text: str) -> Words:
    return frozenset(text.split())


# what comes first or is smaller, and what comes last or is larger: with the other words of both headers alike
ENDS = tuple(
    (_words(low), _words(high))
    for low, high in (
        ("start started begin began beginn anfang", "end ended finish finished ende schluss"),
        ("from von ab since seit", "to until till bis"),
        ("first erste erster erstes", "last latest letzte letzter letztes"),
        ("min minimum low lower lowest least untere kleinste", "max maximum high upper highest most obere groesste"),
        ("admitted admission admit aufnahme aufgenommen", "discharged discharge entlassung entlassen"),
        ("arrival arrived arrive arr ankunft checkin anreise", "departure departed left dep abfahrt checkout abreise"),
        ("opened open opening eroeffnet geoeffnet", "closed close closing geschlossen"),
        ("birth born dob geburt geboren geburtsdatum", "death died dod tod gestorben todesdatum"),
        ("hired hire joined entry eintritt einstellung", "left exit fired quit austritt ausgeschieden"),
        ("ordered order bestellt bestellung", "delivered delivery shipped geliefert lieferung versandt"),
        ("created erstellt angelegt", "updated modified changed geaendert aktualisiert"),
        ("issued ausgestellt", "expires expired expiry abgelaufen ablauf"),
        ("enrolled enrolment enrollment", "graduated graduation"),
        ("net netto", "gross brutto"),
    )
)  # fmt: skip
# a number of some, and the number of all that it is among
PARTS = tuple(
    (_words(part), _words(whole))
    for part, whole in (
        ("hits h", "at_bats atbats ab"), ("doubles triples homers home_runs homeruns hr 2b 3b singles 1b", "hits h"),
        ("wins won siege", "games played matches spiele"), ("goals tore", "shots schuesse"),
        ("made scored passed correct right richtig bestanden", "attempted attempts taken total gesamt versucht"),
        ("deaths died todesfaelle", "cases faelle"), ("bedrooms schlafzimmer", "rooms zimmer"),
        ("children kinder", "household_size hhsize persons personen haushaltsgroesse"),
        ("discount rabatt", "price preis"), ("tenure experience seniority berufsjahre", "age alter"),
        ("valid gueltig", "cast total gesamt abgegeben"),
    )
)  # fmt: skip
LENGTHS = _words(
    "los stay length duration days nights hours minutes weeks years dauer liegedauer verweildauer tage naechte stunden "
    "minuten wochen jahre"
)
UNITS = {
    "hours": _words("hours hour stunden"), "minutes": _words("minutes minute min minuten"),
    "weeks": _words("weeks wochen"), "years": _words("years jahre"), "seconds": _words("seconds sekunden"),
}  # fmt: skip
FILLING = _words("date day time datetime datum tag zeit at on am of der die das the dt")  # of the names of dates
BORN, DIED, AGE = ENDS[7][0], ENDS[7][1], _words("age alter")
TOTAL = _words("total sum gesamt summe insgesamt overall")
ALTOGETHER = tuple(
    (_words(whole), tuple(_words(p) for p in parts))
    for whole, parts in (
        (
            "persons people total population personen gesamt einwohner",
            ("male males men maenner", "female females women frauen"),
        ),
        ("gross brutto", ("net netto", "tax taxes steuer steuern")),
        ("revenue turnover sales umsatz ertrag", ("profit gewinn", "cost costs expenses kosten")),
        ("hits h", ("singles 1b", "doubles 2b", "triples 3b", "homers home_runs homeruns hr")),
        ("rooms zimmer", ("bedrooms schlafzimmer", "other_rooms andere_zimmer")),
    )
)  # fmt: skip
RATIOS = tuple(
    (_words(column), _words(of), _words(by))
    for column, of, by in (
        ("density dichte", "population einwohner people", "area flaeche"),
        ("average avg batting_average", "hits h", "at_bats atbats ab"),
        ("unit_price stueckpreis einzelpreis", "total amount price betrag", "quantity qty menge anzahl"),
        ("speed geschwindigkeit", "distance strecke", "duration hours dauer stunden"),
    )
)  # fmt: skip
NO = _words("no nein n 0 false never nie none")
BLANKS = (
    (
        _words("pregnant pregnancy schwanger schwangerschaft"),
        _words("due gestation gestational trimester weeks termin woche wochen ssw"),
    ),
    (_words("died dead deceased death verstorben gestorben tot"), DIED),
    (_words("smoker smokes smoking raucher raucht"), _words("cigarettes pack packs zigaretten")),
    (
        _words("employed working job erwerbstaetig beschaeftigt"),
        _words("employer occupation wage salary arbeitgeber beruf lohn gehalt"),
    ),
)  # fmt: skip
FOLLOWS = tuple(
    (_words(detail), _words(general))
    for detail, general in (
        (
            "city town ort stadt gemeinde municipality",
            "county kreis landkreis state bundesland region province country land staat",
        ),
        ("county kreis landkreis", "state bundesland region province country staat"),
        ("state bundesland region province", "country staat"), ("country land staat", "continent kontinent"),
        ("product produkt artikel item", "category kategorie warengruppe group"),
        ("species art", "genus gattung"), ("genus gattung", "family familie"),
        ("model modell", "make brand marke hersteller manufacturer"), ("store shop filiale", "region district bezirk"),
    )
)  # fmt: skip
MALE, SEX = _words("male m man men maennlich mann"), _words("sex gender geschlecht")
MARITAL, WED = (
    _words("marital marst married familienstand"),
    _words("married divorced widowed separated verheiratet geschieden verwitwet"),
)
OLDEST_CHILD = 13  # years: nobody marries younger in any law that is in force


def propose_rules(schema: Schema) -> list[AnyRule]:
    """Rules that are likely to hold, which the schema does not have yet; of those that it could have alone."""
    coded = {a.name: a for a in schema.coded}
    named = {n: words_of(n) for n in coded}
    known = {str(r) for r in schema.rules}
    out: list[AnyRule] = []
    adapter: TypeAdapter[AnyRule] = TypeAdapter(Rule)
    for document in _proposed(coded, named):
        rule = adapter.validate_python(document)
        if str(rule) in known:
            continue
        known.add(str(rule))
        try:
            check_rule(len(out) + 1, rule, coded)
        except SchemaError:  # the columns do not fit it: nothing is said of them by their names
            continue
        if not any(_says_as_much(held, rule, coded) for held in schema.rules):
            out.append(rule)
    return out[:MOST]


def _says_as_much(held: AnyRule, rule: AnyRule, coded: Mapping[str, Any]) -> bool:
    """Whether one rule on impossible combinations already rules out all cells of another."""
    if not (isinstance(held, ImpossibleRule) and isinstance(rule, ImpossibleRule)) or held.columns != rule.columns:
        return False
    attributes = {n: coded[n] for n in rule.columns}
    ours, theirs = (KnownZeros([r], attributes).cells(rule.columns) for r in (held, rule))
    return ours is not None and theirs is not None and bool((ours | ~theirs).all())


def words_of(name: str) -> Words:
    """The words of a header in lower case, umlauts written out; neighbours joined too: at_bats, AtBats."""
    plain = CAMEL.sub(" ", name)
    parts = [p.lower() for p in PIECES.findall(plain)]
    parts = [p.replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").replace("ß", "ss") for p in parts]
    parts = " ".join(COMPOUND.sub(r"\1 \2", p) for p in parts).split()  # Aufnahmedatum: aufnahme, datum
    return frozenset([*parts, *("_".join(p) for p in pairwise(parts)), "".join(parts)])


def _proposed(coded: Mapping[str, Any], named: Mapping[str, Words]) -> Iterator[dict[str, Any]]:
    pairs = list(_ends(coded, named))
    yield from _times_between(coded, named, pairs)
    yield from ({"kind": "order", "lower": low, "upper": high} for low, high in pairs)
    numbers = [n for n, a in coded.items() if isinstance(a, NumericAttribute)]
    yield from _counts(named, numbers)
    yield from _sums(named, numbers)
    yield from _ratios(coded, named, numbers)
    yield from _conditions(coded, named)
    listed = [n for n, a in coded.items() if isinstance(a, CategoricalAttribute)]
    for detail, general in FOLLOWS:
        for column in listed:
            sources = [n for n in listed if named[n] & detail and n != column]
            if named[column] & general and not named[column] & detail and len(sources) == 1:
                yield {"kind": "follows", "column": column, "of": sources}


def _ends(coded: Mapping[str, Any], named: Mapping[str, Words]) -> Iterator[tuple[str, str]]:
    """Pairs of headers that differ in the words for both ends alone."""
    plain = {n: frozenset(w for w in words if "_" not in w) for n, words in named.items()}
    for lows, highs in ENDS:
        for low in (n for n in coded if plain[n] & lows):
            for high in (n for n in coded if n != low and plain[n] & highs):
                rest = [_rest(low, lows), _rest(high, highs)]
                alike = not isinstance(coded[low], CategoricalAttribute) and coded[low].kind == coded[high].kind
                if alike and rest[0] == rest[1]:
                    yield low, high


def _rest(name: str, taken: Words) -> Words:
    """The single words of a header without some, and without those that say nothing."""
    parts = [w for w in words_of(name) if "_" not in w]
    whole = max(parts, key=len)
    single = [w for w in parts if w != whole or len(parts) == 1]
    return frozenset(single) - taken - FILLING


def _times_between(
    coded: Mapping[str, Any], named: Mapping[str, Words], pairs: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    dates = {n for n, a in coded.items() if isinstance(a, DatetimeAttribute)}
    ends = [p for p in pairs if set(p) <= dates and not named[p[0]] & BORN]
    numbers = [n for n, a in coded.items() if isinstance(a, NumericAttribute)]
    lengths = [n for n in numbers if named[n] & LENGTHS and not named[n] & AGE]
    if len(ends) == 1 and len(lengths) == 1:
        unit = next((u for u, words in UNITS.items() if named[lengths[0]] & words), "days")
        told = {} if unit == "days" and not coded[ends[0][0]].precise else {"unit": unit}
        yield {"kind": "difference", "column": lengths[0], "of": ends[0][1], "minus": ends[0][0], **told}
    born = [n for n in dates if named[n] & BORN]
    others = [n for n in dates if not named[n] & (BORN | DIED)]
    seen = [low for low, _ in ends] or others
    for age in (n for n in numbers if named[n] & AGE and range_of(coded[n])[1] <= 130):
        if len(born) == 1 and len(seen) == 1:
            yield {"kind": "difference", "column": age, "of": seen[0], "minus": born[0], "unit": "years"}


def _counts(named: Mapping[str, Words], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
    for part, whole in PARTS:
        for small in (n for n in numbers if named[n] & part):
            large = [n for n in numbers if n != small and named[n] & whole and not named[n] & part]
            if len(large) == 1:
                yield {"kind": "order", "lower": small, "upper": large[0]}


def _sums(named: Mapping[str, Words], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
    for column in (n for n in numbers if named[n] & TOTAL):
        rest = _rest(column, TOTAL)
        parts = [n for n in numbers if n != column and rest and rest < _rest(n, frozenset())]
        if len(parts) > 1:
            yield {"kind": "sum", "column": column, "parts": parts}
    for whole, members in ALTOGETHER:
        found = [[n for n in numbers if named[n] & words] for words in (whole, *members)]
        if all(len(f) == 1 for f in found) and len({f[0] for f in found}) == len(found):
            yield {"kind": "sum", "column": found[0][0], "parts": [f[0] for f in found[1:]]}


def _ratios(
    coded: Mapping[str, Any], named: Mapping[str, Words], numbers: Sequence[str]
) -> Iterator[dict[str, Any]]:  # fmt: skip
    def only(words: Words) -> str | None:
        found = [n for n in numbers if named[n] & words]
        return found[0] if len(found) == 1 else None

    bmi, weight = only(_words("bmi")), only(_words("kg weight gewicht"))
    height = only(_words("cm height size groesse koerpergroesse"))
    if bmi and weight and height:
        top = range_of(coded[height])[1]
        if top <= 3 or 100 <= top <= 300:  # metres, or centimetres
            times = 1 if top <= 3 else 10_000
            yield {"kind": "ratio", "column": bmi, "of": weight, "by": [height, height], "times": times}
    for column, of, by in RATIOS:
        found = [only(words) for words in (column, of, by)]
        if all(found) and len(set(found)) == 3:
            yield {"kind": "ratio", "column": found[0], "of": found[1], "by": [found[2]]}


def _conditions(coded: Mapping[str, Any], named: Mapping[str, Words]) -> Iterator[dict[str, Any]]:
    """Blank cells where something does not apply, and combinations that cannot be."""
    listed = {n: a for n, a in coded.items() if isinstance(a, CategoricalAttribute)}
    for words, told in BLANKS:
        for asked, attribute in ((n, a) for n, a in listed.items() if named[n] & words):
            no = [k for k in attribute.keys if k.lower() in NO]
            for column in (n for n, a in coded.items() if n != asked and named[n] & told and a.missing):
                if len(no) == 1 and len(attribute.keys) < 4:
                    yield {"kind": "blank", "column": column, "where": f"{_quoted(asked)} = {_quoted(no[0])}"}
    for sex, attribute in ((n, a) for n, a in listed.items() if named[n] & SEX):
        male = [k for k in attribute.keys if k.lower() in MALE]
        for asked in (n for n in listed if named[n] & BLANKS[0][0]):
            yes = [k for k in listed[asked].keys if k.lower() in _words("yes ja y j 1 true")]
            if male and yes:
                where = f"{_quoted(sex)} = {_quoted(male[0])} and {_quoted(asked)} = {_quoted(yes[0])}"
                yield {"kind": "impossible", "where": where}
    ages = [n for n, a in coded.items() if isinstance(a, NumericAttribute) and named[n] & AGE]
    for column in (n for n in listed if named[n] & MARITAL):
        wed = [k for k in listed[column].keys if words_of(k) & WED and "never" not in k.lower()]
        for age in ages:
            least = range_of(coded[age])[0]
            if wed and least <= OLDEST_CHILD:
                values = ", ".join(map(_quoted, wed))
                yield {
                    "kind": "impossible",
                    "where": f"{_quoted(age)} in [{least:g}, {OLDEST_CHILD}] and {_quoted(column)} in {{{values}}}",
                }


def _quoted(text: str) -> str:
    """A name or value as conditions are written."""
    return text if re.fullmatch(r"\w+", text) else '"' + text.replace('"', '""') + '"'
