"""Comparison: a real and a synthetic table on the same domain, as every metric is handed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.metrics.roles import Roles
from dpsyn_core.schema.domain import Domain

if TYPE_CHECKING:
    from dpsyn_core.counting.base import Counter

Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two coded tables of shape (n_attributes, n_records) on one domain.

    real: None when only released values may be read. real_values, synthetic_values: decoded numeric columns,
    NaN where missing. bounds: public minimum and maximum of numeric attributes. labels: the words for the codes
    of an attribute. held_out: real records that the synthesizer never saw. measurements: what was released on
    the way to the synthetic table. real_of, synthetic_of: where a table is a random sample of a larger one, how many
    records that has; that of the real table is private.
    Guarantee: none. Everything computed from `real` is private.
    """

    domain: Domain
    synthetic: Codes
    real: Codes | None = None
    real_values: Mapping[str, Floats] = field(default_factory=dict)
    synthetic_values: Mapping[str, Floats] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    held_out: Codes | None = None
    held_out_values: Mapping[str, Floats] = field(default_factory=dict)
    measurements: Sequence[Measurement] = ()
    n_estimate: float | None = None
    real_of: int | None = None
    synthetic_of: int | None = None
    roles: Roles = field(default_factory=Roles)
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
        from dpsyn_core.counting.memory import MemoryCounter  # compiles kernels

        return MemoryCounter(self.truth, self.domain)

    @cached_property
    def synthetic_counter(self) -> Counter:
        """Counts the synthetic records."""
        from dpsyn_core.counting.memory import MemoryCounter

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
