"""Headline: the few numbers that decide, each beside what a fresh sample would score."""

from __future__ import annotations

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Score, between
from ui.report import verdict
from ui.report.look import Look, Side
from ui.schema import tried
from ui.shared.results import kept
from ui.shared.text import local, percent, t
from ui.shared.theme import facts, lead, note

SHOWN = (("tvd-2way", "pairs"), ("tvd-1way", "ones"), ("range-queries", "queries"), ("pay-gap", "gap"))
KEPT = ("relations", "kept")
NUMBERS = (("rank-correlation", "order"), ("wasserstein", "moved"))  # lead where most columns are numbers
PLAIN = ("pay-gap", "rank-correlation", "wasserstein")  # no shares of records
MOST = 3  # numbers in a row


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
        near = verdict.alarm_of(view, side)
        if near:
            note(near if len(view.sides) == 1 else f"{side.letter}: {near}", "alarm")
        if verdict.shows_rules(view, side):
            tried.see(tried.names(*view.space.parts.values()))
        said, changed = verdict.of_scores(view, side)
        if said:
            lead(said if len(view.sides) == 1 else f"{side.letter}: {said}")
        if changed:
            note(changed, "warning")
        items: list[tuple[str, str, str]] = []
        for metric, words in [
            *verdict.kept_card(view, side, KEPT),
            *(NUMBERS if verdict.mostly_numbers(side) else ()),
            *SHOWN,
        ]:
            if len(items) == MOST or not asked_for(side, metric):
                continue
            got = view.score(side, metric)
            if isinstance(got, MetricError):
                continue
            if got.floor is None and metric not in PLAIN:
                continue  # a score without its yardstick is no headline
            name = t(f"headline.{words}")
            shown = (figure(metric, got.value), name if len(view.sides) == 1 else f"{side.letter} · {name}")
            items.append((*shown, against(view, side, metric, got) + equivalent(got)))
        facts(items)


def figure(metric: str, value: float) -> str:
    """A headline number as it is set."""
    if metric == KEPT[0]:
        return percent(value, 0)
    if metric in PLAIN:
        return local(value, f".{2 if metric == 'pay-gap' else 3}f").replace("-", "\N{MINUS SIGN}")
    return percent(value, 2 if value < 0.01 else 1)


def against(view: Look, side: Side, metric: str, got: Score) -> str:
    """What to compare a headline number with: a fresh sample, and unrelated columns where that means anything."""
    if metric == KEPT[0]:
        return t("headline.kept_note")
    if metric == "pay-gap":
        return t("headline.gap_note")
    floors = kept(
        view.space, ("between", metric, side.job.id, repr(side.comparison.roles)),
        lambda: between(side.comparison, metric, got),
    )  # fmt: skip
    if floors is not None:
        return t("headline.floors", floor=figure(metric, floors.fresh), unrelated=figure(metric, floors.unrelated))
    return t("headline.order_note") if got.floor is None else t("headline.floor", floor=figure(metric, got.floor))
