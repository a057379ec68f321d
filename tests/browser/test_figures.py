"""Figures leave as SVG, PNG and CSV, with their title and a source line."""

import re

import pytest

pytestmark = pytest.mark.browser


def test_a_figure_leaves_as_svg_png_and_csv_with_title_and_source(visitor, tmp_path):
    visitor.open("privacy")
    got = {}
    for kind in ("svg", "png", "csv"):
        button = visitor.page.locator(f"button[data-figure-file='{kind}']").first
        button.wait_for()
        visitor.page.locator(".js-plotly-plot svg.main-svg").first.wait_for()
        with visitor.page.expect_download() as download:
            button.click()
        assert download.value.suggested_filename.endswith(f".{kind}")
        download.value.save_as(tmp_path / kind)
        got[kind] = (tmp_path / kind).read_bytes()
    drawn, table = got["svg"].decode("utf-8"), got["csv"].decode("utf-8-sig")
    assert drawn.startswith("<svg") and "Source: DPSyn Studio" in drawn and "Reads private" not in drawn
    assert got["png"][:8] == b"\x89PNG\r\n\x1a\n" and len(got["png"]) > 5000
    first, second, heads, *rows = table.splitlines()
    assert "Source: DPSyn Studio" in second and heads == "series,x,y" and len(rows) > 20
    assert len(first) > 5 and all(re.fullmatch(r'("[^"]*"|[^,"]*),[\d.eE+-]+,[\d.eE+-]*', row) for row in rows[:20])
