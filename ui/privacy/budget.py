"""Budget fields: epsilon and delta by slider and by number, in the URL, with the reason beside a wrong field."""

import math
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator as Place

from dpsyn_core.errors import BudgetError
from dpsyn_core.privacy import LARGEST_DELTA, Budget
from ui.shared.going import keep
from ui.shared.state import Workspace
from ui.shared.text import amount, local, plain, sentence, t
from ui.shared.theme import note

NICE = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0)
ABSURD_EPSILON = 100.0  # above this nothing is protected any more
HIGH_EPSILON = 10.0
EPSILON, SLIDER, DELTA = "epsilon", "epsilon_slider", "delta"


@dataclass(frozen=True)
class Reading:
    """What stands in the fields: a budget, or None and the sentence that says why not."""

    budget: Budget | None
    epsilon_problem: str = ""
    delta_problem: str = ""


def read(epsilon_text: str, delta_text: str) -> Reading:
    """Checks both fields as a person typed them."""
    epsilon, epsilon_problem = _epsilon(epsilon_text)
    delta, delta_problem = _typed_number(delta_text, DELTA)
    if delta is not None and delta >= LARGEST_DELTA:
        delta_problem, delta = t("budget.delta_absurd", got=local(delta, "g")), None
    if epsilon is None or delta is None:
        return Reading(None, epsilon_problem, delta_problem)
    return Reading(Budget(epsilon=epsilon, delta=delta))


def _epsilon(text: str) -> tuple[float | None, str]:
    value, problem = _typed_number(text, EPSILON)
    if value is not None and value > ABSURD_EPSILON:
        return None, t("budget.epsilon_absurd", got=local(value, "g"), most=local(ABSURD_EPSILON, "g"))
    return value, problem


def _typed_number(text: str, what: str) -> tuple[float | None, str]:
    """The epsilon or delta that was typed, or why it is none."""
    typed = text.strip()
    if not typed:
        return None, t(f"budget.{what}_blank")
    try:
        value = float(typed.replace(",", "."))
        Budget(**{EPSILON: 1.0, DELTA: 0.0} | {what: value})
    except BudgetError as error:
        return None, sentence(error)
    except ValueError:
        return None, t(f"budget.{what}_words", got=typed[:40])
    return value, ""


def nearest(epsilon: float) -> float:
    """The stop of the slider next to an epsilon."""
    return min(NICE, key=lambda n: abs(math.log(n) - math.log(epsilon)))


def _slid() -> None:
    st.session_state[EPSILON] = plain(st.session_state[SLIDER])


def _typed() -> None:
    value, _ = _epsilon(st.session_state[EPSILON])
    if value is not None:
        st.session_state[SLIDER] = nearest(value)


def fields(space: Workspace, slider: Place, typed: Place, other: Place, said: Place) -> Reading:
    """Draws the fields in their places and keeps a valid budget in the visitor's choices; a wrong one blocks the run.

    slider, typed, other: of epsilon, of its number and of delta. said: what is wrong with them, as wide as the page.
    """
    choices = space.choices
    keep(EPSILON, plain(choices.epsilon))
    keep(DELTA, plain(choices.delta))
    epsilon_text = typed.text_input(
        t("budget.epsilon"), key=EPSILON, bind="query-params", help=t("budget.epsilon_help"), on_change=_typed
    )
    delta_text = other.text_input(t("budget.delta"), key=DELTA, bind="query-params", help=t("budget.delta_help"))
    got = read(epsilon_text or "", delta_text or "")
    value, _ = _epsilon(epsilon_text or "")
    if SLIDER not in st.session_state:
        st.session_state[SLIDER] = nearest(value or choices.epsilon)
    slider.select_slider(t("budget.slider"), NICE, key=SLIDER, on_change=_slid, format_func=amount)
    with said:
        _explain(got.epsilon_problem, value is not None and value > HIGH_EPSILON and t("budget.epsilon_high"))
        _explain(got.delta_problem, got.budget is not None and got.budget.delta == 0 and t("budget.delta_zero"))
    choices.valid = got.budget is not None
    if got.budget is not None:
        choices.epsilon, choices.delta = got.budget.epsilon, got.budget.delta
    return got


def _explain(problem: str, warning: str | bool) -> None:
    if problem:
        note(problem, "alarm")
    elif warning:
        note(str(warning), "warning")
