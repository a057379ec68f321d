"""How the official NIST 2018 scripts see a table: numeric columns in 100 bins, enumerated ones as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.comparison import Codes, Comparison
from dpsyn_core.metrics.roles import Roles
from dpsyn_core.schema.domain import CodedAttribute, Domain

BINS = 100
WIDEN = 1.0001  # the scripts widen the range so that its maximum falls inside the last bin


def strict_view(c: Comparison) -> Comparison:
    """The same tables with numeric attributes in 100 bins of width 1.0001 range / 100, "outrange" last."""
    if not c.bounds:
        return c
    attributes = list(c.domain.attributes)
    real, synthetic = list(c.truth), list(c.synthetic)
    for name, (low, high) in c.bounds.items():
        if name not in c.real_values or name not in c.synthetic_values:
            continue
        i = c.domain.index(name)
        attributes[i] = CodedAttribute(name=name, size=BINS + 1, ordered=True, special=1)
        real[i] = _hundredths(c.real_values[name], low, high)
        synthetic[i] = _hundredths(c.synthetic_values[name], low, high)
    return replace(c, domain=Domain(tuple(attributes)), real=_stack(real), synthetic=_stack(synthetic))


def nist_comparison(
    real: Mapping[str, NDArray[np.int64]],
    synthetic: Mapping[str, NDArray[np.int64]],
    specs: Mapping[str, Mapping[str, Any]],
    *,
    income: str = "INCWAGE",
    group: str = "CITY",
    split: str = "SEX",
    not_applicable: float = 999998,
) -> tuple[Comparison, frozenset[str]]:
    """A comparison of tables of enumerated integers with the challenge's `specs` ({"type": "enum", "maxval": M}).

    Values outside 0 .. maxval become "outrange", one more code. Returns the comparison and the columns that the
    synthetic table lacks, which match every range query in the official scorer.
    """
    for name in real:
        if specs.get(name, {}).get("type") != "enum":
            msg = f"column '{name}' has no enumerated specification; give it a type 'enum' and a 'maxval'"
            raise MetricError(msg)
    domain = Domain(tuple(CodedAttribute(name=n, size=int(specs[n]["maxval"]) + 2, special=1) for n in real))
    n, m = (len(next(iter(t.values()), np.zeros(0))) for t in (real, synthetic))
    missing = frozenset(n for n in real if n not in synthetic)
    codes = []
    for table, size in ((real, n), (synthetic, m)):
        columns = []
        for a in domain.attributes:
            value = np.asarray(table[a.name]) if a.name in table else np.full(size, a.size - 1)
            columns.append(np.where((value >= 0) & (value < a.size - 1), value, a.size - 1))
        codes.append(_stack(columns))
    has = income in real and income in synthetic
    sides = (1, 2) if split in real and domain[split].size > 2 else None
    comparison = Comparison(
        domain=domain,
        real=codes[0],
        synthetic=codes[1],
        real_values={income: np.asarray(real[income], dtype=np.float64)} if has else {},
        synthetic_values={income: np.asarray(synthetic[income], dtype=np.float64)} if has else {},
        roles=Roles(
            income=income if has else None,
            group=group if group in real else None,
            split=split if sides else None,
            split_values=sides,
            not_applicable=not_applicable,
        ),
    )
    return comparison, missing


def _hundredths(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.int64]:
    width = (high - low) * WIDEN / BINS or 1.0
    with np.errstate(invalid="ignore"):
        bins = np.floor((values - low) / width)
        inside = (values >= low) & (values <= high)
    return np.where(inside, bins, BINS).astype(np.int64)


def _stack(columns: Sequence[NDArray[Any]]) -> Codes:
    top = max(int(c.max(initial=0)) for c in columns)
    out: Codes = np.stack([c.astype(np.min_scalar_type(top)) for c in columns])
    return out
