"""Where linked tables come from, on the Data page: the bundled households, several files, or one file of a panel."""

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.data.reading import Tell
from ui.linked import loading
from ui.linked.loading import Given
from ui.shared.state import Workspace
from ui.shared.text import field, literal, local, sentence, t
from ui.shared.theme import note
from ui.synthesize import methods

TAKEN, PROBLEM, READ = "linked_up_taken", "linked_up_problem", "linked_up_read"
NAMES = "linked_up_names"  # of the files that could not be used


def choose(space: Workspace) -> None:
    """The sample in one press, or uploads; one file alone is asked whether it is a panel."""
    note(t("linked.source_note"))
    sample = space.linked is not None and space.linked.sample
    if not sample and st.button(t("linked.sample_load"), key="linked_sample"):
        loading.sample(space)
        st.rerun()
    got = st.file_uploader(accept_multiple_files=True, key="linked_upload", **field("linked.upload"))
    if not got:
        for name in (TAKEN, PROBLEM, READ):
            st.session_state.pop(name, None)
        return
    files, chosen = [], []
    for f in got:
        sheets = _sheets(Given(f.name, f.getvalue()), f.file_id)
        files += [Given(f.name, f.getvalue(), sheet) for sheet in sheets]
        chosen += [(f.file_id, sheet) for sheet in sheets]
    mark = tuple(chosen)
    if len(files) == 1:
        note(t("linked.one_file"))
        if st.button(t("linked.as_panel"), key="linked_as_panel"):
            _take(space, files, mark)
    elif files and st.session_state.get(TAKEN) != mark:
        _take(space, files, mark)
    if PROBLEM in st.session_state:
        st.error(literal(st.session_state[PROBLEM]))


def leave(space: Workspace) -> None:
    """The way back to the one table that waits while linked ones are loaded."""
    data = space.dataset
    if space.linked is None or data is None or data.sample:
        return
    note(t("linked.waits", name=space.linked.name, table=data.name))
    if st.button(t("linked.back", table=literal(data.name)), key="linked_back"):
        methods.put_linked(space, None)
        space.memo.clear()
        st.rerun()


def refused() -> str:
    """The names of the files that were handed over last and could not be used; empty where there are none."""
    return str(st.session_state.get(NAMES, "")) if PROBLEM in st.session_state else ""


def _sheets(given: Given, mark: str) -> list[str | None]:
    """The sheets of a workbook that are tables, all of them unless some are taken away; None for any other file."""
    known: loading.Known = st.session_state.setdefault(READ, {})
    with st.spinner(t("data.reading")):
        names = loading.sheets(given, known)
    if not names:
        return [None]
    label = t("linked.sheets", file=literal(given.file))
    return list(st.multiselect(label, names, names, key=f"linked_up_sheets_{mark}", placeholder=t("questions.choose")))


def _take(space: Workspace, files: list[Given], mark: object) -> None:
    """Reads the files; what is wrong with one of them is kept, and what was loaded before stays.

    mark: of the files, taken down once they are read: where a press ends this run of the page, the next one reads.
    """
    st.session_state.pop(PROBLEM, None)
    slot = st.empty()
    given = {f.raw for f in files}
    before: loading.Known = st.session_state.get(READ, {})
    known = st.session_state[READ] = {key: read for key, read in before.items() if key[0] in given}
    tell: Tell = lambda seconds: slot.caption(t("data.reading_since", seconds=local(seconds, ".0f")))  # noqa: E731
    try:
        with st.spinner(t("data.reading")):
            found = loading.read(files, known, tell=tell)
            if len(found) == 1:
                loading.panel(space, found[0])
            else:
                loading.tables(space, found)
            st.session_state[TAKEN] = mark
    except DPSynError as error:
        st.session_state[PROBLEM], st.session_state[TAKEN] = sentence(error), mark
        st.session_state[NAMES] = ", ".join(dict.fromkeys(f.file for f in files))
        return
    finally:
        slot.empty()
    st.rerun()
