"""The verdict in words, and as JSON: one sentence on what is kept, one on what is not right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsyn_core.metrics.comparison import Comparison
from dpsyn_core.metrics.moved import MovedGroup
from dpsyn_core.metrics.unrelated import Between
from dpsyn_core.metrics.verdict import Verdict, verdict
from dpsyn_core.report.words import ENGLISH, Words


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
    out = [
        words["verdict_pair"].format(a=p.columns[0], b=p.columns[1], real=fine(p.real), synthetic=fine(p.synthetic))
        for p in found.correlations
    ]
    out += [
        words["verdict_mean"].format(column=m.column, **dict(zip(("real", "synthetic"), told_apart(m.real, m.synthetic),
                                                                   strict=True)))
        for m in found.means
    ]  # fmt: skip
    return out + [group_words(g, words) for g in found.groups]


def group_words(g: MovedGroup, words: Words = ENGLISH) -> str:
    """A group's mean, or a value's share of the records, in both tables."""
    if not g.column:
        return words["verdict_share"].format(
            category=g.category, value=g.value, real=percent(g.real), synthetic=percent(g.synthetic)
        )
    real, synthetic = told_apart(g.real, g.synthetic)
    return words["verdict_group"].format(
        column=g.column, category=g.category, value=g.value, real=real, synthetic=synthetic
    )


def _values(found: Verdict, words: Words, epsilon: float | None) -> dict[str, str]:
    kept = "" if found.relations_kept is None else percent(found.relations_kept, 0)
    pairs = found.pairs
    return {
        "kept": kept,
        "ones": percent(found.ones.value),
        "ones_floor": percent(found.ones.floor or 0.0),
        "pairs": "" if pairs is None else percent(pairs.score.value),
        "floor": "" if pairs is None else percent(pairs.fresh),
        "unrelated": "" if pairs is None else percent(pairs.unrelated),
        "n": f"{found.n:,}",
        "at": "" if epsilon is None else words["verdict_at"].format(epsilon=f"{epsilon:g}", n=f"{found.n:,}"),
    }


def percent(x: float, digits: int | None = None) -> str:
    """A share in percent, with two digits where it is small."""
    places = (1 if x >= 0.01 or x == 0 else 2) if digits is None else digits
    return f"{100 * x:.{places}f} %"


def fine(x: float) -> str:
    """A correlation: two digits, a minus sign, no negative zero."""
    return f"{x + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "\N{MINUS SIGN}")


def told_apart(real: float, synthetic: float) -> tuple[str, str]:
    """Two amounts with the digits that tell them apart, three at least."""
    for digits in range(3, 10):
        pair = tuple(amount(x, digits) for x in (real, synthetic))
        if pair[0] != pair[1]:
            break
    return pair[0], pair[1]


def amount(x: float, digits: int = 3) -> str:
    """An amount as people write it."""
    if x == 0:
        return "0"
    if abs(x) >= 10 ** (digits - 1) and abs(x) < 1e15:
        return f"{x:,.0f}".replace("-", "\N{MINUS SIGN}")
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
                {"columns": list(x.columns), "measure": x.measure, "real": x.real, "synthetic": x.synthetic,
                 "kept": None if x.kept is None else min(1.0, max(0.0, x.kept))}
                for x in found.lost
            ],
            "means": [{"column": x.column, "real": x.real, "synthetic": x.synthetic} for x in found.means],
            "groups": [
                {"column": x.column or None, "category": x.category, "value": x.value, "real": x.real,
                 "synthetic": x.synthetic, "what": "mean" if x.column else "share of records"}
                for x in found.groups
            ],
            "records": {"real": c.n, "synthetic": c.m},
        }
    }  # fmt: skip


def floors_entry(found: Mapping[str, Between]) -> dict[str, dict[str, float | None]]:
    """The two floors of scores, and the share of the way between them."""
    return {n: {"fresh": b.fresh, "unrelated": b.unrelated, "kept": b.kept} for n, b in found.items()}
