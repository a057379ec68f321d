"""The Data page through AppTest: uploads, paths, who is one individual, the ledger's name and limit."""

import html
import io
import json
from dataclasses import replace

import pytest
import streamlit as st
from openpyxl import Workbook
from streamlit import config

from dpsyn_core.privacy.budget import Budget
from dpsyn_core.privacy.ledger.ledger import Ledger
from dpsyn_core.privacy.unit import Unit
from tests.app_driver import BAD, at_page, columns_of, keys, space_of, uploaded, words
from ui.shared.state import jobs

FEW = ("empty.csv", "ragged.csv", "torn.parquet")  # of the bad files; each is read by a process of its own


@pytest.mark.parametrize("name", [n if n in FEW else pytest.param(n, marks=pytest.mark.slow) for n in BAD])
def test_a_bad_upload_gets_one_sentence_and_leaves_the_table_before_it(app, name):
    raw, sentence = BAD[name]
    app.run()
    app.segmented_control(key="data_way").set_value("upload").run()
    app.file_uploader(key="upload").set_value((name, raw, "application/octet-stream")).run()
    assert not app.exception
    assert len(app.error) == 1
    assert sentence.lower() in app.error[0].value.lower()
    assert "Simulated census" in words(app)
    app.run()
    assert sentence.lower() in app.error[0].value.lower(), "the sentence stays while the file stays"


@pytest.mark.slow
def test_what_could_not_be_read_is_shown_to_the_owner_and_hidden_in_safe_mode(app):
    uploaded(app, raw=b"a,b\n1,2\n1,2,3\n\xff,\x002\n" + b"1,2\n" * 9)
    assert not app.error
    assert "line 3 has 3 cells" in words(app) and "not UTF-8" in words(app)
    app.toggle(key="safe").set_value(True).run()
    assert "line 3 has 3 cells" not in words(app) and "not UTF-8" not in words(app)


def test_an_upload_is_read_with_what_was_detected_shown_and_stamped_not_private(app):
    uploaded(app)
    assert not app.error
    assert "people.csv" in words(app)
    assert "NOT PRIVATE" in words(app)
    assert app.selectbox(key=next(k for k in keys(app.selectbox) if k.startswith("delimiter"))).value == ";"


def test_an_identifier_column_becomes_the_unit_and_leaves_the_output(app):
    raw = b"person,age\n" + b"".join(b"p%d,%d\n" % (i % 7, i % 5) for i in range(40))
    uploaded(app, raw=raw)
    who = next(k for k in keys(app.selectbox) if k.startswith("who_"))
    app.selectbox(key=who).set_value("person").run()
    app.number_input(key="theta").set_value(3).run()
    assert "each person" in words(app)
    assert "at most 3 records" in words(app)
    at_page(app, "schema")
    assert not app.error
    assert columns_of(app).value["kind"].iloc[0] == "identifier"


def test_a_path_that_is_no_file_gets_a_sentence(app):
    app.run()
    app.segmented_control(key="data_way").set_value("path").run()
    app.text_input(key="path").set_value("/no/such/file.csv")
    app.button[0].click()
    next(b for b in app.button if b.label == "Load the file").click().run()
    assert "does not exist" in app.error[0].value


def loaded_by_path(app, path):
    app.run()
    app.segmented_control(key="data_way").set_value("path").run()
    app.text_input(key="path").set_value(str(path))
    return next(b for b in app.button if b.label == "Load the file").click().run()


@pytest.mark.slow
def test_a_workbook_given_by_path_offers_its_sheets_also_where_the_first_is_no_table(app, tmp_path):
    for first in (["made by", None, "for"], ["what", "by", "for"]):
        book = Workbook()
        book.active.title = "read me"
        for row in (first, ["hand", "x", "y"]):
            book.active.append(row)
        page = book.create_sheet("people")
        for row in (["age", "town"], *([20 + i % 9, "abc"[i % 3]] for i in range(30))):
            page.append(row)
        path = tmp_path / f"book{len(first[0])}{first[1]}.xlsx"
        book.save(path)
        loaded_by_path(app, path)
        key = next(k for k in keys(app.selectbox) if k.startswith("sheet_"))
        app.selectbox(key=key).set_value("people").run()
        assert not app.error and not app.exception
        assert space_of(app).dataset.table.column_names == ["age", "town"]


@pytest.mark.slow
def test_a_file_that_begins_with_a_title_is_read_from_the_line_of_its_headers(app):
    raw = b"Sales 2024\nall branches\n\nbranch,staff\n" + b"".join(b"b%d,%d\n" % (i % 3, i % 7) for i in range(40))
    uploaded(app, name="sales.csv", raw=raw)
    assert "look like a title" in words(app)
    app.button(key="take_header_row").click().run()
    assert space_of(app).dataset.table.column_names == ["branch", "staff"]
    assert "look like a title" not in words(app) and not app.error
    at_page(app, "schema")
    at_page(app, "data")
    assert space_of(app).dataset.read.form.header_row == 3


@pytest.mark.slow
def test_a_file_without_headers_has_its_columns_numbered_or_named(app):
    raw = b"".join(b"%d,clerk,%d\n" % (20 + i % 9, i % 7) for i in range(40))
    uploaded(app, name="nohead.csv", raw=raw)
    assert "looks like a record" in words(app)
    app.button(key="number_columns").click().run()
    table = space_of(app).dataset.table
    assert table.column_names == ["column 1", "column 2", "column 3"] and table.num_rows == 40
    assert "looks like a record" not in words(app) and "the first line is a record" in words(app)
    app.text_input(key=next(k for k in keys(app.text_input) if k.startswith("header_"))).set_value("age,job,years")
    app.button(key="reread").click().run()
    assert space_of(app).dataset.table.column_names == ["age", "job", "years"] and not app.error


def test_a_file_whose_cells_alone_are_windows_1252_is_read_so_by_one_press(app):
    rows = "".join(f"Zürich;{i % 9};Müller\n" for i in range(60))
    uploaded(app, "orte.csv", f"ort;zahl;name\n{rows}".encode("cp1252"))
    assert "\ufffd" in space_of(app).dataset.table.column("ort")[0].as_py()
    app.button(key="read_western").click().run()
    assert not app.exception and "read_western" not in keys(app.button)
    assert space_of(app).dataset.table.column("ort")[0].as_py() == "Zürich"
    assert space_of(app).schema["name"].values == ("Müller",)


def test_headers_that_stand_twice_get_a_number_and_the_page_says_so(app):
    uploaded(app, name="twice.csv", raw=b"a,b,a\n" + b"1,x,2\n" * 30)
    assert space_of(app).dataset.table.column_names == ["a", "b", "a (2)"]
    assert "2 columns have the header 'a'; those after the first are called 'a (2)'." in html.unescape(words(app))


@pytest.mark.slow
def test_what_the_reader_says_is_said_in_the_visitors_language(app, monkeypatch):
    monkeypatch.setenv("DPSYN_LANGUAGE", "de")
    uploaded(app, name="twice.csv", raw=b"a;b;a\n" + b"1,5;x;2\n" * 30 + b"1;2\n")
    said = words(app)
    assert "Zellen sind durch Semikolons getrennt." in said and "2 Spalten haben die Überschrift „a“" in said
    assert "Zeile 32 hat 2 Zellen" in said and "12,5 ist zwölfeinhalb" in said
    at_page(app, "schema")
    column = next(c for name, c in json.loads(columns_of(app).proto.columns).items() if name == "kind")
    assert {"value": "left out", "label": "ausgelassen"} in column["type_config"]["options"]


@pytest.mark.slow
def test_a_file_whose_first_line_has_blank_headers_can_be_read_from_a_lower_one(app):
    raw = b"Sales,,\nbranch,staff,town\n" + b"".join(b"b%d,%d,t\n" % (i % 3, i % 7) for i in range(40))
    uploaded(app, name="sales.csv", raw=raw)
    assert "blank header" in app.error[0].value
    app.number_input(key=next(k for k in keys(app.number_input) if k.startswith("header_row_of_"))).set_value(2).run()
    assert space_of(app).dataset.table.column_names == ["branch", "staff", "town"] and not app.error


@pytest.mark.slow
def test_a_sheet_below_a_title_is_refused_with_the_line_of_its_headers(app):
    book = Workbook()
    for row in (["Headcount, second quarter"], ["not for other eyes"], [], ["number", "team"]):
        book.active.append(row)
    for i in range(900):
        book.active.append([f"N-{70_000 + 7 * i}", "abc"[i % 3]])
    out = io.BytesIO()
    book.save(out)
    uploaded(app, name="staff.xlsx", raw=out.getvalue())
    assert "may be in line 3, blank ones not counted" in app.error[0].value
    app.number_input(key=next(k for k in keys(app.number_input) if k.startswith("header_row_of_"))).set_value(3).run()
    assert space_of(app).dataset.table.column_names == ["number", "team"] and not app.error


def test_a_blank_ledger_name_is_explained(app):
    uploaded(app)
    key = next(k for k in keys(app.text_input) if k.startswith("ledger_"))
    app.text_input(key=key).set_value(" ").run()
    assert "name is blank" in words(app)


def test_a_limit_is_kept_and_shown_and_a_wrong_one_explained(app):
    at_page(app, "privacy")
    app.segmented_control(key="privacy_part").set_value("limit").run()
    app.text_input(key="limit_text").set_value("4")
    next(b for b in app.button if b.label == "Set the limit").click().run()
    assert "4 left of 4" in words(app)
    app.text_input(key="limit_text").set_value("four")
    next(b for b in app.button if b.label == "Set the limit").click().run()
    assert "'four'" in app.error[0].value


def test_a_single_column_and_a_single_record_are_counted_as_one(app):
    uploaded(app, name="one.csv", raw=b"\n\nheight\n171\n")
    assert "1 column. 1 record." in words(app) and "Say what is public: 1 column" in words(app)
    assert not app.exception and not app.error


def test_the_ledger_says_what_is_left_why_and_whether_the_next_run_fits(app):
    uploaded(app, raw=b"age\n" + b"".join(b"%d\n" % (i % 50) for i in range(60)))
    space = space_of(app)
    name = space.dataset.ledger
    Ledger().set_limit(name, Budget(epsilon=1.5, delta=1e-9))
    one = Budget(epsilon=1.0, delta=1e-9)
    Ledger().reserve(name, one.gaussian(), budget=one, unit=Unit(), method="rls")
    app.run()
    said = words(app)
    assert "One more run may cost up to epsilon 1.01 under the limit of 1.5." in said
    assert "more than the difference of 0.5" in said and "with epsilon 1, fits" in said
    space.choices.epsilon = 2.0
    assert "with epsilon 2, does not fit" in words(app.run())


def test_a_name_that_another_visitor_has_on_the_ledger_is_asked_about(app):
    one = Budget(epsilon=1.0, delta=1e-9)
    Ledger().reserve("people", one.gaussian(), budget=one, unit=Unit(), method="rls")
    uploaded(app)
    assert "a run under the name people, and it is not in your list of runs" in words(app)
    app.button(key="data_other_name").click().run()
    assert space_of(app).dataset.ledger == "people-2"
    assert "in your list of runs" not in words(app)


def test_a_press_spends_nothing_on_a_table_that_another_tab_has_loaded(app):
    app.run()
    space = space_of(app)
    first = space.dataset
    space.dataset = replace(first, serial="another")
    app.button(key="quick").click().run()
    assert not app.exception and not jobs().of(space.owner)
    assert "nother tab loaded another table, and nothing was spent" in app.error[0].value
    app.run()
    app.button(key="quick").click().run()
    assert len(jobs().of(space.owner)) == 1


def test_the_field_for_a_table_says_the_limit_of_this_server(app):
    before = st.get_option("server.maxUploadSize")
    config.set_option("server.maxUploadSize", 7)
    try:
        app.run()
        app.segmented_control(key="data_way").set_value("upload").run()
        assert app.file_uploader(key="upload").label.endswith("up to 7 MB")
    finally:
        config.set_option("server.maxUploadSize", before)


def test_a_file_whose_reading_was_broken_off_by_a_press_is_read_by_the_next_run_of_the_page(app, monkeypatch):
    from streamlit.runtime.scriptrunner_utils.exceptions import StopException

    from ui.data import loading

    read, broken = loading.upload, []

    def upload(*args, **options):
        if not broken:
            broken.append(1)
            raise StopException  # as Streamlit ends a run of the page for whatever is pressed meanwhile
        read(*args, **options)

    monkeypatch.setattr(loading, "upload", upload)
    uploaded(app, "pets.csv", b"kind,age\n" + b"cat,3\ndog,5\n" * 40)
    assert broken and "80 records" not in words(app)
    app.run()
    assert "pets.csv" in words(app) and "80 records" in words(app) and not app.exception


def test_a_plain_german_file_is_read_with_one_quiet_note_and_no_warning(app):
    lines = "".join(f"{1 + i % 28:02d}.0{1 + i % 9}.2024;{i % 90},5;{'ab'[i % 2]}\n" for i in range(200))
    uploaded(app, name="strom.csv", raw=f"Beginn;Betrag;Tarif\n{lines}".encode())
    said = [e.proto.body for e in app.get("html") if "semicolon" in e.proto.body or "decimal comma" in e.proto.body]
    assert len(said) == 1 and "semicolon" in said[0] and "decimal comma" in said[0]
    assert "dp-warning" not in said[0]
    uploaded(app, name="cut.csv", raw=b"a;b\n1;2\n3\n" + b"4;5\n" * 40)
    assert any("dp-warning" in e.proto.body and "do not fit" in e.proto.body for e in app.get("html"))


@pytest.mark.slow
def test_a_sheet_with_headings_over_groups_of_columns_can_be_read_after_its_refusal(app):
    book = Workbook()
    for row in (["Person", None, "Money", None], ["age", "town", "wage", "rent"]):
        book.active.append(row)
    for i in range(60):
        book.active.append([20 + i % 50, "abc"[i % 3], 1000 + i * 7, 300 + i * 3])
    out = io.BytesIO()
    book.save(out)
    uploaded(app, name="groups.xlsx", raw=out.getvalue())
    assert "in which lines the headers are" in app.error[0].value
    app.number_input(key=next(k for k in keys(app.number_input) if k.startswith("header_lines_of_"))).set_value(2).run()
    assert space_of(app).dataset.table.column_names[:2] == ["Person / age", "Person / town"] and not app.error
