"""The prior that makes synthetic counts of the Gamma-Poisson model epsilon-DP, when exposures are public."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsyn_core.errors import BudgetError


def least_shapes(
    draws: int, epsilon: float, exposures: NDArray[np.float64], rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Smallest gamma shapes a_i for which `draws` synthetic records are epsilon-DP for one exchanged individual.

    y_i is Poisson(n_i lambda_i) with a public exposure n_i, lambda_i is Gamma(a_i, b_i), and the draws are multinomial
    with shares in proportion to n_i lambda_i. With w_i = n_i / (n_i + b_i) the condition is
    (1 + m / a_i) max(w) / w_i <= e^epsilon. Where b is in proportion to n it is that of the Dirichlet-multinomial,
    a_i >= m / (e^epsilon - 1). Proof: docs/proofs/gamma-poisson.md.

    Args:
        draws: m, a public constant.
        epsilon: above 0.
        exposures: n_i, above 0.
        rates: b_i, at least 0.

    Returns:
        Shapes, in the order of the exposures.

    Raises:
        BudgetError: epsilon is too small for such different exposures, at any shape.
    """
    w = exposures / (exposures + rates)
    room = np.exp(epsilon) * w / w.max() - 1
    if not (epsilon > 0 and (room > 0).all()):
        need = float(np.log(w.max() / w.min()))
        msg = (
            f"epsilon {epsilon:g} is at most {need:.3g}, what unequal exposures alone tell; raise epsilon, or choose "
            "rates in proportion to the exposures"
        )
        raise BudgetError(msg)
    return np.asarray(draws / room)
