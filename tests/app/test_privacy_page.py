"""The Privacy page through AppTest: budgets and their mistakes, the plot of noise, the plan of a run."""

import re

import numpy as np
import pytest

from dpsyn_core.schema.document import Schema
from tests.app_driver import at_page, keys, plots, space_of, typed, uploaded, words
from ui.shared.state import workspaces


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0", "above 0"),
        ("-1", "above 0"),
        ("", "blank"),
        ("nan", "above 0"),
        ("inf", "above 0"),
        ("1000", "nothing is protected"),
        ("much", "not a number"),
    ],
)
def test_a_wrong_epsilon_is_explained_beside_its_field_and_blocks_the_run(app, text, sentence):
    typed(at_page(app, "privacy"), epsilon=text)
    assert not app.exception
    assert sentence in words(app)
    assert app.button(key="privacy_next").disabled
    at_page(app, "synthesize")
    assert app.button(key="synthesize").disabled


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0.9", "could be published unprotected"),
        ("-1e-9", "between 0 and 1"),
        ("1", "between 0 and 1"),
        ("", "blank"),
        ("x", "not a number"),
    ],
)
def test_a_wrong_delta_is_explained_beside_its_field_and_blocks_the_run(app, text, sentence):
    typed(at_page(app, "privacy"), delta=text)
    assert sentence in words(app)
    assert app.button(key="privacy_next").disabled


def test_delta_zero_is_explained_and_leaves_one_curve(app):
    typed(at_page(app, "privacy"), delta="0")
    assert "Laplace noise only" in words(app)
    names = [trace.get("name") for trace in plots(app)[0]["data"]]
    assert [n for n in names if n and n.startswith(("Laplace", "Gaussian"))] == ["Laplace, as used"]


def test_delta_above_one_in_n_is_said_to_the_owner_and_not_in_safe_mode(app):
    typed(at_page(app, "privacy"), delta="0.001")
    assert "larger than 1 divided by the number of records" in words(app)
    typed(app, delta="1e-6")
    assert "demanded more: at most 1 divided by the square of that number" in words(app)
    app.toggle(key="safe").set_value(True).run()
    assert "1 divided by the number of records" not in words(app)


def test_the_plot_has_the_numbers_of_the_engine(app):
    """Laplace over Gaussian under zCDP is sqrt 2; the crossings at epsilon 1, delta 1e-5 are at 13, 25 and 26."""
    typed(at_page(app, "privacy"), epsilon="1", delta="1e-5")
    app.toggle(key="every_curve").set_value(True).run()
    figure = plots(app)[0]
    curves = {trace["name"]: trace for trace in figure["data"] if trace.get("name")}
    laplace, gaussian = (_values(curves[n]["y"]) for n in ("Laplace, zCDP", "Gaussian, zCDP"))
    assert np.allclose(laplace / gaussian, np.sqrt(2), rtol=1e-9)
    k = _values(curves["Laplace, basic"]["x"])
    assert np.allclose(_values(curves["Laplace, basic"]["y"]), np.sqrt(2) * k, rtol=1e-12)
    crossed = dict(zip(curves["crossings"]["text"], np.ceil(_values(curves["crossings"]["x"])), strict=True))
    assert crossed["Gaussian, zCDP"] == 13
    assert crossed["Laplace, zCDP"] == 25
    assert crossed["Laplace, advanced"] == 26


def _values(numbers):
    """Plotly sends long arrays as base64."""
    if isinstance(numbers, dict):
        import base64

        return np.frombuffer(base64.b64decode(numbers["bdata"]), dtype=np.dtype(numbers["dtype"])).astype(float)
    return np.asarray(numbers, dtype=float)


def shown(app):
    """The table beside the plot: standard deviation by curve, to four digits."""
    [table] = [e.proto.body for e in app.get("html") if "<table class='dp-table'" in e.proto.body]
    rows = re.findall(r"<th scope='row'>(.*?)<small>.*?</small></th><td>(.*?)</td>", table)
    return {curve: float(value.replace(",", "")) for curve, value in rows}


def test_the_table_beside_the_plot_shows_the_oracle_at_the_chosen_k(app):
    """Row epsilon 1, delta 1e-6, k 100 of the oracle table: exact Gaussian and basic Laplace."""
    typed(at_page(app, "privacy"), epsilon="1", delta="1e-6")
    app.segmented_control(key="privacy_part").set_value("curves")
    app.number_input(key="k").set_value(100).run()
    table = shown(app)
    assert table["Laplace, basic"] == pytest.approx(141.4213562373095, rel=5e-4)
    rho = (np.sqrt(np.log(1e6) + 1) - np.sqrt(np.log(1e6))) ** 2
    assert table["Gaussian, zCDP"] == pytest.approx(np.sqrt(100 / (2 * rho)), rel=5e-4)
    assert table["Gaussian, exact"] < table["Gaussian, zCDP tight"] < table["Gaussian, zCDP"]


def test_slider_and_field_agree(app):
    at_page(app, "privacy")
    app.select_slider(key="epsilon_slider").set_value(0.5).run()
    assert app.text_input(key="epsilon").value == "0.5"
    typed(app, epsilon="3")
    assert app.select_slider(key="epsilon_slider").value == 3.0


def test_the_odds_sentence_changes_with_epsilon(app):
    typed(at_page(app, "privacy"), epsilon="1")
    assert "at most 73 guess right" in words(app)
    typed(app, epsilon="0.1")
    assert "at most 52 guess right" in words(app)
    typed(app, epsilon="10")
    assert "all may guess right" in words(app)


def test_a_budget_stands_after_a_page_switch(app):
    typed(at_page(app, "privacy"), epsilon="2.5", delta="1e-7")
    at_page(app, "schema")
    at_page(app, "synthesize")
    assert "Spend epsilon 2.5 and synthesize" in words(app)
    at_page(app, "privacy")
    assert app.text_input(key="epsilon").value == "2.5"
    assert app.text_input(key="delta").value == "1e-7"


def test_replace_neighbours_raise_the_noise_by_sqrt_two(app):
    at_page(app, "privacy")
    app.segmented_control(key="privacy_part").set_value("curves").run()
    before = shown(app)["Gaussian, exact"]
    app.radio(key="neighbours").set_value("replace").run()
    after = shown(app)["Gaussian, exact"]
    assert after / before == pytest.approx(np.sqrt(2), rel=1e-3)
    assert "replace one" in words(app)


def test_the_split_of_a_planned_run_adds_up_to_the_budget(app):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value("dpsyn").run()
    at_page(app, "privacy")
    text = words(app)
    assert re.search(r"<b>pairs</b> 100%, 91 releases, noise ±52\.4 records per cell", text)
    assert "single columns" not in text


@pytest.mark.parametrize(
    ("method", "sentences"),
    [
        (
            "rls",
            ("number of records", "single columns", r"combinations chosen</b> up to \d+%, about \d+ to \d+ releases"),
        ),
        ("mst", ("single columns", "choosing combinations", r"pairs</b> 33%, 13 releases")),
        (
            "aim",
            (
                r"choosing the next combination</b> 9.4%, 5 to 211 releases",
                r"combinations chosen</b> 85%, 5 to 211",
            ),
        ),
    ],
)
def test_a_system_that_chooses_as_it_goes_says_what_is_known_beforehand(app, method, sentences):
    at_page(app, "synthesize")
    app.selectbox(key="method").set_value(method).run()
    folded = words(app)
    at_page(app, "privacy")
    for sentence in sentences:
        assert re.search(sentence, words(app)), sentence
        assert re.search(sentence, folded), "the Synthesize page shows the same plan"
    assert ("practice data" in folded) == (method == "rls"), "only a forecast counts the owner's records"


@pytest.mark.parametrize(
    ("method", "sentence"),
    [("mwem", "choosing the next"), ("privbayes", "combinations chosen"), ("field-groups", "groups of")],
)
def test_systems_for_small_or_grouped_tables_have_a_plan(app, method, sentence):
    at_page(app, "data")
    space = workspaces().find(app.session_state["owner"])
    document = {"version": 1, "name": "t", "n_records": 900, "unit": {"neighbours": "replace"}, "attributes": [
        {"name": n, "kind": "categorical", "values": [0, 1, 2], "group": "g"} for n in "abc"]}  # fmt: skip
    space.schema = Schema.of(document)
    space.choices.method, space.choices.delta = method, 0.0
    at_page(app, "privacy")
    assert sentence in words(app)
    assert "nothing to plan" not in words(app)


@pytest.mark.parametrize("times", [1, 5])
def test_the_plot_of_a_private_table_marks_the_run_from_public_facts_alone(app, times):
    """The plot wears no tag and is kept for everybody: the owner's number of records must not move its point."""
    import pyarrow as pa

    at_page(app, "data")
    space = space_of(app)
    space.dataset.table = pa.concat_tables([space.dataset.table] * times)
    at_page(app, "privacy")
    assert list(next(c for c in plots(app)[0]["data"] if c.get("name") == "this run")["x"]) == [79]


def band(app):
    """Counts and the width of the band in the chart of one column."""
    bars, noisy = plots(app)[1]["data"]
    return _values(bars["y"]), _values(noisy["y"]), plots(app)[1]["layout"]["yaxis"]["range"]


def test_a_column_shows_the_noise_of_this_epsilon_on_an_axis_that_stays(app):
    typed(at_page(app, "privacy"), epsilon="1")
    counts, narrow, axis = band(app)
    assert counts.sum() == space_of(app).dataset.n_records
    assert "At epsilon 1 a cell is off by 49 records" in words(app)
    assert max(narrow) == pytest.approx(2 * 1.96 * 48.84, rel=1e-2)
    typed(app, epsilon="0.1")
    again, wide, same = band(app)
    assert (again == counts).all() and same == axis and max(wide) > 3 * max(narrow)


def test_a_column_of_an_own_table_is_shown_after_a_press_with_its_tag_and_never_in_safe_mode(app):
    """An epsilon that is chosen by looking at private counts tells about them, so practice data stand here at first."""
    raw = b"town\n" + b"Y\n" * 30 + b"Z\n" * 12
    uploaded(app, raw=raw)
    at_page(app, "privacy")
    tags = words(app).count("reads private data")
    assert band(app)[0].sum() == 20_000
    app.toggle(key="band_own").set_value(True).run()
    assert not app.exception and sorted(band(app)[0])[-2:] == [12, 30]
    assert words(app).count("reads private data") == tags + 1
    app.toggle(key="safe").set_value(True).run()
    assert band(app)[0].sum() == 20_000 and "band_own" not in keys(app.toggle)


def test_a_plan_in_safe_mode_rests_on_a_guess_that_can_be_typed(app):
    at_page(app, "data")
    app.toggle(key="safe").set_value(True).run()
    at_page(app, "privacy")
    assert "reads private data" not in words(app)
    before = words(app)
    app.number_input(key="about_n").set_value(1_000_000).run()
    assert "about" in words(app)
    assert words(app) != before


def test_a_run_that_would_be_noise_alone_is_warned_of_before_it_is_started(app):
    at_page(app, "synthesize")
    assert "noise alone puts single columns" not in words(app)
    space = workspaces().find(app.session_state["owner"])
    space.choices.epsilon = 0.0005
    app.run()
    assert "records are too few for 14 columns at epsilon 0.0005" in words(app)
    app.selectbox(key="method").set_value("independent").run()
    assert "independent is not made for 14 columns" in words(app)
    assert "Take rls, fewer columns" in words(app)
