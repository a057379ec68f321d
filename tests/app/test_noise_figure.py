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


def test_points_that_coincide_share_one_label_and_others_have_their_own():
    points = [("single columns, 14", 24.0, 27.0), ("combinations chosen", 25.0, 27.3), ("far", 400.0, 110.0)]
    run = named(noise.figure(noise_curves(1.0, 1e-9, noise.KS, Unit()), points, 24))["this run"]
    assert list(run.text) == ["single columns<br>combinations chosen", "", "far"]
    assert list(run.customdata) == ["single columns, 14", "combinations chosen", "far"]
    assert list(run.x) == [24.0, 25.0, 400.0]


def test_labels_of_very_many_marginals_stay_inside_and_apart():
    points = [("single columns, 200", 667.0, 140.0), ("combinations chosen", 3938.0, 344.0)]
    drawn = noise.figure(noise_curves(1.0, 1e-9, noise.KS, Unit()), points, 3938)
    run = named(drawn)["this run"]
    assert list(run.textposition) == ["bottom left", "bottom center"]
    assert run.text[1] == "combinations<br>chosen"
    assert drawn.layout.xaxis.range[1] > 4.4
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
