"""Roles: which attribute is the income, which names the groups, which two sides are compared, what is predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsyn_core.errors import MetricError
from dpsyn_core.schema.domain import Domain

# looked for in this order, without regard to case, punctuation or what follows
INCOME = ("incwage", "wageincome", "income", "wage", "salary", "earnings", "pay")
GROUP = ("city", "region", "county", "state", "area", "statefip", "workclass", "occupation")
SPLIT = ("sex", "gender")
TARGET = ("income", "target", "label", "class", "outcome", "y")


@dataclass(frozen=True, kw_only=True, slots=True)
class Roles:
    """Public choices of the person who compares; None: guessed from the attribute names, or unknown.

    split_values: the two codes of the split attribute whose incomes are compared (first minus second).
    not_applicable: incomes at or above this value stand for "not applicable" and are left out.
    """

    income: str | None = None
    group: str | None = None
    split: str | None = None
    split_values: tuple[int, int] | None = None
    not_applicable: float | None = None
    target: str | None = None

    def resolved(self, domain: Domain, numeric: set[str]) -> Roles:
        """Fills what is None from attribute names alone (public), and checks what was given.

        Args:
            domain: the attributes.
            numeric: names of attributes that can be read as numbers.
        """
        for role in ("income", "group", "split", "target"):
            given = getattr(self, role)
            if given is not None and given not in domain.names:
                msg = f"the {role} attribute '{given}' is not in the schema; known are {', '.join(domain.names)}"
                raise MetricError(msg)
        income = self.income or _find(INCOME, [n for n in domain.names if n in numeric])
        split = self.split or _find(SPLIT, [n for n in domain.names if 2 <= domain[n].size - domain[n].special <= 4])
        others = [n for n in domain.names if n not in (income, split) and n not in numeric]
        return replace(
            self,
            income=income,
            split=split,
            group=self.group or _find(GROUP, others),
            split_values=self.split_values or ((0, 1) if split else None),
            target=self.target or _find(TARGET, list(domain.names)) or _last(domain),
        )


def _find(wanted: tuple[str, ...], names: list[str]) -> str | None:
    keys = {"".join(c for c in n.lower() if c.isalnum()): n for n in reversed(names)}
    for w in wanted:
        if w in keys:
            return keys[w]
    for w in wanted[:4]:
        for key, name in keys.items():
            if len(w) > 1 and key.startswith(w):
                return name
    return None


def _last(domain: Domain) -> str | None:
    usable = [a.name for a in domain.attributes if a.size - a.special >= 2]
    return usable[-1] if usable else None
