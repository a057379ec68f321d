"""Which columns are likely to be incomes, groups, sides or targets, from their names alone. Public."""

from __future__ import annotations

from collections.abc import Sequence

# looked for in this order, without regard to case and punctuation
INCOME = ("incwage", "wageincome", "income", "wage", "wages", "salary", "earnings", "pay")
MONEY = (*INCOME, "price", "cost", "amount", "revenue", "sales", "budget", "fee", "charge", "payment", "fare", "rent",
         "premium", "value")  # fmt: skip
GROUP = ("city", "region", "county", "state", "area", "statefip", "workclass", "occupation", "education")
SPLIT = ("sex", "gender")
TARGET = ("income", "income50k", "target", "label", "class", "outcome", "y")
FIRST_SIDE = ("male", "m", "man", "men")


def key(name: str) -> str:
    """A name without case and punctuation."""
    return "".join(c for c in name.lower() if c.isalnum())


def find(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    """The first wanted word that is a name; else the first that begins or ends one."""
    keys = {key(n): n for n in reversed(names)}
    for w in wanted:
        if w in keys:
            return keys[w]
    for w in wanted:
        for known, name in keys.items():
            if len(w) > 3 and (known.startswith(w) or known.endswith(w)):
                return name
    return None


def two_sides(labels: Sequence[str]) -> tuple[int, int]:
    """Which two of at least two labels are compared: male with what is not, else the last two of a 0/1/2 code."""
    words = [key(w) for w in labels]
    for word in FIRST_SIDE:
        if word in words:
            first = words.index(word)
            second = next((i for i, w in enumerate(words) if w in (f"fe{word}", "f", "woman", "women")), None)
            return first, second if second is not None else next(i for i in range(len(words)) if i != first)
    return (1, 2) if len(words) == 3 else (0, 1)
