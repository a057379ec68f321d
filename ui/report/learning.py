"""Learning: models trained on synthetic records and tested on real ones, and the other questions of the registry."""

import time
from dataclasses import replace

import streamlit as st

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate import GOAL_WORDS, Metric, Score, metric_class, names
from dpsyn_core.report import build
from ui.report.look import Look, Side
from ui.shared.faults import ShownFaults
from ui.shared.text import engine, figure_words, literal, local, number, percent, t
from ui.shared.theme import note, section, show, table

LEARNING = "learning"
SLICE = 1.0  # seconds of computing before the page is drawn with what is there
WAITED = "scores_waited"  # whether the last drawing left scores to be computed


def panel(view: Look) -> None:
    """The learning scores on request, for they take seconds."""
    section(t("learning.title"))
    if LEARNING not in names():
        note(t("learning.absent"))
        return
    note(engine("question.learning", metric_class(LEARNING).question))
    columns, guessed = list(view.first.comparison.domain.names), view.first.comparison.resolved.target
    at = columns.index(guessed) if guessed in columns else 0
    target = st.selectbox(t("learning.target"), columns, at, key=view.key("learning_target"))
    view = predicting(view, target)
    asked = f"learning_{'_'.join(s.job.id for s in view.sides)}"
    if not st.session_state.get(asked):
        st.button(t("learning.start"), key="learning_start", on_click=_ask, args=(asked,))
        return
    known: list[tuple[Side, Score]] = []
    for side in view.sides:
        with st.spinner(t("learning.running", label=literal(view.name(side)))):
            got = view.score(side, LEARNING)
        if isinstance(got, MetricError):
            note(str(got), "warning")
            continue
        known.append((side, got))
    if known:
        title = t(f"learning.{build.learning_measure(known[0][1].details)}")
        named = {view.name(side): score for side, score in known}
        trained = t("learning.trained")
        show(build.learning(named, title=title, trained=trained, words=figure_words()), key="learning_plot")
    for _, got in known:
        note(_reached(got))
        rows = []
        for model, scores in got.details["train_synthetic"].items():
            ceiling = got.details["train_real"].get(model, {})
            for what, value in scores.items():
                best = local(ceiling[what], ".3f") if what in ceiling else "–"
                rows.append([f"{model}\n{what}", local(value, ".3f"), best])
        table([t(f"learning.{k}") for k in ("model", "synthetic", "real")], rows, alt=_reached(got))


def _reached(got: Score) -> str:
    """What models of synthetic records reach on real ones, beside models of real ones."""
    details, measure = got.details, "R2" if got.details["task"] == "regression" else "AUROC"
    values = {"value": local(got.value, ".3f"), "real": local(details["ceiling"], ".3f")}
    said = t("learning.reach", target=details["target"], measure=measure, **values)
    return said if details["held_out"] else f"{said} {t('learning.seen')}"


def _ask(key: str) -> None:
    """Before the page is drawn: the scores above may have it drawn twice, and a press would be lost."""
    st.session_state[key] = True


def predicting(view: Look, target: str) -> Look:
    """The same look with another column to predict; tables are not read anew."""

    def other(side: Side) -> Side:
        roles = replace(side.comparison.roles, target=target)
        return replace(side, comparison=replace(side.comparison, roles=roles))

    return replace(view, sides=tuple(map(other, view.sides)))


def scores(view: Look) -> None:
    """The table of scores. What takes long is computed on later runs of this part alone, so that the page stands."""
    wanted = [n for n in names() if metric_class(n).quick]
    lacking = [n for n in wanted if not all(view.known(side, n) for side in view.sides)]
    st.fragment(_table, run_every=0.3 if lacking else None)(view, wanted)


def _cell(got: Score | MetricError) -> str:
    """A score, and below it how large a random part of the real records is as good, where that is known."""
    if isinstance(got, MetricError):
        return "–"
    share = got.details.get("equivalent_subsample")
    if share is None:
        return number(got.value)
    return f"{number(got.value)}\n{t('learning.sample', share=percent(share, 1 if share < 0.1 else 0))}"


def _meaning(kind: type[Metric]) -> dict[str, str]:
    """Which way a metric is better, its unit, and what it is computed on."""
    return {
        "goal": engine(f"goal.{kind.goal}", GOAL_WORDS[kind.goal]),
        "unit": engine(f"unit.{kind.unit}", kind.unit),
        "on": engine(f"on.{kind.on}", kind.on),
    }


@ShownFaults()
def _table(view: Look, wanted: list[str]) -> None:
    started, rows, waiting = time.monotonic(), [], 0
    for name in wanted:
        fresh = not all(view.known(side, name) for side in view.sides)
        if fresh and time.monotonic() - started > SLICE:
            waiting += 1
            continue
        kind = metric_class(name)
        got = [view.score(side, name) for side in view.sides]
        floors = [g.floor for g in got if not isinstance(g, MetricError)]
        if not floors or floors[0] is None:
            continue  # the question does not arise for these columns, or nothing says what would be good
        words = f"{engine(f'metric.{name}', kind.title)}\n{t('learning.row', **_meaning(kind))}"
        rows.append([words, number(floors[0]), *map(_cell, got)])
    head = [t("learning.metric"), t("learning.floor"), *(view.name(side) for side in view.sides)]
    table(head, rows, alt=t("learning.all"))
    if waiting:
        note(t("learning.waiting", count=number(waiting)))
    elif st.session_state.get(WAITED):
        st.session_state[WAITED] = False
        st.rerun()  # ends the clock of this part
    st.session_state[WAITED] = bool(waiting)
