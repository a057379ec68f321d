"""Every page through AppTest: it opens, says what it should, and refuses what it must beside the field."""

import json
import re

import numpy as np
import pytest
from streamlit.proto.PlotlyChart_pb2 import PlotlyChart

from dpsyn_core.schema.document import Schema
from tests.app_driver import at_page, words
from ui.schema.rows import identified
from ui.shared.state import workspaces

PAGES = ("data", "schema", "privacy", "synthesize", "report", "export")


def plots(app):
    out = []
    for element in app.get("plotly_chart"):
        proto = element.proto
        spec = proto.spec if isinstance(proto, PlotlyChart) else proto.figure.spec
        out.append(json.loads(spec))
    return out


def typed(app, **fields):
    for key, value in fields.items():
        app.text_input(key=key).set_value(value)
    return app.run()


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


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0", "above 0"),
        ("-1", "above 0"),
        ("", "blank"),
        ("nan", "above 0"),
        ("inf", "above 0"),
        ("1000", "nothing is protected"),
        ("much", "not a number"),
    ],
)
def test_a_wrong_epsilon_is_explained_beside_its_field_and_blocks_the_run(app, text, sentence):
    typed(at_page(app, "privacy"), epsilon=text)
    assert not app.exception
    assert sentence in words(app)
    assert app.button(key="privacy_next").disabled
    at_page(app, "synthesize")
    assert app.button(key="synthesize").disabled


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0.9", "could be published unprotected"),
        ("-1e-9", "between 0 and 1"),
        ("1", "between 0 and 1"),
        ("", "blank"),
        ("x", "not a number"),
    ],
)
def test_a_wrong_delta_is_explained_beside_its_field_and_blocks_the_run(app, text, sentence):
    typed(at_page(app, "privacy"), delta=text)
    assert sentence in words(app)
    assert app.button(key="privacy_next").disabled


def test_delta_zero_is_explained_and_leaves_one_curve(app):
    typed(at_page(app, "privacy"), delta="0")
    assert "Laplace noise only" in words(app)
    names = [trace.get("name") for trace in plots(app)[0]["data"]]
    assert [n for n in names if n and n.startswith(("Laplace", "Gaussian"))] == ["Laplace, basic"]


def test_delta_above_one_in_n_is_said_to_the_owner_and_not_in_safe_mode(app):
    typed(at_page(app, "privacy"), delta="0.001")
    assert "larger than 1 divided by the number of records" in words(app)
    app.toggle(key="safe").set_value(True).run()
    assert "1 divided by the number of records" not in words(app)


def test_the_plot_has_the_numbers_of_the_engine(app):
    """Laplace over Gaussian under zCDP is sqrt 2; the crossings at epsilon 1, delta 1e-5 are at 13, 25 and 26."""
    typed(at_page(app, "privacy"), epsilon="1", delta="1e-5")
    figure = plots(app)[0]
    curves = {trace["name"]: trace for trace in figure["data"] if trace.get("name")}
    laplace, gaussian = (_values(curves[n]["y"]) for n in ("Laplace, zCDP", "Gaussian, zCDP"))
    assert np.allclose(laplace / gaussian, np.sqrt(2), rtol=1e-9)
    k = _values(curves["Laplace, basic"]["x"])
    assert np.allclose(_values(curves["Laplace, basic"]["y"]), np.sqrt(2) * k, rtol=1e-12)
    crossed = dict(zip(curves["crossings"]["text"], np.ceil(_values(curves["crossings"]["x"])), strict=True))
    assert crossed["Gaussian, zCDP"] == 13
    assert crossed["Laplace, zCDP"] == 25
    assert crossed["Laplace, advanced"] == 26


def _values(numbers):
    """Plotly sends long arrays as base64."""
    if isinstance(numbers, dict):
        import base64

        return np.frombuffer(base64.b64decode(numbers["bdata"]), dtype=np.dtype(numbers["dtype"])).astype(float)
    return np.asarray(numbers, dtype=float)


def test_the_table_beside_the_plot_shows_the_oracle_at_the_chosen_k(app):
    """Row epsilon 1, delta 1e-6, k 100 of the oracle table: exact Gaussian and basic Laplace."""
    typed(at_page(app, "privacy"), epsilon="1", delta="1e-6")
    app.number_input(key="k").set_value(100).run()
    table = app.dataframe[0].value.set_index("curve")["std, in records"]
    assert table["Laplace, basic"] == pytest.approx(141.4213562373095, rel=1e-9)
    rho = (np.sqrt(np.log(1e6) + 1) - np.sqrt(np.log(1e6))) ** 2
    assert table["Gaussian, zCDP"] == pytest.approx(np.sqrt(100 / (2 * rho)), rel=1e-9)
    assert table["Gaussian, exact"] < table["Gaussian, zCDP tight"] < table["Gaussian, zCDP"]


def test_slider_and_field_agree(app):
    at_page(app, "privacy")
    app.select_slider(key="epsilon_slider").set_value(0.5).run()
    assert app.text_input(key="epsilon").value == "0.5"
    typed(app, epsilon="3")
    assert app.select_slider(key="epsilon_slider").value == 3.0


def test_the_odds_sentence_changes_with_epsilon(app):
    typed(at_page(app, "privacy"), epsilon="1")
    assert "at most 73 guess right" in words(app)
    typed(app, epsilon="0.1")
    assert "at most 52 guess right" in words(app)
    typed(app, epsilon="10")
    assert "all may guess right" in words(app)


def test_a_budget_stands_after_a_page_switch(app):
    typed(at_page(app, "privacy"), epsilon="2.5", delta="1e-7")
    at_page(app, "schema")
    at_page(app, "synthesize")
    assert "Spend epsilon 2.5 and synthesize" in words(app)
    at_page(app, "privacy")
    assert app.text_input(key="epsilon").value == "2.5"
    assert app.text_input(key="delta").value == "1e-7"


def test_replace_neighbours_raise_the_noise_by_sqrt_two(app):
    at_page(app, "privacy")
    before = app.dataframe[0].value["std, in records"].iloc[-1]
    app.radio(key="neighbours").set_value("replace").run()
    after = app.dataframe[0].value["std, in records"].iloc[-1]
    assert after / before == pytest.approx(np.sqrt(2), rel=1e-9)
    assert "replace one" in words(app)


def test_the_split_of_a_planned_run_adds_up_to_the_budget(app):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value("dpsyn").run()
    at_page(app, "privacy")
    text = words(app)
    assert re.search(r"<b>pairs</b> 100\s%, 91 releases, noise ±52\.4 records a cell", text)
    assert "single columns" not in text


@pytest.mark.parametrize(
    ("method", "sentences"),
    [
        (
            "rls",
            ("number of records", "single columns", r"combinations chosen</b> up to \d+\s%, about \d+ to \d+ releases"),
        ),
        ("mst", ("single columns", "choosing combinations", r"pairs</b> 33\s%, 13 releases")),
        (
            "aim",
            (
                r"choosing the next combination</b> 9.4\s%, 5 to 211 releases",
                r"combinations chosen</b> 85\s%, 5 to 211",
            ),
        ),
    ],
)
def test_a_system_that_chooses_as_it_goes_says_what_is_known_beforehand(app, method, sentences):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value(method).run()
    folded = words(app)
    at_page(app, "privacy")
    for sentence in sentences:
        assert re.search(sentence, words(app)), sentence
        assert re.search(sentence, folded), "the Synthesize page shows the same plan"
    assert ("reads private data" in folded) == (method == "rls"), "only a forecast counts the owner's records"


@pytest.mark.parametrize(
    ("method", "sentence"),
    [("mwem", "choosing the next"), ("privbayes", "combinations chosen"), ("field-groups", "groups of")],
)
def test_systems_for_small_or_grouped_tables_have_a_plan(app, method, sentence):
    at_page(app, "data")
    space = workspaces().find(app.session_state["owner"])
    document = {"version": 1, "name": "t", "n_records": 900, "unit": {"neighbours": "replace"}, "attributes": [
        {"name": n, "kind": "categorical", "values": [0, 1, 2], "group": "g"} for n in "abc"]}  # fmt: skip
    space.schema = Schema.of(document)
    space.choices.method, space.choices.delta = method, 0.0
    at_page(app, "privacy")
    assert sentence in words(app)
    assert "nothing to plan" not in words(app)


def test_the_plot_of_a_private_table_marks_the_run_from_public_facts_alone(app):
    """The plot wears no tag and is kept for everybody: the owner's number of records must not move its points."""
    import pyarrow as pa

    at_page(app, "privacy")
    before = next(c for c in plots(app)[0]["data"] if c.get("name") == "this run")
    space = workspaces().find(app.session_state["owner"])
    space.dataset.table = pa.concat_tables([space.dataset.table] * 5)
    app.run()
    assert next(c for c in plots(app)[0]["data"] if c.get("name") == "this run") == before


def test_a_plan_in_safe_mode_rests_on_a_guess_that_can_be_typed(app):
    at_page(app, "data")
    app.toggle(key="safe").set_value(True).run()
    at_page(app, "privacy")
    assert "reads private data" not in words(app)
    before = words(app)
    app.number_input(key="about_n").set_value(1_000_000).run()
    assert "about" in words(app)
    assert words(app) != before


BAD = {
    "empty.csv": (b"", "empty"),
    "header.csv": (b"a,b\n", "record"),
    "twice.csv": (b"a,a\n1,2\n", "'a'"),
    "blank.csv": (b"a,,c\n1,2,3\n", "blank"),
    "ragged.csv": (b"a,b\n1,2\n1,2,3\n", "line 3"),
    "nul.csv": (b"a,b\n1,\x002\n", "NUL"),
    "torn.parquet": (b"PAR1 this is no table PAR1", "arquet"),
    "page.csv": (b"%PDF-1.4 x", "PDF"),
    "book.xlsx": (b"PK\x03\x04 torn", "damaged"),
}


@pytest.mark.parametrize("name", BAD)
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


GOOD = b"name;age;town\nx1;10;Y\nx2;20;Z\nx3;30;Y\n"


def uploaded(app, name="people.csv", raw=GOOD):
    app.run()
    app.segmented_control(key="data_way").set_value("upload").run()
    return app.file_uploader(key="upload").set_value((name, raw, "text/csv")).run()


def test_an_upload_is_read_with_what_was_detected_shown_and_stamped_not_private(app):
    uploaded(app)
    assert not app.error
    assert "people.csv" in words(app)
    assert "NOT PRIVATE" in words(app)
    assert app.selectbox(key=next(k for k in _keys(app.selectbox) if k.startswith("delimiter"))).value == ";"


def test_confirming_a_drafted_schema_takes_the_stamp_away(app):
    uploaded(app)
    at_page(app, "schema")
    assert "NOT PRIVATE" in words(app)
    app.button(key="confirm_all").click().run()
    assert "NOT PRIVATE" not in words(app)


def test_an_identifier_column_becomes_the_unit_and_leaves_the_output(app):
    raw = b"person,age\n" + b"".join(b"p%d,%d\n" % (i % 7, i % 5) for i in range(40))
    uploaded(app, raw=raw)
    who = next(k for k in _keys(app.selectbox) if k.startswith("who_"))
    app.selectbox(key=who).set_value("person").run()
    app.number_input(key="theta").set_value(3).run()
    assert "each person" in words(app)
    assert "at most 3 records" in words(app)
    at_page(app, "schema")
    assert not app.error
    assert app.dataframe[0].value["kind"].iloc[0] == "identifier"


def _keys(elements):
    return [e.key for e in elements if e.key]


def edited(app, edits):
    """Types into the schema's table: {row: {column: value}}."""
    key = app.dataframe[0].key
    app.session_state[key] = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
    return app.run()


def test_two_edits_in_a_row_stand_after_a_page_switch(app):
    at_page(app, "schema")
    names = list(app.dataframe[0].value["name"])
    age = names.index("AGE")
    edited(app, {age: {"bins": "10"}})
    edited(app, {age: {"bins": "10", "missing": True}})
    at_page(app, "privacy")
    at_page(app, "schema")
    row = app.dataframe[0].value.set_index("name").loc["AGE"]
    assert row["bins"] == "10"
    assert row["missing"]


def test_an_edit_that_does_not_fit_is_explained_kept_and_blocks_the_run(app):
    at_page(app, "schema")
    age = list(app.dataframe[0].value["name"]).index("AGE")
    edited(app, {age: {"content": "young to old"}})
    assert "AGE" in app.error[0].value
    assert "0 to 99" in app.error[0].value
    at_page(app, "synthesize")
    assert app.button(key="synthesize").disabled
    at_page(app, "schema")
    assert app.dataframe[0].value.set_index("name").loc["AGE", "content"] == "young to old"


def test_a_bulk_edit_changes_all_columns_shown(app):
    at_page(app, "schema")
    app.text_input(key="schema_search").set_value("WRK").run()
    app.text_input(key="schema_search").set_value("WORK").run()
    shown = list(app.dataframe[0].value["name"])
    assert shown == ["WKSWORK", "HRSWORK"]
    app.toggle(key="bulk_missing").set_value(True).run()
    app.button(key="bulk_apply").click().run()
    assert list(app.dataframe[0].value["missing"]) == [True, True]


def test_a_schema_for_another_table_is_refused_naming_the_column(app):
    at_page(app, "schema")
    document = {"version": 1, "name": "x", "attributes": [{"name": "shoe", "kind": "categorical", "values": ["a"]}]}
    app.file_uploader(key="schema_upload").set_value(
        [("s.json", json.dumps(document).encode(), "application/json")]
    ).run()
    assert "'shoe'" in app.error[0].value


def test_a_file_that_is_no_schema_is_refused(app):
    at_page(app, "schema")
    app.file_uploader(key="schema_upload").set_value([("s.json", b"{nope", "application/json")]).run()
    assert "not JSON" in app.error[0].value


def test_200_columns_stay_usable_and_say_what_they_cost(app):
    header = ",".join(f"c{i}" for i in range(200))
    rows = [",".join(str((i * j) % 3) for i in range(200)) for j in range(1, 6)]
    uploaded(app, name="wide.csv", raw="\n".join([header, *rows]).encode())
    at_page(app, "schema")
    assert not app.exception
    assert not app.error
    assert "19,900" in words(app)
    assert len(app.dataframe[0].value) == 200
    app.text_input(key="schema_search").set_value("c19").run()
    assert len(app.dataframe[0].value) == 11


def test_report_and_export_say_what_to_do_before_the_first_run(app):
    for page in ("report", "export"):
        at_page(app, page)
        assert "Synthesize a table" in words(app)
        assert app.info


def test_a_path_that_is_no_file_gets_a_sentence(app):
    app.run()
    app.segmented_control(key="data_way").set_value("path").run()
    app.text_input(key="path").set_value("/no/such/file.csv")
    app.button[0].click()
    next(b for b in app.button if b.label == "Load the file").click().run()
    assert "cannot be read" in app.error[0].value


def test_a_blank_ledger_name_is_explained(app):
    uploaded(app)
    key = next(k for k in _keys(app.text_input) if k.startswith("ledger_"))
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


def test_safe_mode_hides_the_records(app):
    app.run()
    assert app.dataframe
    app.toggle(key="safe").set_value(True).run()
    assert not app.dataframe
    assert "reads private data" not in words(app)


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
    app.run()
    assert [b.label for b in app.button] == ["Log in"]
    assert not app.dataframe
    assert "Simulated census" not in words(app)


def space_of(app):
    return workspaces().find(app.session_state["owner"])


@pytest.mark.parametrize("known", [True, False])
def test_buying_is_charged_and_takes_the_stamp_away_once_the_kinds_are_confirmed(app, known):
    from dpsyn_core.privacy.ledger import Ledger

    rows = b"".join(b"%d,%d\n" % (i % 90, i % 7) for i in range(800))
    uploaded(app, name="ages.csv", raw=b"age,week\n" + rows)
    at_page(app, "schema")
    assert "NOT PRIVATE" in words(app)
    app.text_input(key="buying_price").set_value("5").run()
    assert "age (whole number)" in words(app)
    if known:
        next(c for c in app.checkbox if c.key.startswith("buying_known")).check().run()
    app.button(key="buy").click().run()
    assert not app.error
    assert Ledger().summary("ages").runs == 1
    if not known:
        assert "Columns that were bought, but whose kind was read from the data (2): age, week" in words(app)
        assert set(app.dataframe[0].value["source"]) == {"bought-unconfirmed"}
        assert not space_of(app).schema.private
        app.button(key="confirm_all").click().run()
    assert "NOT PRIVATE" not in words(app)
    assert set(app.dataframe[0].value["source"]) == {"bought"}
    assert space_of(app).schema.private


def test_knowledge_is_bought_again_when_others_are_protected(app):
    rows = b"".join(b"p%d,%d\n" % (i % 700, i % 90) for i in range(800))
    uploaded(app, name="ages.csv", raw=b"pid,age\n" + rows)
    space = space_of(app)
    at_page(app, "schema")
    app.button(key="confirm_all").click().run()

    def buy():
        at_page(app, "schema")
        next(m for m in app.multiselect if m.key and m.key.startswith("buying_")).set_value(["age"]).run()
        app.text_input(key="buying_price").set_value("9").run()
        app.button(key="buy").click().run()
        assert not app.error

    buy()
    assert "NOT PRIVATE" not in words(app)
    space.schema = identified(space.schema, "pid", 1)
    at_page(app, "schema")
    assert "buy them again for the unit chosen now" in words(app)
    buy()
    assert "NOT PRIVATE" not in words(app)
    assert {b.unit.identifier for b in space.schema.bought} == {"pid"}


def test_a_confirmation_of_kinds_does_not_stand_for_columns_that_are_added_later(app):
    rows = b"".join(b"%d,%d\n" % (i % 90, i % 7) for i in range(800))
    uploaded(app, name="ages.csv", raw=b"age,week\n" + rows)
    at_page(app, "schema")
    columns = next(m for m in app.multiselect if m.key and m.key.startswith("buying_"))
    columns.set_value(["age"]).run()
    next(c for c in app.checkbox if c.key.startswith("buying_known")).check().run()
    next(m for m in app.multiselect if m.key == columns.key).set_value(["age", "week"]).run()
    assert not next(c for c in app.checkbox if c.key.startswith("buying_known")).value


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
