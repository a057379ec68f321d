"""Two tables side by side, and the roles of their columns.

Roles: which attribute is the income, which names the groups, which two sides are compared, what is predicted.

Comparison: a real and a synthetic table on the same domain, as every metric is handed them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.estimate import Measurement
from dpsyn_core.evaluate.intake import Intake
from dpsyn_core.questions import GROUP, INCOME, SPLIT, TARGET, find, key, two_sides
from dpsyn_core.schema import Domain, RuleBreaks

if TYPE_CHECKING:
    from dpsyn_core.measure import Counter


IPUMS_NOT_APPLICABLE = 999998.0  # of INCWAGE in the 1940 census files


@dataclass(frozen=True, kw_only=True, slots=True)
class Roles:
    """Public choices of the person who compares; None: guessed from names and labels of the schema, or unknown.

    split_values: the two codes of the split attribute whose incomes are compared (first minus second).
    not_applicable: incomes at or above this value stand for "not applicable" and are left out.
    asked: numbers and their groups in declared questions, as (number, group).
    """

    income: str | None = None
    group: str | None = None
    split: str | None = None
    split_values: tuple[int, int] | None = None
    not_applicable: float | None = None
    target: str | None = None
    asked: tuple[tuple[str, str], ...] = ()

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
    used = _known(domain, split)
    if given is not None:
        if len(set(given)) != 2 or not all(0 <= v < domain[split].size for v in given):
            msg = f"the two sides of '{split}' must be different codes from 0 to {domain[split].size - 1}"
            raise MetricError(msg)
        return given
    if used < 2:
        msg = f"attribute '{split}' has fewer than two values, so there are no two sides to compare"
        raise MetricError(msg)
    words = labels.get(split, ())[:used]
    return two_sides(words if len(words) == used else [str(i) for i in range(used)])


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


Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]


def asked_groups(*documents: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Numbers and groups of the questions that documents declare about one number by groups, for `Roles.asked`."""
    questions = [q for d in documents if d for q in d.get("questions", ())]
    return tuple((q["of"], by) for q in questions if isinstance(q.get("of"), str) for by in q.get("by", ()))


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two coded tables of shape (n_attributes, n_records) on one domain.

    real: None when only released values may be read. real_values, synthetic_values: decoded numeric columns, NaN where
    missing. real_dates, synthetic_dates: dates and times as days or seconds since 1970. date_units: seconds of a unit.
    bounds: public minimum and maximum of numeric attributes. labels: the words for the codes of an attribute. held_out:
    real records that the synthesizer never saw. measurements: what was released on the way. real_of, synthetic_of:
    where a table is a random sample of a larger one, how many records that has; that of the real table is private.
    rules: with the shares of records that break them. intake: what became of rows and columns before.
    left_out: columns that the schema names and leaves out (public). persons: 0, 1, ... of the real records, equal for
    those of one individual; None where each has one.
    Guarantee: none. Everything computed from `real` is private.
    """

    domain: Domain
    synthetic: Codes
    real: Codes | None = None
    real_values: Mapping[str, Floats] = field(default_factory=dict)
    synthetic_values: Mapping[str, Floats] = field(default_factory=dict)
    real_dates: Mapping[str, Floats] = field(default_factory=dict)
    synthetic_dates: Mapping[str, Floats] = field(default_factory=dict)
    date_units: Mapping[str, int] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    held_out: Codes | None = None
    held_out_values: Mapping[str, Floats] = field(default_factory=dict)
    measurements: Sequence[Measurement] = ()
    n_estimate: float | None = None
    real_of: int | None = None
    synthetic_of: int | None = None
    roles: Roles = field(default_factory=Roles)
    rules: tuple[RuleBreaks, ...] = ()
    intake: Intake = field(default_factory=Intake)
    left_out: tuple[str, ...] = ()
    persons: NDArray[np.intp] | None = None
    shared: dict[Any, Any] = field(
        repr=False, compare=False, default_factory=dict
    )  # with comparisons of one real table
    scores: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)  # of `Metric.score`

    def __post_init__(self) -> None:
        """Refuses tables that do not fit the domain."""
        if len(self.domain) == 0:
            msg = "the schema has no attribute to compare; declare at least one that is not ignored"
            raise MetricError(msg)
        for what, codes in (("real", self.real), ("synthetic", self.synthetic), ("held-out", self.held_out)):
            if codes is not None:
                _check(what, codes, self.domain)

    @property
    def truth(self) -> Codes:
        """The real codes. Raises MetricError when only released values may be read."""
        if self.real is None:
            msg = "this metric reads the real table, which was not given; give it, or choose a metric that is safe"
            raise MetricError(msg)
        return self.real

    @property
    def n(self) -> int:
        """Number of real records (private)."""
        return int(self.truth.shape[1])

    @property
    def m(self) -> int:
        """Number of synthetic records."""
        return int(self.synthetic.shape[1])

    @property
    def whole_n(self) -> int:
        """Number of records of the real table (private), of which `real` may be a sample."""
        return self.n if self.real_of is None else self.real_of

    @property
    def whole_m(self) -> int:
        """Number of records of the synthetic table, of which `synthetic` may be a sample."""
        return self.m if self.synthetic_of is None else self.synthetic_of

    @cached_property
    def real_counter(self) -> Counter:
        """Counts the real records (private)."""
        from dpsyn_core.measure import MemoryCounter  # compiles kernels

        return MemoryCounter(self.truth, self.domain)

    @cached_property
    def synthetic_counter(self) -> Counter:
        """Counts the synthetic records."""
        from dpsyn_core.measure import MemoryCounter

        return MemoryCounter(self.synthetic, self.domain)

    @cached_property
    def resolved(self) -> Roles:
        """The roles, with what was not given guessed from the schema (public)."""
        names = self.domain.names
        return self.roles.resolved(
            self.domain,
            numeric={n for n in names if self.numeric(n)},
            readable={n for n in names if self.readable(n)},
            labels=self.labels,
        )

    def numeric(self, name: str) -> bool:
        """Whether an attribute has an order: numbers, dates, ordered categories."""
        a = self.domain[name]
        return a.ordered and a.size > a.special

    def readable(self, name: str) -> bool:
        """Whether an attribute can be read as numbers: it has an order, or its categories are numbers."""
        return self.numeric(name) or (name in self.synthetic_values and name in self.real_values)

    def numbers(self, name: str) -> tuple[Floats, Floats]:
        """Real and synthetic values of an attribute as floats, NaN where missing.

        Decoded values where there are any, else the codes of an ordered attribute. Raises MetricError otherwise.
        """
        if name in self.real_values and name in self.synthetic_values:
            real, synthetic = self.real_values, self.synthetic_values
            return self.column(name, self.truth, real), self.column(name, self.synthetic, synthetic)
        return self.ranks(name, self.truth), self.ranks(name, self.synthetic)

    @property
    def sortable(self) -> list[str]:
        """Attributes whose cells can be put in order: numbers, dates, ordered categories, categories of numbers."""
        return [n for n in self.domain.names if self.readable(n)]

    def exact(self, name: str) -> tuple[Floats, Floats]:
        """Real and synthetic cells of an attribute as they stand in the files, as floats; NaN where missing.

        Numbers and categories of numbers as they are, dates as days or seconds, ordered categories by their rank.
        Unlike `numbers`, incomes that stand for "not applicable" count: a reader of the file finds them.
        """
        for real, synthetic in ((self.real_values, self.synthetic_values), (self.real_dates, self.synthetic_dates)):
            if name in real and name in synthetic:
                return real[name], synthetic[name]
        return self.ranks(name, self.truth), self.ranks(name, self.synthetic)

    def column(self, name: str, codes: Codes, values: Mapping[str, Floats]) -> Floats:
        """One table's numbers of an attribute, NaN where missing or where an income is not applicable."""
        if name not in values:
            return self.ranks(name, codes)
        limit = self.resolved.not_applicable
        if name != self.resolved.income or limit is None:
            return values[name]
        with np.errstate(invalid="ignore"):
            return np.where(values[name] >= limit, np.nan, values[name])

    def ranks(self, name: str, codes: Codes) -> Floats:
        """Codes of an ordered attribute as floats, NaN for its missing and other cells."""
        a, i = self.domain[name], self.domain.index(name)
        if not a.ordered:
            msg = f"attribute '{name}' has no order; choose a numeric, date or ordered attribute"
            raise MetricError(msg)
        out: Floats = codes[i].astype(np.float64)
        out[codes[i] >= a.size - a.special] = np.nan
        return out

    def words(self, name: str) -> list[str]:
        """A label for each code of an attribute."""
        given = self.labels.get(name)
        return list(given) if given is not None else [str(i) for i in range(self.domain[name].size)]


def _check(what: str, codes: Codes, domain: Domain) -> None:
    if codes.ndim != 2 or codes.shape[0] != len(domain) or codes.dtype.kind != "u":
        msg = f"the {what} codes must be unsigned integers of shape ({len(domain)}, records); encode both by one schema"
        raise MetricError(msg)
    if codes.shape[1] == 0:
        msg = f"the {what} table has no records, so there is nothing to compare; give a table with at least one"
        raise MetricError(msg)
    for a, column in zip(domain.attributes, codes, strict=True):
        if int(column.max()) >= a.size:
            msg = f"column '{a.name}' of the {what} table holds codes outside its domain; encode both by one schema"
            raise MetricError(msg)
