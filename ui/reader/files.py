"""Files of a release that somebody was handed: taken in, proved, and kept for this visit; nothing private is read."""

from __future__ import annotations

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.report import OpenRelease, open_release, sorted_files
from ui.data.loading import uploaded_table
from ui.shared import uploads
from ui.shared.state import Workspace
from ui.shared.text import amount, literal, number, sentence, t
from ui.shared.theme import facts, not_private, note

ENDINGS = ["zip", "csv", "tsv", "parquet", "xlsx", "json", "gz", "dpsyn"]
MARK = "reader_files_taken"  # of the visitor's session


def taken(space: Workspace) -> OpenRelease | None:
    """The release that was uploaded last, after a reload too; None without one, or with the reason on the screen."""
    got = uploads.several(t("reader.upload"), ENDINGS, key="reader_files")
    note(t("reader.upload_note"))
    mark = tuple(sorted(f.file_id for f in got))
    if got and st.session_state.get(MARK) != mark:
        space.reading = None
        try:
            with st.spinner(t("reader.opening")):
                files = sorted_files([(f.name, f.getvalue()) for f in got])
                space.reading = open_release(files, uploaded_table)
        except DPSynError as error:
            st.session_state[f"{MARK}_problem"] = sentence(error)
        else:
            st.session_state.pop(f"{MARK}_problem", None)
        st.session_state[MARK] = mark  # at the end: where a press ends this run of the page, the next one reads
    problem = st.session_state.get(f"{MARK}_problem")
    if got and problem:
        st.error(literal(problem))
    return space.reading


def promise(found: OpenRelease) -> None:
    """What the manifest promises, whether the files are those of it, and what it does not promise."""
    manifest = found.manifest
    if not manifest.private:
        not_private("; ".join(manifest.not_private_because))
    facts(
        [
            (number(found.codes.shape[1]), t("reader.records"), manifest.dataset),
            (
                amount(manifest.epsilon) if manifest.private else "–", t("budget.epsilon"),
                t("reader.delta", delta=amount(manifest.delta)),
            ),
            (str(len(found.schema.output_names)), t("reader.columns"), t("reader.by", method=manifest.method)),
        ]
    )  # fmt: skip
    note(t("reader.proved") if manifest.private else t("reader.proved_not_private"))
    if found.released is None:
        note(t("reader.no_tables"), "warning")
