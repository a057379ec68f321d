"""Privacy page of linked tables: who is protected, what a budget means for them, and where it goes."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.unit import Neighbours
from dpsyn_core.questions.document import Questions
from ui.linked import diagram
from ui.linked.starting import drops
from ui.privacy import budget as fields
from ui.privacy import guarantee
from ui.shared.going import go_to
from ui.shared.state import Linked, Workspace
from ui.shared.text import literal, local, percent, sentence, t
from ui.shared.theme import lead, note, section, table


def page(space: Workspace, linked: Linked) -> None:
    """All of the page below its heading."""
    left, right = st.columns([8, 5], gap="large")
    with left:
        chosen = fields.fields(space).budget
        section(t("data.who"))
        lead(linked.who())
        schema = linked.declared()
        note(t("linked.promise"))
        _neighbours(linked)
        if schema is None:
            note(sentence(ValueError(linked.problem())), "alarm")
        else:
            note(drops(schema))
        if chosen is not None and schema is not None:
            section(t("linked.division"))
            _division(linked, chosen)
    with right:
        diagram.draw(linked)
        if chosen is not None:
            guarantee.odds(chosen)
            root = linked.parts[linked.root]
            if linked.panel is None:  # a panel's file has more rows than people
                guarantee.delta_against_n(root, chosen)
            guarantee.limit(space)
    if st.button(t("privacy.next"), type="primary", disabled=chosen is None, key="linked_privacy_next"):
        go_to("synthesize")


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


def _division(linked: Linked, chosen: Budget) -> None:
    """What each step may spend, and the noise of one table that got all of that: public facts alone."""
    from dpsyn_core.runs.trees.division import division

    try:
        steps = division(linked.schema(), chosen, questions=Questions.of(linked.questions))
    except DPSynError as error:
        st.error(literal(sentence(error)))
        return
    rows = [
        [t(f"linked.step_{s.what}", table=s.table, role=s.role), percent(s.share, 0), local(s.noise, ".3g")]
        for s in steps
    ]
    table([t("linked.step"), t("linked.step_share"), t("linked.step_noise")], rows, alt=t("linked.division"))
    note(t("linked.step_note"))
