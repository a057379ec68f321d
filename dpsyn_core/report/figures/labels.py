"""Labels of axes: short, different from each other, without markup; and short words for bins of numbers."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

LONG = 18  # characters of a label on an axis
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
REAL_BIN = re.compile(rf"\[({NUMBER}), ({NUMBER})[)\]]")
WHOLE_BIN = re.compile(r"(-?\d+)-(-?\d+)")
NEAR = 0.2  # a rounded end of a bin lies within this share of the bin's width


def axis_labels(names: Sequence[str], most: int = LONG, *, blank: str = "(blank)") -> list[str]:
    """Labels that fit on an axis, hold no markup, and stay different from each other."""
    out: list[str] = []
    seen: dict[str, int] = {}
    for given in short_bins(names):
        name = given or blank
        label = name if len(name) <= most else name[: most - 1] + "…"
        seen[label] = seen.get(label, 0) + 1
        out.append(plain_text(label if seen[label] == 1 else f"{label} ({seen[label]})"))
    return out


def short_bins(words: Sequence[str]) -> list[str]:
    """Bins of real numbers as "-1.8 to -1.6" with no more digits than tell them apart; other words as they are.

    Only a column whose words are all bins (but for special values, which stand in parentheses) is shortened.
    """
    plain = [w for w in words if not (w.startswith("(") and w.endswith(")"))]
    found = [REAL_BIN.fullmatch(w) for w in plain]
    if plain and all(found):
        ends = [(float(m[1]), float(m[2])) for m in found if m]
        digits = next((d for d in range(7) if _apart(ends, d)), None)
        if digits is None:
            return list(words)
        texts = iter([f"{_cut(a, digits)} to {_cut(b, digits)}" for a, b in ends])
        return [next(texts) if REAL_BIN.fullmatch(w) else w for w in words]
    if any(w.startswith("-") and WHOLE_BIN.fullmatch(w) for w in plain):  # -20--11 is hard to read
        return [f"{m[1]} to {m[2]}" if (m := WHOLE_BIN.fullmatch(w)) else w for w in words]
    return list(words)


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
    """Text that Plotly shows as it is: neither its markup nor its hover fields."""
    return html.escape(text, quote=False).replace("%{", "% {")
