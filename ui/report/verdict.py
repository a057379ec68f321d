"""The verdict in the visitor's words, before the numbers of the report."""

from __future__ import annotations

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Verdict, verdict
from dpsyn_core.report import APART, alarm, parts
from ui.report.look import Look, Side
from ui.shared.results import kept
from ui.shared.text import figure_words


def found(view: Look, side: Side) -> Verdict:
    """The verdict on a run, once for this visitor."""
    return kept(view.space, ("verdict", side.job.id, repr(side.comparison.roles)), lambda: verdict(side.comparison))


def of_scores(view: Look, side: Side) -> tuple[str, str]:
    """What is kept, and what has changed most; empty where nothing can be compared, or nothing has changed."""
    try:
        return parts(found(view, side), figure_words(), epsilon=side.job.spec.epsilon)
    except MetricError:
        return "", ""


def alarm_of(view: Look, side: Side) -> str:
    """That the table is too near to the real one; empty where it is not, or nothing can be compared."""
    try:
        said = alarm(found(view, side), figure_words())
    except MetricError:
        return ""
    return f"{figure_words()['alarm']}: {said}" if said else ""


def shows_rules(view: Look, side: Side) -> bool:
    """Whether the verdict shows what the real table keeps, so that rules declared later are marked."""
    try:
        return found(view, side).shows_rules
    except MetricError:
        return False


def kept_card(view: Look, side: Side, card: tuple[str, str]) -> list[tuple[str, str]]:
    """The card of relations, unless the verdict says that two columns cannot be read together."""
    try:
        return [] if found(view, side).grade in APART else [card]
    except MetricError:
        return [card]


def mostly_numbers(side: Side) -> bool:
    """Whether at least half of the columns hold numbers or dates."""
    listed = side.comparison.domain.attributes
    return 2 * sum(a.number for a in listed) >= len(listed)
