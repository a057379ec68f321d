"""A verdict in one sentence before the numbers of the report: what the synthetic table is good for."""

from __future__ import annotations

from dpsyn_core.errors import MetricError
from ui.report.look import Look, Side
from ui.shared.text import number, percent, t

NEAR = 1.5  # times the error of a fresh sample up to which nothing better is to be had
OUTLINE = 3.0  # times the error of a fresh sample up to which fine bins, not the noise, make pairs look far apart
SMALL, FAIR = 0.03, 0.1  # error of a pair that hardly matters, and that is still of use
ORDER = 0.02  # mean error of rank correlations up to which numbers keep their relations (convention)
MOVED = 0.05  # of an interquartile range: by so much numbers are off at most to keep their shapes (convention)


def of_scores(view: Look, side: Side) -> str:
    """One sentence about a run from its errors of pairs and single columns; empty where there are none.

    Of a table that is mostly numbers it rests on what is right about their values, for bins that are a little off count
    as wrong whatever their distance.
    """
    ones, pairs = view.score(side, "tvd-1way"), view.score(side, "tvd-2way")
    if isinstance(ones, MetricError) or isinstance(pairs, MetricError):
        return ""
    n, epsilon = number(side.comparison.n), f"{side.job.spec.epsilon:g}"
    said = {"ones": percent(ones.value), "pairs": percent(pairs.value), "floor": percent(pairs.floor or 0.0)}
    if pairs.value <= NEAR * (pairs.floor or 0.0):
        return t("verdict.near", **said)
    if pairs.value <= SMALL:
        return t("verdict.small", **said)
    kept = of_numbers(view, side)
    if kept is not None:
        return t("verdict.numbers", **kept, **said)
    right = ones.value <= max(FAIR, NEAR * (ones.floor or 0.0))  # no outline is right whose single columns are not
    if right and pairs.value <= max(FAIR, OUTLINE * (pairs.floor or 0.0)):
        return t("verdict.fair", **said)
    if ones.value <= FAIR:
        return t("verdict.few", n=n, epsilon=epsilon, **said)
    return t("verdict.poor", n=n, epsilon=epsilon, **said)


def of_numbers(view: Look, side: Side) -> dict[str, str] | None:
    """What is said of numbers that keep shapes and relations; None where they do not, or are few."""
    if not mostly_numbers(side):
        return None
    order, moved = view.score(side, "rank-correlation"), view.score(side, "wasserstein")
    if isinstance(order, MetricError) or isinstance(moved, MetricError):
        return None
    if order.value > ORDER or moved.value > MOVED:
        return None
    return {"order": f"{order.value:.3f}", "moved": f"{moved.value:.3f}"}


def mostly_numbers(side: Side) -> bool:
    """Whether at least half of the columns hold numbers or dates."""
    listed = side.comparison.domain.attributes
    return 2 * sum(a.number for a in listed) >= len(listed)
