"""Runs on the screen: progress with a live curve, cancel, result with figure and downloads, list of earlier runs."""

import re
import time
from collections.abc import Sequence
from functools import partial
from typing import Literal

import streamlit as st

from dpsyn_core.systems import DEFAULT
from ui.shared import results, watching
from ui.shared.charts import Figure, chart, curve
from ui.shared.going import go_to, reveal
from ui.shared.jobs import LABEL, Job
from ui.shared.results import kept
from ui.shared.state import Workspace, jobs
from ui.shared.text import escaped, literal, local, number, stage_words, t
from ui.shared.theme import end_page, heading, not_private, note, palette, section, show
from ui.synthesize import methods

OPEN = "open_run"  # the run that Report and Export look at
LOADING = "loading the engine"  # the stage of a worker that has not yet said anything
COMPILING = 8.0  # seconds of loading after which it must be compiling, as after an installation
STARTED = "started_run"  # the run that was started last on Synthesize
SAID = "said_of_run"  # the run whose end was announced


def opened(space: Workspace) -> Job | None:
    """The run that was opened last, else the newest one that is done."""
    mine = jobs().of(space.owner)
    wanted = st.session_state.get(OPEN)
    done = [j for j in mine if j.state == "done"]
    return next((j for j in done if j.id == wanted), done[0] if done else None)


def watch(space: Workspace, job: Job, *, key: str) -> None:
    """A run under way, with its curve; polls four times a second."""
    foretold = kept(space, ("foretold", job.id), lambda: _foretold(space, job))
    far, below = partial(_far, foretold=foretold), partial(_below, key=key)
    watching.watch(jobs, space.owner, job, far, key=key, every=0.25, below=below)


def _foretold(space: Workspace, job: Job) -> float | None:
    """Seconds that a run of one table takes at most by its sizes; None where nothing is known of it."""
    from ui.synthesize.estimates import estimated

    if job.spec.linked or job.spec.release is not None or not results.same_table(space, job):
        return None
    found = estimated(space, job.spec.method)
    return None if found is None else found.high


def bar(elapsed: float, foretold: float | None, stages: float) -> float:
    """How far one bar for a whole run has come, below 1, and never back: by its time, else by the stages passed.

    Args:
        elapsed: seconds since the run began.
        foretold: seconds that it takes at most by a forecast, None without one.
        stages: stages that are passed, with the part done of the one under way.
    """
    if foretold is None:
        return float(1 - 0.75**stages)
    if elapsed <= foretold:
        return 0.9 * elapsed / foretold
    return 1 - 0.1 * foretold / elapsed


def _far(job: Job, foretold: float | None) -> watching.Far:
    """How far a run is, its stage, and the seconds that it has taken and that are left."""
    seen, elapsed = job.progress(), job.elapsed()
    stage = stage_words(seen.get("stage", LOADING)) if job.state == "running" else t("run.queued")
    said = t("run.stage", label=literal(job.label), stage=literal(stage), seconds=local(elapsed, ".0f"))
    if foretold is not None and job.state == "running":
        rest = foretold - elapsed
        said += " · " + (t("run.left", seconds=local(max(1, rest), ".0f")) if rest > 0 else t("run.longer"))
    return bar(elapsed, foretold, len(seen.get("passed", [])) + (job.part_done() or 0.0)), said


def _below(job: Job, key: str) -> None:
    """Why a first run takes long, and the curve of a run that has one."""
    seen = job.progress()
    if not seen and job.elapsed() > COMPILING:
        note(t("run.compiling"))
    if len(seen.get("curve", [])) > 1:
        figure, (first, *_, last) = _curve(seen["curve"]), [local(y, ".3g") for _, y in seen["curve"]]
        alt = t("run.curve_alt", stage=stage_words(seen["curve_stage"]), first=first, last=last)
        show(figure, alt=alt, key=f"{key}.curve.{job.id}", height=150)


def _curve(points: list[list[float]]) -> Figure:
    x, y = ([point[i] for point in points] for i in (0, 1))
    out = chart(curve(x, y, None, palette().accent, width=2, hovertemplate=t("run.curve_hover")))
    out.update_xaxes(title=t("run.curve_x"))
    out.update_yaxes(title=t("run.curve_y"), rangemode="tozero", nticks=4)
    return out


def line(job: Job, space: Workspace, *, key: str, comes_next: bool = False) -> None:
    """One earlier run: what it was, how it ended, and what to do with it; comes_next: its report is what to press."""
    words, buttons = st.columns([5, 6], vertical_alignment="center")
    state = job.state
    timed = state == "done" and not space.choices.safe  # in safe mode others may look at the screen
    tail = t("run.done", seconds=local(job.seconds(), ".1f")) if timed and job.seconds() else t(f"state.{state}")
    again = job.spec.release is not None  # a refit goes by its release file, whatever the settings of the next run are
    stale = state == "done" and not again and results.stale(space, job, job.spec)
    extra = f" · {t('run.stale')}" if stale else ""
    tail = escaped(tail + extra)
    words.html(f"<div class='dp-run'><b>{escaped(job.label)}</b> <span>{tail}</span></div>")
    with words:
        watching.ended_well(job, cancelled=t("run.cancelled_note", epsilon=number(job.spec.epsilon)))
    with buttons, st.container(horizontal=True, gap="small", horizontal_alignment="right"):
        if state == "done":
            kind: Literal["primary", "secondary"] = "primary" if comes_next else "secondary"
            if st.button(t("run.report"), key=f"{key}.report.{job.id}", type=kind):
                st.session_state[OPEN] = job.id
                go_to("report")
            if st.button(t("run.export"), key=f"{key}.export.{job.id}"):
                st.session_state[OPEN] = job.id
                go_to("export")
            _rename(job, space, key=key)
        if not job.live and st.button(t("run.remove"), key=f"{key}.remove.{job.id}", type="tertiary"):
            jobs().remove(job.id, space.owner)
            st.rerun()


def _rename(job: Job, space: Workspace, *, key: str) -> None:
    """A small window with the run's name in a field."""
    with st.popover(t("run.rename"), type="tertiary", key=f"{key}.renaming.{job.id}"):
        with st.form(f"{key}.name_form.{job.id}", border=False):
            got = st.text_input(t("run.name"), job.label, max_chars=LABEL, key=f"{key}.name.{job.id}")
            saved = st.form_submit_button(t("run.name_save"))
        note(t("run.name_note"))
    if saved and got and got.strip() and got.strip() != job.label:
        jobs().rename(job.id, space.owner, got)
        results.forget_names(space, job)
        st.rerun()


def choose(space: Workspace, *, key: str) -> Job | None:
    """Which finished run a page looks at; None when there is none."""
    done = [j for j in jobs().of(space.owner) if j.state == "done"]
    if not done:
        return None
    names = {one: re.sub(rf"^{DEFAULT}(?=, )", methods.spelt(DEFAULT), name) for one, name in titles(done).items()}
    ids, current = list(names), opened(space)
    at, key = ids.index(current.id) if current else 0, f"{key}_{len(ids)}_{st.session_state.get(OPEN, '')}"
    got = st.selectbox(t("run.which"), ids, at, format_func=names.__getitem__, key=key)
    st.session_state[OPEN] = got
    return next(j for j in done if j.id == got)


def titles(shown: Sequence[Job]) -> dict[str, str]:
    """Each run in one line, by id; runs of one minute and name are numbered: a list of choices tells them apart by it.

    The oldest of them is the first.
    """
    names = {j.id: t("run.title", label=j.label, when=time.strftime("%H:%M", time.localtime(j.created))) for j in shown}
    alike: dict[str, list[str]] = {}
    for job in sorted(shown, key=lambda j: j.created):
        alike.setdefault(names[job.id], []).append(job.id)
    numbers = {one: f" ({n})" for ids in alike.values() if len(ids) > 1 for n, one in enumerate(ids, 1)}
    return {job_id: name + numbers.get(job_id, "") for job_id, name in names.items()}


def headed(space: Workspace, page: str) -> Job:
    """The heading of a page about one finished run, with the choice of it; where there is none, the page ends."""
    left, right = st.columns([5, 4], vertical_alignment="bottom")
    with left:
        heading(page)
    with right:
        job = choose(space, key=f"{page}_run")
    if job is None:
        st.info(t("run.empty"))
        if st.button(t("run.empty_button"), type="primary", key="to_synthesize"):
            go_to("synthesize")
        end_page()
    if not results.manifest(space, job)["private"]:
        not_private(t("stamp.run"))
    return job


def finished(space: Workspace, *, linked: bool) -> list[Job]:
    """The visitor's finished runs of one table, or of linked ones, newest first."""
    return [j for j in jobs().of(space.owner) if j.state == "done" and bool(j.spec.linked) == linked]


def listed(space: Workspace, done: Job | None) -> None:
    """All of the visitor's runs: those under way with their progress, then the others; done: the one to open next."""
    mine = jobs().of(space.owner)
    if not mine:
        return
    with st.container(key="runs"):
        section(t("synthesize.runs"))
        for job in [j for j in mine if j.live]:
            watch(space, job, key="list")
    if started := st.session_state.get(STARTED):
        reveal("runs", started)
    for job in [j for j in mine if not j.live]:
        line(job, space, key="list", comes_next=job is done)
    note(t("synthesize.many"))
    if done is not None and done.id == started and st.session_state.get(SAID) != started:
        st.session_state[SAID] = started
        st.toast(t("quick.done", label=literal(done.label)))


def alike(space: Workspace, job: Job) -> list[Job]:
    """The visitor's other finished runs with which a run can be compared, newest first.

    Runs of linked tables are compared table by table, with runs that have the same tables.
    """
    linked = bool(job.spec.linked)

    def tables(one: Job) -> list[str]:
        return [name for name, _ in results.named_schemas(space, one)] if linked else []

    return [j for j in finished(space, linked=linked) if j.id != job.id and tables(j) == tables(job)]


def choose_second(first: Job, others: Sequence[Job]) -> Job | None:
    """A run to compare with, or none."""
    named = titles([first, *others])
    names: dict[str | None, str] = {None: t("run.alone")} | {j.id: named[j.id] for j in others}
    got = st.selectbox(
        t("run.second"), list(names), format_func=names.__getitem__, key=f"second_{first.id}_{len(others)}"
    )
    return next((j for j in others if j.id == got), None)
