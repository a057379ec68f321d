"""What of the private table the schema does not describe, for the owner to see before anything is spent."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.schema import tried
from ui.shared import dialogs
from ui.shared.results import is_kept, kept
from ui.shared.state import Workspace
from ui.shared.text import engine, figure_words, number, t
from ui.shared.theme import note, private_tag

if TYPE_CHECKING:
    from dpsyn_core.schema import Misfit


def panel(space: Workspace) -> None:
    """A list in a dialog, under a button, since it reads the whole table; nothing in safe mode."""
    if not (space.dataset is None or space.dataset.table is None or space.schema is None or space.choices.safe):
        dialogs.behind("misfits", t("schema.misfits"), lambda: _listed(space))


def _listed(space: Workspace) -> None:
    data, schema = space.dataset, space.schema  # of now: another tab may have changed them
    if data is None or data.table is None or schema is None or space.choices.safe:
        return
    key = ("misfits", data.serial, hashlib.sha256(schema.dumps().encode()).hexdigest())
    private_tag()
    note(t("schema.misfits_lead"))
    if not is_kept(space, key) and not st.button(t("schema.misfits_look"), key="misfits_look"):
        return
    tried.see(tried.names(space))
    found = kept(space, key, lambda: _found(schema, data.table))
    if not found:
        note(t("schema.misfits_none"))
        return
    st.dataframe([_row(m) for m in found], hide_index=True, key="misfits_table", alt=t("schema.misfits_alt"))


def _found(schema: Any, table: Any) -> list[Misfit]:
    from dpsyn_core.schema import misfits

    return misfits(schema, table)


def _row(misfit: Misfit) -> dict[str, str]:
    from dpsyn_core.report import sentence

    words = figure_words()
    return {
        t("schema.misfits_column"): misfit.about,
        t("schema.misfits_what"): sentence(misfit.what, words),
        t("schema.misfits_count"): number(misfit.count),
        t("schema.misfits_few"): ", ".join(misfit.few),
        t("schema.misfits_goes"): engine(f"goes.{misfit.goes}", misfit.where),
        t("schema.misfits_mend"): sentence(misfit.mend, words),
    }
