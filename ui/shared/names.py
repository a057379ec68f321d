"""Names on the ledger: those that look like that of the loaded dataset, and one that somebody else's runs have."""

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy import Ledger
from ui.shared.state import Workspace, jobs
from ui.shared.text import counted, literal, sentence, t
from ui.shared.theme import note


def point_out_names(space: Workspace, *, key: str) -> None:
    """Says which names on the ledger look like that of the loaded dataset, and asks whether a shared one is meant.

    Spends add up under one name alone: two tables of one name would use up each other's budget.
    """
    if space.sample:
        return
    serial, ledger = space.serial, space.ledger
    try:
        book = Ledger()
        others, runs = book.similar(ledger), len(book.entries(ledger))
    except DPSynError as error:
        st.error(literal(sentence(error)))
        return
    if others:
        note(t("data.ledger_near", name=ledger, others=", ".join(others)), "warning")
    mine = any(j.made_from(serial) or j.spec.dataset == ledger for j in jobs().of(space.owner))
    if not runs or mine or (serial, ledger) in space.shared_names:
        return
    with st.container(border=True, key=f"{key}_name"):
        note(counted("data.ledger_taken", runs, name=ledger), "warning")
        with st.container(horizontal=True, gap="small"):
            if st.button(t("data.ledger_same"), key=f"{key}_same_name"):
                space.shared_names.add((serial, ledger))
                st.rerun()
            known = book.datasets()
            free = next(f"{ledger}-{i}" for i in range(2, len(known) + 3) if f"{ledger}-{i}" not in known)
            st.button(t("data.ledger_other"), key=f"{key}_other_name", on_click=_rename, args=(space, free))


def _rename(space: Workspace, name: str) -> None:
    space.book(name)
    st.session_state[f"ledger_{space.serial}"] = name
