"""What is released of a view, read for a fit: tables, scores of pairs, and how coarse columns were in them. Blind."""

from __future__ import annotations

from collections.abc import Sequence

from dpsyn_core.marginals.coarsening import Recodes
from dpsyn_core.marginals.types import Measurement
from dpsyn_core.schema.domain import AttributeSet, Domain
from dpsyn_core.synthesizers.rls.view import RlsEvidence


class ViewEvidence(RlsEvidence):
    """What is released of a view, with the scores of its pairs and how coarse their columns were in them."""

    def __init__(
        self, domain: Domain, measured: Sequence[Measurement], n: int, coarse: Sequence[Recodes] = ()
    ) -> None:  # fmt: skip
        """Coarse: as of `usual_recodes`, where `measured` has scores."""
        super().__init__(domain, measured, n)
        self._coarse = coarse

    def scored_at(self, pair: AttributeSet) -> Recodes:
        """How coarse the columns of a scored pair were."""
        return self._coarse[len(self.numbers.intersection(pair))]
