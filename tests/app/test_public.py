"""Exploring a public table on the Schema page: only what somebody declares public, and the design taken over."""

from dpsyn_core.schema.sample import sample_schema, sample_table
from dpsyn_core.systems.registry import configure
from tests.app_driver import at_page, dialog, words
from ui.data.loading import Dataset, place
from ui.questions import kept
from ui.shared.state import workspaces


def space_of(app):
    return workspaces().find(app.session_state["owner"])


def test_nothing_is_counted_before_the_table_is_declared_public(app):
    dialog(at_page(app, "schema"), "public")
    assert app.button(key="public_look").disabled
    assert "Declare that the table is public first." in words(app)


def test_the_sample_is_explored_and_its_design_and_groups_taken_over(app):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value("independent").run()
    dialog(at_page(app, "schema"), "public")
    app.checkbox(key="public_declared").check().run()
    app.button(key="public_look").click().run()
    assert not app.exception
    assert "The strongest dependence is that of" in words(app)
    app.button(key="public_questions").click().run()
    assert not app.exception and len(kept.fitting(space_of(app))) >= 5
    app.button(key="public_design").click().run()
    assert not app.exception
    space = space_of(app)
    assert space.choices.method == "dpsyn-2018"
    config = configure("dpsyn-2018", space.choices.settings["dpsyn-2018"])
    assert config.design.marginals
    app.switch_page("pages/synthesize.py").run()
    assert not app.exception
    assert app.selectbox(key="method").value == "dpsyn-2018"


def test_a_private_table_cannot_be_explored_even_when_the_box_is_ticked(app):
    at_page(app, "schema")
    place(space_of(app), Dataset("mine.csv", "mine", sample_table()), sample_schema())
    app.run()
    dialog(app, "public")
    app.checkbox(key="public_declared").check().run()
    assert "Add a public table." in words(app)
    assert not [b for b in app.button if b.key == "public_look"]


def test_the_private_table_is_not_explored_as_a_public_one_whatever_its_file_is_called(app):
    from ui.data.loading import upload

    at_page(app, "schema")
    space = space_of(app)
    raw = b"age,sex\n" + b"".join(b"%d,%s\n" % (20 + i % 40, (b"F", b"M")[i % 2]) for i in range(80))
    upload(space, "mine.csv", raw)
    dialog(app.run(), "public")
    app.file_uploader(key="public_file").set_value([("earlier.csv", raw, "text/csv")]).run()
    app.checkbox(key="public_declared").check().run()
    app.button(key="public_look").click().run()
    assert any("private table that is loaded" in e.value for e in app.error)
    assert "The strongest dependence" not in words(app)
    app.file_uploader(key="public_file").set_value([("earlier.csv", raw + b"33,F\n", "text/csv")]).run()
    app.button(key="public_look").click().run()
    assert not app.error and "The strongest dependence" in words(app)
