"""The user's questions: each as a figure or a sentence, with its interval, beside the real answer for its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.questions import Questions, check, column_of
from dpsyn_core.report import AskedAnswer
from dpsyn_core.report import questions as asked
from ui.questions import kept, words
from ui.report import comparing
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import answer_words, figure_words, literal, sentence, t
from ui.shared.theme import facts, note, section, show

if TYPE_CHECKING:
    from dpsyn_core.questions import Answered


def questions_of(space: Workspace, job: Job) -> Questions:
    """Those that the run was told, then those that are declared now and fit the run's schema."""
    told = Questions.of(job.spec.questions).questions if job.spec.questions else ()
    schema, names = results.schema(space, job), {q.name for q in told}
    later, computed = [], {name for name, _ in results.computed(space, job)}
    for question in kept.fitting(space).questions:
        try:
            check(question, schema)
        except DPSynError:
            continue
        if question.name not in names and not computed & set(question.attributes):
            later.append(question)
    return Questions(version=1, questions=(*told, *later))


def _unmeasured(space: Workspace, job: Job) -> None:
    """Says which questions have no answer because they name a column that is computed from others."""
    for name, sources in results.computed(space, job):
        asked_of = [q.name for q in kept.fitting(space).questions if name in q.attributes]
        if asked_of:
            said = {"column": literal(name), "sources": literal(", ".join(sources))}
            note(t("asked.computed", questions=literal(", ".join(asked_of)), **said), "warning")


def _answered(space: Workspace, job: Job) -> list[Answered]:
    """Answers from released values alone; made once, for it takes some seconds."""
    from dpsyn_core.evaluate import encode
    from dpsyn_core.report import answer_codes

    questions, schema = questions_of(space, job), results.schema(space, job)

    def make() -> list[Answered]:
        with st.spinner(t("asked.working")):
            released = results.measurements(space, job)
            codes = encode(schema, results.synthetic(space, job), "synthetic")[0]
            return answer_codes(codes, released, schema, results.stated(job), questions, scores=released.scores)

    return results.kept(space, ("asked", job.id, questions.digest), make)


def answers(space: Workspace, job: Job, *, private: bool) -> list[AskedAnswer]:
    """All questions of a run with their answers. private: beside those of the loaded table, for its owner."""
    given = _answered(space, job)
    compared = comparing.of(space, job) if private else None
    if compared is None:
        return [AskedAnswer(answered=a) for a in given]
    schema = results.schema(space, job)
    key = ("asked real", job.id, questions_of(space, job).digest)
    return results.kept(space, key, lambda: [asked.beside_real(a, compared, schema) for a in given])


def panel(space: Workspace, job: Job, *, private: bool) -> None:
    """Every question in its order; nothing where none is declared."""
    _unmeasured(space, job)
    if not len(questions_of(space, job)):
        return
    if results.synthetic_of(space, job) is not None:
        note(t("asked.large"), "warning")
        return
    try:
        found = answers(space, job, private=private)
    except DPSynError as error:
        note(sentence(error), "warning")
        return
    if private and not results.same_table(space, job):
        note(t("report.other_table"), "warning")
    if results.manifest(space, job).get("questions") is None:
        note(t("asked.not_told"), "warning")
    mode = "private" if private else "public"
    for i, one in enumerate(found):
        question(one, f"asked_{mode}_{i}", asks=words.asks(one.answered.question))


def _shown(value: float, of: str = "") -> str:
    return asked.shown(value, figure_words(), of)


def question(one: AskedAnswer, key: str, *, asks: str) -> None:
    """One question with its figure, its grade, and all figures in a table. asks: what it asks, as a sentence."""
    answered = one.answered
    section(answered.question.name)
    note(asks)
    finding = answered.said(answer_words())
    drawn = asked.figure(one, figure_words(), finding=finding)
    if drawn is not None:
        show(drawn, key=f"{key}_figure")
        if drawn.caption:
            note(drawn.caption)
    elif answered.estimate.size == 1:
        _single(one)
    st.html(f"<span class='dp-tag dp-grade-{answered.grade}'>{t(f'asked.grade_{answered.grade}')}</span>")
    if answered.estimate.size > 1:  # of one figure it would say what stands above it
        note(finding)
    beside = asked.beside(one, figure_words())
    if beside and drawn is not None:
        note(beside)
    if drawn is not None:
        heads, cells = asked.rows(one, figure_words())
        with st.expander(t("figure.asked_table", count=len(cells))):
            table = [dict(zip(heads, row, strict=True)) for row in cells]
            st.dataframe(table, hide_index=True, key=f"{key}_table", alt=answered.question.name)


def _single(one: AskedAnswer) -> None:
    answered, of = one.answered, column_of(one.answered.question)
    value = _shown(float(answered.estimate.ravel()[0]), of)
    low, high = (_shown(float(x.ravel()[0]), of) for x in (answered.low, answered.high))
    between = t("asked.no_interval") if one.half_width is None else t("asked.between", low=low, high=high)
    items = [(value, t("figure.asked_estimate"), between)]
    table = _shown(float(answered.synthetic.ravel()[0]), of)
    if answered.grade == "none":
        items = [(value, t("figure.asked_table_says"), between)]
    elif table != value:
        items.append((table, t("figure.asked_table_says"), ""))
    if one.real is not None:
        items.append((_shown(float(one.real.values.ravel()[0]), of), t("word.real"), ""))
    facts(*items)
