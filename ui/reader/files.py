"""Files of a release that somebody was handed: taken in, proved, and kept for this visit; nothing private is read."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.report import OpenRelease, open_release, sorted_files
from ui.data.loading import uploaded_table
from ui.export import files
from ui.shared import uploads
from ui.shared.jobs import Job
from ui.shared.state import Workspace
from ui.shared.text import amount, literal, number, sentence, t
from ui.shared.theme import facts, not_private, note
from ui.synthesize import runs

ENDINGS = ["zip", "csv", "tsv", "parquet", "xlsx", "json", "gz", "dpsyn"]
MARK = "reader_files_taken"  # of the visitor's session


def taken(space: Workspace) -> OpenRelease | None:
    """The release that was uploaded last, after a reload too; None without one, or with the reason on the screen."""
    got = uploads.several(t("reader.upload"), ENDINGS, key="reader_files")
    note(t("reader.upload_note"))
    mark = tuple(sorted(f.file_id for f in got))
    if got and st.session_state.get(MARK) != mark:
        _open(space, mark, lambda: [(f.name, f.getvalue()) for f in got])
    job = runs.opened(space)
    if job is not None and not job.spec.linked and st.session_state.get(MARK) != job.id:
        kind: Literal["primary", "secondary"] = "secondary" if space.reading else "primary"
        if st.button(t("reader.own", run=literal(job.label)), type=kind, key="reader_own"):
            _open(space, job.id, lambda: released(space, job))
            st.rerun()
    problem = st.session_state.get(f"{MARK}_problem")
    if problem:
        st.error(literal(problem))
    return space.reading


def _open(space: Workspace, mark: object, given: Callable[[], list[tuple[str, bytes]]]) -> None:
    """Proves files and keeps the release that they are, or the sentence that says why they are none."""
    space.reading = None
    try:
        with st.spinner(t("reader.opening")):
            space.reading = open_release(sorted_files(given()), uploaded_table)
    except DPSynError as error:
        st.session_state[f"{MARK}_problem"] = sentence(error)
    else:
        st.session_state.pop(f"{MARK}_problem", None)
    st.session_state[MARK] = mark  # at the end: where a press ends this run of the page, the next one reads


def released(space: Workspace, job: Job) -> list[tuple[str, bytes]]:
    """The files of a run of one's own, as Export hands them out."""
    from dpsyn_core.runs import MEASUREMENTS

    name, ending = files.stem(space, job), files.endings(space, job)[0]
    return [
        (f"{name}.{ending}", files.table_bytes(space, job, ending)),
        (f"{name}.manifest.json", files.manifest_text(space, job).encode()),
        ("measurements.json.gz", (job.folder / MEASUREMENTS).read_bytes()),
    ]


def promise(found: OpenRelease) -> None:
    """What the manifest promises, whether the files are those of it, and what it does not promise."""
    manifest = found.manifest
    if not manifest.private:
        not_private("; ".join(manifest.not_private_because))
    epsilon = amount(manifest.epsilon) if manifest.private else "–"
    facts(
        (number(found.codes.shape[1]), t("reader.records"), manifest.dataset),
        (epsilon, t("budget.epsilon"), t("reader.delta", delta=amount(manifest.delta))),
        (str(len(found.schema.output_names)), t("reader.columns"), t("reader.by", method=manifest.method)),
    )
    note(t("reader.proved") if manifest.private else t("reader.proved_not_private"))
    if found.released is None:
        note(t("reader.no_tables"), "warning")
