"""Columns and groups in figures: what pandas finds in the two files, and what is called wrong."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsyn_core.errors import MetricError
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.profile import QUANTILES, profiles
from dpsyn_core.evaluate.small_groups import group_errors
from dpsyn_core.evaluate.verdicts import verdict
from dpsyn_core.report.profile import (
    both,
    columns_entry,
    gap_rows,
    gap_sentences,
    groups_sentence,
    lost_groups,
    profile_rows,
)
from dpsyn_core.report.verdict import sentence
from dpsyn_core.report.wording import ENGLISH, local
from dpsyn_core.schema.document import Schema

SCHEMA = Schema.of({
    "version": 1, "name": "stays",
    "attributes": [
        {"name": "days", "kind": "numeric", "dtype": "integer", "min": 0, "max": 400, "missing": True},
        {"name": "ward", "kind": "categorical", "values": ["a", "b", "c"], "missing": True},
        {"name": "came", "kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "bins": {"every": "month"}},
    ],
})  # fmt: skip


def stays(n, seed, gap=10):
    rng = np.random.default_rng(seed)
    ward = rng.choice(["a", "b", "c"], n, p=[0.7, 0.27, 0.03])
    days = rng.poisson(20 + gap * (ward == "b")).astype(float)
    days[rng.random(n) < 0.2] = np.nan
    came = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 366, n), unit="D")
    table = pd.DataFrame({"days": pd.array(days, dtype="Int64"), "ward": ward, "came": came.strftime("%Y-%m-%d")})
    table.loc[rng.random(n) < 0.1, "ward"] = None
    return table


def test_the_figures_of_a_column_are_those_of_pandas():
    real, made = stays(3000, 1), stays(2500, 2)
    c = compare_tables(SCHEMA, pa.Table.from_pandas(made), pa.Table.from_pandas(real))
    days, ward, came = profiles(c)
    for frame, got in ((real, days.real), (made, days.synthetic)):
        x = frame.days.astype(float)
        assert (got.mean, got.deviation) == (pytest.approx(x.mean()), pytest.approx(x.std()))
        assert (got.missing, got.distinct) == (pytest.approx(x.isna().mean()), x.nunique())
        assert list(got.quantiles) == pytest.approx(x.quantile(list(QUANTILES)).tolist())
    assert (ward.real.distinct, ward.real.missing) == (3, pytest.approx(real.ward.isna().mean()))
    assert came.real.distinct == real.came.nunique() and came.real.quantiles[0] == real.came.min()
    assert not any(p.wrong for p in profiles(c)) and not gap_sentences(c)
    assert [row[0] for row in profile_rows(c)] == ["days", "ward", "came"]


def test_values_that_the_schema_does_not_list_are_said_to_be_at_least_one():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "icd", "kind": "categorical", "values": ["a", "b"], "other": True}]})  # fmt: skip
    real, made = pa.table({"icd": ["a", "b", "x", "y", "z"]}), pa.table({"icd": ["a", "b", "(other)"]})
    c = compare_tables(schema, made, real)
    assert profile_rows(c)[0][2] == "≥ 3 / 3"
    assert profile_rows(compare_tables(schema, made, pa.table({"icd": ["a", "b"]})))[0][2] == "2 / 3"
    assert columns_entry(c)["columns"][0]["real"]["unlisted"] is True


def test_means_deviations_and_blanks_that_are_not_right_are_named():
    real, made = stays(3000, 1), stays(3000, 2, gap=2)
    made["days"] = (made.days * 3).astype("Int64").fillna(20)
    c = compare_tables(SCHEMA, pa.Table.from_pandas(made), pa.Table.from_pandas(real))
    assert profiles(c)[0].wrong == ("missing", "mean", "deviation")
    entry = columns_entry(c)
    assert entry["columns"][0]["wrong"] == ["missing", "mean", "deviation"]
    (gap,) = entry["gaps"]
    assert (gap["column"], gap["category"]) == ("days", "ward") and any(gap["moved"])
    assert gap_rows(c)[0][:3] == ["days", "ward", "c"]
    assert re.search(r"differences between groups are \d+% of the real ones", gap_sentences(c)[0])
    turned = stays(3000, 2, gap=2)
    turned["days"] = 40 - turned.days  # the group with most days has fewest
    opposite = compare_tables(SCHEMA, pa.Table.from_pandas(turned), pa.Table.from_pandas(real))
    assert "differences between groups are 0% of the real ones" in gap_sentences(opposite)[0]


def test_means_of_groups_that_moved_are_counted_where_no_difference_is_pulled_and_lost_groups_are_named_last():
    real, made = stays(3000, 1), stays(3000, 1)
    real.loc[:19, "ward"] = "c"
    made.loc[:19, "ward"] = "c"
    made["days"] = made.days.where(made.ward != "a", made.days + 3).astype("Int64")
    made = made[made.ward != "c"]
    c = compare_tables(SCHEMA, pa.Table.from_pandas(made), pa.Table.from_pandas(real))
    said = " ".join(gap_sentences(c))
    assert "means by group are off by more than in a fresh sample" in said
    assert "ward c" in lost_groups(c) and not lost_groups(compare_tables(SCHEMA, *[pa.Table.from_pandas(real)] * 2))
    assert [row[2] for row in gap_rows(c)][-1] == "c", "a lost group says nothing on means"


def test_small_groups_pay_more_and_a_fresh_sample_says_how_much_is_chance():
    real, again = stays(3000, 1), stays(3000, 2)
    lost = again.copy()
    rare = lost.ward == "c"
    lost.loc[rare, "days"] = 300
    for made, off in ((again, False), (lost, True)):
        c = compare_tables(SCHEMA, pa.Table.from_pandas(made), pa.Table.from_pandas(real))
        rows = group_errors(c, "ward")
        assert [r.real for r in rows] == sorted((r.real for r in rows), reverse=True)
        assert rows[-1].value == "c" and rows[-1].floor > 3 * rows[0].floor
        assert (rows[-1].error > 2 * rows[-1].floor) is off
    said = groups_sentence(rows, "ward")
    assert said.startswith("Groups of ward: the smaller ones (2,")
    alone = Schema.of(SCHEMA.model_dump() | {"attributes": SCHEMA.model_dump()["attributes"][1:2]})
    table = pa.Table.from_pandas(real[["ward"]])
    with pytest.raises(MetricError, match="choose another column"):
        group_errors(compare_tables(alone, table, table), "ward")


def test_a_cell_shows_both_figures():
    assert both(632.4, 452.0) == "632 / 452" and both(None, None) == "–" and both("a", "b") == "a / b"
    assert both(1.0, 1.0) == "1 / 1"
    assert both("2023-01-01T00:30:00", "2023-06-02T10:00:00") == "2023-01-01 / 2023-06-02"
    assert both("2023-01-01T00:30:00", "2023-01-01T00:00:00") == "2023-01-01 00:30 / 00:00"


def test_figures_in_german_have_a_comma():
    german = dict(ENGLISH) | {"decimal_mark": ","}
    assert local("1,234.5", german) == "1.234,5" and both(1234.5, 2.5, german) == "1.234 / 2,5"
    c = compare_tables(SCHEMA, pa.Table.from_pandas(stays(900, 2)), pa.Table.from_pandas(stays(900, 1)))
    assert not re.search(r"\d\.\d", sentence(verdict(c), german, epsilon=0.5))


@pytest.mark.parametrize("bins", [None, {"count": 7}, {"every": "month"}])
def test_quantiles_of_dates_and_times_are_those_of_the_file_whatever_the_bins(bins):
    rng = np.random.default_rng(4)
    at = pd.Timestamp("2021-01-02T13:05") + pd.to_timedelta(rng.integers(0, 1_500_000, 900), "min")
    frame = pd.DataFrame({"day": at.strftime("%Y-%m-%d"), "moment": at.strftime("%Y-%m-%d %H:%M")})
    ends = {"day": ("2021-01-01", "2023-12-31"), "moment": ("2021-01-01T00:00:00", "2023-12-31T23:59:59")}
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": n, "kind": "datetime", "min": a, "max": b} | ({"bins": bins} if bins else {})
        for n, (a, b) in ends.items()
    ]})  # fmt: skip
    made = frame.iloc[rng.integers(0, 900, 800)]
    found = profiles(compare_tables(schema, pa.Table.from_pandas(made), pa.Table.from_pandas(frame)))
    for p in found:
        for side, table in ((p.real, frame), (p.synthetic, made)):
            wanted = pd.to_datetime(table[p.column]).quantile(list(QUANTILES))
            assert [pd.Timestamp(q) for q in side.quantiles] == list(wanted.dt.floor("D" if p.column == "day" else "s"))


def test_months_are_said_as_months():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "month", "kind": "datetime", "min": "2021-01-01", "max": "2023-12-31", "bins": {"every": "month"},
         "formats": ["%b-%y"]}]})  # fmt: skip
    real, made = (
        pa.table({"month": ["Feb-21", "Mar-22", "Jul-23"]}),
        pa.table({"month": ["Mar-22", "Mar-22", "Jan-23"]}),
    )
    (row,) = profile_rows(compare_tables(schema, made, real))
    assert row[5] == "2021-02 / 2022-03" and row[8] == "2023-07 / 2023-01"
