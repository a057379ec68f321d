"""Sections of the HTML report that are safe to publish: the guarantee, and what was released."""

from __future__ import annotations

from collections.abc import Sequence

from dpsyn_core.metrics.base import Score
from dpsyn_core.metrics.expected import expected_tvd, interval
from dpsyn_core.metrics.measured import MeasuredFit
from dpsyn_core.privacy.manifest import Manifest
from dpsyn_core.privacy.odds import odds_sentence
from dpsyn_core.report import build
from dpsyn_core.report.document import ScoredTable
from dpsyn_core.report.page import Page, number, percent

MOST_CHARGES = 200


def guarantee(page: Page, tables: Sequence[ScoredTable]) -> None:
    """What was released, under which guarantee."""
    page.section("What was released, and under which guarantee")
    for t in tables:
        m = t.manifest
        if len(tables) > 1:
            page.heading(t.name)
        if m is None:
            page.text(
                f"“{t.name}” holds {number(t.comparison.whole_m)} records. No manifest was given, so nothing can be "
                "said about its guarantee."
            )
            continue
        if t.receipt is not None and not t.receipt.holds:
            page.text(
                f"“{t.name}” holds {number(t.comparison.whole_m)} records. A manifest was given, but it is not proved "
                f"to be this table's, so that nothing can be said about its guarantee: {t.receipt.sentence}."
            )
            continue
        if not m.private:
            page.stamp("; ".join(m.not_private_because))
        page.text(f"{number(m.n_records)} synthetic records made by “{m.method}”. {m.guarantee}")
        if t.receipt is not None:
            page.text(f"Checked: {t.receipt.sentence}.")
        if m.private:
            page.text(odds_sentence(m.epsilon, m.delta))
        page.certificate("Certificate: every access to the data, versions and seeds", m.certificate())


def released(page: Page, tables: Sequence[ScoredTable]) -> None:
    """From released values alone: what the noise predicts, and whether each table fits what it was made from."""
    known = [t for t in tables if t.comparison.measurements or t.manifest is not None]
    if not known:
        return
    # under a private report this section still is what it was: released values
    promised = all(t.publishable for t in known)
    page.section("From released values alone", safe=promised)
    page.text(
        "Nothing in this section reads the real table: it compares the synthetic records with the noisy counts that "
        "were released, and states the error that the noise predicts."
    )
    for t in known:
        fit = t.scores.get(MeasuredFit.name)
        if len(tables) > 1:
            page.heading(t.name)
        if isinstance(fit, Score):
            page.text(str(fit.sentence))
            rows = sorted(fit.details["marginals"], key=lambda r: -r["expected_tvd"])[:MOST_CHARGES]
            most = " with the most noise" if len(rows) == MOST_CHARGES else ""
            with page.fold(f"The {len(rows)} released marginals{most}"):
                page.table(
                    ["Released marginal", "Cells", "Noise per cell", "95 % interval", "Expected error",
                     "Chi-square a cell"],
                    [
                        [" x ".join(r["attributes"]) or "total", number(r["cells"]), amount(r["sigma"]),
                         f"±{amount(r['interval_95'])}", percent(r["expected_tvd"]), f"{r['chi2_per_cell']:.2f}"]
                        for r in rows
                    ],
                    caption="Standard deviation and interval in records; the error as a share of all records",
                )  # fmt: skip
            options = build.released(t.comparison, t.name, fit)
            if options:
                page.choice(f"released-{t.name}", options, "Released attribute")
        elif t.manifest is not None:
            _charges(page, t, t.manifest)


def _charges(page: Page, t: ScoredTable, m: Manifest) -> None:
    """Expected errors from the manifest alone, when the released values themselves were not given."""
    rows = []
    for c in m.charges[:MOST_CHARGES]:
        if c.sigma:
            marginal = c.name.startswith("marginal")
            error = expected_tvd(c.cells, c.sigma, max(1, m.n_records)) if marginal else None
            rows.append([c.name, number(c.cells), amount(c.sigma), f"±{amount(interval(c.sigma))}", percent(error)])
    page.text("The released values were not given; the manifest alone states the noise of each of them.")
    if rows:
        with page.fold(f"The noise of {len(rows)} released tables"):
            page.table(["Released", "Cells", "Noise per cell", "95 % interval", "Expected error"], rows)


def amount(x: float) -> str:
    """A number of records: three digits when it is small."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"
