"""Years are written 2019 and not 2,019: in verdict, table of columns, groups, scatter, questions and HTML report."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.commands.cli import main
from dpsyn_core.evaluate.loader import compare_tables
from dpsyn_core.questions.answers.answers import column_of, sentence
from dpsyn_core.questions.forms import MeanQuestion, SumQuestion
from dpsyn_core.report.profile import gap_rows, profile_rows
from dpsyn_core.report.scatter import scatter_figure
from dpsyn_core.report.verdict import changes, of
from dpsyn_core.schema.document import Schema
from dpsyn_core.schema.years import is_year
from dpsyn_core.tables.read import read_table

YEAR = re.compile(r"\b[12],\d{3}\b")
SCHEMA = {
    "version": 1,
    "name": "cars",
    "attributes": [
        {"name": "model_year", "kind": "numeric", "dtype": "integer", "min": 1990, "max": 2029},
        {"name": "price", "kind": "numeric", "dtype": "integer", "min": 0, "max": 90_000},
        {"name": "kind", "kind": "categorical", "values": ["a", "b"]},
    ],
}


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("year", (2019, 1850.5), True), ("YearBuilt", (1990,), True), ("Baujahr", (1999,), True),
        ("fiscal_year_2", (2001,), True), ("jahr", (1040,), True), ("yr_sold", (2008,), True),
        ("year", (12_019,), False), ("year", (12,), False), ("yearly_pay", (2019,), False),
        ("founded", (1880, 2020), True), ("born", (1938,), True), ("foundedness", (1880,), False),
        ("built", (1890, 2022), True), ("rebuilt_cost", (1890,), False),
        ("renovated", (1990, 2023), True), ("joined", (2005,), True), ("renovated", (12,), False),
        ("price", (2019,), False), ("Jahresumsatz", (2019,), False), ("", (2019,), False),
    ],
)  # fmt: skip
def test_a_year_has_four_digits_and_a_header_that_says_so(column, values, said):
    assert is_year(column, *values) is said


def table(low, high, n, seed):
    rng = np.random.default_rng(seed)
    year = rng.integers(low, high, n)
    kind = np.where(rng.random(n) < (year - low) / (high - low), "a", "b")
    return pd.DataFrame({"model_year": year, "price": 100 * rng.integers(200, 600, n), "kind": kind})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    place = tmp_path_factory.mktemp("cars")
    for name, low in (("real", 1995), ("made", 2001)):
        table(low, 2025, 1500, low).to_csv(place / f"{name}.csv", index=False)
    Schema.of(SCHEMA).dump(place / "schema.json")
    return place


def test_no_figure_of_a_comparison_writes_a_year_with_a_comma(files):
    c = compare_tables(Schema.of(SCHEMA), *(read_table(files / f"{n}.csv") for n in ("made", "real")))
    cells = [*changes(of(c)), *map(str, profile_rows(c)), *(str(r) for r in gap_rows(c) if r[0] == "model_year")]
    assert any("model_year" in text and re.search(r"\b20\d\d\b", text) for text in changes(of(c)))
    assert not [text for text in cells if YEAR.search(text)]
    assert any(re.search(r"\d,\d", cell) for r in profile_rows(c) if r[0] == "price" for cell in r), (
        "prices keep theirs"
    )
    hover = scatter_figure(c, "model_year", "price").data[0]["hovertemplate"]
    assert "%{x:,." not in hover and "%{y:,." in hover


def test_no_word_of_the_html_report_writes_a_year_with_a_comma(files):
    given = [str(files / "real.csv"), str(files / "made.csv"), "--schema", str(files / "schema.json")]
    out = files / "report.html"
    assert main(["report", *given, "--html", str(out), "--metrics", "tvd-1way", "--quiet"]) == 0
    page = html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style).*?</\1>", "", out.read_text("utf-8"))))
    assert "model_year" in page
    found = [page[max(0, m.start() - 60) : m.end() + 10] for m in re.finditer(YEAR, page)]
    assert not [f for f in found if "1,500" not in f]


def test_an_answer_that_is_a_year_has_none_and_a_sum_has_them():
    given = [np.array(x) for x in (2019.4, 2018.2, 2020.9)]
    rest = {"grades": ("estimated",), "unit": "u", "truth": "table", "confidence": 0.95}
    mean = MeanQuestion(name="m", of="model_year")
    assert sentence(*given, **rest, of=column_of(mean)).startswith("2019 (u); it lies in the real table between 2018")
    total = SumQuestion(name="s", of="model_year")
    assert sentence(*given, **rest, of=column_of(total)).startswith("2,019 ")
