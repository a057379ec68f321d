"""Figures leave as SVG, PNG and CSV, with their title and a source line."""

import re

import pytest

from ui.shared.text import catalogue

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


COLOURS = """() => [...document.querySelectorAll('.js-plotly-plot')].map(p => p._fullLayout.font.color).concat(
    [...document.querySelectorAll('.vega-embed svg.marks text')].slice(0, 1).map(e => e.getAttribute('fill')))"""


def test_small_multiples_leave_as_pictures_and_every_figure_follows_a_system_that_goes_dark(visitor, tmp_path):
    visitor.open()
    visitor.page.locator(".st-key-wide_profile .vega-embed svg.marks").wait_for()
    for kind, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with visitor.page.expect_download() as download:
            visitor.page.locator(f".st-key-wide_profile button[data-figure-file='{kind}']").click()
        download.value.save_as(tmp_path / kind)
        raw = (tmp_path / kind).read_bytes()
        assert raw.startswith(begins) and len(raw) > 5000
    for mode, ink in (("dark", "#E8EAED"), ("light", "#1B1F24")):
        visitor.page.emulate_media(color_scheme=mode)
        visitor.page.wait_for_function(
            f"() => {{ const all = ({COLOURS})(); return all.length && all.every(c => c == '{ink}'); }}"
        )


def test_no_table_of_private_figures_leaves_as_a_plain_file(visitor):
    visitor.open()
    visitor.pick("Upload").upload("own.csv", b"town,age\n" + b"Moss,30\nHamar,40\n" * 40)
    visitor.page.get_by_text(catalogue()["tag.private"]).first.wait_for()
    hidden = "[...document.querySelectorAll('style')].some(s => s.textContent.includes('Download as CSV'))"
    visitor.page.wait_for_function(hidden, timeout=20_000)


def test_a_table_of_figures_leaves_with_its_title_and_source(finished, tmp_path):
    finished.go("Report")
    finished.pick("Explore")
    finished.pick("Columns")
    with finished.page.expect_download() as download:
        finished.page.locator(".st-key-profile_table_A_csv button:visible").first.click()
    download.value.save_as(tmp_path / "table")
    title, source, heads, *rows = (tmp_path / "table").read_text("utf-8-sig").splitlines()
    assert title == "# Every column in figures" and "Source: DPSyn Studio" in source
    assert heads.startswith("column,") and len(rows) == 14
