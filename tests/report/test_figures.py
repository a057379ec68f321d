"""Figures: numbers as computed, short labels, ticks that do not repeat, words that can be translated."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest

from dpsyn_core.evaluate.base import compute
from dpsyn_core.evaluate.small_groups import GroupError
from dpsyn_core.report import build, figures
from dpsyn_core.report.figures.columns import density
from dpsyn_core.report.figures.grid import bars_figure, choice_figure
from dpsyn_core.report.figures.labels import merged
from dpsyn_core.report.figures.scores import group_errors
from dpsyn_core.report.page import rounded
from dpsyn_core.report.theme import DARK, LIGHT, altair_settings
from dpsyn_core.report.wording import ENGLISH
from dpsyn_core.report.wording import words as words_of
from tests.evaluate.tables import brute, small
from tests.report.drawn import to_plotly

HOSTILE = "<b>bold</b> %{x}"


def made():
    """One figure of every kind."""
    rng = np.random.default_rng(0)
    matrix = rng.random((4, 4))
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, np.nan)
    names = ["a", HOSTILE, "c", "d"]
    share = np.full(3, 1 / 3)
    table = rng.random((3, 3))
    return {
        "map": figures.pair_map(names, matrix, matrix.T),
        "tables": figures.two_tables(table, table, names[:3], names[1:], ("a", HOSTILE)),
        "gap": figures.difference(table - 0.5, names[:3], names[1:], ("a", HOSTILE)),
        "overlay": figures.overlay(HOSTILE, names[:3], {"real": share, HOSTILE: share}),
        "spread": figures.distribution([("pairs", HOSTILE, rng.random(10), 0.1)]),
        "lorenz": figures.lorenz([0.0, 0.3, 1.0], {HOSTILE: [0.0, 0.4, 1.0]}, HOSTILE),
        "dots": figures.dots(names, {"real": [1, 2, None, 4], HOSTILE: [2, 2, 3, None]}, title=HOSTILE,
                             tickformat=".2f", caption="found"),
        "queries": figures.range_scatter(rng.random(5), {HOSTILE: rng.random(5)}, 0.01),
        "records": figures.records_plot(("a", HOSTILE), {"real": (share, share), HOSTILE: (share, share)},
                                        {HOSTILE: names}),
        "released": figures.released_overlay(HOSTILE, names[:3], share, 0.1, {HOSTILE: share}),
        "runs": figures.runs_plot({"one": [0.1, 0.2], HOSTILE: [0.3]}),
    }  # fmt: skip


def test_an_axis_of_many_days_has_the_days_of_the_dots_on_it_and_no_ranks():
    days = [str(d) for d in np.datetime64("2024-01-01") + np.arange(366)]
    ranks = np.array([91.0, 120.0, np.nan, 150.0])
    figure = figures.records_plot(
        ("height", "planted"),
        {"real": (np.arange(4.0), ranks), "synthetic": (np.arange(4.0), ranks - 1)},
        {"planted": days},
        words_of("de"),
    )
    axis = figure.layout["yaxis"]
    assert axis["tickvals"][0] == 90 and axis["tickvals"][-1] == 150 and 3 <= len(axis["tickvals"]) <= 8
    assert (axis["ticktext"][0], axis["ticktext"][-1]) == ("31.03.2024", "30.05.2024")


def test_years_on_an_axis_of_numbers_have_no_mark_between_thousands_and_wages_have_one():
    years, wages = np.array([1998.0, np.nan, 2021.0]), np.array([12_500.0, 31_000.0, np.nan])
    axes = figures.records_plot(("year", "wage"), {"real": (years, wages)}, {}).layout
    assert (axes["xaxis"]["tickformat"], axes["yaxis"]["tickformat"]) == ("~r", ",~r")


def test_the_two_tables_of_a_pair_have_one_title_for_both_of_their_axes():
    layout = made()["tables"].layout
    assert layout["xaxis"]["title"]["text"] and "title" not in layout["xaxis2"]


@pytest.mark.parametrize("kind", sorted(made()))
def test_every_figure_is_accepted_by_plotly_in_both_palettes_and_describes_itself(kind):
    figure = made()[kind]
    assert len(figure.alt) > 15
    for palette in (LIGHT, DARK):
        drawn = to_plotly(figure, palette)
        assert not re.search(r'"@\w', drawn.to_json())


@pytest.mark.parametrize("kind", sorted(made()))
def test_no_name_or_value_reaches_plotly_as_markup_or_as_a_field(kind):
    figure = made()[kind]

    def strings(node, key=""):
        if isinstance(node, dict):
            for k, v in node.items():
                yield from strings(v, k)
        elif isinstance(node, list | tuple):
            for v in node:
                yield from strings(v, key)
        elif isinstance(node, str) and key not in {"hovertemplate", "legendgroup", "offsetgroup", "texttemplate"}:
            yield node

    for text in strings([figure.data, figure.layout]):
        assert "<b>" not in text and "%{" not in text, text
    for trace in figure.data:
        assert HOSTILE not in trace.get("hovertemplate", "")
        assert trace.get("texttemplate") in (None, "%{text}")


def test_a_map_of_many_columns_says_how_many_are_left_out_and_keeps_the_worst_pair():
    rng = np.random.default_rng(1)
    z = rng.random((90, 90)) / 2
    z = (z + z.T) / 2
    z[3, 77] = z[77, 3] = 0.9
    np.fill_diagonal(z, np.nan)
    names = [f"c{i}" for i in range(90)]
    figure = figures.pair_map(names, z, most=20)
    assert len(figure.data[0]["x"]) == 20
    assert {"c3", "c77"} <= set(figure.data[0]["x"])
    assert "c3 x c77: 90.0%" in figure.caption and "20 of 90 columns" in figure.caption
    whole = figures.pair_map(names, z)
    assert len(whole.data[0]["x"]) == 90 and "of 90" not in whole.caption


@pytest.mark.parametrize(
    ("given", "short"),
    [
        (["[-1.80333, -1.60111)", "[-1.60111, -1.39888]"], ["-1.8 to -1.6", "-1.6 to -1.4"]),
        (["[0, 0.5)", "[0.5, 1]", "(missing)"], ["0.0 to 0.5", "0.5 to 1.0", "(missing)"]),
        (["[0, 50000)", "[50000, 100000]"], ["0 to 50000", "50000 to 100000"]),
        (["[1e-09, 2e-09)", "[2e-09, 3e-09]"], ["[1e-09, 2e-09)", "[2e-09, 3e-09]"]),
        (["[-0.01, 0.31)", "[0.31, 0.62]"], ["0.0 to 0.3", "0.3 to 0.6"]),
        (["14-21", "22-30"], ["14-21", "22-30"]),
        (["-20--11", "-10--1", "0-9"], ["-20 to -11", "-10 to -1", "0 to 9"]),
        (["[1, 2)", "blue"], ["[1, 2)", "blue"]),
        (["2020-01-01", "2020-02-01"], ["2020-01-01", "2020-02-01"]),
        (["0 … 0.26", "0.5", "[1.7, 4.3)", "(missing)"], ["0 to 0.26", "0.5", "1.7 to 4.3", "(missing)"]),
        (["0.5", "1.5"], ["0.5", "1.5"]),
        ([], []),
    ],
)
def test_bins_have_short_words_and_other_values_keep_theirs(given, short):
    assert figures.short_bins(given) == short


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("1400-1499", "1600-1699", "1400-1699"),
        ("0", "1-99", "0-99"),
        ("12", "15", "12-15"),
        ("12", "12", "12"),
        ("-20--11", "-10--1", "-20--1"),
        ("[0, 0.5)", "[1, 1.5]", "[0, 1.5]"),
        ("2020-01", "2020-03", "2020-01 … 2020-03"),
        ("0.5", "[1, 1.5)", "0.5 … 1.5"),
        ("[0, 0.5)", "1.5", "0 … 1.5"),
        ("2020-01-01", "2020-07-12", "2020-01-01 … 07-12"),
        ("2020-11-20", "2021-02-01T00:00:00", "2020-11 … 2021-02"),
        ("low", "high", "low … high"),
    ],
)
def test_merged_values_have_one_short_word(first, last, words):
    assert merged(first, last) == words


def test_bins_have_the_marks_of_a_language():
    german = {**ENGLISH, "decimal_mark": ",", "asked_to": "bis"}
    labels = figures.axis_labels(["[0.25, 0.5)", "[0.5, 0.75]"], words=german)
    assert labels == ["0,25 bis 0,50", "0,50 bis 0,75"]
    assert figures.axis_labels(["250.13", "J45.9", ""], words=german) == ["250.13", "J45.9", ENGLISH["blank"]]


def test_short_words_of_bins_stay_different():
    edges = np.linspace(-3.217, 11.113, 41)
    words = [f"[{a:.6g}, {b:.6g})" for a, b in pairwise(edges)]
    short = figures.short_bins(words)
    assert len(set(short)) == 40
    assert max(map(len, short)) <= 14


def test_axes_of_shares_have_ticks_with_as_many_digits_as_they_need():
    for figure in made().values():
        for name, axis in figure.layout.items():
            if name.startswith(("xaxis", "yaxis")):
                assert axis.get("tickformat") not in (".0%", ".1%", ".0f"), "1 % 1 % 2 %"


def test_rounding_leaves_what_a_reader_can_see():
    values = np.array([0.123456789, 48842.123456, np.nan, 0.0, 3.4567891e-07, -2.5])
    got = rounded({"x": values, "y": ["a"], "n": np.arange(2)})
    assert got["x"][:2] == [0.12346, 48842.12346]
    assert np.isnan(got["x"][2])
    assert got["x"][3:] == [0.0, 3.4568e-07, -2.5]
    assert got["n"] == [0, 1]
    json.dumps(got["y"])


def test_the_tables_of_a_pair_are_shares_of_the_counts_whichever_way_round():
    c = small(n=400, m=500, blur=0.2)
    names = c.domain.names
    exact = brute(c.real, [0, 1], [c.domain.sizes[0], c.domain.sizes[1]]) / 400
    for a, b, want in ((names[0], names[1], exact), (names[1], names[0], exact.T)):
        both, gap = build.pair(c, a, b)
        np.testing.assert_allclose(both.data[0]["customdata"], want)
        np.testing.assert_allclose(both.data[0]["z"], np.sqrt(want))
        np.testing.assert_allclose(gap.data[0]["z"], both.data[1]["customdata"] - want)


def test_a_matrix_of_pairs_holds_every_score_in_its_place():
    c = small(n=400, m=500, blur=0.2)
    score = compute(c, ["tvd-2way"])["tvd-2way"]
    matrix = build.pair_matrix(score, c.domain.names)
    for (a, b), tvd in zip(*(score.details["marginals"][k] for k in ("attributes", "tvd")), strict=True):
        i, j = c.domain.names.index(a), c.domain.names.index(b)
        assert matrix[i, j] == matrix[j, i] == tvd
    assert np.isnan(np.diag(matrix)).all()


def test_words_can_be_translated():
    words = {**ENGLISH, "shares": "Anteil", "column_finding": "{table} weicht um {tvd} ab"}
    figure = figures.overlay("a", ["x", "y"], {"real": np.array([1.0, 0.0]), "one": np.array([0.5, 0.5])}, words)
    assert figure.layout["yaxis"]["title"]["text"] == "Anteil"
    assert figure.caption == "a: one weicht um 50.0% ab."


def test_no_entry_mixes_plotlys_fields_with_placeholders():
    for key, words in ENGLISH.items():
        assert not ("%{" in words and re.search(r"(?<!%)\{", words)), key


def test_altair_wears_the_palette():
    assert altair_settings(DARK)["axis"]["labelColor"] == DARK["ink"]
    assert altair_settings(LIGHT)["range"]["category"][:2] == [LIGHT["real"], LIGHT["accent"]]


def test_unequal_bins_are_drawn_as_densities_and_single_values_as_shares():
    labels = ["0", "1-100", "101-200", "201-400", "401-800", "(missing)"]
    shares = np.array([0.4, 0.1, 0.1, 0.2, 0.1, 0.1])
    made = figures.overlay("pay", labels, {"real": shares, "run": shares})
    assert made.data[0]["y"].tolist() == pytest.approx([0.4, 0.1, 0.1, 0.1, 0.025, 0.1])
    assert made.data[0]["customdata"].tolist() == shares.tolist(), "the hover text says the share"
    assert "for each 100" in made.layout["yaxis"]["title"]["text"]
    even = figures.overlay("age", ["0-9", "10-19", "20-29"], {"real": np.ones(3) / 3})
    assert even.data[0]["y"].tolist() == [1 / 3] * 3 and "for each" not in even.layout["yaxis"]["title"]["text"]
    words = figures.overlay("city", ["a", "b"], {"real": np.ones(2) / 2})
    assert words.data[0]["y"].tolist() == [0.5, 0.5]


def test_no_bar_has_more_than_all_records():
    labels, shares = (
        ["0", "1-13", "14-26", "27-39", "40-47", "48-49", "50-52"],
        np.array([0.63, 0, 0, 0.05, 0.1, 0, 0.2]),
    )
    made = figures.overlay("weeks", labels, {"real": shares})
    assert density(labels)[0][0] * shares[0] > 1, "as a density the narrow bin would be above 100 %"
    assert made.data[0]["y"].tolist() == shares.tolist() and "for each" not in made.layout["yaxis"]["title"]["text"]


def test_merged_real_bins_of_unequal_width_are_drawn_as_densities_and_a_single_value_as_its_share():
    scale, per = density(["0", "0.5 … 1", "[1, 2)", "[2, 3)", "[3, 7)", "(missing)"])
    assert per == 1.0
    assert scale.tolist() == [1.0, 2.0, 1.0, 1.0, 0.25, 1.0]
    assert density(["0.25", "0.5", "0.75"])[1] is None


def test_large_cells_of_heat_maps_show_their_numbers_in_the_marks_of_the_language():
    z = np.full((3, 3), np.nan)
    z[0, 1] = z[1, 0] = 0.613
    z[0, 2] = z[2, 0] = z[1, 2] = z[2, 1] = 0.024
    comma = {**ENGLISH, "decimal_mark": ","}
    (trace,) = figures.pair_map(["a", "b", "c"], z, words=comma).data
    assert trace["text"][0] == ["", "61\N{NO-BREAK SPACE}%", "2,4\N{NO-BREAK SPACE}%"]
    assert trace["texttemplate"] == "%{text}"
    wide = np.full((6, 6), 0.1)
    assert "text" not in figures.pair_map(list("abcdef"), wide).data[0]
    shares = np.array([[0.25, 0.25], [0.5, 0.004]])
    both = figures.two_tables(shares, shares, ["x", "y"], ["u", "v"], ("a", "b"))
    assert [t["text"][1] for t in both.data] == [["50%", "0.4%"]] * 2
    assert figures.difference(shares - 0.3, ["x", "y"], ["u", "v"], ("a", "b")).data[0]["text"][1] == [
        "+20%",
        "\N{MINUS SIGN}30%",
    ]
    same = figures.difference(0 * shares, ["x", "y"], ["u", "v"], ("a", "b")).data[0]
    assert same["text"] == [["0%", "0%"]] * 2


def test_a_system_keeps_its_place_in_hues_dashes_and_marks_whatever_it_is_drawn_with():
    from dpsyn_core.report.theme import SYSTEMS, places_of

    assert places_of(["independent", "rls"]) == [SYSTEMS["independent"], SYSTEMS["rls"]]
    assert places_of(["aim", "dpsyn", "gem", "rls"]) == [1, SYSTEMS["dpsyn"], 2, 0], "others take what is free"
    look = {"across": "", "up": "", "floor": None, "floor_name": ""}
    drawn = []
    for names in (["rls", "dpsyn"], ["dpsyn", "mst", "rls"]):
        made = bars_figure(names, [1.0], {n: [(0.1, 0.0)] for n in names}, **look)
        drawn.append({t["name"]: (t["line"], t["marker"]) for t in made.data})
    assert all(drawn[0][name] == drawn[1][name] for name in ("rls", "dpsyn"))


def test_groups_of_about_one_size_have_numbers_on_their_axis():
    def ticks(*sizes):
        rows = [GroupError(value=str(n), real=n, synthetic=n, error=0.1, floor=0.1) for n in sizes]
        return group_errors("ward", {"a": rows}, "finding").layout["xaxis"].get("dtick")

    assert ticks(505, 546, 605) is None, "1, 2 and 5 times a power of ten are none of these sizes"
    assert ticks(20, 546) == "D2"


def test_both_curves_of_a_choice_have_room_and_their_own_part_of_the_figure():
    words = dict.fromkeys(("epsilon", "error", "gain", "error_hover", "gain_hover"), "w")
    drawn = {"titles": words, "caption": "", "alt": ""}
    full = choice_figure([0.1, 1.0], [0.5, None], [0.02, 0.5], chosen=1.0, error=0.1, gain=0.2, **drawn)
    (low, high), (below, above) = full.layout["yaxis2"]["range"], full.layout["yaxis2"]["domain"]
    assert low == 0 and 0.5 < high < 0.6, "an attacker gains one half at most"
    assert below == 0 < above < full.layout["yaxis"]["domain"][0] < full.layout["yaxis"]["domain"][1] == 1
    assert [(d["x"], d["y"]) for d in full.data] == [([0.1, 1.0], [0.5, None]), ([0.1, 1.0], [0.02, 0.5])]
    lines = [(s["x0"], s["x1"], s["y0"], s["y1"]) for s in full.layout["shapes"]]
    assert lines == [(0, 1, 0.1, 0.1), (0, 1, 0.2, 0.2), (1.0, 1.0, 0, 1)]
    bare = choice_figure([0.1, 1.0], [0.5, None], [0.02, 0.5], chosen=None, error=None, gain=None, **drawn)
    assert bare.layout["shapes"] == []
