"""Models and amounts side by side: regressions of the outcomes, and amounts that are often 0, real and synthetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dpsyn_core.evaluate import Comparison, amount_figures, effects
from dpsyn_core.report.amounts import fine, told_apart
from dpsyn_core.report.page import Page

MOST = 30  # terms of one outcome that are shown, the strongest


def section(page: Page, tables: Sequence[tuple[str, Comparison]]) -> None:
    """A table of coefficients for each outcome, with signs that turned in red, and one of amounts that are often 0.

    tables: names and comparisons; those without a real table have no models.
    """
    shown = [(name, c) for name, c in tables if c.real is not None and (effects(c) or amount_figures(c))]
    if not shown:
        return
    page.section(page.say("models"), private=True)
    for name, c in shown:
        if len(tables) > 1:
            page.heading(name)
        _regressions(page, c)
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
    """Both as JSON types; nothing without a real table."""
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
    return {"models": terms, "amounts": [asdict(a) for a in amount_figures(c)]}
