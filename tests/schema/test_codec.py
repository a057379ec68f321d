import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsyn_core.errors import SchemaError, TableError
from dpsyn_core.measure.sources.bounding import bound
from dpsyn_core.schema.checks import check
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables.cells import numbers as casting
from tests.schema.helpers import cat, date, encode_one, num, schema

FAST = settings(max_examples=60, deadline=None)
RNG = np.random.default_rng


def as_text(table):
    """The table as a text file would bring it."""
    return pa.table({n: table[n].cast(pa.string()).fill_null("") for n in table.column_names})


# ---- round trips


def names():
    return st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=8)


@st.composite
def attributes(draw):
    name = draw(names())
    missing = draw(st.booleans())
    kind = draw(st.sampled_from(["text", "int", "bool", "integer", "float", "date", "time"]))
    if kind in ("text", "int", "bool"):
        pool = {
            "text": st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\n"), max_size=6).filter(
                lambda t: t != "" and not t.startswith("'")
            ),
            "int": st.integers(-(2**62), 2**62),
            "bool": st.booleans(),
        }[kind]
        values = draw(st.lists(pool, min_size=1, max_size=8, unique=True))
        # 'other' of a column of numbers is drawn anew among the declared values, and is a listed value of that name
        other = draw(st.booleans()) and kind == "text" and "other" not in {v.strip().casefold() for v in values}
        return cat(name, values, other=other, missing=missing)
    if kind == "integer":
        low = draw(st.integers(-(10**12), 10**12))
        special = draw(st.sampled_from([[], [10**13], [10**13, -(10**13)]]))
        return num(name, low, low + draw(st.integers(0, 10**6)), draw(st.integers(1, 300)), missing=missing,
                   special_values=special)  # fmt: skip
    if kind == "float":
        low = draw(st.floats(-1e6, 1e6))
        return num(name, low, low + draw(st.floats(0.5, 1e6)), draw(st.integers(1, 60)), "float", missing=missing)
    days = sorted(draw(st.lists(st.dates(), min_size=2, max_size=2)))
    ends = [d.isoformat() + ("T10:00:00Z" if kind == "time" else "") for d in days]
    return date(name, *ends, draw(st.sampled_from(["month", "year", 1, 9])), missing=missing)


@FAST
@given(
    st.lists(attributes(), min_size=1, max_size=4, unique_by=lambda a: a["name"]), st.integers(0, 2**32), st.booleans()
)
def test_codes_survive_decoding_and_encoding(columns, seed, through_text):
    import unicodedata

    if len({unicodedata.normalize("NFC", a["name"]) for a in columns}) < len(columns):
        return
    codec = Codec(schema(*columns))
    rng = RNG(seed)
    codes = np.stack([rng.integers(0, size, 40) for size in codec.domain.sizes]).astype(codec.dtype)
    table = codec.decode(codes, rng=rng)
    again = codec.encode(as_text(table) if through_text else table).codes
    for attribute, a, b in zip(codec.schema.coded, codes, again, strict=True):
        assert a.tolist() == b.tolist(), attribute


@FAST
@given(st.lists(attributes(), min_size=1, max_size=3, unique_by=lambda a: a["name"]), st.integers(0, 2**32))
def test_decoded_types_do_not_depend_on_the_codes(columns, seed):
    codec = Codec(schema(*columns))
    rng = RNG(seed)
    empty = codec.decode(np.zeros((len(columns), 0), dtype=codec.dtype), rng=rng)
    full = codec.decode(np.stack([rng.integers(0, s, 30) for s in codec.domain.sizes]).astype(codec.dtype), rng=rng)
    assert empty.schema == full.schema and empty.num_rows == 0
    assert full.column_names == [a["name"] for a in columns]


def test_codes_are_column_major_and_as_narrow_as_the_largest_size_allows():
    for size, dtype in ((1, np.uint8), (256, np.uint8), (257, np.uint16), (70_000, np.uint32)):
        codes = (
            Codec(schema(num("a", 0, size - 1, size), cat("b", ["x"])))
            .encode(pa.table({"b": ["x"] * 3, "a": [0, size - 1, 0]}))
            .codes
        )
        assert codes.dtype == dtype and codes.shape == (2, 3) and codes.flags.c_contiguous
        assert codes[0].tolist() == [0, size - 1, 0]


# ---- casting by the schema


@pytest.mark.parametrize(
    ("values", "cells", "codes"),
    [
        (["a", "b"], ["b", "a"], [1, 0]),
        (["00123", "123"], ["00123", "123"], [0, 1]),  # leading zeros are kept as written
        ([123], ["00123", "+123", "123.0", " 123 ", "1.23e2"][:4], [0, 0, 0, 0]),
        (["NA", "None", "null", "nan"], ["nan", "null", "None", "NA"], [3, 2, 1, 0]),
        ([9007199254740993, 9007199254740992], ["9007199254740992", "9007199254740993"], [1, 0]),
        ([9007199254740993], ["+009007199254740993", "009007199254740993.0"], [0, 0]),
        (["1000000000000000"], [1e15], [0]),
        ([0.1, 1.5, -2.0], [".1", "1.50", "-2", "1e-1"], [0, 1, 2, 0]),
        ([True, False], ["TRUE", "f", "Yes", "0", "off", "1"], [0, 1, 0, 1, 1, 0]),
        ([1, "1x", True], ["true", "1x", "01"], [2, 1, 0]),
        (["", "Y"], ["Y", "", None], [1, 0, 0]),
        (["é"], ["e\u0301", "é"], [0, 0]),
        ([1, 2], [1.0, 2.0, 1.0], [0, 1, 0]),
        ([0, 1], [True, False], [1, 0]),
        (["1", "2"], [2, 1], [1, 0]),
        (["2020-01-31"], [datetime.date(2020, 1, 31)], [0]),
        ([1.5], [decimal.Decimal("1.50")], [0]),
        (["=1+1"], ["'=1+1"], [0]),  # an escaped cell of an export is the cell
        ([0.1], pa.array([0.1], pa.float32()), [0]),
        ([5], pa.array([5], pa.uint64()), [0]),
        (["a", "b"], pa.array(["b", "a", "b"]).dictionary_encode(), [1, 0, 1]),
        (["a"], pa.array(["a"], pa.large_string()), [0]),
        (["a"], pa.array(["a"], pa.string_view()), [0]),
        (["10:00:00"], pa.array([datetime.time(10)]), [0]),
    ],
)
def test_categorical_cells_are_compared_after_casting(values, cells, codes):
    assert encode_one(cat("a", values), cells) == codes


@pytest.mark.parametrize(
    ("values", "cell"),
    [(["a"], "A"), (["a"], " a"), (["123"], "0123"), ([1], "1.5"), ([1], "x"), ([True], "2"), (["1"], "1.0"),
     ([1], "NA"), (["a"], "b"), ([0.1], "nan")],
)  # fmt: skip
def test_strict_refuses_a_value_outside_the_domain_and_never_shows_it(values, cell):
    with pytest.raises(TableError, match="'secret-column'") as error:
        encode_one(cat("secret-column", values), [cell + "", cell], strict=True)
    assert f"'{cell}'" not in str(error.value) and "other" in str(error.value)
    assert encode_one(cat("a", values), [cell, cell]) == []


def test_other_and_missing_cells_take_what_the_schema_says():
    both = cat("a", ["x"], other=True, missing=True)
    assert encode_one(both, ["x", "y", "", None]) == [0, 1, 2, 2]
    assert encode_one(cat("a", ["x"], other=True), ["x", "y", "", None]) == [0, 1, 1, 1]
    assert encode_one(cat("a", ["x"], missing=True), ["x", "", None]) == [0, 1, 1]
    assert encode_one(cat("a", [1, 2], missing=True), [1.0, float("nan")]) == [0, 2]
    assert encode_one(cat("a", ["x"], missing=True), ["x", "y"]) == [0, 1]  # the only cell that is left for it
    assert encode_one(cat("a", ["x", ""]), ["x", "  ", None]) == [0, 1, 1]
    assert encode_one(cat("a", ["x"]), ["x", "", "y"]) == [0]  # no place for these: the records are left out
    with pytest.raises(TableError, match="blank"):
        encode_one(cat("a", ["x"]), ["x", ""], strict=True)


def test_a_dictionary_column_with_a_null_entry_is_a_blank_cell():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["x", None]))
    assert encode_one(cat("a", [1, "x"], missing=True), column) == [1, 2, 2]


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        (["0", "5", "99"], [0, 5, 9]),
        (["-7", "1e400", "-1e400", "inf", "-Infinity", "1e3"], [0, 9, 0, 9, 0, 9]),
        (["", "NA", "None", "nan", "x", "1,5"], [10] * 6),
        (["5.0", "5.9", " 5 ", "+5", "05"], [5] * 5),
        ([5, None], [5, 10]),
        ([5.0, float("nan"), float("inf")], [5, 10, 9]),
        ([True, False], [1, 0]),
        (["9223372036854775808", "-9223372036854775809"], [9, 0]),
        (pa.array([2**64 - 1], pa.uint64()), [9]),
        ([2**62 + 1], [9]),
        ([decimal.Decimal("5.5")], [5]),
        (pa.array(["7", "", "7"]).dictionary_encode(), [7, 10, 7]),
        (pa.nulls(2), [10, 10]),
    ],
)
def test_numeric_cells_are_cast_clamped_or_missing(cells, codes):
    assert encode_one(num("a", 0, 9, 10, missing=True), cells) == codes


def test_whole_numbers_beyond_2_to_53_keep_their_last_digit():
    low = 2**53
    attribute = num("a", low, low + 3, 4, missing=True)
    cells = [str(low), str(low + 1), "", str(low + 3)]
    assert encode_one(attribute, cells) == [0, 1, 4, 3]
    assert encode_one(attribute, [*cells, "x"]) == [0, 1, 4, 3, 4]  # on the slow path too
    table = Codec(schema(attribute)).decode(np.array([[1, 4, 3]], dtype=np.uint8), rng=RNG(0))
    assert table["a"].to_pylist() == [low + 1, None, low + 3]


@pytest.mark.parametrize("cells", [["1", "x"], ["1", ""], ["nan", "1"], [1.0, None]])
def test_without_a_missing_cell_what_is_no_number_is_left_out_or_refused_by_strict(cells):
    with pytest.raises(TableError, match=r"'a'.*missing: true"):
        encode_one(num("a", 0, 9, 10), cells, strict=True)
    assert encode_one(num("a", 0, 9, 10), cells) == [1]


def test_special_values_have_cells_of_their_own():
    attribute = num("wage", 0, 5000, 5, special_values=[999_998, -1], missing=True)
    assert encode_one(attribute, ["999998", "-1", "999997", "-2", "", "1000"]) == [5, 6, 4, 0, 7, 1]
    table = Codec(schema(attribute)).decode(np.array([[5, 6, 7, 5]], dtype=np.uint8), rng=RNG(0))
    assert table["wage"].to_pylist() == [999_998, -1, None, 999_998]


def test_a_decimal_comma_is_read_where_the_table_says_so():
    table = pa.table({"a": ["53,5", "1", ""], "b": ["1,5", "1,5", "1,5"]}).replace_schema_metadata(
        {b"dpsyn.decimal": b","}
    )
    codes = Codec(schema(num("a", 0, 100, 100, "float", missing=True), cat("b", ["1,5"]))).encode(table).codes
    assert codes.tolist() == [[53, 1, 100], [0, 0, 0]]


def test_dates_are_clamped_cast_or_missing():
    attribute = date("a", "2020-01-15", "2020-03-10", "month", missing=True)
    cells = ["2020-01-15", "2020-02-01T23:00:00", "1900-01-01", "9998-12-31", "9999-12-31", "", "soon", "2020-02-30"]
    assert encode_one(attribute, cells) == [0, 1, 0, 2, 3, 3, 3, 3]
    assert encode_one(attribute, [datetime.date(1, 1, 1), None]) == [0, 3]
    with pytest.raises(TableError, match=r"'a'.*formats"):
        encode_one(date("a", "2020-01-15", "2020-03-10", "month"), ["15/01/2020"], strict=True)
    assert encode_one(date("a", "2020-01-15", "2020-03-10", "month", formats=["%d/%m/%Y"]), ["15/02/2020"]) == [1]


@pytest.mark.parametrize(
    ("ends", "formats", "sample"),
    [
        (["1999-12-01", "2001-02-03"], ["%d/%m/%Y", "%Y"], "01/12/1999"),
        (["1999-12-01", "2001-02-03"], ["%Y-%d-%m"], "1999-01-12"),
        (["1999-12-01", "2001-02-03"], ["%b %d, %y"], "Dec 01, 99"),
        (["0001-01-01", "9999-12-31"], ["%B %d %Y 100%%"], "January 01 0001 100%"),
        (["1999-12-01T00:00:00", "2001-02-03T00:00:00"], ["%m/%d/%Y %I:%M:%S.%f %p"], "12/01/1999 12:00:00.000000 AM"),
        (["1999-12-01T00:00:00Z", "2001-02-03T00:00:00Z"], ["%Y%m%d %H%M%S%z"], "19991201 000000+0000"),
    ],
)
def test_dates_written_in_a_declared_format_are_decoded_in_it(ends, formats, sample):
    attribute = date("a", *ends, 7, formats=formats, missing=True)
    codec = Codec(schema(attribute))
    codes = RNG(0).integers(0, 8, (1, 300)).astype(np.uint8)
    table = codec.decode(codes, rng=RNG(1))
    assert table.schema.types == [pa.string()]
    assert codec.encode(table).codes.tolist() == codes.tolist()
    assert encode_one(attribute, [sample]) == [0]
    lengths = {len(t) for t in table["a"].drop_null().to_pylist()}
    assert len(lengths) == 1 or "%B" in formats[0]


def test_times_with_zones_are_compared_in_utc():
    attribute = date("a", "2020-01-01T00:00:00Z", "2020-01-01T23:59:59Z", 24)
    assert encode_one(attribute, ["2020-01-01T10:00:00+02:00", "2020-01-01T10:00:00"]) == [8, 10]


@pytest.mark.parametrize("attribute", [num("a", 0, 9, 3), date("a", "2020", "2021", "month")])
def test_cells_of_a_type_that_cannot_be_cast_are_misfits(attribute):
    with pytest.raises(TableError, match="'a'"):
        encode_one(attribute, pa.array([datetime.time(10)]), strict=True)
    assert encode_one(attribute, pa.array([datetime.time(10)])) == []
    assert encode_one(attribute | {"missing": True}, pa.array([datetime.time(10)])) == [schema(attribute)["a"].size]


FLAT = [
    (pa.int8(), 1), (pa.uint64(), 1), (pa.float16(), np.float16(1)), (pa.float32(), 1.0), (pa.bool_(), True),
    (pa.string(), "1"), (pa.large_string(), "1"), (pa.string_view(), "1"), (pa.date32(), datetime.date(2020, 1, 1)),
    (pa.date64(), datetime.date(2020, 1, 1)), (pa.timestamp("ns", "Europe/Paris"), datetime.datetime(2020, 1, 1)),
    (pa.time32("s"), datetime.time(1)), (pa.time64("us"), datetime.time(1)), (pa.decimal128(9, 2), decimal.Decimal(1)),
    (pa.decimal256(50, 2), decimal.Decimal(1)), (pa.decimal32(5, 2), decimal.Decimal(1)), (pa.null(), None),
    (pa.dictionary(pa.int8(), pa.string()), "1"), (pa.dictionary(pa.int8(), pa.int64()), 1),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), FLAT)
def test_every_flat_type_is_encoded_drafted_and_checked(kind, value):
    column = pa.chunked_array([pa.array([value, None], kind), pa.array([value], kind)])
    table = pa.table({"a": column, "b": ["x"] * 3})
    Codec(draft(table, "t")).encode(table)
    for attribute in (
        cat("a", [1, "x"], other=True, missing=True),
        num("a", 0, 9, 10, missing=True),
        num("a", 0, 9, 10, "float", missing=True, special_values=[1]),
        date("a", "2020-01-01", "2020-12-31", "month", missing=True),
    ):
        s = schema(attribute)
        codes = Codec(s).encode(table).codes[0]
        assert codes[0] == codes[2] and codes[1] == s["a"].size - 1
        assert all(f.level != "error" for f in check(s, table))


# ---- whole tables


def test_columns_are_found_by_name_and_kept_in_the_tables_order():
    codec = Codec(schema(cat("a", [0, 1]), cat("b", ["x", "y"]), {"name": "id", "kind": "identifier"}))
    table = pa.table({"extra": ["?"], "b": ["y"], "id": ["7"], "a": ["1"]})
    codes = codec.encode(table).codes
    assert codes.tolist() == [[1], [1]]
    assert codec.decode(codes, rng=RNG(0)).column_names == ["a", "b"]
    assert codec.decode(codes, rng=RNG(0), order=["b", "a"]).column_names == ["b", "a"]
    assert codec.decode(codes, rng=RNG(0), order=table.column_names).column_names == ["b", "a"]


def test_columns_that_the_table_lacks_are_named():
    with pytest.raises(TableError, match=r"'b', 'c'"):
        Codec(schema(cat("a", [1]), cat("b", [1]), cat("c", [1]))).encode(pa.table({"a": [1]}))


def test_headers_match_whether_accents_are_composed_or_not():
    assert Codec(schema(cat("e\u0301", [1]))).encode(pa.table({"\u00e9": [1]})).codes.tolist() == [[0]]


def test_a_table_without_records_has_codes_of_no_records_and_strict_refuses_it():
    empty = pa.table({"a": pa.array([], pa.string())})
    assert Codec(schema(cat("a", [1]))).encode(empty).codes.shape == (1, 0)
    with pytest.raises(TableError, match="no records"):
        Codec(schema(cat("a", [1]))).encode(empty, strict=True)


def test_identifiers_are_kept_apart_and_records_without_a_name_are_left_out():
    codec = Codec(
        schema(cat("a", [1]), {"name": "id", "kind": "identifier"}, unit={"identifier": "id", "max_records": 2})
    )
    encoded = codec.encode(pa.table({"a": [1, 1, 1], "id": [7, 8, 7]}))
    assert encoded.codes.shape == (1, 3) and encoded.identifiers.to_pylist() == ["7", "8", "7"]
    assert "id" not in codec.decode(encoded.codes, rng=RNG(0)).column_names
    nameless = pa.table({"a": [1] * 5, "id": ["7", "", " \t", None, "J\ufffdrg"]})
    assert codec.encode(nameless).identifiers.to_pylist() == ["7"]
    with pytest.raises(TableError, match=r"'id'.*blank"):
        codec.encode(nameless, strict=True)
    with pytest.raises(TableError, match="'id'"):
        codec.encode(pa.table({"a": [1]}))
    assert codec.encode(pa.table({"a": [1]}), individuals=False).identifiers is None


def test_decoding_depends_on_the_generator_alone():
    codec = Codec(schema(num("a", 0, 10**6, 3), num("b", 0, 1, 3, "float"), date("c", "2000-01-01", "2020-01-01", 3)))
    codes = RNG(0).integers(0, 3, (3, 100)).astype(np.uint8)
    assert codec.decode(codes, rng=RNG(5)).equals(codec.decode(codes, rng=RNG(5)))
    assert not codec.decode(codes, rng=RNG(5)).equals(codec.decode(codes, rng=RNG(6)))


def test_decoded_kinds_are_those_of_the_schema():
    codec = Codec(
        schema(
            cat("text", ["x", 1]), cat("whole", [1, 2]), cat("real", [1, 0.5]), cat("flag", [True, False]),
            num("i", 0, 9, 3), num("f", 0, 9, 3, "float"), date("d", "2020-01-01", "2020-12-31", "month"),
            date("t", "2020-01-01T00:00:00", "2020-12-31T00:00:00", 3),
            date("z", "2020-01-01T00:00:00Z", "2020-12-31T00:00:00Z", 3),
        )
    )  # fmt: skip
    types = codec.decode(np.zeros((9, 2), dtype=np.uint8), rng=RNG(0)).schema.types
    assert types == [
        pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.int64(), pa.float64(), pa.date32(),
        pa.timestamp("s"), pa.timestamp("s", tz="UTC"),
    ]  # fmt: skip


def test_no_error_of_the_codec_shows_a_cell():
    cells = ["canary-4711"] * 2
    for attribute in (cat("a", ["x"]), num("a", 0, 1, 2), date("a", "2020", "2021", "year")):
        with pytest.raises(TableError) as error:
            encode_one(attribute, cells, strict=True)
        assert "canary" not in str(error.value) and "4711" not in str(error.value)
        assert "canary" not in str(error.value.__cause__)


# ---- derived columns

HIERARCHY = [["a1", "A"], ["a2", "A"], ["b1", "B"]]


def derived(**more):
    return {"name": "general", "kind": "derived", "from": "detail", "map": HIERARCHY, **more}


def test_a_derived_column_follows_its_map_and_costs_no_cell():
    codec = Codec(schema(derived(), cat("detail", ["a1", "a2", "b1"], other=True, missing=True), cat("x", [0, 1])))
    assert codec.domain.names == ("detail", "x")
    table = codec.decode(np.array([[0, 1, 2, 3, 4], [0] * 5], dtype=np.uint8), rng=RNG(0))
    assert table.column_names == ["general", "detail", "x"]
    assert table["general"].to_pylist() == ["A", "A", "B", None, None]
    assert codec.decode(np.zeros((2, 1), np.uint8), rng=RNG(0), order=["x", "detail"]).column_names == [
        "x", "detail", "general",
    ]  # fmt: skip
    assert codec.encode(table.slice(0, 3)).codes.tolist() == [[0, 1, 2], [0, 0, 0]]


def test_a_derived_column_has_the_type_of_its_values():
    s = schema(cat("detail", [1, 2]), {"name": "g", "kind": "derived", "from": "detail", "map": [[1, 10], [2, 20]]})
    assert Codec(s).decode(np.array([[1, 0]], dtype=np.uint8), rng=RNG(0))["g"].to_pylist() == [20, 10]
    assert Schema.loads(s.dumps()) == s
    assert not schema(cat("detail", ["a1", "a2", "b1"]), derived(source="data")).private


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"from": "nobody"}, "nobody"),
        ({"map": HIERARCHY[:2]}, "'b1'"),
        ({"map": [*HIERARCHY, ["a1", "B"]]}, "twice"),
        ({"map": []}, "empty"),
        ({"map": [["a1"]]}, "map"),
    ],
)
def test_maps_that_do_not_fit_are_refused(more, words):
    with pytest.raises(SchemaError, match=words):
        schema(cat("detail", ["a1", "a2", "b1"]), derived(**more))


def test_a_table_that_disagrees_with_a_map_is_reported():
    s = schema(cat("detail", ["a1", "a2", "b1"]), derived())
    fits = pa.table({"detail": ["a1", "b1"], "general": ["A", "B"]})
    assert check(s, fits) == []
    assert check(s, fits.select(["detail"])) == []
    wrong = pa.table({"detail": ["a1", "b1"], "general": ["B", "B"]})
    assert [(f.level, f.about) for f in check(s, wrong)] == [("warning", "general")]


@pytest.mark.parametrize("cell", ["0x1F", "0X1f", "iNF", "1234567890123456789", "-1234567890123456789", "1e400", "nan"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_cell_is_read_alike_whatever_stands_in_the_other_records(cell, whole):
    read = [
        casting.to_numbers(pa.chunked_array([[cell, other]]), whole=whole) for other in ("7", "7.5", "", " 7", "word")
    ]
    assert len({(values[0].item(), bool(valid[0])) for values, valid in read}) == 1


def test_an_identifier_that_stands_twice_in_a_dictionary_is_one_individual():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["p", "p", "q"]))
    for column in (twice, pa.array([0.0, -0.0, 1.0])):
        s = schema(cat("a", ["x"]), {"name": "who", "kind": "identifier"}, unit={"identifier": "who"})
        encoded = Codec(s).encode(pa.table({"a": ["x"] * 3, "who": column}))
        assert bound(encoded, 1).shape == (1, 2)


def test_other_values_of_a_list_of_numbers_are_declared_values_and_no_blank_cells():
    for missing in (False, True):
        codec = Codec(schema(cat("stars", [1, 2, 5], other=True, missing=missing)))
        codes = np.array([[0] * 300 + [2] * 100 + [3] * 200 + [4] * 50 * missing], dtype=np.uint8)
        made = codec.decode(codes, rng=RNG(0)).column("stars")
        assert made.null_count == 50 * missing
        counts = {v: made.to_pylist().count(v) for v in (1, 2, 5)}
        assert counts[2] == 0 and 430 <= counts[1] <= 470 and sum(counts.values()) == 600
    alone = Codec(schema(cat("stars", [1, 2, 5], other=True))).decode(np.full((1, 50), 3, np.uint8), rng=RNG(0))
    assert set(alone.column("stars").to_pylist()) <= {1, 2, 5}


def test_other_values_go_with_a_listed_value_called_other():
    codec = Codec(schema(cat("size", ["s", "Other"], other=True)))
    made = codec.decode(np.array([[0, 1, 2]], dtype=np.uint8), rng=RNG(0))
    assert made.column("size").to_pylist() == ["s", "Other", "Other"]


def test_categories_as_dictionaries_hold_the_same_cells():
    columns = [
        {"name": "t", "kind": "categorical", "values": ["x", "(other)"], "other": True, "missing": True},
        {"name": "n", "kind": "categorical", "values": [3, 5], "other": True, "missing": True},
        {"name": "b", "kind": "categorical", "values": [True, False]},
    ]
    known = Codec(Schema.of({"version": 1, "name": "t", "attributes": columns}))
    codes = np.array([[0, 1, 2, 3, 0], [0, 1, 2, 3, 3], [0, 1, 0, 1, 1]], dtype=np.uint8)
    plain, listed = (known.decode(codes, rng=RNG(0), listed=listed) for listed in (False, True))
    assert all(pa.types.is_dictionary(c.type) for c in listed.columns)
    assert listed.to_pydict() == plain.to_pydict()
    assert [c.type.value_type for c in listed.columns] == [c.type for c in plain.columns]


@pytest.mark.parametrize(
    "declared",
    [
        num("x", 0, 9, 2, special_values=[5]),
        num("x", 0, 9, 3, "float", step=0.5, special_values=[5, 5.5]),
        num("x", 0, 9, 3, "float", special_values=[5]),
    ],
)
def test_no_ordinary_cell_is_drawn_as_a_special_value_inside_the_range(declared):
    (attribute,) = schema(declared).attributes
    codes = np.repeat(np.arange(attribute.plain), 400)
    drawn = attribute.draw(codes, np.random.default_rng(0))
    assert not np.isin(drawn, attribute.special_values).any()
    assert np.array_equal(attribute.binning.find(drawn), codes)
    assert attribute.draw(np.array([attribute.plain]), np.random.default_rng(0)) == attribute.special_values[0]
