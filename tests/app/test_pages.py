"""Every page through AppTest: it opens, says what it should, hides what it must, and shows a fault in one sentence."""

import re

import pytest

from tests.app_driver import at_page, uploaded, words

PAGES = ("data", "schema", "privacy", "questions", "synthesize", "report", "export")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_the_sample_without_a_fault(app, page):
    at_page(app, page)
    assert not app.exception
    assert not app.error
    assert app.title


def test_the_first_page_has_the_sample_loaded_and_one_press_to_make(app):
    app.run()
    assert "Simulated census" in words(app)
    assert not app.button(key="quick").disabled


def test_report_and_export_say_what_to_do_before_the_first_run(app):
    for page in ("report", "export"):
        at_page(app, page)
        assert "Synthesize a table" in words(app)
        assert app.info


def test_safe_mode_hides_the_records(app):
    app.run()
    assert "practice data" in words(app)
    app.toggle(key="safe").set_value(True).run()
    assert not app.dataframe
    assert "reads private data" not in words(app) and "practice data" not in words(app)


def test_a_link_to_a_page_goes_through_the_entry_file_on_a_fresh_server(app, monkeypatch):
    """Streamlit takes the folder `pages` for its older kind of app until `st.navigation` has run once."""
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.testing.v1 import app_test

    app.run()
    monkeypatch.setattr(app_test, "PagesManager", PagesManager)
    app.switch_page("pages/privacy.py").run()
    assert app.title[0].value == "How much privacy, and what does it cost?"
    assert app.toggle(key="safe"), "the side panel is there"


def test_a_visitor_without_a_login_is_stopped_at_the_door(app, monkeypatch):
    from ui.shared import access

    monkeypatch.setattr(access, "configured", lambda: True)
    monkeypatch.setattr(access, "flaw", lambda: None)
    app.run()
    assert [b.label for b in app.button] == ["Log in"]
    assert not app.dataframe
    assert "Simulated census" not in words(app)


@pytest.mark.parametrize("page", [*PAGES, "learn"])
def test_the_side_panel_stands_on_every_page_in_safe_mode_too(app, page):
    app.run()
    app.toggle(key="safe").set_value(True).run()
    at_page(app, page)
    assert not app.exception
    assert app.toggle(key="safe").value
    assert "Who is protected" in words(app)


def test_a_fault_shows_one_general_sentence_and_its_message_is_logged_nowhere(app, monkeypatch, caplog):
    import logging

    from ui.privacy import ledger
    from ui.shared.faults import remove_messages_from_log

    def fail(space):
        message = "the private value 4711"
        raise ValueError(message)

    monkeypatch.setattr(ledger, "spent", fail)
    app.run()
    assert not app.exception
    assert any("mistake in the program" in e.value for e in app.error)
    remove_messages_from_log()
    try:
        fail(None)
    except ValueError:
        logging.getLogger("streamlit.x").exception("uncaught %s", "4711")
    assert "4711" not in caplog.text
    assert "ValueError at test_pages.py" in caplog.text


@pytest.mark.slow
def test_safe_mode_hides_a_schema_that_was_read_from_the_data(app):
    uploaded(app, name="ages.csv", raw=b"age\n" + b"".join(b"%d\n" % (i % 77) for i in range(500)))
    at_page(app, "schema")
    assert app.dataframe and "do not share it" in words(app)
    app.toggle(key="safe").set_value(True).run()
    at_page(app, "schema")
    shown = re.sub(r"visitor=[0-9a-f]+", "", words(app))  # a random token holds 76 one time in five
    assert not app.dataframe and "hidden in safe mode" in shown and "76" not in shown
    app.toggle(key="safe").set_value(False).run()
    at_page(app, "schema")
    app.button(key="confirm_all").click().run()
    app.toggle(key="safe").set_value(True).run()
    at_page(app, "schema")
    assert app.dataframe and "can be shared" in words(app)


def test_a_table_that_nobody_comes_back_to_is_forgotten(monkeypatch):
    from ui.shared import state

    kept = state.Workspaces()
    kept.find("a" * 64)
    kept.forget()
    assert list(kept._kept) == ["a" * 64]
    monkeypatch.setattr(state, "IDLE", -1)
    kept.forget()
    assert kept._kept == {} and kept._timer is None
