"""Who is protected by a run of linked tables."""

from typing import get_args

import streamlit as st

from dpsyn_core.privacy import Neighbours, Unit
from ui.schema.unit import dropped
from ui.shared.state import Linked, Workspace
from ui.shared.text import literal, sentence, t
from ui.shared.theme import lead, note, section


def unit_fields(linked: Linked) -> Unit:
    """One record of the root with all that hangs on it, which is fixed by the links; neighbours are chosen here."""
    section(t("data.who"))
    lead(linked.who())
    note(t("linked.promise"))
    _neighbours(linked)
    schema = linked.declared()
    if schema is None:
        note(sentence(ValueError(linked.problem())), "alarm")
    else:
        note(dropped(schema))
    return Unit(neighbours=linked.neighbours, max_records=1)


def plot_note(space: Workspace) -> None:
    """Says of which table the noise is plotted, where there are several."""
    if space.linked is not None:
        note(t("linked.plot", root=literal(space.linked.individuals)))


def _neighbours(linked: Linked) -> None:
    """Whether one individual more or less is hidden, or one exchanged for another."""
    key = f"linked_neighbours_{linked.serial[:8]}_{linked.version}"

    def changed() -> None:
        linked.neighbours = st.session_state[key]

    listed = get_args(Neighbours)
    st.radio(
        t("unit.neighbours"), listed, index=listed.index(linked.neighbours), key=key, horizontal=True,
        format_func=lambda n: t(f"neighbours.{n}"), on_change=changed, help=t("unit.neighbours_help"),
    )  # fmt: skip
