"""Linked tables on the pages: loading, links, kinds of columns, the panel, and what is refused in words."""

import html
import io
import json
import re

import pytest

from dpsyn_core.schema import guessed_links
from dpsyn_core.schema.drafts.confirmation import confirm
from tests.app.linked_tables import PATIENTS, VISITS, field, linked, with_files, with_panel, with_sample
from tests.app_driver import BAD, at_page, keys, space_of, uploaded, words
from ui.synthesize.starting import problem

PAGES = ("data", "schema", "privacy", "questions", "synthesize", "report", "export")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_page_opens_on_linked_tables_without_a_fault(app, page, language):
    with_sample(app)
    app.segmented_control(key="language_field").set_value(language).run()
    at_page(app, page)
    assert not app.exception and not app.error
    assert app.title and "households" in words(app)


def test_the_sample_of_households_is_ready_to_run_in_one_press(app):
    with_sample(app)
    assert not app.button(key="quick").disabled
    assert "One individual is one record of households with all that hangs on it: persons." in words(app)
    assert "at most 8" in words(app) and "Head, Spouse" in words(app)


def test_uploads_become_linked_tables_whose_key_is_named_by_the_headers(app):
    with_files(app, visits=VISITS, patients=PATIENTS)
    assert not app.error and not app.exception
    got = linked(app)
    assert (got.root, got.root_key) == ("patients", "patient_id")
    assert got.links["visits"].key == "patient_id" and got.source == "public"
    assert "patients" in words(app) and "class='dp-stamp'" in words(app), "columns were read from the data"
    assert not got.decided and "Nobody has confirmed it yet" in words(app), "who is one individual is asked"
    app.button(key="take_root").click().run()
    assert got.decided and not app.exception
    at_page(app, "schema")
    assert not app.exception and not app.error
    pressed = keys(app.button)
    links = next(i for i, key in enumerate(pressed) if key.startswith("linked_look"))
    assert pressed.index("guide_agree") < links, "what the links are is settled, and stands below what is asked"
    assert words(app).count("class='dp-stamp'") == 1, "one alarm, which the question has"
    app.button(key="guide_agree").click().run()
    app.button(key="schema_next_table").click().run()
    assert app.segmented_control(key=f"schema_table_{got.serial}").value == "visits"
    app.button(key="guide_agree").click().run()
    assert "schema_next_table" not in keys(app.button) and not app.button(key="schema_next").disabled
    assert not got.schema().reasons and "class='dp-stamp'" not in words(app)
    assert problem(space_of(app)) == ""


def test_keys_and_root_are_guessed_from_headers_alone():
    found = guessed_links({"b": ["x", "id"], "a": ["id", "y"]})
    assert (found.root, found.keys, found.parents["b"]) == ("a", {"a": "id"}, ("a", "id")), "the key stands first in it"
    found = guessed_links({"stays": ["stay", "ward"], "people": ["name"]})
    assert (found.root, found.keys, found.parents["people"][1]) == ("stays", {}, "")
    found = guessed_links({"orders": ["customer_id"], "customers": ["customer_id"], "calls": ["customer_id"]})
    assert found.root == "customers" and sorted(found.parents) == ["calls", "orders"]


def test_without_a_common_column_one_sentence_asks_for_the_key_and_nothing_runs(app):
    with_files(app, patients=b"id,sex\n1,f\n2,m\n" * 20, visits=b"pat,ward\n1,A\n2,B\n" * 20)
    assert app.button(key="quick").disabled
    assert "No column of 'visits' is named that holds the key of 'patients'; choose one." in html.unescape(words(app))
    at_page(app, "schema")
    field(app, "selectbox", "key of patients").set_value("id").run()
    field(app, "selectbox", "column with the key").set_value("pat").run()
    assert not app.error and linked(app).links["visits"].key == "pat"
    assert linked(app).declared() is not None


def test_a_cycle_of_links_is_one_sentence_and_nothing_runs(app):
    with_files(app, patients=PATIENTS, visits=VISITS, drugs=VISITS)
    got = linked(app)
    got.links["visits"].parent, got.links["drugs"].parent = "drugs", "visits"
    at_page(app, "schema")
    assert not app.exception and len(app.error) == 1
    at_page(app, "data")
    assert app.button(key="quick").disabled and not app.exception


def test_a_limit_of_one_and_an_order_are_taken_over(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    at_page(app, "schema")
    field(app, "number_input", "children, at most").set_value(1).run()
    field(app, "selectbox", "order").set_value("nr").run()
    schema = linked(app).schema()
    assert (schema.links[0].max_children, schema.links[0].order) == (1, "nr")
    assert "1 stays and the others are dropped" in words(app) and "in the order of nr" in words(app)
    at_page(app, "privacy")
    assert "at most 1 of visits" in words(app) and not app.exception


def test_a_limit_chosen_after_its_effect_was_seen_is_not_private_until_confirmed(app):
    with_sample(app)
    at_page(app, "schema")
    next(b for b in app.button if b.key.startswith("linked_look_button")).click().run()
    assert app.dataframe and linked(app).source == "public"
    field(app, "number_input", "children, at most").set_value(5).run()
    assert linked(app).schema().reasons and "class='dp-stamp'" in words(app)
    app.button(key="linked_known").click().run()
    assert not linked(app).schema().reasons and "class='dp-stamp'" not in words(app)


def test_what_a_run_leaves_out_is_counted_for_the_owner_alone(app):
    patients = PATIENTS + b"3,m\n,f\n"
    visits = VISITS + b"999,1,A\n,1,B\n" + b"5,1,C\n" * 30
    with_files(app, patients=patients, visits=visits)
    linked(app).links["visits"].max_children = 5
    at_page(app, "schema")
    app.button(key="linked_left_button").click().run()
    said = words(app)
    assert "patients: 1 record repeats the key of another" in said
    assert "patients: 1 record has no key" in said and "visits: 1 record has no parent" in said
    assert "visits: 28 records are more than their parent may have" in said
    app.toggle(key="safe").set_value(True).run()
    assert "repeats the key" not in words(app)


@pytest.mark.parametrize("name", ["empty.csv", "header.csv", "photo.png"])
def test_a_file_that_is_no_table_is_refused_by_its_name_and_what_was_loaded_stays(app, name):
    raw, word = BAD[name]
    with_sample(app)
    app.file_uploader(key="linked_upload").set_value([("a.csv", PATIENTS, "text/csv"), (name, raw, "text/csv")]).run()
    assert len(app.error) == 1 and word in app.error[0].value and name in app.error[0].value
    assert linked(app).sample and "could not be used" in words(app)


def test_two_files_of_one_name_are_refused(app):
    app.run()
    app.segmented_control(key="data_way").set_value("linked").run()
    given = [("a.csv", PATIENTS, "text/csv"), ("a.tsv", VISITS.replace(b",", b"\t"), "text/csv")]
    app.file_uploader(key="linked_upload").set_value(given).run()
    assert "two files are named" in app.error[0].value.lower() and linked(app) is None


def test_a_panel_is_declared_from_one_file_without_splitting_it(app):
    with_panel(app)
    assert "choose one" in words(app) and app.button(key="quick").disabled
    at_page(app, "schema")
    field(app, "selectbox", "one person is").set_value("person").run()
    field(app, "selectbox", "wave").set_value("year").run()
    field(app, "number_input", "rows of a person").set_value(3).run()
    field(app, "multiselect", "columns that never change").set_value(["sex"]).run()
    assert not app.error and not app.exception
    schema = linked(app).schema()
    assert schema.one_file and schema.root_key == "person" and schema.links[0].order == "year"
    assert [a.name for a in schema.root.coded] == ["sex"] and schema.links[0].max_children == 3
    assert "person" not in [a.name for t in schema.tables for a in t.coded]
    at_page(app, "privacy")
    assert "all rows with the same person" in words(app) and not app.exception


def test_a_schema_file_is_taken_over_and_one_of_other_tables_is_refused(app):
    with_sample(app)
    at_page(app, "schema")
    changed = linked(app).schema().dumps().replace('"max_children": 8', '"max_children": 6')
    app.file_uploader(key="schema_upload").set_value([("s.json", changed.encode(), "application/json")]).run()
    assert not app.error and linked(app).links["persons"].max_children == 6
    other = changed.replace('"persons"', '"people"')
    app.file_uploader(key="schema_upload").set_value([("t.json", other.encode(), "application/json")]).run()
    assert "people" in app.error[0].value and linked(app).links["persons"].max_children == 6
    app.file_uploader(key="schema_upload").set_value([("u.json", b"{]", "application/json")]).run()
    assert "not JSON" in app.error[0].value


def test_one_table_takes_the_place_of_linked_ones_and_waits_while_they_are_loaded(app):
    uploaded(app)
    app.segmented_control(key="data_way").set_value("linked").run()
    app.button(key="linked_sample").click().run()
    assert linked(app) is not None
    app.segmented_control(key="data_way").set_value("upload").run()
    app.button(key="linked_back").click().run()
    assert linked(app) is None and "people.csv" in words(app)
    app.segmented_control(key="data_way").set_value("linked").run()
    app.button(key="linked_sample").click().run()
    app.segmented_control(key="data_way").set_value("sample").run()
    app.button(key="load_sample").click().run()
    assert linked(app) is None and "Simulated census" in words(app)


def test_safe_mode_shows_no_record_of_linked_tables_and_no_schema_read_from_them(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    assert app.get("vega_lite_chart")
    app.toggle(key="safe").set_value(True).run()
    assert not app.get("vega_lite_chart") and not app.dataframe and "reads private data" not in words(app)
    at_page(app, "schema")
    assert not app.dataframe and "hidden in safe mode" in words(app)


def test_the_number_of_rows_of_a_panel_is_needed_where_waves_are_many(app):
    raw = b"person,day,x\n" + b"".join(b"%d,%d,%s\n" % (i // 20, i % 20, (b"a", b"b")[i % 2]) for i in range(400))
    with_panel(app, raw)
    got = linked(app)
    got.panel.person, got.panel.wave = "person", "day"
    at_page(app, "schema")
    assert "say how many rows of a person are counted" in app.error[0].value


def test_exchanged_individuals_are_chosen_and_a_schema_file_that_says_so_is_kept(app):
    with_sample(app)
    at_page(app, "privacy")
    field(app, "radio", "what one person").set_value("replace").run()
    assert linked(app).schema().unit.neighbours == "replace" and not app.exception
    again = linked(app).schema()
    linked(app).adopt(again)
    assert linked(app).schema() == again


def test_rules_across_a_link_come_with_a_schema_file_and_stay_in_it(app):
    with_sample(app)
    document = linked(app).schema().document()
    document["links"][0]["rules"] = [{"kind": "count", "where": "role = Head", "least": 1, "most": 1}]
    at_page(app, "schema")
    raw = json.dumps(document).encode()
    app.file_uploader(key="schema_upload").set_value([("s.json", raw, "application/json")]).run()
    assert not app.error and len(linked(app).schema().links[0].rules) == 1
    assert "exactly 1 with role = Head" in words(app)
    field(app, "number_input", "children, at most").set_value(7).run()
    assert len(linked(app).schema().links[0].rules) == 1


def test_a_table_without_records_is_refused_in_a_sentence_that_names_file_and_remedy(app):
    with_files(app, patients=PATIENTS, visits=b"patient_id,nr,ward\n")
    (refusal,) = (error.value for error in app.error)
    assert "visits.csv" in refusal and "give one with records" in refusal and not app.exception


DATED = {
    "customers": b"customer_id,since\n" + b"".join(b"%d,2020-01-%02d\n" % (i, 1 + i % 28) for i in range(60)),
    "orders": b"customer_id,ordered,shipped\n"
    + b"".join(b"%d,2021-03-%02d,2021-04-%02d\n" % (i % 60, 1 + i % 28, 1 + i % 28) for i in range(120)),
}


def test_proposed_rules_are_added_inside_a_table_and_across_its_link(app):
    with_files(app, **DATED)
    at_page(app, "schema")
    got = linked(app)
    app.segmented_control(key=f"schema_table_{got.serial}").set_value("orders").run()
    next(c for c in app.checkbox if c.label.startswith("ordered")).check().run()
    assert [str(r) for r in got.parts["orders"].schema.rules] == ["ordered <= shipped"]
    app.button(key="link_rule_confirm_0").click().run()
    app.button(key="link_rule_confirm_0").click().run()
    assert not app.exception and not app.error
    rules = [str(r) for r in got.schema().links[0].rules]
    assert rules == ["customers.since <= ordered", "customers.since <= shipped"]
    app.button(key="link_rule_remove_orders_0").click().run()
    assert [str(r) for r in got.schema().links[0].rules] == rules[1:]


def test_dates_across_a_link_are_said_to_lie_close_in_the_form_where_that_is_measured(app):
    with_files(app, **DATED)
    at_page(app, "schema")
    got, key = linked(app), "link_rule_orders"
    for side, column in (("lower", "customers.since"), ("upper", "ordered")):
        app.selectbox(key=f"{key}_{side}").set_value(column).run()
    tick = app.checkbox(key=f"{key}_close_customers.since_ordered")
    assert not tick.value  # the headers do not say so
    tick.check().run()
    app.button(key=f"{key}_add").click().run()
    assert not app.exception and not app.error
    assert [(str(r), r.close) for r in got.schema().links[0].rules] == [("customers.since <= ordered", True)]
    for side, column in (("lower", "ordered"), ("upper", "shipped")):  # of one record: a rule of its table
        app.selectbox(key=f"{key}_{side}").set_value(column).run()
    assert not [c for c in app.checkbox if "_close_ordered" in str(c.key)]


def test_a_rule_across_a_link_is_written_in_the_form_or_refused_in_a_sentence(app):
    with_sample(app)
    at_page(app, "schema")
    got = linked(app)
    before = len(got.schema().links[0].rules)
    app.segmented_control(key="link_rule_persons_kind").set_value("count").run()
    app.text_input(key="link_rule_persons_counted").set_value("role = Spouse").run()
    app.number_input(key="link_rule_persons_least").set_value(0).run()
    app.number_input(key="link_rule_persons_most").set_value(1).run()
    app.button(key="link_rule_persons_add").click().run()
    assert not app.error and len(got.schema().links[0].rules) == before + 1
    assert "0 to 1 with role = Spouse" in words(app)
    app.segmented_control(key="link_rule_persons_kind").set_value("impossible").run()
    app.text_input(key="link_rule_persons_where").set_value("rank = 3").run()
    app.button(key="link_rule_persons_add").click().run()
    assert "'rank' is no column" in app.error[0].value and len(got.schema().links[0].rules) == before + 1


def test_the_sheets_of_one_workbook_are_offered_and_become_linked_tables(app):
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "notes"
    book.active.append(["made in May"])
    for name, raw in (("patients", PATIENTS), ("visits", VISITS)):
        page = book.create_sheet(name)
        for line in raw.decode().splitlines():
            page.append([int(c) if c.isdigit() else c for c in line.split(",")])
    out = io.BytesIO()
    book.save(out)
    app.run()
    app.segmented_control(key="data_way").set_value("linked").run()
    app.file_uploader(key="linked_upload").set_value([("clinic.xlsx", out.getvalue(), "application/zip")]).run()
    assert "'notes'" in app.error[0].value and app.multiselect[0].value == ["notes", "patients", "visits"]
    app.multiselect[0].unselect("notes").run()
    assert not app.error and not app.exception
    assert (linked(app).root, linked(app).links["visits"].key) == ("patients", "patient_id")
    app.multiselect[0].unselect("patients").run()
    assert app.button(key="linked_as_panel").label and linked(app).root == "patients", "what was loaded stays"


def test_who_is_one_individual_is_asked_of_linked_tables_and_another_root_is_taken(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    got = linked(app)
    for part in got.parts.values():
        part.schema = confirm(part.schema, everything=True)
    assert got.schema().reasons, "nobody has said who is protected"
    field(app, "selectbox", "one individual is").set_value("visits").run()
    assert got.decided and (got.root, got.links["patients"].parent) == ("visits", "visits") and not app.exception
    field(app, "selectbox", "one individual is").set_value("patients").run()
    assert got.root == "patients" and not got.schema().reasons


def test_a_codebook_describes_the_linked_table_that_is_shown_and_its_keys_stay_keys(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    at_page(app, "schema")
    got = linked(app)
    app.segmented_control(key=f"schema_table_{got.serial}").set_value("visits").run()
    document = got.parts["visits"].schema.document()
    document["attributes"] = [
        a | ({"values": ["A", "B", "C", "D"], "source": "public"} if a["name"] == "ward" else {})
        for a in document["attributes"]
    ]
    raw = json.dumps({"version": 1, "name": "visits", "attributes": document["attributes"]}).encode()
    app.file_uploader(key="schema_upload").set_value([("v.json", raw, "application/json")]).run()
    assert not [e.value for e in app.error] and not app.exception
    columns = got.parts["visits"].schema
    assert len(columns["ward"].keys) == 4 and columns["patient_id"].kind == "identifier"
    assert got.parts["patients"].schema["sex"].kind == "categorical"


def test_a_name_on_the_ledger_like_that_of_linked_tables_is_pointed_out(app, monkeypatch):
    from ui.shared import names

    with_files(app, patients=PATIENTS, visits=VISITS)
    monkeypatch.setattr(names.Ledger, "similar", lambda _, name: [f"{name}-2"])
    app.run()
    assert "patients-2" in words(app)


def primaries(app):
    """The labels of all primary presses on the page."""
    return [b.label for b in app.button if b.proto.type == "primary" and not b.disabled]


@pytest.mark.parametrize("decided", [False, True])
def test_linked_tables_have_one_primary_press_on_each_page_before_and_after_they_are_described(app, decided):
    with_files(app, patients=PATIENTS, visits=VISITS)
    if decided:
        app.button(key="take_root").click().run()
    assert len(primaries(app)) == 1 and ("one individual" in primaries(app)[0]) is not decided
    for page in ("schema", "privacy", "synthesize"):
        at_page(app, page)
        assert len(primaries(app)) == 1, (page, primaries(app))


def test_the_number_of_columns_of_a_linked_table_is_the_same_wherever_it_stands(app):
    with_files(app, patients=PATIENTS, visits=VISITS)
    for part in linked(app).parts.values():
        part.schema = confirm(part.schema, everything=True)
    at_page(app, "data")
    assert set(re.findall(r"(\d+) columns?", words(app))) == {"1", "2"}, "patients: sex; visits: nr and ward"
    assert "1 column. 40 records" in words(app)
    at_page(app, "schema")
    assert "1 of 1 columns ready" in words(app)


def test_a_column_that_numbers_records_of_a_linked_table_is_sent_to_the_links_and_not_to_a_field_that_is_not_there(app):
    rooms = b"room,size\n" + b"".join(b"r%d,%d\n" % (i, i % 7) for i in range(60))
    visits = b"room,voucher,ward\n" + b"".join(
        b"r%d,v%d,%s\n" % (i % 60, i, b"AB"[i % 2 : i % 2 + 1]) for i in range(240)
    )
    with_files(app, rooms=rooms, visits=visits)
    at_page(app, "schema")
    app.segmented_control(key=f"schema_table_{linked(app).serial}").set_value("visits").run()
    said = html.unescape(words(app))
    assert "voucher" in said and "every record has a value of its own" in said
    assert "Who is one person on the Data page" not in said and "the table's own key" in said
    assert "1. Who is one person?" not in said, "of linked tables that is asked on the Data page"
    assert "Ranges are bought of one table" not in said
