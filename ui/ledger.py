"""The ledger of the loaded dataset as the side panel and the Privacy page show it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger import Ledger
from ui.budget import plain, sentence
from ui.state import Workspace
from ui.text import t
from ui.theme import note


@dataclass(frozen=True)
class Spent:
    """What all runs on a dataset cost together (epsilon None: unbounded), and what its limit leaves."""

    runs: int
    epsilon: float | None
    limit: float | None
    left: float | None


def spent(space: Workspace) -> Spent | None:
    """What the dataset's ledger holds; None without a dataset. The sums are kept until a run adds to them."""
    if space.dataset is None:
        return None
    book, name = Ledger(), space.dataset.ledger
    stamp = (name, *_changed(book))
    kept = space.memo.get("ledger")
    if kept is None or kept[0] != stamp:
        got = book.summary(name)
        kept = (stamp, Spent(got.runs, got.epsilon, got.limit_epsilon, got.epsilon_left))
        space.memo["ledger"] = kept
    return kept[1]


def _changed(book: Ledger) -> tuple[int, int]:
    try:
        found = book.path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def limit_field(space: Workspace) -> None:
    """Sets what all runs on the dataset may cost together."""
    if space.dataset is None:
        return
    book, name = Ledger(), space.dataset.ledger
    limit = book.limit(name)
    with st.form(f"limit_{space.dataset.serial}", border=False):
        first, second = st.columns([3, 2], vertical_alignment="bottom")
        with first:
            text = st.text_input(
                t("limit.label"), plain(limit.epsilon) if limit else "", placeholder=t("limit.blank"), key="limit_text",
                help=t("limit.help"),
            )  # fmt: skip
        with second:
            pressed = st.form_submit_button(t("limit.set"), width="stretch")
    note(t("limit.note"))
    if not pressed:
        return
    try:
        wanted = None if not (text or "").strip() else Budget(epsilon=float(text or ""), delta=space.choices.delta)
        book.set_limit(name, wanted)
    except DPSynError as error:
        st.error(sentence(error))
    except ValueError:
        st.error(t("limit.problem", got=(text or "")[:40]))
    else:
        st.rerun()
