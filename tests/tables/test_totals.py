"""A row of totals below a table is pointed out, for it would count as a record."""

import io

import pandas as pd
import pytest

from dpsyn_core.tables.read import open_table
from dpsyn_core.tables.totals import LAST, WORDS

HEAD = "name;town;amount\n"
ROWS = "Ann;Bonn;120\nBen;Köln;80\nCem;Bonn;95\nDia;Trier;40\n"


def said(text):
    return [notice.key for notice in open_table((HEAD + text).encode(), name="t.csv").odd]


@pytest.mark.parametrize("last", ["Summe;;335\n", "TOTAL:;;335\n", " Grand total ;;335\n", ";Gesamt;335\n"])
def test_a_total_is_pointed_out_by_its_word_in_any_column_and_form(last):
    assert said(ROWS + last) == ["total"]


@pytest.mark.parametrize("below", range(LAST + 1))
def test_a_source_or_a_date_may_stand_below_it(below):
    notes = "".join(f"note {i};;\n" for i in range(below))
    assert said(ROWS + "Total;;335\n" + notes) == ["total" if below < LAST else "note"]


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        ROWS + "Totalis;;335\n",  # a name that begins so
        "Total;Bonn;1\n" + ROWS + "Total;Bonn;2\n",  # a company of this name
        ROWS + "Total;;1\nSumme;;2\n",  # two words, which name kinds
        "Ann;Bonn;120\nTotal;;120\n",  # too few records to tell
    ],
)
def test_what_may_be_a_record_is_not(text):
    assert said(text) == []


def test_it_names_the_record_and_the_word_and_no_other_cell():
    (notice,) = open_table((HEAD + ROWS + "Summe;;335\n").encode(), name="t.csv").odd
    assert "record 5" in notice
    assert "'summe'" in notice
    assert not any(cell in notice for cell in ("335", "Ann", "Bonn"))


@pytest.mark.parametrize("last", ["Quelle: Umfrage 2024;;\n", ";;* p < 0.05\n", "Source: survey;;\n\n"])
def test_a_note_below_a_table_is_pointed_out_without_its_words(last):
    (notice,) = open_table((HEAD + ROWS + last).encode(), name="t.csv").odd
    assert notice.key == "note" and "record 5 " in notice and "Umfrage" not in notice and "p <" not in notice
    assert said(ROWS + "Eve;;\n") == said(ROWS + "Ann Lee;Bonn;\n") == []


def test_one_of_a_sheet_is_too_and_stays_a_record():
    file = io.BytesIO()
    pd.read_csv(io.StringIO(HEAD + ROWS + "Summe;;335\n"), sep=";").to_excel(file, index=False)
    batches = open_table(file.getvalue(), name="t.xlsx")
    assert [notice.key for notice in batches.odd] == ["total"]
    assert batches.whole().num_rows == 5


def test_words_are_compared_as_they_are_listed():
    assert all(word == word.casefold().strip().rstrip(":") for word in WORDS)
