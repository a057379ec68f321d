"""Figures of a language with a decimal comma: captions, titles, ticks and dates are written so."""

import re

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.evaluate.verdicts import verdict
from dpsyn_core.report import build, figures
from dpsyn_core.report.figures import columns
from dpsyn_core.report.figures import overview as glance
from dpsyn_core.report.profile import gap_rows, profile_rows
from dpsyn_core.report.verdict import sentence
from dpsyn_core.report.wording import ENGLISH, dated
from dpsyn_core.schema.document import Schema

COMMA = {**ENGLISH, "decimal_mark": ","}
ENGLISH_NUMBER = r"\d\.\d"


def texts():
    z = np.array([[np.nan, 0.123, 0.024], [0.123, np.nan, 0.111], [0.024, 0.111, np.nan]])
    made = figures.pair_map(["a", "b", "c"], z, words=COMMA)
    yield made.caption
    yield from map(str, figures.pairs.root_ticks(0.123, COMMA)["ticktext"][1:])
    panel = glance.Panel(name="x", labels=["a", "b"], shares={"real": np.array([0.4, 0.6])}, difference=0.1234)
    yield glance.title(panel, COMMA)
    yield from glance.frame([panel], COMMA)["title"]
    one = {"real": np.array([0.3, 0.7]), "here": np.array([0.4123, 0.5877])}
    yield columns.overlay("x", ["a", "b"], one, words=COMMA).caption


@pytest.mark.parametrize("text", list(texts()))
def test_no_figure_writes_a_decimal_point_where_the_language_has_a_comma(text):
    assert re.search(r"\d", text) and not re.search(ENGLISH_NUMBER, text)


def test_dates_are_written_as_the_language_writes_them():
    said = {"2023-12-31": "31.12.2023", "2023-12": "12/2023", "2021-01-01 … 03-14": "01.01.–14.03.2021",
            "2023-10 … 2024-01": "10/2023 … 01/2024", "2021": "2021", "2020-Q1": "2020-Q1",
            "2021-01-01T13:05:00": "01.01.2021T13:05:00", "12023-12-310": "12023-12-310"}  # fmt: skip
    assert {text: dated(text, COMMA) for text in said} == said
    assert all(dated(text, ENGLISH) == text for text in said)


def test_figures_of_dates_write_them_so_and_texts_that_look_like_dates_stay_as_the_file_has_them():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "came", "kind": "datetime", "min": "2020-01-01", "max": "2020-12-31"},
        {"name": "month", "kind": "categorical", "values": ["2020-01", "2020-02"]}]})  # fmt: skip
    rng = np.random.default_rng(1)
    table = pa.table({
        "came": [str(np.datetime64("2020-01-01") + d) for d in rng.integers(0, 366, 300)],
        "month": rng.choice(["2020-01", "2020-02"], 300),
    })  # fmt: skip
    c = compare_tables(schema, table, table)
    came, month = (list(build.column({"a": c}, n, COMMA).data[0]["x"]) for n in ("came", "month"))
    assert came[0] == "01.01.–19.01.2020" and month == ["2020-01", "2020-02"]
    across = build.pair(c, "month", "came", COMMA)[0].data[0]
    assert across["x"][0].startswith("01.01.–") and list(across["y"]) == ["2020-01", "2020-02"]
    (row, _) = profile_rows(c, COMMA)
    assert re.fullmatch(r"\d\d\.\d\d\.2020 / \d\d\.\d\d\.2020", row[5])
    assert [p.labels[0] for p in build.profile(schema, table, COMMA)] == [across["x"][0], "2020-01"]


def test_bins_of_decimals_are_written_so_in_small_multiples():
    panel = glance.Panel(name="x", labels=["[0, 0.5)", "[0.5, 1]"], shares={"real": np.array([0.4, 0.6])})
    assert list(glance.frame([panel], COMMA)["value"]) == ["0,0 to 0,5", "0,5 to 1,0"]


def test_listed_decimals_are_written_so_and_versions_stay_names():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "mark", "kind": "categorical", "values": [1.0, 1.3, 2.0]},
        {"name": "version", "kind": "categorical", "values": ["1.1", "1.10"]}]})  # fmt: skip
    table = pa.table({"mark": [1.0, 1.3, 2.0, 1.3], "version": ["1.1", "1.10", "1.1", "1.10"]})
    c = compare_tables(schema, table, table)
    mark, version = (list(build.column({"a": c}, n, COMMA).data[0]["x"]) for n in ("mark", "version"))
    assert mark == ["1", "1,3", "2"] and version == ["1.1", "1.10"]


def test_groups_of_listed_decimals_are_named_so_in_verdict_and_table():
    schema = Schema.of({"version": 1, "name": "t", "attributes": [
        {"name": "mark", "kind": "categorical", "values": [1.0, 1.3]},
        {"name": "points", "kind": "numeric", "dtype": "integer", "min": 0, "max": 60}]})  # fmt: skip
    rng = np.random.default_rng(1)
    mark = np.repeat([1.0, 1.3], 400)
    real = pa.table({"mark": mark, "points": np.where(mark == 1.0, 50, 20) + rng.integers(0, 9, 800)})
    made = pa.table({"mark": mark, "points": np.where(mark == 1.0, 20, 50) + rng.integers(0, 9, 800)})
    c = compare_tables(schema, made, real)
    assert "mark is 1,3:" in sentence(verdict(c), COMMA) and "mark is 1.3:" in sentence(verdict(c))
    assert {row[2] for row in gap_rows(c, COMMA)} == {"1", "1,3"}
