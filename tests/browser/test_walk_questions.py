"""The shortest walk with a question, in a real browser: declared, its expected error seen, run, answered."""

import re

import pytest

from tests.browser.conftest import DONE

pytestmark = pytest.mark.browser
CLICKS = 8  # a newcomer needs at most so many, from the sample to an answer with its interval


def test_the_pay_gap_is_declared_and_answered_with_its_interval_in_at_most_eight_clicks(visitor):
    clicks = []

    def click(locator):
        clicks.append(1)
        locator.click()

    visitor.open()
    button = visitor.page.get_by_role
    click(visitor.page.get_by_test_id("stTopNavLink").filter(has_text="Questions"))
    visitor.settle()
    click(button("button", name=re.compile("^Add: gap of INCWAGE")))
    visitor.settle()
    said = visitor.words()
    assert "If you do not declare it: not measured" in said
    assert re.search(r"Declared: a figure is off by about \d", said), "the error falls before anything is spent"
    click(button("button", name="Continue: synthesize"))
    visitor.settle()
    click(button("button", name="Spend epsilon 1 and synthesize"))
    button("button", name="Report", exact=True).first.wait_for(timeout=DONE)
    click(button("button", name="Report", exact=True).first)
    visitor.settle()
    click(button("radio", name="Explore", exact=True).first)
    visitor.settle()
    visitor.page.get_by_text("95% confidence").first.wait_for(timeout=DONE)
    drawn = visitor.plots()[0]
    assert {c["name"] for c in drawn} == {"real", "estimate from the release"} and len(drawn[0]["y"]) == 10
    assert len(clicks) <= CLICKS
    assert "Their order agrees at" in visitor.words()
