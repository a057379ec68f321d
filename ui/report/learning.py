"""Learning: models trained on synthetic records and tested on real ones, and the other questions of the registry."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.metrics.base import GOAL_WORDS
from dpsyn_core.metrics.registry import metric_class, names
from dpsyn_core.report import build
from ui.report.look import Look
from ui.shared.text import figure_words, literal, number, t
from ui.shared.theme import note, section, show

LEARNING = "learning"


def panel(view: Look) -> None:
    """The learning scores on request (they take seconds), then every metric of the registry in one table."""
    left, right = st.columns([5, 8], gap="large")
    with left:
        section(t("learning.title"))
        _learning(view)
    with right:
        section(t("learning.all"))
        _all(view)


def _learning(view: Look) -> None:
    if LEARNING not in names():
        note(t("learning.absent"))
        return
    note(metric_class(LEARNING).question)
    asked = f"learning_{'_'.join(s.job.id for s in view.sides)}"
    if not st.session_state.get(asked) and not st.button(t("learning.start"), key="learning_start"):
        return
    st.session_state[asked] = True
    known = {}
    for side in view.sides:
        with st.spinner(t("learning.running", label=literal(view.name(side)))):
            got = view.score(side, LEARNING)
        if isinstance(got, MetricError):
            note(str(got), "warning")
            continue
        known[side] = got
    if known:
        title = t(f"learning.{build.learning_measure(next(iter(known.values())).details)}")
        named = {view.name(side): score for side, score in known.items()}
        trained = t("learning.trained")
        show(build.learning(named, title=title, trained=trained, words=figure_words()), key="learning_plot")
    for side, got in known.items():
        note(got.sentence)
        rows = []
        for model, scores in got.details["train_synthetic"].items():
            ceiling = got.details["train_real"].get(model, {})
            for what, value in scores.items():
                rows.append({t("learning.model"): model, t("learning.what"): what,
                             t("learning.synthetic"): round(value, 3),
                             t("learning.real"): round(ceiling.get(what, float("nan")), 3)})  # fmt: skip
        st.dataframe(rows, hide_index=True, key=f"learning_{side.letter}", alt=got.sentence)


def _all(view: Look) -> None:
    wanted = [n for n in names() if metric_class(n).quick]
    rows = []
    for name in wanted:
        kind = metric_class(name)
        row: dict[str, object] = {t("learning.metric"): kind.title, t("learning.goal"): GOAL_WORDS[kind.goal]}
        for side in view.sides:
            got = view.score(side, name)
            row[view.name(side)] = "–" if isinstance(got, MetricError) else number(got.value)
            if side.letter == "A":
                known = not isinstance(got, MetricError) and got.floor is not None
                row[t("learning.floor")] = number(got.floor) if known else "–"  # type: ignore[union-attr,arg-type]
        rows.append(row)
    st.dataframe(rows, hide_index=True, key="all_metrics", alt=t("learning.all"), height="content")
