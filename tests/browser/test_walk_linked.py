"""Linked tables from the sample to export, in both languages; Back, reload, two tabs; axe on every page."""

import io
import re
import sqlite3
import zipfile

import pandas as pd
import pytest

from tests.app.linked_tables import PANEL, PATIENTS, VISITS
from tests.browser.conftest import DONE, Visitor
from tests.browser.test_axe import findings
from ui.shared.text import catalogue

pytestmark = pytest.mark.browser
PAGES = ("schema", "privacy", "questions", "synthesize", "report", "export")


def words(language="en"):
    """The texts of a language, up to what is filled in."""
    return {key: text.split("{")[0].strip() for key, text in catalogue(language).items()}


def opened(visitor, t, query=""):
    """The Data page where linked tables are loaded."""
    visitor.open(query=query)
    return visitor.pick(t["data.way_linked"])


def given(visitor, **files):
    """Hands over several files at once."""
    listed = [{"name": f"{n}.csv", "mimeType": "text/csv", "buffer": raw} for n, raw in files.items()]
    visitor.page.locator("input[type=file]").first.set_input_files(listed)
    visitor.page.wait_for_timeout(700)
    return visitor.settle()


def agreed(visitor, t, *tables):
    """All proposals of the guide are confirmed, table by table, on the Schema page."""
    for number, name in enumerate(tables):
        if number:
            visitor.pick(name)
        agree = "|".join(re.escape(t[key]) for key in ("guide.agree", "guide.agree_one"))
        visitor.page.get_by_role("button", name=re.compile(f"^({agree})")).first.click()
        visitor.settle()
    return visitor


def spent(visitor, t):
    """A run from the Synthesize page, to its end."""
    visitor.page.get_by_role("button", name=re.compile("^" + re.escape(t["synthesize.spend"]))).click()
    visitor.page.get_by_role("button", name=t["run.report"], exact=True).first.wait_for(timeout=DONE)
    return visitor.settle()


@pytest.fixture(scope="module")
def household(chromium, server):
    """A visitor with a finished run of the sample, made by two presses on the Data page."""
    visitor, t = Visitor(chromium, server), words()
    opened(visitor, t).press(t["linked.sample_load"])
    visitor.page.get_by_test_id("stMain").get_by_role("button", name=t["quick.button"], exact=True).click()
    visitor.page.get_by_role("button", name=t["export.zip"]).first.wait_for(timeout=DONE)
    visitor.settle()
    yield visitor
    visitor.close()


def test_the_sample_becomes_a_folder_whose_keys_hold(household):
    household.open()
    folder = zipfile.ZipFile(io.BytesIO(household.download("Download the folder")))
    homes, people = (pd.read_csv(folder.open(f"{n}.csv")) for n in ("households", "persons"))
    assert homes["household_id"].is_unique and people["household_id"].isin(homes["household_id"]).all()
    assert people["household_id"].value_counts().max() <= 8
    heads = people[people["role"] == "Head"].groupby("household_id").size()
    assert heads.max() == 1
    assert "manifest.json" in folder.namelist() and "Keys hold" in household.words()


def unfolded(visitor):
    """With all that is folded away open."""
    for expander in visitor.page.locator("[data-testid=stMain] [data-testid=stExpander] summary:visible").all():
        expander.click()
    visitor.settle()


def test_the_report_and_the_export_of_the_run_open_without_a_fault(household, tmp_path):
    household.open("report")
    assert "between households and persons" in household.words() and len(household.plots()) == 3
    household.pick("Explore").pick("Pairs").pick("persons")
    assert household.plots(), "figures of one table"
    household.pick("Publishable")
    assert "safe to publish" in household.words() and "reads private data" not in household.words()
    household.open("export", "?lang=de")
    unfolded(household)
    assert "@misc{" in household.words() and "differential privacy for one" not in household.words()
    household.open("export", "?lang=en")
    (tmp_path / "t.sqlite").write_bytes(household.download("SQLite"))
    base = sqlite3.connect(tmp_path / "t.sqlite")
    assert base.execute("PRAGMA foreign_key_check").fetchall() == []
    assert base.execute("SELECT count(*) FROM persons").fetchone()[0] > 20_000
    base.close()


@pytest.mark.parametrize("name", ["", *PAGES])
def test_axe_finds_nothing_serious_on_pages_of_linked_tables_and_none_is_wider_than_the_window(household, name):
    try:
        household.open(name)
        for mode, rules in (("light", None), ("dark", ["color-contrast"])):
            household.page.emulate_media(color_scheme=mode)
            household.settle()
            assert findings(household.page, rules) == [], mode
        for width in (1920, 1280, 390):
            household.page.set_viewport_size({"width": width, "height": 900})
            household.settle().page.wait_for_function(
                """() => { const m = document.querySelector('[data-testid=stMain]');
                return m.clientWidth > 0 && m.scrollWidth <= m.clientWidth }""",
                timeout=10_000,
            )
    finally:
        household.page.emulate_media(color_scheme="light")
        household.page.set_viewport_size({"width": 1280, "height": 900})


def test_two_files_are_linked_described_and_run_in_german(visitor):
    t = words("de")
    given(opened(visitor, t, "?lang=de"), patients=PATIENTS, visits=VISITS)
    assert "patients" in visitor.words() and t["linked.edge"] in visitor.words()
    visitor.page.get_by_role("button", name=re.compile("^" + re.escape(t["linked.take_root"]))).click()
    visitor.settle()
    visitor.page.get_by_role("button", name=re.compile("^" + re.escape(t["guide.to_guide"]))).first.click()
    agreed(visitor.settle(), t, "patients", "visits").press(t["schema.next"])
    visitor.page.get_by_text(t["privacy.more"], exact=True).first.click()
    visitor.settle()
    assert "Ein Einzelner ist ein Datensatz von patients" in visitor.words()
    visitor.press(t["privacy.next"])
    spent(visitor, t)
    visitor.page.get_by_role("button", name=t["run.report"], exact=True).first.click()
    visitor.settle()
    assert len(visitor.plots()) == 3 and t["linked.all"] in visitor.words()
    unfolded(visitor)
    assert "Die Schlüssel stimmen" in visitor.words()
    visitor.go(t["nav.export"])
    book = pd.read_excel(io.BytesIO(visitor.download(t["export.xlsx"])), sheet_name=None)
    unfolded(visitor)
    assert list(book) == ["patients", "visits"] and t["certificate.title"] in visitor.words()
    assert "NOT-PRIVATE" not in visitor.words()


def test_a_reload_and_back_find_the_links_as_they_were_left(visitor):
    t = words()
    given(opened(visitor, t), patients=PATIENTS, visits=VISITS)
    visitor.go(t["nav.schema"])
    visitor.page.get_by_role("spinbutton", name=t["linked.most"]).first.fill("3")
    visitor.page.keyboard.press("Enter")
    visitor.settle()
    assert "at most 3" in visitor.words()
    visitor.go(t["nav.privacy"])
    visitor.page.go_back()
    visitor.settle()
    assert "at most 3" in visitor.words()
    visitor.page.reload()
    visitor.settle()
    assert "at most 3" in visitor.words()
    assert visitor.page.get_by_role("spinbutton", name=t["linked.most"]).first.input_value() == "3"


def test_a_second_tab_sees_the_same_tables_and_does_not_undo_the_first(visitor):
    t = words()
    given(opened(visitor, t), patients=PATIENTS, visits=VISITS)
    visitor.go(t["nav.schema"])
    second = visitor.context.new_page()
    second.goto(f"{visitor.server.url}/schema")
    second.get_by_role("spinbutton", name=t["linked.most"]).first.wait_for()
    visitor.page.get_by_role("spinbutton", name=t["linked.most"]).first.fill("4")
    visitor.page.keyboard.press("Enter")
    visitor.settle()
    second.get_by_role("radio", name="visits", exact=True).first.click()  # reruns the other tab
    second.get_by_text("at most 4").first.wait_for()
    visitor.open("schema")
    assert "at most 4" in visitor.words()
    second.close()


def test_a_refused_file_and_a_missing_key_are_said_in_words(visitor):
    t = words()
    given(opened(visitor, t), patients=PATIENTS, visits=b"")
    assert "visits.csv" in visitor.words() and "empty" in visitor.words().lower()
    visitor.page.reload()
    visitor.settle().pick(t["data.way_linked"])
    given(visitor, patients=PATIENTS, wards=b"ward,beds\n" + b"A,3\nB,4\n" * 20)
    assert "choose one" in visitor.words()
    button = visitor.page.get_by_test_id("stMain").get_by_role("button", name=t["quick.button"], exact=True)
    assert button.is_disabled()


def test_a_panel_of_one_file_is_declared_and_leaves_as_one_file(visitor):
    t = words()
    given(opened(visitor, t), waves=PANEL).press(t["linked.as_panel"])
    visitor.go(t["nav.schema"])
    visitor.choose(t["linked.person"].capitalize(), "person")
    visitor.choose(t["linked.wave"].capitalize(), "year")
    visitor.page.get_by_role("spinbutton", name=re.compile("rows of a person", re.IGNORECASE)).first.fill("3")
    visitor.page.keyboard.press("Enter")
    agreed(visitor.settle(), t, "waves").go(t["nav.synthesize"])
    spent(visitor, t)
    visitor.go(t["nav.export"])
    table = pd.read_csv(io.BytesIO(visitor.download(t["export.csv"])))
    assert list(table.columns) == ["person", "year", "sex", "job"]
    assert table.groupby("person").size().max() <= 3
