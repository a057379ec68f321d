"""Data page of linked tables: what is loaded, who one individual is, and the shortest way to a result."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.data import loading, sources
from ui.linked import diagram, outcome, source, stamp
from ui.linked.starting import drops, problem, questions_of, start
from ui.shared import results
from ui.shared.going import go_to, reveal
from ui.shared.jobs import Job
from ui.shared.names import point_out_names
from ui.shared.state import Linked, Workspace, jobs
from ui.shared.text import amount, counted, literal, said, sentence, t
from ui.shared.theme import note, private_tag, section
from ui.synthesize import runs

QUICK = "linked_quick_run"  # the run that was started here


def page(space: Workspace, linked: Linked) -> None:
    """All of the page below its heading."""
    left, right = st.columns([6, 7], gap="large")
    with left:
        section(t("data.source"))
        sources.choose(space)
        section(t("data.who"))
        st.markdown(literal(linked.who()))
        schema = linked.declared()
        note(t("linked.undeclared") if schema is None else drops(schema))
        section(t("data.ledger"))
        _ledger_name(space, linked)
    with right:
        section(linked.name)
        if source.refused():
            note(t("linked.still", name=linked.name), "warning")
        diagram.draw(linked)
        _records(space, linked)
        shown = _button(space, linked)
    if shown is not None:
        _result(space, shown)


def _ledger_name(space: Workspace, linked: Linked) -> None:
    """The name under which the ledger adds up what is spent on these tables."""
    if linked.sample:
        note(t("data.ledger_sample"))
        return
    key = f"linked_ledger_{linked.serial}_{linked.version}"
    name = st.text_input(t("data.ledger_label"), linked.ledger, key=key, max_chars=200, help=t("data.ledger_help"))
    if name and name.strip():
        linked.book(name.strip())
        point_out_names(space, key="data")
    else:
        note(t("data.ledger_blank"), "alarm")


def _records(space: Workspace, linked: Linked) -> None:
    """A few records of one table; for the owner."""
    for part in linked.parts.values():
        for notice in part.dataset.notices if part.dataset else ():
            note(f"{part.dataset.name if part.dataset else ''}: {said(notice)}", "warning")
    if space.choices.safe:
        note(counted("linked.tables", len(linked.parts)) + " " + t("data.safe"))
        return
    names = list(linked.parts)
    name = names[0]
    if len(names) > 1:
        name = st.segmented_control(
            t("linked.which"), names, default=names[0], required=True, key=f"linked_shown_{linked.serial}",
            label_visibility="collapsed", format_func=literal,
        )  # fmt: skip
    part = linked.parts[name or names[0]]
    if part.dataset is None or part.dataset.table is None:
        return
    private_tag()
    for words in part.dataset.odd:
        note(said(words), "warning")
    columns = counted("data.columns", part.dataset.table.num_columns)
    note(counted("data.shape", part.dataset.table.num_rows, columns=columns))
    frame = loading.preview(part, part.dataset).to_pandas()
    st.dataframe(frame, hide_index=True, key=f"linked_preview_{part.dataset.serial}", alt=t("data.alt"), placeholder="")


def _button(space: Workspace, linked: Linked) -> Job | None:
    """The button, and the run whose result belongs under it."""
    stamp.box(linked, key="linked_quick_to_schema")
    why = problem(space)
    live = [j for j in jobs().of(space.owner) if j.live]
    schema = linked.declared()
    ready = schema is not None and not schema.reasons and not source.refused()
    kind: Literal["primary", "secondary"] = "primary" if ready else "secondary"
    first, second = st.columns([1, 2], vertical_alignment="center")
    with first:
        pressed = st.button(
            t("quick.button"), type=kind, key="linked_quick", disabled=bool(why or live), width="stretch"
        )
    with second:
        note(sentence(ValueError(why)) if why else t("linked.quick", epsilon=amount(space.choices.epsilon)),
             "alarm" if why else "note")  # fmt: skip
        if why and st.button(t("linked.to_schema"), key="linked_to_schema"):
            go_to("schema")
    if pressed:
        try:
            st.session_state[QUICK] = start(space).id
        except DPSynError as error:
            st.error(literal(sentence(error)))
        else:
            st.rerun()
    mine = {j.id: j for j in jobs().of(space.owner)}
    shown = mine.get(st.session_state.get(QUICK, "")) or next(iter(live), None)
    return shown or next((j for j in mine.values() if results.same_table(space, j)), None)


def _result(space: Workspace, shown: Job) -> None:
    """Progress while it runs, then its outcome; an earlier outcome stays while a later run has none."""
    with st.container(key="linked_result"):
        if shown.live:
            runs.watch(space, shown, key="quick")
        elif shown.state != "done":
            runs.line(shown, space, key="quick")
        mine = (j for j in jobs().of(space.owner) if j.state == "done" and results.same_table(space, j))
        done = shown if shown.state == "done" else next(mine, None)
        if done is not None and done.spec.linked:
            asked = None if space.linked is None else questions_of(space.linked)
            if results.stale(space, done, done.spec.model_copy(update={"questions": asked})):
                note(t("quick.stale"), "warning")
            outcome.card(space, done)
    if st.session_state.get(QUICK) == shown.id:
        reveal("linked_result", f"{shown.id}{shown.live}")
