"""Sections of the HTML report that use released values alone: the guarantee, and what was released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsyn_core.evaluate import MeasuredFit, Score, expected_tvd, interval, row_name
from dpsyn_core.privacy import ENGLISH, Manifest, best_guess, certificate, charge_name, promise
from dpsyn_core.report import build
from dpsyn_core.report.document import ScoredTable
from dpsyn_core.report.page import Page
from dpsyn_core.report.verdict import released_words
from dpsyn_core.report.wording import Words

MOST_CHARGES = 200


def guarantee(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What was released, under which guarantee."""
    page.section(page.say("guarantee"))
    for t in tables:
        m, records = t.manifest, page.number(t.comparison.whole_m)
        if len(tables) > 1:
            page.heading(t.name)
        if m is None:
            page.text(page.say("no_manifest", table=t.name, records=records))
            continue
        if t.receipt is not None and not t.receipt.holds:
            why = page.sentence(t.receipt.sentence)
            page.text(page.say("not_proved", table=t.name, records=records, why=why))
            continue
        if not m.private:
            page.stamp("; ".join(m.not_private_because))
        text = promise(m, certificate_words(page.words))
        page.text(page.say("made_by", records=page.number(m.n_records), method=m.method, promise=text))
        if t.receipt is not None:
            page.text(page.say("checked", what=page.sentence(t.receipt.sentence)))
        add_odds(page, m)
        add_certificate(page, m)


def add_odds(page: Page, m: Manifest) -> None:
    """How often an attacker can be right, where the run gives a guarantee."""
    if not m.private:
        return
    chance = best_guess(m.epsilon, m.delta)
    if chance >= 0.995:
        page.text(page.words["odds.all"])
    else:
        page.text(page.words["odds.most"].format(most=round(100 * chance)))


def add_certificate(page: Page, m: Manifest) -> None:
    """The certificate of a run, folded."""
    page.certificate(page.say("certificate"), certificate(m, certificate_words(page.words), page.sentence))


def certificate_words(words: Words) -> Words:
    """The words of a certificate in the language of a report."""
    return ENGLISH if words["language"] == "en" else {key: words[f"certificate.{key}"] for key in ENGLISH}


def released(page: Page, tables: Sequence[ScoredTable]) -> None:
    """From released values alone: what the noise predicts, and whether each table fits the released marginals."""
    shown = [t for t in tables if t.comparison.measurements or t.manifest is not None]
    if not shown:
        return
    # under a private report this section is what it was: released values
    page.section(page.say("released"), safe=all(t.publishable for t in shown))
    page.text(page.say("released_lead"))
    for t in shown:
        fit = t.scores.get(MeasuredFit.name)
        if len(tables) > 1:
            page.heading(t.name)
        text = released_words(t.comparison, t.manifest, page.words)
        if text and t.comparison.real is not None:  # else it is the first sentence of the page
            page.text(text)
        if isinstance(fit, Score):
            _fit(page, t, fit)
        elif t.manifest is not None:
            _charges(page, t.manifest)


def _fit(page: Page, t: ScoredTable, fit: Score) -> None:
    """The released marginals with their noise, and the single columns as figures."""
    page.text(page.sentence(fit.sentence))
    rows = sorted(fit.details["marginals"], key=lambda r: -r["expected_tvd"])[:MOST_CHARGES]
    with page.fold(page.say("released_most" if len(rows) == MOST_CHARGES else "released_all", count=len(rows))):
        heads = ("released_marginal", "cells", "noise_per_cell", "interval", "expected_error", "chi_square")
        cells = []
        for r in rows:
            noise = (page.local(amount(r["sigma"])), "±" + page.local(amount(r["interval_95"])))
            last = (page.percent(r["expected_tvd"]), page.local(f"{r['chi2_per_cell']:.2f}"))
            cells.append([marginal_name(r, page.words), page.number(r["cells"]), *noise, *last])
        page.table([page.say(h) for h in heads], cells, caption=page.say("released_caption"))
    options = build.released(t.comparison, t.name, fit, page.words)
    if options:
        page.choice(f"released-{t.name}", options, page.say("released_attribute"))


def _charges(page: Page, m: Manifest) -> None:
    """Expected errors from the manifest alone, where the released values themselves were not given."""
    rows = []
    for c in m.charges[:MOST_CHARGES]:
        if c.sigma:
            marginal = c.name.startswith("marginal")
            error = expected_tvd(c.cells, c.sigma, max(1, m.n_records)) if marginal else None
            noise = (page.local(amount(c.sigma)), "±" + page.local(amount(interval(c.sigma))))
            rows.append(
                [charge_name(c.name, certificate_words(page.words)), page.number(c.cells), *noise, page.percent(error)]
            )
    page.text(page.say("not_given"))
    if rows:
        with page.fold(page.say("noise_of", count=len(rows))):
            heads = ("released_one", "cells", "noise_per_cell", "interval", "expected_error")
            page.table([page.say(h) for h in heads], rows)


def marginal_name(row: Mapping[str, Any], words: Words) -> str:
    """A released marginal in a list, in the language of a report."""
    named = {name: words[f"page.marginal_{name}"] for name in ("total", "merged", "again")}
    return row_name(row, **named)


def amount(x: float) -> str:
    """A number of records: three digits when it is small."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"
