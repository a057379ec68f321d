import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpsyn_core.errors import SchemaWarning, TableError
from dpsyn_core.runs.synthesis import synthesize
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
MOMENTS = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(M) % 90 * 3571, unit="s")
SOME = [None if i % 9 == 0 else i % 40 for i in range(M)]
DECLARED = {
    "Int64": pd.array(SOME, "Int64"),
    "UInt8": pd.array(SOME, "UInt8"),
    "boolean": pd.array([True, None, False] * 100, "boolean"),
    "ordered": pd.Categorical(["lo", "mid", "hi"] * 100, ["lo", "mid", "hi"], ordered=True),
    "numbered": pd.Categorical([3, 1, 2] * 100, [3, 2, 1]),
    "string": pd.array(["a", "b", None] * 100, "string"),
    "float32": (np.arange(M) % 70 / 8).astype("float32"),
    "Float64": pd.array(np.arange(M) % 70 / 8, "Float64"),
    "seconds": MOMENTS.astype("datetime64[s]"),
    "nanoseconds": MOMENTS,
    "zone": MOMENTS.tz_localize("Europe/Berlin"),
    "days": [datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 60) for i in range(M)],
    "span": pd.to_timedelta(np.arange(M) % 50 * 60, unit="s"),
    "month": pd.period_range("2000-01", periods=60, freq="M")[np.arange(M) % 60],
    "quarter": pd.period_range("2000Q1", periods=20, freq="Q")[np.arange(M) % 20],
    "arrow int": pd.array(np.arange(M) % 70, "int16[pyarrow]"),
    "arrow text": pd.array(["u", "v"] * 150, "string[pyarrow]"),
    "arrow span": pd.array(pd.to_timedelta(np.arange(M) % 50, unit="s"), "duration[s][pyarrow]"),
    "arrow moment": pd.array(MOMENTS, "timestamp[us][pyarrow]"),
    7: np.arange(M) % 50,
    **{k: (np.arange(M) % 60).astype(k) for k in ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64")},
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSYN_HOME", str(tmp_path))


def made(frame):
    drafted = draft(frame, "t")
    return synthesize(frame, drafted, epsilon=10, delta=1e-6, rng=0, method="independent").table


def test_a_pandas_frame_comes_back_with_the_types_and_labels_that_somebody_gave_it():
    frame = pd.DataFrame(DECLARED)
    out = made(frame)
    assert list(out.columns) == list(frame.columns)
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.CategoricalDtype):
            assert list(out[name].cat.categories) == list(frame[name].cat.categories)
            assert out[name].cat.ordered == frame[name].cat.ordered
        else:
            assert out[name].dtype == frame[name].dtype, name
        assert set(out[name].dropna()) - set(frame[name].dropna()) == set() or out[name].nunique() > 40, name
    assert isinstance(out["days"].iloc[0], datetime.date) and out["Int64"].isna().any()


def test_headers_of_two_levels_come_back():
    frame = pd.DataFrame({("a", "x"): [1, 2] * 50, ("a", "y"): [3, 4] * 50})
    frame.columns.names = ["k", "l"]
    assert made(frame).columns.equals(frame.columns) and made(frame).columns.names == ["k", "l"]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_polars_frame_comes_back_with_the_types_that_somebody_gave_it(lazy):
    frame = pl.DataFrame(
        {
            "int": pl.Series([i % 60 for i in range(M)], dtype=pl.Int8),
            "real": pl.Series([i % 60 / 8 for i in range(M)], dtype=pl.Float32),
            "span": [datetime.timedelta(seconds=i % 50) for i in range(M)],
            "enum": pl.Series(["x", "y"] * 150, dtype=pl.Enum(["y", "x"])),
            "category": pl.Series(["x", "y"] * 150, dtype=pl.Categorical),
            "day": [datetime.date(2020, 1, 1 + i % 28) for i in range(M)],
            "zone": pl.Series(MOMENTS.to_list()).dt.cast_time_unit("ms").dt.replace_time_zone("Europe/Rome"),
        }
    )
    assert made(frame.lazy() if lazy else frame).schema == frame.schema
    table = frame.to_arrow()
    back = made(table).schema
    assert [back.field(f.name).type for f in table.schema if not pa.types.is_dictionary(f.type)] == [
        f.type for f in table.schema if not pa.types.is_dictionary(f.type)
    ]


def test_what_no_table_holds_is_named_and_never_vanishes():
    frame = pd.DataFrame({"a": [1, 2] * 50, "nan": np.nan, "by": [b"x"] * 100, "dict": [{"a": 1}] * 100})
    frame["interval"] = pd.IntervalIndex.from_breaks(range(101))
    with pytest.warns(SchemaWarning) as said:
        draft(frame, "t")
    assert [str(w.message).split("'")[1] for w in said] == ["nan", "by", "dict", "interval"]


def test_a_type_that_the_values_do_not_fit_is_named():
    with pytest.warns(SchemaWarning, match="'a' does not come back as int8"):
        out = from_arrow(pa.table({"a": [1, 300]}), pd.DataFrame({"a": np.array([1, 2], "int8")}))
    assert out["a"].tolist() == [1, 300]
