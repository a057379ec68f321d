"""Who is protected by a run of linked tables, and where its budget goes."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy import Budget, Neighbours, Unit
from dpsyn_core.questions import Questions
from ui.linked.starting import drops
from ui.shared.state import Linked
from ui.shared.text import literal, local, percent, sentence, t
from ui.shared.theme import lead, note, section, table


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
        note(drops(schema))
    return Unit(neighbours=linked.neighbours, max_records=1)


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


def division(linked: Linked, chosen: Budget) -> None:
    """What each step may spend, and the noise of one table that got all of that: public facts alone."""
    from dpsyn_core.runs import division as divided

    try:
        steps = divided(linked.schema(), chosen, questions=Questions.of(linked.questions))
    except DPSynError as error:
        st.error(literal(sentence(error)))
        return
    rows = [
        [t(f"linked.step_{s.what}", table=s.table, role=s.role), percent(s.share, 0), local(s.noise, ".3g")]
        for s in steps
    ]
    table([t("linked.step"), t("linked.step_share"), t("linked.step_noise")], rows, alt=t("linked.division"))
    note(t("linked.step_note"))
