"""Figures of pairs: what they show of many attributes, what their colours and numbers say, and their axes."""

import numpy as np
import pytest

from dpsyn_core.report.figures import pairs
from dpsyn_core.report.figures.pairs import difference, pair_map, root_ticks, shown, two_tables
from dpsyn_core.report.wording import ENGLISH

NAN = np.nan


def symmetric(size, seed=0):
    """Distances of all pairs, NaN on the diagonal."""
    z = np.random.default_rng(seed).uniform(0, 0.5, (size, size))
    z = (z + z.T) / 2
    np.fill_diagonal(z, NAN)
    return z


@pytest.mark.parametrize("most", [None, 1, 3, 6, 7])
def test_the_attributes_that_differ_most_are_shown_in_their_order(most):
    z = symmetric(6)
    found = shown(z, most).tolist()
    worst = sorted(range(6), key=lambda i: -max(z[i, j] for j in range(6) if j != i))
    assert found == sorted(worst[: 6 if most is None else most])


def test_a_map_names_its_worst_pair_and_how_much_of_it_is_shown():
    names, z = ["a", "b", "c", "d"], symmetric(4)
    z[1, 3] = z[3, 1] = 0.625
    whole = pair_map(names, z)
    assert whole.caption == "The pair that differs most is b x d: 62.5%."
    assert whole.alt == f"Heat map of 4 columns. {whole.caption}"
    part = pair_map(names, z, most=2)
    assert part.caption == f"{whole.caption} 2 of 4 columns are shown: those that differ most."
    assert part.data[0]["x"] == part.data[0]["y"] == ["b", "d"]
    np.testing.assert_array_equal(part.data[0]["z"], [[NAN, 0.625], [0.625, NAN]])
    assert pair_map(["a"], np.array([[NAN]])).caption == "The pair that differs most is none: –."
    assert "none" in pair_map(["a", "b"], np.full((2, 2), NAN)).caption


def test_two_tables_stand_on_either_side_of_the_diagonal():
    names, first, second = ["a", "b", "c"], symmetric(3), symmetric(3, seed=1)
    before = first.copy()
    trace = pair_map(names, first, second).data[0]
    for i, j in np.ndindex(3, 3):
        if i != j:
            assert trace["z"][i, j] == (first if i < j else second)[i, j]
            assert trace["customdata"][i][j] == (" (A)" if i < j else " (B)")
    assert trace["customdata"][0][0] == "" and "%{customdata}" in trace["hovertemplate"]
    np.testing.assert_array_equal(first, before)
    alone = pair_map(names, first).data[0]
    assert "customdata" not in alone and "%{customdata}" not in alone["hovertemplate"]


@pytest.mark.parametrize("top", [0.3, 0.004])
def test_the_colours_of_a_map_begin_at_0_and_end_at_its_largest_or_one_percent(top):
    z = np.array([[NAN, top], [top, NAN]])
    trace = pair_map(["a", "b"], z).data[0]
    assert (trace["zmin"], trace["zmax"]) == (0, max(top, 0.01))


@pytest.mark.parametrize(
    ("size", "height", "width", "gap", "font"),
    [(2, 360, 298, 1, 13), (20, 670, 730, 1, 13), (40, 820, 950, 1, 13), (41, 820, 950, 0, 9)],
)
def test_a_map_grows_with_its_attributes_up_to_a_limit(size, height, width, gap, font):
    figure = pair_map([f"a{i}" for i in range(size)], symmetric(size))
    assert (figure.layout["height"], figure.width) == (height, width)
    assert figure.data[0]["xgap"] == figure.data[0]["ygap"] == gap
    for axis in ("xaxis", "yaxis"):
        assert figure.layout[axis]["tickfont"]["size"] == font and not figure.layout[axis]["showgrid"]
    assert figure.layout["yaxis"]["autorange"] == "reversed"


def test_cells_show_their_numbers_where_there_is_room():
    assert "text" in pair_map(list("abcde"), symmetric(5)).data[0]
    assert "text" not in pair_map(list("abcdef"), symmetric(6)).data[0]
    z = np.array([[NAN, 0.1234], [0.0456, NAN]])
    assert pair_map(["a", "b"], z).data[0]["text"] == [["", "12%"], ["4.6%", ""]]
    for rows, columns, room in ((12, 4, True), (13, 4, False), (12, 5, False)):
        gap = difference(np.full((rows, columns), 0.1), ["r"] * rows, ["c"] * columns, ("a", "b"))
        assert ("text" in gap.data[0]) == room
    for columns, room in ((3, True), (4, False)):
        z = np.full((2, columns), 0.1)
        tables = two_tables(z, z, ["r"] * 2, ["c"] * columns, ("a", "b"))
        assert all(("text" in t) == room for t in tables.data)


@pytest.mark.parametrize(
    ("share", "sign", "said"),
    [
        *((0.0, "", "0%"), (0.00049, "", "0%"), (0.0005, "", "0.1%"), (0.0994, "", "9.9%"), (0.1, "", "10%")),
        *((-0.0004, "+", "0%"), (-0.25, "+", "\N{MINUS SIGN}25%"), (0.05, "+", "+5.0%")),
    ],
)
def test_numbers_in_cells_have_two_digits(share, sign, said):
    assert pairs._digits(share, sign, ENGLISH) == said


def test_a_colour_bar_over_roots_names_a_quarter_of_the_largest_share_and_all_of_it():
    ticks = root_ticks(0.36)
    assert ticks["tickvals"] == pytest.approx([0, 0.3, 0.6])
    assert ticks["ticktext"] == ["0%", "9%", "36%"]


def test_both_tables_of_a_pair_share_one_scale_and_one_bar():
    real, made = np.array([[0.25, 0.0], [0.5, 0.25]]), np.array([[0.64, 0.0], [0.2, 0.16]])
    figure = two_tables(real, made, ["x", "y"], ["u", "v"], ("left", "top"))
    for trace, z, bar, axis in zip(figure.data, (real, made), (False, True), ("x", "x2"), strict=True):
        np.testing.assert_allclose(trace["z"], np.sqrt(z))
        np.testing.assert_array_equal(trace["customdata"], z)
        assert (trace["zmin"], trace["zmax"], trace["showscale"], trace["xaxis"]) == (0, pytest.approx(0.8), bar, axis)
        assert trace["colorbar"]["tickvals"] == pytest.approx([0, 0.4, 0.8])
        assert (trace["y"], trace["x"]) == (["x", "y"], ["u", "v"])
    assert [a["text"] for a in figure.layout["annotations"]] == [ENGLISH["real"], ENGLISH["synthetic"]]
    (begin, end), (other, last) = (figure.layout[a]["domain"] for a in ("xaxis", "xaxis2"))
    assert [a["x"] for a in figure.layout["annotations"]] == [begin, other] and 0 == begin < end < other < last == 1
    assert "left" in figure.alt and "top" in figure.alt
    nothing = two_tables(real * 0, real * 0, ["x", "y"], ["u", "v"], ("left", "top"))
    assert nothing.data[0]["zmax"] == 1.0


def test_a_difference_is_coloured_symmetrically_around_none():
    gap = np.array([[0.1, -0.3], [0.2, 0.0]])
    figure = difference(gap, ["x", "y"], ["u", "v"], ("left", "top"))
    assert (figure.data[0]["zmin"], figure.data[0]["zmax"]) == (-0.3, 0.3)
    assert figure.data[0]["text"] == [["+10%", "\N{MINUS SIGN}30%"], ["+20%", "0%"]]
    assert difference(gap * 0, ["x", "y"], ["u", "v"], ("a", "b")).data[0]["zmax"] > 0
    assert figure.layout["xaxis"]["title"]["text"] == "top" and figure.layout["yaxis"]["title"]["text"] == "left"


@pytest.mark.parametrize(("letters", "cut"), [(15, False), (16, True)])
def test_a_long_title_below_one_of_two_tables_is_cut(letters, cut):
    z = np.full((1, 1), 0.5)
    found = two_tables(z, z, ["x"], ["u"], ("a" * 30, "b" * letters)).layout
    assert found["xaxis"]["title"]["text"] == ("b" * 14 + "…" if cut else "b" * letters)
    assert found["yaxis"]["title"]["text"] == "a" * 30
    assert two_tables(z, z, ["x"], ["u"], ("a" * 31, "b")).layout["yaxis"]["title"]["text"] == "a" * 29 + "…"


@pytest.mark.parametrize(("values", "ticks"), [(12, None), (13, 6)])
def test_labels_below_one_of_two_tables_are_thinned_where_there_are_many(values, ticks):
    z = np.full((1, values), 0.05)
    assert two_tables(z, z, ["x"], [str(i) for i in range(values)], ("a", "b")).layout["xaxis"].get("nticks") == ticks
    wide = np.full((1, values + 4), 0.05)
    found = difference(wide, ["x"], [str(i) for i in range(values + 4)], ("a", "b")).layout
    assert found["xaxis"].get("nticks") == (None if ticks is None else 8)
