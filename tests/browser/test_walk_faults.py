"""What newcomers ran into, in a real browser: one test for each kind of fault."""

import pytest

from tests.browser.conftest import DONE, Server, Visitor, free_port
from ui.shared.text import catalogue, written

pytestmark = pytest.mark.browser


def test_back_and_forward_leave_the_budget_usable_and_the_page_at_one_press(visitor):
    visitor.open()
    visitor.go("Privacy")
    slider = visitor.page.get_by_role("slider").first
    slider.focus()
    slider.press("ArrowRight")
    visitor.settle()
    visitor.page.go_back()
    visitor.settle()
    assert "Which table should be protected?" in visitor.words()
    assert "Spends epsilon 1.5" in visitor.words()
    visitor.go("Privacy")
    visitor.page.get_by_text(catalogue()["privacy.more"], exact=True).first.click()
    visitor.page.get_by_text("replace one").first.click()
    visitor.settle()
    visitor.go("Synthesize")
    visitor.page.go_back()
    visitor.settle()
    assert "blank" not in visitor.words()
    visitor.page.get_by_text(catalogue()["privacy.more"], exact=True).first.click()
    assert visitor.page.get_by_role("textbox", name="epsilon", exact=True).first.input_value() == "1.5"
    assert visitor.page.get_by_role("radio", name="replace one").is_checked(), "the unit stays what was chosen"
    assert visitor.page.get_by_role("button", name="Continue: synthesize").is_enabled()


def test_a_file_of_any_kind_that_is_refused_gets_a_sentence(visitor):
    visitor.open()
    visitor.pick("Upload")
    visitor.upload("photo.png", b"\x89PNG\r\n\x1a\n" + b"data\n" * 20)
    visitor.page.get_by_role("alert").filter(has_text="image").wait_for(timeout=60_000)
    assert "Synthesize would use, is still Simulated census" in visitor.words()
    quick = visitor.page.get_by_role("button", name="Synthesize", exact=True)
    assert quick.get_attribute("kind") == "secondary"
    visitor.go("Questions")
    visitor.upload("answers.txt", b"1")
    assert "is not a file that is read here; give one whose name ends in .json" in visitor.words()


def test_a_german_browser_gets_german_words_and_german_numbers(another):
    visitor = another(locale="de-DE").open()
    assert written("de")["data.title"] in visitor.words()
    assert "20.000 Datensätze" in visitor.words()
    visitor.go("Schutz")
    visitor.type("Epsilon", "1,5")
    assert visitor.page.evaluate("document.querySelector('.js-plotly-plot')._fullLayout.separators") == ",."
    visitor.go("Synthese")
    assert "Epsilon 1,5" in visitor.words()


def test_a_result_is_announced_and_a_cancelled_run_does_not_take_it_away(visitor):
    visitor.page.set_viewport_size({"width": 390, "height": 700})
    visitor.open()
    visitor.press("Synthesize")
    visitor.page.get_by_test_id("stToast").filter(has_text=catalogue()["outcome.report"]).first.wait_for(timeout=DONE)
    visitor.page.get_by_role("button", name=catalogue()["outcome.report"], exact=True).first.wait_for()
    visitor.long().look()
    visitor.page.get_by_role("button", name="Synthesize", exact=True).first.click()
    visitor.page.get_by_role("button", name="Cancel", exact=True).first.dispatch_event("click")
    visitor.page.get_by_text("cancelled").first.wait_for()
    visitor.settle()
    assert visitor.page.get_by_role("button", name="Download CSV", exact=True).count() == 1


def test_safe_mode_says_what_it_promises(visitor):
    visitor.open()
    assert "on Schema and Synthesize runs and purchases can still be started" not in visitor.words()
    visitor.page.get_by_role("button", name="Synthesize", exact=True).wait_for()
    visitor.page.get_by_text("Safe mode").first.click()
    visitor.page.get_by_text("In safe mode nothing is spent here").wait_for()
    visitor.settle()
    assert "on Schema and Synthesize runs and purchases can still be started" in visitor.words()
    assert visitor.page.get_by_role("button", name="Synthesize", exact=True).count() == 0, "nothing is spent here"


CUT_BUTTONS = """() => [...document.querySelectorAll('[data-testid=stMain] button [data-testid=stMarkdownContainer]')]
    .filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_button_of_the_guide_is_cut_off_on_a_phone(visitor, language):
    visitor.page.set_viewport_size({"width": 390, "height": 900})
    visitor.open("", f"?lang={language}")
    visitor.pick(written(language)["data.way_upload"])
    visitor.upload(
        "rated.csv",
        b"score,town\n" + b"".join(b"%.1f,%s\n" % (1 + i % 91 / 10, b"AB"[i % 2 : i % 2 + 1]) for i in range(300)),
    )
    visitor.page.locator(".st-key-quick_to_guide button:visible").first.click()
    visitor.page.locator(".st-key-guide_agree button:visible").first.wait_for()
    visitor.settle()
    assert visitor.page.evaluate(CUT_BUTTONS) == []


def test_the_address_of_the_first_page_leads_to_it(visitor):
    visitor.open("data")
    visitor.page.get_by_role("heading", level=1).first.wait_for()
    assert "Which table should be protected?" in visitor.words()
    assert visitor.page.get_by_test_id("stTopNavLink").count() == 8, "it stands in the row of pages once"


def test_another_language_midway_is_no_edit_and_leaves_the_way_on_open(visitor):
    rows = b"".join(b"a long name of town %d,%d\n" % (i % 60, i) for i in range(1200))
    visitor.open()
    visitor.pick("Upload")
    visitor.upload("towns.csv", b"town,age\n" + rows)
    visitor.page.locator(".st-key-quick_to_guide button:visible").first.click()
    visitor.page.locator(".st-key-guide_agree button:visible").first.wait_for()
    for language in ("Deutsch", "English"):
        visitor.pick(language)
        assert "not JSON" not in visitor.words() and "kein JSON" not in visitor.words()
    visitor.page.locator(".st-key-guide_agree button:visible").first.click()
    visitor.settle()
    visitor.page.go_back()
    visitor.settle()
    visitor.page.go_forward()
    visitor.settle()
    assert "does not fit" not in visitor.words()
    assert visitor.page.locator(".st-key-guide_run button:visible").first.is_enabled()


def test_a_file_above_the_limit_is_said_not_to_be_loaded_and_the_sample_is_not_offered_for_it(chromium, tmp_path):
    server = Server(tmp_path, free_port(), "--server.maxUploadSize", "1")
    visitor = Visitor(chromium, server)
    try:
        visitor.open()
        visitor.pick("Upload")
        visitor.upload("large.csv", b"a,b\n" + b"1,2\n" * 400_000)
        assert "No file of yours is loaded" in visitor.words() and "above 1 MB" in visitor.words()
        assert visitor.page.get_by_role("button", name="Synthesize", exact=True).get_attribute("kind") == "secondary"
        visitor.upload("small.csv", b"a,b\n" + b"1,2\n" * 40)
        assert "No file of yours is loaded" not in visitor.words()
        visitor.close()
    finally:
        server.stop()


def test_a_reload_keeps_the_choices_of_the_grid(visitor):
    visitor.open("grid")
    repeats = visitor.page.get_by_role("spinbutton", name=written("en")["grid.repeats"])
    repeats.fill("5")
    repeats.press("Enter")
    visitor.settle()
    visitor.page.reload()
    assert visitor.settle().page.get_by_role("spinbutton", name=written("en")["grid.repeats"]).input_value() == "5"


def test_a_link_with_a_number_without_an_end_opens_the_page_with_the_usual_ones(visitor):
    visitor.open("privacy", "?theta=1e400&k=-inf")
    assert catalogue()["error.fault"] not in visitor.words()
    visitor.page.get_by_text(catalogue()["privacy.more"], exact=True).first.click()
    field = visitor.settle().page.get_by_role("spinbutton", name=catalogue()["unit.theta"])
    assert field.input_value() == "1"
