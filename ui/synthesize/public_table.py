"""The public table of a run: uploaded on the Synthesize page, checked against the schema, kept for further runs."""

import hashlib
import re
from pathlib import Path

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.runs import check_not_withheld, coded
from dpsyn_core.schema import Schema
from dpsyn_core.systems import registry
from ui.data.loading import uploaded_table
from ui.shared import uploads
from ui.shared.results import kept
from ui.shared.state import PublicUpload, Workspace
from ui.shared.text import literal, sentence, t
from ui.shared.theme import note
from ui.synthesize.methods import chosen

ENDINGS = ("csv", "tsv", "csv.gz", "tsv.gz", "parquet", "xlsx")


def expander(space: Workspace) -> None:
    """Takes a file or forgets it, and says what it is used for; nothing for systems that cannot use one."""
    described = _described(space)
    if described is None or not registry.config_class(chosen(space)).takes_public_table:
        return
    with st.expander(t("public_table.title"), key="public_table_expander", expanded=space.public is not None):
        st.markdown(t("public_table.what"))
        if space.linked is not None:
            note(t("linked.public_root", root=space.linked.individuals))
        note(t("public_table.warning"), "alarm")
        if space.public is None:
            got = uploads.one(t("public_table.file"), ENDINGS, key="public_table")
            if got is not None:
                _take(space, got.name, got.getvalue())
            return
        why = problem(space)
        if why:
            st.error(literal(why))
        else:
            note(t("public_table.taken", name=space.public.name))
        if st.button(t("public_table.forget"), key="public_table_forget"):
            space.public = None
            st.rerun()


def _take(space: Workspace, name: str, content: bytes) -> None:
    """Keeps an upload, unless it is the private table itself."""
    if _is_private(content, space):
        st.error(t("public_table.same"))
        return
    digest = hashlib.sha256(content).hexdigest()
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)[-80:]
    space.public = PublicUpload(name=name, file=f"public-{digest[:8]}-{safe}", content=content)
    st.rerun()


def _is_private(content: bytes, space: Workspace) -> bool:
    """Whether these are the bytes of the private upload."""
    return space.dataset is not None and space.dataset.raw == content


def of_run(space: Workspace) -> PublicUpload | None:
    """What the next run learns from; None where there is nothing, or the system cannot use it."""
    fits = registry.config_class(chosen(space)).takes_public_table
    return space.public if fits else None


def problem(space: Workspace) -> str:
    """Why the public table does not fit the schema, or an empty text; found once for each pair of the two."""
    upload, schema = of_run(space), _described(space)
    if upload is None or schema is None:
        return ""
    if _is_private(upload.content, space):  # the private table may have been loaded after the public one
        return t("public_table.same")
    key = ("public table", upload.file, hashlib.sha256(schema.dumps().encode()).hexdigest())
    return kept(space, key, lambda: _misfit(upload, space, schema))


def _described(space: Workspace) -> Schema | None:
    """The schema of the table that a public one is like: of linked tables the root. None where that has no columns."""
    if space.linked is None:
        return space.schema
    declared = space.linked.declared()
    if declared is None or declared.root.columns is None:
        return None
    return declared.table_alone(declared.root.name)


def _misfit(upload: PublicUpload, space: Workspace, schema: Schema) -> str:
    """As `problem`: a child process reads it, and it is compared with the schema and with the private tables."""
    private = (part.dataset.table for part in space.parts.values() if part.dataset is not None)
    try:
        check_not_withheld(Path(upload.file))
        table = uploaded_table(upload.file, upload.content)
        if any(one is not None and table.equals(one) for one in private):
            return t("public_table.same")
        coded(table, schema, name=upload.name, sha256=hashlib.sha256(upload.content).hexdigest())
    except DPSynError as error:
        return sentence(error)
    return ""
