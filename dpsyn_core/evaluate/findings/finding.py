"""A finding: one way in which somebody would be wrong who believed the synthetic table, and by how much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

LEAST = 0.005  # weight of a finding that is worth a sentence
SURE = 4.5  # standard errors of a fresh sample beyond which a share is not that of one
# kinds of what no record breaks, which says what holds in the real table
OF_RULES = ("function", "filter_blank", "filter_zero", "order", "between", "sum", "less", "product")
OF_RECORDS = (*OF_RULES, "rule", "proposed", "key", "combinations")  # kinds of records that cannot be
ALARM = 2.0  # weight of an alarm: before everything else


Example = tuple[tuple[str, str, bool], ...]  # column, value, whether it is a number


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One finding, private.

    key: its kind, which names its sentence in the catalogue (`finding_<key>`). weight: how wrong a reader would be: the
    share of the records, or of the answers, that are wrong beyond those of a fresh sample; an alarm has ALARM and more.
    columns: that it is about. real, synthetic, fresh: its figure in both tables, and what a fresh sample of the same
    people has; None where there is none. what: further values of the sentence. examples: records or pairs of values
    that show it, at most three, each as (column, value, whether it is a number). remedy: key of a sentence on what
    helps (`remedy_<remedy>`); "" for none.
    """

    key: str
    weight: float
    columns: tuple[str, ...] = ()
    real: float | None = None
    synthetic: float | None = None
    fresh: float | None = None
    what: Mapping[str, Any] = field(default_factory=dict)
    examples: Sequence[Example] = ()
    remedy: str = ""

    @property
    def alarm(self) -> bool:
        """Whether the table is too near to the real one."""
        return bool(self.weight >= ALARM)

    @property
    def impossible(self) -> bool:
        """Whether it counts records that cannot be."""
        return self.key in OF_RECORDS


def beyond_chance(share: float, fresh: float, n: int, m: int, *, sure: float = SURE) -> bool:
    """Whether a share of m records is higher than in a fresh sample, which `fresh` of n records say."""
    smooth = (fresh * n + 2) / (n + 4)  # a share of 0 in n records is no proof of 0 (Agresti, Coull 1998)
    return share - fresh > sure * math.sqrt(smooth * (1 - smooth) * (1 / max(n, 1) + 1 / max(m, 1)))
