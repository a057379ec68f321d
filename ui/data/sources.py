"""The Data page's left side: where the table comes from, how it was read, and the ledger's name."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpsyn_core.errors import DPSynError
from dpsyn_core.tables import AS_FOUND, EXCEL, LABELLED_ENDINGS, TEXT, ReadForm
from ui.data import loading
from ui.data.databases import DATABASES
from ui.data.form import ENCODINGS, MOST, asked
from ui.data.reading import SheetError, Tell
from ui.linked import source
from ui.shared import uploads
from ui.shared.choices import one_of
from ui.shared.names import point_out_names
from ui.shared.state import Dataset, Workspace
from ui.shared.text import field, literal, local, number, sentence, t
from ui.shared.theme import note, private_tag

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from dpsyn_core.tables import Batches

WAYS = ("sample", "upload", "path", "database", "linked")
Load = Callable[[ReadForm, Tell], None]  # reads a file in a form, and tells the page how long it takes
LINES = (".csv", ".tsv", ".txt")
TITLED = (*LINES, ".xlsx")  # endings of files whose first lines may be a title
TAKEN = "upload_taken"  # name and size of the upload that was last read
PROBLEM = "upload_problem"  # the sentence on what was wrong with it
SHEETS = "upload_sheets"  # the sheets of a workbook of which one could not be used


def choose(space: Workspace) -> None:
    """Sample, upload, path or database."""
    uploaded = space.dataset is not None and space.dataset.raw is not None
    loaded = "linked" if space.linked is not None else "upload" if uploaded else "sample"  # as a reload finds it
    called = {w: t(f"data.way_{w}") for w in WAYS}.__getitem__
    way = one_of(t("data.way"), WAYS, key="data_way", called=called, first=loaded, persist_state="session")
    if way not in ("upload", "path"):
        st.session_state.pop(PROBLEM, None)
    ways = {"sample": _sample, "upload": _upload, "path": _path, "database": _database, "linked": source.choose}
    ways[way](space)
    if way != "linked":
        st.session_state.pop(source.PROBLEM, None)
        source.leave(space)


def _sample(space: Workspace) -> None:
    note(t("data.sample_note"))
    other = space.linked is not None or space.dataset is None or not space.dataset.sample
    if other and st.button(t("data.sample_load"), key="load_sample"):
        loading.sample(space)
        st.rerun()


def _upload(space: Workspace) -> None:
    most = number(st.get_option("server.maxUploadSize"))
    got = uploads.one(t("data.upload", most=most), (), key="upload", tip=t("data.upload_help"))
    if got is None and isinstance(st.session_state.get(TAKEN), tuple):  # it was taken away again
        st.session_state.pop(TAKEN)
        st.session_state.pop(PROBLEM, None)
    if got is not None:
        mark = (got.name, got.size, got.file_id)
        if st.session_state.get(TAKEN) != mark:
            _take_file(_upload_of(space, got), mark)
        elif PROBLEM in st.session_state:
            st.error(literal(st.session_state[PROBLEM]))
        if PROBLEM in st.session_state:  # what is loaded is another table, which this page does not ask about now
            _otherwise(str(got.file_id), got.name, _upload_of(space, got))
            return
    if space.linked is None and space.dataset is not None and space.dataset.raw is not None:
        _correct(space, space.dataset)


def _upload_of(space: Workspace, got: UploadedFile) -> Load:
    return lambda form, tell: loading.upload(space, got.name, got.getvalue(), form, tell=tell)


def _path(space: Workspace) -> None:
    with st.form("path_form", border=False):
        asked = st.text_input(key="path", placeholder="/data/census.parquet", **field("data.path")).strip()
        pressed = st.form_submit_button(t("data.path_load"))

    def load(form: ReadForm, tell: Tell) -> None:
        loading.by_path(space, asked, form, tell=tell)

    if pressed:
        _take_file(load, asked)
    failed = PROBLEM in st.session_state and st.session_state.get(TAKEN) == asked
    if failed and not pressed:
        st.error(literal(st.session_state[PROBLEM]))
    if failed:
        _otherwise(f"{zlib.crc32(asked.encode()):08x}", asked, load)
    elif space.linked is None and space.dataset is not None and space.dataset.path is not None:
        _correct(space, space.dataset)


def _take_file(load: Load, mark: object, form: ReadForm = AS_FOUND) -> None:
    """Reads a file; what is wrong with it is kept, with the sheets that a workbook has.

    mark: of the file, taken down once it is read: where a press ends this run of the page, the next one reads.
    """
    st.session_state.pop(PROBLEM, None)

    def whole(tell: Tell) -> None:
        load(form, tell)
        st.session_state[TAKEN] = mark

    problem = _tried(whole)
    st.session_state[TAKEN] = mark
    if not problem:
        st.rerun()
    st.session_state[PROBLEM] = problem


def _otherwise(mark: str, name: str, load: Load) -> None:
    """Other ways to read a file that could not be used: a sheet, encoding, line of headers, line ends in cells."""
    given: dict[str, Any] = {}
    if sheets := st.session_state.get(SHEETS, ()):
        other = t("data.sheet_other")
        given["sheet"] = st.selectbox(t("data.sheet"), sheets, None, key=f"sheet_of_{mark}", placeholder=other)
    if name.lower().endswith(tuple(LABELLED_ENDINGS)):  # whose header may name another one than its texts have
        key, other = f"encoding_of_{mark}", t("data.by_itself")
        given["encoding"] = st.selectbox(t("data.encoding"), ENCODINGS, None, key=key, placeholder=other)
    plain = name.lower().removesuffix(".gz")
    if plain.endswith(TITLED):
        places = st.columns(2, vertical_alignment="bottom")
        for rule, place in zip(("header_row", "header_lines"), places, strict=True):
            lines = field(f"data.{rule}") | {"min_value": 1, "max_value": MOST}
            given[rule] = int(place.number_input(key=f"{rule}_of_{mark}", **lines))
    if plain.endswith(LINES):
        given["multiline"] = st.checkbox(key=f"multiline_of_{mark}", **field("data.multiline"))
    tried, form = f"tried_{mark}", ReadForm(**given)
    if form not in (AS_FOUND, st.session_state.get(tried)):
        st.session_state[tried] = form
        _take_file(load, st.session_state.get(TAKEN), form)
        st.rerun()


def _correct(space: Workspace, data: Dataset) -> None:
    """How the file was read, correctable; of a table that is too large to hold it is declared for its runs too."""
    read = data.read
    if read is None or read.kind not in (TEXT, EXCEL):
        return
    if len(read.sheets) > 1:
        _sheet(space, data, read)
    _hint(space, data, read)
    _western(space, data, read)
    with st.expander(t("data.correct"), key=f"correct_{data.serial}"):
        said = asked(read.kind, read.form, key=data.serial)
        if st.button(t("data.reread"), key="reread", width="stretch"):
            _again(space, data, said | ({"header_row": 1, "header_lines": 1} if said["header"] else {}))


def _hint(space: Workspace, data: Dataset, read: Batches) -> None:
    """Says, to the owner, that the first lines look like a title or a record, and offers to read the file so."""
    if space.choices.safe:
        return
    if read.headless:
        private_tag()
        note(t("data.no_headers"), "warning")
        line = (read.form.delimiter or ",").join(t("data.numbered", number=i + 1) for i in range(len(read.columns)))
        if st.button(t("data.number_columns"), key="number_columns"):
            _again(space, data, {"sheet": read.form.sheet, "header": line})
    elif read.header_hint is not None:
        private_tag()
        row, taken, broken = read.header_hint
        ends = {"row": number(row), "last": number(row + taken - 1)}
        note(t("data.over_lines" if taken > 1 else "data.title_above", **ends), "warning")
        words = t("data.take_header_lines" if taken > 1 else "data.take_header_row", **ends)
        if st.button(words, key="take_header_row"):
            form = {"sheet": read.form.sheet, "header_row": row, "header_lines": taken}
            _again(space, data, form | ({"multiline": True} if broken else {}))


def _western(space: Workspace, data: Dataset, read: Batches) -> None:
    """Offers the usual encoding of Western Europe where cells are not UTF-8, which only the cells show: private."""
    undecoded = any(getattr(notice, "key", "") == "undecoded" for notice in data.odd)
    if space.choices.safe or not undecoded or read.form.encoding not in ("utf-8", None):
        return
    private_tag()
    if st.button(t("data.read_western"), key="read_western"):
        _again(space, data, read.form.model_dump() | {"encoding": "cp1252"})


def _sheet(space: Workspace, data: Dataset, read: Batches) -> None:
    """Which sheet of the workbook is the table; another one is read as soon as it is chosen."""
    at = read.sheets.index(read.form.sheet or "")
    chosen = st.selectbox(t("data.sheet"), read.sheets, at, key=f"sheet_{data.serial}")
    if chosen != read.form.sheet:
        _again(space, data, {"sheet": chosen})


def _again(space: Workspace, data: Dataset, said: dict[str, Any]) -> None:
    if not _tried(lambda tell: loading.again(space, data, ReadForm.of(**said), tell=tell)):
        st.rerun()


def _database(space: Workspace) -> None:
    with st.form("database_form", border=False):
        kind = st.selectbox(t("data.database"), DATABASES, key="database_kind")
        target = st.text_input(key="database_target", **field("data.target"))
        query = st.text_input(key="database_query", placeholder="people", **field("data.query"))
        columns = st.text_input(key="database_columns", **field("data.columns_read"))
        where = st.text_input(key="database_where", **field("data.condition"))
        vouched = st.checkbox(key="database_vouched", **field("data.vouched"))
        pressed = st.form_submit_button(t("data.database_load"))

    def load(tell: Tell) -> None:
        loading.database(space, kind, target, query, columns=columns, where=where, vouched=vouched, tell=tell)

    if pressed and not _tried(load):
        st.rerun()
    if space.dataset is not None and space.dataset.query_vouched:
        note(t("data.vouched_note"))


def _tried(load: Callable[[Tell], None]) -> str:
    """Loads a table while the page says so; the sentence of what is wrong with it, shown already, or nothing.

    Each word to the page is also where Streamlit ends a run whose visitor has left: the child then ends with it.
    """
    slot = st.empty()
    st.session_state.pop(SHEETS, None)
    try:
        with st.spinner(t("data.reading")):
            load(lambda seconds: slot.caption(t("data.reading_since", seconds=local(seconds, ".0f"))))
    except DPSynError as error:
        if isinstance(error, SheetError):
            st.session_state[SHEETS] = error.sheets
        st.error(literal(sentence(error)))
        return sentence(error)
    finally:
        slot.empty()
    return ""


def refused() -> str:
    """The name of the file that was handed over last and could not be used; empty where there is none."""
    if PROBLEM not in st.session_state:
        return source.refused()
    taken = st.session_state.get(TAKEN, "")
    return str(taken[0] if isinstance(taken, tuple) else taken)


def waiting(space: Workspace) -> bool:
    """Whether somebody wants to give a file and the sample is still loaded: the browser refuses a file too large."""
    way = st.session_state.get("data_way")
    return way in ("upload", "path") and space.dataset is not None and space.dataset.sample


def returned(space: Workspace) -> None:
    """Says that a table was here before and stands as it was left; a press drafts its schema anew."""
    if space.linked is not None or space.dataset is None or not space.dataset.returned:
        return
    note(t("data.returned"))
    if st.button(t("data.afresh"), key="afresh"):
        loading.afresh(space)
        st.rerun()


def ledger_name(space: Workspace) -> None:
    """The name under which the ledger adds up what is spent on what is loaded."""
    if space.sample:
        return
    place, key, helped = st.container(), f"ledger_{space.serial}", t("data.ledger_help")
    name = place.text_input(t("data.ledger_label"), space.ledger, key=key, max_chars=200, help=helped).strip()
    if name:
        space.book(name)
        point_out_names(space, key="data")
    else:
        note(t("data.ledger_blank"), "alarm")
