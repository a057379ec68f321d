"""The walk on the Report page: differences, questions, incomes and safe mode, against counts by hand."""

import io
import re

import numpy as np
import pandas as pd
import pytest

from tests.browser.conftest import sample

pytestmark = pytest.mark.browser


def test_09_every_difference_on_the_map_lies_between_0_and_1(finished):
    finished.go("Report")
    finished.pick("Explore")
    finished.pick("Pairs")
    z = np.array([v for row in finished.plots()[0][0]["z"] for v in row if isinstance(v, int | float)])
    z = z[~np.isnan(z)]
    assert len(z) == 14 * 13
    assert ((z >= 0) & (z <= 1)).all()


def test_09_a_difference_on_the_map_is_that_of_a_count_on_common_bins(finished):
    finished.go("Export")
    synthetic = pd.read_csv(io.BytesIO(finished.download("Download CSV")))
    finished.go("Report")
    finished.pick("Explore")
    finished.pick("Pairs")
    names = list(sample().columns)
    row, column = names.index("AGE"), names.index("SEX")
    z = finished.plots()[0][0]["z"]
    shown = z[row][column] if z[row][column] is not None else z[column][row]
    shares = [  # AGE is cut into twenty bins of five years by the schema
        pd.crosstab(table["AGE"] // 5, table["SEX"], normalize="all").reindex(range(20), fill_value=0)
        for table in (sample(), synthetic)
    ]
    assert shown == pytest.approx(float((shares[0] - shares[1]).abs().to_numpy().sum()) / 2, abs=1e-9)


def in_view(place):
    """Where a part of the page is, after it was scrolled below the page's head: a mouse reaches nothing else."""
    place.evaluate(
        "e => { e.style.scrollMarginTop = '120px'; e.scrollIntoView({block: 'start', behavior: 'instant'}) }"
    )
    place.page.wait_for_timeout(500)
    return place.bounding_box()


def test_10_a_dragged_box_counts_as_a_direct_count_does(finished):
    finished.go("Export")
    synthetic = pd.read_csv(io.BytesIO(finished.download("Download CSV")))
    finished.go("Report")
    finished.pick("Explore")
    finished.pick("Ranges")
    finished.choose("up", "FAMSIZE")
    area = in_view(finished.page.locator(".js-plotly-plot .nsewdrag").first)
    mouse = finished.page.mouse
    mouse.move(area["x"] + 0.2 * area["width"], area["y"] + 0.5 * area["height"])
    mouse.down()
    mouse.move(area["x"] + 0.6 * area["width"], area["y"] + 0.95 * area["height"], steps=8)
    mouse.up()
    finished.settle()
    text = finished.page.get_by_text(re.compile(r"^AGE in \[")).first.inner_text()
    low, high, bottom, top = (float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.replace("FAMSIZE", "")))
    numbers = [n.inner_text() for n in finished.page.locator(".dp-number").all()]
    counts = []
    for table in (sample(), synthetic):
        counts.append(int((table["AGE"].between(low, high) & table["FAMSIZE"].between(bottom, top)).sum()))
    assert counts[0] > 0
    wanted = [f"{c:,}" for c in counts]
    assert wanted in [numbers[i : i + 2] for i in range(len(numbers))], "both counts stand side by side"


def test_10_a_click_on_a_small_figure_shows_its_column_large_and_a_brush_leaves_some(finished):
    finished.go("Report")
    finished.pick("Explore")
    finished.pick("Columns")
    chart = finished.page.locator(".st-key-wide_glance .vega-embed svg")
    chart.wait_for()
    titles = chart.locator("text").filter(has_text=re.compile(r"^[A-Z]+ +[0-9.]+%$"))
    assert titles.count() == 14
    third = titles.nth(2)
    name, box = third.text_content().split()[0], in_view(third)
    finished.page.mouse.click(box["x"] + 20, box["y"] + 35)
    finished.settle()
    shown = finished.page.get_by_role("combobox", name="column").first
    assert shown.input_value().startswith(name) or name in finished.page.locator(".st-key-report_column").inner_text()
    area = in_view(chart)
    finished.page.mouse.move(area["x"] + 50, area["y"] + 45)
    finished.page.mouse.down()
    finished.page.mouse.move(area["x"] + 140, area["y"] + 45, steps=5)
    finished.page.mouse.up()
    finished.settle()
    assert 0 < titles.count() < 14


def gini(incomes):
    """One less twice the area under the Lorenz curve, by trapezoids."""
    lorenz = np.concatenate([[0], np.cumsum(np.sort(incomes))]) / incomes.sum()
    return 1 - float((lorenz[1:] + lorenz[:-1]).sum()) / len(incomes)


def test_10_gini_and_pay_gap_are_those_of_a_count_by_hand(finished):
    finished.go("Export")
    synthetic = pd.read_csv(io.BytesIO(finished.download("Download CSV")))
    finished.go("Report")
    finished.pick("Explore")
    finished.pick("Incomes")
    plots = finished.plots()
    numbers = [n.inner_text() for n in finished.page.locator(".dp-number").all()]
    tables = {"real": sample(), "synthetic": synthetic}
    valid = {name: table[table["INCWAGE"] < 999_998] for name, table in tables.items()}
    assert f"{gini(valid['synthetic']['INCWAGE']):.3f}" in numbers
    assert f"real: {gini(valid['real']['INCWAGE']):.3f}" in finished.words()
    for name, table in valid.items():
        means = table.groupby(["CITY", "SEX"])["INCWAGE"].mean().unstack()
        gaps = means["Male"] - means["Female"]
        shown = next(c for c in plots[1] if c.get("name") == name)
        for city, gap in zip(shown["y"], shown["x"], strict=True):
            assert gap == pytest.approx(gaps[city], rel=1e-9), (name, city)


def test_11_safe_mode_removes_every_panel_that_reads_private_data(finished):
    finished.go("Report")
    assert "practice data" in finished.words()
    finished.page.get_by_text("Safe mode").first.click()
    finished.settle()
    try:
        for page in ("Report", "Data", "Privacy", "Synthesize", "Schema", "Export"):
            finished.go(page)
            assert "practice data" not in finished.words(), page
        finished.go("Report")
        assert "safe to publish" in finished.words()
    finally:
        finished.page.get_by_text("Safe mode").first.click()
        finished.settle()


def test_18_a_press_on_the_map_opens_both_tables_of_that_pair(finished):
    finished.go("Report")
    finished.pick("Explore")
    finished.pick("Pairs")
    finished.plots()
    area = in_view(finished.page.locator(".js-plotly-plot .nsewdrag").first)
    names = list(sample().columns)
    row, column = 3, 8
    x = area["x"] + (column + 0.5) / len(names) * area["width"]
    y = area["y"] + (row + 0.5) / len(names) * area["height"]
    finished.page.mouse.move(x, y)
    finished.page.mouse.click(x, y)
    finished.settle()
    finished.page.get_by_text(f"{names[row]} x {names[column]}:").first.wait_for()
