"""Files that are no tables, handed over in a browser: a sentence each, no bare red icon, and the page works on."""

import re

import pytest

from tests.app.hostile_files import odd, refused
from tests.browser.conftest import sample
from ui.shared.text import catalogue

pytestmark = pytest.mark.browser

KINDS = ("cut.sav", "zip.sav", "empty.dta", "csv.sas7bdat", "lying.sav", "cut.xlsx", "headeronly.csv", "list.parquet")


def complaints(visitor):
    """What stands in red, with words or without."""
    return [a.inner_text().strip() for a in visitor.page.get_by_test_id("stAlert").all()]


def handed(visitor, name, raw):
    """Gives a file to the last field of the page, in place of the one before."""
    return visitor.upload(name, raw, visitor.page.locator("input[type=file]").count() - 1)


def test_every_kind_is_refused_in_german_and_a_right_file_is_taken_afterwards(visitor):
    visitor.open(query="?lang=de").pick(catalogue("de")["data.way_upload"])
    for name in KINDS:
        visitor.upload(name, refused()[name])
        said = complaints(visitor)
        assert len(said) == 1 and len(said[0]) > 20 and re.search(r"\b(ist|hat|sind)\b", said[0]), (name, said)
        assert not re.search(r"Traceback|Error|\bthe\b", visitor.words()), name
    for name in ("labels.sav", "hidden.xlsx", "duplicate.csv", "wide.csv"):
        visitor.upload(name, odd()[name])
        assert not complaints(visitor), (name, complaints(visitor))
        assert name in visitor.words()


def test_the_fields_of_the_synthesize_page_refuse_in_words_and_take_a_right_file(visitor):
    words = catalogue()
    visitor.open().go("Synthesize")
    for title, bad, right in (
        (words["refit.title"], "zip.sav", None),
        (words["public_table.title"], "cut.xlsx", ("last.csv", sample().iloc[:-1].to_csv(index=False).encode())),
    ):
        panel = visitor.page.get_by_text(title, exact=True).first
        panel.click()
        visitor.settle()
        field = visitor.page.locator("details[open] input[type=file]").last
        field.set_input_files({"name": bad, "mimeType": "application/octet-stream", "buffer": refused()[bad]})
        visitor.page.wait_for_timeout(700)
        visitor.settle()
        assert any(len(said) > 20 for said in complaints(visitor)), title
        if right is not None:
            visitor.press(words["public_table.forget"])
            field = visitor.page.locator("details[open] input[type=file]").last
            field.set_input_files({"name": right[0], "mimeType": "text/csv", "buffer": right[1]})
            visitor.page.wait_for_timeout(700)
            assert "learns from last.csv" in visitor.settle().words()
        panel.click()


def test_a_header_that_turns_letters_round_turns_none_beside_it_and_a_long_one_is_broken(visitor):
    head = "\u202eevil,\u2067other," + "x" * 300
    rows = "".join(f"{i % 3},{i % 2},{i % 5}\n" for i in range(60))
    visitor.open().pick(catalogue()["data.way_upload"])
    visitor.upload("turned.csv", f"{head}\n{rows}".encode())
    visitor.page.locator(".st-key-quick_to_guide button:visible").first.click()
    visitor.settle()
    filled = "() => [...document.querySelectorAll('[data-testid=stDataFrame] canvas')].some(c => c.textContent.trim())"
    visitor.page.wait_for_function(filled)
    drawn = visitor.page.get_by_test_id("stDataFrame").locator("canvas")
    table = drawn.evaluate_all("all => all.map(c => c.textContent).join(' ')")
    words = visitor.words() + table
    assert "\ufffdevil" in table and not re.search("[\u202a-\u202e\u2066-\u2069]", words)
    wider = "() => { const m = document.querySelector('[data-testid=stMain]'); return m.scrollWidth - m.clientWidth; }"
    assert visitor.page.evaluate(wider) <= 0
