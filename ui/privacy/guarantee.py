"""What a budget means for this table: who is protected, odds, delta against n, the ledger's limit."""

import html
from typing import Any, get_args
from urllib.parse import quote

import streamlit as st

from dpsyn_core.privacy import Budget, Neighbours, Unit, best_guess
from ui.schema import unit as protected
from ui.schema.rows import with_unit
from ui.shared.going import bound, keep
from ui.shared.state import Linked, Workspace
from ui.shared.text import amount, number, sentence, t
from ui.shared.theme import lead, note, palette, private_tag, section

NEIGHBOURS, THETA = "neighbours", "theta"
ROW = 17  # height of a row of little people, in units of the picture


def unit_fields(space: Workspace) -> Unit:
    """Neighbours and the maximum number of rows per person; they belong to the schema, and change it."""
    if space.linked is not None:
        return _unit_of_links(space.linked)
    declared = space.schema.unit if space.schema else None
    if declared:
        keep(NEIGHBOURS, declared.neighbours)
        keep(THETA, declared.max_records)
    left, right = st.columns([5, 4])
    with left:
        neighbours = _neighbours(NEIGHBOURS, bind="query-params")
    with right:
        most = st.number_input(t("unit.theta"), 1, 1000, key=THETA, help=t("unit.theta_help"), bind=bound(THETA))
        if declared and declared.identifier is None and most != 1:
            note(t("unit.theta_rows"), "warning")
        elif declared and declared.identifier is not None:
            protected.ladder(int(most))
    if space.schema is not None:
        typed = {"max_records": int(most), "source": protected.source(space, space.schema.unit.identifier)}
        changes = typed if int(most) != space.schema.unit.max_records else {}
        space.schema = with_unit(space.schema, neighbours=neighbours, **changes)
        return Unit.of(space.schema.unit)
    return Unit(neighbours=neighbours, max_records=int(most))


def _unit_of_links(linked: Linked) -> Unit:
    """One record of the root with all that hangs on it, which is fixed by the links; neighbours are chosen here."""
    section(t("data.who"))
    lead(linked.who())
    note(t("linked.promise"))
    at = get_args(Neighbours).index(linked.neighbours)
    linked.neighbours = _neighbours(f"linked_neighbours_{linked.serial[:8]}_{linked.version}", index=at)
    schema = linked.declared()
    if schema is None:
        note(sentence(ValueError(linked.problem())), "alarm")
    else:
        note(protected.dropped(schema))
    return Unit(neighbours=linked.neighbours, max_records=1)


def _neighbours(key: str, **more: Any) -> Neighbours:
    """Whether one individual more or less is hidden, or one exchanged for another."""
    words, tip = t("unit.neighbours"), t("unit.neighbours_help")
    listed: tuple[Neighbours, ...] = get_args(Neighbours)
    called = {n: t(f"neighbours.{n}") for n in listed}
    chosen: Neighbours = st.radio(
        words, listed, format_func=called.__getitem__, key=key, horizontal=True, help=tip, **more
    )
    return chosen


def odds(budget: Budget) -> None:
    """What epsilon means: a hundred little people, of whom those are filled who may guess right, half of them by luck.

    Nobody is drawn by name or place: the picture is the bound that epsilon and delta prove.
    """
    right = round(100 * best_guess(budget.epsilon, budget.delta))
    said, colours = odds_words(budget.epsilon, budget.delta), palette()
    fills = {colours.real: range(50), colours.accent: range(50, right), colours.line: range(right, 100)}
    body = "".join(f"<path fill='{fill}' d='{''.join(map(_person, who))}'/>" for fill, who in fills.items())
    drawn = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 200 {ROW * 10}'>{body}</svg>"
    alt = html.escape(said, quote=True)
    st.html(f'<img class="dp-people" alt="{alt}" src="data:image/svg+xml,{quote(drawn)}"><p class="dp-odds">{alt}</p>')


def _person(i: int) -> str:
    """The outline of one of a hundred, ten in a row."""
    x, y = 10 + 20 * (i % 10), ROW * (i // 10) + 4
    return f"M{x - 3} {y}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0zM{x - 5} {y + 11}v-3a5 4 0 0 1 10 0v3z"


def odds_words(epsilon: float, delta: float) -> str:
    """The engine's sentence of the odds, in the visitor's language."""
    most = round(100 * best_guess(epsilon, delta))  # of a hundred attackers
    return t("odds.all") if most == 100 else t("odds.most", most=most)


def delta_against_n(space: Workspace, budget: Budget) -> None:
    """Delta against 1/n, which is private and said to the owner only. n: of the root, which has one record each."""
    if space.linked is not None and space.linked.panel is not None:
        return  # the file of a panel has more rows than people
    root = space if space.linked is None else space.linked.parts[space.linked.root]
    n = records(root)
    if n is None or budget.delta == 0:
        return
    above = budget.delta * n > 1
    if root.schema is None or root.schema.n_records is None:
        private_tag()
    if above:
        note(t("delta.above", delta=amount(budget.delta)), "alarm")
        return
    # what the NIST 2018 challenge asked for, beside the usual 1 / n
    square = t("delta.square") if budget.delta * n * n <= 1 else t("delta.no_square")
    note(f"{t('delta.fine', part=number(round(1 / (budget.delta * n))))} {square}")


def records(space: Workspace) -> int | None:
    """About how many records: public when the schema says so, else the owner's (private) count outside safe mode."""
    if space.schema is not None and space.schema.n_records is not None:
        return space.schema.n_records
    if space.choices.safe or space.dataset is None or space.dataset.table is None:
        return None
    return space.dataset.n_records
