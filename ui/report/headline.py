"""Headline: the few numbers that decide, each beside what a fresh sample would score."""

from __future__ import annotations

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import Score
from ui.report import verdict
from ui.report.look import Look, Side
from ui.shared.text import percent, t
from ui.shared.theme import facts, lead

SHOWN = (("tvd-2way", "pairs"), ("tvd-1way", "ones"), ("range-queries", "queries"), ("pay-gap", "gap"))
NUMBERS = (("rank-correlation", "order"), ("wasserstein", "moved"))  # lead where most columns are numbers
PLAIN = ("pay-gap", "rank-correlation", "wasserstein")  # no shares of records


def asked_for(side: Side, metric: str) -> bool:
    """Whether a number belongs into the headline: pay gaps only where the run was told that gaps will be asked.

    Nothing else in a run is spent on them, so that their order says little about it.
    """
    told = side.job.spec.questions
    return metric != "pay-gap" or (told is not None and any(q["kind"] == "gap" for q in told["questions"]))


def equivalent(got: Score) -> str:
    """How large a random part of the real records is as good; empty for numbers of which that is not known."""
    share = got.details.get("equivalent_subsample")
    if share is None:
        return ""
    return "; " + t("headline.equivalent", share=percent(share, 1 if share < 0.1 else 0))


def headline(view: Look) -> None:
    """One row of numbers a run."""
    for side in view.sides:
        said = verdict.of_scores(view, side)
        if said:
            lead(said if len(view.sides) == 1 else f"{side.letter}: {said}")
        items = []
        for metric, words in [*NUMBERS, *SHOWN[:3]] if verdict.mostly_numbers(side) else SHOWN:
            if not asked_for(side, metric):
                continue
            got = view.score(side, metric)
            if isinstance(got, MetricError):
                continue
            value = (
                f"{got.value:.{2 if metric == 'pay-gap' else 3}f}".replace("-", "\N{MINUS SIGN}")
                if metric in PLAIN
                else percent(got.value, 2 if got.value < 0.01 else 1)
            )
            if got.floor is None and metric not in PLAIN:
                continue  # a score without its yardstick is no headline
            floor = t("headline.gap_note" if metric == "pay-gap" else "headline.order_note")
            if got.floor is not None:
                exact = percent(got.floor, 2 if got.floor < 0.01 else 1)
                floor = t("headline.floor", floor=f"{got.floor:.3f}" if metric in PLAIN else exact)
            floor += equivalent(got)
            name = t(f"headline.{words}")
            items.append((value, name if len(view.sides) == 1 else f"{side.letter} · {name}", floor))
        facts(items)
