"""The verdict in words, and as JSON: one sentence on what is kept, one on what is not right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsyn_core.evaluate import (
    NAMED,
    Between,
    Comparison,
    Fixed,
    Measure,
    MovedBlanks,
    MovedDays,
    MovedGroup,
    Verdict,
    verdict,
)
from dpsyn_core.report.wording import ENGLISH, Words, dated, local
from dpsyn_core.schema import is_year

LARGE = 1e17  # from which on an amount is written with an exponent
# the words of a pair by its measure
PAIR: dict[Measure, str] = {
    "rank correlation": "verdict_pair",
    "correlation ratio": "verdict_ratio",
    "Cramer's V less chance": "verdict_v",
}


def sentence(found: Verdict, words: Words = ENGLISH, *, epsilon: float | None = None) -> str:
    """What is kept, and what has changed most; numbers are those of the two files."""
    return " ".join(part for part in parts(found, words, epsilon=epsilon) if part)


def parts(found: Verdict, words: Words = ENGLISH, *, epsilon: float | None = None) -> tuple[str, str]:
    """What is kept; and what has changed most, empty where nothing has."""
    said = changes(found, words)
    head = words[f"verdict_{found.grade}"].format(**_values(found, words, epsilon))
    return head, words["verdict_moved"].format(list="; ".join(said)) if said else ""


def changes(found: Verdict, words: Words = ENGLISH) -> list[str]:
    """The rank correlations, means and groups that moved most, each in words."""
    out = fixed_words(found, words)
    pairs: list[tuple[Measure, tuple[str, str], float, float]] = [
        ("rank correlation", p.columns, p.real, p.synthetic) for p in found.correlations
    ]
    pairs += [
        (x.measure, x.columns, x.real, x.synthetic or 0.0)
        for x in found.lost
        if x.measure != "rank correlation" and x.weaker
    ]
    for measure, columns, left, right in pairs[:NAMED]:
        out.append(
            words[PAIR[measure]].format(
                a=columns[0], b=columns[1], real=local(fine(left), words), synthetic=local(fine(right), words)
            )
        )
    for m in found.means:
        real, synthetic = (local(x, words) for x in told_apart(m.real, m.synthetic, m.column))
        out.append(words["verdict_mean"].format(column=m.column, real=real, synthetic=synthetic))
    for d in found.dates:
        ends = (instant(x, precise=d.precise).replace("T", " ") for x in (d.real, d.synthetic))
        real, synthetic = (dated(x, words) for x in ends)
        out.append(words["verdict_date"].format(column=d.column, real=real, synthetic=synthetic))
    shares: list[MovedDays | MovedBlanks] = [*found.days, *found.blanks]
    for b in shares:
        real, synthetic = (local(percent(x), words) for x in (b.real, b.synthetic))
        day = words["day_" + b.day.replace("-", "_")] if isinstance(b, MovedDays) else ""
        template = words["verdict_day" if day else "verdict_blank"]
        out.append(template.format(column=b.column, day=day, real=real, synthetic=synthetic))
    return out + [group_words(g, words) for g in found.groups]


def fixed_words(found: Verdict, words: Words = ENGLISH) -> list[str]:
    """That columns, or all of them, have one value in all records."""
    if not found.fixed:
        return []
    if found.whole:
        return [words["verdict_same"]]
    said = [
        words["verdict_fixed"].format(column=x.column, value=_value(x, words), real=local(f"{x.real:,}", words))
        for x in found.fixed[:NAMED]
    ]
    more = len(found.fixed) - NAMED
    return [*said, words["verdict_fixed_more"].format(count=more)] if more > 0 else said


def _value(x: Fixed, words: Words) -> str:
    return x.value if isinstance(x.value, str) else local(amount(x.value, of=x.column), words)


def instant(seconds: float, *, precise: bool) -> str:
    """A mean date, or a mean time to the minute, as ISO 8601 writes it."""
    import numpy as np

    return str(np.datetime64(round(seconds), "s").astype("datetime64[m]" if precise else "datetime64[D]"))


def group_words(g: MovedGroup, words: Words = ENGLISH) -> str:
    """A group's mean, or a value's share of the records, in both tables."""
    value = local(g.value, words) if g.decimal else g.value
    if not g.column:
        return words["verdict_share"].format(
            category=g.category,
            value=value,
            real=local(percent(g.real), words),
            synthetic=local(percent(g.synthetic), words),
        )
    real, synthetic = (local(x, words) for x in told_apart(g.real, g.synthetic, g.column))
    return words["verdict_group"].format(
        column=g.column, category=g.category, value=value, real=real, synthetic=synthetic
    )


def _values(found: Verdict, words: Words, epsilon: float | None) -> dict[str, str]:
    kept = "" if found.relations_kept is None else percent(found.relations_kept, 0)
    pairs = found.pairs
    said = {
        "kept": kept,
        "ones": percent(found.ones.value),
        "ones_floor": percent(found.ones.floor or 0.0),
        "pairs": "" if pairs is None else percent(pairs.score.value),
        "floor": "" if pairs is None else percent(pairs.fresh),
        "unrelated": "" if pairs is None else percent(pairs.unrelated),
        "n": f"{found.n:,}",
    }
    out = {name: local(text, words) for name, text in said.items()}
    at = "" if epsilon is None else words["verdict_at"].format(epsilon=local(f"{epsilon:g}", words), n=out["n"])
    return out | {"at": at}


def percent(x: float, digits: int | None = None) -> str:
    """A share in percent, with two digits where it is small."""
    places = (1 if x >= 0.01 or x == 0 else 2) if digits is None else digits
    return f"{100 * x:.{places}f} %"


def fine(x: float) -> str:
    """A correlation: two digits, a minus sign, no negative zero."""
    return f"{x + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")


def told_apart(real: float, synthetic: float, of: str = "", most: int = 16) -> tuple[str, str]:
    """Two amounts of a column with the digits that tell them apart, three at least, `most` at most."""
    for digits in range(3, most + 1):
        pair = tuple(amount(x, digits, of) for x in (real, synthetic))
        if pair[0] != pair[1]:
            break
    return pair[0], pair[1]


def amount(x: float, digits: int = 3, of: str = "") -> str:
    """An amount as people write it; of: the column that it is from, which may hold years."""
    if x == 0:
        return "0"
    if abs(x) >= 10 ** (digits - 1) and abs(x) < LARGE:
        return f"{x:.0f}" if is_year(of, x) else f"{x:,.0f}".replace("-", "\N{MINUS SIGN}")
    return f"{x:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def of(c: Comparison) -> Verdict | None:
    """The verdict on a comparison; None where the real table was not given."""
    if c.real is None:
        return None
    return verdict(c)


def verdict_entry(c: Comparison, epsilon: float | None = None) -> dict[str, Any]:
    """As JSON types: `sentence`, `relations_kept` and `lost`, and what they rest on; nothing without a real table."""
    found = of(c)
    if found is None:
        return {}
    return {
        "verdict": {
            "sentence": sentence(found, epsilon=epsilon),
            "grade": found.grade,
            "relations_kept": found.relations_kept,
            "relations_kept_because": found.why_none or None,
            "lost": [
                {
                    "columns": list(x.columns),
                    "measure": x.measure,
                    "real": x.real,
                    "synthetic": x.synthetic,
                    "kept": None if x.kept is None else min(1.0, max(0.0, x.kept)),
                }
                for x in found.lost
            ],
            "means": [{"column": x.column, "real": x.real, "synthetic": x.synthetic} for x in found.means],
            "groups": [
                {
                    "column": x.column or None,
                    "category": x.category,
                    "value": x.value,
                    "real": x.real,
                    "synthetic": x.synthetic,
                    "what": "mean" if x.column else "share of records",
                }
                for x in found.groups
            ],
            "dates": [
                {
                    "column": x.column,
                    "real": instant(x.real, precise=x.precise),
                    "synthetic": instant(x.synthetic, precise=x.precise),
                }
                for x in found.dates
            ],
            "days": [{"column": x.column, "day": x.day, "real": x.real, "synthetic": x.synthetic} for x in found.days],
            "blanks": [{"column": x.column, "real": x.real, "synthetic": x.synthetic} for x in found.blanks],
            "one_value": [x.column for x in found.fixed],
            "records": {"real": c.n, "synthetic": c.m},
        }
    }


def floors_entry(found: Mapping[str, Between]) -> dict[str, dict[str, float | None]]:
    """The two floors of scores, and the share of the way between them."""
    return {n: {"fresh": b.fresh, "unrelated": b.unrelated, "kept": b.kept} for n, b in found.items()}
