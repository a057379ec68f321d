"""Rules on the Schema page: added by a form, taken out again, refused in a sentence, and kept by the run."""

from tests.app_driver import at_page, space_of


def ticks(app):
    """Rules that are in force, which are ticked, and those that headers propose, with a record that each forbids."""
    return [c for c in app.checkbox if "forbidden: " in c.label]


def test_a_rule_of_order_is_added_by_two_choices_and_taken_out_again(app):
    at_page(app, "schema")
    app.selectbox(key="rule_lower").select("WKSWORK").run()
    assert app.button(key="rule_add").disabled
    app.selectbox(key="rule_upper").select("HRSWORK").run()
    app.button(key="rule_add").click().run()
    assert [str(r) for r in space_of(app).schema.rules] == ["WKSWORK <= HRSWORK"] and not app.exception
    next(c for c in ticks(app) if c.value).uncheck().run()
    assert space_of(app).schema.rules == () and not app.exception


def test_conditions_are_typed_and_what_no_record_could_meet_is_refused(app):
    at_page(app, "schema")
    app.segmented_control(key="rule_kind").set_value("impossible").run()
    app.text_input(key="rule_where").set_value("AGE in [0, 13] and MARST = Married").run()
    app.button(key="rule_add").click().run()
    assert len(space_of(app).schema.rules) == 1 and not app.error
    app.text_input(key="rule_where").set_value("AGE in [0, 13] and MARST = Wed").run()
    app.button(key="rule_add").click().run()
    assert "Wed" in app.error[0].value and len(space_of(app).schema.rules) == 1


def test_sums_and_differences_ask_for_their_columns(app):
    at_page(app, "schema")
    app.segmented_control(key="rule_kind").set_value("difference").run()
    for key, name in (("rule_of", "AGE"), ("rule_minus", "WKSWORK"), ("rule_difference", "FAMSIZE")):
        app.selectbox(key=key).select(name).run()
    app.button(key="rule_add").click().run()
    assert str(space_of(app).schema.rules[0]) == "FAMSIZE = AGE - WKSWORK"
    app.segmented_control(key="rule_kind").set_value("sum").run()
    app.selectbox(key="rule_sum").select("AGE").run()
    app.multiselect(key="rule_parts").set_value(["WKSWORK", "FAMSIZE"]).run()
    app.button(key="rule_add").click().run()
    assert str(space_of(app).schema.rules[1]) == "AGE = WKSWORK + FAMSIZE" and not app.exception


def test_every_kind_of_rule_has_a_form_and_an_example(app):
    at_page(app, "schema")
    made = {
        "ratio": {"rule_ratio": "AGE", "rule_divided": "WKSWORK", "rule_by": "HRSWORK"},
        "follows": {"rule_follows": "RACE"}, "blank": {"rule_blank": "SEX"}, "unique": {},
    }  # fmt: skip
    for kind, chosen in made.items():
        app.segmented_control(key="rule_kind").set_value(kind).run()
        if kind == "follows":
            app.multiselect(key="rule_follows_of").set_value(["SEX"]).run()
        if kind == "unique":
            app.multiselect(key="rule_unique").set_value(["AGE", "INCWAGE"]).run()
        if kind == "blank":
            app.text_input(key="rule_blank_where").set_value("AGE in [0, 3]").run()
        for key, name in chosen.items():
            app.selectbox(key=key).select(name).run()
        app.button(key="rule_add").click().run()
        assert not app.exception and not app.error, kind
    kinds = [r.kind for r in space_of(app).schema.rules]
    assert kinds == ["ratio", "follows", "blank", "unique"]


def test_what_headers_propose_is_in_force_when_it_is_confirmed(app):
    at_page(app, "schema")
    assert not space_of(app).schema.rules
    assert [e for e in app.expander if "1 proposed" in e.label], "its label says so while it is closed"
    ticks(app)[0].check().run()
    assert "MARST" in str(space_of(app).schema.rules[0]) and not app.exception
    assert ticks(app)[0].value and len(ticks(app)) == 1


def test_the_month_of_a_date_is_declared_in_the_form_of_its_parts(app):
    from dpsyn_core.schema.document import Schema
    from tests.schema.helpers import date, num
    from ui.schema import editor

    at_page(app, "schema")
    attributes = [date("admitted", "2020-01-01", "2021-12-31", "month"), num("mon", 1, 12, 12), num("later", 5, 9, 5)]
    editor.take(space_of(app), Schema.of({"version": 1, "name": "t", "attributes": attributes}))
    app.run()
    app.segmented_control(key="rule_kind").set_value("part").run()
    for key, name in (("rule_date", "admitted"), ("rule_part", "month"), ("rule_part_column", "mon")):
        app.selectbox(key=key).select(name).run()
    app.button(key="rule_add").click().run()
    assert [str(r) for r in space_of(app).schema.rules] == ["mon = month of admitted"] and not app.exception
    app.selectbox(key="rule_part_column").select("later").run()
    app.button(key="rule_add").click().run()
    assert "has no value for the month 1" in app.error[0].value and len(space_of(app).schema.rules) == 1


def test_an_age_is_declared_between_two_dates_and_on_a_fixed_day(app):
    from dpsyn_core.schema.document import Schema
    from tests.schema.helpers import date, num
    from ui.schema import editor

    at_page(app, "schema")
    attributes = [
        date("born", "1950-01-01", "1999-12-31", "year"), date("seen", "2020-01-01", "2020-12-31", "month"),
        num("years", 20, 70, 10), num("older", 20, 70, 10),
    ]  # fmt: skip
    editor.take(space_of(app), Schema.of({"version": 1, "name": "t", "attributes": attributes}))
    app.run()
    app.segmented_control(key="rule_kind").set_value("difference").run()
    for key, name in (
        ("rule_of", "seen"), ("rule_minus", "born"), ("rule_difference", "years"), ("rule_unit", "completed-years")
    ):  # fmt: skip
        app.selectbox(key=key).select(name).run()
    app.button(key="rule_add").click().run()
    app.segmented_control(key="rule_kind").set_value("part").run()
    for key, name in (
        ("rule_date", "born"), ("rule_part", "completed-years"), ("rule_part_column", "older")
    ):  # fmt: skip
        app.selectbox(key=key).select(name).run()
    assert app.button(key="rule_add").disabled
    app.text_input(key="rule_on").set_value("2020").run()
    app.button(key="rule_add").click().run()
    assert "'2020' is no day; write it as 2020-12-31" in app.error[0].value
    app.text_input(key="rule_on").set_value("2020-06-30").run()
    app.button(key="rule_add").click().run()
    assert [str(r) for r in space_of(app).schema.rules] == [
        "years = completed years from born to seen", "older = completed years from born to 2020-06-30",
    ]  # fmt: skip
    assert not app.exception and not app.error


def test_a_german_page_says_in_german_why_a_rule_cannot_be(app, monkeypatch):
    monkeypatch.setenv("DPSYN_LANGUAGE", "de")
    at_page(app, "schema")
    app.segmented_control(key="rule_kind").set_value("impossible").run()
    app.text_input(key="rule_where").set_value("AGE in [0, 13] and MARST = Wed").run()
    app.button(key="rule_add").click().run()
    assert app.text_input(key="rule_where").placeholder.startswith("alter in")
    assert "Regel 1 (" in app.error[0].value and "„Wed“ ist kein Wert von „MARST“" in app.error[0].value
