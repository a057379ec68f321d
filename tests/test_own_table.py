"""A first try with one's own table: each case of docs/evidence/own-table.md comes out as the page says."""

import pytest

from benchmarks.own_table import CASES, digits, foreign, in_python


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_newcomers_table_comes_out_as_the_page_says(case):
    assert case.check()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", foreign(600), ids=lambda one: one.name)
def test_every_column_of_a_foreign_table_comes_back_in_its_own_form(one):
    assert in_python(one)[2] == ()


def test_digits_in_front_and_their_number_are_seen_where_writing_is_fixed():
    loose, fixed = digits(["1.3.2024", "12.11.2024"]), digits(["01.03.2024", "12.11.2024"])
    assert set(fixed) - set(loose) and not set(digits(["3.12.2023"])) - set(loose)
    assert digits(["12.50", "3.05"]) == digits(["12.50", "3.05"]) and not digits(["1,234.50", "7", "12"])
    assert set(digits(["10:05:01.1"])) - set(digits(["10:05:01.123", "09:15:01.456"]))
