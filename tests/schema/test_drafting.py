import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.schema.checks import check
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.drafts.confirmation import confirm
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.schema.drafts.proposals import propose
from dpsyn_core.tables.cells import instants
from dpsyn_core.tables.cells.canonical_text import canonical
from dpsyn_core.tables.read import read_table
from tests.schema.helpers import cat, num, schema

TABLE = pa.table(
    {
        "id": [f"p{i}" for i in range(300)],
        "sex": ["F", "M", "F"] * 100,
        "zip": [f"{i % 50:05d}" for i in range(300)],
        "age": [str(i % 80) for i in range(300)],
        "income": [f"{i * 1.5}" if i % 7 else "" for i in range(300)],
        "member": ["true", "False", "true"] * 100,
        "day": [str(np.datetime64("2020-01-01") + i) for i in range(300)],
        "rooms": [str(i % 5) for i in range(300)],
        "blank": [""] * 300,
    }
)


def test_a_draft_fits_its_table_and_is_not_private():
    s = draft(TABLE, "t")
    assert [a.kind for a in s.attributes] == [
        "identifier", "categorical", "categorical", "numeric", "numeric", "categorical", "datetime", "categorical",
        "ignored",
    ]  # fmt: skip
    assert all(a.source == "data" for a in s.attributes) and not s.private
    assert s["zip"].values[0] == "00000"
    assert s["age"].size == 80 and s["age"].dtype == "integer"
    assert s["income"].missing and s["income"].dtype == "float"
    assert s["member"].values == (False, True) and s["rooms"].values == (0, 1, 2, 3, 4) and s["rooms"].ordered
    assert (s["day"].min, s["day"].max, s["day"].size) == ("2020-01-01", "2020-10-26", 300)
    codes = Codec(s).encode(TABLE).codes
    assert (codes.max(axis=1) < np.array(s.domain().sizes)).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("other", ["1.869309515690047e-114", "-1.869309515690047e-114"])
def test_a_number_in_a_bin_without_a_step_keeps_its_bin(seed, other):
    table = pa.table({"a": ["1.0", "-1.0000000000000002e+299", other], "sure": ["x"] * 3})
    codec = Codec(draft(table, "t"))
    codes = codec.encode(table).codes
    again = codec.encode(codec.decode(codes, rng=np.random.default_rng(seed)))
    assert (again.codes == codes).all()


def test_a_number_whose_rounding_meets_a_value_with_a_cell_of_its_own_keeps_its_bin():
    codec = Codec(draft(pa.table({"a": ["900719925474100.0", "-1.0", "-0.5"], "sure": ["x"] * 3}), "t"))
    codes = codec.encode(pa.table({"a": ["900719925474100.0", "-1.0", "-0.5"], "sure": ["x"] * 3})).codes
    assert (codec.encode(codec.decode(codes, rng=np.random.default_rng(0))).codes == codes).all()


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_table_fits_its_own_draft(data):
    pools = [
        st.text(max_size=3), st.integers(-(2**70), 2**70).map(str), st.floats().map(str), st.booleans().map(str),
        st.dates().map(str), st.datetimes().map(str), st.sampled_from(["", "1", "x", "-0", "0.0", "nan", "00"]),
    ]  # fmt: skip
    n = data.draw(st.integers(1, 12))
    columns = {
        f"c{i}": data.draw(st.lists(data.draw(st.sampled_from(pools)), min_size=n, max_size=n)) for i in range(3)
    }
    table = pa.table({k: pa.array(v, pa.string()) for k, v in columns.items()} | {"sure": ["x"] * n})
    s = draft(table, "t")
    encoded = Codec(s).encode(table)
    again = Codec(s).encode(Codec(s).decode(encoded.codes, rng=np.random.default_rng(0)))
    assert (again.codes == encoded.codes).all()


def test_typed_columns_are_drafted_by_their_types():
    table = pa.table(
        {
            "d": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
            "t": pa.array([0, 10**6], pa.timestamp("ms", tz="UTC")),
            "i": pa.array([1, None], pa.int8()),
            "b": [True, False],
            "f": [0.5, float("nan")],
        }
    )
    s = draft(table, "t")
    assert [a.kind for a in s.attributes] == [
        "datetime", "datetime", "categorical", "categorical", "numeric",
    ]  # fmt: skip
    assert s["f"].missing
    assert s["t"].zoned and not s["d"].precise and s["i"].missing
    Codec(s).encode(table)


def test_dates_beyond_the_calendar_are_drafted_within_it():
    table = pa.table({"t": pa.array([-(2**60), 0, 2**60], pa.timestamp("us"))})
    s = draft(table, "t")
    assert (s["t"].min, s["t"].max) == ("0001-01-01T00:00:00", "9999-12-31T23:59:59")
    assert Codec(s).encode(table).codes.shape == (1, 3)
    late = pa.table({"t": pa.array([2**60], pa.timestamp("us"))})
    assert Codec(draft(late, "t")).encode(late).codes.tolist() == [[0]]


def test_a_heap_at_the_smallest_number_gets_a_cell_of_its_own():
    gain = [0] * 300 + [i * 7 for i in range(1, 200)]
    rain = [0.0] * 300 + [i * 0.7 for i in range(1, 200)]
    pain = [1000] * 300 + [1000 + i * 77 for i in range(1, 200)]
    s = draft(pa.table({"gain": [str(g) for g in gain], "rain": rain, "pain": pain}), "t")
    assert s["gain"].labels()[:2] == ["0", "7"] and s["gain"].step == 7
    assert s["rain"].labels()[:2] == ["0", "0.7"] and s["rain"].step == 0.7
    assert s["pain"].special_values == (1000,)
    codes = Codec(s).encode(pa.table({"gain": gain, "rain": rain, "pain": pain})).codes
    assert np.bincount(codes[0])[0] == np.bincount(codes[1])[0] == 300 == np.bincount(codes[2])[s["pain"].size - 1]


def test_step_and_scale_are_drafted_and_stay_the_datas_until_a_person_confirms_them():
    cents = [f"{i * 0.05:.2f}" for i in range(500)]
    s = draft(
        pa.table({"cents": cents, "pay": [str(2**i) for i in range(25)] * 20, "any": np.geomspace(1, 2, 500)}), "t"
    )
    assert (s["cents"].step, s["cents"].scale, s["cents"].size) == (0.05, None, 500)
    assert (s["pay"].step, s["pay"].scale) == (None, "log")
    assert (s["any"].step, s["any"].scale) == (None, None)
    assert not s.private and s.from_data == ("cents", "pay", "any")
    back = Codec(s).decode(Codec(s).encode(pa.table({"cents": cents, "pay": [1] * 500, "any": [1.5] * 500})).codes,
                           rng=np.random.default_rng(0))  # fmt: skip
    assert [f"{v:.2f}" for v in back["cents"].to_pylist()] == cents


def test_cells_that_name_months_by_their_first_day_are_drafted_as_months():
    days = [str(np.datetime64("2020-01", "M") + i) + "-01" for i in range(40)]
    made = draft(pa.table({"d": days}), "t")["d"]
    assert (made.rhythm, made.size) == ("month-start", 40)


def test_why_a_draft_left_a_column_out_is_not_public_once_confirmed():
    lab = pa.table(
        {
            "crp": ["<0.5" if i % 9 == 0 else str(i % 700 / 10) for i in range(1400)],
            "age": [i % 80 for i in range(1400)],
        }
    )
    drafted = draft(lab, "lab")
    assert drafted["crp"].kind == "ignored" and "most of its cells are numbers" in drafted["crp"].description
    assert confirm(drafted, ["crp"])["crp"].description is None


def test_confirming_makes_entries_public_one_by_one_or_all():
    s = draft(TABLE, "t")
    one = confirm(s, ["sex"])
    assert "sex" not in one.from_data and "age" in one.from_data and not one.private
    assert confirm(s, everything=True).private and confirm(s, everything=True).from_data == ()
    with pytest.raises(SchemaError, match="'nobody'"):
        confirm(s, ["nobody"])


def test_a_column_that_a_draft_leaves_out_for_its_cells_stamps_a_run_until_it_is_confirmed():
    s = draft(TABLE, "t")
    left_out = [a.name for a in s.attributes if a.kind in ("ignored", "identifier")]
    assert left_out and set(left_out) <= set(s.from_data)
    rest = confirm(s, set(s.from_data) - set(left_out))
    assert rest.from_data == tuple(left_out) and not rest.private


def test_the_identifier_that_a_person_names_is_not_read_from_the_data():
    s = draft(TABLE, "t", identifier="sex")
    assert s["sex"].source == "public" and s["sex"].kind == "identifier"
    assert "sex" not in s.from_data


def test_a_confirmed_schema_is_still_a_schema():
    s = confirm(draft(TABLE, "t"), everything=True)
    assert type(s).loads(s.dumps()) == s


def test_an_identifier_can_be_named():
    assert draft(TABLE, "t", identifier="zip").unit.identifier == "zip"
    with pytest.raises(TableError, match="'no'"):
        draft(TABLE, "t", identifier="no")


def test_a_table_of_identifiers_alone_cannot_be_drafted():
    cells = [f"x{i}" for i in range(500)]
    with pytest.raises(SchemaError, match="by hand"):
        draft(pa.table({"a": cells, "b": cells}), "t")
    with pytest.raises(SchemaError, match="by hand"):
        draft(pa.table({"a": cells}), "t")


def test_a_table_whose_cells_nothing_separates_is_refused_with_what_would():
    records = "".join(f"{20 + i % 50:<5}{'mf'[i % 2]:<5}{i * 7:>5}\n" for i in range(500))
    with pytest.raises(SchemaError, match=r"one column, 'AGE  SEX  PAY'.* name the delimiter"):
        draft(read_table(b"AGE  SEX  PAY\n" + records.encode()), "t")


def test_spreadsheet_numbers_with_decimal_commas_are_numbers():
    table = read_table(b"age;income\n53;22778,83\n81;34601,62\n20;1,5\n")
    assert draft(table, "t")["income"].kind in ("numeric", "categorical")
    assert draft(table, "t")["income"].kind == "numeric"


# ---- checking


def test_a_fitting_schema_has_no_findings():
    s = schema(cat("sex", ["F", "M"]))
    assert check(s) == []
    assert [f.about for f in check(s, TABLE) if f.level != "note"] == []


def test_findings_name_columns_and_come_errors_first():
    s = schema(
        cat("sex", ["F"], source="data"), num("age", 0, 50, 51), cat("none", [1]), num("rooms", 0, 10**6, 10**6),
        cat("blank", [""]), unit={"max_records": 3},
    )  # fmt: skip
    found = check(s, TABLE)
    assert [f.level for f in found] == sorted((f.level for f in found), key=["error", "warning", "note"].index)
    by = {}
    for f in found:
        by[f.level, f.about] = by.get((f.level, f.about), "") + f.text
    assert "lacks" in by["error", "none"]
    assert "not in its list" in by["warning", "sex"] and "records are left out" in by["warning", "sex"]
    assert "NOT PRIVATE" in by["warning", "sex"] and "cells" in by["warning", "rooms"]
    assert "nearest end" in by["note", "age"] and "single cell" in by["note", "blank"]
    assert "not enforced" in by["note", ""] and "left out" in by["note", "zip"]


def test_knowledge_said_to_be_bought_needs_its_charge():
    bare = schema(cat("a", [1], source="bought"))
    assert [f.about for f in check(bare)] == ["a"] or any(f.level == "warning" for f in check(bare))
    charge = {"name": "values of a", "mechanism": "partition-selection", "sensitivity": 1, "scale": 2.0, "cells": 1}
    paid = schema(cat("a", [1], source="bought"), bought=[charge])
    assert not any(f.level == "warning" for f in check(paid))
    assert paid.document()["bought"][0]["mechanism"] == "partition-selection"


def test_records_without_a_name_are_a_finding_and_an_error_for_a_strict_run():
    table = pa.table({"a": [1, 1], "id": ["x", ""]})
    s = schema(cat("a", [1]), unit={"identifier": "id", "max_records": 1})
    assert ("warning", "id") in [(f.level, f.about) for f in check(s, table)]
    assert next((f.level, f.about) for f in check(s, table, strict=True)) == ("error", "id")
    assert ("error", "id") in [(f.level, f.about) for f in check(s, table.select(["a"]))]


def test_row_names_without_a_header_are_nobodys_attribute_whatever_numbers_they_are():
    cut = read_table(b",age\n" + b"".join(b"%d,%d\n" % (3 * i + 7, i % 40) for i in range(60)))
    assert draft(cut, "t")["row"].kind == "identifier"
    named = read_table(b"row,age\n" + b"".join(b"%d,%d\n" % (i % 30, i % 40) for i in range(60)))
    assert draft(named, "t")["row"].kind == "numeric", "a column of that name whose numbers repeat is one"


def test_cells_that_cannot_be_read_are_no_category():
    frame = pd.DataFrame({"span": [b"1", b"2", b"3"], "town": ["Ulm", "\ufffd", "Ulm"]})
    span, town = draft(frame, "t").attributes
    assert span.kind == "ignored" and "no cell could be read" in span.description
    assert town.values == ("Ulm",) and town.missing


def drafted(*cells, name="x", comma=True):
    table = pa.table({name: pa.array(cells, pa.string())})
    return draft(table.replace_schema_metadata({b"dpsyn.decimal": b","}) if comma else table, "t")[name]


def test_commas_between_thousands_are_no_decimal_commas():
    units = [f"{i:,}" for i in range(100, 4000, 100)]
    found = drafted(*units)
    assert (found.min, found.max, found.written) == (100, 3900, "1,234")
    assert drafted(*[f"{i},5" for i in range(40)]).max == 39.5
    assert drafted(*[f"{i / 8:.3f}".replace(".", ",") for i in range(8, 60)]).max == 7.375, "decimals throughout"
    few = drafted("500", "1,500", "2,000")
    assert few.kind == "categorical" and set(few.values) == {"500", "1,500", "2,000"}


def test_points_before_three_digits_stand_between_thousands_where_commas_stand_before_decimals():
    """A German file writes 163.671 km and 12,50 EUR; where nothing has a decimal comma, 8.625 may have decimals."""
    driven = [f"{n // 1000}.{n % 1000:03d}" for n in range(8625, 400_000, 4321)]
    paid = [f"-{i % 90},{i % 100:02d}" for i in range(len(driven))]

    def column(beside):
        table = pa.table({"km": pa.array(driven, pa.string()), "beside": pa.array(beside, pa.string())})
        return draft(table.replace_schema_metadata({b"dpsyn.decimal": b","}), "t")["km"]

    for beside in (paid, [f"1.{i:03d},50 \N{EURO SIGN}" for i in range(len(driven))]):
        found = column(beside)
        assert (found.dtype, found.min, found.written) == ("integer", 8625, "1.234")
        assert not found.special_values, "a number that stands apart is one of the column's own"
    assert column([f"{i}.5" for i in range(len(driven))]).min == 8.625, "no other column says so"
    assert column([f"about 1,5 or {i}" for i in range(len(driven))]).min == 8.625, "a text is no number"


def test_infinite_numbers_leave_the_others_a_column_of_numbers():
    found = drafted(*[f"{i / 7:.3f}" for i in range(300)], "inf", "-inf", "1e308", comma=False)
    assert found.kind == "numeric" and (found.min, found.max) == (0, 42.714)


def test_a_column_with_some_true_and_false_keeps_its_other_words():
    assert set(drafted("TRUE", "true", "False", "yes", "no").values) == {"TRUE", "true", "False", "yes", "no"}
    assert drafted("TRUE", "true", "False").values == (False, True)


def test_dates_are_drafted_as_they_are_written():
    days = [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1990 + i % 30}" for i in range(400)]
    found = drafted(*days, "")
    assert (found.kind, found.formats, found.missing) == ("datetime", ("%d.%m.%Y",), True)
    assert found.source == "data" and (found.min, found.max) == ("1990-01-01", "2019-12-31")


@pytest.mark.parametrize(
    ("rest", "codes", "apart"),
    [
        (range(96), [999], [999]),
        (range(96), [997, 998, 999], [997, 998, 999]),
        (range(96), [-9, -8], [-9, -8]),
        (range(96), [99], []),  # an age, for all that the table tells
        (range(-20, 32), [-9999, 9999], [-9999, 9999]),
        (range(-20, 32), [-29], []),
        (range(-20, 40), [-127], [-127]),  # a sensor that is broken
        (range(0, 4000, 7), [-32768], [-32768]),
        (np.arange(28, 90) / 10, [999.9], [999.9]),
    ],
)
def test_codes_for_no_answer_stand_apart_from_the_numbers(rest, codes, apart):
    cells = [*map(str, np.repeat([*rest], 3)), *map(str, np.repeat(codes, 12)), "", "NULL"]
    got = draft(pa.table({"x": pa.array(cells)}), "t")["x"]
    whole = got.dtype == "integer"
    assert [*got.special_values] == apart
    assert (got.min, got.max) == (min(rest), max(rest)) if apart else got.max == max(*rest, *codes)
    assert whole == isinstance(codes[0], int) and got.missing
    few = [*map(str, np.repeat([*rest], 3)), *map(str, np.repeat(codes, 9))]  # far less far, they may be theirs
    low, high = min(rest), max(rest)
    kept = [c for c in apart if low >= 0 > c or max(low - c, c - high) >= 5 * (high - low)]
    assert [*draft(pa.table({"x": pa.array(few)}), "t")["x"].special_values] == kept


def test_marks_of_databases_for_nothing_are_no_values_of_numbers_and_dates():
    n = [str(i) for i in range(300)]
    day = [str(np.datetime64("2020-01-01") + i) for i in range(300)]
    got = draft(pa.table({"n": [*n, r"\N"], "day": [*day, "0000-00-00"]}), "t")
    assert (got["n"].kind, got["n"].max, got["n"].missing) == ("numeric", 299, True)
    assert (got["day"].kind, got["day"].min, got["day"].missing) == ("datetime", "2020-01-01", True)


@pytest.mark.parametrize("way", ["{:%Y-%m-%d}", "{:%d.%m.%Y}"])
@pytest.mark.parametrize("typed", [True, False])
def test_the_last_day_of_the_calendar_says_that_there_is_no_end(way, typed):
    days = [datetime.date(2015, 1, 1) + datetime.timedelta(days=7 * i) for i in range(300)]
    never = datetime.date(9999, 12, 31)
    cells = [*days, *[never] * 200]
    column = pa.array(cells) if typed else pa.array([way.format(d) for d in cells])
    table = pa.table({"left": column, "of": ["a", "b"] * 250})
    got = draft(table, "t")["left"]
    assert got.kind == "datetime" and got.missing and got.max < "2022"
    made = confirm(draft(table, "t"), everything=True)
    codes = Codec(made).encode(table).codes[0]
    assert (codes[300:] == made["left"].size - 1).all() and (codes[:300] < made["left"].size - 1).all()
    back = Codec(made).decode(Codec(made).encode(table).codes, rng=np.random.default_rng(0))
    assert back["left"].null_count == 200


def test_the_last_day_of_the_calendar_is_a_date_where_the_range_or_no_blank_says_so():
    cells = pa.table({"d": ["2020-01-05", "9999-12-31", ""]})
    for more, codes in (
        ({"max": "2020-12-31", "missing": True}, [4, -1, -1]),
        ({"max": "2020-12-31", "missing": False}, [4, 365, -2]),
        ({"max": "9999-12-31", "missing": True, "bins": {"every": "year"}}, [0, 7979, -1]),
    ):
        made = schema({"name": "d", "kind": "datetime", "min": "2020-01-01", **more})
        got = Codec(made).encode(cells).codes[0].astype(int).tolist()
        blank = made["d"].size - 1
        assert got == [blank if c == -1 else c for c in codes if c != -2]


def texts(*cells):
    return pa.table({"x": pa.array([str(c) for c in cells], pa.string()), "y": ["a"] * len(cells)})


@pytest.mark.parametrize("form", ["{:.6f}", "{:.3f}", "{!r}"])
@pytest.mark.parametrize("parts", [3, 7])
def test_numbers_in_thirds_are_a_list_and_no_value_comes_out_that_nobody_has(form, parts):
    values = [form.format(i / parts) for i in range(60)]
    schema = draft(texts(*values * 12), "t")
    assert schema["x"].keys == tuple(canonical(float(v)) for v in values)
    codes = np.arange(60)
    assert set(schema["x"].decode(codes, np.random.default_rng(0)).to_pylist()) == {float(v) for v in values}


@pytest.mark.parametrize("seed", range(3))
def test_measurements_of_many_values_are_no_list(seed):
    rng = np.random.default_rng(seed)
    tenths = np.repeat(np.arange(180, 260) / 10, 12)
    assert draft(texts(*rng.permutation(tenths)), "t")["x"].kind == "numeric"
    assert draft(texts(*rng.random(900).round(4)), "t")["x"].kind == "numeric"


@pytest.mark.parametrize(
    ("way", "digits"),
    [("%Y%m%d%H%M%S", ""), ("%Y%m%d%H%M%S", "123"), ("%Y%m%d%H%M%S", "123456"), ("%Y%m%d%H%M", ""), ("%G-W%V", "")],
)
@pytest.mark.parametrize("header", ["x", "when"])
def test_digits_that_are_times_and_weeks_are_drafted_as_dates(way, digits, header):
    days = np.datetime64("2019-03-01T08:05:07") + np.arange(300) * np.timedelta64(200_003, "s")
    cells = [d.item().strftime(way) + digits for d in days]
    schema = draft(pa.table({header: cells, "y": ["a"] * 300}), "t")
    found = schema[header]
    assert (found.kind, found.min[:7], found.max[:4]) == ("datetime", "2019-01", "2021")
    read, valid = found.read(pa.chunked_array([pa.array(cells)]))
    step = {"%G-W%V": "W", "%Y%m%d%H%M": "m"}.get(way, "s")
    shown = found.cells(read, None).to_pylist()
    assert valid.all() and [c[:14] for c in shown] == [c[:14] for c in cells], step


def test_weeks_of_every_year_are_read_as_the_calendar_has_them():
    days = np.datetime64("1975-01-01") + np.arange(0, 20_000, 3)
    cells = [d.item().strftime("%G-W%V") for d in days]
    seconds, valid = instants.parse(pa.array([*cells, "2021-W53", "2020-W53", "2021-W00"]), ("%G-W%V",))
    mondays = [np.datetime64(d.item() - datetime.timedelta(days=d.item().weekday())).astype(int) for d in days]
    assert (seconds[:-3] // 86_400 == mondays).all() and valid[:-3].all()
    assert valid[-3:].tolist() == [False, True, False]


def test_numbers_of_more_digits_than_a_number_keeps_get_no_exponent():
    cells = [f"{10**19 + 7919 * i}" for i in range(300)]
    drafted = draft(texts(*cells, *cells), "t")
    assert (drafted["x"].kind, drafted["x"].description) == ("ignored", "more than 200 distinct values")
    few = draft(texts(*cells[:30] * 12), "t")["x"]
    assert few.values == tuple(cells[:30])


@pytest.mark.parametrize("rare", [0.2, 0.4, 0.6])
@pytest.mark.parametrize(("one", "two"), [("%d/%m/%Y", "%Y-%m-%d"), ("%d.%m.%Y", "%d.%m.%y"), ("%d %b %Y", "%Y/%m/%d")])
def test_of_two_ways_of_writing_dates_both_are_read_and_the_commoner_is_written(one, two, rare):
    rng = np.random.default_rng(1)
    days = [datetime.date(2001, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 3000, 600)]
    ways = [two if i < rare * len(days) else one for i in range(len(days))]
    cells = [d.strftime(w) for d, w in zip(days, ways, strict=True)]
    found = draft(texts(*cells), "t")["x"]
    assert found.formats == ((one, two) if rare < 0.5 else (two, one))
    read, valid = found.read(pa.chunked_array([pa.array(cells)]))
    assert valid.all() and [d.isoformat() for d in days] == [str(np.datetime64(int(r), "D")) for r in read]
    [proposal, _] = propose(draft(texts(*cells), "t"), texts(*cells))
    assert proposal.why == "two_ways"


@pytest.mark.parametrize("form", ["1.{:03d},00", "$1,{:03d}.00"])
def test_amounts_whose_decimals_are_all_zero_are_drafted_and_come_back_as_they_were_written(form):
    cells = [form.format(k * 7) for k in range(20, 140)]
    drafted = draft(pa.table({"amount": cells}), name="loans")
    found = drafted.document()["attributes"][0]
    assert (found["kind"], found["dtype"]) == ("numeric", "float")
    codec = Codec(drafted)
    again = codec.decode(codec.encode(pa.table({"amount": cells})).codes, rng=np.random.default_rng(0))
    assert all(cell.endswith(("0", "00")) and len(cell) >= 6 for cell in again.column("amount").to_pylist())


def test_points_between_thousands_are_seen_without_a_decimal_comma_in_the_file():
    cells = [f"{n // 1000}.{n % 1000:03d}" if n > 999 else str(n) for n in range(150, 9000, 35)]
    found = draft(texts(*cells), "t")["x"]
    assert (found.dtype, found.written, found.min, found.max) == ("integer", "1.234", 150, 8970)


@pytest.mark.parametrize("code", ["999", "-9", "9.5"])
def test_decimals_of_three_digits_are_no_thousands_beside_a_code(code):
    cells = [f"{n / 1000:.3f}" for n in range(1000, 9000, 35)]
    found = draft(texts(*cells, *[code] * 30), "t")["x"]
    assert (found.dtype, found.written) == ("float", None)


def test_decimals_of_three_digits_that_lose_their_zeros_are_no_thousands():
    cells = [f"{n / 1000:g}" for n in range(1000, 90_000, 121) if n % 10 or not n % 1000]
    assert draft(texts(*cells, *map(str, range(2, 20))), "t")["x"].dtype == "float"


def test_dates_with_a_word_among_them_are_not_called_numbers():
    days = [f"{d}.{m}.2024" for m in range(1, 13) for d in range(1, 29)]
    assert draft(texts(*days, *days, "soon"), "t")["x"].description == "more than 200 distinct values"
