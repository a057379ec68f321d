"""Figures of single columns, field by field: shares, spreads of marginals, and released counts with intervals."""

import numpy as np
import pytest

from dpsyn_core.report.figures.columns import density, distribution, overlay, released_overlay
from dpsyn_core.report.scatter import _pairs, _range
from dpsyn_core.report.theme import DASHES, SERIES, SYMBOLS

LABELS = ["a", "b", "c"]


def shares(*values):
    return np.array(values, dtype=float)


def test_few_values_are_bars_of_which_the_real_ones_are_paler_and_later_tables_are_hatched():
    tables = {f"t{k}": shares(0.5, 0.3, 0.2) if k else shares(0.5, 0.25, 0.25) for k in range(8)}
    made = overlay("job", LABELS, tables)
    assert [d["type"] for d in made.data] == ["bar"] * 8 and [d["name"] for d in made.data] == list(tables)
    assert [d["opacity"] for d in made.data] == [0.55] + [1] * 7
    assert [d["marker"]["color"] for d in made.data] == ["@real", *SERIES, SERIES[0]]
    assert [d["marker"]["pattern"]["shape"] for d in made.data] == ["", "", "/", "x", ".", "+", "/", "x"]
    assert made.data[1]["y"].tolist() == [0.5, 0.3, 0.2] == made.data[1]["customdata"].tolist()
    assert "5.0%" in made.caption and made.caption.startswith("job: t1") and made.caption in made.alt
    assert made.caption.count("5.0%") == 7 and made.layout["yaxis"]["rangemode"] == "tozero"
    assert overlay("job", LABELS, {"real": shares(1, 0, 0)}).caption == "job"
    assert (made.layout["barmode"], made.layout["bargap"]) == ("group", 0.25)


@pytest.mark.parametrize(("values", "kind"), [(40, "bar"), (41, "scatter")])
def test_many_values_are_lines(values, kind):
    labels, even = [f"v{i}" for i in range(values)], np.full(values, 1 / values)
    made = overlay("x", labels, {f"t{k}": even for k in range(4)})
    assert [d["type"] for d in made.data] == [kind] * 4
    if kind == "scatter":
        assert [d["line"]["dash"] for d in made.data] == ["solid", "solid", DASHES[1], DASHES[2]]
        assert {(d["mode"], d["line"]["width"], d["line"]["shape"]) for d in made.data} == {("lines", 1.8, "hvh")}
        assert [d["line"]["color"] for d in made.data] == ["@real", *SERIES[:3]]


def bins(*ends):
    return [f"[{a}, {b})" for a, b in ends]


@pytest.mark.parametrize(
    ("ends", "scale", "per"),
    [
        (((0, 10), (10, 20), (20, 30)), (1, 1, 1), None),
        (((0, 10), (10, 20), (20, 35)), (1, 1, 1), None),  # half as wide again does not mislead
        (((0, 10), (10, 20), (20, 36)), (1, 1, 10 / 16), 10.0),
        (((0, 10), (10, 20), (20, 60)), (1, 1, 0.25), 10.0),
        (((0, 2), (2, 42), (42, 82), (82, 182)), (1, 1, 1, 0.4), 40.0),  # twenty times narrower: drawn as it is
        (((0, 2.1), (2.1, 42), (42, 82), (82, 182)), (39.95 / 2.1, 39.95 / 39.9, 39.95 / 40, 0.3995), 39.95),
    ],
)
def test_bins_of_unequal_width_are_shares_for_the_usual_width(ends, scale, per):
    found, of = density(bins(*ends))
    assert found == pytest.approx(np.array(scale, dtype=float)) and of == (None if per is None else pytest.approx(per))
    assert density(["a", "b"]) == (pytest.approx(np.ones(2)), None)


@pytest.mark.parametrize(("share", "dense"), [(0.9, False), (0.4, True)])
def test_no_density_is_drawn_that_is_above_all_records(share, dense):
    labels = bins((0, 10), (10, 14), (14, 24))  # the narrow bin counts two and a half times
    made = overlay("x", labels, {"real": shares(1 - share, share, 0)})
    assert made.data[0]["y"].tolist() == pytest.approx([1 - share, share * (2.5 if dense else 1), 0])
    assert ("10" in made.layout["yaxis"]["title"]["text"]) == dense


def test_marginals_are_dots_up_to_four_hundred_and_quantiles_above_a_thousand():
    def boxes(count, floor=0.01):
        values = np.linspace(0, 1, count)
        return distribution([("pairs", "t", values, floor), ("triples", "u", values, None)])

    for count, dots, drawn in ((400, "all", 400), (401, False, 401), (1000, False, 1000), (1001, False, 201)):
        made = boxes(count)
        assert [d.get("boxpoints") for d in made.data] == [dots, dots, None]
        assert len(made.data[0]["x"]) == len(made.data[0]["y"]) == drawn
    made = boxes(10)
    assert [d.get("showlegend") for d in made.data[:2]] == [True, False], "the legend has each table once"
    assert [d["marker"]["color"] for d in made.data[:2]] == list(SERIES[:2])
    assert {(d["jitter"], d["pointpos"], d["marker"]["size"], d["marker"]["opacity"], d["line"]["width"])
            for d in made.data[:2]} == {(0.5, 0, 4, 0.4, 1.4)}  # fmt: skip
    floor = made.data[2]
    assert (floor["x"], floor["y"], floor["marker"]["size"]) == ([0.01], ["pairs"], 30)
    assert made.layout["height"] == 120 + 70 * 2 and made.layout["yaxis"]["range"] == [1.6, -0.6]
    assert made.caption.count("50.0%") == 2 and boxes(1001).data[0]["x"].tolist()[::100] == [0, 0.5, 1]


def test_released_counts_have_intervals_and_say_how_many_synthetic_ones_lie_within():
    noisy, tables = shares(10, 20, 30, 40), {"t": shares(12, 20, 33, 37), "u": shares(10, 22, 32, 44)}
    made = released_overlay("job", ["a", "b", "c", "d"], noisy, 2.0, tables)
    assert made.data[0]["error_y"]["value"] == 2.0 and made.data[0]["y"].tolist() == noisy.tolist()
    assert (made.data[0]["error_y"]["thickness"], made.data[0]["error_y"]["width"]) == (1.2, 3)
    assert [d["marker"]["symbol"] for d in made.data] == ["circle-open", *SYMBOLS[1:3]]
    assert [d["marker"]["color"] for d in made.data] == ["@real", *SERIES[:2]]
    assert [d["marker"]["size"] for d in made.data] == [6, 7, 7]
    assert "50%" in made.caption and "75%" in made.caption and made.caption in made.alt
    many = {f"t{k}": noisy for k in range(7)}
    marks = released_overlay("job", ["a", "b", "c", "d"], noisy, 2.0, many).data[1:]
    assert [d["marker"]["symbol"] for d in marks] == [SYMBOLS[(k + 1) % 6] for k in range(7)]
    assert [d["marker"]["color"] for d in marks] == [*SERIES, SERIES[0]]


@pytest.mark.parametrize(("records", "drawn"), [(2, 2), (3, 3), (1500, 1500), (1501, 1500)])
def test_a_cloud_has_fifteen_hundred_dots_at_most_and_the_rank_correlation_of_all(records, drawn):
    rng = np.random.default_rng(0)
    x = np.append(np.arange(float(records)), [np.nan, 5.0])
    y = np.append(np.arange(float(records)) ** 2, [1.0, np.nan])
    across, up, rank = _pairs(x, y, rng)
    assert len(across) == len(up) == drawn and len(set(across.tolist())) == drawn
    assert (up == across**2).all() and rank == pytest.approx(1.0 if records > 2 else 0.0)
    assert _pairs(np.ones(9), np.arange(9.0), rng)[2] == _pairs(np.arange(9.0), np.ones(9), rng)[2] == 0.0


def test_an_axis_has_room_at_both_ends_of_all_values():
    assert _range(shares(0, 50), shares(-50, 10)) == pytest.approx([-54, 54])
    assert _range(shares(3)) == pytest.approx([2.96, 3.04])
