"""Names on the ledger that look like that of the loaded dataset, pointed out before a run."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy.ledger.ledger import Ledger
from ui.shared.state import Workspace
from ui.shared.text import literal, sentence, t
from ui.shared.theme import note


def point_out_names(space: Workspace) -> None:
    """Says which names on the ledger look like that of the loaded dataset: spends add up only under one name."""
    if space.dataset is None or space.dataset.sample:
        return
    try:
        others = Ledger().similar(space.dataset.ledger)
    except DPSynError as error:
        st.error(literal(sentence(error)))
        return
    if others:
        note(t("data.ledger_near", name=space.dataset.ledger, others=", ".join(others)), "warning")
