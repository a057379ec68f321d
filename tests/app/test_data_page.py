"""The Data page through AppTest: uploads, paths, who is one individual, the ledger's name and limit."""

import pytest

from tests.app_driver import BAD, at_page, keys, uploaded, words

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
    assert app.dataframe[0].value["kind"].iloc[0] == "identifier"


def test_a_path_that_is_no_file_gets_a_sentence(app):
    app.run()
    app.segmented_control(key="data_way").set_value("path").run()
    app.text_input(key="path").set_value("/no/such/file.csv")
    app.button[0].click()
    next(b for b in app.button if b.label == "Load the file").click().run()
    assert "cannot be read" in app.error[0].value


def test_a_blank_ledger_name_is_explained(app):
    uploaded(app)
    key = next(k for k in keys(app.text_input) if k.startswith("ledger_"))
    app.text_input(key=key).set_value(" ").run()
    assert "name is blank" in words(app)


def test_a_limit_is_kept_and_shown_and_a_wrong_one_explained(app):
    at_page(app, "privacy")
    app.text_input(key="limit_text").set_value("4")
    next(b for b in app.button if b.label == "Set the limit").click().run()
    assert "4 left of 4" in words(app)
    app.text_input(key="limit_text").set_value("four")
    next(b for b in app.button if b.label == "Set the limit").click().run()
    assert "'four'" in app.error[0].value
