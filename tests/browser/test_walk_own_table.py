"""One's own table: from its file to a guaranteed synthetic CSV for somebody who agrees with the proposals."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from tests.browser.conftest import DONE
from ui.shared.text import catalogue

pytestmark = pytest.mark.browser


def panel(n=900):
    """Row numbers without a header, ages, a wage with two digits, dates of another country, words for nothing."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 71, n),
            "wage": rng.gamma(3, 3, n).round(2).astype(str),
            "sex": rng.choice(["M", "F"], n),
            "hired": [f"{1 + i % 28:02d}/{1 + i % 12:02d}/20{10 + i % 9}" for i in range(n)],
            "region": rng.choice(["north", "south", "west"], n),
        }
    )
    frame.loc[:9, "wage"] = "NA"
    frame.index = range(1, n + 1)
    return frame.to_csv().encode()


def test_own_table_to_a_guaranteed_csv_takes_at_most_seven_clicks(visitor):
    clicks = []

    def press(what):
        clicks.append(what)
        what.click()
        return visitor.settle()

    page = visitor.page
    visitor.open()
    press(page.get_by_role("radio", name="Upload", exact=True).first)
    clicks.append("the file")
    visitor.upload("panel.csv", panel())
    press(page.get_by_role("button", name=re.compile("^Say what is public")).first)
    press(page.get_by_role("button", name=re.compile("^I can confirm all")))
    clicks.append("synthesize")
    page.get_by_test_id("stMain").get_by_role("button", name="Synthesize", exact=True).first.click()
    page.get_by_role("button", name="Download CSV").first.wait_for(timeout=DONE)
    visitor.settle()
    clicks.append("download")
    got = pd.read_csv(io.BytesIO(visitor.download("Download CSV")))
    assert len(clicks) <= 7
    assert list(got.columns) == ["age", "wage", "sex", "hired", "region"]
    assert "NOT PRIVATE" not in visitor.words()
    assert got["age"].between(0, 120).all() and set(got["sex"]) <= {"M", "F"}
    assert got["hired"].str.fullmatch(r"\d\d/\d\d/20\d\d").mean() > 0.9


def test_who_is_one_person_stays_as_it_was_chosen_while_other_things_are_pressed(visitor):
    lines = (b"%d,%d,%s\n" % (i // 3, 1 + i % 3, (b"yes", b"no")[i % 2]) for i in range(300))
    raw = b"person,year,union\n" + b"".join(lines)
    page = visitor.page
    visitor.open()
    visitor.pick("Upload").upload("years.csv", raw)
    visitor.press("Yes: one person is all rows with the same person")
    page.get_by_role("spinbutton", name="Maximum rows per person").first.fill("3")
    page.keyboard.press("Enter")
    visitor.settle()
    visitor.pick("Columns")
    assert "each person" in visitor.words() and "at most 3 records each" in visitor.words()
    assert "all rows with the same person" in page.get_by_role("combobox", name="one person is").first.input_value()
    assert "theta=3" in page.url
    page.get_by_role("button", name=re.compile("^Say what is public")).first.click()
    visitor.settle()
    assert catalogue()["guide.columns"] in visitor.words(), "a press leads on whatever the address carries"
    visitor.go("Data")
    assert "each person" in visitor.words() and "at most 3 records each" in visitor.words()
    visitor.choose("one person is", "each row")
    assert "at most 3 records each" not in visitor.words()


def test_a_table_of_a_few_records_is_said_to_tell_next_to_nothing(visitor):
    visitor.open()
    visitor.page.get_by_role("radio", name="Upload", exact=True).first.click()
    visitor.settle()
    visitor.upload("few.csv", b"age,sex\n" + b"31,M\n44,F\n27,F\n" * 2)
    visitor.page.get_by_test_id("stMain").get_by_role("button", name="Synthesize", exact=True).first.click()
    visitor.page.get_by_role("button", name="Download CSV").first.wait_for(timeout=DONE)
    assert "is close to its noise (standard deviation" in visitor.settle().words()


def test_a_reload_finds_the_uploaded_table_and_how_it_was_read(visitor):
    visitor.open()
    visitor.pick("Upload").upload("pets.csv", b"kind,age\n" + b"cat,3\ndog,5\ncat,7\n" * 60)
    visitor.page.reload()
    visitor.settle()
    assert "pets.csv" in visitor.words() and catalogue()["data.correct"] in visitor.words()
    assert catalogue()["data.sample_note"] not in visitor.words(), "the sample is not what is loaded"


def test_the_guide_has_its_press_in_view_and_all_of_its_table_however_many_columns_there_are(another):
    """At 1280 x 800, with as many problems above the table as a usual file has."""
    visitor = another()
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": 800})
    heads = ["card_no", "reader_age", *(f"year_{i}" for i in range(6)), *(f"day_{i}" for i in range(8))]
    rows = "".join(
        f"{i % 90},{i % 70},{','.join(str(1950 + (i * k) % 70) for k in range(1, 7))},"
        f"{','.join(f'2024-{1 + i % 12:02d}-{1 + (i + k) % 28:02d}' for k in range(8))}\n"
        for i in range(400)
    )
    visitor.open()
    visitor.pick("Upload").upload("library.csv", f"{','.join(heads)}\n{rows}".encode())
    page.get_by_role("button", name=re.compile("^Say what is public")).first.click()
    visitor.settle().press("Yes: one person is all rows with the same card_no")
    for key in ("limit_taken", "guide_agree"):
        press = page.locator(f".st-key-{key} button:visible").first
        box = press.bounding_box()
        assert box["y"] + box["height"] <= 800, key
        if key == "limit_taken":
            press.click()
            visitor.settle()
    table = page.locator(".st-key-guide_columns [data-testid=stDataFrame]").first
    inner = table.evaluate(
        "e => { const s = e.querySelector('.dvn-scroller'); return [s.scrollWidth, s.clientWidth]; }"
    )
    assert inner[0] <= inner[1], "no column is cut off at the right"
    wide, bar = table.bounding_box(), page.locator(".st-key-guide_agree").first.bounding_box()
    assert wide["x"] + wide["width"] <= 1280
    assert bar["x"] <= wide["x"] and bar["x"] + bar["width"] >= wide["x"] + wide["width"], (
        "nothing shows beside the bar"
    )
