"""A class in a real browser: one address, a lab that the lecturer's link pins, and links that a button copies."""

import pytest

from tests.browser.conftest import Server, Visitor, free_port
from ui.shared.access import CLASSROOM
from ui.shared.text import catalogue

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    """A server for a class; its tests leave nothing behind but guesses of one lab."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLASSROOM, "1")
        server = Server(tmp_path_factory.mktemp("class"), free_port(), "--server.maxUploadSize", "0")
    yield server
    server.stop()


@pytest.fixture
def pupil(chromium, classroom):
    one = Visitor(chromium, classroom, permissions=["clipboard-read", "clipboard-write"])
    yield one
    one.close()


def test_a_lecturers_link_shows_one_lab_as_it_was_set_and_nothing_to_upload_or_spend(pupil):
    page = pupil.page
    pupil.open("", "?lab=leak&leak_holders=7&open=1")
    page.get_by_text(catalogue()["learn.link.pin"]).click()
    page.wait_for_timeout(300)
    link = page.evaluate("navigator.clipboard.readText()")
    assert "leak_holders=7" in link and "pin=1" in link
    page.goto(link)
    pupil.settle()
    assert page.locator(".js-plotly-plot").count() == 0, "the guess comes first"
    pupil.press(catalogue()["guess.show"])
    assert catalogue()["learn.leak.question"] in pupil.words()
    assert page.get_by_role("spinbutton").first.input_value() == "7"
    assert page.get_by_test_id("stTopNavLink").count() == page.get_by_test_id("stSelectbox").count() == 0
    assert page.locator("input[type=file]").count() == page.get_by_test_id("stSidebar").count() == 0
    pupil.open("learn", "?lab=race&open=1")  # as links are that were made in the whole app
    assert catalogue()["learn.race.beforehand"] in pupil.words()
    pupil.open("synthesize")
    assert catalogue()["synthesize.title"] not in pupil.words()
    assert not list((pupil.server.home).glob("jobs/*")) and not (pupil.server.home / "ledger.sqlite3").exists()


def guess(one, presses):
    """Moves the guess by presses on the arrow key, each of one step, and compares it."""
    knob = one.page.get_by_role("slider").first
    knob.focus()
    for _ in range(presses):
        knob.press("ArrowRight")
    one.settle()
    one.press(catalogue()["guess.press"])


def test_guesses_of_a_class_stand_on_one_board_that_moves_by_itself(pupil, chromium):
    other = Visitor(chromium, pupil.server)
    try:
        for one in (pupil, other):
            one.open("learn", "?lab=attacker")
        guess(pupil, 10)
        assert catalogue()["guess.low"].format(answer="73.1", guess="60") in pupil.words()
        pupil.page.get_by_text(catalogue()["guess.board"]).first.click()
        guess(other, 40)
        pupil.page.get_by_text(catalogue()["guess.count"].format(count=2, middle=75)).first.wait_for(timeout=20_000)
    finally:
        other.close()


def test_a_lab_fills_the_screen_of_a_projector_and_comes_back(pupil):
    pupil.open("learn", "?lab=count&open=1")
    pupil.page.get_by_role("button", name=catalogue()["learn.link.full"], exact=True).click()
    pupil.page.wait_for_function("document.body.classList.contains('dp-projector') && !!document.fullscreenElement")
    pupil.page.wait_for_timeout(800)
    assert not pupil.page.get_by_test_id("stHeader").first.is_visible()
    size = "parseFloat(getComputedStyle(document.querySelector('.dp-lead')).fontSize)"
    assert pupil.page.evaluate(size) >= 20
    pupil.page.evaluate("document.exitFullscreen()")
    pupil.page.wait_for_function("!document.body.classList.contains('dp-projector')")
    assert pupil.page.evaluate(size) < 20
