"""What figures wear: colours by token, places of systems, and axes that people can read."""

import itertools

import pytest

from dpsyn_core.report import theme
from dpsyn_core.report.theme import AMOUNT, DASHES, DIFFERENCE, HUES, LAYOUT, SERIES, SYMBOLS, SYSTEMS, paint, places_of


def test_colours_are_replaced_all_the_way_down_and_nothing_else_is():
    palette = {"ink": "#000", "line": "#ccc"}
    given = {"a": "@ink", "b": ["@line", ("x", "@none", "ink", "@")], "c": {"d": 3, "e": None}, "f": "@inks"}
    assert paint(given, palette) == {
        "a": "#000", "b": ["#ccc", ["x", "@none", "ink", "@"]], "c": {"d": 3, "e": None}, "f": "@inks",
    }  # fmt: skip


def test_every_token_is_one_that_a_palette_has():
    def tokens(value):
        if isinstance(value, str):
            return {value} if value.startswith("@") else set()
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        return set().union(*map(tokens, parts))

    used = tokens([LAYOUT, list(SERIES), list(HUES), DIFFERENCE, AMOUNT])
    palette = {t[1:]: f"<{t}>" for t in used}
    assert tokens(paint([LAYOUT, list(SERIES)], palette)) == set() and "@accent" in used


def test_scales_of_colours_go_from_nothing_to_all_with_their_middle_between():
    for scale in (DIFFERENCE, AMOUNT):
        assert [at for at, _ in scale] == [0, 0.5, 1]
    assert DIFFERENCE[1][1] == "@paper"


def test_axes_write_whole_numbers_in_full_with_marks_between_thousands():
    for axis in (LAYOUT["xaxis"], LAYOUT["yaxis"]):
        assert axis["separatethousands"] is True and axis["automargin"] is True
        assert axis["minexponent"] == 9, "below a billion no exponent is written"
        assert axis["ticks"] == "outside" and 0 < axis["ticklen"] <= 5
        assert axis["title"]["font"]["size"] >= LAYOUT["font"]["size"] and axis["title"]["standoff"] >= 8
    assert LAYOUT["dragmode"] is False and LAYOUT["height"] == theme.HEIGHT == 360
    assert LAYOUT["legend"]["y"] == 1 and LAYOUT["legend"]["x"] == 0 and LAYOUT["legend"]["yref"] == "container"
    assert LAYOUT["hoverlabel"]["font"]["size"] == LAYOUT["font"]["size"] == 13
    margin = LAYOUT["margin"]
    assert margin["r"] == 24 and margin["t"] == 12 and margin["l"] == margin["b"] == 8, "room for half of 10,000"


@pytest.mark.parametrize("size", [1, 2, 3])
def test_listed_systems_keep_their_places_and_others_take_the_first_free_ones(size):
    for names in itertools.permutations([*SYSTEMS, "x", "y"], size):
        places = places_of(names)
        assert len(set(places)) == size
        assert all(p == SYSTEMS[n] for n, p in zip(names, places, strict=True) if n in SYSTEMS)
        taken = {SYSTEMS[n] for n in names if n in SYSTEMS}
        free = [k for k in range(9) if k not in taken]
        assert [p for n, p in zip(names, places, strict=True) if n not in SYSTEMS] == free[: size - len(taken)]
    assert sorted(SYSTEMS.values()) == list(range(len(SYSTEMS)))
    assert len(DASHES) == len(SYMBOLS) == len(SERIES) == 6 and len(set(HUES)) == len(HUES) >= len(SYSTEMS)
    assert places_of(["z"]) == [0] and places_of([*"abcdefg"]) == list(range(7))


def test_charts_of_altair_have_the_colours_of_the_palette_in_the_same_order():
    colours = ("ink", "line", "real", *(s[1:] for s in SERIES))
    settings = theme.altair_settings({c: f"#{c}" for c in colours})
    assert settings["range"]["category"] == [f"#{c}" for c in ("real", *(s[1:] for s in SERIES))]
    sizes = [
        settings[part].get("labelFontSize", settings[part].get("fontSize")) for part in ("axis", "header", "title")
    ]
    assert (
        sizes == [12, 13, 13] and settings["title"]["fontWeight"] == 600 and settings["legend"]["titleFontSize"] == 13
    )
    assert settings["axis"]["titleFontWeight"] == 400 and settings["axis"]["labelLimit"] == 150
    assert settings["axis"]["labelColor"] == "#ink" and settings["axis"]["gridColor"] == "#line"
