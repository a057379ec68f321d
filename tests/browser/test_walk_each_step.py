"""Back, reload, a second tab and a refused file at each page of a finished walk: nothing is lost and nothing breaks."""

from pathlib import Path

import pytest

from tests.browser.conftest import made
from ui.shared.text import ASSETS, catalogue

pytestmark = pytest.mark.browser

PAGES = ("Schema", "Privacy", "Questions", "Synthesize", "Report", "Export", "Learn")
BROKEN = ("Traceback", "KeyError", "StreamlitAPIException", "Oh no")
PICTURE = b"\x89PNG\r\n\x1a\n" + b"data\n" * 20
MORE = ("release", "plan", "grid")  # pages that the menu holds


def whole(visitor):
    """The page has a heading and no trace of a fault."""
    words = visitor.words()
    assert not [b for b in BROKEN if b in words], words[-600:]
    assert visitor.page.get_by_test_id("stException").count() == 0
    return visitor.page.get_by_role("heading", level=1).first.inner_text()


def test_back_and_reload_at_each_page_keep_the_page_the_table_and_the_run(finished):
    finished.go("Data")
    before = whole(finished)
    for title in PAGES:
        finished.go(title)
        here = whole(finished)
        finished.page.go_back()
        finished.settle()
        assert whole(finished) == before, f"Back from {title}"
        finished.page.go_forward()
        finished.settle()
        assert whole(finished) == here, f"Forward to {title}"
        finished.page.reload()
        finished.settle()
        assert whole(finished) == here, f"reload of {title}"
        before = here
    finished.go("Export")
    assert finished.page.get_by_role("button", name="Download CSV", exact=True).count() == 1, "the run is still there"


def test_the_script_below_a_lab_can_run_again_in_one_page(visitor):
    visitor.open("learn")
    run = "text => document.body.append(Object.assign(document.createElement('script'), {text}))"
    for _ in range(2):
        visitor.page.evaluate(run, (ASSETS / "share.js").read_text("utf-8"))
    assert not visitor.faults, "names of its first run are in the way of the second"


def test_back_in_the_labs_goes_from_lab_to_lab_and_out_at_one_press_each(visitor):
    """Each control of a lab writes the address; none of them is a page of its own."""

    def title():
        return visitor.page.get_by_role("heading", level=1).first.inner_text()

    visitor.open()
    visitor.go("Learn")
    shelf = title()
    visitor.page.get_by_role("button", name=catalogue()["learn.count.question"], exact=True).first.click()
    visitor.settle()
    visitor.page.get_by_role("button", name=catalogue()["guess.show"], exact=True).first.click()
    visitor.settle()
    visitor.page.get_by_role("slider").first.press("ArrowRight")
    visitor.settle()
    first = title()
    visitor.page.locator(".st-key-learn_next button").first.click()
    visitor.settle()
    assert title() not in (first, shelf)
    for expected in (first, shelf, "Which table should be protected?"):
        visitor.page.go_back()
        visitor.settle()
        assert title() == expected


def test_a_second_tab_at_each_page_leaves_the_first_as_it_was(finished):
    finished.go("Export")
    first = whole(finished)
    second = finished.context.new_page()
    faults = []
    second.on("pageerror", lambda error: faults.append(str(error)))
    for name in ("", *(p.lower() for p in PAGES), *MORE):
        second.goto(f"{finished.server.url}/{name}")
        second.get_by_role("heading", level=1).first.wait_for()
        second.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']")
        said = second.get_by_test_id("stApp").inner_text()
        assert not [b for b in BROKEN if b in said], f"second tab at {name}"
    second.close()
    assert not faults
    finished.settle()
    assert whole(finished) == first
    assert finished.page.get_by_role("button", name="Download CSV", exact=True).is_enabled()
    finished.go("Report")
    assert "Declare this as a question" in finished.words()


@pytest.mark.parametrize("address", ["", "privacy", "questions", "synthesize", "plan", "release"])
def test_every_field_for_files_answers_a_picture_in_a_sentence(visitor, address):
    """What is refused changes nothing else on the page."""
    visitor.open(address)
    if not address:
        visitor.pick("Upload")
    for expander in visitor.page.locator("[data-testid=stExpander] summary:visible").all():
        expander.click()
    visitor.settle()
    fields = visitor.page.locator("input[type=file]")
    for k in range(fields.count()):
        alerts = visitor.page.get_by_role("alert").count()
        said = visitor.words()
        visitor.upload("photo.png", PICTURE, label=k)

        def answered(alerts=alerts, said=said):
            return visitor.page.get_by_role("alert").count() > alerts or len(visitor.words()) > len(said)

        assert visitor.until(answered), f"field {k}"
        visitor.settle()
        whole(visitor)
        new = visitor.words()
        assert any(word in new for word in ("not a file", "image", "is no", "not allowed", "cannot", "refused")), new


def test_an_excel_file_is_made_and_taken_at_one_press(finished):
    finished.go("Export")
    with finished.page.expect_download(timeout=120_000) as waiting:
        finished.page.get_by_role("button", name="Download Excel", exact=True).first.click()
    assert Path(waiting.value.path()).read_bytes()[:2] == b"PK"
    finished.settle()
    assert finished.page.get_by_role("progressbar").count() == 0


def test_a_press_in_one_tab_spends_nothing_on_the_table_that_another_tab_loaded(visitor):
    visitor.open()
    first, second = visitor.page, visitor.context.new_page()
    visitor.page = second
    visitor.open()
    visitor.pick("Upload")
    visitor.upload("pets.csv", b"kind,age\n" + b"cat,3\ndog,5\ncat,7\n" * 60)
    assert "pets.csv" in visitor.words()
    visitor.page = first
    visitor.press("Synthesize")
    assert "Another tab loaded another table, and nothing was spent" in visitor.words()
    assert "pets.csv" in visitor.words() and "runs: 0" in visitor.words()
    whole(visitor)
    second.close()


def test_a_cancelled_run_leaves_every_page_with_the_run_before_it(visitor):
    visitor.open()
    made(visitor, "independent")
    visitor.long().choose("system", "rls")
    visitor.page.get_by_role("button", name="Spend epsilon 1 and synthesize").click()
    visitor.page.get_by_role("button", name="Cancel").first.dispatch_event("click")
    visitor.page.get_by_text("cancelled").first.wait_for()
    for title in ("Data", *PAGES):
        visitor.go(title)
        whole(visitor)
        if title in ("Data", "Export"):
            assert visitor.page.get_by_role("button", name="Download CSV", exact=True).is_enabled(), title
        if title == "Report":
            assert "Declare this as a question" in visitor.words()
    visitor.page.reload()
    visitor.settle()
    visitor.go("Export")
    assert visitor.page.get_by_role("button", name="Download CSV", exact=True).is_enabled(), "after a reload"


def test_a_refused_file_leaves_every_page_with_the_table_that_was_loaded(visitor):
    visitor.open()
    visitor.pick("Upload")
    visitor.upload("photo.png", PICTURE)
    visitor.page.get_by_role("alert").filter(has_text="image").wait_for(timeout=60_000)
    for title in (*PAGES, "Data"):
        visitor.go(title)
        whole(visitor)
        assert "Simulated census" in visitor.words(), title
    assert visitor.page.get_by_role("button", name="Synthesize", exact=True).is_enabled()
