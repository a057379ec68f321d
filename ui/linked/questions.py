"""Questions across links as they stand on the Questions page: those that are declared, and as a file."""

from __future__ import annotations

import html
import json

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.questions import Questions
from dpsyn_core.runs import AskedTable
from dpsyn_core.schema import LinkedSchema
from ui.linked import asking
from ui.linked.files import QUESTIONS
from ui.shared import uploads
from ui.shared.state import Linked
from ui.shared.text import literal, number, sentence, t
from ui.shared.theme import note

TAKEN = "linked_questions_taken"


def declared(linked: Linked, schema: LinkedSchema) -> None:
    """One entry a question, with why it does not fit any more, and the way to remove it."""
    for i, question in enumerate(linked.questions):
        said = html.escape(asking.words(schema, question))
        st.html(f"<div class='dp-question'><b>{html.escape(question.name)}</b><span>{said}</span></div>")
        try:
            AskedTable(schema, question)
        except DPSynError as error:
            note(t("questions.unfit", why=sentence(error)), "alarm")
        if st.button(t("questions.remove"), key=f"linked_question_remove_{i}", help=literal(question.name)):
            linked.questions = tuple(q for q in linked.questions if q.name != question.name)
            st.rerun()


def file(linked: Linked, schema: LinkedSchema) -> None:
    """Questions as a file of the command, in and out."""
    note(t("linked.ask_file"))
    got = uploads.one(t("questions.upload"), ["json"], key="linked_upload_questions")
    if got is not None and st.session_state.get(TAKEN) != got.file_id:
        st.session_state[TAKEN] = got.file_id
        st.session_state.pop(f"{TAKEN}_words", None)
        try:
            found = Questions.loads(got.getvalue())
            added = asking.keep(linked, schema, found)
        except DPSynError as error:
            st.error(literal(sentence(error)))
        else:
            said = t("questions.taken", count=number(added), all=number(len(found.across)))
            st.session_state[f"{TAKEN}_words"] = said
            st.rerun()
    if got is not None and f"{TAKEN}_words" in st.session_state:
        note(st.session_state[f"{TAKEN}_words"])
    if linked.questions:
        text = json.dumps(Questions.of(linked.questions).document(), indent=2, ensure_ascii=False)
        st.download_button(
            t("questions.download"), data=text + "\n", file_name=QUESTIONS, mime="application/json",
            on_click="ignore", key="linked_questions_download",
        )  # fmt: skip
