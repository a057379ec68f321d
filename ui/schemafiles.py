"""Schema files: upload of our own JSON or of NIST-style parameters, and download of the current schema."""

from __future__ import annotations

import json

import streamlit as st

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.schema.document import Schema
from ui import editor
from ui.budget import sentence
from ui.state import Workspace
from ui.text import t
from ui.theme import note, section

TAKEN = "schema_file_taken"


def load_and_save(space: Workspace) -> None:
    """Both directions, side by side."""
    section(t("schemafile.title"))
    got = st.file_uploader(t("schemafile.upload"), ["json"], accept_multiple_files=True, key="schema_upload")
    marks = tuple((f.name, f.size) for f in got)
    if got and st.session_state.get(TAKEN) != marks:
        try:
            found = read([f.getvalue() for f in got], name=space.dataset.name if space.dataset else "table")
            check(space, found)
        except DPSynError as error:
            st.error(sentence(error))
        else:
            st.session_state[TAKEN] = marks
            space.schema = found
            editor.sync(space)
            st.rerun()
    if space.schema is not None:
        schema = space.schema
        st.download_button(
            t("schemafile.download"),
            data=schema.dumps,
            file_name="schema.json",
            mime="application/json",
            on_click="ignore",
            key="schema_download",
        )
    note(t("schemafile.note"))


def read(files: list[bytes], *, name: str) -> Schema:
    """A schema from one file of ours, or from parameters.json and perhaps column_datatypes.json. Raises SchemaError."""
    documents = []
    for raw in files:
        try:
            documents.append(json.loads(raw))
        except (ValueError, RecursionError) as error:
            msg = "the file is not JSON; choose a schema file of DPSyn Studio, or a NIST parameters.json"
            raise SchemaError(msg) from error
    own = [d for d in documents if isinstance(d, dict) and "attributes" in d]
    if own:
        return Schema.of(own[0])
    from dpsyn_core.schema.importing import import_parameters

    parameters = next((d for d in documents if isinstance(d, dict) and "schema" in d), None)
    if parameters is None:
        msg = "the file is neither a schema of DPSyn Studio (it has no 'attributes') nor a NIST parameters.json"
        raise SchemaError(msg)
    datatypes = next((d for d in documents if isinstance(d, dict) and "schema" not in d), None)
    return import_parameters(parameters, datatypes, name=name)


def check(space: Workspace, schema: Schema) -> None:
    """Refuses a schema whose columns the loaded table lacks. Raises SchemaError that names them."""
    if space.dataset is None or space.dataset.table is None:
        return
    have = set(space.dataset.table.column_names)
    absent = [a.name for a in schema.attributes if a.coded and a.name not in have]
    if absent:
        msg = f"the table has no column '{absent[0]}'" + (f" (nor {len(absent) - 1} others)" if absent[1:] else "")
        msg += "; load the table that this schema describes, or remove the attribute"
        raise SchemaError(msg)
