"""The walk on the Schema page: edits, groups, rules and words for codes, by pointing and typing."""

import io
import json

import pandas as pd
import pytest

from tests.browser.conftest import made
from tests.browser.test_axe import findings
from ui.shared.text import catalogue

pytestmark = pytest.mark.browser
ROW = 35 * 15 / 16  # pixels of a table row at a base size of 15


def saved(visitor):
    """The schema as the page hands it on, out of the menu that holds files."""
    menu = visitor.page.get_by_role("button", name=catalogue()["schemafile.title"], exact=True).first
    menu.click()
    found = json.loads(visitor.download("Save the schema"))
    visitor.page.keyboard.press("Escape")
    visitor.settle()
    return found


def test_16_two_edits_in_a_row_stand_after_a_page_switch(visitor):
    visitor.open("schema")
    visitor.page.get_by_text(catalogue()["guide.table"], exact=True).first.click()
    visitor.settle()
    _edit(visitor, row=2, text="10")
    _edit(visitor, row=9, text="4")
    visitor.go("Privacy")
    visitor.go("Schema")
    schema = saved(visitor)
    bins = {a["name"]: a.get("bins") for a in schema["attributes"]}
    assert bins["AGE"] == {"count": 10}
    assert bins["WKSWORK"] == {"count": 4}


def _edit(visitor, row, text):
    """Types into the bins of a row of the schema's table, as a person does."""
    _type_into(visitor, visitor.page.get_by_test_id("stDataFrame").first, 110 + 125 + 112 + 276 + 50, row, text)


def _type_into(visitor, grid, x, row, text):
    """Types into a cell of a table, so many pixels from its left."""
    grid.locator("canvas").first.wait_for()
    grid.scroll_into_view_if_needed()
    field = visitor.page.locator(".gdg-input").first
    for _ in range(5):  # a page that is still growing moves the cell away from below the pointer
        box = grid.bounding_box()
        visitor.page.mouse.dblclick(box["x"] + x, box["y"] + ROW * (row + 1.5))
        visitor.page.wait_for_timeout(500)
        if field.count():
            break
    field.wait_for()
    field.fill(text)
    field.press("Enter")
    field.wait_for(state="detached")
    visitor.settle()


def more(visitor, view):
    """The Schema page with one of the views of More about columns open."""
    visitor.open("schema")
    visitor.dialog("More about columns")
    return visitor.pick(view)


def test_20_every_dialog_stays_open_over_a_press_in_it_and_escape_closes_it(visitor):
    visitor.open("schema")
    dialog = visitor.page.get_by_role("dialog")
    for name, press in (("more", "more_view"), ("design", ""), ("public", ""), ("misfits", "misfits_look")):
        visitor.page.locator(f".st-key-open_{name} button").click()
        dialog.wait_for()
        visitor.settle()
        if press:
            dialog.locator(f".st-key-{press} button").last.click()
            visitor.settle()
        assert dialog.count() == 1 and findings(visitor.page) == [], name
        visitor.page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        visitor.settle()


def test_20_back_leaves_a_dialog_and_forward_finds_it_closed(visitor):
    visitor.open("privacy")
    visitor.go("Schema")
    visitor.page.locator(".st-key-open_more button").click()
    visitor.page.get_by_role("dialog").wait_for()
    for step in (visitor.page.go_back, visitor.page.go_forward):
        step()
        visitor.settle()
        assert visitor.page.get_by_role("dialog").count() == 0
    assert visitor.page.locator(".st-key-open_more button").is_enabled()


def test_20_columns_are_grouped_and_taken_back_by_pointing_alone(visitor):
    more(visitor, "Groups")
    visitor.choose("columns that belong together", "CITY")
    visitor.choose("columns that belong together", "OWNERSHP")
    visitor.page.keyboard.press("Escape")
    visitor.page.get_by_role("textbox", name="name of the group").fill("home")
    visitor.press("Add the group")
    assert "CITY + OWNERSHP: " in visitor.words()
    visitor.close_dialog()
    schema = saved(visitor)
    assert {a["name"]: a["group"] for a in schema["attributes"] if "group" in a} == {"CITY": "home", "OWNERSHP": "home"}
    visitor.page.get_by_text(catalogue()["guide.table"], exact=True).first.click()
    visitor.settle()
    visitor.press("Undo")
    schema = saved(visitor)
    assert not any("group" in a for a in schema["attributes"])


def test_20_a_rule_and_words_for_codes_are_typed_and_pasted_and_a_run_obeys_them(visitor):
    more(visitor, "One follows from another")
    visitor.choose("this column", "EMPSTAT")
    visitor.choose("follows from", "SEX")
    grid = visitor.page.get_by_role("dialog").get_by_test_id("stDataFrame")
    wide = grid.bounding_box()["width"]
    _type_into(visitor, grid, 0.75 * wide, 0, "paid")
    _type_into(visitor, grid, 0.75 * wide, 1, "unpaid")
    visitor.press("Save the rule")
    assert "EMPSTAT follows from SEX" in visitor.words()
    visitor.pick("Labels for codes")
    visitor.choose("column with codes", "SEX")
    field = visitor.page.get_by_role("textbox", name="or pasted lines")
    field.fill("Male = men\nFemale = women")
    field.press("Control+Enter")
    visitor.settle()
    visitor.press("Save the labels")
    visitor.close_dialog()
    assert "women" in json.dumps(saved(visitor))
    made(visitor, "independent")
    visitor.go("Export")
    table = pd.read_csv(io.BytesIO(visitor.download("Download CSV")))
    assert set(zip(table["SEX"], table["EMPSTAT"], strict=True)) == {("Male", "paid"), ("Female", "unpaid")}
