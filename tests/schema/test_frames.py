import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpsyn_core.errors import TableError
from dpsyn_core.schema.codec import Codec
from dpsyn_core.schema.frames import from_arrow, to_arrow
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
def test_every_kind_of_frame_goes_out_as_it_came(make):
    like = make(COLUMNS)
    back = from_arrow(to_arrow(pa.table(COLUMNS)), like)
    assert type(back) is type(like)
    assert to_arrow(back).to_pydict() == COLUMNS


def test_pandas_types_come_back_where_no_value_changes():
    like = pd.DataFrame({"a": pd.array([1, 2], "int16"), "b": pd.Categorical(["x", "y"]), "c": np.float32([1, 2])})
    out = from_arrow(pa.table({"a": [5, 6], "b": ["y", "x"], "c": [0.5, 1.5]}), like)
    assert [str(t) for t in out.dtypes] == ["int16", "category", "float32"]
    out = from_arrow(pa.table({"a": [5, None], "b": ["y", "new"], "c": [0.5, 1.5]}), like)
    assert out["b"].tolist() == ["y", "new"] and out["a"].isna().tolist() == [False, True]


def test_text_that_would_become_a_missing_number_stays_text():
    out = from_arrow(pa.table({"a": ["nan", "1"]}), pd.DataFrame({"a": [0.5, 1.0]}))
    assert out["a"].tolist() == ["nan", "1"]


def test_polars_types_come_back_where_no_value_changes():
    like = pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int8), "b": pl.Series(["x", "y"], dtype=pl.Categorical)})
    assert from_arrow(pa.table({"a": [5, 6], "b": ["y", "x"]}), like).dtypes == [pl.Int8, pl.Categorical]
    assert from_arrow(pa.table({"a": [500, 6], "b": ["y", "x"]}), like)["a"].to_list() == [500, 6]


def test_arrow_types_come_back_where_no_value_changes():
    like = pa.table({"a": pa.array([1], pa.int16()), "b": ["1"]})
    out = from_arrow(pa.table({"a": [5], "b": [7], "c": [0]}), like)
    assert out.schema.types == [pa.int16(), pa.string(), pa.int64()]
    assert from_arrow(pa.table({"a": [10**6]}), like).schema.types == [pa.int64()]


def test_pandas_columns_of_mixed_objects_become_text_and_keep_their_blanks():
    frame = pd.DataFrame({"a": [1, "x", None], 7: [1, 2, 3]})
    assert to_arrow(frame).to_pydict() == {"a": ["1", "x", None], "7": [1, 2, 3]}


def test_pandas_missing_marks_are_the_missing_cell():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None], "c": pd.array([1, None], "Int64")})
    s = schema(cat("a", [1], missing=True), cat("b", ["x"], missing=True), num("c", 0, 3, 4, missing=True))
    assert Codec(s).encode(to_arrow(frame)).codes.tolist() == [[0, 1], [0, 1], [1, 4]]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same header"),
        (pd.DataFrame({"": [1]}), "blank header"),
        (pd.DataFrame({"a": []}), "no records"),
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
