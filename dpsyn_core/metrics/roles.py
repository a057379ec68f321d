"""Roles: which attribute is the income, which names the groups, which two sides are compared, what is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dpsyn_core.errors import MetricError
from dpsyn_core.questions.names import GROUP, INCOME, SPLIT, TARGET, find, key, two_sides
from dpsyn_core.schema.domain import Domain

IPUMS_NOT_APPLICABLE = 999998.0  # of INCWAGE in the 1940 census files


@dataclass(frozen=True, kw_only=True, slots=True)
class Roles:
    """Public choices of the person who compares; None: guessed from names and labels of the schema, or unknown.

    split_values: the two codes of the split attribute whose incomes are compared (first minus second).
    not_applicable: incomes at or above this value stand for "not applicable" and are left out.
    """

    income: str | None = None
    group: str | None = None
    split: str | None = None
    split_values: tuple[int, int] | None = None
    not_applicable: float | None = None
    target: str | None = None

    def resolved(
        self, domain: Domain, *, numeric: set[str], readable: set[str], labels: Mapping[str, Sequence[str]]
    ) -> Roles:
        """Fills what is None from the schema alone (public), and checks what was given.

        Args:
            domain: the attributes.
            numeric: names of attributes with an order.
            readable: names of attributes that can be read as numbers.
            labels: words for codes, by attribute.

        Raises:
            MetricError: a given attribute is not in the schema, or cannot play its role.
        """
        for role in ("income", "group", "split", "target"):
            given = getattr(self, role)
            if given is not None and given not in domain.names:
                msg = f"the {role} attribute '{given}' is not in the schema; known are {', '.join(domain.names)}"
                raise MetricError(msg)
        if self.income is not None and self.income not in readable:
            msg = f"the income attribute '{self.income}' cannot be read as numbers; choose a numeric one"
            raise MetricError(msg)
        income = self.income or find(INCOME, [n for n in domain.names if n in readable])
        split = self.split or find(SPLIT, [n for n in domain.names if _known(domain, n) >= 2])
        others = [n for n in domain.names if n not in (income, split) and n not in numeric]
        not_applicable = self.not_applicable
        if not_applicable is None and income is not None and key(income) == "incwage":
            not_applicable = IPUMS_NOT_APPLICABLE
        return replace(
            self,
            income=income,
            split=split,
            group=self.group or find(GROUP, others),
            split_values=_sides(self.split_values, split, domain, labels),
            not_applicable=not_applicable,
            target=self.target or _target(domain),
        )


def _sides(
    given: tuple[int, int] | None, split: str | None, domain: Domain, labels: Mapping[str, Sequence[str]]
) -> tuple[int, int] | None:
    """The two codes to compare: those given, else male against the next one, else the last two of a 0/1/2 code."""
    if split is None:
        return None
    known = _known(domain, split)
    if given is not None:
        if len(set(given)) != 2 or not all(0 <= v < domain[split].size for v in given):
            msg = f"the two sides of '{split}' must be different codes from 0 to {domain[split].size - 1}"
            raise MetricError(msg)
        return given
    if known < 2:
        msg = f"attribute '{split}' has fewer than two values, so there are no two sides to compare"
        raise MetricError(msg)
    words = labels.get(split, ())[:known]
    return two_sides(words if len(words) == known else [str(i) for i in range(known)])


def _known(domain: Domain, name: str) -> int:
    """Values of an attribute without its missing and other cells."""
    return domain[name].size - domain[name].special


def _target(domain: Domain) -> str | None:
    """An attribute that is called one; else the last of two values, else of at most ten, else of any number."""
    keys = {key(n): n for n in reversed(domain.names) if _known(domain, n) >= 2}
    for w in TARGET:
        if w in keys:
            return keys[w]
    for most in (2, 10, None):
        usable = [n for n in domain.names if _known(domain, n) >= 2 and (most is None or _known(domain, n) <= most)]
        if usable:
            return usable[-1]
    return None
