"""The share of the budget, and the expected error of each question before anything is spent. Reads no data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy import Budget
from dpsyn_core.systems import config_class
from ui.privacy import plan
from ui.privacy.band import counted_values
from ui.questions import kept
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import counted, number, percent, t
from ui.shared.theme import facts, note
from ui.synthesize.methods import chosen, run_of

if TYPE_CHECKING:
    from dpsyn_core.questions import Question
    from dpsyn_core.runs import BudgetStep, Forecasts, RunSpec

SHARE = "questions_share"


def share_field(space: Workspace) -> None:
    """One slider: which part of what pairs would get goes to the questions; of linked tables, which part of all."""
    choices, usual = space.choices, _default(space)
    start = usual if choices.questions_share is None else choices.questions_share
    least, said = (0, "questions.share") if space.linked is None else (1, "linked.share")
    st.session_state[SHARE] = min(max(round(100 * start), least), 100 - least)
    moved: dict[str, Any] = {"format": "%d %%", "on_change": _moved, "args": (space,)}
    st.slider(t(said), least, 100 - least, key=SHARE, help=t(f"{said}_help"), **moved)
    note(t("questions.share_ends"))
    if choices.questions_share is not None and round(100 * usual) != round(100 * start):
        words = t("questions.share_back", share=percent(usual, 0))
        if st.button(words, key="questions_share_back", type="tertiary"):
            choices.questions_share = None
            st.rerun()


def _moved(space: Workspace) -> None:
    space.choices.questions_share = st.session_state[SHARE] / 100


def _default(space: Workspace) -> float:
    """The share that a run takes where none was chosen."""
    from dpsyn_core.questions import workload_of

    if space.linked is not None:
        return sum(step.share for step in _asked(space, questions_share=None).values())
    if space.schema is None:
        return 0.0
    found = workload_of(kept.fitting(space), space.schema, None)
    return 0.0 if found is None else found.share


def _asked(space: Workspace, **changed: float | None) -> dict[str, BudgetStep]:
    """The step of each question about linked tables, by its name; none where a run would be refused."""
    if not space.choices.valid:
        return {}
    try:
        steps = plan.tree_steps(space, Budget(epsilon=space.choices.epsilon, delta=space.choices.delta), **changed)
    except DPSynError:  # Privacy and Synthesize say it
        return {}
    return {step.table: step for step in steps if step.what == "question"}


def noise(space: Workspace) -> dict[str, float]:
    """The noise of a cell of each question's table, in individuals, by the question's name; of linked tables alone."""
    return {name: step.noise for name, step in _asked(space).items()}


def forecasts(space: Workspace) -> Forecasts | None:
    """What the chosen system would make of the questions; None without any, or when it refuses, with the reason."""
    if space.linked is not None:
        return None
    fit = kept.fitting(space)
    if space.schema is None or not len(fit) or not space.choices.valid:
        return None
    with refusals("warning"):
        return _forecast(run_of(space), space.schema.dumps(), plan.assumed(space))
    return None


@st.cache_data(show_spinner=False, max_entries=60, scope="session", hash_funcs=plan.HASHED)
def _forecast(run: RunSpec, schema: str, about: int) -> Forecasts:
    """Kept for this visitor alone: the number of records that forecasts assume may be private."""
    from dpsyn_core.runs import forecast
    from dpsyn_core.schema import Schema

    return forecast(run, Schema.loads(schema), n_records=about)


def spread(space: Workspace, question: Question) -> float | None:
    """The standard deviation of a question's number in the loaded table, in its unit; for the owner alone.

    None in safe mode, of linked tables and of a table outside the app, and where the question is of no number.
    """
    import numpy as np

    data, schema, of = space.dataset, space.schema, getattr(question, "of", None)
    if space.choices.safe or space.linked is not None or data is None or data.whole is None or schema is None:
        return None
    if not isinstance(of, str) or of not in {a.name for a in schema.coded} or schema[of].numbers() is None:
        return None
    numbers = np.asarray(schema[of].numbers(), dtype=np.float64)
    counts = np.array(counted_values(space, data.whole, schema, of), dtype=np.float64)
    known = ~np.isnan(numbers) & (counts > 0)
    x, weight = numbers[known], counts[known]
    if not weight.sum():
        return None
    mean = np.average(x, weights=weight)
    return float(np.sqrt(np.average((x - mean) ** 2, weights=weight)))


def cost(found: Forecasts) -> None:
    """What everything else loses."""
    if not found.takes or found.share == 0:
        return
    if found.others is None:
        facts((t("questions.none"), t("questions.others_gone"), t("questions.others_gone_note")))
        return
    more = max(0, round(100 * (found.others - 1)))
    if more:
        facts((percent(more / 100, 0), t("questions.others"), t("questions.others_note")))
    else:  # systems that choose what they measure choose other pairs more rarely
        note(t("questions.others_same"))


def cannot(space: Workspace) -> bool:
    """Whether the chosen system cannot be told questions; then says so, where there are any."""
    method = chosen(space)
    if space.linked is not None or config_class(method).takes_questions or not kept.lines(space):
        return False
    note(t("questions.cannot", method=method), "warning")
    return True


def on_synthesize(space: Workspace) -> None:
    """What the next run is told, in a sentence; nothing where no question is declared."""
    all_lines = kept.lines(space)
    fit = len(kept.fitting(space))
    if not all_lines:
        return
    if fit < len(all_lines):
        note(t("questions.left_out", count=number(len(all_lines) - fit)), "warning")
    if cannot(space) or not fit:
        return
    chosen_share = space.choices.questions_share
    share = percent(_default(space) if chosen_share is None else chosen_share, 0)
    if space.linked is None:
        note(counted("questions.told", fit, share=share))
    else:
        note(counted("linked.told", fit, share=share))


def assumption(space: Workspace) -> None:
    """What the forecast rests on, with the tag where that is the owner's own count."""
    plan.assumption(space)
    note(t("questions.assumed"))
