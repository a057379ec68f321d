"""A verdict in one sentence before the numbers of the report: what the synthetic table is good for."""

from __future__ import annotations

from dpsyn_core.errors import MetricError
from ui.report.look import Look, Side
from ui.shared.text import number, percent, t

NEAR = 1.5  # times the error of a fresh sample up to which nothing better is to be had
OUTLINE = 3.0  # times the error of a fresh sample up to which fine bins, not the noise, make pairs look far apart
SMALL, FAIR = 0.03, 0.1  # error of a pair that hardly matters, and that is still of use


def of_scores(view: Look, side: Side) -> str:
    """One sentence about a run from its errors of pairs and single columns; empty where there are none."""
    ones, pairs = view.score(side, "tvd-1way"), view.score(side, "tvd-2way")
    if isinstance(ones, MetricError) or isinstance(pairs, MetricError):
        return ""
    n, epsilon = number(side.comparison.n), f"{side.job.spec.epsilon:g}"
    said = {"ones": percent(ones.value), "pairs": percent(pairs.value), "floor": percent(pairs.floor or 0.0)}
    if pairs.value <= NEAR * (pairs.floor or 0.0):
        return t("verdict.near", **said)
    if pairs.value <= SMALL:
        return t("verdict.small", **said)
    right = ones.value <= max(FAIR, NEAR * (ones.floor or 0.0))  # no outline is right whose single columns are not
    if right and pairs.value <= max(FAIR, OUTLINE * (pairs.floor or 0.0)):
        return t("verdict.fair", **said)
    if ones.value <= FAIR:
        return t("verdict.few", n=n, epsilon=epsilon, **said)
    return t("verdict.poor", n=n, epsilon=epsilon, **said)
