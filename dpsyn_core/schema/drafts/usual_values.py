"""Usual lists of answers, scales and ranges, which a column may follow by public knowledge."""

from __future__ import annotations

from dpsyn_core.schema.languages import ANSWERS

# usual lists of answers, whose order means something: (values as text in lower case, in that order)
ORDERED: tuple[tuple[str, ...], ...] = (
    ("low", "medium", "high"),
    ("never", "sometimes", "often", "always"),
    ("poor", "fair", "good", "very good", "excellent"),
    *(
        ("strongly disagree", "disagree", middle, "agree", "strongly agree")
        for middle in ("neutral", "neither", "neither agree nor disagree")
    ),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("niedrig", "mittel", "hoch"),
    ("nie", "selten", "manchmal", "oft", "immer"),
    ("stimme gar nicht zu", "stimme eher nicht zu", "teils/teils", "stimme eher zu", "stimme völlig zu"),
    ("stimme überhaupt nicht zu", "stimme nicht zu", "neutral", "stimme zu", "stimme voll und ganz zu"),
    ("trifft gar nicht zu", "trifft eher nicht zu", "teils/teils", "trifft eher zu", "trifft voll zu"),
    ("sehr unzufrieden", "unzufrieden", "neutral", "zufrieden", "sehr zufrieden"),
)
# usual code lists; the spelling of the table is kept
LISTS: tuple[tuple[str, ...], ...] = (
    *ORDERED, *ANSWERS, ("m", "f"), ("male", "female"), ("f", "m", "x"),
    ("man", "woman"), ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
     "december"),
    ("m", "w"), ("m", "w", "d"),
    ("männlich", "weiblich"), ("männlich", "weiblich", "divers"),
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
YEARS = (1500, 2200)
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


def usual(keys: list[str]) -> tuple[str, ...] | None:
    """The usual list that these values are of; more than one of them, and none beside."""
    got = {k.lower() for k in keys}
    if len(got) < len(keys) or len(got) < 2:
        return None
    return next((listed for listed in LISTS if got <= set(listed) and len(got) >= len(listed) - 1), None)
