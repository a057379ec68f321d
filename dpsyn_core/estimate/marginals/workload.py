"""What a run is asked to measure: the tables that declared questions need, and their share of the budget. Public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.estimate.marginals.coarsening import NO_RECODES, Recodes
from dpsyn_core.schema import AttributeSet

if TYPE_CHECKING:
    from dpsyn_core.estimate.marginals.model_sums import ModelDesign

Floats = NDArray[np.float64]
NO_NUMBERS: Mapping[str, Floats] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """A table that a question needs.

    attributes: in domain order. weight: importance of the question, divided among its tables. maps: of attributes
    whose coarse values are public. means: for attributes of which the mean
    matters, the number that each cell stands for (NaN: none), shape (size,); coarse values are to be chosen so that
    means are kept. Attributes in neither have as many values as the budget allows. whole: attributes whose values are
    what is compared, and are not merged unless they are many. questions: names of the questions that need it.
    target: what is to be predicted from the other attribute, None where that is not the purpose. model: whether a sum
    for a regression serves as well, where a system can release one.
    """

    attributes: AttributeSet
    weight: float
    questions: tuple[str, ...]
    maps: Recodes = field(default_factory=lambda: NO_RECODES)
    means: Mapping[str, Floats] = field(default_factory=lambda: NO_NUMBERS)
    whole: frozenset[str] = frozenset()
    target: str | None = None
    model: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Two needs with one key are one table."""
        return (
            self.attributes,
            tuple((n, self.maps[n]) for n in self.attributes if n in self.maps),
            tuple(n for n in self.attributes if n in self.means),
            tuple(n for n in self.attributes if n in self.whole),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """The declared questions of a run: the tables that they need, and the share of the budget that these get.

    needs: each table once. share: part, from 0 to 1, of what pairs of attributes would get without questions. models:
    the regressions, for systems that release a sum for each instead of its tables.
    """

    needs: tuple[Need, ...]
    share: float
    models: tuple[ModelDesign, ...] = ()

    def sets(self) -> list[AttributeSet]:
        """The attribute sets, each once, for systems whose workload is a list of them."""
        return list(dict.fromkeys(n.attributes for n in self.needs))
