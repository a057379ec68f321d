"""Proposals of public knowledge: round ends beyond the data, usual lists, rare values, odd dates, reasons."""

import re
import warnings

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.errors import UnitWarning
from dpsyn_core.schema.attributes.ranges import CountBins
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.crowding import crowded
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.drafts.proposals import agreed, propose
from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.write import csv_bytes

N = 400


def table(**columns):
    return pa.table({k: pa.array([str(v) for v in values], pa.string()) for k, values in columns.items()})


def one(name, values):
    t = table(**{name: values, "other": ["a", "b"] * (len(values) // 2)})
    schema = draft(t, "t")
    [found, _] = propose(schema, t)
    return found


@pytest.mark.parametrize(
    ("name", "values", "ends"),
    [
        ("age", range(18, 71), (0, 120)),
        ("year", range(1980, 1988), (1970, 1990)),
        ("wage", np.linspace(1.203, 17.308, 200).round(3), (0.0, 20.0)),
        ("status", np.linspace(-1.8, 2.05, 200).round(4), (-2.0, 2.5)),
        ("share", np.linspace(0.01, 0.97, 200).round(3), (0.0, 1.0)),
        ("price", range(326, 18_824, 7), (0, 20_000)),
        ("income", range(2500, 200_001, 500), (0, 220_000)),
        ("temperature", range(-37, 41), (-40, 50)),
        ("Notenschnitt", np.linspace(1.3, 4.7, 35).round(1), (1.0, 6.0)),
        ("gpa", np.linspace(1.01, 3.98, 200).round(2), (0.0, 4.0)),
    ],
)
def test_ends_are_round_and_lie_beyond_the_values(name, values, ends):
    values = [v for v in values for _ in range(2)]
    found = one(name, values)
    document = found.document
    if document["kind"] == "categorical":
        assert (document["values"][0], document["values"][-1]) == ends and document["other"]
        return
    low, high = document["min"], document["max"]
    assert low <= min(values) and high >= max(values)
    assert (low == 0 or low < min(values)) and high > max(values), "an exact end is somebody's value"
    assert abs(high - ends[1]) <= 0.25 * (ends[1] - ends[0]) and abs(low - ends[0]) <= 0.25 * (ends[1] - ends[0])


def test_usual_lists_keep_the_spelling_of_the_table_and_an_order():
    assert one("union", ["yes", "no"] * 50).document["values"] == ["no", "yes"]
    assert one("day", ["Fri", "Mon", "Sun", "Sat", "Thu", "Tue", "Wed", "Mon"] * 20).document["values"][0] == "Mon"


def test_answers_of_a_usual_scale_are_ordered_and_other_usual_lists_are_not():
    scale = ["stimme gar nicht zu", "stimme eher nicht zu", "teils/teils", "stimme eher zu", "stimme völlig zu"]
    document = one("wohl", [scale[i] for i in (3, 1, 0, 4, 2)] * 40).document
    assert document["values"] == scale and document["ordered"]
    assert not one("day", ["Tue", "Mon", "Wed", "Sun", "Thu", "Fri", "Sat"] * 40).document.get("ordered")


@pytest.mark.parametrize("value", ["DE", 7, 12345])
def test_a_constant_has_no_cell_for_other_values(value):
    document = one("country", [value] * 200).document
    assert document["values"] == [value] and not document["other"]


def test_a_value_that_all_but_a_few_records_have_keeps_the_cell_for_the_others():
    document = one("country", ["DE"] * 197 + ["FR"] * 3).document
    assert document["values"] == ["DE"] and document["other"]


def test_values_of_few_records_go_to_the_others():
    found = one("job", ["clerk"] * 60 + ["nurse"] * 37 + ["astronaut"] * 3)
    assert found.document["values"] == ["clerk", "nurse"]
    assert (found.document["other"], found.rare) == (True, 1)


def test_whole_numbers_of_which_few_occur_far_apart_are_a_range_and_codes_that_many_have_are_a_list():
    claims = one("claims", [0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 18, 29, 39, 44, 53, 58] * 2).document
    assert (claims["kind"], claims["dtype"], claims["min"], claims["max"]) == ("numeric", "integer", 0, 60)
    codes = one("code", [1, 2, 3, 99] * 20).document
    assert (codes["kind"], codes["values"], codes["other"]) == ("categorical", [1, 2, 3, 99], True)
    bids = one("bid", [0] * 60 + [100] * 30 + [2] * 4 + [20] * 40 + [250] * 20)
    assert (bids.document["kind"], bids.document["values"], bids.rare) == ("categorical", [0, 20, 100, 250], 1)


@pytest.mark.parametrize("values", [[-1, 0, 1], [1, 20, 99]])
def test_cells_that_are_no_number_stay_missing_where_a_list_of_numbers_is_proposed(values):
    cells = [*values * 30, *["NA"] * 30]
    t = table(x=[str(v) for v in cells], y=["a", "b"] * (len(cells) // 2))
    schema = draft(t, "t")
    agreed_to = agreed(schema, propose(schema, t))
    codes = Codec(agreed_to).encode(t).codes[0]
    assert agreed_to["x"].labels()[codes[-1]] == "(missing)" and (codes[-30:] == codes[-1]).all()


def test_a_list_whose_values_few_records_have_is_not_called_one_that_many_have():
    found = one("type", ["A", "B", "C", "D", "E"] * 8)
    assert (found.why, found.document["values"], found.rare) == ("few", ["A", "B", "C", "D", "E"], 0)


@pytest.mark.parametrize(
    ("cells", "way"),
    [("{d:02d}/{m:02d}/2020", "%d/%m/%Y"), ("{m:02d}/{d:02d}/2020", "%m/%d/%Y"), ("{d}.{m}.2020", "%-d.%-m.%Y"),
     ("2020{m:02d}{d:02d}", "%Y%m%d"), ("Feb {d}, 2020", "%b %-d, %Y"), ("{d} March 2020", "%-d %B %Y"),
     ("{d:02d}-Jun-20", "%d-%b-%y"), ("{m}/{d}/2020 3:{d:02d} PM", "%-m/%-d/%Y %-I:%M %p"), ("{m:02d}/2020", "%m/%Y"),
     ("2020{m:02d}{d:02d}x", None)],
)  # fmt: skip
def test_dates_in_other_ways_of_writing_are_proposed_and_read(cells, way):
    values = [cells.format(d=1 + i % 28, m=1 + i % 12) for i in range(N)]
    t = table(when=values, other=["a", "b"] * (N // 2))
    schema = draft(t, "t")
    found = propose(schema, t)[0]
    if way is None:
        assert found.document is None or found.document["kind"] == "categorical"
        return
    assert (found.why, found.document["formats"]) == ("written", [way])
    assert not found.document["missing"], "no cell is blank, so that none is proposed to be"
    made = agreed(schema, [found])
    codes = Codec(made).encode(t).codes
    assert codes[0].max() < made["when"].size - made["when"].special, "no cell is blank"


@pytest.mark.parametrize(
    ("name", "cells", "way"),
    [("date", "8{y}{m:02d}{d:02d}", "%y%m%d"), ("birth_date", "0{y}{m:02d}{d:02d}", "%y%m%d"),
     ("month", "201{y}{m:02d}", "%Y%m"), ("start", "{d:02d}{m:02d}201{y}", "%d%m%Y"),
     ("amount", "8{y}{m:02d}{d:02d}", None), ("date", "6{y}{m:02d}{d:02d}", None)],
)  # fmt: skip
def test_digits_alone_are_dates_where_the_header_says_so_and_their_century_is_known(name, cells, way):
    t = table(
        **{name: [cells.format(d=1 + i % 28, m=1 + i % 12, y=i % 10) for i in range(N)], "other": ["a", "b"] * (N // 2)}
    )
    drafted = draft(t, "t")
    [found, _] = propose(drafted, t)
    if way is None:
        assert found.why != "written"
        return
    assert (found.why, found.document["formats"]) == ("written", [way])
    made = agreed(drafted, [found])
    codes = Codec(made).encode(t).codes
    assert codes[0].max() < made[name].size - made[name].special, "no cell is blank"
    back = Codec(made).decode(codes, rng=np.random.default_rng(0))
    assert (Codec(made).encode(back).codes == codes).all()


def test_percentages_in_a_list_stand_in_their_order():
    found = one("discount", ["10%", "5%", "0%", "20%"] * 30).document
    assert (found["values"], found["ordered"]) == (["0%", "5%", "10%", "20%"], True)
    assert one("grade", ["A", "C", "B"] * 30).document["ordered"] is False


@pytest.mark.slow
def test_why_a_column_is_left_out_is_said():
    assert one("station", [f"{i:05d}" for i in range(7, 2007, 7)] * 2).why == "codes"
    assert one("postcode", [f"{i:05d}" for i in range(7, 2007, 7)] * 2).document["by_prefix"], "kept by two digits"
    assert one("who", [f"person {i}" for i in range(N)]).why == "unique"
    assert one("text", [f"some words {i % 250}" for i in range(2 * N)]).why == "many"
    assert one("crp", ["<0,5" if i % 9 == 0 else f"{i % 700},{i % 10}" for i in range(2 * N)]).why == "mixed"
    assert one("nothing", [""] * N).why == "blank"
    assert one("animal", [f"animal {i}" for i in range(84)]).why == "unique", "a list of names would be the records"
    assert one("genus", [f"genus {i // 2}" for i in range(84)]).why == "many"
    assert one("genus", [f"genus {i // 5}" for i in range(150)]).why == "few"
    assert one("pid", [100 + 7 * (i // 4) for i in range(N)]).why == "person"


def test_agreeing_makes_a_private_schema_that_fits_the_table():
    rng = np.random.default_rng(0)
    t = table(
        age=rng.integers(18, 70, N), pay=rng.gamma(2, 900, N).round(2), sex=rng.choice(["M", "F"], N),
        note=[f"note {i}" for i in range(N)], kids=rng.integers(0, 5, N),
    )  # fmt: skip
    schema = draft(t, "t")
    made = agreed(schema, propose(schema, t))
    assert made.private and not schema.private
    assert isinstance(Schema.of(made.document()), Schema)
    assert [a.name for a in made.coded] == ["age", "pay", "sex", "kids"]
    assert Codec(made).encode(t).codes.shape == (4, N)


def test_a_bin_that_holds_most_of_a_column_is_found():
    values = [*np.linspace(6.1, 8, 399).round(3), 58.9]
    t = table(y=values, other=["a", "b"] * 200)
    schema = draft(t, "t")
    made = agreed(schema, propose(schema, t))
    wide = made.model_copy(
        update={"attributes": tuple(a.model_copy(update={"bins": CountBins(count=10)}) if a.name == "y" else a
                                    for a in made.attributes)}
    )  # fmt: skip
    assert crowded(wide, t)["y"] > 0.9


def test_words_for_a_value_that_is_not_there_do_not_make_a_category_of_numbers():
    t = table(status=[*np.linspace(-1.8, 2, N - 4).round(4), "NA", "NA", "na", "?"], age=[*range(20, 20 + N - 1), "NA"],
              land=["NA", "DE"] * (N // 2))  # fmt: skip
    schema = draft(t, "t")
    assert [a.kind for a in schema.attributes] == ["numeric", "numeric", "categorical"]
    assert [a.missing for a in schema.attributes] == [True, True, False]
    assert schema["land"].values == ("DE", "NA"), "in a list of words it may be Namibia"
    codes = Codec(schema).encode(t).codes
    assert (codes[0] == schema["status"].size - 1).sum() == 4


def test_a_list_of_numbers_with_a_common_step_has_no_number_between():
    doses = one("dose", [5, 10, 20] * 30)
    assert (doses.why, doses.document["values"]) == ("steps", [5, 10, 15, 20])
    assert one("grade", [1, 2, 4] * 30).document["values"] == [1, 2, 3, 4]
    assert one("fine", [10, 15, 25, 40, 55, 110] * 30).document["values"] == [10, 15, 25, 40, 55, 110]
    assert one("code", [0, 100] * 30).why != "steps", "two numbers have no step"


@pytest.mark.parametrize(("lowest", "ends"), [(12, (0, 100)), (0.5, (0.0, 100.0))])
def test_points_of_a_hundred_end_at_a_hundred(lowest, ends):
    values = [str(lowest), *(str(min(100, 40 + i % 61)) for i in range(N - 1))]
    t = table(points=values, other=["a", "b"] * (N // 2))
    document = propose(draft(t, "t"), t)[0].document
    assert (document["min"], document["max"]) == ends


@pytest.mark.parametrize(
    ("cells", "seen"),
    [
        (["Mar-22", "Apr-22", "Jun-24", "", "Jul-22", "Aug-22", "Sep-22", "Oct-22", "Nov-22"], ("2022-03", "2024-06")),
        ([f"{d}.05.2023" for d in range(11, 29)] + ["n/a"], ("2023-05-11", "2023-05-28")),
        ([f"{d}/05/2023 07:3{d % 10}" for d in range(11, 29)], ("2023-05-11T07:31:00", "2023-05-28T07:38:00")),
    ],
)
def test_what_the_table_is_said_to_hold_of_dates_is_what_it_holds(cells, seen):
    table = pa.table({"when": cells})
    (found,) = propose(draft(table, "t"), table)
    assert (found.seen["low"], found.seen["high"]) == seen
    ends = ("-05-01", "-05-31") if "T" in seen[0] else ("-01-01", "-12-31")  # times of a few weeks get their month
    assert found.document["min"][:10].endswith(ends[0]) and found.document["max"][:10].endswith(ends[1])


def test_a_few_decimals_are_proposed_as_their_list_and_come_back_as_they_were():
    rng = np.random.default_rng(1)
    marks = np.array(["1.0", "1.3", "1.7", "2.0", "2.3", "2.7", "5.0"])
    cells = rng.choice(marks, 900).tolist()
    for comma, missing in ((False, False), (True, False), (True, True)):
        given = [c.replace(".", ",") if comma else c for c in cells] + [""] * 40 * missing
        table = pa.table({"mark": given}).replace_schema_metadata({b"dpsyn.decimal": b","} if comma else None)
        drafted = draft(table, "t")
        (found,) = propose(drafted, table)
        assert found.document["values"] == [1.0, 1.3, 1.7, 2.0, 2.3, 2.7, 5.0]
        assert found.document["ordered"] and found.document["other"] and found.document["missing"] == missing
        codec = Codec(agreed(drafted, [found]))
        codes = codec.encode(table, strict=True).codes
        assert codec.decode(codes, rng=rng)["mark"].to_pylist() == [float(c) for c in cells] + [None] * 40 * missing


def test_decimals_of_many_values_or_of_every_step_are_numbers():
    rng = np.random.default_rng(1)
    for cells in (
        [f"{x:.2f}" for x in rng.gamma(2, 90, 900)],
        [f"{x:.1f}" for x in rng.choice([1, 1.5, 2, 2.5, 3], 900)],
        ["0.1", "2.5", "3.75", "8.0"],
    ):
        table = pa.table({"x": cells})
        assert draft(table, "t")["x"].kind == "numeric"


def test_versions_are_names_and_amounts_with_a_comma_go_back_with_one():
    table = pa.table({"version": ["1.1", "1.10", "2.0"] * 300})
    assert draft(table, "t")["version"].keys == ("1.1", "1.10", "2.0")
    rents = pa.table({"rent": [f"{x:.2f}".replace(".", ",") for x in np.random.default_rng(1).gamma(2, 90, 900)]})
    rents = rents.replace_schema_metadata({b"dpsyn.decimal": b","})
    drafted = draft(rents, "t")
    assert drafted["rent"].written == "12,56"
    made = Codec(drafted).decode(Codec(drafted).encode(rents).codes, rng=np.random.default_rng(1))
    assert pa.types.is_floating(made["rent"].type), "a spreadsheet gets numbers"
    assert re.fullmatch(rb"rent\n\d+,\d+\n(?s:.*)", csv_bytes(made)), "a text file has the comma"


def test_true_and_false_come_back_as_they_are_spelled():
    for yes, no in (("TRUE", "FALSE"), ("True", "False")):
        assert draft(pa.table({"a": [yes, no, ""]}), "t")["a"].keys == (no, yes)
    assert draft(pa.table({"a": ["true", "false"]}), "t")["a"].values == (False, True)
    assert draft(pa.table({"a": ["true", "TRUE", "false"]}), "t")["a"].values == (False, True)


def test_long_numbers_of_a_few_shops_are_a_list_and_amounts_are_a_range():
    rng = np.random.default_rng(4)
    shops = 1_234_567_890 + 977 * rng.integers(0, 25, 2000)
    prices = 10_000 * rng.integers(200, 260, 2000)
    schema = draft(table(npi=[str(x) for x in shops], price=[str(x) for x in prices]), "t")
    listed, ranged = propose(schema, table(npi=[str(x) for x in shops], price=[str(x) for x in prices]))
    assert set(listed.document["values"]) == set(shops.tolist())
    assert ranged.document["kind"] == "numeric"


@pytest.mark.parametrize(
    ("cells", "first", "last", "why"),
    [
        (("2024-12-31 18:00:09", "2025-01-01 00:05:08"), "2024-12-31T00:00:00", "2025-01-01T23:59:59", "days"),
        (("2024-05-06 08:00:01", "2024-06-20 08:00:00"), "2024-05-01T00:00:00", "2024-06-30T23:59:59", "months"),
        (("2024-05-06 08:00:01", "2024-11-20 08:00:00"), "2024-01-01T00:00:00", "2024-12-31T23:59:59", "calendar"),
        (
            (*(f"06.05.2024 {h:02}:01:10" for h in range(9, 19)), "06.05.2024 21:00:00"),
            "2024-05-06T00:00:00",
            "2024-05-06T23:59:59",
            "written",
        ),
        (("2024-05-06", "2024-05-07"), "2024-01-01", "2024-12-31", "calendar"),
    ],
)
def test_times_that_lie_close_get_days_or_months_as_their_ends(cells, first, last, why):
    table = pa.table({"at": pa.array(cells * 30), "of": ["a", "b"] * (15 * len(cells))})
    [found, _] = propose(draft(table, "t"), table)
    assert (found.document["min"], found.document["max"], found.why) == (first, last, why)


def test_numbers_with_marks_between_thousands_are_not_called_decimal_commas():
    for cells, told in (
        (["1,234", "12,345"], False),
        (["1,234", "12,5"], True),
        (["0,125"], True),
        (["1234,567"], True),
    ):
        raw = ("a;b\n" + "".join(f"{c};x\n" for c in cells)).encode()
        assert any("decimal comma" in str(n) for n in open_table(raw, name="t.csv").odd) == told, cells


@pytest.mark.parametrize(
    ("values", "proposed"),
    [
        ([-9, 1, 2, 3, 4], [1, 2, 3, 4, -9]),
        ([1, 2, 3, 4, 5, 99], [1, 2, 3, 4, 5, 99]),
        ([0, 5, 10, 20, 999], [0, 5, 10, 15, 20, 999]),
        ([1, 2, 3, 9], [1, 2, 3, 9]),
        ([1, 2, 3, 7], [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_codes_for_no_answer_do_not_stretch_a_list_of_numbers(values, proposed):
    table = pa.table({"x": pa.array(values * 20), "of": ["a", "b"] * (10 * len(values))})
    [found, _] = propose(draft(table, "t"), table)
    assert found.document["values"] == proposed
    assert found.document["ordered"] == (proposed == sorted(proposed) and max(proposed) < 9)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("Name", [f"Person {a}{b}" for a in "ABCDEF" for b in "uvwxyzst"]),
        ("Vorname", [f"An{a}a" for a in "abcdefghiklm"]),
        ("customer", [f"C{i:02}" for i in range(48)]),
        ("Teacher", [f"Dr {a}eber" for a in "ABCDEFGHKLMW"]),
    ],
)
def test_values_of_persons_are_no_public_list(header, values):
    t = table(**{header: values * 10, "other": ["a", "b"] * (5 * len(values))})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnitWarning)
        drafted = draft(t, "t")
    [found, _] = propose(drafted, t)
    assert (found.why, found.document) == ("names", None)
    assert not any(v in str(drafted.document()) for v in values), (
        "nor does the draft hold them, which one press confirms"
    )


@pytest.mark.parametrize(
    ("header", "values"),
    [("member", ["gold", "silver", "none"]), ("patient", ["in", "out"]), ("subject", ["maths", "art", "music"]),
     ("product_name", ["soap", "salt"]), ("city", ["Bern", "Rome", "Oslo"])],
)  # fmt: skip
def test_kinds_of_persons_and_names_of_other_things_are_a_list(header, values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnitWarning)
        assert one(header, values * 20).document["values"] == sorted(values)


@pytest.mark.parametrize(
    ("cells", "last"),
    [
        ([f"{h:02d}:{m:02d}:00" for h in range(24) for m in range(0, 60, 5)], 86_100),
        ([f"{h:02d}:{m:02d}" for h in range(24) for m in range(60)] * 2, 1439),
        ([f"{h:02d}:{m:02d}" for h in range(24) for m in range(60)] + ["24:00"] * 2, 1440),
    ],
)
def test_times_of_a_day_end_with_the_day(cells, last):
    document = one("closes", cells).document
    assert (document["min"], document["max"]) == (0, last)


def test_whole_numbers_with_an_end_that_is_cut_off_keep_every_number():
    cells = [*map(str, range(90)), *map(str, range(90)), *["90+"] * 20]
    document = one("Alter", cells).document
    assert document["values"] == [*map(str, range(90)), "90+"] and document["ordered"] and document["other"]
    document = one("eGFR", ["<15"] * 20 + [str(v) for v in range(15, 60)] * 2 + [">60"] * 50).document
    assert document["values"] == ["<15", *map(str, range(15, 60)), ">60"]
    assert one("lot", [*map(str, range(90)), *map(str, range(90)), *["B7"] * 20]).why == "mixed", "no end"


def test_codes_that_look_like_powers_stay_as_they_are_written():
    document = one("room", ["1E1", "1E2", "2E1", "2E10"] * 20).document
    assert document["values"] == ["1E1", "1E2", "2E1", "2E10"]
    assert one("size", ["1E+3", "2E+3", "1E+4", "2E+4"] * 20).document["values"][:2] == [1000, 2000]


def test_dates_of_old_registers_are_dates():
    days = [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1620 + i % 200}" for i in range(400)]
    document = one("born", days).document
    assert (document["kind"], document["min"], document["max"]) == ("datetime", "1620-01-01", "1819-12-31")


@pytest.mark.parametrize(("years", "why"), [(range(45, 99), "two_digits"), (range(1, 20), "written")])
def test_years_of_two_digits_that_would_be_in_the_future_are_said(years, why):
    cells = [f"{d:02d}.{1 + d % 12:02d}.{y:02d}" for y in years for d in range(1, 29)]
    table = pa.table({"born": cells})
    [proposal] = propose(draft(table, "t"), table)
    assert proposal.why == why


@pytest.mark.parametrize("code", [-9, -99, -999, 9999])
def test_a_code_of_few_records_does_not_stretch_a_range_or_a_list(code):
    incomes = [800 + 7 * i % 1000 for i in range(N - 2)]
    found = one("income", [*incomes, code, code]).document
    assert (found["kind"], found["special_values"]) == ("numeric", [code]) and 0 <= found["min"] < found["max"] < 3000
    answers = one("satisfied", [*(1 + i % 5 for i in range(N - 2)), code, code]).document
    assert answers["values"] == [1, 2, 3, 4, 5, code]
    points = one("points", [*(i % 20 for i in range(N - 2)), code, code]).document
    assert points["values"] == [*range(20), code]


def test_a_number_that_few_have_and_that_may_be_theirs_is_no_code():
    assert one("balance", [*range(-50, N - 52), -99, -99]).document.get("special_values") is None
    assert one("income", [*(800 + 7 * i for i in range(N - 2)), 9999, 9999]).document.get("special_values") is None


@pytest.mark.parametrize(
    "cells",
    [
        [f"{2_000_000_123 + 7_654_321 * i}" for i in range(N)],
        [f"+49{1_510_000_123 + 654_321 * (i // 2)}" for i in range(N)],
        [f"6{i % 90 + 10} {i % 900 + 100} {i * 7 % 900 + 100}" for i in range(N)],
    ],
)
def test_numbers_of_telephones_under_a_header_that_says_nothing_are_left_out(cells):
    assert (one("c7", cells).why, one("c7", cells).document) == ("codes", None)


def test_long_numbers_that_are_amounts_or_times_stay_numbers():
    assert one("revenue", [f"{123_456_700 + 100 * i}" for i in range(N)]).document["kind"] == "numeric"
    assert one("c7", [f"{1_700_000_123 + 4321 * i}" for i in range(N)]).document["kind"] == "numeric"


@pytest.mark.parametrize("records", [N, 4 * N])
def test_fractions_beside_percentages_are_no_numbers_and_that_is_said(records):
    cells = [f"{i * 7 % 390 / 10} %" if i % 2 else f"0.{i % 97 + 1:02d}" for i in range(records)]
    found = one("share", [*cells, cells[0], cells[1]])
    assert (found.why, found.document) == ("mixed", None)
    plain = one("share", [f"{i % 390 / 10} %" if i % 2 else f"{i % 97 + 1}" for i in range(records)])
    assert plain.document["written"] == "12.5 %"


def test_numbers_in_digits_of_another_script_are_left_out_and_that_is_said():
    digits = str.maketrans("0123456789.", "٠١٢٣٤٥٦٧٨٩٫")
    whole = [str(i * 7 % 3000 + 1000 * (i % 2)).translate(digits if i % 3 else {}) for i in range(N)]
    assert one("price", [*whole, *whole]).why == "mixed"
    parts = [f"{i * 7 % 3000 / 8:.3f}".translate(digits) for i in range(N)]
    assert one("price", [*parts, *parts]).why == "mixed"


@pytest.mark.parametrize(
    ("zones", "why"),
    [(("+01:00", "+02:00"), "utc"), (("+02:00", ""), "utc"), (("+02:00",), "written"), (("Z",), "written")],
)
def test_times_that_come_back_in_utc_are_said(zones, why):
    found = one(
        "at", [f"2024-03-{i % 28 + 1:02d}T{i % 24:02d}:{i % 60:02d}:00{zones[i % len(zones)]}" for i in range(N)]
    )
    assert found.why == why


@pytest.mark.parametrize("zone", ["+00", " UTC"])
def test_times_as_databases_write_them_keep_their_zone(zone):
    cells = [f"2024-03-{i % 28 + 1:02d} {i % 24:02d}:{i % 60:02d}:00{zone}" for i in range(N)]
    found = one("at", cells).document
    assert (found["kind"], found["formats"]) == ("datetime", [f"%Y-%m-%d %H:%M:%S{zone}"])


def test_numbers_with_a_few_texts_are_no_list_of_which_hardly_a_value_is_common():
    ages = [str(18 + i % 73) for i in range(N - 2)]
    found = one("age", [*ages, "Source: survey", "a note"])
    assert (found.why, found.document) == ("mixed", None)
    low = one("crp", ["<0.1" if i % 4 == 0 else f"{i % 150 / 10}" for i in range(N)])
    assert (low.why, low.document) == ("mixed", None)
    digits = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    assert one("age", [a.translate(digits) for a in (*ages, "20", "21")]).why == "mixed"
    assert one("age", [*ages, "90+", "90+"]).document["values"][-1] == "90+", "ends that were cut off are a list"
    assert one("age", ["a", *(str(i % 12) for i in range(N - 1))]).document["other"], "few values are a list"


@pytest.mark.parametrize(
    ("cells", "written"),
    [
        ([f"{30 + i % 90}.{i % 10} mmol/L" for i in range(N)], "12.5 mmol/L"),
        ([f"{i * 7 % 300} km/h" for i in range(N)], "12 km/h"),
    ],
)
def test_units_with_a_stroke_are_read_and_written_again(cells, written):
    assert one("x", cells).document["written"] == written
    assert one("x", [f"{i % 150}/{60 + i % 40}" for i in range(N)]).document is None, "blood pressure is two numbers"


@pytest.mark.parametrize(
    ("way", "shown"),
    [("{}年{}月{}日", "%Y年%-m月%-d日"), ("{}년 {}월 {}일", "%Y년 %-m월 %-d일"), ("{}年{}月", "%Y年%-m月")],
)
def test_dates_of_japan_china_and_korea_are_read(way, shown):
    found = one("x", [way.format(2000 + i % 20, i % 12 + 1, i % 28 + 1) for i in range(N)]).document
    assert (found["kind"], found["formats"]) == ("datetime", [shown])


def test_months_of_four_letters_among_short_ones_are_short():
    cells = [f"{i % 28 + 1} {('Jan', 'Sept', 'Dec')[i % 3]} {2000 + i % 20}" for i in range(N)]
    assert one("x", cells).document["formats"] == ["%-d %b %Y"]
    assert one("x", [c.replace("Jan", "June").replace("Dec", "May") for c in cells]).document["formats"] == [
        "%-d %B %Y"
    ]


def test_small_fractions_get_no_range_up_to_one():
    found = one("x", [f"{1.05e-5 + i * 1.9e-7:.3e}" for i in range(N)]).document
    assert found["kind"] == "numeric" and found["max"] < 0.001


def test_whole_numbers_beyond_all_ranges_are_names_also_where_they_are_typed():
    cells = pa.table({"x": pa.array([2**62 + 12_345_678_901 * i for i in range(N)]), "y": ["a", "b"] * (N // 2)})
    assert draft(cells, "t")["x"].kind == "identifier"


@pytest.mark.parametrize("cell", ["{} b", "€ {}", "{} %"])
def test_a_mark_of_few_numbers_is_no_unit_of_all(cell):
    plain = [f"{1 + i * 7 % 900 / 10}" for i in range(2 * N)]
    assert one("x", [cell.format(c) if i % 9 == 0 else c for i, c in enumerate(plain)]).document is None
    most = one("x", [c if i % 9 == 0 else cell.format(c) for i, c in enumerate(plain)])
    assert most.document["kind"] == "numeric", "the unit may be left away"


@pytest.mark.parametrize(
    ("way", "days", "why"),
    [
        ("{1:02d}/{0:02d}/2024", 12, "day_first"), ("{1:02d}/{0:02d}/2024", 28, "written"),
        ("{1}-{0}-2024", 12, "day_first"), ("{1:02d}.{0:02d}.2024", 12, "written"),
    ],
)  # fmt: skip
def test_dates_that_could_be_read_month_first_as_well_are_said(way, days, why):
    found = one("x", [*(way.format(i % 12 + 1, i % days + 1) for i in range(N - 2)), "", ""])
    assert found.why == why and found.document["formats"][0].startswith(("%d", "%-d"))
