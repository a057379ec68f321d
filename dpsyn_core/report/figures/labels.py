"""Labels of axes: short, different from each other, without markup; and short words for bins of numbers."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from dpsyn_core.errors import UNSEEN
from dpsyn_core.report.wording import ENGLISH, Words, local

MISSING = "(missing)"  # what the schema calls the cell of blank values
LONG = 18  # characters of a label on an axis
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
REAL_BIN = re.compile(rf"\[({NUMBER}), ({NUMBER})[)\]]")
NUMERAL = re.compile(NUMBER)
NEIGHBOURS = re.compile(rf"({NUMBER}) … ({NUMBER})")  # neighbouring values that were merged
SPAN = re.compile(rf"({NUMBER}) to ({NUMBER})")
WHOLE_BIN = re.compile(r"(-?\d+)-(-?\d+)")
DAY = re.compile(r"\d{4}-\d\d-\d\d(?![^T])")
WHOLE = re.compile(r"(-?\d+)(?:-(-?\d+))?")  # a whole number, or a bin of some
NEAR = 0.2  # a rounded end of a bin lies within this share of the bin's width


def axis_labels(names: Sequence[str], most: int = LONG, *, words: Words = ENGLISH) -> list[str]:
    """Labels that fit on an axis, hold no markup, and stay different from each other, in the marks of a language."""
    out: list[str] = []
    seen: dict[str, int] = {}
    spoken = [words["blank"] if x in ("", MISSING) else x for x in said_bins(names, words)]
    begins = Counter(name[: most - 1] for name in spoken)
    for name in spoken:
        label = name if len(name) <= most else name[: most - 1] + "…"
        if len(name) > most and begins[name[: most - 1]] > 1:  # its end says more than its beginning
            label = f"{name[: most // 3]}…{name[-(most - most // 3 - 1) :]}"
        seen[label] = seen.get(label, 0) + 1
        out.append(plain_text(label if seen[label] == 1 else f"{label} ({seen[label]})"))
    return out


def said_bins(names: Sequence[str], words: Words) -> list[str]:
    """Short bins of numbers as a language writes them; values that are no bins stay as their table has them."""
    return [_spoken(given, words) for given in short_bins(names)]


def _spoken(label: str, words: Words) -> str:
    match = SPAN.fullmatch(label)
    return label if match is None else f"{local(match[1], words)} {words['asked_to']} {local(match[2], words)}"


def short_bins(words: Sequence[str]) -> list[str]:
    """Bins of real numbers as "-1.8 to -1.6" with no more digits than tell them apart; other words as they are.

    Only a column whose words are all bins (but for special values, which stand in parentheses) is shortened.
    """
    plain = [w for w in words if not (w.startswith("(") and w.endswith(")"))]
    parts = [REAL_BIN.fullmatch(w) for w in plain]
    if plain and all(parts):
        ends = [(float(m[1]), float(m[2])) for m in parts if m]
        digits = next((d for d in range(7) if _apart(ends, d)), None)
        if digits is None:
            return list(words)
        texts = iter([f"{_cut(a, digits)} to {_cut(b, digits)}" for a, b in ends])
        return [next(texts) if REAL_BIN.fullmatch(w) else w for w in words]
    mixed = [m or NEIGHBOURS.fullmatch(w) for w, m in zip(plain, parts, strict=True)]  # where some values stand alone
    if any(mixed) and all(m or NUMERAL.fullmatch(w) for w, m in zip(plain, mixed, strict=True)):
        spans = iter([f"{m[1]} to {m[2]}" if m else w for w, m in zip(plain, mixed, strict=True)])
        return [w if w.startswith("(") and w.endswith(")") else next(spans) for w in words]
    if any(w.startswith("-") and WHOLE_BIN.fullmatch(w) for w in plain):  # -20--11 is hard to read
        return [f"{m[1]} to {m[2]}" if (m := WHOLE_BIN.fullmatch(w)) else w for w in words]
    return list(words)


def merged(first: str, last: str) -> str:
    """Words for neighbouring values that were merged: "1400-1499" to "1600-1699" are "1400-1699"."""
    if first == last:
        return first
    a, b = _whole(first), _whole(last)
    if a and b:
        return f"{a[0]}-{b[1]}"
    real = REAL_BIN.fullmatch(first), REAL_BIN.fullmatch(last)
    if real[0] and real[1]:
        return f"[{real[0][1]}, {real[1][2]}{last[-1]}"
    low, high = NUMERAL.fullmatch(first) or real[0], NUMERAL.fullmatch(last) or real[1]
    if low and high:  # a value that stands alone and a bin
        return f"{low[0] if not real[0] else low[1]} … {high[0] if not real[1] else high[2]}"
    days = DAY.match(first), DAY.match(last)
    if days[0] and days[1] and days[0][0] != days[1][0]:  # short enough for an axis
        return f"{first[:10]} … {last[5:10]}" if first[:4] == last[:4] else f"{first[:7]} … {last[:7]}"
    return f"{first} … {last}"


def widths(words: Sequence[str]) -> list[float] | None:
    """Widths of bins from their words; None where the words are no bins.

    0: special values, and numbers that stand alone beside bins of real numbers.
    """
    out = []
    reals = any(REAL_BIN.fullmatch(w) or NEIGHBOURS.fullmatch(w) for w in words)
    for w in words:
        whole, real = _whole(w), REAL_BIN.fullmatch(w) or NEIGHBOURS.fullmatch(w)
        if whole and not (reals and NUMERAL.fullmatch(w)):
            out.append(float(whole[1] - whole[0] + 1))
        elif real:
            out.append(float(real[2]) - float(real[1]))
        elif NUMERAL.fullmatch(w) or (w.startswith("(") and w.endswith(")")):
            out.append(0.0)
        else:
            return None
    return out if any(out) else None


def rising(words: Sequence[str]) -> bool:
    """Whether the words are whole numbers, each larger than the one before it."""
    ranks = [_whole(w) for w in words]
    ends = [e for e in ranks if e]
    return len(ends) == len(words) and all(a[1] < b[0] for a, b in pairwise(ends))


def _whole(word: str) -> tuple[int, int] | None:
    """Ends of a whole number or of a bin of some; a month such as 2020-03 is none."""
    match = WHOLE.fullmatch(word)
    if match is None:
        return None
    low, high = int(match[1]), int(match[2] or match[1])
    return (low, high) if low <= high and str(low) == match[1] else None


def _apart(ends: Sequence[tuple[float, float]], digits: int) -> bool:
    """Whether ends rounded to so many digits after the point still tell all bins apart and where they lie."""
    return all(
        round(a, digits) < round(b, digits) and max(abs(round(x, digits) - x) for x in (a, b)) <= NEAR * (b - a)
        for a, b in ends
    )


def _cut(x: float, digits: int) -> str:
    text = f"{x:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text  # no -0


def plain_text(text: str) -> str:
    """Text that Plotly shows as it is: neither its markup nor its hover fields, nor what turns other letters round."""
    return html.escape(text.translate(UNSEEN), quote=False).replace("%{", "% {")
