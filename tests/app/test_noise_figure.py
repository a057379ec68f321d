"""The noise plot as it is drawn: the engine's numbers, one label for points that coincide, and shared figures."""

from dpsyn_core.privacy.curves import noise_curves
from dpsyn_core.privacy.unit import Unit
from ui.privacy import noise


def named(figure):
    return {trace.name: trace for trace in figure.data}


def test_each_curve_holds_the_numbers_of_the_engine_with_gaps_where_its_formula_proves_nothing():
    document = noise_curves(3.0, 1e-5, noise.KS, Unit())
    drawn = list(noise.figure(document, [], 91).data)[: len(document["curves"])]
    for trace, (name, values) in zip(drawn, document["curves"].items(), strict=True):
        hidden = set(document["invalid"].get(name, []))
        assert list(trace.x) == [int(k) for k in values]
        assert list(trace.y) == [None if k in hidden else y for k, y in values.items()]
    assert sum(y is None for y in named(noise.figure(document, [], 91))["Gaussian, naive"].y) == 3  # k = 1, 2 and 3


def test_points_of_a_run_have_letters_that_a_sentence_explains_and_share_one_where_they_coincide():
    points = [("single columns, 14", 48.0, 38.0), ("combinations chosen", 50.0, 38.4), ("your questions", 7.3, 14.9)]
    drawn = noise.figure(noise_curves(1.0, 1e-9, noise.KS, Unit()), points, 24)
    run = named(drawn)["this run"]
    assert list(run.text) == ["B", "B", "A"]
    assert list(run.customdata) == [label for label, _, _ in points]
    assert noise.key(points) == "This run: A your questions; B single columns, combinations chosen."
    assert noise.key([]) == ""


def test_points_of_very_many_marginals_stay_inside():
    points = [("single columns, 200", 667.0, 140.0), ("combinations chosen", 13_938.0, 644.0)]
    drawn = noise.figure(noise_curves(1.0, 1e-9, noise.KS, Unit()), points, 3938)
    assert drawn.layout.xaxis.range[1] > 4.15 and list(named(drawn)["this run"].text) == ["A", "B"]
    few = noise.figure(noise_curves(1.0, 1e-9, noise.KS, Unit()), [("single columns", 400.0, 110.0)], 91)
    assert few.layout.xaxis.range[1] == 4


def test_curves_differ_by_dash_or_mark_and_carry_few_marks():
    """A mark a point would be 400 shapes on the screen, which are most of what a browser draws of this page."""
    curves = noise.figure(noise_curves(1.0, 1e-9, noise.KS, Unit()), [], 91).data[:8]
    assert len({(c.line.dash, c.marker.symbol) for c in curves}) == len({c.marker.symbol for c in curves}) == 8
    assert {c.marker.maxdisplayed for c in curves} == {noise.MARKS}


def test_k_is_a_line_over_the_whole_height_and_themes_differ():
    document = noise_curves(1.0, 1e-9, noise.KS, Unit())
    light, dark = (noise.figure(document, [], 37, is_dark=d) for d in (False, True))
    line = light.layout.shapes[0]
    assert (line.x0, line.x1, line.y0, line.y1, line.yref) == (37, 37, 0, 1, "y domain")
    assert light.data[0].line.color != dark.data[0].line.color


def test_a_figure_is_drawn_once_for_all_who_ask_for_the_same_public_numbers():
    asked = (1.0, 1e-9, "add-remove", 1, (("single columns", 24.0, 27.0),), 24)
    assert noise.drawn(*asked, is_dark=False) is noise.drawn(*asked, is_dark=False)
    other = noise.drawn(*asked, is_dark=True)
    assert other.layout.height == noise.HEIGHT
    assert (
        other.layout.template.layout.font.color != noise.drawn(*asked, is_dark=False).layout.template.layout.font.color
    )
    assert noise.drawn(*asked[:5], 25, is_dark=False).layout.shapes[0].x0 == 25


def test_pure_budgets_have_one_curve_and_no_crossing():
    figure = noise.figure(noise_curves(1.0, 0.0, noise.KS, Unit()), [], 91)
    assert [trace.name for trace in figure.data] == ["Laplace, basic"]
