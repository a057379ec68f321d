"""A job under way on a page: a bar that says how far it is, the press that ends it, and how one ended that failed."""

from collections.abc import Callable

import streamlit as st

from ui.shared.faults import ShownFaults
from ui.shared.jobs import Job, JobError, Jobs
from ui.shared.text import literal, sentence, t
from ui.shared.theme import note

Far = tuple[float, str]  # the share that is done, and what the bar says


def watch(
    registry: Callable[[], Jobs],
    owner: str,
    job: Job,
    far: Callable[[Job], Far],
    *,
    key: str,
    every: float = 1.0,
    below: Callable[[Job], None] = lambda _: None,
) -> None:
    """Draws the bar anew every so many seconds while the job lives, then the page once. below: draws what follows."""
    st.fragment(_watch, run_every=every if job.live else None)(registry, owner, job.id, far, key, below)


@ShownFaults()
def _watch(
    registry: Callable[[], Jobs],
    owner: str,
    job_id: str,
    far: Callable[[Job], Far],
    key: str,
    below: Callable[[Job], None],
) -> None:
    job = registry().get(job_id, owner)
    if not job.live:
        st.rerun()
    share, words = far(job)
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.progress(share, text=words)
    if right.button(t("run.cancel"), key=f"{key}.cancel.{job_id}", width="stretch"):
        registry().cancel(job_id, owner)
        st.rerun()
    below(job)


def ended_well(job: Job, *, cancelled: str) -> bool:
    """Whether a job that ended left a result; else the page says why. cancelled: what it says of one that was ended."""
    if job.state == "failed":
        st.error(literal(sentence(JobError(job.failure()))))
    elif job.state == "cancelled":
        note(cancelled)
    return job.state == "done"
