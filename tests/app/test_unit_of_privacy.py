"""The unit of privacy in the app: what a look at the table proposes stays marked until a person confirms it."""

import json

import pytest

from tests.app_driver import at_page, columns_of, edited, keys, space_of, uploaded, words
from ui.schema import files

pytestmark = pytest.mark.slow  # an upload is read in a child process

PANEL = b"nr,year,wage\n" + b"".join(b"%d,%d,%.2f\n" % (i // 8, 1980 + i % 8, 1 + i % 37 / 7) for i in range(320))
ONE_MORE = PANEL + b"".join(b"40,%d,1.00\n" % (1980 + i % 8) for i in range(50))


def stamped(app):
    """Whether the page says NOT PRIVATE, beside the help menu, which explains the words."""
    return "NOT PRIVATE" in words(app).replace("*NOT PRIVATE* means", "")


def offered(app):
    """What the Data page says and offers of who is one person, before anybody looks at what limits keep."""
    said = words(app)
    return [line for line in said.splitlines() if "rows per person" in line or "Usual limits" in line or " nr" in line]


def chosen_by_look(app, raw=PANEL):
    uploaded(app, name="panel.csv", raw=raw)
    return app.button(key="take_identifier").click().run()


def test_what_the_app_proposes_is_the_same_with_one_individual_more(app):
    chosen_by_look(app)
    first = offered(app)
    chosen_by_look(app, ONE_MORE)
    assert offered(app) == first and any("1, 2, 5, 10, 20, 50, 100" in line for line in first)
    assert "keep_most" not in keys(app.button)


def test_an_identifier_that_a_look_proposes_stamps_runs_until_it_is_confirmed(app):
    chosen_by_look(app)
    space = space_of(app)
    assert (space.schema.unit.identifier, space.schema.unit.source) == ("nr", "data")
    assert any("unit of privacy" in r for r in space.schema.reasons)
    app.button(key="unit_known_data").click().run()
    assert space.schema.unit.source == "public"
    assert not any("unit of privacy" in r for r in space.schema.reasons)
    app.number_input(key="theta").set_value(5).run()
    assert (space.schema.unit.max_records, space.schema.unit.source) == (5, "public")


def test_choosing_the_column_that_a_look_proposes_from_the_list_is_the_same_as_the_button(app):
    uploaded(app, name="panel.csv", raw=PANEL)
    who = next(k for k in keys(app.selectbox) if k.startswith("who_"))
    app.selectbox(key=who).set_value("nr").run()
    assert space_of(app).schema.unit.source == "data"
    app.selectbox(key=who).set_value("").run()
    assert space_of(app).schema.unit.usual and not space_of(app).schema.unit_from_data


def test_a_limit_that_is_chosen_after_a_look_at_what_limits_keep_stays_marked(app):
    chosen_by_look(app)
    app.button(key="unit_known_data").click().run()
    assert not any("people kept whole" in d.value for d in app.dataframe)
    app.button(key="limits_look").click().run()
    rows = next(d.value for d in app.dataframe if "people kept whole" in d.value)
    assert list(rows["limit"]) == [1, 2, 5, 10, 20, 50, 100]
    space = space_of(app)
    assert space.schema.unit.source == "public", "it was chosen before the look"
    at_page(app, "privacy")
    app.number_input(key="theta").set_value(10).run()
    assert (space.schema.unit.max_records, space.schema.unit.source) == (10, "data")
    app.button(key="unit_known_privacy").click().run()
    assert space.schema.unit.source == "public"
    app.toggle(key="safe").set_value(True).run()
    at_page(app, "data")
    assert not any("people kept whole" in d.value for d in app.dataframe)


def test_a_limit_that_is_chosen_after_a_look_at_an_earlier_version_of_the_table_is_marked_too(app):
    chosen_by_look(app)
    app.button(key="limits_look").click().run()
    seen = space_of(app).dataset.serial
    at_page(app, "data")
    chosen_by_look(app, ONE_MORE)
    space = space_of(app)
    assert space.dataset.serial != seen
    app.button(key="unit_known_data").click().run()
    app.number_input(key="theta").set_value(8).run()
    assert (space.schema.unit.max_records, space.schema.unit.source) == (8, "data")


def test_confirming_all_covers_the_unit_and_undoing_it_brings_the_mark_back(app):
    chosen_by_look(app)
    at_page(app, "schema")
    space = space_of(app)
    assert stamped(app)
    app.button(key="guide_agree").click().run()
    assert space.schema.from_data == () and stamped(app), "proposals of columns are agreed to, and the unit is not"
    app.button(key="confirm_all").click().run()
    assert space.schema.private and not stamped(app)


def test_undoing_the_confirmation_of_all_brings_the_mark_of_the_unit_back(app):
    chosen_by_look(app)
    at_page(app, "schema")
    app.button(key="confirm_all").click().run()
    assert space_of(app).schema.private
    app.button(key="schema_undo").click().run()
    assert space_of(app).schema.unit_from_data


def test_editing_columns_one_by_one_does_not_confirm_the_unit(app):
    chosen_by_look(app)
    at_page(app, "schema")
    names = list(columns_of(app).value["name"])
    edited(app, {i: {"source": "public"} for i, name in enumerate(names) if name != "nr"})
    space = space_of(app)
    assert space.schema.from_data == () and space.schema.unit_from_data and not space.schema.private


BY_HEADER = b"account_no,age\n" + b"".join(b"%d,%d\n" % (i, 18 + i % 50) for i in range(120))
BY_VALUES = b"stamp,age\n" + b"".join(b"P-%05d,%d\n" % (i // 3, 18 + i % 50) for i in range(240))


@pytest.mark.parametrize("raw", [BY_HEADER, BY_VALUES], ids=["header", "values"])
def test_who_is_one_person_has_no_default_where_a_column_may_name_one(app, raw):
    uploaded(app, name="t.csv", raw=raw)
    space = space_of(app)
    who = next(k for k in keys(app.selectbox) if k.startswith("who_"))
    assert app.selectbox(key=who).value is None and space.schema.unit_from_data
    assert "Nobody has said yet who is one person" in words(app) and "not decided yet" in words(app)
    at_page(app, "schema")
    app.button(key="confirm_all").click().run()
    assert space.schema.from_data == () and not space.schema.private, "confirming columns does not decide it"
    assert "unit_decide_schema" in keys(app.button)
    at_page(app, "data")
    app.selectbox(key=who).set_value("").run()
    assert space.schema.private and space.schema.unit.usual and app.selectbox(key=who).value == ""
    assert "Nobody has said yet" not in words(app)


def test_a_limit_that_is_typed_and_taken_back_does_not_decide_who_is_one_person(app):
    uploaded(app, name="t.csv", raw=BY_HEADER)
    at_page(app, "privacy")
    for limit in (4, 1):
        app.number_input(key="theta").set_value(limit).run()
    assert space_of(app).schema.unit.usual and space_of(app).schema.unit_from_data
    at_page(app, "data")
    assert "Nobody has said yet" in words(app)


def test_a_table_without_such_a_column_is_not_asked_about(app):
    uploaded(app, name="t.csv", raw=b"region,age\n" + b"".join(b"r%d,%d\n" % (i % 7, 18 + i % 50) for i in range(120)))
    assert not space_of(app).schema.unit_from_data and "several rows?" not in words(app)


def test_what_was_read_stands_above_the_buttons_that_confirm_it(app):
    uploaded(app, name="t.csv", raw=b",".join(b"c%d" % i for i in range(9)) + b"\n" + b"1,2,3,4,5,6,7,8,9\n" * 40)
    at_page(app, "schema")
    order = [e.key for e in app.main if getattr(e, "key", None)]
    table = next(k for k in order if k.startswith("guide_table"))
    assert len(app.dataframe[0].value) == 9
    assert order.index(table) < order.index("guide_agree") < order.index("confirm_all")


def test_a_codebook_with_a_header_of_persons_leaves_open_who_is_one_person():
    book = {"patient_id": {"kind": "numeric", "min": 0, "max": 9}, "sex": {"kind": "categorical", "values": ["f", "m"]}}

    def read(document):
        return files.read([json.dumps(document).encode()], name="t")

    found = read({"schema": book})
    assert found.unit.source == "data" and found.reasons == ("nobody has said who is one individual",)
    assert read({"schema": {"sex": book["sex"]}}).private
    assert read({"schema": book | {"key": {"kind": "id"}}}).private, "it names a column of persons"
    own = {**found.document(), "unit": {"neighbours": "add-remove"}}
    assert read(own).private, "who writes a schema of ours declares it"
