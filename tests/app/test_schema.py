"""More about columns on the Schema page: groups, columns that follow from another, labels for codes, undo."""

import json

import pytest

from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.sample import sample_schema, sample_table
from tests.app_driver import at_page, dialog, plots, rows_of, words
from ui.schema import codelists, relations
from ui.schema.rows import changed
from ui.shared.state import workspaces

SAMPLE = sample_schema()
CITIES = SAMPLE["CITY"].keys


def space_of(app):
    return workspaces().find(app.session_state["owner"])


def opened(app, view):
    dialog(at_page(app, "schema"), "more")
    app.segmented_control(key="more_view").set_value(view).run()
    assert not app.exception
    return app


def found(elements, prefix):
    return next(e for e in elements if e.key and e.key.startswith(prefix))


def press(app, label):
    next(b for b in app.button if b.label == label).click().run()
    assert not app.exception


def typed(app, prefix, column):
    """Types a whole second column into a small table."""
    table = found(app.dataframe, prefix)
    app.session_state[table.key] = {
        "edited_rows": {i: {"second": text} for i, text in enumerate(column)}, "added_rows": [], "deleted_rows": [],
    }  # fmt: skip
    app.run()


# ---- groups


def test_columns_are_kept_together_moved_and_taken_apart(app):
    opened(app, "groups")
    assert "No columns are grouped." in words(app)
    found(app.multiselect, "group_columns").set_value(["CITY", "OWNERSHP"])
    found(app.text_input, "group_name").set_value("home")
    press(app, "Add the group")
    assert relations.groups(space_of(app).schema) == {"home": ("CITY", "OWNERSHP")}
    assert f"home — CITY + OWNERSHP: {len(CITIES) * SAMPLE['OWNERSHP'].size} combinations" in words(app)
    press(app, "Remove the group")
    assert relations.groups(space_of(app).schema) == {}


@pytest.mark.parametrize(
    ("columns", "name", "sentence"),
    [(["CITY"], "home", "choose at least two"), (["CITY", "AGE"], "  ", "no name"), ([], "home", "0 columns")],
)
def test_a_group_that_is_none_is_explained(app, columns, name, sentence):
    opened(app, "groups")
    found(app.multiselect, "group_columns").set_value(columns)
    found(app.text_input, "group_name").set_value(name)
    press(app, "Add the group")
    assert sentence in app.error[0].value
    assert space_of(app).schema == SAMPLE


def test_a_group_of_the_editor_is_what_field_groups_keeps_together(app):
    from dpsyn_core.systems.settings import partition

    made = relations.grouped(SAMPLE, "home", ["CITY", "OWNERSHP"])
    assert ("CITY", "OWNERSHP") in partition((), made.domain(), setting="groups")
    moved = relations.grouped(made, "place", ["CITY", "AGE"])
    assert relations.groups(moved) == {"place": ("CITY", "AGE"), "home": ("OWNERSHP",)}


# ---- a column that follows from another


def test_a_column_that_follows_from_another_is_typed_saved_and_looked_up_in_the_output(app):
    opened(app, "follows")
    app.selectbox(key="follows_column").set_value("OWNERSHP").run()
    app.selectbox(key="follows_origin").set_value("CITY").run()
    typed(app, "follows_OWNERSHP_CITY", ["Owned" if c < "E" else "Rented" for c in CITIES])
    press(app, "Save the rule")
    schema = space_of(app).schema
    assert schema["OWNERSHP"].kind == "derived"
    assert "OWNERSHP follows from CITY" in words(app)
    assert app.dataframe[0].value.set_index("name").loc["OWNERSHP", "kind"] == "follows another"
    from dpsyn_core.schema.codec import Codec

    codec = Codec(schema)
    out = codec.decode(codec.encode(sample_table().slice(0, 50)).codes, rng=__import__("numpy").random.default_rng(0))
    rule = dict(zip(out.column("CITY").to_pylist(), out.column("OWNERSHP").to_pylist(), strict=True))
    assert rule == {c: "Owned" if c < "E" else "Rented" for c in rule}
    press(app, "Remove the rule")
    assert space_of(app).schema["OWNERSHP"].values == ("Owned", "Rented")


def test_a_rule_from_a_file_fills_the_table(app):
    opened(app, "follows")
    app.selectbox(key="follows_column").set_value("OWNERSHP").run()
    app.selectbox(key="follows_origin").set_value("CITY").run()
    raw = "city,owned\n" + "\n".join(f"{c},{i % 2}" for i, c in enumerate(CITIES))
    found(app.file_uploader, "follows_file").set_value([("rule.csv", raw.encode(), "text/csv")]).run()
    press(app, "Save the rule")
    assert dict(space_of(app).schema["OWNERSHP"].map) == {c: i % 2 for i, c in enumerate(CITIES)}


def test_a_rule_with_a_gap_names_the_value_that_lacks_one(app):
    opened(app, "follows")
    app.selectbox(key="follows_column").set_value("OWNERSHP").run()
    app.selectbox(key="follows_origin").set_value("CITY").run()
    typed(app, "follows_OWNERSHP_CITY", ["x"])
    press(app, "Save the rule")
    assert f"'{CITIES[1]}' of 'CITY' has no value (and {len(CITIES) - 2} more)" in app.error[0].value
    assert space_of(app).schema == SAMPLE


def test_the_table_explains_what_it_cannot_change_of_a_follower():
    made = relations.following(SAMPLE, "OWNERSHP", "CITY", dict.fromkeys(CITIES, "1"))
    row = next(r for r in rows_of(made) if r.name == "OWNERSHP")
    assert row.cells()["content"] == "follows from CITY"
    assert changed(row, row.cells()).problem == ""
    assert "remove the rule" in changed(row, {**row.cells(), "kind": "category"}).problem
    assert changed(row, {**row.cells(), "kind": "left out"}).document["kind"] == "ignored"
    other = next(r for r in rows_of(made) if r.name == "SEX")
    assert "More about columns" in changed(other, {**other.cells(), "kind": "follows another"}).problem


def test_taking_the_values_away_that_a_follower_needs_is_refused(app):
    at_page(app, "schema")
    space = space_of(app)
    space.schema = relations.following(SAMPLE, "OWNERSHP", "CITY", dict.fromkeys(CITIES, "1"))
    at_page(app, "schema")
    row = list(app.dataframe[0].value["name"]).index("CITY")
    app.session_state[app.dataframe[0].key] = {"edited_rows": {row: {"kind": "left out"}}, "added_rows": [],
                                               "deleted_rows": []}  # fmt: skip
    app.run()
    assert "'OWNERSHP' follows from 'CITY'" in app.error[0].value
    assert space.schema["CITY"].kind == "categorical"


# ---- labels for codes


def coded(app):
    at_page(app, "data")
    document = SAMPLE.document()
    for a in document["attributes"]:
        if a["name"] == "SEX":
            a["values"] = [1, 2]
        if a["name"] == "OWNERSHP":
            a["values"] = ["a", "b"]
    space_of(app).schema = Schema.of(document)
    return opened(app, "labels")


def test_pasted_words_for_codes_are_saved_and_shown_instead_of_the_codes(app):
    coded(app)
    app.selectbox(key="labels_column").set_value("SEX").run()
    found(app.text_area, "labels_paste").set_value("1 = Male\n02\tFemale").run()
    press(app, "Save the labels")
    schema = space_of(app).schema
    assert relations.labels(schema, "SEX") == {"1": "Male", "2": "Female"}
    assert schema["SEX"].labels() == ["Male", "Female"]
    assert schema["SEX"].values == (1, 2), "the table keeps its codes"
    assert "Labels are known for the codes of SEX." in words(app)
    app.radio(key="schema_preview").set_value("SEX").run()
    assert plots(app)[0]["data"][0]["x"] == ["Male", "Female"]


def test_one_file_gives_words_to_several_columns_and_may_add_codes(app):
    coded(app)
    raw = json.dumps({"SEX": {"1": "Male", "2": "Female", "9": "Not said"}, "OWNERSHP": {"a": "Owned", "b": "Rented"}})
    app.selectbox(key="labels_column").set_value("SEX").run()
    found(app.file_uploader, "labels_file").set_value([("codes.json", raw.encode(), "application/json")]).run()
    press(app, "Save the labels")
    assert "'9' is no value of 'SEX'; tick the box to add it" in app.error[0].value
    app.checkbox(key="labels_codes").set_value(True).run()
    press(app, "Save the labels")
    schema = space_of(app).schema
    assert schema["SEX"].values == (1, 2, 9)
    assert schema["OWNERSHP"].labels() == ["Owned", "Rented"]


def test_a_file_of_words_for_a_column_that_is_not_there_changes_nothing(app):
    coded(app)
    before = space_of(app).schema
    raw = b"column,code,meaning\nSEX,1,Male\nSHOE,1,Left\n"
    found(app.file_uploader, "labels_file").set_value([("codes.csv", raw, "text/csv")]).run()
    press(app, "Save the labels")
    assert "'SHOE', which this table does not have" in app.error[0].value
    assert space_of(app).schema == before


@pytest.mark.parametrize(
    ("name", "raw", "lists"),
    [
        ("c.csv", b"code;label\n1;Male\n2;Fem\xe4le\n", {"": {"1": "Male", "2": "Femäle"}}),
        ("c.tsv", b"01\tA, B\n02\tC\n", {"": {"01": "A, B", "02": "C"}}),
        ("c.csv", b'\xef\xbb\xbfvariable,value,label\nx,1,"a, b"\ny,1,c\n', {"x": {"1": "a, b"}, "y": {"1": "c"}}),
        ("c.json", b'{"1": "Male", "2": 7}', {"": {"1": "Male", "2": "7"}}),
        ("c.json", b'[{"code": 1, "label": "Male"}]', {"": {"1": "Male"}}),
    ],
)  # fmt: skip
def test_code_lists_are_read_as_offices_publish_them(name, raw, lists):
    assert codelists.read(raw, name) == lists


@pytest.mark.parametrize(
    ("name", "raw"),
    [("c.csv", b"only one column\nx\n"), ("c.csv", b"a,b\n1,2,3\n"), ("c.csv", b""), ("c.json", b"{nope"),
     ("c.json", b"[1, 2]"), ("c.json", b'{"a": [1]}'), ("c.csv", b"x" * 5_000_001)],
)  # fmt: skip
def test_a_file_that_is_no_code_list_is_one_sentence(name, raw):
    with pytest.raises(Exception, match="c\\.") as refusal:
        codelists.read(raw, name)
    assert type(refusal.value).__name__ == "SchemaError"
    assert len(str(refusal.value).splitlines()) == 1


def test_two_codes_of_one_word_are_still_told_apart():
    made = relations.labelled(SAMPLE, "SEX", {"Male": "person", "Female": "person"})
    assert made["SEX"].labels() == ["Male: person", "Female: person"]


def test_words_for_codes_survive_the_schema_file():
    made = relations.labelled(SAMPLE, "SEX", {"Male": "M", "Female": "F"})
    assert Schema.loads(made.dumps()) == made
    assert Schema.loads(made.dumps())["SEX"].labels() == ["M", "F"]


# ---- dictionaries and undo


def test_a_data_dictionary_describes_the_columns_that_it_names_and_leaves_the_others(app):
    at_page(app, "schema")
    raw = b"variable,type,values,min,max,missing\nSEX,category,Male;Female,,,no\nAGE,integer,,0,120,no\n"
    app.file_uploader(key="schema_upload").set_value([("dictionary.csv", raw, "text/csv")]).run()
    assert not app.error
    schema = space_of(app).schema
    assert schema["AGE"].max == 120
    assert schema["CITY"] == SAMPLE["CITY"]


def test_a_data_dictionary_of_another_table_is_refused_by_name(app):
    at_page(app, "schema")
    raw = b"variable,type,values\nSHOE,category,left;right\n"
    app.file_uploader(key="schema_upload").set_value([("dictionary.csv", raw, "text/csv")]).run()
    assert "'SHOE', which the table does not have" in app.error[0].value
    app.file_uploader(key="schema_upload").set_value([("other.csv", b"a,b\n1,2\n", "text/csv")]).run()
    assert "other.csv" in app.error[0].value
    assert "/tmp" not in app.error[0].value


def test_changes_are_undone_one_by_one_and_not_across_a_loaded_schema(app):
    opened(app, "groups")
    assert app.button(key="schema_undo").disabled
    for columns, name in ((["CITY", "OWNERSHP"], "home"), (["SEX", "AGE"], "person")):
        found(app.multiselect, "group_columns").set_value(columns)
        found(app.text_input, "group_name").set_value(name)
        press(app, "Add the group")
    age = list(app.dataframe[0].value["name"]).index("AGE")
    app.session_state[app.dataframe[0].key] = {"edited_rows": {age: {"bins": "7"}}, "added_rows": [],
                                               "deleted_rows": []}  # fmt: skip
    app.run()
    space = space_of(app)
    assert space.schema["AGE"].bins.count == 7
    app.button(key="schema_undo").click().run()
    assert space.schema["AGE"].bins.count == 20
    assert app.dataframe[0].value.set_index("name").loc["AGE", "bins"] == "20"
    app.button(key="schema_undo").click().run()
    assert list(relations.groups(space.schema)) == ["home"]
    space.schema = relations.grouped(SAMPLE, "x", ["SEX", "RACE"])  # from elsewhere, as a purchase is
    at_page(app, "schema")
    assert app.button(key="schema_undo").disabled
