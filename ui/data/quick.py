"""The shortest way: one press on the Data page, and the result where the press was."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.data.sources import refused, waiting
from ui.schema.unit import dropped, limited
from ui.shared import results, stamps
from ui.shared.going import reveal
from ui.shared.jobs import Job
from ui.shared.state import Workspace, jobs
from ui.shared.text import amount, literal, sentence, t
from ui.shared.theme import note
from ui.synthesize import methods, runs
from ui.synthesize.starting import problem, spec_of, start

QUICK = "quick_run"  # the run that was started here


def button(space: Workspace) -> Job | None:
    """The button, and the run whose result belongs under it. In safe mode others look on: nothing is spent here."""
    stamps.draft(space, key="quick_to_guide")
    live = [j for j in jobs().of(space.owner) if j.live]
    if space.choices.safe:
        note(t("quick.safe"))
    else:
        _offer(space, busy=bool(live))
    mine = {j.id: j for j in jobs().of(space.owner)}
    shown = mine.get(st.session_state.get(QUICK, "")) or next(iter(live), None)
    return shown or next((j for j in mine.values() if results.same_table(space, j)), None)


def _offer(space: Workspace, *, busy: bool) -> None:
    why = problem(space)
    ready = space.schema is not None and space.schema.private and not (refused() or waiting(space))
    kind: Literal["primary", "secondary"] = "primary" if ready else "secondary"
    first, second = st.columns([1, 2], vertical_alignment="center")
    with first:
        disabled = bool(why) or busy
        pressed = st.button(
            limited(t("quick.button"), space.schema), type=kind, key="quick", disabled=disabled, width="stretch"
        )
    with second:
        spends = t("quick.note", epsilon=amount(space.choices.epsilon), method=methods.chosen(space))
        if space.schema is not None:
            spends = f"{spends} {dropped(space.schema)}"
        note(sentence(ValueError(why)) if why else spends, "alarm" if why else "note")
    if pressed:
        try:
            st.session_state[QUICK] = start(space).id
        except DPSynError as error:
            st.error(literal(sentence(error)))
        else:
            st.rerun()


def result(space: Workspace, shown: Job) -> None:
    """Progress while it runs, then its outcome; an earlier outcome stays while a later run has none."""
    with st.container(key="quick_result"):
        if shown.live:
            runs.watch(space, shown, key="quick")
        elif shown.state != "done":
            runs.line(shown, space, key="quick")
        before = next((j for j in runs.finished(space) if results.same_table(space, j)), None)
        done = shown if shown.state == "done" else before
        if done is not None:
            from ui.shared import outcome  # loads what reports are drawn with, which the first page can do without

            if results.stale(space, done, spec_of(space)):
                note(t("quick.stale"), "warning")
            outcome.card(space, done)
    if st.session_state.get(QUICK) == shown.id:
        reveal("quick_result", f"{shown.id}{shown.live}")
