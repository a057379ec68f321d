"""The noise plot as it is drawn: the engine's numbers, axes that no epsilon moves, and shared figures."""

import pytest

from dpsyn_core.privacy.curves import noise_curves
from dpsyn_core.privacy.unit import Unit
from ui.privacy import noise


def named(figure):
    return {trace.name: trace for trace in figure.data}


def test_each_curve_holds_the_numbers_of_the_engine_with_gaps_where_its_formula_proves_nothing():
    document = noise_curves(3.0, 1e-5, noise.KS, Unit())
    drawn = list(noise.figure(document, 91).data)[: len(document["curves"])]
    for trace, (name, values) in zip(drawn, document["curves"].items(), strict=True):
        hidden = set(document["invalid"].get(name, []))
        assert list(trace.x) == [int(k) for k in values]
        assert list(trace.y) == [None if k in hidden else y for k, y in values.items()]
    assert sum(y is None for y in named(noise.figure(document, 91))["Gaussian, naive"].y) == 3  # k = 1, 2 and 3


def test_the_number_of_this_run_stands_below_its_dot_where_the_other_curves_run_above():
    def place(every):
        figure = noise.drawn(1.0, 1e-9, "add-remove", 1, 56, every=every, is_dark=False)
        return next(a.yanchor for a in figure.layout.annotations if a.font.size == 18)

    assert (place(False), place(True)) == ("bottom", "top")


@pytest.mark.parametrize("every", [False, True])
def test_no_epsilon_moves_an_axis_and_less_noise_is_a_lower_curve(every):
    few, much = (noise.drawn(e, 1e-9, "add-remove", 1, 91, every=every, is_dark=False) for e in (10.0, 0.1))
    for axis in ("xaxis", "yaxis"):
        assert few.layout[axis].range == much.layout[axis].range is not None
    used = "Gaussian, exact" if every else "Gaussian,<br>as used"
    assert max(named(few)[used].y) < min(named(much)[used].y) * 10
    assert all(a < b for a, b in zip(named(few)[used].y, named(much)[used].y, strict=True))


def test_the_axis_of_noise_begins_higher_by_the_records_of_a_person_alone():
    one, hundred = (noise.drawn(1.0, 1e-9, "add-remove", n, 91, is_dark=False).layout.yaxis.range for n in (1, 100))
    assert [b - a for a, b in zip(one, hundred, strict=True)] == [2, 2]


def test_two_lines_are_the_best_laplace_and_the_curve_in_use_and_are_named_at_their_ends():
    document = noise_curves(1.0, 1e-9, noise.KS, Unit())
    figure = noise.figure(document, 91, every=False)
    best, used = figure.data
    of = {name: list(values.values()) for name, values in document["curves"].items()}
    assert list(used.y) == of["gaussian_exact"]
    assert list(best.y) == [min(x) for x in zip(*(v for n, v in of.items() if n.startswith("laplace")), strict=True)]
    assert [a.text for a in figure.layout.annotations] == ["best Laplace", "Gaussian,<br>as used"]
    assert not figure.layout.showlegend


def test_the_noise_at_k_is_a_dot_with_its_number_and_the_epsilon_before_is_a_grey_ghost():
    shown = noise.drawn(1.0, 1e-9, "add-remove", 1, 79, ghost=0.5, is_dark=False)
    dot = named(shown)["this run"]
    assert list(dot.x) == [79] and dot.y[0] == pytest.approx(48.84, rel=1e-3)
    assert "49" in [a.text for a in shown.layout.annotations]
    ghosts = [trace for trace in shown.data if trace.name == "before: epsilon 0.5"]
    assert len(ghosts) == 2 and len({trace.line.color for trace in ghosts}) == 1
    assert not [t for t in noise.drawn(1.0, 1e-9, "add-remove", 1, 79, is_dark=False).data if "before" in t.name]


def test_curves_differ_by_dash_or_mark_and_carry_few_marks():
    """A mark a point would be 400 shapes on the screen, which are most of what a browser draws of this page."""
    curves = noise.figure(noise_curves(1.0, 1e-9, noise.KS, Unit()), 91).data[:8]
    assert len({(c.line.dash, c.marker.symbol) for c in curves}) == len({c.marker.symbol for c in curves}) == 8
    assert {c.marker.maxdisplayed for c in curves} == {noise.MARKS}


def test_k_is_a_line_over_the_whole_height_and_themes_differ():
    document = noise_curves(1.0, 1e-9, noise.KS, Unit())
    light, dark = (noise.figure(document, 37, is_dark=d) for d in (False, True))
    line = light.layout.shapes[0]
    assert (line.x0, line.x1, line.y0, line.y1, line.yref) == (37, 37, 0, 1, "y domain")
    assert light.data[0].line.color != dark.data[0].line.color


def test_a_figure_is_drawn_once_for_all_who_ask_for_the_same_public_numbers():
    asked = (1.0, 1e-9, "add-remove", 1)
    first = noise.drawn(*asked, 24, is_dark=False)
    assert noise.drawn(*asked, 24, is_dark=False) is first
    other = noise.drawn(*asked, 24, is_dark=True)
    assert other.layout.height == noise.HEIGHT
    assert other.layout.template.layout.font.color != first.layout.template.layout.font.color
    assert noise.drawn(*asked, 25, is_dark=False).layout.shapes[0].x0 == 25


def test_pure_budgets_have_one_curve_and_no_crossing():
    document = noise_curves(1.0, 0.0, noise.KS, Unit())
    assert [trace.name for trace in noise.figure(document, 91).data] == ["Laplace, basic"]
    assert [trace.name for trace in noise.figure(document, 91, every=False).data] == ["Laplace, as used"]
