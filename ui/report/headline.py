"""Headline: the few numbers that decide, each beside what a fresh sample would score."""

from __future__ import annotations

from dpsyn_core.errors import MetricError
from ui.report import verdict
from ui.report.look import Look
from ui.shared.text import percent, t
from ui.shared.theme import facts, lead

SHOWN = (("tvd-2way", "pairs"), ("tvd-1way", "ones"), ("range-queries", "queries"), ("pay-gap", "gap"))


def headline(view: Look) -> None:
    """One row of numbers a run."""
    for side in view.sides:
        said = verdict.of_scores(view, side)
        if said:
            lead(said if len(view.sides) == 1 else f"{side.letter}: {said}")
        items = []
        for metric, words in SHOWN:
            got = view.score(side, metric)
            if isinstance(got, MetricError):
                continue
            value = (
                f"{got.value:.2f}".replace("-", "\N{MINUS SIGN}")
                if metric == "pay-gap"
                else percent(got.value, 2 if got.value < 0.01 else 1)
            )
            if got.floor is None and metric != "pay-gap":
                continue  # a score without its yardstick is no headline
            floor = t("headline.gap_note")
            if got.floor is not None:
                floor = t("headline.floor", floor=percent(got.floor, 2 if got.floor < 0.01 else 1))
            name = t(f"headline.{words}")
            items.append((value, name if len(view.sides) == 1 else f"{side.letter} · {name}", floor))
        facts(items)
