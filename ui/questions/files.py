"""questions.json: taken in, and handed out."""

import streamlit as st

from dpsyn_core.questions import Questions
from ui.questions import kept
from ui.shared import uploads
from ui.shared.downloads import download
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import number, t
from ui.shared.theme import note

TAKEN = "questions_file_taken"


def panel(space: Workspace) -> None:
    """Both directions."""
    note(t("questions.file_note" if space.linked is None else "linked.ask_file"))
    got = uploads.one(t("questions.upload"), ["json"], key="questions_upload")
    if got is not None and st.session_state.get(TAKEN) != got.file_id:
        st.session_state[TAKEN] = got.file_id
        with refusals():
            found = Questions.loads(got.getvalue())
            added = kept.add(space, (*found.questions, *found.across))
            st.session_state[f"{TAKEN}_words"] = t("questions.taken", count=number(added), all=number(len(found)))
            st.rerun()
    if got is not None and (said := st.session_state.get(f"{TAKEN}_words")):
        note(said)
    fit = kept.fitting(space)
    if len(fit):
        download(t("questions.download"), "questions.json", fit.dumps, key="questions_download")
