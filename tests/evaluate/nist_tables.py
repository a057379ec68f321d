"""Tables of the NIST challenge as its official scripts read them, and its official scores of a given workload."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.comparison import Comparison, Roles
from dpsyn_core.evaluate.income import official_sides, strict_score
from dpsyn_core.evaluate.nist import _stack, density_score
from dpsyn_core.evaluate.nist_range import query_frequencies, range_score
from dpsyn_core.evaluate.workload import CountQuery
from dpsyn_core.schema import AttributeSet, CodedAttribute, Domain


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


@dataclass(frozen=True, kw_only=True, slots=True)
class OfficialScores:
    """The three official scores and their mean."""

    density: float
    range: float
    income: float

    @property
    def overall(self) -> float:
        """Mean of the three."""
        return (self.density + self.range + self.income) / 3


def official_scores(
    c: Comparison, triples: Sequence[AttributeSet], queries: Sequence[CountQuery], *, missing: Collection[str] = ()
) -> OfficialScores:
    """Strict scores for a given workload, as the official scorer computes them from its ground-truth files."""
    return OfficialScores(
        density=density_score(c, triples),
        range=range_score(*query_frequencies(c, queries, missing=missing)),
        income=strict_score(*official_sides(c)),
    )
