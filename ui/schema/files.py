"""Schema files: upload of our own JSON, of NIST-style files and of codebooks, and download of the current schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import DPSynError, SchemaError
from dpsyn_core.outside import file_word
from dpsyn_core.schema import (
    FORMATS,
    KEPT,
    Codebook,
    LinkedSchema,
    Schema,
    binned,
    candidates,
    codebook_of,
    export,
    import_dictionary,
    import_document,
    read_schema,
)
from dpsyn_core.schema import UNDECLARED as LEFT_OUT
from dpsyn_core.tables import HEAD, LABELLED_ENDINGS, kind_of_labelled
from ui.questions import kept as questions
from ui.schema import editor, tried
from ui.schema.rows import typed_source, with_columns, with_unit
from ui.shared import uploads
from ui.shared.downloads import download
from ui.shared.faults import refusals
from ui.shared.state import Workspace
from ui.shared.text import literal, t
from ui.shared.theme import note

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

TAKEN = "schema_file_taken"
DICTIONARIES = (".csv", ".tsv", ".xlsx")
CODEBOOK = ".cbk"
LABELLED = tuple(LABELLED_ENDINGS)
FILES = ["json", "xml", CODEBOOK[1:], *(d[1:] for d in (*DICTIONARIES, *LABELLED))]
BINNED = "schema_file_binned"  # what the last import put into bins
UNDECLARED = "schema_file_undeclared"  # what it left out


def load_and_save(space: Workspace, part: Workspace) -> None:
    """Both directions: the schema of all that is loaded, and files that describe one table, the one that is shown."""
    got = uploads.several(t("schemafile.upload"), FILES, key="schema_upload")
    marks = tuple((f.name, f.size) for f in got)
    if got and st.session_state.get(TAKEN) != marks:
        with refusals():
            _take(space, part, got)
            st.session_state[TAKEN] = marks
            st.rerun()
    if said := st.session_state.get(BINNED):
        note(t("schemafile.binned", columns="; ".join(said)))
    if left := st.session_state.get(UNDECLARED):
        note(t("schemafile.undeclared", columns=literal(", ".join(left))), "warning")
    schema = _whole(space)
    if schema is None and space.linked is not None:
        note(t("linked.file_none"))
    if schema is not None:
        stem = "schema" if space.linked is None else f"{file_word(space.linked.name, 'tables')}.schema"
        name = f"{stem}{'' if schema.private else '.NOT-PRIVATE'}.json"
        download(t("schemafile.download"), name, schema.dumps, key="schema_download")
    if part.schema is not None:
        _codebook(part.schema if part.one_of_linked or schema is None else schema)
    if schema is None or schema.private:
        note(t("schemafile.note"))
    else:
        note(t("schemafile.note_read"), "warning")


def _take(space: Workspace, part: Workspace, got: Sequence[UploadedFile]) -> None:
    """Takes files over: a schema of linked tables for all of them, anything else for one table. Raises DPSynError."""
    if space.linked is not None:
        raw = got[0].getvalue()
        if len(got) == 1 and _of_several(raw):
            space.linked.adopt(tried.taken_linked(space.linked, LinkedSchema.loads(raw)))
            return
    found = chosen(part, got)
    check(part, found)
    st.session_state[BINNED] = tuple(binned(found)) if any(KEPT in a.notes for a in found.attributes) else ()
    st.session_state[UNDECLARED] = tuple(a.name for a in found.attributes if LEFT_OUT in a.notes)
    taken = tried.taken(part, found)
    if space.linked is not None:
        space.linked.describe(part, taken)
    else:
        editor.take(space, taken)
        if space.dataset is not None and not space.dataset.sample:
            space.dataset.ledger = found.ledger_name
    editor.sync(part)


def _of_several(raw: bytes) -> bool:
    """Whether a file is meant as a schema of linked tables; of one that is no JSON the reader says what is wrong."""
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("version") == 2


def _whole(space: Workspace) -> Schema | None:
    """The schema of all that is loaded, as it is handed on; None where there is none, or tables do not fit together."""
    if space.linked is not None:
        return space.linked.declared()
    return None if space.schema is None else questions.in_schema(space, space.kept_schema or space.schema)


def _codebook(schema: Schema) -> None:
    """The schema in a format that others read, and what of it that format does not carry."""
    titles, words = {name: one.title for name, one in FORMATS.items()}, t("questions.choose")
    more: dict[str, Any] = {"format_func": titles.__getitem__, "key": "schema_format", "placeholder": words}
    form = st.selectbox(t("schemafile.format"), FORMATS, index=None, **more)
    if form is None:
        return
    raw, missing = export(schema, form)
    name = f"schema{'' if schema.private else '.NOT-PRIVATE'}{FORMATS[form].ending}"
    label = t("schemafile.codebook", format=titles[form])
    st.download_button(label, raw, name, on_click="ignore", key="codebook_download")
    if missing:
        note(t("schemafile.lost", what=literal("; ".join(missing))))


def chosen(space: Workspace, files: Sequence[UploadedFile]) -> Schema:
    """What the files say: data dictionaries and codebooks change the columns that they name, a schema all.

    Raises SchemaError.
    """
    name = space.dataset.ledger if space.dataset else "table"
    for file in files:
        raw = file.getvalue()
        # by the bytes too: a damaged one may end the process that reads it
        if Path(file.name).suffix.lower() in LABELLED or kind_of_labelled("", raw[:HEAD]) is not None:
            msg = f"'{file.name}' holds records; load it on the Data page, where what it declares becomes the schema"
            raise SchemaError(msg)
        found = read_schema(raw, name=name, what=file.name, onto=space.schema)
        if found is not None:
            return _left_open(found)
    tables = [f for f in files if Path(f.name).suffix.lower() in DICTIONARIES]
    if not tables:
        books = [f for f in files if Path(f.name).suffix.lower() == CODEBOOK]
        words = codebook_of(books[0].getvalue(), books[0].name) if books else None
        return read([f.getvalue() for f in files if f not in books], name=name, words=words)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"dictionary{Path(tables[0].name).suffix.lower()}"
        path.write_bytes(tables[0].getvalue())
        try:
            found = import_dictionary(path, name=name)
        except DPSynError as error:
            msg = str(error).replace(str(path), tables[0].name)
            raise SchemaError(msg) from error
    if space.schema is None:
        return _left_open(found)
    named, listed = {a.name: a.document() for a in found.attributes}, {a.name for a in space.schema.attributes}
    strange = [n for n in named if n not in listed]
    if strange:
        msg = f"the dictionary describes '{strange[0]}', which the table does not have; check its spelling"
        raise SchemaError(msg)
    key = found.unit.identifier
    unit = {} if key is None else {"identifier": key, "source": typed_source(space.schema, key)}
    return with_columns(space.schema, named, **unit)


def read(files: list[bytes], *, name: str, words: Codebook | None = None) -> Schema:
    """A schema from one file of ours, or from NIST-style files and perhaps their codebook. Raises SchemaError."""
    documents = []
    for raw in files:
        try:
            documents.append(json.loads(raw))
        except (ValueError, RecursionError) as error:
            msg = "the file is not JSON; choose a schema file of DPSyn Studio, or a NIST parameters.json"
            raise SchemaError(msg) from error
    if not documents:
        msg = (
            "a codebook alone is no schema; choose the parameters.json or the specification that it belongs to as well"
        )
        raise SchemaError(msg)
    telling = [d for d in documents if isinstance(d, dict) and ("attributes" in d or "schema" in d)]
    document = telling[0] if telling else documents[0]
    types = next((d for d in documents if d is not document), None)
    made = import_document(document, types, words, name=name, what="the file")
    return made if "attributes" in document else _left_open(made)  # who writes a schema of ours declares its unit


def _left_open(schema: Schema) -> Schema:
    """A codebook does not say who is one individual: where a header names some, somebody has to."""
    known = schema.unit.source is not None or not schema.unit.usual
    return schema if known or not candidates(schema) else with_unit(schema, source="data")


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
