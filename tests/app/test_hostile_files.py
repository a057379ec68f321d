"""Files that a stranger hands over: read, or refused in a sentence of the page's language, and the page works on."""

import pytest

from dpsyn_core.errors import DPSynError
from dpsyn_core.report.translation import translated
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables.labelled import HERE
from dpsyn_core.tables.read import open_table
from tests.app.hostile_files import GOOD, odd, refused
from tests.app_driver import at_page, keys, space_of, words

SOME = ("zip.sav", "cut.xlsx", "cut.xpt")  # through the page, each read by a process of its own


@pytest.mark.parametrize("name", refused())
def test_what_is_no_table_is_refused_in_a_sentence_that_has_a_german_one(name, monkeypatch):
    monkeypatch.setenv(HERE, "1")
    with pytest.raises(DPSynError) as error:
        draft(open_table(refused()[name], name=name).whole(), "x")
    said = str(error.value)
    assert translated(said, "de") != said
    assert len(said) < 300 and "\n" not in said and "Traceback" not in said


@pytest.mark.parametrize("name", odd())
def test_what_only_looks_odd_is_read(name, monkeypatch):
    monkeypatch.setenv(HERE, "1")
    table = open_table(odd()[name], name=name).whole()
    assert table.num_rows >= 9 and draft(table, "x").attributes


def give(app, name, raw):
    return app.file_uploader(key="upload").set_value((name, raw, "application/octet-stream")).run()


@pytest.mark.slow
def test_the_german_page_refuses_in_german_and_takes_a_right_file_afterwards(app, monkeypatch):
    monkeypatch.setenv("DPSYN_LANGUAGE", "de")
    app.run()
    app.segmented_control(key="data_way").set_value("upload").run()
    for name in SOME:
        give(app, name, refused()[name])
        assert not app.exception and len(app.error) == 1
        assert any(word in app.error[0].value for word in ("abgeschnitten", "beschädigt", "ZIP-Archiv")), name
    give(app, "people.csv", GOOD)
    assert not app.error and space_of(app).dataset.table.num_rows == 60


@pytest.mark.slow
def test_a_file_that_names_the_wrong_encoding_is_read_in_the_one_that_is_chosen(app):
    app.run()
    app.segmented_control(key="data_way").set_value("upload").run()
    give(app, "lying.sav", refused()["lying.sav"])
    assert "choose another one" in app.error[0].value and "--encoding" not in app.error[0].value
    app.selectbox(key=next(k for k in keys(app.selectbox) if k.startswith("encoding_of_"))).set_value("latin-1").run()
    assert not app.error and "Kööln" in space_of(app).dataset.table["town"].to_pylist()


@pytest.mark.slow
def test_the_fields_of_the_synthesize_page_refuse_in_words(app):
    at_page(app, "synthesize")
    for field, name in (("public_table", "cut.xlsx"), ("refit_file", "zip.sav"), ("refit_file", "x.dpsyn")):
        raw = refused().get(name, refused()["zip.sav"])
        app.file_uploader(key=field).set_value((name, raw, "application/octet-stream")).run()
        assert not app.exception and len(app.error) == 1 and app.error[0].value, (field, name)
        if field == "public_table":
            app.button(key="public_table_forget").click().run()
    assert "is no release file" in app.error[0].value
    assert not app.button(key="synthesize").disabled and words(app)
