"""What a budget means for this table: who is protected, odds, delta against n, the ledger's limit."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from dpsyn_core.privacy import Budget, Neighbours, Unit
from ui.linked import unit as linked_unit
from ui.schema import unit as protected
from ui.schema.rows import with_unit
from ui.shared.going import keep
from ui.shared.state import Workspace
from ui.shared.text import amount, local, number, t
from ui.shared.theme import note, private_tag, section

NEIGHBOURS, THETA = "neighbours", "theta"


def unit_fields(space: Workspace) -> Unit:
    """Neighbours and the maximum number of rows per person; they belong to the schema, and change it."""
    if space.linked is not None:
        return linked_unit.unit_fields(space.linked)
    declared = space.schema.unit if space.schema else None
    if declared:
        keep(NEIGHBOURS, declared.neighbours)
        keep(THETA, declared.max_records)
    left, right = st.columns([5, 4])
    with left:
        neighbours = st.radio(
            t("unit.neighbours"),
            get_args(Neighbours),
            format_func=lambda n: t(f"neighbours.{n}"),
            key=NEIGHBOURS,
            horizontal=True,
            help=t("unit.neighbours_help"),
            bind="query-params",
        )
    with right:
        most = st.number_input(
            t("unit.theta"), 1, 1000, key=THETA, help=t("unit.theta_help"), bind="query-params"
        )  # fmt: skip
        if declared and declared.identifier is None and most != 1:
            note(t("unit.theta_rows"), "warning")
        elif declared and declared.identifier is not None:
            protected.ladder(int(most))
    if space.schema is not None:
        typed = {"max_records": int(most), "source": protected.source(space, space.schema.unit.identifier)}
        changes = typed if int(most) != space.schema.unit.max_records else {}
        space.schema = with_unit(space.schema, neighbours=neighbours, **changes)
        protected.panel(space, key="privacy")
        return Unit.of(space.schema.unit)
    return Unit(neighbours=neighbours, max_records=int(most))


def odds(budget: Budget) -> None:
    """What epsilon means, in a hundred guesses."""
    from dpsyn_core.privacy import ANCHORS

    section(t("odds.title"))
    st.html(f"<p class='dp-odds'>{odds_words(budget.epsilon, budget.delta)}</p>")
    others = [e for e in ANCHORS if e != budget.epsilon]
    note(" ".join(t("odds.anchor", epsilon=local(e, "g"), most=of_hundred(e, budget.delta)) for e in others))


def odds_words(epsilon: float, delta: float) -> str:
    """The engine's sentence of the odds, in the visitor's language."""
    most = of_hundred(epsilon, delta)
    return t("odds.all") if most == t("odds.everybody") else t("odds.most", most=most)


def of_hundred(epsilon: float, delta: float) -> str:
    """How many of a hundred attackers may guess right."""
    from dpsyn_core.privacy import best_guess

    chance = best_guess(epsilon, delta)
    return t("odds.everybody") if chance >= 0.995 else str(round(100 * chance))


def delta_against_n(space: Workspace, budget: Budget) -> None:
    """Delta against 1/n, which is private and said to the owner only. n: of the root, which has one record each."""
    if space.linked is not None and space.linked.panel is not None:
        return  # the file of a panel has more rows than people
    root = space if space.linked is None else space.linked.parts[space.linked.root]
    n = records(root)
    if n is None or budget.delta == 0:
        return
    if root.schema is None or root.schema.n_records is None:
        private_tag()
    if budget.delta * n > 1:
        note(t("delta.above", delta=amount(budget.delta)), "alarm")
    else:
        note(t("delta.fine", part=number(round(1 / (budget.delta * n)))))
    # what the NIST 2018 challenge asked for, beside the usual 1 / n
    note(t("delta.square") if budget.delta * n * n <= 1 else t("delta.no_square"))


def records(space: Workspace) -> int | None:
    """About how many records: public when the schema says so, else the owner's (private) count outside safe mode."""
    if space.schema is not None and space.schema.n_records is not None:
        return space.schema.n_records
    if space.choices.safe or space.dataset is None or space.dataset.table is None:
        return None
    return space.dataset.n_records


def limit(space: Workspace) -> None:
    """The limit of the dataset's ledger, set by its owner."""
    from ui.privacy import ledger

    if space.dataset is not None:
        section(t("limit.title"))
        ledger.limit_field(space)
