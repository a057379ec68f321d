"""More tables from a release file, on Synthesize: nothing is charged, and no private table is needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.runs.release_file import columns_in, manifest_of
from dpsyn_core.synthesizers.registry import DEFAULT
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
        if given is None:
            return
        content = given.getvalue()
        try:
            paid, names = manifest_of(content, given.name), columns_in(content, given.name)
        except DPSynError as error:
            st.error(literal(sentence(error)))
            return
        asked = _asked(names)
        part = asked["where"] is not None or asked["columns"] is not None
        if asked["maker"] is None and part and paid.method not in MAKERS:
            note(t("refit.instead", method=paid.method, made=DEFAULT))
        if st.button(t("refit.start"), key="refit_start", type="primary"):
            try:
                start(space, content, paid, **asked, rules=_rules())
            except DPSynError as error:
                st.error(literal(sentence(error)))
            else:
                st.rerun()


def _asked(names: tuple[str, ...]) -> dict[str, Any]:
    """What the visitor chose of size, system, condition and columns."""
    first, second = st.columns(2, gap="medium")
    with first:
        size = st.number_input(t("refit.size"), 1, 100_000_000, None, key="refit_size", help=t("refit.size_help"))
    with second:
        maker = st.selectbox(
            t("refit.method"), MAKERS, format_func=lambda m: m or t("refit.same"), key="refit_method"
        )  # fmt: skip
    where = st.text_input(
        t("refit.where"), key="refit_where", placeholder="CITY = Bellmere and AGE in [18, 30]",
        help=t("refit.where_help"),
    )  # fmt: skip
    kept = st.multiselect(
        t("refit.columns"), names, key="refit_columns", format_func=literal, placeholder=t("refit.columns_all")
    )  # fmt: skip
    st.text_area(
        t("refit.rules"), key="refit_rules", height=90, placeholder="age in [0, 15] and marital = married",
        help=t("refit.rules_help"),
    )  # fmt: skip
    return {"size": size, "maker": maker, "where": where.strip() or None, "columns": tuple(kept) or None}


def _rules() -> tuple[dict[str, Any], ...]:
    """The combinations that no record may have, one a line."""
    lines = str(st.session_state.get("refit_rules") or "").splitlines()
    return tuple({"kind": "impossible", "where": line.strip()} for line in lines if line.strip())


def start(
    space: Workspace, content: bytes, paid: Manifest, *, size: int | None, maker: str | None, where: str | None,
    columns: tuple[str, ...] | None, rules: tuple[dict[str, Any], ...],
) -> Job:  # fmt: skip
    """Queues the refit; the worker reads and checks the whole file, under its limits. Raises DPSynError."""
    import numpy as np

    from dpsyn_core.jobs.spec import JobSpec

    spec = JobSpec(
        epsilon=paid.epsilon, delta=paid.delta, method=paid.method, settings=paid.settings, n_records=size,
        seed=int(np.random.default_rng().integers(2**53)), dataset=paid.dataset, release=FILE, maker=maker, where=where,
        columns=columns, rules=rules, memory_mb=job_memory(), seconds=int(os.environ.get(SECONDS, "3600")),
    )  # fmt: skip
    made = maker or (paid.method if paid.method in MAKERS or not (where or columns) else DEFAULT)
    what = f" {t('refit.of', where=where)}" if where else ""
    what += f" {t('refit.some', count=len(columns))}" if columns else ""
    return jobs().start(
        space.owner, spec, None, None, label=t("refit.label", method=made) + what, fingerprint="refit",
        public=_table_of(space, paid), files={FILE: content},
    )  # fmt: skip


def _table_of(space: Workspace, paid: Manifest) -> dict[str, Any]:
    """What is kept of the table behind a release: that of the visitor's own run, where it is theirs."""
    for job in finished(space):
        if results.manifest(space, job)["run_id"] == paid.run_id:
            return dict(job.public)
    return {"serial": "", "salt": "00", "dataset": paid.dataset}
