"""The tables behind a score over pairs of attributes: real, synthetic and difference by pair, and the worst."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.contingency import Associations

WORST = 10


def pair_details(found: Associations, measure: str) -> dict[str, Any]:
    """Details of one measure over the pairs for which it is defined. Raises MetricError when there is no pair."""
    real, synthetic = getattr(found, measure)
    defined = np.flatnonzero(~np.isnan(real))
    if not len(defined):
        msg = "an association needs two attributes; the schema has one"
        raise MetricError(msg)
    difference = abs(synthetic - real)[defined]
    order = defined[np.argsort(-difference, kind="stable")][:WORST]
    return {
        "attributes": [list(found.pairs[i]) for i in defined],
        "real": real[defined],
        "synthetic": synthetic[defined],
        "difference": difference,
        "max": difference.max(),
        "worst": [
            {"attributes": list(found.pairs[i]), "real": real[i], "synthetic": synthetic[i]} for i in order.tolist()
        ],
    }
