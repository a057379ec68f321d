"""Models and amounts side by side: regressions of the outcomes, interactions, variance of groups, amounts often 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dpsyn_core.evaluate import Comparison, amount_figures, effects, group_variances, interactions
from dpsyn_core.report.amounts import fine, told_apart
from dpsyn_core.report.page import Page

MOST = 30  # terms of one outcome that are shown, the strongest
MOST_INTERACTIONS = 10  # the strongest


FIGURES = (effects, interactions, group_variances, amount_figures)


def section(page: Page, tables: Sequence[tuple[str, Comparison]]) -> None:
    """A table of coefficients for each outcome, with signs that turned in red, and tables of what else models say.

    These are interactions, the shares of variance between groups that are many or were asked for, and amounts that are
    often 0.
    tables: names and comparisons; those without a real table have no models.
    """
    shown = [(name, c) for name, c in tables if c.real is not None and any(f(c) for f in FIGURES)]
    if not shown:
        return
    page.section(page.say("models"), private=True)
    for name, c in shown:
        if len(tables) > 1:
            page.heading(name)
        _regressions(page, c)
        _interactions(page, c)
        _group_variances(page, c)
        _amounts(page, c)


def _regressions(page: Page, c: Comparison) -> None:
    listed = effects(c)
    if listed:
        page.text(page.say("models_lead"))
    for outcome in dict.fromkeys(e.outcome for e in listed):
        mine = sorted((e for e in listed if e.outcome == outcome), key=lambda e: -abs(e.real))[:MOST]
        rows = []
        for e in mine:
            term = f"{e.column} = {e.value}" if e.value else e.column
            sides = [
                f"{fine(at)} ({fine(low)} … {fine(high)})"
                for at, (low, high) in ((e.real, e.interval(0)), (e.synthetic, e.interval(1)))
            ]
            state = page.say("sign_turned") if e.turned else page.say("effect_weaker") if e.gone else ""
            rows.append([term, *(page.local(x) for x in sides), state])
        heads = [page.say("term"), page.say("real_effect"), page.say("synthetic_effect"), ""]
        red = [i for i, e in enumerate(mine) if e.turned]
        page.table(heads, rows, caption=page.say("regression_of", outcome=outcome), red=red)


def _interactions(page: Page, c: Comparison) -> None:
    shown = interactions(c)[:MOST_INTERACTIONS]
    rows = []
    for x in shown:
        state = page.say("sign_turned") if x.turned else page.say("effect_weaker") if x.lost else ""
        rows.append([x.outcome, f"{x.first} × {x.second}", page.percent(x.real), page.percent(x.synthetic), state])
    if rows:
        heads = [page.say(h) for h in ("outcome", "term", "explained_real", "explained_synthetic")]
        red = [i for i, x in enumerate(shown) if x.turned]
        page.table([*heads, ""], rows, caption=page.say("interactions_caption"), red=red)


def _group_variances(page: Page, c: Comparison) -> None:
    shown = group_variances(c)
    rows = []
    for v in shown:
        fresh = " … ".join(page.percent(x) for x in v.fresh)
        state = page.say("beyond_chance") if v.far else ""
        rows.append([v.column, v.by, f"{v.groups}", page.percent(v.real), page.percent(v.synthetic), fresh, state])
    if rows:
        heads = ("outcome", "grouped_by", "groups_number", "explained_real", "explained_synthetic", "fresh_samples")
        red = [i for i, v in enumerate(shown) if v.moved]
        page.table([*(page.say(h) for h in heads), ""], rows, caption=page.say("group_variances_caption"), red=red)


def _amounts(page: Page, c: Comparison) -> None:
    rows = []
    for a in amount_figures(c):
        shares = [page.percent(x) for x in a.zeros]
        pairs = [page.local(x) for pair in (a.rest, a.high) for x in told_apart(*pair, a.column)]
        rows.append([a.column, *shares, *pairs])
    if rows:
        heads = ["column", "zeros_real", "zeros_synthetic", "rest_real", "rest_synthetic", "top_real", "top_synthetic"]
        page.table([page.say(h) for h in heads], rows, caption=page.say("amounts_caption"))


def models_entry(c: Comparison) -> dict[str, Any]:
    """As JSON types, without what `columns_entry` has; nothing without a real table."""
    if c.real is None:
        return {}
    terms = [
        {
            "outcome": e.outcome,
            "column": e.column,
            "value": e.value or None,
            "real": e.real,
            "synthetic": e.synthetic,
            "interval_real": list(e.interval(0)),
            "interval_synthetic": list(e.interval(1)),
            "turned": e.turned,
        }
        for e in effects(c)
    ]
    together = [
        {k: getattr(x, k) for k in ("outcome", "first", "second", "real", "synthetic", "kept", "lost", "turned")}
        for x in interactions(c)
    ]
    return {"models": terms, "interactions": together, "amounts": [asdict(a) for a in amount_figures(c)]}
