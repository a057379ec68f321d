"""Small multiples leave as PNG and CSV: the table holds what is drawn, and no cell becomes a formula."""

import csv
import io

from tests.app_driver import at_page, keys
from ui.shared.figure_files import chart_csv


def test_the_table_of_a_chart_holds_its_records_and_no_formula():
    document = {"datasets": {"a": [{"column": "=SUM(A1)", "share": -0.25}], "b": [{"column": "x", "more": 3}]}}
    text = chart_csv(document, "title", "source")
    first, second, heads, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    assert first == ["# title"] and second == ["# source"] and heads == ["column", "share", "more"]
    assert rows == [["'=SUM(A1)", "-0.25", ""], ["x", "", "3"]]


def test_charts_of_the_data_page_have_their_files(app):
    at_page(app, "data")
    app.segmented_control(key="data_profile").set_value("columns").run()
    assert not app.exception
    assert {"profile_wide_csv", "profile_narrow_csv"} <= set(keys(app.get("download_button")))
