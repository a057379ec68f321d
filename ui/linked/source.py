"""Where linked tables come from, on the Data page: the bundled households, several files, or one file of a panel."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.data.reading import Tell
from ui.linked import loading
from ui.shared.state import Workspace
from ui.shared.text import literal, local, sentence, t
from ui.shared.theme import note

TAKEN, PROBLEM, READ = "linked_up_taken", "linked_up_problem", "linked_up_read"


def choose(space: Workspace) -> None:
    """The sample in one press, or uploads; one file alone is asked whether it is a panel."""
    note(t("linked.source_note"))
    sample = space.linked is not None and space.linked.sample
    if not sample and st.button(t("linked.sample_load"), key="linked_sample"):
        loading.sample(space)
        st.rerun()
    got = st.file_uploader(
        t("linked.upload"), accept_multiple_files=True, key="linked_upload", help=t("linked.upload_help")
    )
    if not got:
        st.session_state.pop(TAKEN, None)
        st.session_state.pop(PROBLEM, None)
        st.session_state.pop(READ, None)
        return
    files = [(f.name, f.getvalue()) for f in got]
    mark = tuple(f.file_id for f in got)
    if len(files) == 1:
        note(t("linked.one_file"))
        if st.button(t("linked.as_panel"), key="linked_as_panel"):
            st.session_state[TAKEN] = mark
            _take(space, files)
    elif st.session_state.get(TAKEN) != mark:
        st.session_state[TAKEN] = mark
        _take(space, files)
    if PROBLEM in st.session_state:
        st.error(literal(st.session_state[PROBLEM]))


def leave(space: Workspace) -> None:
    """The way back to the one table that waits while linked ones are loaded."""
    data = space.dataset
    if space.linked is None or data is None or data.sample:
        return
    note(t("linked.waits", name=space.linked.name, table=data.name))
    if st.button(t("linked.back", table=literal(data.name)), key="linked_back"):
        space.linked = None
        space.memo.clear()
        st.rerun()


def refused() -> bool:
    """Whether the files that were handed over last could not be used."""
    return PROBLEM in st.session_state


def _take(space: Workspace, files: list[tuple[str, bytes]]) -> None:
    """Reads the files; what is wrong with one of them is kept, and what was loaded before stays."""
    st.session_state.pop(PROBLEM, None)
    slot = st.empty()
    before: dict[bytes, Any] = st.session_state.get(READ, {})
    known = st.session_state[READ] = {raw: before[raw] for _, raw in files if raw in before}
    tell: Tell = lambda seconds: slot.caption(t("data.reading_since", seconds=local(seconds, ".0f")))  # noqa: E731
    try:
        with st.spinner(t("data.reading")):
            found = loading.read(space, files, known, tell=tell)
            if len(found) == 1:
                loading.panel(space, found[0])
            else:
                loading.tables(space, found)
    except DPSynError as error:
        st.session_state[PROBLEM] = sentence(error)
        return
    finally:
        slot.empty()
    st.rerun()
