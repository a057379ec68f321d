"""From released values alone: how the table fits its own noisy marginals, and what error to expect. Publishable."""

from functools import partial
from typing import Any

import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import Score, compute
from dpsyn_core.report import Figure, build, marginal_name, released_sentences
from dpsyn_core.systems import configure
from ui.linked import relations
from ui.report import asked, comparing
from ui.shared import marginals, results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, counted, figure_words, literal, local, number, percent, t
from ui.shared.theme import NAMES, facts, marked, note, public_tag, section, show

METRIC = "measured-fit"
# why systems release no marginals; others did so, unless an earlier version made the run
REASONS = {"dirichlet-multinomial": "drawn", "mwem": "single", "field-groups": "wide", "pgm": "exact", "vae": "exact"}


def panel(space: Workspace, job: Job) -> None:
    """Fit, expected error, and a table of what was released."""
    proofs(space, job)
    if job.spec.linked:
        relations.released(space, job)
        return
    asked.panel(space, job, private=False)
    where = results.condition(space, job)
    if where is not None:
        note(t("released.where", where=literal(where)))
        return
    measured = results.measurements(space, job)
    whole = partial(comparing.of_files, space, job)  # without the real table: what is made from it is safe to publish
    stated, words = results.stated(job), figure_words()
    said = results.kept(space, ("released findings", job.id), lambda: released_sentences(whole(), stated, words))
    if said:
        with st.expander(counted("released.says", len(said)), key="released_says"):
            st.markdown("\n".join(f"- {literal(one)}" for one in said))
    if measured.joint:
        note(t("released.joint", count=number(len(measured.joint))))
    if not measured:
        note(why_none(job))
        return
    got = results.kept(space, ("released", job.id), lambda: _score(space, job))
    if isinstance(got, MetricError):
        note(str(got), "warning")
        return
    every = results.synthetic_of(space, job)
    if every is not None:
        some = number(results.synthetic(space, job).num_rows)
        note(t("released.sampled", some=some, records=number(every)), "warning")
    rows = got.details["marginals"]
    expected = sum(r["expected_tvd"] for r in rows) / len(rows)
    facts(
        (local(got.value**0.5, ".2f"), t("released.fit"), t("released.fit_note")),
        (percent(expected), t("released.expected"), t("released.expected_note")),
        (number(len(rows)), t("released.marginals"), t("released.cells", cells=number(got.details["cells"]))),
    )
    key = ("released figures", job.id)
    drawn: dict[str, Figure] = results.kept(space, key, lambda: build.released(whole(), job.label, got, words))
    if drawn:
        name = st.selectbox(t("released.choose"), list(drawn), key="released_column")
        show(drawn[name], key="released_overlay")
        note(drawn[name].caption)
    heads = [t(f"released.{what}") for what in ("column", "sigma", "interval", "error", "distance", "chi2")]
    table = [dict(zip(heads, _cells(row), strict=True)) for row in rows]
    long = {heads[0]: st.column_config.Column(width=NAMES)}
    st.dataframe(marked(table), hide_index=True, key="released_table", alt=t("released.alt"), column_config=long)
    section(t("reading.title"))
    private = bool(results.manifest(space, job)["private"])
    marginals.panel(measured, results.schema(space, job), key="released", private=private)


def _cells(r: dict[str, Any]) -> list[str | float]:
    """A released table: columns, noise, interval, expected error and distance as percentages, chi-squared a cell."""
    shares = [round(100 * r[what], 2) for what in ("expected_tvd", "tvd")]
    noise = [round(r["sigma"], 2), round(r["interval_95"], 1)]
    return [marginal_name(r, figure_words()), *noise, *shares, round(r["chi2_per_cell"], 2)]


def proofs(space: Workspace, job: Job) -> None:
    """Whether the files are those of the manifest, and what the promise rests on."""
    found = list(results.receipts(space, job).values())
    if all(one.publishable for one in found):
        public_tag()
    if all(one.holds for one in found):
        stated = results.stated(job)
        values = {"epsilon": amount(stated.epsilon), "delta": amount(stated.delta)}
        note(t("linked.released" if job.spec.linked else "released.checked", **values))
        if any(one.vouched for one in found):
            note(t("released.vouched"), "warning")
        if any(one.public_table for one in found):
            note(t("released.public_table"))
    unproved(space, job)


def unproved(space: Workspace, job: Job) -> None:
    """Says which files are not those of the manifest."""
    for one in results.receipts(space, job).values():
        if not one.holds:
            note(t("released.unproved", sentence=one.sentence), "alarm")
        elif not one.own and not job.spec.linked:
            note(t("released.another", sentence=one.sentence), "warning")


def why_none(job: Job) -> str:
    """The text that says why a run has no released marginals."""
    reason = REASONS.get(job.spec.method, "old")
    if reason == "single" and not configure(job.spec.method, job.spec.settings).no_marginals:
        reason = "old"
    return t(f"released.none_{reason}")


def _score(space: Workspace, job: Job) -> Score | MetricError:
    if results.synthetic(space, job).num_rows == 0:
        return MetricError(t("released.empty"))
    return compute(comparing.of_files(space, job), [METRIC])[METRIC]
