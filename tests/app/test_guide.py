"""The guide for one's own table: agreeing, changing, buying and leaving out, column by column or all at once; rules."""

import re
import zlib

import numpy as np
import pytest

from dpsyn_core.measure.discovery import Wanted
from tests.app_driver import at_page, space_of, uploaded, words
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


def grid(app):
    """The table of the guide as it is drawn, without what was typed into it since."""
    return next(d for d in app.dataframe if d.key.startswith("guide_table"))


def put(app, name, **cells):
    """Types into the line of a column."""
    names = [n.removeprefix("⚠ ") for n in grid(app).value["name"]]
    before = app.session_state[grid(app).key]["edited_rows"] if grid(app).key in app.session_state else {}
    line = names.index(name)
    rows = {**before, line: {**before.get(line, {}), **cells}}
    app.session_state[grid(app).key] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    return app.run()


def line(app, name):
    """The cells of a column."""
    frame = grid(app).value
    return frame[[n.removeprefix("⚠ ") == name for n in frame["name"]]].iloc[0]


@pytest.mark.slow
def test_the_red_box_leads_to_proposals_that_are_never_the_exact_ends_and_agreeing_ends_the_stamp(app):
    guided(app)
    age, hired = line(app, "age"), line(app, "hired")
    assert (age["kind"], age["content"], age["seen"], age["also"]) == (
        "whole number",
        "0 to 120",
        "18 to 67",
        "none blank",
    )
    assert hired["content"] == "2019-01-01 to 2019-12-31" and "as 31/12/2019" in hired["also"]
    assert "every record has a value of its own" in words(app)
    ticked = dict(zip(grid(app).value["name"], grid(app).value["public"], strict=True))
    assert ticked == {n: n in ("⚠ row number", "⚠ code") for n in ticked}, "nothing of a column left out is published"
    assert all(n.startswith("⚠") for n in list(ticked)[:2]), "problems stand first"
    app.button(key="guide_agree").click().run()
    schema = space_of(app).schema
    assert schema.private
    assert [a.name for a in schema.coded] == ["age", "wage", "union", "hired"]
    assert (schema["age"].min, schema["age"].max) == (0, 120)
    assert "Every column is decided" in app.success[0].value
    app.button(key="schema_undo").click().run()
    assert not space_of(app).schema.private, "a press too many is taken back"


@pytest.mark.slow
def test_columns_are_decided_one_by_one_in_the_table(app):
    guided(app)
    put(app, "age", public=True)
    assert space_of(app).schema["age"].source == "public" and space_of(app).schema.from_data
    put(app, "age", public=False)
    assert space_of(app).schema["age"].source == "data", "a tick is taken back"
    put(app, "age", public=True)
    put(app, "union", kind="left out")
    assert space_of(app).schema["union"].kind == "ignored"
    put(app, "wage", content="0 to abc")
    assert "'abc' is not a number" in app.error[0].value and space_of(app).schema["wage"].source == "data"
    put(app, "wage", content="0 to 99")
    wage = space_of(app).schema["wage"]
    assert (wage.max, wage.source) == (99, "public"), "what is typed is a person's word"
    assert line(app, "wage")["public"] and line(app, "age")["public"]
    put(app, "hired", public=True)
    assert space_of(app).schema.private, "with the last tick what is left out is decided too"


@pytest.mark.slow
def test_how_cells_are_written_is_changed_by_an_example(app):
    guided(app)

    def written(column, example):
        app.selectbox(key="guide_more_about").set_value(column).run()
        app.text_input(key=f"way_{mark(column)}").set_value(example)
        next(b for b in app.button if b.label == "Save").click().run()

    assert line(app, "wage")["content"].endswith(" by 0.01")
    written("hired", "tomorrow")
    assert "not read as a date" in app.error[0].value
    written("hired", "Dec 31, 2019")
    assert space_of(app).schema["hired"].formats == ("%b %d, %Y",)
    written("wage", "$1,234.50")
    assert space_of(app).schema["wage"].written == "$1,234.50" and not app.error


@pytest.mark.slow
def test_a_column_that_was_left_out_can_be_bought_from_the_guide(app):
    guided(app)
    for column, chosen in (("code", ["code"]), ("wage", ["code", "wage"])):
        app.selectbox(key="guide_more_about").set_value(column).run()
        app.button(key=f"buy_{mark(column)}").click().run()
        assert next(m for m in app.multiselect if m.key and m.key.startswith("buying_")).value == chosen
    assert "To be bought: code, wage" in words(app)


@pytest.mark.slow
def test_public_ends_are_asked_of_ages_and_years_and_nothing_comes_out_beyond_them(app):
    rows = "".join(f"{1980 + i % 8},{18 + i % 60},{i % 9}\n" for i in range(800))
    uploaded(app, name="panel.csv", raw=b"year,age,size\n" + rows.encode())
    app.button(key="quick_to_guide").click().run()
    assert words(app).count("From which year, and until which?") == words(app).count("Adults only") == 1
    assert line(app, "year")["content"] == "1970 to 1990"
    put(app, "year", content="1987 to 1980")
    assert "the smaller end first" in app.error[0].value
    put(app, "year", content="1980 to 1987")
    put(app, "age", content="18 to 120")
    assert not app.error
    schema = space_of(app).schema
    assert schema["year"].values == tuple(range(1980, 1988)) and schema["year"].source == "public"
    assert (schema["age"].min, schema["age"].max, schema["age"].source) == (18, 120, "public")


@pytest.mark.slow
def test_text_of_many_values_is_kept_by_a_public_list_or_by_the_beginnings_of_its_codes(app):
    rows = "".join(f"{10000 + i * 89:05d},work {chr(97 + i % 26)}{chr(97 + i % 17)},{i % 9}\n" for i in range(900))
    uploaded(app, name="jobs.csv", raw=b"plz,job,size\n" + rows.encode())
    app.button(key="quick_to_guide").click().run()
    assert line(app, "plz")["content"] == "beginnings: the first digits, 2"
    app.selectbox(key="guide_more_about").set_value("job").run()
    assert re.search(r"values that about \d+ people have cost epsilon 0.5", words(app))
    app.selectbox(key=f"list_{mark('job')}").set_value("isco").run()
    app.button(key=f"list_save_{mark('job')}").click().run()
    job = space_of(app).schema["job"]
    assert (job.source, job.by_prefix, job.values[0]) == ("public", True, "01")
    put(app, "plz", public=True)
    plz = space_of(app).schema["plz"]
    assert plz.by_prefix and len(plz.values) == 100
    assert Wanted.of(plz.document(), known=True).above == plz.values, "what is bought of it stands below its beginnings"


STAYS = b"admitted,discharged,net,gross,ward\n" + b"".join(
    b"2021-03-%02d,2021-04-%02d,%d,%d,%s\n" % (1 + i % 28, 1 + i % 28, i % 97, 100 + i % 97, (b"A", b"B")[i % 2])
    for i in range(300)
)


@pytest.mark.slow
def test_rules_public_by_nature_are_on_and_others_are_not_each_with_a_record_that_it_forbids(app):
    uploaded(app, name="stays.csv", raw=STAYS)
    app.button(key="quick_to_guide").click().run()
    assert not space_of(app).schema.rules, "no rule before every column is decided"
    app.button(key="guide_agree").click().run()
    rules = space_of(app).schema.rules
    assert [(str(r), r.source) for r in rules] == [("admitted <= discharged", "proposed")]
    ticks = {c.label.replace("\\", "").split(" · ")[0]: c for c in app.checkbox if "<=" in c.label}
    assert {n: c.value for n, c in ticks.items()} == {"admitted <= discharged": True, "net <= gross": False}
    first, last = re.findall(r"\d{4}-\d\d-\d\d", ticks["admitted <= discharged"].label.replace("\\", ""))
    assert first > last, "the example is a record that the rule forbids"
    ticks["admitted <= discharged"].uncheck().run()
    assert not space_of(app).schema.rules, "a person takes it back"
    next(c for c in app.checkbox if c.label.startswith("net")).check().run()
    assert [str(r) for r in space_of(app).schema.rules] == ["net <= gross"] and not app.exception


def test_in_safe_mode_the_guide_shows_nothing_of_the_table(app):
    guided(app)
    app.toggle(key="safe").set_value(True).run()
    at_page(app, "schema")
    assert not app.dataframe


@pytest.mark.slow
def test_years_have_no_mark_between_thousands_whatever_their_column_is_called(app):
    raw = b"built,area\n" + b"".join(b"%d,%d\n" % (1890 + i % 120, 9000 + 211 * (i % 120)) for i in range(400))
    uploaded(app, name="houses.csv", raw=raw)
    app.button(key="quick_to_guide").click().run()
    assert line(app, "built")["seen"] == "1890 to 2009"
    assert line(app, "area")["seen"] == "9000 to 34,109"


def test_dates_of_digits_stand_as_people_write_them(app):
    raw = b"started,wage\n" + b"".join(b"2019%02d%02d,%d\n" % (1 + i % 12, 1 + i % 28, 100 + i // 2) for i in range(90))
    uploaded(app, name="start.csv", raw=raw)
    app.session_state["language"] = "de"
    app.button(key="quick_to_guide").click().run()
    started = line(app, "started")
    assert started["content"] == "2019-01-01 bis 2019-12-31" and "als 20191231" in started["also"]
    assert started["seen"].startswith("20190101 bis")


@pytest.mark.slow
def test_values_that_hold_commas_and_times_of_day_are_read_at_once(app):
    tariffs = ("Household, standard", "Household, two rates", "Street lights")
    lines = "".join(
        f'2023-05-{1 + i % 28:02d} {i % 24:02d}:{15 * (i % 4):02d},"{tariffs[i % 3]}"\n' for i in range(300)
    )
    uploaded(app, name="meters.csv", raw=b"read at,tariff\n" + lines.encode())
    app.button(key="quick_to_guide").click().run()
    assert "Household, standard · Household, two rates · Street lights" in words(app)
    assert line(app, "tariff")["seen"] == "the same"
    assert (
        line(app, "read at")["seen"].startswith("2023-05-01 00:00 to") and "T00:00" not in line(app, "read at")["seen"]
    )


RATED = b"grade,closed,rooms\n" + b"".join(
    b"%.1f,2019-%02d-%02d,%d\n"
    % (1 + i % 91 / 10, m, (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[m - 1], 1 + i % 37)
    for i in range(300)
    for m in (1 + i % 12,)
)


def test_natural_ends_and_the_rhythm_of_dates_are_typed_and_kept(app):
    uploaded(app, name="rated.csv", raw=RATED)
    app.button(key="quick_to_guide").click().run()
    contents = dict(zip(grid(app).value["name"], grid(app).value["content"], strict=True))
    assert contents["⚠ grade"] == "1 to 10 by 0.1" and "ends of a usual scale" in words(app)
    assert (contents["closed"], contents["rooms"]) == ("2019-01-01 to 2019-12-31, month-end", "1 to 40")
    put(app, "rooms", content="1 to 50")
    rooms = space_of(app).schema["rooms"]
    assert (rooms.min, rooms.max, rooms.source) == (1, 50, "public")
    put(app, "closed", content="2019-01-01 to 2019-12-31, quarter-end")
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


@pytest.mark.slow
def test_a_list_that_a_cell_cannot_show_stands_whole_below_the_table(app):
    raw = b"species,size\n" + b"".join(b"long name %d,%d\n" % (i % 15, i % 9) for i in range(600))
    uploaded(app, name="species.csv", raw=raw)
    app.button(key="quick_to_guide").click().run()
    assert ", ".join(sorted(f"long name {i}" for i in range(15))) in words(app), "each of its values is agreed to"


@pytest.mark.slow
def test_a_list_that_several_columns_share_stands_once_below_the_table(app):
    raw = b"first,second\n" + b"".join(b"long name %d,long name %d\n" % (i % 15, i % 15) for i in range(600))
    uploaded(app, name="answers.csv", raw=raw)
    app.button(key="quick_to_guide").click().run()
    listed = ", ".join(sorted(f"long name {i}" for i in range(15)))
    assert words(app).count(listed) == 1 and "first, second" in words(app)


@pytest.mark.slow
def test_a_list_of_broken_letters_stands_first_and_says_where_they_are_mended(app):
    towns = ("Recife", "S\u00e3o Paulo", "Salvador")
    raw = "size,town\n" + "".join(f"{i % 7},{towns[i % 3]}\n" for i in range(300))
    uploaded(app, name="sales.csv", raw=raw.encode("cp1252"))
    app.button(key="quick_to_guide").click().run()
    assert grid(app).value["name"].iloc[0] == "\u26a0 town"
    assert "town letters are broken: go back to the Data page" in re.sub("<[^>]*>", "", words(app))


def test_who_is_one_person_is_chosen_in_the_guide_after_its_columns_were_read(app):
    lines = "".join(f"{1 + i // 3},{2019 + i % 3},{30 + i % 11},{'ab'[i % 2]}\n" for i in range(600))
    uploaded(app, name="panel.csv", raw=f"worker_id,year,hours,sector\n{lines}".encode())
    app.button(key="quick_to_guide").click().run()
    app.button(key="take_identifier").click().run()
    assert not app.exception and not app.error
    assert not any(d.key.startswith("guide_table") for d in app.dataframe), "first: how many rows of each are counted"
    assert app.button(key="limit_taken").label == "Count one row of each person"
    app.button(key="ladder_5").click().run()
    assert space_of(app).schema.unit.max_records == 5
    assert app.button(key="limit_taken").label == "Count at most 5 rows of each person"
    app.button(key="limit_taken").click().run()
    assert "worker_id" not in [n.removeprefix("⚠ ") for n in grid(app).value["name"]]
    app.button(key="guide_agree").click().run()
    assert app.button(key="guide_run") and space_of(app).schema.unit.identifier == "worker_id"
    assert not space_of(app).schema.private, "a look proposed it"
    app.button(key="unit_known_schema").click().run()
    assert space_of(app).schema.private


def test_no_column_of_the_table_is_cut_off_at_1280_pixels_in_either_language(monkeypatch):
    for code in ("en", "de"):
        monkeypatch.setenv("DPSYN_LANGUAGE", code)
        for longest in (3, 14, 40):
            widths = [column["width"] for column in guide._cells(longest).values()]
            assert sum(widths) <= guide.WIDE and min(widths) > 70, (code, longest)
