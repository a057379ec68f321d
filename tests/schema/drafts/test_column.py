"""Drafts of single columns: codes that stand apart, words for no answer, and why a column is left out."""

import numpy as np
import pyarrow as pa
import pytest

from dpsyn_core.schema.drafts.column import _letters, _word, mixed
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
