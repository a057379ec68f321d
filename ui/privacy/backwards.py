"""Epsilon backwards, on the Privacy page: from an error or a risk to epsilon, in one picture with the curve forward.

It rests on a number of records that is typed or public, never on the owner's count: the epsilon will be published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dpsyn_core.report import choice_figure
from dpsyn_core.runs import ASSUMED, RunSpec
from dpsyn_core.schema import LinkedSchema
from ui.privacy import budget
from ui.privacy.plan import HASHED
from ui.shared.choices import one_of
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import amount, literal, number, percent, plain, t
from ui.shared.theme import facts, note, show
from ui.synthesize.methods import run_of

if TYPE_CHECKING:
    from dpsyn_core.runs import Reached
    from dpsyn_core.schema import Schema

WAYS = ("error", "gain")
COINS = 50  # of a hundred guesses are right by chance


def panel(space: Workspace) -> None:
    """Which way, the target, the epsilon that it leads to, and one press that takes it."""
    schema = space.schema if space.linked is None else space.linked.declared()
    if schema is None:
        note(t("plan.none"))
        return
    way = one_of(t("backwards.way"), WAYS, key="backwards_way", called=lambda w: t(f"backwards.way_{w}"))
    with refusals("alarm"):
        _from_gain(space, schema) if way == "gain" else _from_error(space, schema)


def _from_error(space: Workspace, schema: Schema) -> None:
    from dpsyn_core.runs import COLUMNS, choices

    run = run_of(space)
    first, second, third = st.columns([4, 3, 3])
    with first:
        every = [COLUMNS, *(one.name for one in schema.tables)] if schema.links else choices(run, schema)
        of = st.selectbox(t("backwards.of"), every, format_func=_named, key="backwards_of")
    target = second.number_input(t("backwards.error"), 0.1, 90.0, 5.0, 0.5, key="backwards_error", format="%g")
    with third:
        about = _about(schema)
    with st.spinner(t("backwards.computing")):
        found = _reached(run, schema.dumps(), of, target / 100, about, _schema=schema)
    epsilon = found.rounded()
    if epsilon is None:
        words = t("backwards.never", error=percent(found.target), of=_named(of), n=number(found.n_records))
        _picture(found, space.choices.delta, None, error=found.target, gain=None, words=words)
        note(words, "warning")
        return
    values = {"error": percent(found.target), "of": _named(of), "right": _right(_gain(epsilon, space.choices.delta))}
    words = t("backwards.reached", epsilon=amount(epsilon), n=number(found.n_records), **values)
    _offered(epsilon, t("backwards.at_least"), words)
    _picture(found, space.choices.delta, epsilon, error=found.target, gain=None, words=words)


def _from_gain(space: Workspace, schema: Schema) -> None:
    from dpsyn_core.runs import COLUMNS, epsilon_for_gain, error_at, rounded_down, tree_error

    first, second = st.columns(2)
    points = first.number_input(t("backwards.gain"), 0.5, 49.0, 5.0, 0.5, key="backwards_gain", format="%g")
    with second:
        about = _about(schema)
    run = run_of(space)
    epsilon = rounded_down(epsilon_for_gain(points / 100, space.choices.delta))
    with st.spinner(t("backwards.computing")):
        found = _reached(run, schema.dumps(), COLUMNS, 0.05, about, _schema=schema)
        given = (COLUMNS, found.n_records, epsilon)
        error = tree_error(run, schema, *given) if isinstance(schema, LinkedSchema) else error_at(run, schema, *given)
    values = {"right": _right(points / 100), "error": "–" if error is None else percent(error)}
    words = t("backwards.limited", epsilon=amount(epsilon), n=number(found.n_records), **values)
    _offered(epsilon, t("backwards.at_most"), words)
    _picture(found, space.choices.delta, epsilon, error=None, gain=points / 100, words=words)


def _about(schema: Schema) -> int:
    """The number of records that the forecast assumes: the public one, else what is typed."""
    if schema.n_records is not None:
        note(t("backwards.public", n=number(schema.n_records)))
        return schema.n_records
    asked = t("linked.about_roots", root=schema.root.name) if schema.links else t("expected.about")
    return int(st.number_input(asked, 1, 10**9, ASSUMED, key="backwards_n", help=t("backwards.about_help")))


@st.cache_data(show_spinner=False, max_entries=50, scope="session", hash_funcs=HASHED)
def _reached(run: RunSpec, text: str, of: str, target: float, about: int, _schema: Schema) -> Reached:
    """From schema, settings and a typed number alone."""
    from dpsyn_core.runs import epsilon_for_error, tree_epsilon

    run = run.model_copy(update={"epsilon": 1.0})
    if isinstance(_schema, LinkedSchema):
        return tree_epsilon(run, _schema, of=of, target=target, n_roots=about)
    return epsilon_for_error(run, _schema, of=of, target=target, n_records=about)


def _gain(epsilon: float, delta: float) -> float:
    from dpsyn_core.runs import gain

    return gain(epsilon, delta)


def _right(gain: float) -> str:
    """How many of a hundred guesses are right at most."""
    points = 100 * gain
    return number(round(COINS + points)) if points >= 1 else number(COINS + float(f"{points:.1g}"))


def _named(of: str) -> str:
    return t(f"backwards.{of}") if of in ("columns", "pairs") else literal(of)


def _offered(epsilon: float, bound: str, words: str) -> None:
    """The epsilon that was found, what it means, and one press that takes it."""
    facts((amount(epsilon), t("backwards.epsilon"), bound))
    note(words)
    st.button(t("backwards.take", epsilon=amount(epsilon)), key="backwards_take", on_click=_taken, args=(epsilon,))


def _taken(epsilon: float) -> None:
    st.session_state[budget.EPSILON] = plain(epsilon)
    st.session_state[budget.SLIDER] = budget.nearest(epsilon)


def _picture(
    found: Reached, delta: float, chosen: float | None, *, error: float | None, gain: float | None, words: str
) -> None:
    titles = {
        "epsilon": t("backwards.axis"),
        "error": t("backwards.axis_error"),
        "gain": t("backwards.axis_gain"),
        "error_hover": t("backwards.hover_error", of=_named(found.of)),
        "gain_hover": t("backwards.hover_gain"),
    }
    figure = choice_figure(
        found.epsilons, found.errors, [_gain(e, delta) for e in found.epsilons], chosen=chosen, error=error, gain=gain,
        titles=titles, caption=words, alt=t("backwards.alt", words=words),
    )  # fmt: skip
    show(figure, key="backwards_plot")
