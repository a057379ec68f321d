"""The shortest way: one press on the Data page, and the result where the press was."""

from typing import Literal

import streamlit as st

from ui.data.sources import refused, waiting
from ui.schema.unit import dropped, limited
from ui.shared import results, stamps
from ui.shared.faults import refusals
from ui.shared.going import go_to, reveal
from ui.shared.jobs import Job
from ui.shared.state import Workspace, jobs
from ui.shared.text import amount, literal, sentence, t
from ui.shared.theme import note
from ui.synthesize import methods, runs
from ui.synthesize.starting import problem, spec_of, start

QUICK = "quick_run"  # the run that was started here


def button(space: Workspace) -> Job | None:
    """What comes next, and the run whose result belongs under it. In safe mode others look on: nothing is spent here.

    Before a run that is its press; after one, a look at how good its table is.
    """
    live = [j for j in jobs().of(space.owner) if j.live]
    mine = {j.id: j for j in jobs().of(space.owner)}
    shown = mine.get(st.session_state.get(QUICK, "")) or next(iter(live), None)
    shown = shown or next((j for j in mine.values() if results.same_table(space, j)), None)
    done = finished(space)
    if space.choices.safe:
        note(t("quick.safe"))
    else:
        _offer(space, done, busy=bool(live))
    asks = space.linked is not None and space.linked.asks  # comes first
    stamps.draft(space, key="quick_to_guide", comes_next=done is None and not asks)
    return shown


def finished(space: Workspace) -> Job | None:
    """The newest finished run of what is loaded, made with the settings that stand now."""
    done = next((j for j in jobs().of(space.owner) if j.state == "done" and results.same_table(space, j)), None)
    return None if done is None or results.stale(space, done, spec_of(space)) else done


def _offer(space: Workspace, done: Job | None, *, busy: bool) -> None:
    why = problem(space)
    ready = done is None and not (why or stamps.shortly(space) or refused() or waiting(space))
    kind: Literal["primary", "secondary"] = "primary" if ready else "secondary"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if done is not None and st.button(t("outcome.report"), type="primary", key="quick_report"):
            st.session_state[runs.OPEN] = done.id
            go_to("report")
        pressed = st.button(named(t("quick.button"), space), type=kind, key="quick", disabled=bool(why) or busy)
        note(sentence(ValueError(why)) if why else _spends(space), "alarm" if why else "note")
        if why and space.linked is not None and st.button(t("linked.to_schema"), key="quick_to_schema"):
            go_to("schema")
    if pressed:
        with refusals():
            st.session_state[QUICK] = start(space).id
            st.rerun()


def named(label: str, space: Workspace) -> str:
    """The words of a button that starts a run, with what it leaves out of one table."""
    return limited(label, space.kept_schema)


def left_out(space: Workspace) -> str:
    """What a run leaves out of what is loaded, by what is declared; empty where nothing is."""
    schema = space.kept_schema
    if schema is not None:
        return dropped(schema)
    return "" if space.linked is None else t("linked.undeclared")


def _spends(space: Workspace) -> str:
    spent = t("quick.note", epsilon=amount(space.choices.epsilon), method=methods.spelt(methods.chosen(space)))
    return f"{spent} {left_out(space)}"


def result(space: Workspace, shown: Job) -> None:
    """Progress while it runs, then its outcome; an earlier outcome stays while a later run has none."""
    with st.container(key="quick_result"):
        if shown.live:
            runs.watch(space, shown, key="quick")
        elif shown.state != "done":
            runs.line(shown, space, key="quick")
        mine = (j for j in jobs().of(space.owner) if j.state == "done" and results.same_table(space, j))
        before = next(mine, None)
        done = shown if shown.state == "done" else before
        if done is not None:
            from ui.shared import outcome  # loads what reports are drawn with, which the first page can do without

            if results.stale(space, done, spec_of(space)):
                note(t("quick.stale"), "warning")
            outcome.card(space, done)
    if st.session_state.get(QUICK) == shown.id:
        if shown.state == "done" and st.session_state.get(runs.SAID) != shown.id:
            st.session_state[runs.SAID] = shown.id
            st.toast(t("quick.done", label=literal(shown.label)))
        if shown.live:
            reveal("quick_result", shown.id)
