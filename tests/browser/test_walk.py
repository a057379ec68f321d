"""The walk in a real browser: the acceptance tests of the app, each named after what a person sees."""

import gzip
import io
import json
import os
import re
import socket
import subprocess
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from dpsyn_core.data import paths
from dpsyn_core.privacy.curves import noise_curves
from tests.app.test_pages import BAD
from tests.browser.conftest import ROOT, Visitor
from ui.learn import LABS

pytestmark = pytest.mark.browser
ROW = 35 * 15 / 16  # pixels of a table row at a base size of 15
DONE = 240_000  # milliseconds that a run may take on a busy machine


def sample():
    return pd.read_csv(paths("sample")[0])


def made(visitor, method=None, timeout=DONE):
    """A finished run of a method (the default when None), from the Synthesize page."""
    visitor.go("Synthesize")
    if method:
        visitor.choose("system", method)
    before = visitor.page.get_by_text(re.compile("done in")).count()
    visitor.page.get_by_role("button", name=re.compile("^Spend epsilon")).click()
    visitor.page.wait_for_function(
        "n => (document.body.innerText.match(/done in/g) || []).length > n", arg=before, timeout=timeout
    )
    return visitor.settle()


@pytest.fixture(scope="module")
def finished(chromium, server):
    """A visitor with a finished quick run, shared by tests that only look."""
    one = Visitor(chromium, server)
    one.open()
    made(one, "independent")
    yield one
    one.close()


def test_01_sample_to_synthetic_csv_takes_two_clicks(visitor):
    visitor.open()
    visitor.page.get_by_role("button", name="Synthesize", exact=True).click()
    visitor.page.get_by_role("button", name="Download CSV", exact=True).wait_for(timeout=DONE)
    table = pd.read_csv(io.BytesIO(visitor.download("Download CSV")))
    real = sample()
    assert list(table.columns) == list(real.columns)
    assert 0.9 * len(real) < len(table) < 1.1 * len(real)
    assert table["AGE"].dtype.kind == "i"
    assert table["AGE"].between(0, 99).all()
    assert table["AGE"].nunique() > 60, "ages inside a bin differ: no table of midpoints"
    assert "reads private data" in visitor.words()


def test_02_every_bad_file_gets_a_sentence_no_trace_and_no_dead_button(visitor):
    visitor.open()
    visitor.pick("Upload")
    for name, (raw, sentence) in BAD.items():
        visitor.upload(name, raw)
        alert = visitor.page.get_by_role("alert").filter(has_text=re.compile(re.escape(sentence), re.IGNORECASE))
        alert.first.wait_for(timeout=60_000)  # a file is read in a process of its own
        assert "Traceback" not in visitor.words(), name
        assert "Simulated census" in visitor.words(), "the table that was there is still there"
        assert visitor.page.get_by_role("button", name="Synthesize", exact=True).is_enabled(), name


def test_03_two_hundred_columns_take_at_most_three_screens(visitor):
    header = ",".join(f"c{i}" for i in range(200))
    rows = [",".join(str((i * j) % 3) for i in range(200)) for j in range(1, 30)]
    visitor.open()
    visitor.pick("Upload")
    visitor.upload("wide.csv", "\n".join([header, *rows]).encode())
    visitor.go("Schema")
    assert "19,900" in visitor.words()
    assert visitor.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= 3 * 900
    visitor.page.get_by_role("button", name=re.compile("^Confirm all")).click()
    visitor.settle()
    visitor.go("Synthesize")
    assert re.search(r"\d – [\d,]+ s\s+to run", visitor.words())
    assert re.search(r"[\d,]+ MB", visitor.words())
    button = visitor.page.get_by_role("button", name="Spend epsilon 1 and synthesize")
    assert button.is_enabled(), "the cost stands there before the press, and the press is possible"


def test_04_wrong_budgets_are_explained_and_block_the_way_on(visitor):
    visitor.open("privacy")
    button = visitor.page.get_by_role("button", name="Continue: synthesize")
    for text, sentence in (
        ("0", "above 0"), ("-1", "above 0"), ("", "blank"), ("1000", "nothing is protected"), ("NaN", "above 0"),
    ):  # fmt: skip
        visitor.type("epsilon", text)
        assert sentence in visitor.words(), text
        assert button.is_disabled()
    visitor.type("epsilon", "1")
    visitor.type("delta", "0.9")
    assert "could be published unprotected" in visitor.words()
    assert button.is_disabled()
    visitor.type("delta", "0.001")
    assert "larger than 1 divided by the number of records" in visitor.words()
    visitor.type("delta", "0")
    assert "Pure DP: Laplace noise only" in visitor.words()
    visitor.type("delta", "1e-9")
    assert button.is_enabled()


# the 60-digit oracle at epsilon 1, delta 1e-6: standard deviation of a cell by k on every curve
ORACLE = {
    "Laplace, basic": (1.414213562373095, 14.14213562373095, 141.4213562373095, 1414.213562373095),
    "Laplace, advanced": (7.718229972654115, 24.35343266061801, 76.961180003394, 243.3222841336698),
    "Laplace, zCDP": (7.566014362072542, 23.92583819369511, 75.66014362072542, 239.2583819369511),
    "Gaussian, naive": (5.298802526850474, 57.16859138070927, 610.6361321649182, 6472.466205127783),
    "Gaussian, zCDP": (5.349980061976305, 16.91812243233391, 53.49980061976305, 169.1812243233391),
    "Gaussian, zCDP tight": (4.530877117036444, 14.32789148817246, 45.30877117036444, 143.2789148817246),
    "Gaussian, exact": (4.224678889326835, 13.35960767310321, 42.24678889326835, 133.5960767310321),
}


def test_05_the_plot_shows_the_numbers_of_the_oracle_and_the_crossings(visitor):
    visitor.open("privacy", "?epsilon=1&delta=1e-6")
    curves = {c["name"]: c for c in visitor.plots()[0] if "name" in c}
    for label, wanted in ORACLE.items():
        shown = dict(zip(curves[label]["x"], curves[label]["y"], strict=True))
        for k, std in zip((1, 10, 100, 1000), wanted, strict=True):
            if label == "Gaussian, naive" and k == 1:
                continue  # not valid at epsilon / k = 1: the curve has a gap there
            assert shown[k] == pytest.approx(std, rel=1e-6), (label, k)
    assert curves["Gaussian, naive"]["y"][0] is None
    visitor.type("delta", "1e-5")
    curves = {c["name"]: c for c in visitor.plots()[0] if "name" in c}
    ks = [int(k) for k in curves["Gaussian, exact"]["x"]]
    wanted = noise_curves(1.0, 1e-5, ks)["curves"]
    for label, name in (("Laplace, basic", "laplace_basic"), ("Gaussian, exact", "gaussian_exact"),
                        ("Laplace, zCDP", "laplace_zcdp"), ("Gaussian, zCDP", "gaussian_zcdp")):  # fmt: skip
        assert np.allclose(curves[label]["y"], list(wanted[name].values()), rtol=1e-6)
    ratio = np.array(curves["Laplace, zCDP"]["y"]) / np.array(curves["Gaussian, zCDP"]["y"])
    assert np.allclose(ratio, np.sqrt(2), rtol=1e-6)
    crossed = dict(zip(curves["crossings"]["text"], np.ceil(curves["crossings"]["x"]), strict=True))
    assert (crossed["Gaussian, zCDP"], crossed["Laplace, zCDP"], crossed["Laplace, advanced"]) == (13, 25, 26)


def test_06_the_sigma_of_the_plot_is_the_sigma_of_the_manifest(finished):
    finished.go("Privacy")
    point = next(c for c in finished.plots()[0] if c.get("name") == "this run")
    finished.go("Export")
    manifest = json.loads(finished.download("Save the manifest"))
    assert manifest["method"] == "independent"
    sigmas = {c["sigma"] for c in manifest["charges"]}
    assert len(sigmas) == 1
    assert point["y"][0] == pytest.approx(sigmas.pop(), rel=1e-9)


def test_07_a_long_run_survives_switch_and_refresh_and_cancel_ends_its_process(visitor, server):
    visitor.open("synthesize")
    visitor.choose("system", "dpsyn")
    field = visitor.page.get_by_role("spinbutton", name="records to write")
    field.fill("3000000")
    field.press("Enter")
    visitor.settle()
    visitor.page.get_by_role("button", name=re.compile("^Spend epsilon")).click()
    visitor.page.get_by_role("button", name="Cancel").wait_for()
    visitor.go("Schema")
    visitor.go("Synthesize")
    assert visitor.page.get_by_role("button", name="Cancel").is_visible()
    visitor.page.reload()
    visitor.settle()
    assert visitor.page.get_by_text(re.compile("dpsyn, epsilon 1 ·")).first.is_visible()
    deadline = time.monotonic() + 60
    while not server.workers() and time.monotonic() < deadline:
        time.sleep(0.1)
    before = server.workers()
    assert before
    visitor.page.get_by_role("button", name="Cancel").click()
    visitor.page.get_by_text("cancelled").first.wait_for(timeout=15_000)
    assert not set(before) & set(server.workers())
    assert "stays spent" in visitor.words()
    field.fill("")
    field.press("Enter")
    visitor.settle()
    made(visitor, "independent")


def test_08_two_browsers_never_see_each_others_data_or_runs(visitor, another, finished, server):
    visitor.open()
    visitor.pick("Upload")
    visitor.upload("secret.csv", b"alpha,beta\n" + b"7171,8282\n" * 30)
    assert "secret.csv" in visitor.words()
    stranger = another()
    stranger.open()
    assert "secret.csv" not in stranger.words()
    assert "7171" not in stranger.words()
    stranger.go("Synthesize")
    assert "None yet." in stranger.words()
    finished.go("Synthesize")
    assert "done in" in finished.words()
    text = server.log.read_text(errors="replace")
    assert "7171" not in text
    assert "8282" not in text


def test_09_every_difference_on_the_map_lies_between_0_and_1(finished):
    finished.go("Report")
    z = np.array([v for row in finished.plots()[0][0]["z"] for v in row if isinstance(v, int | float)])
    z = z[~np.isnan(z)]
    assert len(z) == 14 * 13
    assert ((z >= 0) & (z <= 1)).all()


def test_09_a_difference_on_the_map_is_that_of_a_count_on_common_bins(finished):
    finished.go("Export")
    synthetic = pd.read_csv(io.BytesIO(finished.download("Download CSV")))
    finished.go("Report")
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


def test_10_a_dragged_box_counts_as_a_direct_count_does(finished):
    finished.go("Export")
    synthetic = pd.read_csv(io.BytesIO(finished.download("Download CSV")))
    finished.go("Report")
    finished.pick("Questions")
    finished.choose("up", "FAMSIZE")
    area = finished.page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
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
    assert [f"{c:,}" for c in counts] == numbers[4:6]


def gini(incomes):
    """One less twice the area under the Lorenz curve, by trapezoids."""
    lorenz = np.concatenate([[0], np.cumsum(np.sort(incomes))]) / incomes.sum()
    return 1 - float((lorenz[1:] + lorenz[:-1]).sum()) / len(incomes)


def test_10_gini_and_pay_gap_are_those_of_a_count_by_hand(finished):
    finished.go("Export")
    synthetic = pd.read_csv(io.BytesIO(finished.download("Download CSV")))
    finished.go("Report")
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
    assert "reads private data" in finished.words()
    finished.page.get_by_text("Safe mode").first.click()
    finished.settle()
    try:
        for page in ("Report", "Data", "Privacy", "Synthesize", "Schema", "Export"):
            finished.go(page)
            assert "reads private data" not in finished.words(), page
        finished.go("Report")
        assert "safe to publish" in finished.words()
    finally:
        finished.page.get_by_text("Safe mode").first.click()
        finished.settle()


def test_12_a_second_run_adds_to_the_visible_ledger(finished):
    def spent():
        finished.settle()
        text = finished.page.get_by_test_id("stSidebar").inner_text()
        return float(re.search(r"\(epsilon\)\s+([\d.]+)", text)[1]), int(re.search(r"runs: (\d+)", text)[1])

    epsilon, runs = spent()
    made(finished, "independent")
    more, then = spent()
    assert then == runs + 1
    assert more > epsilon


def test_13_the_odds_change_with_epsilon_and_a_link_shares_them(visitor):
    visitor.open("privacy", "?epsilon=0.1")
    visitor.page.get_by_text("at most 52 guess right").wait_for()
    visitor.type("epsilon", "2")
    visitor.page.get_by_text("at most 88 guess right").wait_for()
    assert "epsilon=2" in visitor.page.url


def test_14_no_page_and_no_lab_asks_another_machine_for_anything(finished):
    for name in ("Data", "Schema", "Privacy", "Synthesize", "Report", "Export", "Learn"):
        finished.go(name)
    for lab in LABS:
        finished.open("learn", f"?lab={lab}")
        if lab != "race":
            finished.plots()
    assert finished.foreign == []
    finished.page.evaluate("fetch('http://example.org/probe').catch(() => 0)")
    finished.page.wait_for_timeout(300)
    assert finished.foreign == ["http://example.org/probe"], "the guard sees a request that leaves"
    finished.foreign.clear()


# texts whose contrast with what lies behind them is below 4.5 (3 for large ones); left out are disabled ones and the
# value of a slider, which stands above the knob that holds it
FAINT = """() => {
  const rgb = c => (c.match(/[\\d.]+/g) || []).map(Number).map((v, i) => c.startsWith('color(') && i < 3 ? v * 255 : v);
  const lum = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const over = (a, b) => { const t = a[3] ?? 1; return [0, 1, 2].map(i => t * a[i] + (1 - t) * b[i]); };
  const behind = e => { const stack = []; for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if ((c[3] ?? 1) > 0) stack.push(c);
      if ((c[3] ?? 1) == 1) break; }
    return stack.reverse().reduce((b, a) => over(a, b), [255, 255, 255]); };
  const out = [];
  for (const e of document.querySelectorAll('[data-testid=stMain] *, [data-testid=stSidebar] *')) {
    const text = [...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data.trim()).join('');
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    if (!text || !box.width || e.closest('[disabled], [aria-disabled=true], svg, style, script, canvas')) continue;
    if (e.closest('[data-testid=stSliderThumbValue]')) continue;
    if (style.visibility != 'visible' || +style.opacity < .5) continue;
    const back = behind(e), [a, b] = [lum(over(rgb(style.color), back)), lum(back)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05), large = parseFloat(style.fontSize) >= 20;
    if (ratio < (large ? 3 : 4.5)) out.push(`${text.slice(0, 40)} ${ratio.toFixed(2)}`);
  } return [...new Set(out)]; }"""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_15_every_word_stands_out_from_its_ground_in_both_modes(finished, mode):
    finished.page.emulate_media(color_scheme=mode)
    try:
        for name in ("", "schema", "privacy", "synthesize", "report", "export", "learn"):
            finished.open(name)
            assert finished.page.evaluate(FAINT) == [], name
    finally:
        finished.page.emulate_media(color_scheme="light")


def test_15_no_page_is_wider_than_a_phone(finished):
    finished.page.set_viewport_size({"width": 390, "height": 844})
    try:
        for name in ("", "schema", "privacy", "synthesize", "report", "export", "learn"):
            finished.open(name)
            wide = finished.page.evaluate(
                "Math.max(...['stMain', 'stMainBlockContainer'].map(n => document.querySelector(`[data-testid=${n}]`)"
                ".scrollWidth))"
            )
            assert wide <= 390, name
    finally:
        finished.page.set_viewport_size({"width": 1280, "height": 900})
        finished.open()


def test_15_the_keyboard_alone_makes_a_run(visitor):
    visitor.open()
    seen = []
    for _ in range(60):
        visitor.page.keyboard.press("Tab")
        label = visitor.page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''")
        seen.append(label.strip())
        if label.strip() == "Synthesize" and "Export" in seen:
            break
    assert {"Data", "Schema", "Privacy", "Export"} <= set(seen), "the pages at the top are reached"
    assert seen[-1] == "Synthesize"
    visitor.page.keyboard.press("Enter")
    visitor.page.get_by_role("button", name="Cancel").wait_for()
    visitor.press("Cancel")


def test_15_the_page_follows_the_mode_of_the_browser(another):
    dark = another(color_scheme="dark")
    dark.open("privacy")
    shade = dark.page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert shade == "rgb(20, 23, 26)"


def test_15_every_figure_and_table_has_words_for_those_who_cannot_see_it(finished):
    for page, figures in (("Data", 1), ("Privacy", 1), ("Report", 3)):
        finished.go(page)
        finished.plots()
        labels = finished.page.evaluate(
            "[...document.querySelectorAll('[data-testid=stPlotlyChart]')].map(e => "
            "(e.closest('[aria-label]') || e.querySelector('[aria-label]') || {ariaLabel: ''}).ariaLabel)"
        )
        assert len(labels) >= figures, page
        assert all(labels), page


def test_16_two_edits_in_a_row_stand_after_a_page_switch(visitor):
    visitor.open("schema")
    _edit(visitor, row=2, text="10")
    _edit(visitor, row=9, text="4")
    visitor.go("Privacy")
    visitor.go("Schema")
    schema = json.loads(visitor.download("Save the schema"))
    bins = {a["name"]: a.get("bins") for a in schema["attributes"]}
    assert bins["AGE"] == {"count": 10}
    assert bins["WKSWORK"] == {"count": 4}


def _edit(visitor, row, text):
    """Types into the bins of a row of the schema's table, as a person does."""
    _type_into(visitor, visitor.page.get_by_test_id("stDataFrame").first, 110 + 125 + 112 + 276 + 50, row, text)


def _type_into(visitor, grid, x, row, text):
    """Types into a cell of a table, so many pixels from its left."""
    grid.locator("canvas").first.wait_for()
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    visitor.page.mouse.dblclick(box["x"] + x, box["y"] + ROW * (row + 1.5))
    field = visitor.page.locator(".gdg-input").first
    field.wait_for()
    field.fill(text)
    field.press("Enter")
    field.wait_for(state="detached")
    visitor.settle()


def test_17_the_preview_is_shuffled_and_the_bundle_reruns(visitor, tmp_path):
    visitor.open()
    assert "in random order" in visitor.words()
    made(visitor, "independent")
    visitor.go("Export")
    with zipfile.ZipFile(io.BytesIO(visitor.download("Download the bundle"))) as bundle:
        bundle.extractall(tmp_path)
        names = bundle.namelist()
    assert {"schema.json", "certificate.txt", "README.txt"} <= set(names)
    (tmp_path / "table.csv").write_bytes(gzip.decompress(paths("sample")[0].read_bytes()))
    line = next(x for x in (tmp_path / "README.txt").read_text().splitlines() if x.startswith("dpsyn synth"))
    words = line.replace("YOUR_TABLE", "table.csv").split()[1:]
    out = next(n for n in names if n.endswith(".csv"))
    first = (tmp_path / out).read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "dpsyn_core.cli", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DPSYN_HOME": str(tmp_path / "home")},
    )
    assert done.returncode == 0, done.stderr
    again = pd.read_csv(tmp_path / out)
    assert list(again.columns) == list(pd.read_csv(io.BytesIO(first)).columns)


def test_18_a_press_on_the_map_opens_both_tables_of_that_pair(finished):
    finished.go("Report")
    finished.pick("Pairs")
    finished.plots()
    area = finished.page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    names = list(sample().columns)
    row, column = 3, 8
    x = area["x"] + (column + 0.5) / len(names) * area["width"]
    y = area["y"] + (row + 0.5) / len(names) * area["height"]
    finished.page.mouse.move(x, y)
    finished.page.mouse.click(x, y)
    finished.settle()
    finished.page.get_by_text(f"{names[row]} x {names[column]}:").first.wait_for()


def more(visitor, view):
    """The Schema page with one of the views of More about columns open."""
    visitor.open("schema")
    visitor.page.locator("summary").filter(has_text="More about columns").click()
    visitor.settle()
    return visitor.pick(view)


def test_20_columns_are_grouped_and_taken_back_by_pointing_alone(visitor):
    more(visitor, "Groups")
    visitor.choose("columns that belong together", "CITY")
    visitor.choose("columns that belong together", "OWNERSHP")
    visitor.page.keyboard.press("Escape")
    visitor.page.get_by_role("textbox", name="name of the group").fill("home")
    visitor.press("Add the group")
    assert "CITY + OWNERSHP: " in visitor.words()
    schema = json.loads(visitor.download("Save the schema"))
    assert {a["name"]: a["group"] for a in schema["attributes"] if "group" in a} == {"CITY": "home", "OWNERSHP": "home"}
    visitor.press("Undo")
    schema = json.loads(visitor.download("Save the schema"))
    assert not any("group" in a for a in schema["attributes"])


def test_20_a_rule_and_words_for_codes_are_typed_and_pasted_and_a_run_obeys_them(visitor):
    more(visitor, "One follows from another")
    visitor.choose("this column", "EMPSTAT")
    visitor.choose("follows from", "SEX")
    grid = visitor.page.get_by_test_id("stExpander").get_by_test_id("stDataFrame")
    wide = grid.bounding_box()["width"]
    _type_into(visitor, grid, 0.75 * wide, 0, "paid")
    _type_into(visitor, grid, 0.75 * wide, 1, "unpaid")
    visitor.press("Save the rule")
    assert "EMPSTAT follows from SEX" in visitor.words()
    visitor.pick("Labels for codes")
    visitor.choose("column with codes", "SEX")
    field = visitor.page.get_by_role("textbox", name="or pasted lines")
    field.fill("Male = men\nFemale = women")
    field.press("Control+Enter")
    visitor.settle()
    visitor.press("Save the labels")
    preview = visitor.page.get_by_role("combobox", name="column").last
    preview.click()
    preview.fill("SEX")
    visitor.page.get_by_role("option", name="SEX", exact=True).click()
    visitor.settle()
    assert "men, women" in visitor.words()
    made(visitor, "independent")
    visitor.go("Export")
    table = pd.read_csv(io.BytesIO(visitor.download("Download CSV")))
    assert set(zip(table["SEX"], table["EMPSTAT"], strict=True)) == {("Male", "paid"), ("Female", "unpaid")}


@pytest.mark.parametrize(
    "head", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "http://127.0.0.1.evil.example"}]
)
def test_19_a_session_from_another_origin_or_host_is_refused_without_asking_anybody(server, visitor, head):
    visitor.open()
    lines = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==", "Host": server.url[7:], "Origin": server.url}  # fmt: skip

    def knock(headers):
        text = "GET /_stcore/stream HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as link:
            link.sendall(text.encode())
            return link.recv(200).split()[1]

    assert knock(lines) == b"101"
    assert knock({**lines, **head}) == b"403"
    assert "external IP" not in server.log.read_text(errors="replace")
