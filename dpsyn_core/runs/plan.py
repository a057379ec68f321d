"""Plan of a run: what it would charge, and whether its noise can be drawn; public facts alone decide."""

from __future__ import annotations

from dpsyn_core.measurement.charges import check_widest
from dpsyn_core.privacy.cost import Cost
from dpsyn_core.privacy.unit import Unit
from dpsyn_core.synthesizers.dry_run import ASSUMED, RunPlan, plan, plan_of
from dpsyn_core.synthesizers.steps import Step, noise_of

__all__ = ["ASSUMED", "RunPlan", "Step", "check_drawable", "check_shares", "plan", "plan_of"]

_SCORES = 4096.0  # the sensitivity of a score is at most so many times that of a count: 4 for each of a million pairs


def check_drawable(made: RunPlan) -> None:
    """Refuses a run of which some noise is beyond the samplers, before it is charged; public facts alone decide.

    Scores state no scale of their own: what a count would need at the same cost is taken with room for the largest
    sensitivity of any score.

    Raises:
        BudgetError: a scale is above 2^50.
    """
    widest = max((c.scale for c in made.charges), default=0.0)
    for step in made.steps:
        if step.sigma is not None:
            widest = max(widest, *step.sigma)
        elif step.kind == "scores":
            least = step.share[0] or step.share[1]
            widest = max(widest, _SCORES * noise_of(made.cost.scaled(least / max(step.parts[1], 1)), made.unit))
    if widest:
        check_widest(widest)


def check_shares(cost: Cost, unit: Unit, *, parts: int) -> None:
    """As `check_drawable`, for runs without a plan that divide `cost` into at most so many equal parts."""
    check_widest(noise_of(cost.scaled(1 / parts), unit))
