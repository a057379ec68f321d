import datetime
import decimal
import fractions
import io
import uuid
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

from dpsyn_core.errors import SchemaWarning, TableError
from dpsyn_core.runs.synthesis import synthesize
from dpsyn_core.runs.synthesizer import TableSynthesizer as Synthesizer
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables.frames import from_arrow, to_arrow
from tests.schema.helpers import cat, num, schema

COLUMNS = {
    "whole": [1, 2, 3], "real": [0.5, None, 1.5], "text": ["x", None, "z"], "flag": [True, False, True],
    "day": [datetime.date(2020, 1, 1)] * 3,
}  # fmt: skip


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_every_kind_of_frame_comes_in_with_the_same_values(make):
    table = to_arrow(make(COLUMNS))
    assert table.column_names == list(COLUMNS)
    assert table.to_pydict() == COLUMNS


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_every_kind_of_frame_goes_out_as_the_same_kind(make):
    like = make(COLUMNS)
    back = from_arrow(to_arrow(pa.table(COLUMNS)), like)
    assert type(back) is type(like)
    got = to_arrow(back)
    got = got.set_column(4, "day", got.column("day").cast(pa.date32()))  # pandas has no dates, only times
    assert got.to_pydict() == COLUMNS


def private_frames():
    """Neighbours of each kind: the same columns, and one individual with a rare value, a blank or a large number."""
    yield (
        pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])}),
        pd.DataFrame({"a": [1, None], "b": pd.Categorical(["x", "y"], categories=["x", "y", "rare disease"])}),
    )
    yield (
        pl.DataFrame({"a": [1, 2], "b": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"]))}),
        pl.DataFrame({"a": [1.5, None], "b": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y", "rare disease"]))}),
    )
    yield (
        pa.table({"a": [1, 2], "b": pa.array(["x", "y"]).dictionary_encode()}),
        pa.table({"a": [1.0, None], "b": pa.array(["x", "y", "rare disease"]).dictionary_encode().slice(0, 2)}),
    )


@pytest.mark.parametrize(("like", "neighbour"), list(private_frames()))
def test_types_that_a_library_infers_from_cells_and_lists_of_values_do_not_reach_the_output(like, neighbour):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    one, other = from_arrow(table, like), from_arrow(table, neighbour)
    types = [getattr(f, "dtypes", None) if not isinstance(f, pa.Table) else f.schema.types for f in (one, other)]
    assert list(types[0]) == list(types[1])
    assert "rare" not in repr(types)


MADE = {
    "days": pa.array([18_000], pa.date32()),
    "moments": pa.array([1_555_000_000], pa.timestamp("s")),
    "zoned": pa.array([1_555_000_000], pa.timestamp("s", "UTC")),
}


def types(frame):
    return frame.schema.types if isinstance(frame, pa.Table) else list(frame.dtypes)


def with_pandas(text, **options):
    return pd.read_csv(io.StringIO(text), **options)


def with_str(text):
    """As pandas 3 reads: text has a type of its own, and is no object."""
    with pd.option_context("future.infer_string", True):
        return with_pandas(text, parse_dates=["d"])


def with_moments(text):
    frame = with_pandas(text)
    return frame.assign(d=pd.to_datetime(frame["d"], format="ISO8601", errors="coerce", utc="Z" in text))


READERS = {
    "pandas": partial(with_pandas, parse_dates=["d"]),
    "pandas of text": with_str,
    "moments of pandas": with_moments,
    "polars": lambda text: pl.read_csv(io.StringIO(text), try_parse_dates=True, infer_schema_length=None),
    "arrow": lambda text: pa.csv.read_csv(io.BytesIO(text.encode())),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
@pytest.mark.parametrize("odd", ["unknown", "2020-01-01T10:00:00.123456789"])
@pytest.mark.parametrize(
    "cell", ["2020-01-01", "2020-01-01T10:00:00", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00+02:00"]
)
def test_one_cell_that_is_no_date_or_a_finer_one_leaves_the_types_of_the_output(read, made, odd, cell):
    one, other = (
        from_arrow(pa.table({"d": made}), read(f"d\n{cell}\n{last}\n"))
        for last in (cell, odd + cell[19:] if odd != "unknown" else odd)
    )
    assert types(one) == types(other)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("odd", ["unknown", "", "2.5", "True", "9223372036854775808", "99999999999999999999"])
def test_one_odd_cell_among_numbers_leaves_the_types_of_the_output(read, odd):
    one, other = (
        from_arrow(pa.table({"n": [1, 2], "d": ["a", "b"]}), read(f"n,d\n1,2020-01-01\n{last},2020-01-01\n"))
        for last in ("2", odd)
    )
    assert types(one) == types(other)


@pytest.mark.parametrize("make", [pa.array, lambda cells: pl.Series(cells, strict=False)])
@pytest.mark.parametrize(
    ("cells", "odd"),
    [
        ([decimal.Decimal("1.5"), decimal.Decimal("2.5")], [decimal.Decimal("1.5"), decimal.Decimal("1122.25")]),
        ([None, None], [None, 1.5]),
        ([datetime.time(9)] * 2, [None, None]),
        ([datetime.date(2020, 1, 1)] * 2, [datetime.datetime(2020, 1, 1, 9)] * 2),
    ],
)
def test_types_that_come_of_one_cell_of_python_do_not_reach_the_output(make, cells, odd):
    given = [make(c) for c in (cells, odd)]
    frames = [(pl.DataFrame if isinstance(g, pl.Series) else pa.table)({"a": g}) for g in given]
    for values in (pa.array([1.5]), pa.array([datetime.datetime(2020, 1, 1)]), pa.array(["x"])):
        one, other = (from_arrow(pa.table({"a": values}), frame) for frame in frames)
        assert types(one) == types(other)


def test_pandas_columns_of_mixed_objects_become_text_and_keep_their_blanks():
    frame = pd.DataFrame({"a": [1, "x", None], 7: [1, 2, 3]})
    assert to_arrow(frame).to_pydict() == {"a": ["1", "x", None], "7": [1, 2, 3]}


def test_one_odd_cell_of_a_pandas_column_leaves_the_codes_of_all_others():
    columns = {
        "whole": [1.0, 2.0], "flag": [True, False], "day": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)],
        "exact": [decimal.Decimal(1), decimal.Decimal("0.5")],
    }  # fmt: skip
    s = schema(
        cat("whole", ["1", "2"], other=True), cat("flag", ["true", "false"], other=True),
        cat("day", ["2020-01-01", "2021-01-01"], other=True), cat("exact", ["1", "0.5"], other=True),
    )  # fmt: skip
    for odd in (None, "x", 7, 1e20, np.int8(1), decimal.Decimal("0.125"), pd.Timestamp("2020-01-01 10:00:00")):
        frame = pd.DataFrame({name: [*cells, odd] for name, cells in columns.items()}, dtype=object)
        assert (
            Codec(s).encode(to_arrow(frame[["whole", "flag", "exact"]].assign(day=frame["day"]))).codes[:, :2].tolist()
            == [[0, 1]] * 4
        )


def test_pandas_missing_marks_are_the_missing_cell():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None], "c": pd.array([1, None], "Int64")})
    s = schema(cat("a", [1], missing=True), cat("b", ["x"], missing=True), num("c", 0, 3, 4, missing=True))
    assert Codec(s).encode(to_arrow(frame)).codes.tolist() == [[0, 1], [0, 1], [1, 4]]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same header"),
        (pd.DataFrame({"": [1]}), "blank header"),
        (pd.DataFrame(), "no columns"),
        (pl.DataFrame({"a": [[1, 2]]}), "'a'"),
        (pa.table({"a": [{"x": 1}]}), "'a'"),
        ([1, 2, 3], "list"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_flat_table_is_refused(frame, words):
    with pytest.raises(TableError, match=words):
        to_arrow(frame)


def test_frames_of_a_kind_that_is_not_known_cannot_be_asked_for():
    with pytest.raises(TableError, match="int"):
        from_arrow(pa.table({"a": [1]}), 3)


def test_cells_of_a_pandas_column_that_have_no_text_are_misfits_of_their_own():
    frame = pd.DataFrame({"a": pd.Series([[1], b"x", "y", {"z": 1}, None], dtype=object)})
    assert to_arrow(frame).to_pydict() == {"a": ["\ufffd", "\ufffd", "y", "\ufffd", None]}


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_a_frame_without_records_is_a_table_without_records(make):
    assert to_arrow(make({"a": [], "b": []})).shape == (0, 2)


@pytest.mark.parametrize(
    "column",
    [
        pd.period_range("2020", periods=2, freq="M"), pd.interval_range(0, 2), pd.array([1, 2], "Sparse[int]"),
        pd.Series([1j, 2]), pd.to_timedelta([1, 2]), pd.Categorical([1, "x"]), pd.array(["x", None], "string"),
        pd.array([1.5, None], "Float32"), pd.array([1, None], "int8[pyarrow]"), pd.Series([1, 2], dtype="float16"),
    ],
)  # fmt: skip
def test_every_type_of_pandas_is_read(column):
    table = to_arrow(pd.DataFrame({"a": column}))
    s = schema(cat("a", ["none of these"], other=True, missing=True))
    assert Codec(s).encode(table).codes.shape == (1, 2)


M = 300
AT = np.arange(M)
MOMENTS = pd.Timestamp("2020-01-01") + pd.to_timedelta(AT % 90 * 3571, unit="s")
SPANS = pd.to_timedelta(AT % 50 * 60, unit="s")
NUMPY = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
REAL = ("float16", "float32", "Float32", "Float64", "float[pyarrow]", "double[pyarrow]")
UNITS = ("s", "ms", "us", "ns")
BLANK = {  # types with a place for a blank cell
    **{k: pd.array(AT % 60, k) for k in (n.capitalize().replace("Ui", "UI") for n in NUMPY)},
    **{f"{k}[pyarrow]": pd.array(AT % 60, f"{k}[pyarrow]") for k in NUMPY},
    **{k: pd.array((AT % 60 / 8).astype("float32"), k) for k in REAL},
    "boolean": pd.array([True, False] * 150, "boolean"),
    "arrow bool": pd.array([True, False] * 150, "bool[pyarrow]"),
    "ordered": pd.Categorical(["lo", "mid", "hi"] * 100, ["lo", "mid", "hi"], ordered=True),
    "numbered": pd.Categorical([3, 1, 2] * 100, [3, 2, 1]),
    "string": pd.array(["a", "b", "c"] * 100, "string"),
    "arrow text": pd.array(["u", "v"] * 150, "string[pyarrow]"),
    **{f"moments in {u}": MOMENTS.as_unit(u) for u in UNITS},
    **{f"zone in {u}": MOMENTS.tz_localize("Europe/Berlin").as_unit(u) for u in UNITS},
    "UTC": MOMENTS.tz_localize("UTC"),
    "offset": MOMENTS.tz_localize("+02:00"),
    "arrow moment": pd.array(MOMENTS, "timestamp[us][pyarrow]"),
    "days": [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(i) % 60) for i in AT],
    "arrow days": pd.array(MOMENTS.floor("D"), "date32[day][pyarrow]"),
    **{f"span in {u}": SPANS.as_unit(u) for u in UNITS},
    "arrow span": pd.array(SPANS, "duration[s][pyarrow]"),
    **{
        f"period {f}": pd.period_range("2000-01", periods=60, freq=f)[AT % 60]
        for f in ("Y", "Q-JUN", "M", "W", "D", "h")
    },
}
USUAL = pd.to_datetime(["2020-01-01"]).unit  # of moments that pandas infers, where no cell has a finer part
INFERRED = {  # what a single odd cell would make objects, or another one finer or larger
    "days": f"datetime64[{USUAL}]",
    "moments in ns": f"datetime64[{USUAL}]",
    "offset": f"datetime64[{USUAL}, UTC]",
    "zone in ns": f"datetime64[{USUAL}, Europe/Berlin]",
    "span in ns": f"timedelta64[{USUAL}]",
    "uint64": "int64",
}
DECLARED = {
    **BLANK,
    **{k: (AT % 60).astype(k) for k in NUMPY},
    "sparse": pd.arrays.SparseArray(AT % 60),
    7: AT % 50,
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))


def made(frame):
    drafted = draft(frame, "t")
    return synthesize(frame, drafted, epsilon=10, delta=1e-6, rng=0, method="independent").table


def sampled(frame):
    return Synthesizer(draft(frame, "t"), epsilon=10, delta=1e-6, rng=0, method="independent").fit(frame).sample(M)


@pytest.mark.parametrize("make", [made, sampled])
@pytest.mark.parametrize("blanks", [False, True])
def test_a_pandas_frame_comes_back_with_the_types_and_labels_that_somebody_gave_it(make, blanks):
    frame = pd.DataFrame(BLANK if blanks else DECLARED)
    if blanks:
        for name in frame.columns:
            frame.loc[AT % 9 == 0, name] = None
    frame.columns.name = "column"
    out = make(frame)
    assert out.columns.equals(frame.columns) and out.columns.name == "column"
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            assert list(out[name].cat.categories) == list(frame[name].cat.categories)
            assert out[name].cat.ordered == frame[name].cat.ordered
        else:
            assert out[name].dtype == INFERRED.get(name, frame[name].dtype), name
        assert set(out[name].dropna()) - set(frame[name].dropna()) == set() or out[name].nunique() > 40, name
        assert out[name].isna().any() == blanks, name
    assert isinstance(out["days"].dropna().iloc[0], datetime.date)


INDEX = {
    "number": pd.Index(AT % 50, name="who"),
    "days": pd.DatetimeIndex(MOMENTS.floor("D"), name="day"),
    "zone": pd.DatetimeIndex(MOMENTS.tz_localize("Europe/Berlin"), name="at"),
    "order": pd.CategoricalIndex(["lo", "mid", "hi"] * 100, ["lo", "mid", "hi"], ordered=True, name="grade"),
    "months": pd.PeriodIndex(BLANK["period M"], name="month"),
    "spans": pd.TimedeltaIndex(SPANS, name="span"),
    "label": pd.Index(AT % 50, name=7),
    "levels": pd.MultiIndex.from_arrays([MOMENTS.floor("D"), ["u", "v"] * 150], names=["day", "group"]),
    "rows": pd.Index(AT + 5),
}


@pytest.mark.parametrize("make", [made, sampled])
@pytest.mark.parametrize("index", INDEX.values(), ids=INDEX)
def test_an_index_comes_back_with_its_names_and_types(make, index):
    frame = pd.DataFrame({"a": [1, 2, 3] * 100, 3: ["x", "y"] * 150}, index=index)
    out = make(frame)
    assert list(out.columns) == ["a", 3] and list(out.index.names) == list(index.names)
    kinds = [[i.get_level_values(k).dtype for k in range(i.nlevels)] for i in (out.index, index)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (pd.Index(["x", "y"] * 50), "an index without a name"),
        (pd.date_range("2020", periods=100), "an index without a name"),
        (pd.MultiIndex.from_arrays([AT[:100], ["x", "y"] * 50], names=["who", None]), "an index without a name"),
        (pd.Index([1, 2] * 50, name="a"), "index 'a', the name of a column"),
        (pd.Index([48_302, 17_003] * 50), "an index without a name"),
        (pd.Index([*range(3, 103)]), "an index without a name"),
        (pd.Index([*range(99), 98]), "an index without a name"),
        (pd.Index([7] * 100), "an index without a name"),
        (pd.MultiIndex.from_arrays([AT[:100], [4, 9] * 50]), "an index without a name"),
    ],
)
def test_an_index_that_no_column_can_be_is_named_and_never_vanishes(index, words):
    with pytest.warns(SchemaWarning, match=words):
        to_arrow(pd.DataFrame({"a": [1, 2] * 50}, index=index))


def test_attrs_of_a_frame_are_left_out_with_a_sentence():
    frame = pd.DataFrame({"a": [1, 2] * 50})
    frame.attrs["mean"] = 1.5
    with pytest.warns(SchemaWarning, match="attrs of the frame"):
        assert made(frame).attrs == {}


def test_headers_of_two_levels_come_back():
    frame = pd.DataFrame({("a", "x"): [1, 2] * 50, ("a", "y"): [3, 4] * 50})
    frame.columns.names = ["k", "l"]
    assert made(frame).columns.equals(frame.columns) and made(frame).columns.names == ["k", "l"]


WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_polars_frame_comes_back_with_the_types_that_somebody_gave_it(lazy):
    frame = pl.DataFrame(
        {
            **{str(k): pl.Series([i % 60 for i in range(M)], dtype=k) for k in WHOLE},
            "flag": [True, False] * 150,
            "real": pl.Series([i % 60 / 8 for i in range(M)], dtype=pl.Float32),
            "span": [datetime.timedelta(seconds=i % 50) for i in range(M)],
            "enum": pl.Series(["x", "y"] * 150, dtype=pl.Enum(["y", "x"])),
            "category": pl.Series(["x", "y"] * 150, dtype=pl.Categorical),
            "day": [datetime.date(2020, 1, 1 + i % 28) for i in range(M)],
            "zone": pl.Series(MOMENTS.to_list()).dt.cast_time_unit("ms").dt.replace_time_zone("Europe/Rome"),
        }
    )
    large = {"UInt64": pl.Int64}  # what a single large cell would make of whole numbers
    assert made(frame.lazy() if lazy else frame).schema == {**frame.schema, **large}
    table = frame.to_arrow()
    back = made(table).schema
    few = {
        f.name: pa.dictionary(pa.int32(), f.type.value_type, f.type.ordered)
        for f in table.schema
        if pa.types.is_dictionary(f.type)
    }
    few["UInt64"] = pa.int64()
    assert [back.field(f.name).type for f in table.schema] == [few.get(f.name, f.type) for f in table.schema]


def test_what_no_table_holds_is_named_and_never_vanishes():
    frame = pd.DataFrame({"a": [1, 2] * 50, "nan": np.nan, "by": [b"x"] * 100, "dict": [{"a": 1}] * 100})
    frame["thirds"], frame["pair"] = [fractions.Fraction(1, 3)] * 100, [(1, 2)] * 100
    frame["complex"], frame["span"] = 1j, pd.Series([datetime.timedelta(1)] * 100, dtype=object)
    frame["interval"] = pd.IntervalIndex.from_breaks(range(101))
    with pytest.warns(SchemaWarning) as said:
        draft(frame, "t")
    assert [str(w.message).split("'")[1] for w in said] == [*frame.columns[1:]]


def test_a_type_that_the_values_do_not_fit_is_named():
    with pytest.warns(SchemaWarning, match="'a' does not come back as int8"):
        out = from_arrow(pa.table({"a": [1, 300]}), pd.DataFrame({"a": np.array([1, 2], "int8")}))
    assert out["a"].tolist() == [1, 300]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (decimal.Decimal("2.50"), "decimal.Decimal, which are floating"),
        (datetime.time(9, 30), "datetime.time, which are text"),
        (datetime.datetime(2024, 1, 2, 3), "datetime.datetime, which are dates or times"),
        (pd.Timestamp("2024-01-02"), "Timestamp, which are dates or times"),
        (uuid.UUID(int=7), "uuid.UUID, which are text"),
    ],
)
def test_objects_that_do_not_come_back_are_named(cell, words):
    column = pd.Series([cell, None, cell], dtype=object)
    for series in (column, *([] if isinstance(cell, datetime.datetime) else [column.astype("category")])):
        with pytest.warns(SchemaWarning, match=f"column 'fee' holds objects of .*{words}"):
            to_arrow(pd.DataFrame({"fee": series, "a": [1, 2, 3]}))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["x", 3, 2.5], "float, int, str, which are text or numbers"),
        ([True, 3, 4], "bool, int, which are text or numbers"),
        ([datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3), None], "which are dates or times"),
        ([(1, 2), "x", None], "str, tuple, some of which no column holds"),
    ],
)
def test_columns_of_several_types_are_named(cells, words):
    with pytest.warns(SchemaWarning, match=words):
        to_arrow(pd.DataFrame({"fee": pd.Series(cells, dtype=object), "a": [1, 2, 3]}))


@pytest.mark.parametrize(
    "cells",
    [["x", None, "y"], [True, None, False], [1, 2.5, None], [1, None, 2], [datetime.date(2024, 1, 2), None, None]],
)
def test_objects_that_come_back_are_not_warned_of(cells, recwarn):
    to_arrow(pd.DataFrame({"fee": pd.Series(cells, dtype=object), "a": [1, 2, 3]}))
    assert not [w for w in recwarn if issubclass(w.category, SchemaWarning)]


def test_a_dictionary_of_arrow_comes_back_with_values_of_the_synthetic_table_alone():
    given = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 50, pa.int32()), ["x", "y", "rare disease"])
    back = made(pa.table({"a": given, "b": list(range(50)) * 2}))
    assert back["a"].type == given.type and "rare disease" not in back["a"].combine_chunks().dictionary.to_pylist()
    wide = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array([3, 5]), ordered=True)
    out = from_arrow(pa.table({"a": [5, 3]}), pa.table({"a": wide}))["a"]
    assert (
        out.to_pylist() == [5, 3]
        and out.chunk(0).dictionary.to_pylist() == [3, 5]
        and out.type == pa.dictionary(pa.int32(), pa.int64(), ordered=True)
    )


def test_one_cell_that_is_not_utf_8_leaves_the_type_of_its_column():
    good, bad = (pa.array([b"x", c]).view(pa.string()) for c in (b"y", b"\xff"))
    assert to_arrow(pa.table({"a": good})).schema == to_arrow(pa.table({"a": bad})).schema


@pytest.mark.parametrize(
    "index",
    [pd.RangeIndex(100), pd.RangeIndex(0, 400, 4), pd.Index([*range(99, -1, -1)]), pd.Index([*range(1, 101)])],
)
def test_numbers_of_rows_are_no_index_to_speak_of(index, recwarn):
    to_arrow(pd.DataFrame({"a": [1, 2] * 50}, index=index))
    assert not [w for w in recwarn if issubclass(w.category, SchemaWarning)]
