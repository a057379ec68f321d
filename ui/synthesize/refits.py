"""More tables from a release file, on Synthesize: nothing is charged, and no private table is needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from ui.shared import results
from ui.shared.jobs import Job
from ui.shared.state import Workspace, jobs
from ui.shared.text import literal, sentence, t
from ui.shared.theme import note
from ui.synthesize.estimates import job_memory
from ui.synthesize.runs import finished
from ui.synthesize.starting import SECONDS

if TYPE_CHECKING:
    from dpsyn_core.privacy.manifest.manifest import Manifest

FILE = "release.dpsyn"  # its name in the folder of the job
MAKERS = (None, "rls", "independent", "dpsyn", "mst")  # None: the system of the run, where it can


def panel(space: Workspace) -> None:
    """A form behind an expander: the file, and what the new table has otherwise."""
    with st.expander(t("refit.title"), key="refit_panel"):
        note(t("refit.lead"))
        given = st.file_uploader(t("refit.file"), type="dpsyn", key="refit_file")
        first, second = st.columns(2, gap="medium")
        with first:
            size = st.number_input(t("refit.size"), 1, 100_000_000, None, key="refit_size", help=t("refit.size_help"))
        with second:
            maker = st.selectbox(
                t("refit.method"), MAKERS, format_func=lambda m: m or t("refit.same"), key="refit_method"
            )
        where = st.text_input(t("refit.where"), key="refit_where", placeholder="CITY = Bellmere and AGE in [18, 30]")
        if st.button(t("refit.start"), key="refit_start", disabled=given is None) and given is not None:
            try:
                start(space, given.getvalue(), size=size, maker=maker, where=where.strip() or None)
            except DPSynError as error:
                st.error(literal(sentence(error)))
            else:
                st.rerun()


def start(space: Workspace, content: bytes, *, size: int | None, maker: str | None, where: str | None) -> Job:
    """Queues the refit; the worker reads and checks the whole file, under its limits. Raises DPSynError."""
    import numpy as np

    from dpsyn_core.jobs.spec import JobSpec
    from dpsyn_core.runs.release_file import manifest_of

    paid = manifest_of(content, FILE)
    spec = JobSpec(
        epsilon=paid.epsilon, delta=paid.delta, method=paid.method, settings=paid.settings, n_records=size,
        seed=int(np.random.default_rng().integers(2**53)), dataset=paid.dataset, release=FILE, maker=maker, where=where,
        memory_mb=job_memory(), seconds=int(os.environ.get(SECONDS, "3600")),
    )  # fmt: skip
    what = f" {t('refit.of', where=where)}" if where else ""
    return jobs().start(
        space.owner, spec, None, None, label=t("refit.label", method=maker or paid.method) + what, fingerprint="refit",
        public=_table_of(space, paid), files={FILE: content},
    )  # fmt: skip


def _table_of(space: Workspace, paid: Manifest) -> dict[str, Any]:
    """What is kept of the table behind a release: that of the visitor's own run, where it is theirs."""
    for job in finished(space):
        if results.manifest(space, job)["run_id"] == paid.run_id:
            return dict(job.public)
    return {"serial": "", "salt": "00", "dataset": paid.dataset}
