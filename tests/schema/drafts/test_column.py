"""Drafts of single columns: codes that stand apart, words for no answer, and why a column is left out."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.schema.drafts.column import (
    LONG_TAIL,
    SPIKE,
    _digits_behind,
    _has_points,
    _has_thousands,
    _heavy,
    _letters,
    _numbered,
    _spiked,
    _step,
    _versions,
    _word,
    absent,
    mixed,
)
from dpsyn_core.schema.drafts.draft import draft
from dpsyn_core.tables import headers


def drafted(cells, name="x", **form):
    column = pa.array([None if c is None else str(c) for c in cells], pa.string())
    return {
        k: v
        for k, v in draft(pa.table({name: column}), "t", **form).document()["attributes"][0].items()
        if k not in ("name", "source")
    }


@pytest.mark.parametrize("code", [-9999, -99, 99999])
def test_a_code_far_from_all_fractions_has_a_cell_of_its_own(code):
    values = [i / 8 + 0.0625 for i in range(200)]  # none of them is whole
    made = drafted([*values, *[code] * 60])
    assert (made["kind"], made["dtype"], made["special_values"]) == ("numeric", "float", [code])
    assert made["min"] <= values[0] and values[-1] <= made["max"] < 1000
    whole = drafted([*range(0, 1000, 3), *[code] * 60])
    assert (whole["dtype"], whole["special_values"]) == ("integer", [code]) and whole["max"] < 2000
    assert not drafted(values).get("special_values")


@pytest.mark.parametrize(
    ("texts", "counts", "blanks", "word"),
    [
        (["unknown", "?"], [7, 3], 0, "unknown"), (["unknown", "?"], [7, 3], 4, None),
        (["unknown", "?"], [7, 3], 3, "unknown"), (["blue", "?"], [7, 3], 0, None), (["NA"], [7], 0, None),
        (["Missing "], [1], 0, "Missing"), (["missing", "unknown"], [5, 5], 0, None),
    ],
)  # fmt: skip
def test_the_word_for_no_answer_is_that_of_most_cells_without_one(texts, counts, blanks, word):
    found = _word(pa.array(texts), np.array(counts), blanks)
    assert found == ({} if word is None else {"blank_word": word})


@pytest.mark.parametrize(
    ("texts", "are"),
    [(["1", "2", "<3"], True), (["1", "<2", "<3", "x"], False), (["1", "2"], False), (["1", "2", "x", "y"], False),
     (["1.5", "$2", "3", "x"], True)],
)  # fmt: skip
def test_a_column_is_mixed_where_most_but_not_all_of_its_texts_are_numbers(texts, are):
    assert mixed(pa.array(texts)) is are


def test_letters_of_other_programs_are_missing_codes():
    assert sorted(_letters(pa.array([".a", "1", ".z", None, ".", ".ab", "a"]))) == [".a", ".z"]


def test_names_of_rows_are_those_of_a_first_column_without_a_header():
    def of(cells, header=headers.ROWS, position=0):
        columns = [(header, cells), ("b", ["x", "y", "y"])][:: -1 if position else 1]
        return draft(pa.table(dict(columns)), "t").document()["attributes"][position]["kind"]

    names = ["p", "q", "r"]
    assert of(names) == "identifier" == of(names, headers.OTHERWISE)
    for cells in (["p", "q", "q"], ["p", "q", None], ["p", "q", ""]):
        assert of(cells) == "categorical"


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["TRUE", "FALSE"], ["FALSE", "TRUE"]), (["true", "false"], [False, True]),
        (["True", "False"], ["False", "True"]), (["TRUE", "true", "false"], [False, True]),
    ],
)  # fmt: skip
def test_truth_values_keep_their_spelling_where_there_is_one(cells, values):
    assert drafted(cells * 20)["values"] == values


@pytest.mark.parametrize(
    ("texts", "are"),
    [(["1,234", "900"], True), (["1,234,567"], True), (["1,234", "2,345"], False), (["900", "12"], False),
     (["1,23", "900"], False), (["-1,234", "5"], True)],
)  # fmt: skip
def test_commas_stand_between_thousands_where_a_number_has_two_or_a_small_one_none(texts, are):
    assert _has_thousands(pa.array(texts)) is are


@pytest.mark.parametrize(("texts", "are"), [
    (["163.671", "900"], True), (["12.5", "900"], False), (["900", "12"], False), (["1.234.567", "1.5"], False),
])  # fmt: skip
def test_points_stand_between_thousands_where_every_one_has_three_digits_behind_it(texts, are):
    assert _has_points(pa.array(texts)) is are


@pytest.mark.parametrize(
    ("numbers", "step"),
    [
        ([0.5, 1.5, 2.0], 0.5), ([0.1, 0.3, 0.7], 0.1), ([1.25, 2.5], 1.25), ([10.0, 20.0], 10.0), ([0.0, 0.0], None),
        ([0.1 + 0.2, 0.6], 0.3), ([np.pi, 1.0], None), ([1e-3, 5e-3], 1e-3), ([1e16 / 3, 0.1], None),
    ],
)  # fmt: skip
def test_the_step_of_numbers_is_the_largest_decimal_that_all_are_multiples_of(numbers, step):
    assert _step(np.array(numbers)) == step


@pytest.mark.parametrize(
    ("cells", "comma", "places"),
    [
        (["1.00", "2.50"], False, {"places": 2}), (["1.25", "2.55"], False, {}), (["1.0", "2.50"], False, {}),
        (["1,00", "2,50"], True, {"places": 2}), (["1.00", "2.50"], True, {"places": 2}), (["10", "20"], False, {}),
        (["1,00", "2,50"], False, {}),
    ],
)  # fmt: skip
def test_cells_that_end_on_zeros_have_a_number_of_places(cells, comma, places):
    assert _digits_behind(pa.array(cells), comma) == places


def test_a_scale_is_logarithmic_where_the_largest_number_is_far_beyond_the_median():
    counts = np.array([5, 4, 1])
    assert _heavy(np.array([1.0, 2.0, LONG_TAIL]), counts) == {"scale": "log"}
    assert _heavy(np.array([1.0, 2.0, LONG_TAIL * 0.99]), counts) == {}
    assert _heavy(np.array([1.0, 2.0, LONG_TAIL]), np.array([4, 4, 1])) == {}, "then the median is 2"
    assert _heavy(np.array([-1.0, 1.0, 1e9]), counts) == {} == _heavy(np.zeros(3), counts)


def test_the_smallest_value_of_many_records_has_a_cell_of_its_own():
    for many, own in ((SPIKE, True), (SPIKE * 0.99, False)):
        counts = np.array([many * 1000, (1 - many) * 1000])
        assert _spiked(np.array([True, False]), counts) is own


@pytest.mark.parametrize(
    ("low", "high", "distinct", "records", "numbers"),
    [(1, 100, 100, 100, True), (1, 101, 100, 100, False), (1, 100, 99, 100, False), (5, 10**11, 100, 100, True),
     (5, 10**11 - 1, 100, 100, False), (1, 20, 20, 20, False)],
)  # fmt: skip
def test_whole_numbers_number_the_records_where_no_one_is_left_out(low, high, distinct, records, numbers):
    found = {"dtype": "integer", "min": low, "max": high}
    assert _numbered(found, distinct, records) is numbers
    assert not _numbered(found | {"dtype": "float"}, distinct, records)


def test_versions_are_texts_that_are_equal_as_numbers():
    assert _versions(pa.array(["1.1", "1.10"]), np.array([1.1, 1.1]), False)
    assert not _versions(pa.array(["1.1", "1.2"]), np.array([1.1, 1.2]), False)
    assert not _versions(pa.array(["1.1", "1"]), np.array([1.1, 1.1]), False)
    assert _versions(pa.array(["1,1", "1.10"]), np.array([1.1, 1.1]), True)
    assert not _versions(pa.array(["1,1", "1.10"]), np.array([1.1, 1.1]), False)


def test_usual_words_for_no_answer_are_found_whatever_their_case_and_blanks():
    assert absent(pa.array(["NA", " n/a ", "Missing", "x", "0"])).tolist() == [True, True, True, False, False]
