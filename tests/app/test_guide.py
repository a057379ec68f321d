"""The guide for one's own table: agreeing, changing, buying and leaving out, column by column or all at once."""

import re
import zlib

import numpy as np
import pytest

from dpsyn_core.measure.discovery import Wanted
from dpsyn_core.schema.drafts.proposal import Proposal
from tests.app_driver import at_page, keys, space_of, uploaded, words
from ui.schema import guide

RNG = np.random.default_rng(0)
RAW = (
    b"row number,age,wage,union,hired,code\n"
    + "".join(
        f"{i},{18 + i % 50},{RNG.gamma(2, 4):.2f},{'yes' if i % 3 else 'no'},{1 + i % 28:02d}/0{1 + i % 9}/2019,x{i}y\n"
        for i in range(1, 260)
    ).encode()
)


def guided(app):
    uploaded(app, name="work.csv", raw=RAW)
    app.button(key="quick_to_guide").click().run()
    assert not app.exception
    return app


def mark(name):
    return f"{zlib.crc32(name.encode()):08x}"


@pytest.mark.slow
def test_the_red_box_leads_to_proposals_that_are_never_the_exact_ends_and_agreeing_ends_the_stamp(app):
    guided(app)
    assert "whole number, 0 to 120; no cell is blank" in words(app)
    assert "In the table: 18 to 67." in words(app) and "Ends are rounded outward." in words(app)
    assert "date written as 31/12/2019, 2019-01-01 to 2019-12-31" in words(app)
    assert "Every record has a value of its own" in words(app)
    app.button(key="guide_agree").click().run()
    schema = space_of(app).schema
    assert schema.private
    assert [a.name for a in schema.coded] == ["age", "wage", "union", "hired"]
    assert (schema["age"].min, schema["age"].max) == (0, 120)
    assert "Every column is decided" in app.success[0].value
    app.button(key="schema_undo").click().run()
    assert not space_of(app).schema.private, "a press too many is taken back"


@pytest.mark.slow
def test_columns_are_decided_one_by_one(app):
    guided(app)
    shown = [k.removeprefix("leave_") for k in keys(app.button) if k.startswith("leave_")]
    assert shown.index(mark("code")) < shown.index(mark("age")), "columns with a problem stand first"
    app.button(key=f"know_{mark('age')}").click().run()
    assert space_of(app).schema["age"].source == "public"
    app.button(key=f"leave_{mark('union')}").click().run()
    assert space_of(app).schema["union"].kind == "ignored"
    app.button(key=f"change_{mark('wage')}").click().run()
    app.text_input(key=f"content_{mark('wage')}").set_value("0 to abc")
    next(b for b in app.button if b.label == "Save").click().run()
    assert "'abc' is not a number" in app.error[0].value
    app.text_input(key=f"content_{mark('wage')}").set_value("0 to 99")
    next(b for b in app.button if b.label == "Save").click().run()
    wage = space_of(app).schema["wage"]
    assert (wage.max, wage.source) == (99, "public")


@pytest.mark.slow
def test_how_cells_are_written_is_changed_by_an_example(app):
    guided(app)

    def written(column, example):
        app.button(key=f"change_{mark(column)}").click().run()
        app.text_input(key=f"way_{mark(column)}").set_value(example)
        next(b for b in app.button if b.label == "Save").click().run()

    assert "in steps of 0.01" in words(app) and "number, 0.0 to" not in words(app)
    written("hired", "tomorrow")
    assert "not read as a date" in app.error[0].value
    app.text_input(key=f"way_{mark('hired')}").set_value("Dec 31, 2019")
    next(b for b in app.button if b.label == "Save").click().run()
    assert space_of(app).schema["hired"].formats == ("%b %d, %Y",)
    written("wage", "$1,234.50")
    assert space_of(app).schema["wage"].written == "$1,234.50" and not app.error


@pytest.mark.slow
def test_a_column_that_was_left_out_can_be_bought_from_the_guide(app):
    guided(app)
    app.button(key=f"buy_{mark('code')}").click().run()
    chosen = next(m for m in app.multiselect if m.key and m.key.startswith("buying_"))
    assert chosen.value == ["code"]
    assert "To be bought: code" in words(app)
    app.button(key=f"buy_{mark('wage')}").click().run()
    assert next(m for m in app.multiselect if m.key and m.key.startswith("buying_")).value == ["code", "wage"]


@pytest.mark.slow
def test_public_ends_are_asked_of_ages_and_years_and_nothing_comes_out_beyond_them(app):
    rows = "".join(f"{1980 + i % 8},{18 + i % 60},{i % 9}\n" for i in range(800))
    uploaded(app, name="panel.csv", raw=b"year,age,size\n" + rows.encode())
    app.button(key="quick_to_guide").click().run()
    assert words(app).count("From which year, and until which?") == words(app).count("Adults only") == 1
    for column, low, high in (("year", "1980", "1987"), ("age", "18", "")):
        app.text_input(key=f"low_{mark(column)}").set_value(low)
        app.text_input(key=f"high_{mark(column)}").set_value(high)
        next(b for b in app.button if b.key and f"ends_{mark(column)}" in b.key).click().run()
        assert not app.error
    schema = space_of(app).schema
    assert schema["year"].values == tuple(range(1980, 1988)) and schema["year"].source == "public"
    assert (schema["age"].min, schema["age"].max, schema["age"].source) == (18, 120, "public")


@pytest.mark.slow
def test_text_of_many_values_is_kept_by_a_public_list_or_by_the_beginnings_of_its_codes(app):
    rows = "".join(f"{10000 + i * 89:05d},work {chr(97 + i % 26)}{chr(97 + i % 17)},{i % 9}\n" for i in range(900))
    uploaded(app, name="jobs.csv", raw=b"plz,job,size\n" + rows.encode())
    app.button(key="quick_to_guide").click().run()
    assert "by how cells begin: beginnings: the first digits, 2" in words(app)
    assert re.search(r"values that about \d+ people have cost epsilon 0.5", words(app))
    app.selectbox(key=f"list_{mark('job')}").set_value("isco").run()
    app.button(key=f"list_save_{mark('job')}").click().run()
    job = space_of(app).schema["job"]
    assert (job.source, job.by_prefix, job.values[0]) == ("public", True, "01")
    app.button(key=f"know_{mark('plz')}").click().run()
    plz = space_of(app).schema["plz"]
    assert plz.by_prefix and len(plz.values) == 100
    assert Wanted.of(plz.document(), known=True).above == plz.values, "what is bought of it stands below its beginnings"


def test_in_safe_mode_the_guide_shows_nothing_of_the_table(app):
    guided(app)
    app.toggle(key="safe").set_value(True).run()
    at_page(app, "schema")
    assert "In the table" not in words(app)


@pytest.mark.slow
def test_kinds_and_dates_of_digits_stand_as_people_write_them(app):
    raw = b"started,wage\n" + b"".join(b"2019%02d%02d,%d\n" % (1 + i % 12, 1 + i % 28, 100 + i // 2) for i in range(90))
    uploaded(app, name="start.csv", raw=raw)
    app.session_state["language"] = "de"
    app.button(key="quick_to_guide").click().run()
    assert "ganze Zahl, " in words(app) and "whole number" not in words(app)
    assert "Datum, geschrieben als 20191231, 01.01.2019 bis 31.12.2019" in words(app)
    assert "20190101 bis" in words(app)


@pytest.mark.slow
def test_values_that_hold_commas_and_times_of_day_are_read_at_once(app):
    tariffs = ("Household, standard", "Household, two rates", "Street lights")
    lines = "".join(
        f'2023-05-{1 + i % 28:02d} {i % 24:02d}:{15 * (i % 4):02d},"{tariffs[i % 3]}"\n' for i in range(300)
    )
    uploaded(app, name="meters.csv", raw=b"read at,tariff\n" + lines.encode())
    app.button(key="quick_to_guide").click().run()
    said = words(app)
    assert "Household, standard · Household, two rates · Street lights" in said and "the same values" in said
    assert "In the table: 2023-05-01 00:00 to" in said and "T00:00" not in said


RATED = b"grade,closed,rooms\n" + b"".join(
    b"%.1f,2019-%02d-%02d,%d\n"
    % (1 + i % 91 / 10, m, (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[m - 1], 1 + i % 37)
    for i in range(300)
    for m in (1 + i % 12,)
)


def test_natural_ends_and_the_rhythm_of_dates_are_asked_for_and_kept(app):
    uploaded(app, name="rated.csv", raw=RATED)
    app.button(key="quick_to_guide").click().run()
    said = words(app)
    assert "number, 1 to 10 in steps of 0.1" in said and "ends of a usual scale" in said
    assert "2019-01-01 to 2019-12-31, last days of months only" in said
    assert "whole number, 1 to 40" in said
    app.text_input(key=f"high_{mark('rooms')}").set_value("a lot")
    save = next(b for b in app.button if b.label == "Save the ends" and b.form_id == f"ends_{mark('rooms')}")
    save.click().run()
    assert "'a' is not a number" in app.error[0].value or "public range" in app.error[0].value
    app.text_input(key=f"high_{mark('rooms')}").set_value("50")
    next(b for b in app.button if b.label == "Save the ends" and b.form_id == f"ends_{mark('rooms')}").click().run()
    rooms = space_of(app).schema["rooms"]
    assert (rooms.min, rooms.max, rooms.source) == (1, 50, "public")
    app.button(key=f"change_{mark('closed')}").click().run()
    app.selectbox(key=f"rhythm_{mark('closed')}").set_value("quarter-end")
    next(b for b in app.button if b.label == "Save").click().run()
    closed = space_of(app).schema["closed"]
    assert (closed.rhythm, closed.size, closed.source) == ("quarter-end", 4, "public")


def test_a_rhythm_is_typed_into_the_table_of_columns_and_one_that_says_nothing_is_explained():
    from ui.schema.rows import Row, changed, shown

    date = {"name": "d", "kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "source": "public"}
    cells = {"name": "d", **shown(date)}
    made = changed(Row(date, {}), {**cells, "content": "2020-01-01 to 2020-12-31, mondays"})
    assert made.document["rhythm"] == "mondays" and shown(made.document)["content"].endswith(", mondays")
    dropped = changed(Row(made.document, {}), {**cells, "content": "2020-01-01 to 2020-12-31"})
    assert "rhythm" not in dropped.document
    assert "says nothing" in changed(Row(date, {}), {**cells, "content": "2020-01-01 to 2020-12-31, log"}).problem
    whole = {"name": "n", "kind": "numeric", "dtype": "integer", "min": 0, "max": 9, "source": "public"}
    refused = changed(Row(whole, {}), {"name": "n", **shown(whole), "content": "0 to 9, mondays"})
    assert "'mondays' says nothing" in refused.problem


def test_a_range_in_the_german_table_is_german_and_a_decimal_comma_is_one_in_both_languages(monkeypatch):
    from ui.schema.rows import Row, changed, shown
    from ui.shared.text import LANGUAGE

    mark_of = {
        "name": "m",
        "kind": "numeric",
        "dtype": "float",
        "min": 1.0,
        "max": 5.5,
        "step": 0.5,
        "source": "public",
    }
    date = {"name": "d", "kind": "datetime", "min": "2018-01-01", "max": "2025-12-31", "source": "public"}
    for language, dates, numbers in (
        ("en", "2018-01-01 to 2025-12-31", "1 to 5.5 by 0.5"),
        ("de", "2018-01-01 bis 2025-12-31", "1 bis 5,5 Schritt 0,5"),
    ):
        monkeypatch.setenv(LANGUAGE, language)
        assert (shown(date)["content"], shown(mark_of)["content"]) == (dates, numbers)
        made = changed(Row(mark_of, {}), {"name": "m", **shown(mark_of), "content": "0,5 bis 1000,5 Schritt 0,5"})
        assert (made.document["min"], made.document["max"], made.problem) == (0.5, 1000.5, "")
        again = changed(Row(made.document, {}), {"name": "m", **shown(made.document), "missing": True})
        assert again.document == made.document | {"missing": True}
    monkeypatch.setenv(LANGUAGE, "en")
    grown = changed(Row(mark_of, {}), {"name": "m", **shown(mark_of), "content": "0 to 1,000"})
    assert grown.document["max"] == 1000


def test_a_proposed_list_is_shown_whole_for_each_of_its_values_is_agreed_to():
    values = [f"v{i}" for i in range(60)]
    document = {"name": "a", "kind": "categorical", "values": values, "source": "public"}
    seen = {"what": "values", "values": values}
    said = guide.proposed(Proposal(name="a", document=document, seen=seen, why="values"))
    assert all(value in said for value in values) and "more" not in said
