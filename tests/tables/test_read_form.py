"""A field of ReadForm reaches the flags, the jobs, the page and the library, whatever the fields are."""

import pytest
from streamlit.testing.v1 import AppTest

from dpsyn_core.commands.cli import build_parser
from dpsyn_core.commands.common import read_form, reading_flags
from dpsyn_core.errors import TableError
from dpsyn_core.runs.jobs.spec import JobSpec, ReadSpec
from dpsyn_core.tables.read import read_table
from dpsyn_core.tables.read_form import DATABASE, EXCEL, LABELLED, TEXT, ReadForm

EXAMPLES = {"delimiter": "|", "decimal": ",", "header_row": 3, "header_lines": 2, "multiline": True, "strict": True}
OF_A_TABLE = ("query_vouched", "sql_columns", "sql_where")  # which need a table or a query of a database beside them
FIELDS = [name for name in ReadForm.model_fields if name not in OF_A_TABLE]


def example(name):
    return EXAMPLES.get(name, "utf-8" if name == "encoding" else "some")


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_a_flag_of_the_commands_and_comes_back_from_it(name):
    value, flag = example(name), f"--{name.replace('_', '-')}"
    said = [flag] if value is True else [flag, str(value)]
    args = build_parser().parse_args(["explore", "t.csv", "--schema", "s.json", *said])
    assert read_form(args) == ReadForm(**{name: value})
    assert reading_flags(args) == [name]


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_is_an_entry_of_a_run_and_of_a_table_to_be_read(name):
    form = ReadForm(**{name: example(name)})
    run = JobSpec(query_vouched=False, epsilon=1, delta=1e-9, method="independent", seed=1, form=form)
    assert JobSpec.model_validate_json(run.model_dump_json()).form == form
    assert ReadSpec.model_validate_json(ReadSpec(name="t", form=form).model_dump_json()).form == form


def test_the_page_asks_for_the_fields_of_a_kind_and_gives_back_what_was_read():
    def page():
        import streamlit as st

        from dpsyn_core.tables.read_form import ReadForm
        from ui.data.form import asked

        st.session_state["text"] = asked("text", ReadForm(delimiter=";", header_row=2), key="t")
        st.session_state["excel"] = asked("excel", ReadForm(sheet="b"), key="e")

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert ReadForm.of(**app.session_state["text"]) == ReadForm(delimiter=";", header_row=2)
    assert ReadForm.of(**app.session_state["excel"]) == ReadForm(sheet="b")
    for kind in (TEXT, EXCEL):
        rules = ReadForm.model_fields.items()
        assert set(app.session_state[kind]) == {n for n, r in rules if kind in r.json_schema_extra["of"]} | {"sheet"}


def test_what_cannot_be_is_refused_in_one_sentence_and_in_the_same_way_by_the_library():
    for said, words in (
        ({"delimiter": "ab"}, "must be one character"), ({"decimal": ";"}, "must be '.' or ','"),
        ({"header_row": 0}, "both numbers begin at 1"), ({"header": "a,b", "header_row": 2}, "say one of the two"),
        ({"header_lines": 0}, "both numbers begin at 1"), ({"header": "a,b", "header_lines": 2}, "say one of the two"),
        ({"header": " "}, "must be one line"), ({"query_vouched": True}, "is for a query or a view"),
        ({"colour": "red"}, "'colour' of how the table is read"),
    ):  # fmt: skip
        with pytest.raises(TableError, match=words) as error:
            read_table(b"a,b\n1,2\n", **said)
        assert "\n" not in str(error.value)


def test_every_field_says_what_it_is_for():
    for name, rule in ReadForm.model_fields.items():
        assert rule.description, name
        assert set(rule.json_schema_extra["of"]) <= {TEXT, EXCEL, LABELLED, DATABASE}
